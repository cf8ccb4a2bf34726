//! Automations: their settings, their scripts, and the hosts they may reach.

pub(crate) mod automation_run;
pub(crate) mod event_runs;
pub(crate) mod events;
pub mod runner;
pub mod runs;
pub(crate) mod schedules;
pub mod secrets;

use attestry_domain::access::{Permission, Scope};
use attestry_domain::automations::checks::Check;
use attestry_domain::automations::hosts::AllowedHosts;
use attestry_domain::automations::{
    Automation, AutomationPatch, Event, Source, Version, checks as automation_checks,
};
use attestry_domain::id::{AutomationId, TaskId};
use attestry_domain::page::{After, Page};
use attestry_domain::tasks::{Task, TaskStatus};
use attestry_domain::text::LongText;
use attestry_domain::{Patch, Time, Zone};
use attestry_storage::{
    Tx, attachments, automations, organizations as stored_organizations, registers as rows,
    runs as stored_runs,
};
use serde_json::{Map, Value};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};
use crate::core::journal::Record;
use crate::core::precondition::Precondition;
use crate::identity::organizations;
use crate::tasks;

const MISSING: Error = Error::NotFound("automation");
/// The maximum number of automations per task.
const MAX_AUTOMATIONS_PER_TASK: i64 = 50;

/// The code that a new automation runs.
#[derive(Clone, Debug)]
pub enum AutomationSource {
    /// None until a script is added.
    NothingYet,
    Script(Source),
    Check {
        name: String,
        parameters: Map<String, Value>,
    },
}

/// Identifies an automation of a task.
#[derive(Clone, Copy, Debug)]
pub struct AutomationRef {
    pub task: TaskId,
    pub automation: AutomationId,
}

pub(crate) async fn must_be_a_task(t: &Tx<'_>, scope: &Scope, task: TaskId) -> Result<(), Error> {
    rows::get::<Task>(t, scope, task).await?.map(|_| ()).ok_or(Error::NotFound("task"))
}

/// Finds the automation if it belongs to the task.
pub(crate) async fn find(t: &Tx<'_>, scope: &Scope, place: AutomationRef) -> Result<Automation, Error> {
    must_be_a_task(t, scope, place.task).await?;
    let found = automations::get(t, scope, place.automation).await?;
    found.filter(|found| found.task_id == place.task).ok_or(MISSING)
}

/// Locks the automation until the transaction ends, if it belongs to the task.
pub(crate) async fn lock(c: &Change<'_>, place: AutomationRef) -> Result<Automation, Error> {
    must_be_a_task(c.t, c.scope, place.task).await?;
    let found = automations::lock(c.t, c.scope, place.automation).await?;
    found.filter(|found| found.task_id == place.task).ok_or(MISSING)
}

fn parameters_of(check: &Check, given: &Map<String, Value>) -> Result<Value, Error> {
    check.read(given).map_err(|wrong| {
        let of = |(name, message)| FieldError { field: format!("parameters.{name}"), message };
        Error::Invalid(wrong.into_iter().map(of).collect())
    })
}

/// The built-in check that an automation runs.
pub(crate) fn check_of(automation: &Automation) -> Option<&'static Check> {
    automation.check.as_deref().and_then(|name| automation_checks::find(name).ok())
}

#[boxed]
pub async fn create(
    ctx: &Ctx,
    scope: &Scope,
    task: TaskId,
    does: AutomationSource,
    patch: AutomationPatch,
) -> Result<Automation, Error> {
    may_do(scope, &patch)?;
    let (check, parameters, script) = match does {
        AutomationSource::NothingYet => (None, None, None),
        AutomationSource::Script(source) => {
            ctx.runner().check("script", source.as_str()).await?;
            (None, None, Some(source.into_string()))
        }
        AutomationSource::Check { name, parameters } => {
            let check = automation_checks::find(&name).map_err(|message| Error::field("check", message))?;
            let parameters = parameters_of(check, &parameters)?;
            let named = (check.name.to_owned(), check.title.to_owned());
            (Some(named), Some(parameters), Some(check.script.to_owned()))
        }
    };
    ctx.change(scope, async move |c| {
        must_be_a_task(c.t, c.scope, task).await?;
        if automations::count(c.t, c.scope, task).await? >= MAX_AUTOMATIONS_PER_TASK {
            return Err(Error::Conflict {
                code: "too_many_automations",
                message: format!(
                    "A task has at most {MAX_AUTOMATIONS_PER_TASK} automations; delete one that is not used."
                ),
            });
        }
        let blank = Automation {
            id: c.next_id(),
            organization_id: c.organization(),
            task_id: task,
            name: check.as_ref().map_or_else(String::new, |(_, title)| title.clone()),
            description: None,
            is_enabled: true,
            schedule: None,
            time_zone: None,
            events: Vec::new(),
            evaluation_criteria: None,
            check: check.as_ref().map(|(name, _)| name.clone()),
            parameters: parameters.clone(),
            status_on_pass: None,
            status_on_fail: None,
            keep_evidence: true,
            latest_version: script.as_ref().map(|_| 1),
            created_by: c.scope.member(),
            created_at: c.now,
            updated_at: c.now,
            next_run_at: None,
            is_failing: false,
            version: 1,
        };
        let mut made = blank.patched(patch.clone());
        made.next_run_at = made.next_run(c.now, &organizations::zone(c).await?);
        must_be_few(c, &made).await?;
        automations::insert(c.t, c.scope, &made).await?;
        if let Some(script) = &script {
            automations::insert_version(c.t, c.scope, &version(c, &made, 1, script.clone(), None)).await?;
        }
        c.record("automation.created", "automation", made.id, &made)?;
        Ok(made)
    })
    .await
}

