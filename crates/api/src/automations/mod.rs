//! `/v1/tasks/{taskId}/automations`: scripts that collect evidence for a task.

use attestry_app::automations::{self, AutomationRef, AutomationSource};
use attestry_derive::View;
use attestry_domain::access::grant;
use attestry_domain::automations::schedules::Schedule;
use attestry_domain::automations::{Automation, AutomationPatch, EVENTS, Event, Source};
use attestry_domain::id::{AutomationId, TaskId, kind};
use attestry_domain::tasks::TaskStatus;
use attestry_domain::text::{LongText, Name};
use attestry_domain::{Parse, Time, Zone};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{SchemaOf, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::path::{IdAt, ParentId};
use attestry_http::request::query::ValidQuery;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

pub(crate) mod checks;
pub(crate) mod hosts;
pub(crate) mod runs;
pub(crate) mod secrets;
pub(crate) mod versions;

type TaskAt = ParentId<kind::Task>;
type AutomationAt = IdAt<kind::Automation, 1>;

fn place(task: &TaskAt, automation: &AutomationAt) -> Result<AutomationRef, Problem> {
    Ok(AutomationRef { task: task.found()?, automation: automation.found()? })
}

type TaskStatusSchema = SchemaOf<TaskStatus>;

#[derive(Debug, Serialize, ToSchema, View)]
#[view(Automation)]
#[serde(rename_all = "camelCase")]
#[schema(as = Automation, example = json!(automation_example()))]
pub(crate) struct AutomationView {
    #[schema(value_type = String, example = "auto_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: AutomationId,
    #[schema(value_type = String, example = "tsk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    task_id: TaskId,
    name: String,
    #[schema(required)]
    description: Option<String>,
    /// True if its schedule and its events start it. It can be run manually in any case.
    is_enabled: bool,
    /// A cron expression of five fields.
    #[schema(required, value_type = Option<String>, example = "0 6 * * 1")]
    schedule: Option<Schedule>,
    /// The time zone of the schedule; the organization's, if it is null.
    #[schema(required, value_type = Option<String>)]
    time_zone: Option<Zone>,
    /// When the schedule runs it next.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    next_run_at: Option<Time>,
    /// The actions of the audit log that start it.
    #[schema(value_type = Vec<String>)]
    events: Vec<Event>,
    /// A description of what a pass means.
    #[schema(required)]
    evaluation_criteria: Option<String>,
    /// The built-in check that it runs; null if it runs its own script.
    #[schema(required)]
    check: Option<String>,
    /// The parameters of the check.
    #[schema(required, value_type = Option<Object>)]
    parameters: Option<Value>,
    /// The status the task gets when a run passes; null leaves it as it is.
    #[schema(required, value_type = Option<TaskStatusSchema>, inline)]
    status_on_pass: Option<TaskStatus>,
    /// The status the task gets when a run does not pass; null leaves it as it is.
    #[schema(required, value_type = Option<TaskStatusSchema>, inline)]
    status_on_fail: Option<TaskStatus>,
    /// True if the evidence of a run is attached to the task.
    keep_evidence: bool,
    /// The version that runs; null if there is none yet.
    #[schema(required)]
    latest_version: Option<i64>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn automation_example() -> Value {
    json!({
        "id": "auto_01jcqg3v5mefzr7d0a6w3k9x2b", "taskId": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Certificate",
        "description": null, "isEnabled": true, "schedule": "0 6 * * 1", "timeZone": null,
        "nextRunAt": "2026-11-16T06:00:00.000Z", "events": [], "evaluationCriteria": "Valid for 30 more days.",
        "check": "tls_certificate", "parameters": {"host": "www.example.com", "port": 443, "minDaysLeft": 30},
        "statusOnPass": "done", "statusOnFail": "todo", "keepEvidence": true, "latestVersion": 1,
        "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

page_of! {
    pub(crate) AutomationList = AutomationView, "AutomationList", automation_example()
}

/// The actions that start an automation.
#[derive(Clone, Debug)]
pub(crate) struct Events(Vec<Event>);

impl FromJson for Events {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        json.each(EVENTS.len(), |item| Event::parse(&item.text()?)).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(schema_of::<Event>()).max_items(Some(EVENTS.len())).into()
    }
}

/// Any JSON object.
#[derive(Clone, Debug)]
pub(crate) struct Parameters(Map<String, Value>);

impl FromJson for Parameters {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        match json.value()? {
            Value::Object(map) => Ok(Self(map)),
            _ => Err("must be an object".to_owned()),
        }
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Object).examples([json!({"host": "www.example.com"})]).into()
    }
}

body! {
    /// An automation to add: with a script, with a built-in check, or with neither, to get its script later.
    CreateAutomation (Large) {
        name "name": optional Name = "Its name. Can be left out with a check, which has a title.",
        description "description": nullable LongText = "Its purpose.",
        is_enabled "isEnabled": optional bool = "True if its schedule and its events start it, the default.",
        schedule "schedule": nullable Schedule = "A cron expression of five fields.",
        time_zone "timeZone": nullable Zone = "The time zone of the schedule; the organization's by default.",
        events "events": optional Events = "The actions of the audit log that start it.",
        evaluation_criteria "evaluationCriteria": nullable LongText = "The meaning of a pass, in words.",
        script "script": optional Source = "A JavaScript module; becomes version 1.",
        check "check": optional Name = "A built-in check instead of a script.",
        parameters "parameters": optional Parameters = "The parameters of the check.",
        status_on_pass "statusOnPass": nullable TaskStatus = "The status the task gets when a run passes.",
        status_on_fail "statusOnFail": nullable TaskStatus = "The status the task gets when a run does not pass.",
        keep_evidence "keepEvidence": optional bool = "True if the evidence of a run is attached to the task, the default.",
    }
    example json!({"name": "Certificate", "check": "tls_certificate", "parameters": {"host": "www.example.com"}, "schedule": "0 6 * * 1", "statusOnPass": "done"})
}

body! {
    /// The fields to change. Fields that are left out stay as they are; null clears a field.
    UpdateAutomation (Large) {
        name "name": optional Name = "Its name.",
        description "description": nullable LongText = "Its purpose.",
        is_enabled "isEnabled": optional bool = "True if its schedule and its events start it.",
        schedule "schedule": nullable Schedule = "A cron expression of five fields.",
        time_zone "timeZone": nullable Zone = "The time zone of the schedule; null is the organization's.",
        events "events": optional Events = "The actions of the audit log that start it.",
        evaluation_criteria "evaluationCriteria": nullable LongText = "The meaning of a pass, in words.",
        parameters "parameters": optional Parameters = "The parameters of the check, all of them.",
        status_on_pass "statusOnPass": nullable TaskStatus = "The status the task gets when a run passes.",
        status_on_fail "statusOnFail": nullable TaskStatus = "The status the task gets when a run does not pass.",
        keep_evidence "keepEvidence": optional bool = "True if the evidence of a run is attached to the task.",
    }
    example json!({"isEnabled": false, "schedule": "0 6 * * *"})
}

/// Lists the automations of a task
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations", tag = "Automations",
    params(ById),
    responses((status = 200, body = AutomationList, description = "The automations, newest first."))
)]
pub(crate) async fn list_automations(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    query: ValidQuery<ById>,
) -> Result<Json<AutomationList>, Problem> {
    let ValidQuery(ById { limit, after, total }) = query;
    let task = task.found()?;
    let page = automations::list(&api.ctx, &scope, task, limit, after).await?;
    let total = if total { Some(automations::count(&api.ctx, &scope, task).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, total)))
}

