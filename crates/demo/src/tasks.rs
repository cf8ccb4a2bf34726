//! Tasks and their evidence: most are on time, some are late, some are pending.

use anyhow::Result;
use attestry_app::core::precondition::Precondition;
use attestry_app::files::attachments::{self, Target};
use attestry_app::{registers, tasks};
use attestry_domain::Patch;
use attestry_domain::access::{ChangeTasks, SeeTasks, grant};
use attestry_domain::id::TaskId;
use attestry_domain::registers::subjects::Subject;
use attestry_domain::tasks::TaskStatus::{Done, InProgress};
use attestry_domain::tasks::{Task, TaskPatch, TaskStatus};
use attestry_domain::words::Department;
use futures_util::{FutureExt, stream};
use serde::Deserialize;

use crate::evidence::{self, Kind};
use crate::people::{self, OWNER};
use crate::plan::Plan;
use crate::story::{Story, text};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    key: &'static str,
    /// The title of a task of the programme, or a custom one.
    title: &'static str,
    assignee: &'static str,
    ago: i64,
    /// The number of days since the first due date; negative if it is in the future.
    due: i64,
    evidence: Kind,
    /// The days on which it was completed.
    done: Vec<i64>,
    /// The last status change.
    last: Option<(i64, TaskStatus)>,
}

table!(ROWS: Vec<Row> = "tasks");

/// The titles of all tasks of the table.
pub(crate) fn titles() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.title)
}

pub(crate) fn plan(plan: &mut Plan) {
    for row in ROWS.iter() {
        plan.on(row.ago, move |story| add(story, row).boxed_local());
        for ago in &row.done {
            plan.on(*ago, move |story| finish(story, row).boxed_local());
        }
        if let Some((ago, status)) = row.last {
            plan.on(ago, move |story| change_status(story, row, status).boxed_local());
        }
    }
}

async fn add(story: &mut Story, row: &'static Row) -> Result<()> {
    let scope = story.by::<grant::TaskCreate>(OWNER)?;
    let assignee_id = Patch::Value(story.member(row.assignee)?);
    let due_date = Patch::Value(story.day(row.due));
    let id = match story.programme.tasks.get(row.title) {
        Some(id) => {
            let patch = TaskPatch { assignee_id, due_date, ..TaskPatch::default() };
            let scope = story.by::<ChangeTasks>(OWNER)?;
            registers::update::<Task>(&story.ctx, &scope, *id, patch, Precondition::default()).await?;
            *id
        }
        None => {
            let new = TaskPatch {
                title: Some(text(row.title)?),
                assignee_id,
                due_date,
                department: Patch::Value(Department::It),
                ..TaskPatch::default()
            };
            registers::create::<Task>(&story.ctx, &scope, new).await?.id
        }
    };
    story.tasks.insert(row.key, id);
    Ok(())
}

async fn change_status(story: &mut Story, row: &'static Row, status: TaskStatus) -> Result<()> {
    let id = story.task(row.key)?;
    set_status(story, id, row.assignee, status).await
}

async fn finish(story: &mut Story, row: &'static Row) -> Result<()> {
    let id = story.task(row.key)?;
    complete(story, id, row.assignee, row.evidence, row.key).await
}

/// Attaches the evidence and completes the task, as its assignee.
pub(crate) async fn complete(
    story: &mut Story,
    id: TaskId,
    assignee: &'static str,
    evidence: Kind,
    stem: &str,
) -> Result<()> {
    let task = registers::get::<Task>(&story.ctx, &story.by::<SeeTasks>(assignee)?, id).await?;
    if task.status == Done {
        // Completed early: the current period is not over yet.
        set_status(story, id, assignee, InProgress).await?;
    }
    let (worker, day) = (people::named(assignee)?, story.local_day());
    let (file, content) = evidence::of(evidence, stem, task.title.as_str(), worker.name, day)?;
    let scope = story.by::<grant::AttachmentCreate>(assignee)?;
    let target = Target::new(Subject::Task, id);
    let content = stream::iter([Ok::<_, attestry_app::Error>(content)]);
    let stored = attachments::store(&story.ctx, &scope, target, file, content).await?;
    let stored = stored.with_effective_date(Some(day));
    attachments::create(&story.ctx, &scope, stored).await?;
    set_status(story, id, assignee, Done).await
}

async fn set_status(story: &mut Story, id: TaskId, assignee: &'static str, status: TaskStatus) -> Result<()> {
    let scope = story.by::<ChangeTasks>(assignee)?;
    let patch = tasks::with_status(status);
    registers::update::<Task>(&story.ctx, &scope, id, patch, Precondition::default()).await?;
    Ok(())
}