/// Checks the caller's permissions: a script receives the events that start it and may change its task, so its editor
/// needs permission to read the events and to update the task.
fn must_be_allowed(scope: &Scope, events: &[Event], moves_task: bool) -> Result<(), Error> {
    scope.require(Permission::TaskRead)?;
    for event in events {
        scope.require(event.permission())?;
    }
    if moves_task {
        scope.require(Permission::TaskUpdate)?;
    }
    Ok(())
}

fn may_do(scope: &Scope, patch: &AutomationPatch) -> Result<(), Error> {
    let moves = |status: &Patch<TaskStatus>| matches!(status, Patch::Value(_));
    let moves_task = moves(&patch.status_on_pass) || moves(&patch.status_on_fail);
    must_be_allowed(scope, patch.events.as_deref().unwrap_or_default(), moves_task)
}

/// The maximum number of automations per organization that listen for events; each change is matched against all of
/// them.
const MAX_LISTENERS_PER_ORG: i64 = 20;

async fn must_be_few(c: &Change<'_>, automation: &Automation) -> Result<(), Error> {
    let listens = !automation.events.is_empty();
    if listens && automations::count_listeners(c.t, c.scope, automation.id).await? >= MAX_LISTENERS_PER_ORG {
        return Err(Error::Conflict {
            code: "too_many_automations",
            message: format!(
                "At most {MAX_LISTENERS_PER_ORG} automations of an organization can have events."
            ),
        });
    }
    Ok(())
}

fn version(
    c: &Change<'_>,
    automation: &Automation,
    number: i64,
    script: String,
    changelog: Option<String>,
) -> Version {
    Version {
        id: c.next_id(),
        automation_id: automation.id,
        version: number,
        script,
        changelog,
        created_by: c.scope.member(),
        created_at: c.now,
    }
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope, place: AutomationRef) -> Result<Automation, Error> {
    let scope = scope.clone();
    ctx.db.read(async move |t| find(t, &scope, place).await).await
}

#[boxed]
pub async fn list(
    ctx: &Ctx,
    scope: &Scope,
    task: TaskId,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Automation>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            must_be_a_task(t, &scope, task).await?;
            Ok(automations::list(t, &scope, task, limit, after.as_ref()).await?)
        })
        .await
}

#[boxed]
pub async fn count(ctx: &Ctx, scope: &Scope, task: TaskId) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| automations::count(t, &scope, task).await).await?)
}

#[boxed]
pub async fn update(
    ctx: &Ctx,
    scope: &Scope,
    place: AutomationRef,
    patch: AutomationPatch,
    precondition: Precondition,
) -> Result<Automation, Error> {
    may_do(scope, &patch)?;
    ctx.change(scope, async move |c| {
        let before = lock(c, place).await?;
        precondition.check(&before.tag())?;
        let mut patch = patch.clone();
        if let Some(given) = patch.parameters.take() {
            let Some(check) = check_of(&before) else {
                return Err(Error::field(
                    "parameters",
                    "belong to a built-in check; this automation runs a script",
                ));
            };
            let given = given.as_object().cloned().unwrap_or_default();
            patch.parameters = Some(parameters_of(check, &given)?);
        }
        let mut after = before.patched(patch);
        if after == before {
            return Ok(before);
        }
        save(c, &mut after).await?;
        Ok(after)
    })
    .await
}

async fn save(c: &Change<'_>, after: &mut Automation) -> Result<(), Error> {
    after.updated_at = c.now;
    after.version += 1;
    must_be_few(c, after).await?;
    after.next_run_at = next_run(c, after, &organizations::zone(c).await?);
    automations::update(c.t, c.scope, after).await?;
    c.record("automation.updated", "automation", after.id, after)
}

/// The next run by the schedule; a run that is due but not started yet stays due.
fn next_run(c: &Change<'_>, automation: &Automation, zone: &Zone) -> Option<Time> {
    let next = automation.next_run(c.now, zone)?;
    Some(automation.next_run_at.filter(|at| *at <= c.now).unwrap_or(next))
}

/// Recomputes the schedules of an organization whose time zone has changed.
pub(crate) async fn reschedule(c: &Change<'_>, zone: &Zone) -> Result<(), Error> {
    for one in automations::scheduled(c.t, c.scope).await? {
        automations::set_next(c.t, c.scope, one.id, next_run(c, &one, zone)).await?;
    }
    Ok(())
}

