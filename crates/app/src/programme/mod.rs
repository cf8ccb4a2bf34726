//! The programme of an organization: previewing and starting a plan, its progress, and what its scope leaves out.

mod remind;
pub mod risk_library;
pub mod start;
mod undo;

use std::collections::HashMap;
use std::sync::Arc;

use attestry_domain::Time;
use attestry_domain::access::{Permission, Scope};
use attestry_domain::date::Date;
use attestry_domain::frameworks::Framework;
use attestry_domain::frameworks::controls::Control;
use attestry_domain::id::{FrameworkId, Kind, ProgrammeRunId, RequirementId, kind};
use attestry_domain::policies::Policy;
use attestry_domain::programme::planner::{self, Existing, Plan};
use attestry_domain::programme::progress::{Item, ItemKind, Progress};
use attestry_domain::programme::scope::Consequences;
use attestry_domain::programme::{Programme, Settings};
use attestry_domain::registers::{Record, Register};
use attestry_domain::tasks::{Task, TaskStatus};
use attestry_storage::{Tx, frameworks as own_frameworks, members, programmes, registers as rows, tasks};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::history::StateAsOf;
use crate::registers;

pub use remind::{Reminded, remind};
pub use start::{NewProgramme, start};
pub use undo::{UNDO_FOR, Undone, undo};

pub(crate) const MISSING: Error = Error::NotFound("programme");
/// The entity type in the journal, and the name of the lock of everything that plans.
pub(crate) const ENTITY: &str = "programme";

/// The permissions that starting a programme needs, besides the one to change it.
const NEEDED: [Permission; 7] = [
    Permission::ControlCreate,
    Permission::ControlUpdate,
    Permission::PolicyCreate,
    Permission::TaskCreate,
    Permission::TaskUpdate,
    Permission::ContextCreate,
    Permission::ContextUpdate,
];

fn must_be_allowed(scope: &Scope) -> Result<(), Error> {
    for permission in NEEDED {
        scope.require(permission)?;
    }
    Ok(())
}

/// The frameworks of a programme; those that were deleted since are left out.
async fn frameworks_of(t: &Tx<'_>, scope: &Scope, settings: &Settings) -> Result<Vec<Arc<Framework>>, Error> {
    let mut all: Vec<Arc<Framework>> = attestry_domain::frameworks::shipped().to_vec();
    if settings.framework_ids.iter().any(|id| all.iter().all(|one| one.id != *id)) {
        all.extend(own_frameworks::all(t, scope).await?);
    }
    all.retain(|one| settings.framework_ids.contains(&one.id));
    Ok(all)
}

/// Drops a framework that was deleted from the programme; other deleted records are ignored.
pub(crate) async fn framework_deleted(c: &Change<'_>, deleted: &str) -> Result<(), Error> {
    let Some(id) = FrameworkId::read(deleted) else { return Ok(()) };
    hold(c).await?;
    let Some(mut programme) = programmes::get(c.t, c.scope).await? else { return Ok(()) };
    if !programme.settings.framework_ids.contains(&id) {
        return Ok(());
    }
    programme.settings.framework_ids.retain(|own| *own != id);
    (programme.updated_at, programme.version) = (c.now, programme.version + 1);
    programmes::put(c.t, c.scope, &programme).await?;
    c.record("programme.updated", ENTITY, programme.id, &programme)
}

/// Derives the consequences of the answers of a programme.
async fn consequences_of(t: &Tx<'_>, scope: &Scope, settings: &Settings) -> Result<Consequences, Error> {
    let frameworks = frameworks_of(t, scope, settings).await?;
    let frameworks: Vec<&Framework> = frameworks.iter().map(|one| &**one).collect();
    Ok(planner::consequences(settings, &frameworks))
}

/// Reads the records of the organization that come from the catalogue.
async fn existing(t: &Tx<'_>, scope: &Scope) -> Result<Existing, Error> {
    let policies = programmes::policies(t, scope).await?;
    let mut existing = Existing {
        tasks: programmes::tasks(t, scope).await?,
        archived: policies.values().filter(|(_, is_archived)| *is_archived).map(|(id, _)| *id).collect(),
        policies: policies.into_iter().map(|(template, (id, _))| (template, id)).collect(),
        ..Existing::default()
    };
    let sees_controls = scope.allows(Permission::ControlRead);
    for control in registers::all::<Control>(t, scope).await? {
        let is_unlinked = control.policy_ids.is_empty() && control.task_ids.is_empty();
        let met: Vec<RequirementId> = control.requirement_ids.iter().collect();
        match &control.catalogue_key {
            Some(key) => {
                existing.controls.insert(key.as_str().to_owned(), control.id);
            }
            None if is_unlinked => {
                let label = if sees_controls { control.label() } else { control.reference() };
                existing.unlinked.push((label, met));
                continue;
            }
            None => {}
        }
        existing.met.extend(met);
    }
    Ok(existing)
}

async fn plan_of(
    t: &Tx<'_>,
    scope: &Scope,
    settings: &Settings,
    today: Date,
) -> Result<(Plan, Existing), Error> {
    let frameworks = frameworks_of(t, scope, settings).await?;
    let frameworks: Vec<&Framework> = frameworks.iter().map(|one| &**one).collect();
    let existing = existing(t, scope).await?;
    Ok((planner::plan(settings, &frameworks, &existing, today), existing))
}

/// Computes the plan without creating anything.
#[boxed]
pub async fn preview(ctx: &Ctx, scope: &Scope, new: NewProgramme) -> Result<(Settings, Plan), Error> {
    let (own, today) = (scope.clone(), scope.today(ctx.now()));
    let found = ctx.db.read(async move |t| {
        let settings = start::checked(t, &own, &new, today).await?;
        let (plan, _) = plan_of(t, &own, &settings, today).await?;
        Ok::<_, Error>((settings, plan))
    });
    found.await
}

