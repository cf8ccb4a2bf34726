//! `/v1/task-templates`: tasks that ship with the product.

use attestry_app::tasks;
use attestry_domain::access::grant;
use attestry_domain::programme::OwnerRole;
use attestry_domain::tasks::templates::{TaskTemplate, TemplateId};
use attestry_domain::tasks::{Frequency, Task, templates as task_templates};
use attestry_domain::words::Department;
use attestry_http::answer::lists::{ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{reference, schema, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::query::ValidQuery;
use attestry_http::request::wire::Optional;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::registers::{RegisterApi, View};

/// A task that ships with the product, from which an organization can create its own, with the role that usually does
/// it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TaskTemplate, example = json!(template_example()))]
pub(crate) struct TemplateView {
    #[schema(value_type = String)]
    id: String,
    title: &'static str,
    /// The work to do, and the evidence to collect.
    description: &'static str,
    #[schema(required, schema_with = schema_of::<Option<Frequency>>)]
    frequency: Option<Frequency>,
    #[schema(schema_with = schema_of::<Department>)]
    department: Department,
    #[schema(schema_with = schema_of::<OwnerRole>)]
    role: OwnerRole,
    /// The typical time for one round in a company of 50 people.
    minutes: u32,
    /// The evidence to attach.
    evidence: &'static str,
}

impl From<&'static TaskTemplate> for TemplateView {
    fn from(template: &'static TaskTemplate) -> Self {
        let TaskTemplate {
            id,
            title,
            description,
            frequency,
            department,
            role,
            minutes,
            evidence,
            applies_when: _,
        } = template;
        let (frequency, department, role, minutes) = (*frequency, *department, *role, *minutes);
        Self { id: id.to_string(), title, description, frequency, department, role, minutes, evidence }
    }
}

fn template_example() -> Value {
    json!(task_templates::all().first().map(TemplateView::from))
}

page_of! {
    pub(crate) TemplateList = TemplateView, "TemplateList", template_example()
}

/// Lists the task templates
///
/// They ship with the product; their ids never change.
#[utoipa::path(
    get, path = "/v1/task-templates", tag = "Tasks", params(ById),
    responses((status = 200, body = TemplateList, description = "The templates."))
)]
pub(crate) async fn list_task_templates(
    _scope: Granted<grant::TaskRead>,
    query: ValidQuery<ById>,
) -> Json<TemplateList> {
    let ValidQuery(by_id) = query;
    let all = task_templates::all();
    let (page, next_cursor) = by_id.cut(all, |one| one.id);
    Json(PageView::new(page, next_cursor, by_id.total_of(all.len())))
}

/// Template ids in a body.
#[derive(Clone, Debug)]
pub(crate) struct TemplateIds(Vec<TemplateId>);

impl FromJson for TemplateIds {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        json.each(1000, TemplateId::from_json).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(<TemplateId as FromJson>::schema()).max_items(Some(1000)).into()
    }
}

body! {
    /// The templates to create tasks from.
    CreateTasksFromTemplates (Medium) {
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
        schema(json!({
            "type": "object", "required": ["created", "createdCount"],
            "properties": {
                "created": {"type": "array", "items": reference("Task")},
                "createdCount": {"type": "integer", "minimum": 0}
            },
            "example": {"created": [Task::example()], "createdCount": 1}
        }))
    }
}

impl ToSchema for TasksFromTemplates {}

/// Creates a task from each template that has none yet
///
/// A repeated request creates only the missing tasks, so you can send it again after an update. The body can be left
/// out.
#[utoipa::path(
    post, path = "/v1/tasks/from-templates", tag = "Tasks", request_body = Option<CreateTasksFromTemplates>,
    responses((status = 201, body = TasksFromTemplates, description = "The tasks that were made."))
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
