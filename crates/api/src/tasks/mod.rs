//! `/v1/tasks`: the operations that only tasks have. Lists are plain arrays, unpaged by default.

pub(crate) mod templates;

use attestry_app::tasks::{self, Move};
use attestry_domain::access::{ChangeTasks, SeeTasks, grant};
use attestry_domain::id::{MemberId, TaskId, kind};
use attestry_domain::tasks::{Position, Task, TaskStatus, templates as task_templates};
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Ids, Json as JsonValue, not_empty};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::registers::{Names, Nothing, RegisterApi};

impl RegisterApi for Task {
    type Read = SeeTasks;
    type ReadAll = grant::TaskRead;
    type Create = grant::TaskCreate;
    type Update = ChangeTasks;
    type Delete = grant::TaskDelete;
    type Extension = Nothing;

    const NAMES: Names =
        Names { schema: "Task", one: "task", many: "tasks", deleted: None, parameter: "taskId" };
    const BARE: bool = true;
    const GIVEN: &'static [&'static str] =
        &["title", "description", "department", "frequency", "dueDate", "taskTemplateId"];

    fn example() -> Value {
        json!({
            "id": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "reference": "T-98", "title": "Review who has access to production",
            "description": "Export the list of accounts and have each one confirmed.", "status": "todo",
            "assigneeId": null, "department": "it", "frequency": "quarterly", "order": 0, "dueDate": "2026-12-31",
            "firstCompletedAt": null, "lastCompletedAt": null, "lastEvidenceDate": "2026-09-28",
            "taskTemplateId": task_templates::all().first().map(|template| template.id), "evidenceStatus": "fresh",
            "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "createdAt": "2026-11-15T09:30:00.000Z",
            "updatedAt": "2026-11-15T09:30:00.000Z"
        })
    }

    fn change_example() -> Value {
        json!({"status": "in_progress", "dueDate": "2027-01-15"})
    }
}

body! {
    /// A status for many tasks.
    SetTaskStatus (Medium) {
        task_ids "taskIds": required Ids<kind::Task> = "The tasks, at most 1000.",
        status "status": required TaskStatus = "Their new status.",
    }
    example json!({"taskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"], "status": "in_progress"})
}

body! {
    /// An assignee for many tasks.
    AssignTasks (Medium) {
        task_ids "taskIds": required Ids<kind::Task> = "The tasks, at most 1000.",
        assignee_id "assigneeId": nullable MemberId = "The active member who does them; null is nobody. Required.",
    }
    example json!({"taskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"], "assigneeId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"})
}

body! {
    /// Tasks to delete.
    DeleteTasks (Medium) {
        task_ids "taskIds": required Ids<kind::Task> = "The tasks, at most 1000.",
    }
    example json!({"taskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"]})
}

body! {
    /// The new position of a task.
    TaskMove {
        id "id": required TaskId = "The task.",
        order "order": required Position = "Its place among the tasks of the same status.",
        status "status": optional TaskStatus = "Its new status.",
    }
    example json!({"id": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "order": 3, "status": "todo"})
}

/// The position changes of a reorder request.
#[derive(Clone, Debug)]
pub(crate) struct Moves(Vec<TaskMove>);

impl FromJson for Moves {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let moves: Vec<TaskMove> = not_empty(json.each_body(1000)?)?;
        for (place, one) in moves.iter().enumerate() {
            if moves[..place].iter().any(|other| other.id == one.id) {
                return Err(format!("[{place}]: the task is given more than once"));
            }
        }
        Ok(Self(moves))
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(TaskMove::schema()).min_items(Some(1)).max_items(Some(1000)).into()
    }
}

body! {
    /// A new order of tasks.
    ReorderTasks (Medium) {
        updates "updates": required Moves = "The tasks that move, at most 1000.",
    }
    example json!({"updates": [{"id": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "order": 3, "status": "todo"}]})
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"updatedCount": 1}))]
pub(crate) struct TasksUpdated {
    updated_count: usize,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"deletedCount": 1}))]
pub(crate) struct TasksDeleted {
    deleted_count: usize,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true}))]
pub(crate) struct TasksReordered {
    success: bool,
}

/// Sets the status of many tasks: all of them or none
#[utoipa::path(
    patch, path = "/v1/tasks/bulk", tag = "Tasks", request_body = SetTaskStatus,
    responses((status = 200, body = TasksUpdated, description = "The number of tasks."))
)]
pub(crate) async fn set_task_status(
    api: State<Api>,
    scope: Granted<grant::TaskUpdate>,
    body: Valid<SetTaskStatus>,
) -> Result<Json<TasksUpdated>, Problem> {
    let SetTaskStatus { task_ids: Ids(ids), status } = body.0;
    let updated_count = tasks::update_many(&api.ctx, &scope, ids, tasks::with_status(status)).await?;
    Ok(Json(TasksUpdated { updated_count }))
}

/// Assigns many tasks: all of them or none
#[utoipa::path(
    patch, path = "/v1/tasks/bulk/assignee", tag = "Tasks", request_body = AssignTasks,
    responses((status = 200, body = TasksUpdated, description = "The number of tasks."))
)]
pub(crate) async fn assign_tasks(
    api: State<Api>,
    scope: Granted<grant::TaskUpdate>,
    body: Valid<AssignTasks>,
) -> Result<Json<TasksUpdated>, Problem> {
    let AssignTasks { task_ids: Ids(ids), assignee_id } = body.0;
    if assignee_id == attestry_domain::Patch::Absent {
        return Err(
            attestry_app::Error::field("assigneeId", "is required; null assigns them to nobody").into()
        );
    }
    let patch = tasks::assigned_to(assignee_id.into_option());
    let updated_count = tasks::update_many(&api.ctx, &scope, ids, patch).await?;
    Ok(Json(TasksUpdated { updated_count }))
}

/// Deletes many tasks: all of them or none
///
/// Deletes their comments, files and automations as well; their history stays.
#[utoipa::path(
    delete, path = "/v1/tasks/bulk", tag = "Tasks", request_body = DeleteTasks,
    responses((status = 200, body = TasksDeleted, description = "The number of deleted tasks."))
)]
pub(crate) async fn delete_tasks(
    api: State<Api>,
    scope: Granted<grant::TaskDelete>,
    body: Valid<DeleteTasks>,
) -> Result<Json<TasksDeleted>, Problem> {
    let Ids(ids) = body.0.task_ids;
    Ok(Json(TasksDeleted { deleted_count: tasks::delete_many(&api.ctx, &scope, ids).await? }))
}

/// Reorders tasks: all of them or none
#[utoipa::path(
    patch, path = "/v1/tasks/reorder", tag = "Tasks", request_body = ReorderTasks,
    responses((status = 200, body = TasksReordered, description = "The tasks are in the new order."))
)]
pub(crate) async fn reorder_tasks(
    api: State<Api>,
    scope: Granted<grant::TaskUpdate>,
    body: Valid<ReorderTasks>,
) -> Result<Json<TasksReordered>, Problem> {
    let moves = body.0.updates.0.into_iter();
    let moves = moves.map(|TaskMove { id, order, status }| Move { task: id, position: order, status });
    tasks::reorder(&api.ctx, &scope, moves.collect()).await?;
    Ok(Json(TasksReordered { success: true }))
}
