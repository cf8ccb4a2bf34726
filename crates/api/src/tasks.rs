//! `/v1/tasks`: what tasks have beside other registers. Lists are bare arrays of everything.

use attestry_app::tasks::{self, Move};
use attestry_domain::access::{ChangeTasks, SeeTasks, grant};
use attestry_domain::id::{MemberId, TaskId, kind};
use attestry_domain::task_templates::{self, TaskTemplate, TemplateId};
use attestry_domain::tasks::{Frequency, Position, Task, TaskFilter, TaskStatus};
use attestry_domain::words::Department;
use attestry_domain::{task_fields, task_filters};
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::answer::lists;
use crate::answer::problem::{Problem, in_one_line};
use crate::registers::{Exposed, Names, View};
use crate::request::caller::Granted;
use crate::request::json::{FromJson, Ids, Json as JsonValue};
use crate::request::query::{FromQuery, Query, ValidQuery};
use crate::request::wire::{Fields, Optional, Valid};
use crate::state::Api;

task_fields!(wire Task);
task_filters!(wire_filter TaskFilter);

impl Exposed for Task {
    type Read = SeeTasks;
    type ReadAll = grant::TaskRead;
    type Create = grant::TaskCreate;
    type Update = ChangeTasks;
    type Delete = grant::TaskDelete;

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
            "lastCompletedAt": null, "lastEvidenceDate": "2026-09-28",
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
    SetTaskStatus {
        task_ids "taskIds": required Ids<kind::Task> = "The tasks, at most 1000.",
        status "status": required TaskStatus = "Their new status.",
    }
    example json!({"taskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"], "status": "in_progress"})
}

body! {
    /// Somebody who does many tasks.
    AssignTasks {
        task_ids "taskIds": required Ids<kind::Task> = "The tasks, at most 1000.",
        assignee_id "assigneeId": nullable MemberId = "The active member who does them; null is nobody. Required.",
    }
    example json!({"taskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"], "assigneeId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"})
}

body! {
    /// Tasks to delete.
    DeleteTasks {
        task_ids "taskIds": required Ids<kind::Task> = "The tasks, at most 1000.",
    }
    example json!({"taskIds": ["tsk_01jcqg3v5mefzr7d0a6w3k9x2b"]})
}

body! {
    /// Where a task is to be shown.
    TaskMove {
        id "id": required TaskId = "The task.",
        order "order": required Position = "Its place among the tasks of the same status.",
        status "status": optional TaskStatus = "Its new status.",
    }
    example json!({"id": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "order": 3, "status": "todo"})
}

/// The moves of a new order.
#[derive(Clone, Debug)]
pub(crate) struct Moves(Vec<TaskMove>);

impl FromJson for Moves {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let items = json.items(1000)?;
        if items.is_empty() {
            return Err("must hold at least one item".to_owned());
        }
        let read = |(place, item)| {
            let fields = Fields::of(item).map_err(|message| format!("[{place}]: {message}"))?;
            fields.read().map_err(|errors| format!("[{place}]: {}", in_one_line(&errors)))
        };
        let moves: Vec<TaskMove> = items.iter().enumerate().map(read).collect::<Result<_, _>>()?;
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
    ReorderTasks {
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
    responses((status = 200, body = TasksUpdated, description = "How many tasks there are.")),
    extensions(("x-permission" = json!("task:update")))
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
    responses((status = 200, body = TasksUpdated, description = "How many tasks there are.")),
    extensions(("x-permission" = json!("task:update")))
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
    responses((status = 200, body = TasksDeleted, description = "How many tasks were deleted.")),
    extensions(("x-permission" = json!("task:delete")))
)]
pub(crate) async fn delete_tasks(
    api: State<Api>,
    scope: Granted<grant::TaskDelete>,
    body: Valid<DeleteTasks>,
) -> Result<Json<TasksDeleted>, Problem> {
    let Ids(ids) = body.0.task_ids;
    Ok(Json(TasksDeleted { deleted_count: tasks::delete_many(&api.ctx, &scope, ids).await? }))
}

/// Puts tasks into a new order: all of them or none
#[utoipa::path(
    patch, path = "/v1/tasks/reorder", tag = "Tasks", request_body = ReorderTasks,
    responses((status = 200, body = TasksReordered, description = "The tasks are in the new order.")),
    extensions(("x-permission" = json!("task:update")))
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

/// A task that ships with the product, to be made an organization's own.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TaskTemplate, example = json!(template_example()))]
pub(crate) struct TemplateView {
    #[schema(value_type = String)]
    id: String,
    title: &'static str,
    /// What to do, and what good evidence is.
    description: &'static str,
    #[schema(required, inline)]
    frequency: Option<Frequency>,
    #[schema(inline)]
    department: Department,
}

