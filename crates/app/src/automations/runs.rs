//! Runs of automations: asked for, carried out by a job, cancelled, looked at.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::automations::{Automation, Evaluation, Run, RunError, RunStatus, Trigger};
use attestry_domain::date::Date;
use attestry_domain::id::{AutomationId, OrganizationId, RunId, TaskId};
use attestry_domain::identity::notices::Notice;
use attestry_domain::page::{After, Page};
use attestry_domain::registers::Record;
use attestry_domain::registers::attachments::MadeBy;
use attestry_domain::registers::subjects::Subject;
use attestry_domain::tasks::Task;
use attestry_domain::text::Parse;
use attestry_sandbox::{Failure, Script, Verdict};
use attestry_storage::runs::RunsOf;
use attestry_storage::{Error as DbError, automations, organizations, registers as rows, runs};
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::automations::automation_run::AutomationRun;
use crate::automations::runner::{self, Output, Ran, Returned};
use crate::automations::{Place, check_of, find, lock, must_be_a_task};
use crate::core::change::{self, Change, Notification};
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::journal;
use crate::core::queue::JobLease;
use crate::files::attachments::{self, NewFile, Stored, Target};
use crate::{registers, tasks};

const MISSING: Error = Error::NotFound("automation run");
const ENTITY: &str = "automation-run";
/// The longest summary that is kept, in characters.
const LONGEST_REASON: usize = 2000;

/// What automations do is done in this name. Nothing that is done so starts another automation, so that they never go
/// round in circles.
pub(crate) const ACTOR: &str = "automation ";

/// The scope of a run.
pub(crate) fn scope_of(organization: OrganizationId, automation: AutomationId) -> Scope {
    Scope::system(organization, &format!("{ACTOR}{automation}"))
}

/// A run that waits.
pub(crate) fn pending(
    id: RunId,
    organization: OrganizationId,
    place: Place,
    script: i64,
    trigger: Trigger,
    event: Option<Value>,
    at: Time,
) -> Run {
    Run {
        id,
        organization_id: organization,
        task_id: place.task,
        automation_id: place.automation,
        script,
        trigger,
        status: RunStatus::Pending,
        event,
        created_at: at,
        started_at: None,
        completed_at: None,
        evaluation: None,
        reason: None,
        output: None,
        error: None,
        attachment_id: None,
        logs: Vec::new(),
    }
}

/// What is recorded of a new run.
pub(crate) fn created(run: &Run) -> Result<journal::Record, Error> {
    change::record("automation-run.created", ENTITY, run.id, Some(run))
}

/// Puts a run into the queue.
pub(crate) async fn add(c: &Change<'_>, run: &Run) -> Result<(), Error> {
    runs::insert(c.t, c.organization(), run).await?;
    c.enqueue_named(&AutomationRun::of(run), &run.id.to_string()).await?;
    c.put(created(run)?);
    Ok(())
}

async fn enqueue(c: &Change<'_>, automation: &Automation, trigger: Trigger) -> Result<Run, Error> {
    let script = automation.latest_version.ok_or_else(|| Error::Conflict {
        code: "no_script",
        message: "This automation has no script yet; add a version first.".to_owned(),
    })?;
    let place = Place { task: automation.task_id, automation: automation.id };
    let run = pending(c.next_id(), c.organization(), place, script, trigger, None, c.now);
    add(c, &run).await?;
    Ok(run)
}

/// Runs an automation now.
pub async fn start(ctx: &Ctx, scope: &Scope, place: Place) -> Result<Run, Error> {
    ctx.change(scope, async move |c| {
        let automation = lock(c, place).await?;
        enqueue(c, &automation, Trigger::Manual).await
    })
    .await
}

pub async fn get(ctx: &Ctx, scope: &Scope, place: Place, run: RunId) -> Result<Run, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            find(t, &scope, place).await?;
            let found = runs::get(t, &scope, run).await?;
            found.filter(|run| run.automation_id == place.automation).ok_or(MISSING)
        })
        .await
}

/// The runs of a task or of one of its automations, newest first.
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    task: TaskId,
    automation: Option<AutomationId>,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Run>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            let of = match automation {
                Some(automation) => {
                    find(t, &scope, Place { task, automation }).await?;
                    RunsOf::Automation(automation)
                }
                None => {
                    must_be_a_task(t, &scope, task).await?;
                    RunsOf::Task(task)
                }
            };
            Ok(runs::list(t, &scope, of, limit, after.as_ref()).await?)
        })
        .await
}

/// Where a page of so many runs ends, if more follow.
pub async fn next(
    ctx: &Ctx,
    scope: &Scope,
    task: TaskId,
    automation: Option<AutomationId>,
    limit: u16,
    after: Option<After>,
) -> Result<Option<After>, Error> {
    let scope = scope.clone();
    let of = automation.map_or(RunsOf::Task(task), RunsOf::Automation);
    Ok(ctx.db.read(async move |t| runs::next(t, &scope, of, limit, after.as_ref()).await).await?)
}