/// Adds an automation to a task
///
/// A script is an ES module with `export default async function (ctx)` that returns
/// `{status: "pass"|"fail", summary, evidence?}`. It runs in a process that can access only what `ctx` offers:
/// `ctx.fetch`, `ctx.secret(name)`, `ctx.dns(name, type)`, `ctx.tls(host, port)`, `ctx.log`, `ctx.now`, `ctx.event`,
/// `ctx.task`, `ctx.parameters`.
#[utoipa::path(
    post, path = "/v1/tasks/{taskId}/automations", tag = "Automations", request_body = CreateAutomation,
    responses((status = 201, body = AutomationView, description = "The automation."))
)]
pub(crate) async fn create_automation(
    api: State<Api>,
    scope: Granted<grant::AutomationCreate>,
    task: TaskAt,
    body: Valid<CreateAutomation>,
) -> Result<Response, Problem> {
    let body = body.0;
    let wrong = |field: &str, message: &str| Problem::from(attestry_app::Error::field(field, message));
    let does = match (body.script, body.check, body.parameters) {
        (Some(_), Some(_), _) => return Err(wrong("check", "must not be given together with a script")),
        (_, None, Some(_)) => return Err(wrong("parameters", "belong to a check; name it in check")),
        (Some(script), None, None) => AutomationSource::Script(script),
        (None, Some(check), parameters) => AutomationSource::Check {
            name: check.into_string(),
            parameters: parameters.map(|parameters| parameters.0).unwrap_or_default(),
        },
        (None, None, None) => AutomationSource::NothingYet,
    };
    if body.name.is_none() && !matches!(does, AutomationSource::Check { .. }) {
        return Err(wrong("name", "is required"));
    }
    let patch = AutomationPatch {
        name: body.name,
        description: body.description,
        is_enabled: body.is_enabled,
        schedule: body.schedule,
        time_zone: body.time_zone,
        events: body.events.map(|events| events.0),
        evaluation_criteria: body.evaluation_criteria,
        parameters: None,
        status_on_pass: body.status_on_pass,
        status_on_fail: body.status_on_fail,
        keep_evidence: body.keep_evidence,
    };
    let made = automations::create(&api.ctx, &scope, task.found()?, does, patch).await?;
    Ok(with_tag(StatusCode::CREATED, &made.tag(), AutomationView::from(made)))
}

