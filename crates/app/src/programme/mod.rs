//! The programme of an organization: previewing and starting a plan, its progress, and what its scope leaves out.

mod remind;
pub mod risk_library;
pub mod start;
mod undo;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use attestry_domain::Time;
use attestry_domain::access::{Permission, Scope};
use attestry_domain::date::Date;
use attestry_domain::frameworks::Framework;
use attestry_domain::frameworks::controls::Control;
use attestry_domain::id::{FrameworkId, PolicyId, RequirementId, TaskId};
use attestry_domain::policies::Policy;
use attestry_domain::programme::planner::{self, Existing, Plan};
use attestry_domain::programme::progress::{Item, ItemKind, Progress};
use attestry_domain::programme::{Programme, Settings};
use attestry_domain::registers::{Record, Register};
use attestry_domain::tasks::{Task, TaskStatus};
use attestry_storage::{Tx, frameworks as own_frameworks, journal, programmes};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::Error;
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

/// Reads what the organization already has of the catalogue.
async fn existing(t: &Tx<'_>, scope: &Scope) -> Result<Existing, Error> {
    let mut existing = Existing {
        tasks: programmes::tasks(t, scope).await?,
        policies: programmes::policies(t, scope).await?,
        ..Existing::default()
    };
    for control in registers::all::<Control>(t, scope).await? {
        match &control.catalogue_key {
            Some(key) => {
                existing.controls.insert(key.as_str().to_owned(), control.id);
            }
            None if control.policy_ids.is_empty() && control.task_ids.is_empty() => {
                let met = control.requirement_ids.iter().collect();
                existing.unlinked.push((control.label(), met));
            }
            None => existing.met.extend(control.requirement_ids.iter()),
        }
    }
    Ok(existing)
}

async fn plan_of(t: &Tx<'_>, scope: &Scope, settings: &Settings) -> Result<(Plan, Existing), Error> {
    let frameworks = frameworks_of(t, scope, settings).await?;
    let frameworks: Vec<&Framework> = frameworks.iter().map(|one| &**one).collect();
    let existing = existing(t, scope).await?;
    Ok((planner::plan(settings, &frameworks, &existing), existing))
}

/// Computes the plan without creating anything.
#[boxed]
pub async fn preview(ctx: &Ctx, scope: &Scope, new: NewProgramme) -> Result<(Settings, Plan), Error> {
    let (own, today) = (scope.clone(), scope.today(ctx.now()));
    let found = ctx.db.read(async move |t| {
        let settings = start::checked(t, &own, &new, today).await?;
        let (plan, _) = plan_of(t, &own, &settings).await?;
        Ok::<_, Error>((settings, plan))
    });
    found.await
}

#[boxed]
pub async fn get(ctx: &Ctx, scope: &Scope) -> Result<Programme, Error> {
    let own = scope.clone();
    ctx.db.read(async move |t| Ok::<_, Error>(programmes::get(t, &own).await?)).await?.ok_or(MISSING)
}

/// The state of a programme.
#[derive(Clone, Debug)]
pub struct Standing {
    pub programme: Programme,
    pub frameworks: Vec<Arc<Framework>>,
    pub progress: Progress,
    /// The time until which the last start can be undone.
    pub undo_until: Option<Time>,
    pub today: Date,
}

fn item_of_task(task: &Record<Task>, scope: &Scope) -> Item {
    Item {
        kind: ItemKind::Task,
        id: task.id.to_string(),
        reference: task.reference(),
        title: task.name().to_owned(),
        assignee: task.assignee_id,
        due: task.due_date,
        completed: task.last_completed_at.map(|at| scope.today(at)),
        is_done: task.status == TaskStatus::Done,
        is_blocked: task.status == TaskStatus::Blocked,
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
        completed: policy.last_published_at.map(|at| scope.today(at)),
        is_done: policy.is_published,
        is_blocked: false,
    }
}

/// Returns the programme with its progress: the policies and tasks that are linked to controls.
#[boxed]
pub async fn standing(ctx: &Ctx, scope: &Scope) -> Result<Standing, Error> {
    let (own, now) = (scope.clone(), ctx.now());
    let found = ctx.db.read(async move |t| {
        let Some(programme) = programmes::get(t, &own).await? else { return Err(MISSING) };
        let frameworks = frameworks_of(t, &own, &programme.settings).await?;
        let controls = registers::all::<Control>(t, &own).await?;
        let tasks: HashSet<TaskId> = controls.iter().flat_map(|one| one.task_ids.iter()).collect();
        let policies: HashSet<PolicyId> = controls.iter().flat_map(|one| one.policy_ids.iter()).collect();
        let all_tasks = registers::all::<Task>(t, &own).await?;
        let all_policies = registers::all::<Policy>(t, &own).await?;
        let run = programmes::last_run(t, &own).await?;
        let items = all_policies
            .iter()
            .filter(|one| policies.contains(&one.id) && !one.is_archived)
            .map(|one| item_of_policy(one, &own))
            .chain(all_tasks.iter().filter(|one| tasks.contains(&one.id)).map(|one| item_of_task(one, &own)))
            .collect();
        Ok((programme, frameworks, items, run))
    });
    let (programme, frameworks, items, run): (Programme, _, Vec<Item>, _) = found.await?;
    let today = scope.today(now);
    let settings = &programme.settings;
    let end = planner::last_day(settings).max(settings.audit_date.unwrap_or(settings.starts_on));
    let progress = Progress::of(items, settings.starts_on, end, today);
    let undo_until =
        run.and_then(|run| run.finished_at).map(|at| at.plus(UNDO_FOR)).filter(|until| *until > now);
    Ok(Standing { programme, frameworks, progress, undo_until, today })
}

/// Returns the requirements of a framework that the scope of the programme leaves out, with the justification of each,
/// now or as of a point in time.
pub(crate) async fn left_out(
    ctx: &Ctx,
    scope: &Scope,
    framework: &Framework,
    at: Option<Time>,
) -> Result<HashMap<RequirementId, String>, Error> {
    let own = scope.clone();
    let settings = ctx.db.read(async move |t| {
        let Some(programme) = programmes::get(t, &own).await? else { return Ok(None) };
        let Some(at) = at else { return Ok(Some(programme.settings)) };
        let state = journal::state_at(t, &own, &programme.id.to_string(), at).await?;
        let state = state.map(|state| serde_json::from_str::<Programme>(&state)).transpose()?;
        Ok::<_, Error>(state.map(|programme| programme.settings))
    });
    let Some(settings) = settings.await?.filter(|settings| settings.framework_ids.contains(&framework.id))
    else {
        return Ok(HashMap::new());
    };
    let plan = planner::plan(&settings, &[framework], &Existing::default());
    Ok(plan.left_out.into_iter().map(|one| (one.requirement, one.justification)).collect())
}

/// Locks everything that plans, until the transaction ends.
async fn hold(c: &Change<'_>) -> Result<(), Error> {
    Ok(attestry_storage::registers::hold(c.t, c.scope, ENTITY).await?)
}

/// The ids of the chosen frameworks, sorted and without duplicates.
fn distinct(mut ids: Vec<FrameworkId>) -> Vec<FrameworkId> {
    ids.sort_unstable();
    ids.dedup();
    ids
}