/// Cancels a run that waits or is running. Whoever runs it notices within a second.
pub async fn cancel(ctx: &Ctx, scope: &Scope, place: Place, run: RunId) -> Result<Run, Error> {
    ctx.change(scope, async move |c| {
        lock(c, place).await?;
        let found = runs::lock(c.t, c.scope, run).await?;
        let run = found.filter(|run| run.automation_id == place.automation).ok_or(MISSING)?;
        if run.status.is_over() {
            return Err(Error::Conflict {
                code: "run_is_over",
                message: format!("The run has ended already: it is {}.", run.status),
            });
        }
        cancelled(c, run).await
    })
    .await
}

async fn cancelled(c: &Change<'_>, run: Run) -> Result<Run, Error> {
    let run = Run { status: RunStatus::Cancelled, completed_at: Some(c.now), ..run };
    runs::finish(c.t, c.scope, &run).await?;
    c.record("automation-run.cancelled", ENTITY, run.id, &run)?;
    Ok(run)
}

/// What a run needs.
pub(crate) struct Begun {
    run: Run,
    automation: Automation,
    task: Record<Task>,
    hosts: AllowedHosts,
    source: String,
}

/// How a run can begin.
pub(crate) enum Beginning {
    Go(Box<Begun>),
    /// It began once before and nobody wrote down its end.
    Interrupted,
    /// It is over, or gone.
    Nothing,
}

pub(crate) async fn begin(ctx: &Ctx, scope: &Scope, run: RunId) -> Result<Beginning, Error> {
    ctx.change(scope, async move |c| {
        let Some(mut run) = runs::lock(c.t, c.scope, run).await? else { return Ok(Beginning::Nothing) };
        match run.status {
            RunStatus::Pending => {}
            RunStatus::Running => return Ok(Beginning::Interrupted),
            _ => return Ok(Beginning::Nothing),
        }
        // Nothing of an organization that was deleted runs any more.
        if organizations::get(c.t, c.scope).await?.is_none() {
            cancelled(c, run).await?;
            return Ok(Beginning::Nothing);
        }
        let Some(automation) = automations::get(c.t, c.scope, run.automation_id).await? else {
            return Ok(Beginning::Nothing);
        };
        let version = automations::version(c.t, c.scope, run.automation_id, run.script).await?;
        let task = rows::get::<Task>(c.t, c.scope, run.task_id).await?;
        let (Some(version), Some(task)) = (version, task) else { return Ok(Beginning::Nothing) };
        let (listed, _) = automations::hosts(c.t, c.scope).await?;
        runs::begin(c.t, c.scope, run.id, c.now).await?;
        run.status = RunStatus::Running;
        run.started_at = Some(c.now);
        // A check of today runs as it is today, whatever it was when the automation was made.
        let check = check_of(&automation);
        let parameters = automation.parameters.clone().unwrap_or_default();
        let hosts = match check.map(|check| check.hosts(&parameters)) {
            Some(own) => AllowedHosts::new(own.iter().chain(listed.iter()).cloned()).unwrap_or(own),
            None => listed,
        };
        let source = check.map_or(version.script, |check| check.script.to_owned());
        Ok(Beginning::Go(Box::new(Begun { run, automation, task, hosts, source })))
    })
    .await
}

impl Begun {
    /// Runs the script.
    pub(crate) async fn execute(&self, ctx: &Ctx, scope: &Scope, output: &Output) -> Result<Ran, Error> {
        let context = json!({
            "now": ctx.now(), "event": self.run.event, "parameters": self.automation.parameters, "task": &self.task,
        });
        let context = serde_json::value::to_raw_value(&context)?;
        let script = Script { source: self.source.clone(), context };
        runner::run(ctx, scope, self.hosts.clone(), script, output).await
    }