/// Shows one automation
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/{automationId}", tag = "Automations",
    responses((status = 200, body = AutomationView, description = "The automation."))
)]
pub(crate) async fn get_automation(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    automation: AutomationAt,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let found = automations::get(&api.ctx, &scope, place(&task, &automation)?).await?;
    Ok(conditions.respond(&found.tag(), AutomationView::from(found)))
}

/// Changes an automation
#[utoipa::path(
    patch, path = "/v1/tasks/{taskId}/automations/{automationId}", tag = "Automations", request_body = UpdateAutomation,
    responses((status = 200, body = AutomationView, description = "The automation as it is now."))
)]
pub(crate) async fn update_automation(
    api: State<Api>,
    scope: Granted<grant::AutomationUpdate>,
    task: TaskAt,
    automation: AutomationAt,
    conditions: Conditions,
    body: Valid<UpdateAutomation>,
) -> Result<Response, Problem> {
    let body = body.0;
    let patch = AutomationPatch {
        name: body.name,
        description: body.description,
        is_enabled: body.is_enabled,
        schedule: body.schedule,
        time_zone: body.time_zone,
        events: body.events.map(|events| events.0),
        evaluation_criteria: body.evaluation_criteria,
        parameters: body.parameters.map(|parameters| Value::Object(parameters.0)),
        status_on_pass: body.status_on_pass,
        status_on_fail: body.status_on_fail,
        keep_evidence: body.keep_evidence,
    };
    let at = place(&task, &automation)?;
    let after = automations::update(&api.ctx, &scope, at, patch, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &after.tag(), AutomationView::from(after)))
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"success": true, "message": "The automation is deleted, with its versions, runs and files."}))]
pub(crate) struct AutomationDeletion {
    success: bool,
    message: &'static str,
}

/// Deletes an automation
///
/// Deletes its versions, its runs and the evidence they attached as well; its history stays.
#[utoipa::path(
    delete, path = "/v1/tasks/{taskId}/automations/{automationId}", tag = "Automations",
    responses((status = 200, body = AutomationDeletion, description = "Deleted."))
)]
pub(crate) async fn delete_automation(
    api: State<Api>,
    scope: Granted<grant::AutomationDelete>,
    task: TaskAt,
    automation: AutomationAt,
    conditions: Conditions,
) -> Result<Json<AutomationDeletion>, Problem> {
    automations::delete(&api.ctx, &scope, place(&task, &automation)?, conditions.if_match()).await?;
    let message = "The automation is deleted, with its versions, runs and files.";
    Ok(Json(AutomationDeletion { success: true, message }))
}
