//! Operations specific to tasks: bulk changes, order, templates and recurrence.

pub(crate) mod recurrence;

use std::collections::BTreeSet;

use attestry_domain::access::Scope;
use attestry_domain::id::{MemberId, OrganizationId, TaskId};
use attestry_domain::patch::Patch;
use attestry_domain::registers::Record;
use attestry_domain::tasks::templates::{TaskTemplate, TemplateId};
use attestry_domain::tasks::{Position, Task, TaskPatch, TaskStatus, templates as task_templates};
use attestry_domain::text::AnyText;
use attestry_domain::{Parse, Zone};
use attestry_storage::{attachments, organizations, registers as rows, tasks};

use crate::boxed;
use crate::core::change::Change;
use crate::core::context::Ctx;
use crate::core::error::{Error, FieldError};
use crate::registers;

/// Updates the date of a task's latest evidence after a file was added or removed.
pub(crate) async fn note_evidence(c: &Change<'_>, task: &str) -> Result<(), Error> {
    let Some(id) = TaskId::read(task) else { return Ok(()) };
    let Some(before) = rows::lock::<Task>(c.t, c.scope, id).await? else { return Ok(()) };
    let mut after = before.clone();
    after.fields.last_evidence_date = attachments::latest(c.t, c.scope, task).await?;
    registers::save(c, &before, after).await.map(drop)
}

/// Locks these tasks until the transaction ends; if some do not exist, fails and reports each of them. `named`
/// returns the request field of an index into `ids`.
async fn lock_all(
    c: &Change<'_>,
    ids: &[TaskId],
    named: impl Fn(usize) -> String,
) -> Result<Vec<Record<Task>>, Error> {
    // Always in the same order, which prevents deadlocks.
    let ordered: BTreeSet<TaskId> = ids.iter().copied().collect();
    let (mut found, mut wrong) = (Vec::with_capacity(ordered.len()), Vec::new());
    for id in ordered {
        match rows::lock::<Task>(c.t, c.scope, id).await? {
            Some(task) => found.push(task),
            None => wrong.extend(ids.iter().position(|other| *other == id)),
        }
    }
    if wrong.is_empty() {
        return Ok(found);
    }
    let missing = |place| FieldError {
        field: named(place),
        message: "must be the id of a task of this organization".to_owned(),
    };
    Err(Error::Invalid(wrong.into_iter().map(missing).collect()))
}

/// Applies one patch to many tasks; returns their number.
#[boxed]
pub async fn update_many(
    ctx: &Ctx,
    scope: &Scope,
    ids: Vec<TaskId>,
    patch: TaskPatch,
) -> Result<usize, Error> {
    ctx.change(scope, async move |c| {
        let tasks = lock_all(c, &ids, |place| format!("taskIds[{place}]")).await?;
        for task in &tasks {
            registers::change(c, task, &patch).await?;
        }
        Ok(tasks.len())
    })
    .await
}

pub fn with_status(status: TaskStatus) -> TaskPatch {
    TaskPatch { status: Some(status), ..TaskPatch::default() }
}

pub fn assigned_to(member: Option<MemberId>) -> TaskPatch {
    let assignee_id = member.map_or(Patch::Null, Patch::Value);
    TaskPatch { assignee_id, ..TaskPatch::default() }
}

#[boxed]
pub async fn delete_many(ctx: &Ctx, scope: &Scope, ids: Vec<TaskId>) -> Result<usize, Error> {
    ctx.change(scope, async move |c| {
        let tasks = lock_all(c, &ids, |place| format!("taskIds[{place}]")).await?;
        for task in &tasks {
            registers::remove::<Task>(c, task.id).await?;
        }
        Ok(tasks.len())
    })
    .await
}

/// A task's new position, and its new status if that changes, too.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub task: TaskId,
    pub position: Position,
    pub status: Option<TaskStatus>,
}

/// Reorders tasks: all of them, or none.
#[boxed]
pub async fn reorder(ctx: &Ctx, scope: &Scope, moves: Vec<Move>) -> Result<(), Error> {
    ctx.change(scope, async move |c| {
        let ids: Vec<TaskId> = moves.iter().map(|one| one.task).collect();
        let tasks = lock_all(c, &ids, |place| format!("updates[{place}].id")).await?;
        for task in &tasks {
            if let Some(one) = moves.iter().find(|one| one.task == task.id) {
                let patch =
                    TaskPatch { position: Some(one.position), status: one.status, ..TaskPatch::default() };
                registers::change(c, task, &patch).await?;
            }
        }
        Ok(())
    })
    .await
}

/// The fields of a task that is created from a template.
pub(crate) fn from_template(template: &TaskTemplate) -> Result<TaskPatch, Error> {
    let wrong = |message: String| Error::internal(format!("template {}: {message}", template.id));
    Ok(TaskPatch {
        title: Some(Parse::parse(&template.title).map_err(wrong)?),
        description: Some(AnyText::parse(&template.description).map_err(wrong)?),
        department: Patch::Value(template.department),
        frequency: template.frequency.map_or(Patch::Absent, Patch::Value),
        task_template_id: Patch::Value(TemplateId::of(template)),
        ..TaskPatch::default()
    })
}

/// Creates a task from each template that has none yet; from all templates, or from those that are named.
#[boxed]
pub async fn from_templates(
    ctx: &Ctx,
    scope: &Scope,
    named: Option<Vec<TemplateId>>,
) -> Result<Vec<Record<Task>>, Error> {
    ctx.change(scope, async move |c| {
        let existing = tasks::templates(c.t, c.scope).await?;
        let wanted = |template: &&TaskTemplate| {
            let is_named = |ids: &Vec<TemplateId>| ids.iter().any(|id| id.id() == template.id);
            !existing.contains(&template.id) && named.as_ref().is_none_or(is_named)
        };
        let mut made = Vec::new();
        for template in task_templates::all().iter().filter(wanted) {
            made.push(registers::new::<Task>(c, &from_template(template)?)?);
        }
        registers::add_many(c, &mut made).await?;
        Ok(made)
    })
    .await
}

/// Reopens recurring tasks of an organization whose period has passed by the local date.
pub(crate) async fn reopen(ctx: &Ctx, organization: OrganizationId, ids: Vec<TaskId>) -> Result<(), Error> {
    let scope = Scope::system(organization, "recurrence");
    ctx.change(&scope, async move |c| {
        let Some(zone) = organizations::get(c.t, c.scope).await?.map(|found| found.time_zone) else {
            return Ok(());
        };
        for id in &ids {
            let Some(task) = rows::lock::<Task>(c.t, c.scope, *id).await? else { continue };
            if let Some(next) = next_period(&task, &zone, c) {
                registers::save(c, &task, Record { fields: next, ..task.clone() }).await?;
            }
        }
        Ok(())
    })
    .await
}

fn next_period(task: &Task, zone: &Zone, c: &Change<'_>) -> Option<Task> {
    let today = zone.date_of(c.now);
    let opens = task.reopens_on(zone.date_of(task.last_completed_at?))?;
    (opens <= today).then(|| task.reopened(today))
}