    /// Writes down what came of it, once: the run, its evidence, and what becomes of the task.
    pub(crate) async fn finish(
        self,
        ctx: &Ctx,
        scope: &Scope,
        lease: &JobLease,
        ran: Ran,
    ) -> Result<(), Error> {
        let Self { mut run, automation, .. } = self;
        run.logs = ran.logs;
        let mut evidence = None;
        match ran.result {
            Ok(Returned { verdict, summary, evidence: returned }) => {
                run.status = RunStatus::Completed;
                run.evaluation =
                    Some(if verdict == Verdict::Pass { Evaluation::Pass } else { Evaluation::Fail });
                run.reason = Some(summary.chars().take(LONGEST_REASON).collect());
                run.output = returned.as_deref().map(|returned| returned.get().to_owned());
                evidence = returned.filter(|_| automation.keep_evidence);
            }
            Err(Failure { code, message }) => {
                run.status = RunStatus::Failed;
                run.error = Some(RunError { code: code.as_str().to_owned(), message });
            }
        }
        let stored = match evidence {
            Some(evidence) => store_patiently(ctx, scope, &mut run, &automation, &evidence).await,
            None => None,
        };
        let (lease, kept) = (lease.clone(), stored.clone());
        let written = ctx
            .change(scope, async move |c| {
                lease.complete(c.t).await?;
                // Somebody may have cancelled it, or deleted its automation.
                if runs::status(c.t, c.scope, run.id).await? != Some(RunStatus::Running) {
                    return Ok(false);
                }
                let mut run = Run { completed_at: Some(c.now), ..run.clone() };
                if let Some(file) = &kept {
                    let file = file.clone().made_by(MadeBy { id: run.id, version: run.script });
                    run.attachment_id = Some(attachments::add(c, file).await?.id);
                }
                end(c, &run, &automation).await?;
                Ok(true)
            })
            .await;
        match (written, stored) {
            (Ok(false), Some(file)) => {
                file.discard(ctx).await;
                Ok(())
            }
            (result, stored) => {
                attachments::discard_if_refused(ctx, stored.into_iter().collect(), result).await.map(drop)
            }
        }
    }
}

/// How often a file is tried to be stored, and how long it takes from one time to the next.
const TRIES: u32 = 4;
const PAUSE: Duration = Duration::from_millis(500);

/// Puts the evidence into the store. Where that is not to be had, the run says so, and keeps what it found.
async fn store_patiently(
    ctx: &Ctx,
    scope: &Scope,
    run: &mut Run,
    automation: &Automation,
    evidence: &RawValue,
) -> Option<Stored> {
    for attempt in 1..=TRIES {
        match store(ctx, scope, run, automation, evidence).await {
            Ok(stored) => return Some(stored),
            Err(error) => {
                tracing::error!(run = %run.id, %error, attempt, "the evidence of a run was not stored");
                tokio::time::sleep(PAUSE * attempt).await;
            }
        }
    }
    run.status = RunStatus::Failed;
    let message = "The script came to its end, but its evidence could not be stored.".to_owned();
    run.error = Some(RunError { code: "evidence_not_stored".to_owned(), message });
    None
}

/// Characters of an automation's name in the names of its files.
const MAX_NAME: usize = 100;

/// The name of a file of evidence: what was checked, and when.
fn evidence_name(run: &Run, automation: &Automation) -> String {
    let name: String = automation.name.chars().take(MAX_NAME).collect();
    let day = Date::of(run.started_at.unwrap_or(run.created_at));
    format!("{} {day}.json", name.replace(['/', '\\'], "-").trim())
}

/// The file that holds the evidence of a run.
#[derive(Serialize)]
struct EvidenceFile<'a> {
    automation: Value,
    /// As the script returned it: megabytes are not read again to be written.
    evidence: &'a RawValue,
    result: Value,
    run: Value,
}

/// Puts the evidence into the store, as a file that says where it comes from.
async fn store(
    ctx: &Ctx,
    scope: &Scope,
    run: &Run,
    automation: &Automation,
    evidence: &RawValue,
) -> Result<Stored, Error> {
    let document = EvidenceFile {
        automation: json!({"id": automation.id, "name": automation.name, "version": run.script}),
        evidence,
        result: json!({"status": run.evaluation, "summary": run.reason}),
        run: json!({"id": run.id, "trigger": run.trigger, "startedAt": run.started_at}),
    };
    let text = serde_json::to_vec(&document)?;
    let wrong = |message: String| Error::internal(message);
    let file = NewFile {
        name: Parse::parse(&evidence_name(run, automation)).map_err(wrong)?,
        media_type: Parse::parse("application/json").map_err(wrong)?,
    };
    let content = stream::iter([Ok::<_, Error>(Bytes::from(text))]);
    let target = Target::new(Subject::Task, run.task_id);
    let stored = attachments::store_for(ctx, scope, target, file, content).await?;
    let about = run.reason.as_deref().and_then(|reason| Parse::parse(reason).ok());
    Ok(stored.with_description(about))
}