/// A programme with its progress.
#[derive(Clone, Debug)]
pub struct ProgrammeStatus {
    pub programme: Programme,
    pub progress: Progress,
    /// The last start, and the time until which it can be undone.
    pub undo: Option<(ProgrammeRunId, Time)>,
    pub today: Date,
}

fn item_of_task(task: &Record<Task>, reopened: Option<Time>, scope: &Scope) -> Item {
    Item {
        kind: ItemKind::Task,
        id: task.id.to_string(),
        reference: task.reference(),
        title: task.name().to_owned(),
        assignee: task.assignee_id,
        due: task.due_date,
        completed: task.first_completed_at.or(task.last_completed_at).map(|at| scope.today(at)),
        reopened: reopened.map(|at| scope.today(at)),
        is_done: task.status == TaskStatus::Done,
        is_blocked: task.status == TaskStatus::Blocked,
        recurs: task.frequency.is_some(),
    }
}

fn item_of_policy(policy: &Record<Policy>, scope: &Scope) -> Item {
    Item {
        kind: ItemKind::Policy,
        id: policy.id.to_string(),
        reference: policy.reference(),
        title: policy.name().to_owned(),
        assignee: policy.assignee_id,
        due: policy.due_date,
        completed: policy.first_published_at.or(policy.last_published_at).map(|at| scope.today(at)),
        reopened: None,
        is_done: policy.is_published,
        is_blocked: false,
        recurs: false,
    }
}

/// Returns the programme with its progress: the policies and tasks that are linked to controls, as far as the caller
/// may see them.
#[boxed]
pub async fn status(ctx: &Ctx, scope: &Scope) -> Result<ProgrammeStatus, Error> {
    let (own, now) = (scope.clone(), ctx.now());
    let found = ctx.db.read(async move |t| {
        let Some(programme) = programmes::get(t, &own).await? else { return Err(MISSING) };
        let controls = registers::all::<Control>(t, &own).await?;
        let mut items = Vec::new();
        if own.allows(Permission::PolicyRead) {
            let ids = distinct(controls.iter().flat_map(|one| one.policy_ids.iter()).collect());
            let policies = rows::some_of::<Policy>(t, &own, &ids).await?;
            items.extend(policies.iter().filter(|one| !one.is_archived).map(|one| item_of_policy(one, &own)));
        }
        if own.allows(Permission::TaskRead) {
            let ids = distinct(controls.iter().flat_map(|one| one.task_ids.iter()).collect());
            let reopened = tasks::reopened(t, &own).await?;
            let found = rows::some_of::<Task>(t, &own, &ids).await?;
            items.extend(found.iter().map(|one| item_of_task(one, reopened.get(&one.id).copied(), &own)));
        }
        Ok((programme, items, programmes::last_run(t, &own).await?))
    });
    let (programme, items, run): (Programme, Vec<Item>, _) = found.await?;
    let today = scope.today(now);
    let settings = &programme.settings;
    let end = planner::last_day(settings, settings.starts_on)
        .max(settings.audit_date.unwrap_or(settings.starts_on));
    let progress = Progress::of(items, settings.starts_on, end, today);
    let undo = run.and_then(|run| Some((run.id, run.finished_at?.plus(UNDO_FOR))));
    Ok(ProgrammeStatus { programme, progress, undo: undo.filter(|(_, until)| *until > now), today })
}

/// Returns the programme with its progress, and the names of members by their ids as text.
#[boxed]
pub async fn status_with_names(
    ctx: &Ctx,
    scope: &Scope,
) -> Result<(ProgrammeStatus, HashMap<String, String>), Error> {
    let found = status(ctx, scope).await?;
    let own = scope.clone();
    let names = ctx.db.read(async move |t| members::names(t, &own).await).await?;
    Ok((found, names.into_iter().map(|(id, name)| (id.to_string(), name)).collect()))
}

/// Returns the requirements of a framework that the scope of the programme leaves out, with the justification of each,
/// now or as of a point in time.
pub(crate) async fn left_out(
    ctx: &Ctx,
    scope: &Scope,
    framework: &Framework,
    at: Option<Time>,
) -> Result<HashMap<RequirementId, String>, Error> {
    let programme = match at {
        // An organization has at most one programme, which may have been undone since.
        Some(at) => {
            let read = |state: &str| serde_json::from_str::<Programme>(state);
            StateAsOf { kind: kind::Programme::PREFIX, at, read }.all(ctx, scope).await?.pop()
        }
        None => {
            let own = scope.clone();
            ctx.db.read(async move |t| programmes::get(t, &own).await).await?
        }
    };
    let settings = programme.map(|programme| programme.settings);
    let Some(settings) = settings.filter(|settings| settings.framework_ids.contains(&framework.id)) else {
        return Ok(HashMap::new());
    };
    let left_out = planner::left_out(&planner::consequences(&settings, &[framework]), &[framework]);
    Ok(left_out.into_iter().map(|one| (one.requirement, one.justification)).collect())
}

/// Locks everything that plans, until the transaction ends.
async fn hold(c: &Change<'_>) -> Result<(), Error> {
    Ok(rows::hold(c.t, c.scope, ENTITY).await?)
}

/// Sorts ids and removes duplicates.
fn distinct<I: Ord>(mut ids: Vec<I>) -> Vec<I> {
    ids.sort_unstable();
    ids.dedup();
    ids
}