impl From<&'static TaskTemplate> for TemplateView {
    fn from(template: &'static TaskTemplate) -> Self {
        let TaskTemplate { id, title, description, frequency, department } = template;
        let (frequency, department) = (*frequency, *department);
        Self { id: id.to_string(), title, description, frequency, department }
    }
}

fn template_example() -> Value {
    json!(task_templates::all().first())
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [template_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct TemplateList {
    data: Vec<TemplateView>,
    /// The number of items in this page.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = lists::total_schema, required = false)]
    total: Option<usize>,
}

const CURSOR: &str = "task templates";

#[derive(Debug)]
pub(crate) struct ListTemplates {
    limit: u16,
    after: Option<String>,
    total: bool,
}

impl FromQuery for ListTemplates {
    fn read(query: &mut Query) -> Self {
        let after = lists::cursor(query, CURSOR, |key| matches!(key, attestry_domain::page::Key::Id));
        let total = lists::total(query);
        Self { limit: lists::limit(query), after: after.map(|after| after.id), total }
    }
}

impl IntoParams for ListTemplates {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = lists::plain_parameters();
        all.push(lists::total_parameter());
        all
    }
}

/// Lists the task templates
///
/// They ship with the product; their ids never change.
#[utoipa::path(
    get, path = "/v1/task-templates", tag = "Tasks", params(ListTemplates),
    responses((status = 200, body = TemplateList, description = "The templates.")),
    extensions(("x-permission" = json!("task:read")))
)]
pub(crate) async fn list_task_templates(
    _scope: Granted<grant::TaskRead>,
    query: ValidQuery<ListTemplates>,
) -> Json<TemplateList> {
    use attestry_domain::page::{After, Key, Page};
    let ValidQuery(ListTemplates { limit, after, total }) = query;
    let all = task_templates::all();
    let later = all.iter().filter(|one| after.as_ref().is_none_or(|after| one.id.to_string() > *after));
    let found: Vec<&TaskTemplate> = later.take(usize::from(limit) + 1).collect();
    let page = Page::cut(found, limit, |one| After { key: Key::Id, id: one.id.to_string() });
    let data: Vec<TemplateView> = page.items.into_iter().map(Into::into).collect();
    let next_cursor = lists::next_cursor(CURSOR, page.next);
    Json(TemplateList { count: data.len(), data, next_cursor, total: total.then_some(all.len()) })
}

/// Template ids in a body.
#[derive(Clone, Debug)]
pub(crate) struct TemplateIds(Vec<TemplateId>);

impl FromJson for TemplateIds {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let items = json.items(1000)?;
        let read = |(place, item): (usize, &JsonValue)| {
            TemplateId::from_json(item).map_err(|message| format!("[{place}]: {message}"))
        };
        items.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(<TemplateId as FromJson>::schema()).max_items(Some(1000)).into()
    }
}

body! {
    /// Which templates become tasks.
    CreateTasksFromTemplates {
        template_ids "templateIds": optional TemplateIds = "All templates, if it is left out.",
    }
    example json!({"templateIds": [task_templates::all().get(1).map(|template| template.id)]})
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TasksFromTemplates {
    created: Vec<View<Task>>,
    created_count: usize,
}

impl PartialSchema for TasksFromTemplates {
    fn schema() -> RefOr<Schema> {
        crate::document::operations::schema(json!({
            "type": "object", "required": ["created", "createdCount"],
            "properties": {
                "created": {"type": "array", "items": crate::document::operations::reference("Task")},
                "createdCount": {"type": "integer", "minimum": 0}
            },
            "example": {"created": [Task::example()], "createdCount": 1}
        }))
    }
}

impl ToSchema for TasksFromTemplates {}

/// Makes a task of each template that has none yet
///
/// Doing it again makes only what is missing, so it can be repeated after an update. The body can be left out.
#[utoipa::path(
    post, path = "/v1/tasks/from-templates", tag = "Tasks", request_body = CreateTasksFromTemplates,
    responses((status = 201, body = TasksFromTemplates, description = "The tasks that were made.")),
    extensions(("x-permission" = json!("task:create")))
)]
pub(crate) async fn create_tasks_from_templates(
    api: State<Api>,
    scope: Granted<grant::TaskCreate>,
    body: Optional<CreateTasksFromTemplates>,
) -> Result<(StatusCode, Json<TasksFromTemplates>), Problem> {
    let named = body.0.and_then(|body| body.template_ids).map(|ids| ids.0);
    let today = scope.today(api.ctx.now());
    let made = tasks::from_templates(&api.ctx, &scope, named).await?;
    let created: Vec<View<Task>> = made.into_iter().map(|task| View::new(task, today)).collect();
    Ok((StatusCode::CREATED, Json(TasksFromTemplates { created_count: created.len(), created })))
}
