//! Runs of automations: starting, executing, cancelling and reading them.

use std::time::Duration;

use attestry_domain::Time;
use attestry_domain::access::Scope;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::automations::{Automation, Evaluation, Run, RunError, RunStatus, Trigger};
use attestry_domain::date::Date;
use attestry_domain::id::{AutomationId, OrganizationId, RunId, TaskId};
use attestry_domain::identity::inbox::About;
use attestry_domain::identity::notices::Notice;
use attestry_domain::page::{After, Page};
use attestry_domain::registers::Record;
use attestry_domain::registers::Register;
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
use crate::automations::{AutomationRef, check_of, find, lock, must_be_a_task};
use crate::boxed;
use crate::core::change::{self, Change, Notification};
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::journal;
use crate::core::queue::JobLease;
use crate::files::attachments::{self, NewFile, Stored, Target};
use crate::{registers, tasks};

const MISSING: Error = Error::NotFound("automation run");
const ENTITY: &str = "automation-run";
/// The maximum length of a stored summary, in characters.
const MAX_REASON_CHARS: usize = 2000;

/// The actor prefix of changes made by automations. Such changes start no automation, which prevents endless loops.
pub(crate) const ACTOR: &str = "automation ";

/// The scope of a run.
pub(crate) fn scope_of(organization: OrganizationId, automation: AutomationId) -> Scope {
    Scope::system(organization, &format!("{ACTOR}{automation}"))
}

/// A new run that has not started.
pub(crate) fn pending(
    id: RunId,
    organization: OrganizationId,
    place: AutomationRef,
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

/// The journal record of a new run.
pub(crate) fn created(run: &Run) -> Result<journal::Record, Error> {
    change::record("automation-run.created", ENTITY, run.id, Some(run))
}

/// Stores a run and enqueues its job.
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
    let place = AutomationRef { task: automation.task_id, automation: automation.id };
    let run = pending(c.next_id(), c.organization(), place, script, trigger, None, c.now);
    add(c, &run).await?;
    Ok(run)
}