/// The end of a run, in the transaction that writes it down.
async fn end(c: &Change<'_>, run: &Run, automation: &Automation) -> Result<(), Error> {
    runs::finish(c.t, c.scope, run).await?;
    let is_complete = run.status == RunStatus::Completed;
    let action = if is_complete { "automation-run.completed" } else { "automation-run.failed" };
    c.record(action, ENTITY, run.id, run)?;
    let status = match run.evaluation.filter(|_| is_complete) {
        Some(Evaluation::Pass) => automation.status_on_pass,
        Some(Evaluation::Fail) => automation.status_on_fail,
        None => None,
    };
    if let Some(status) = status
        && let Some(before) = rows::lock::<Task>(c.t, c.scope, run.task_id).await?
    {
        registers::change(c, &before, &tasks::with_status(status)).await?;
    }
    let is_failing = !is_complete || run.evaluation != Some(Evaluation::Pass);
    // As it is now: other runs may have ended meanwhile.
    let now = automations::lock(c.t, c.scope, automation.id).await?;
    if now.is_some_and(|now| now.is_failing != is_failing) {
        automations::set_failing(c.t, c.scope, automation.id, is_failing).await?;
        tell(c, run, automation, is_failing).await?;
    }
    Ok(())
}

/// Tells of the first failure and of the recovery: whoever does the task, or else whoever made the automation.
async fn tell(c: &Change<'_>, run: &Run, automation: &Automation, is_failing: bool) -> Result<(), Error> {
    let task = rows::get::<Task>(c.t, c.scope, run.task_id).await?;
    let Some(member) = task.as_ref().and_then(|task| task.assignee_id).or(automation.created_by) else {
        return Ok(());
    };
    let task = task.map_or_else(String::new, |task| task.label());
    let why = run.error.as_ref().map(|error| error.message.clone()).or_else(|| run.reason.clone());
    let line = match is_failing {
        true => format!("“{}” ({task}) failed: {}", automation.name, why.unwrap_or_default()),
        false => format!("“{}” ({task}) passes again", automation.name),
    };
    c.notify(Notification { member, notice: Notice::Automations, line });
    Ok(())
}

/// Why a run is given up.
pub(crate) const INTERRUPTED: (&str, &str) =
    ("interrupted", "The server stopped while the script was running. Run it again.");
pub(crate) const INTERNAL: (&str, &str) =
    ("internal", "The server could not carry out the run; its operator finds the reason in the log.");

/// Ends a run that nobody will end otherwise: what it did outside cannot be known, so it is not done again.
pub(crate) async fn give_up(
    ctx: &Ctx,
    scope: &Scope,
    lease: &JobLease,
    run: RunId,
    (code, message): (&str, &str),
) -> Result<(), Error> {
    let (lease, why) = (lease.clone(), RunError { code: code.to_owned(), message: message.to_owned() });
    ctx.change(scope, async move |c| {
        lease.complete(c.t).await?;
        let Some(mut run) = runs::lock(c.t, c.scope, run).await? else { return Ok(()) };
        if run.status.is_over() {
            return Ok(());
        }
        run.status = RunStatus::Failed;
        run.completed_at = Some(c.now);
        run.error = Some(why.clone());
        // What stopped the run may be the automation itself, if it cannot be read.
        match automations::get(c.t, c.scope, run.automation_id).await {
            Ok(Some(automation)) => end(c, &run, &automation).await,
            Ok(None) | Err(DbError::Column { .. }) => {
                runs::finish(c.t, c.scope, &run).await?;
                c.record("automation-run.failed", ENTITY, run.id, &run)
            }
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// Keeps what a run has written so far, for those who watch it. False: nobody waits for it any more.
pub(crate) async fn keep_log(ctx: &Ctx, scope: &Scope, run: RunId, output: &Output) -> Result<bool, Error> {
    let (scope, lines) = (scope.clone(), output.lines(ctx, scope).await?);
    Ok(ctx.db.write(async move |t| runs::log(t, &scope, run, &lines).await).await?)
}

/// Whether a run still has somebody who waits for it.
pub(crate) async fn is_running(ctx: &Ctx, scope: &Scope, run: RunId) -> Result<bool, Error> {
    let scope = scope.clone();
    let status = ctx.db.read(async move |t| runs::status(t, &scope, run).await).await?;
    Ok(status == Some(RunStatus::Running))
}

/// Starts the automation whose schedule has come, and notes when it comes next.
pub(crate) async fn start_scheduled(
    ctx: &Ctx,
    organization: OrganizationId,
    automation: AutomationId,
) -> Result<(), Error> {
    let scope = scope_of(organization, automation);
    ctx.change(&scope, async move |c| {
        let Some(found) = automations::lock(c.t, c.scope, automation).await? else { return Ok(()) };
        // Another process may have been quicker.
        if found.next_run_at.is_none_or(|at| at > c.now) {
            return Ok(());
        }
        let organization = organizations::get(c.t, c.scope).await?;
        let next = organization.as_ref().and_then(|found_in| found.next_run(c.now, &found_in.time_zone));
        automations::set_next(c.t, c.scope, automation, next).await?;
        if organization.is_some() {
            enqueue(c, &found, Trigger::Scheduled).await?;
        }
        Ok(())
    })
    .await
}