/// Recomputes the schedules of all organizations after a clock was found to be ahead.
pub(crate) async fn reschedule_all(ctx: &Ctx) -> Result<(), Error> {
    for organization in ctx.db.read(async |t| stored_organizations::all(t).await).await? {
        let scope = Scope::system(organization.id, "a clock that was ahead");
        ctx.change(&scope, async |c| {
            let found = stored_organizations::get(c.t, c.scope).await?;
            let Some(organization) = found else { return Ok(()) };
            reschedule(c, &organization.time_zone).await
        })
        .await?;
    }
    Ok(())
}

#[boxed]
pub async fn delete(
    ctx: &Ctx,
    scope: &Scope,
    place: AutomationRef,
    precondition: Precondition,
) -> Result<Automation, Error> {
    ctx.change(scope, async move |c| {
        let before = lock(c, place).await?;
        precondition.check(&before.tag())?;
        remove(c, before.id).await?;
        tasks::note_evidence(c, &before.task_id.to_string()).await?;
        Ok(before)
    })
    .await
}

/// Removes an automation with its scripts, its runs and their files.
async fn remove(c: &Change<'_>, id: AutomationId) -> Result<(), Error> {
    let files = attachments::of_automation(c.t, c.scope, id).await?;
    crate::files::attachments::remove(c, &files).await?;
    stored_runs::delete(c.t, c.scope, id).await?;
    automations::delete(c.t, c.scope, id).await?;
    c.record_gone("automation.deleted", "automation", id);
    Ok(())
}

/// Removes the automations of a deleted task.
pub(crate) async fn remove_all(c: &Change<'_>, task: &str) -> Result<(), Error> {
    for id in automations::of_task(c.t, c.scope, task).await? {
        remove(c, id).await?;
    }
    Ok(())
}

#[boxed]
pub async fn add_version(
    ctx: &Ctx,
    scope: &Scope,
    place: AutomationRef,
    source: Source,
    changelog: Option<LongText>,
) -> Result<Version, Error> {
    let found = get(ctx, scope, place).await?;
    let moves_task = found.status_on_pass.is_some() || found.status_on_fail.is_some();
    must_be_allowed(scope, &found.events, moves_task)?;
    ctx.runner().check("script", source.as_str()).await?;
    ctx.change(scope, async move |c| {
        let before = lock(c, place).await?;
        if before.check.is_some() {
            return Err(Error::Conflict {
                code: "automation_is_a_check",
                message: "This automation runs a built-in check and has no script of its own; change its parameters, \
                          or add another automation."
                    .to_owned(),
            });
        }
        let number = before.latest_version.unwrap_or(0) + 1;
        let changelog = changelog.clone().map(String::from);
        let version = version(c, &before, number, source.as_str().to_owned(), changelog);
        automations::insert_version(c.t, c.scope, &version).await?;
        let mut after = Automation { latest_version: Some(number), ..before };
        save(c, &mut after).await?;
        Ok(version)
    })
    .await
}

#[boxed]
pub async fn versions(
    ctx: &Ctx,
    scope: &Scope,
    place: AutomationRef,
    limit: u16,
    after: Option<After>,
) -> Result<Page<Version>, Error> {
    let scope = scope.clone();
    ctx.db
        .read(async move |t| {
            find(t, &scope, place).await?;
            Ok(automations::versions(t, &scope, place.automation, limit, after.as_ref()).await?)
        })
        .await
}

#[boxed]
pub async fn count_versions(ctx: &Ctx, scope: &Scope, place: AutomationRef) -> Result<i64, Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| automations::count_versions(t, &scope, place.automation).await).await?)
}

/// The hosts that automations may reach, and the version of the list.
#[boxed]
pub async fn hosts(ctx: &Ctx, scope: &Scope) -> Result<(AllowedHosts, i64), Error> {
    let scope = scope.clone();
    Ok(ctx.db.read(async move |t| automations::hosts(t, &scope).await).await?)
}

#[boxed]
pub async fn set_hosts(
    ctx: &Ctx,
    scope: &Scope,
    hosts: AllowedHosts,
    precondition: Precondition,
) -> Result<(AllowedHosts, i64), Error> {
    ctx.change(scope, async move |c| {
        let (before, version) = automations::hosts(c.t, c.scope).await?;
        precondition.check(&[version])?;
        if before == hosts {
            return Ok((before, version));
        }
        automations::set_hosts(c.t, c.scope, &hosts, c.now, version + 1).await?;
        let state = serde_json::json!({"hosts": &hosts});
        c.put(Record {
            action: "automation-hosts.updated".into(),
            entity_type: "automation-hosts".into(),
            entity_id: c.organization().to_string(),
            state: Some(attestry_domain::journal::canonical::canonical(&state)?),
        });
        Ok((hosts.clone(), version + 1))
    })
    .await
}