/// Starts a manual run.
#[boxed]
pub async fn start(ctx: &Ctx, scope: &Scope, place: AutomationRef) -> Result<Run, Error> {
    ctx.change(scope, async move |c| {
        let automation = lock(c, place).await?;
        enqueue(c, &automation, Trigger::Manual).await
    })
    .await
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, place: AutomationRef, run: RunId) -> Result<Run, Error> {
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
#[boxed]
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
                    find(t, &scope, AutomationRef { task, automation }).await?;
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

/// The cursor after a page of `limit` runs, if more follow.
#[boxed]
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

/// Cancels a pending or running run. Its worker notices within a second.
#[boxed]
pub async fn cancel(ctx: &Ctx, scope: &Scope, place: AutomationRef, run: RunId) -> Result<Run, Error> {
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

/// A started run with everything needed to execute it.
pub(crate) struct Begun {
    run: Run,
    automation: Automation,
    task: Record<Task>,
    hosts: AllowedHosts,
    source: String,
}

/// The result of [`begin`].
pub(crate) enum Beginning {
    Go(Box<Begun>),
    /// It was started before and its end was never recorded.
    Interrupted,
    /// It has ended or was deleted.
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
        // The runs of a deleted organization are cancelled.
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
        // A built-in check runs in its current version, not in the one from when the automation was created.
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
    pub(crate) async fn execute(&self, ctx: &Ctx, scope: &Scope, output: &Output) -> Result<Ran, Error> {
        let context = json!({
            "now": ctx.now(), "event": self.run.event, "parameters": self.automation.parameters, "task": &self.task,
        });
        let context = serde_json::value::to_raw_value(&context)?;
        let script = Script { source: self.source.clone(), context };
        runner::run(ctx, scope, self.hosts.clone(), script, output).await
    }

    /// Records the result exactly once: the run, its evidence, and the new status of the task.
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
                run.reason = Some(summary.chars().take(MAX_REASON_CHARS).collect());
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
                // The run may have been cancelled, or its automation deleted.
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

/// The number of attempts to store a file; the pause between them grows by `STORE_RETRY_PAUSE` with each attempt.
const MAX_STORE_ATTEMPTS: u32 = 4;
const STORE_RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Stores the evidence, with retries. If all attempts fail, the run is marked as failed and keeps its output.
async fn store_patiently(
    ctx: &Ctx,
    scope: &Scope,
    run: &mut Run,
    automation: &Automation,
    evidence: &RawValue,
) -> Option<Stored> {
    for attempt in 1..=MAX_STORE_ATTEMPTS {
        match store(ctx, scope, run, automation, evidence).await {
            Ok(stored) => return Some(stored),
            Err(error) => {
                tracing::error!(run = %run.id, %error, attempt, "the evidence of a run was not stored");
                tokio::time::sleep(STORE_RETRY_PAUSE * attempt).await;
            }
        }
    }
    run.status = RunStatus::Failed;
    let message = "The script came to its end, but its evidence could not be stored.".to_owned();
    run.error = Some(RunError { code: "evidence_not_stored".to_owned(), message });
    None
}

/// The maximum length of the automation's name in the name of an evidence file, in characters.
const MAX_NAME: usize = 100;

/// The name of an evidence file: the automation and the date.
fn evidence_name(run: &Run, automation: &Automation) -> String {
    let name: String = automation.name.chars().take(MAX_NAME).collect();
    let day = Date::of(run.started_at.unwrap_or(run.created_at));
    format!("{} {day}.json", name.replace(['/', '\\'], "-").trim())
}

/// The file that holds the evidence of a run.
#[derive(Serialize)]
struct EvidenceFile<'a> {
    automation: Value,
    /// The raw JSON that the script returned; it can be megabytes, so it is not parsed and serialized again.
    evidence: &'a RawValue,
    result: Value,
    run: Value,
}

/// Stores the evidence as a file that names the automation and the run.
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

/// Records the end of a run, updates its task, and notifies a member when the automation starts or stops failing.
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
    // Read again: other runs may have ended meanwhile.
    let now = automations::lock(c.t, c.scope, automation.id).await?;
    if now.is_some_and(|now| now.is_failing != is_failing) {
        automations::set_failing(c.t, c.scope, automation.id, is_failing).await?;
        tell(c, run, automation, is_failing).await?;
    }
    Ok(())
}

/// Notifies the assignee of the task, or else the creator of the automation, of the first failure and of the
/// recovery.
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
    let about = About::new(Task::ENTITY, run.task_id);
    c.notify(Notification { member, notice: Notice::Automations, about, line, quote: None, occasion: None });
    Ok(())
}

/// Error codes and messages of runs that are given up.
pub(crate) const INTERRUPTED: (&str, &str) =
    ("interrupted", "The server stopped while the script was running. Run it again.");
pub(crate) const INTERNAL: (&str, &str) =
    ("internal", "The server could not carry out the run; its operator finds the reason in the log.");

/// Fails a run that no worker will finish. Its effects on other systems are unknown, so it is not run again.
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
        // The cause may be that the row of the automation cannot be read.
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

/// Stores the log so far for clients that watch the run; returns false when the run is no longer running.
pub(crate) async fn keep_log(ctx: &Ctx, scope: &Scope, run: RunId, output: &Output) -> Result<bool, Error> {
    let (scope, lines) = (scope.clone(), output.lines(ctx, scope).await?);
    Ok(ctx.db.write(async move |t| runs::log(t, &scope, run, &lines).await).await?)
}

pub(crate) async fn is_running(ctx: &Ctx, scope: &Scope, run: RunId) -> Result<bool, Error> {
    let scope = scope.clone();
    let status = ctx.db.read(async move |t| runs::status(t, &scope, run).await).await?;
    Ok(status == Some(RunStatus::Running))
}

/// Starts an automation whose schedule is due, and stores the time of its next run.
pub(crate) async fn start_scheduled(
    ctx: &Ctx,
    organization: OrganizationId,
    automation: AutomationId,
) -> Result<(), Error> {
    let scope = scope_of(organization, automation);
    ctx.change(&scope, async move |c| {
        let Some(found) = automations::lock(c.t, c.scope, automation).await? else { return Ok(()) };
        // Another process may have started it already.
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
