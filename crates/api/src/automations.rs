//! `/v1/tasks/{taskId}/automations`: scripts that gather evidence for a task, and their runs.

use attestry_app::automations::{self, Does, Place};
use attestry_app::runs;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::automation_checks::{CHECKS, Check};
use attestry_domain::automations::{
    Automation, AutomationPatch, EVENTS, Evaluation, Event, Run, RunError, RunStatus, Schedule, Source,
    Trigger, Version,
};
use attestry_domain::id::{AttachmentId, AutomationId, MemberId, RunId, TaskId, kind};
use attestry_domain::page::{After, Key};
use attestry_domain::tasks::TaskStatus;
use attestry_domain::text::{LongText, Name};
use attestry_domain::{Parse, Zone};
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::{StatusCode, Uri};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{IntoParams, ToSchema};

use crate::answer::conditions::{Conditions, with_tag};
use crate::answer::lists;
use crate::answer::problem::Problem;
use crate::request::caller::Granted;
use crate::request::json::{FromJson, Json as JsonValue};
use crate::request::path::{IdAt, ParentId, PathId};
use crate::request::query::{FromQuery, Query, ValidQuery};
use crate::request::wire::{NoFields, Optional, Valid};
use crate::state::Api;

type TaskAt = ParentId<kind::Task>;
type AutomationAt = IdAt<kind::Automation, 1>;

fn place(task: &TaskAt, automation: &AutomationAt) -> Result<Place, Problem> {
    Ok(Place { task: task.found()?, automation: automation.found()? })
}

#[derive(Debug, Serialize, ToSchema)]
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
    /// Whether its schedule and its events start it. It can be run by hand in any case.
    is_enabled: bool,
    /// A cron expression of five fields.
    #[schema(required, value_type = Option<String>, example = "0 6 * * 1")]
    schedule: Option<Schedule>,
    /// The time zone of the schedule; the organization's, if it is null.
    #[schema(required, value_type = Option<String>)]
    time_zone: Option<Zone>,
    /// When the schedule comes next.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    next_run_at: Option<Time>,
    /// The actions of the audit log that start it.
    #[schema(value_type = Vec<String>)]
    events: Vec<Event>,
    /// What a pass means, in words.
    #[schema(required)]
    evaluation_criteria: Option<String>,
    /// The built-in check it runs; null if it runs a script of its own.
    #[schema(required)]
    check: Option<String>,
    /// The parameters of the check.
    #[schema(required, value_type = Option<Object>)]
    parameters: Option<Value>,
    /// The status the task gets when a run passes; null leaves it as it is.
    #[schema(required, inline)]
    status_on_pass: Option<TaskStatus>,
    /// The status the task gets when a run does not pass; null leaves it as it is.
    #[schema(required, inline)]
    status_on_fail: Option<TaskStatus>,
    /// Whether the evidence of a run is attached to the task.
    keep_evidence: bool,
    /// The version that runs; null before there is one.
    #[schema(required)]
    latest_version: Option<i64>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

impl From<Automation> for AutomationView {
    fn from(one: Automation) -> Self {
        Self {
            id: one.id,
            task_id: one.task_id,
            name: one.name,
            description: one.description,
            is_enabled: one.is_enabled,
            schedule: one.schedule,
            time_zone: one.time_zone,
            next_run_at: one.next_run_at,
            events: one.events,
            evaluation_criteria: one.evaluation_criteria,
            check: one.check,
            parameters: one.parameters,
            status_on_pass: one.status_on_pass,
            status_on_fail: one.status_on_fail,
            keep_evidence: one.keep_evidence,
            latest_version: one.latest_version,
            created_at: one.created_at,
            updated_at: one.updated_at,
        }
    }
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

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [automation_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct AutomationList {
    data: Vec<AutomationView>,
    /// The number of items in this page.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = lists::total_schema, required = false)]
    total: Option<i64>,
}

/// The parameters of a list without a choice of order.
#[derive(Debug)]
pub(crate) struct ListNewest {
    limit: u16,
    after: Option<After>,
    total: bool,
}

const CURSOR: &str = "newest first";

impl FromQuery for ListNewest {
    fn read(query: &mut Query) -> Self {
        let after = lists::cursor(query, CURSOR, |key| matches!(key, Key::Id));
        Self { limit: lists::limit(query), after, total: lists::total(query) }
    }
}

impl IntoParams for ListNewest {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = lists::plain_parameters();
        all.push(lists::total_parameter());
        all
    }
}

/// The actions that start an automation.
#[derive(Clone, Debug)]
pub(crate) struct Events(Vec<Event>);

impl FromJson for Events {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let items = json.items(EVENTS.len())?;
        let read = |(place, item): (usize, &JsonValue)| {
            let text = item.text().map_err(|message| format!("[{place}] {message}"))?;
            Event::parse(&text).map_err(|message| format!("[{place}] {message}"))
        };
        items.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new()
            .items(<Event as utoipa::PartialSchema>::schema())
            .max_items(Some(EVENTS.len()))
            .into()
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
    CreateAutomation {
        name "name": optional Name = "Its name. Can be left out with a check, which has a title.",
        description "description": nullable LongText = "What it is for.",
        is_enabled "isEnabled": optional bool = "Whether its schedule and its events start it; true by default.",
        schedule "schedule": nullable Schedule = "A cron expression of five fields.",
        time_zone "timeZone": nullable Zone = "The time zone of the schedule; the organization's by default.",
        events "events": optional Events = "The actions of the audit log that start it.",
        evaluation_criteria "evaluationCriteria": nullable LongText = "What a pass means, in words.",
        script "script": optional Source = "A JavaScript module; becomes version 1.",
        check "check": optional Name = "A built-in check instead of a script.",
        parameters "parameters": optional Parameters = "The parameters of the check.",
        status_on_pass "statusOnPass": nullable TaskStatus = "The status the task gets when a run passes.",
        status_on_fail "statusOnFail": nullable TaskStatus = "The status the task gets when a run does not pass.",
        keep_evidence "keepEvidence": optional bool = "Whether the evidence of a run is attached to the task; true by default.",
    }
    example json!({"name": "Certificate", "check": "tls_certificate", "parameters": {"host": "www.example.com"}, "schedule": "0 6 * * 1", "statusOnPass": "done"})
}

body! {
    /// What to change. Fields that are left out stay as they are; null clears.
    UpdateAutomation {
        name "name": optional Name = "Its name.",
        description "description": nullable LongText = "What it is for.",
        is_enabled "isEnabled": optional bool = "Whether its schedule and its events start it.",
        schedule "schedule": nullable Schedule = "A cron expression of five fields.",
        time_zone "timeZone": nullable Zone = "The time zone of the schedule; null is the organization's.",
        events "events": optional Events = "The actions of the audit log that start it.",
        evaluation_criteria "evaluationCriteria": nullable LongText = "What a pass means, in words.",
        parameters "parameters": optional Parameters = "The parameters of the check, all of them.",
        status_on_pass "statusOnPass": nullable TaskStatus = "The status the task gets when a run passes.",
        status_on_fail "statusOnFail": nullable TaskStatus = "The status the task gets when a run does not pass.",
        keep_evidence "keepEvidence": optional bool = "Whether the evidence of a run is attached to the task.",
    }
    example json!({"isEnabled": false, "schedule": "0 6 * * *"})
}

/// Lists the automations of a task
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations", tag = "Automations",
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ListNewest),
    responses((status = 200, body = AutomationList, description = "The automations, newest first.")),
    extensions(("x-permission" = json!("automation:read")))
)]
pub(crate) async fn list_automations(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    query: ValidQuery<ListNewest>,
) -> Result<Json<AutomationList>, Problem> {
    let ValidQuery(ListNewest { limit, after, total }) = query;
    let task = task.found()?;
    let page = automations::list(&api.ctx, &scope, task, limit, after).await?;
    let total = if total { Some(automations::count(&api.ctx, &scope, task).await?) } else { None };
    let next_cursor = lists::next_cursor(CURSOR, page.next);
    let data: Vec<AutomationView> = page.items.into_iter().map(Into::into).collect();
    Ok(Json(AutomationList { count: data.len(), data, next_cursor, total }))
}

/// Adds an automation to a task
///
/// A script is an ES module with `export default async function (ctx)` that returns
/// `{status: "pass"|"fail", summary, evidence?}`. It runs in a process that reaches nothing but what `ctx` offers:
/// `ctx.fetch`, `ctx.secret(name)`, `ctx.dns(name, type)`, `ctx.tls(host, port)`, `ctx.log`, `ctx.now`, `ctx.event`,
/// `ctx.task`, `ctx.parameters`.
#[utoipa::path(
    post, path = "/v1/tasks/{taskId}/automations", tag = "Automations", request_body = CreateAutomation,
    params(("taskId" = inline(TaskId), Path, description = "The task's id.")),
    responses((status = 201, body = AutomationView, description = "The automation.")),
    extensions(("x-permission" = json!("automation:create")))
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
        (Some(script), None, None) => Does::Script(script),
        (None, Some(check), parameters) => Does::Check {
            name: check.into_string(),
            parameters: parameters.map(|parameters| parameters.0).unwrap_or_default(),
        },
        (None, None, None) => Does::NothingYet,
    };
    if body.name.is_none() && !matches!(does, Does::Check { .. }) {
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
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id.")),
    responses((status = 200, body = AutomationView, description = "The automation.")),
    extensions(("x-permission" = json!("automation:read")))
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
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id.")),
    responses((status = 200, body = AutomationView, description = "The automation as it is now.")),
    extensions(("x-permission" = json!("automation:update")))
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
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id.")),
    responses((status = 200, body = AutomationDeletion, description = "Deleted.")),
    extensions(("x-permission" = json!("automation:delete")))
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

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AutomationVersion, example = json!(version_example()))]
pub(crate) struct VersionView {
    #[schema(value_type = String, example = "eav_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: attestry_domain::id::AutomationVersionId,
    version: i64,
    script: String,
    #[schema(required)]
    changelog: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    /// The member who made it.
    #[schema(required, value_type = Option<String>, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    created_by: Option<MemberId>,
}

impl From<Version> for VersionView {
    fn from(one: Version) -> Self {
        let Version { id, automation_id: _, version, script, changelog, created_by, created_at } = one;
        Self { id, version, script, changelog, created_at, created_by }
    }
}

const SCRIPT: &str = "export default async function (ctx) {\n  const response = await ctx.fetch(\"https://status.example.com/\");\n  return { status: response.ok ? \"pass\" : \"fail\", summary: `It answered ${response.status}.` };\n}\n";

fn version_example() -> Value {
    json!({
        "id": "eav_01jcqg3v5mefzr7d0a6w3k9x2b", "version": 2, "script": SCRIPT, "changelog": "Asks the new server.",
        "createdAt": "2026-11-15T09:30:00.000Z", "createdBy": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"
    })
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [version_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct VersionList {
    data: Vec<VersionView>,
    /// The number of items in this page.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = lists::total_schema, required = false)]
    total: Option<i64>,
}

body! {
    /// A new version of the script.
    CreateAutomationVersion {
        script "script": required Source = "A JavaScript module; at most 256 KiB.",
        changelog "changelog": optional LongText = "What is new in it.",
    }
    example json!({"script": SCRIPT, "changelog": "Asks the new server."})
}

/// Lists the versions of an automation's script
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/{automationId}/versions", tag = "Automations",
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id."), ListNewest),
    responses((status = 200, body = VersionList, description = "The versions, newest first.")),
    extensions(("x-permission" = json!("automation:read")))
)]
pub(crate) async fn list_automation_versions(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    automation: AutomationAt,
    query: ValidQuery<ListNewest>,
) -> Result<Json<VersionList>, Problem> {
    let ValidQuery(ListNewest { limit, after, total }) = query;
    let at = place(&task, &automation)?;
    let page = automations::versions(&api.ctx, &scope, at, limit, after).await?;
    let total = if total { Some(automations::count_versions(&api.ctx, &scope, at).await?) } else { None };
    let next_cursor = lists::next_cursor(CURSOR, page.next);
    let data: Vec<VersionView> = page.items.into_iter().map(Into::into).collect();
    Ok(Json(VersionList { count: data.len(), data, next_cursor, total }))
}

/// Adds a version of an automation's script
///
/// It runs from now on. A script that is not valid is refused with the line and the column of the mistake.
#[utoipa::path(
    post, path = "/v1/tasks/{taskId}/automations/{automationId}/versions", tag = "Automations", request_body = CreateAutomationVersion,
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id.")),
    responses(
        (status = 201, body = VersionView, description = "The version."),
        (status = 409, description = "The automation runs a built-in check."),
    ),
    extensions(("x-permission" = json!("automation:update")))
)]
pub(crate) async fn create_automation_version(
    api: State<Api>,
    scope: Granted<grant::AutomationUpdate>,
    task: TaskAt,
    automation: AutomationAt,
    body: Valid<CreateAutomationVersion>,
) -> Result<(StatusCode, Json<VersionView>), Problem> {
    let CreateAutomationVersion { script, changelog } = body.0;
    let at = place(&task, &automation)?;
    let made = automations::add_version(&api.ctx, &scope, at, script, changelog).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

/// Why a run has no result.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"code": "cpu_time_limit", "message": "The script used more than 5 s of processor time."}))]
pub(crate) struct RunProblem {
    code: String,
    message: String,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AutomationRun, example = json!(run_example()))]
pub struct RunView {
    #[schema(value_type = String, example = "ear_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: RunId,
    #[schema(value_type = String, example = "tsk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    task_id: TaskId,
    #[schema(value_type = String, example = "auto_01jcqg3v5mefzr7d0a6w3k9x2b")]
    automation_id: AutomationId,
    /// The version of the script.
    version: i64,
    #[schema(inline)]
    status: RunStatus,
    #[schema(inline)]
    trigger: Trigger,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    started_at: Option<Time>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    completed_at: Option<Time>,
    #[schema(required)]
    duration_ms: Option<i64>,
    /// Whether the script came to its end; null until the run has ended.
    #[schema(required)]
    success: Option<bool>,
    /// What the script found.
    #[schema(required, inline)]
    evaluation_status: Option<Evaluation>,
    /// Its summary.
    #[schema(required)]
    evaluation_reason: Option<String>,
    /// The evidence it returned: any JSON.
    #[schema(required, value_type = Option<Value>)]
    output: Option<Box<RawValue>>,
    /// Its log, line by line. Secrets are masked.
    logs: Vec<String>,
    #[schema(required, value_type = Option<RunProblem>)]
    error: Option<RunProblem>,
    /// Where the evidence is attached to the task.
    #[schema(required, value_type = Option<String>, example = "att_01jcqg3v5mefzr7d0a6w3k9x2b")]
    attachment_id: Option<AttachmentId>,
}

impl From<Run> for RunView {
    fn from(run: Run) -> Self {
        let (success, duration_ms) = (run.success(), run.duration());
        Self {
            id: run.id,
            task_id: run.task_id,
            automation_id: run.automation_id,
            version: run.script,
            status: run.status,
            trigger: run.trigger,
            created_at: run.created_at,
            started_at: run.started_at,
            completed_at: run.completed_at,
            duration_ms,
            success,
            evaluation_status: run.evaluation,
            evaluation_reason: run.reason,
            output: run.output.and_then(|text| RawValue::from_string(text).ok()),
            logs: run.logs,
            error: run.error.map(|RunError { code, message }| RunProblem { code, message }),
            attachment_id: run.attachment_id,
        }
    }
}

fn run_example() -> Value {
    json!({
        "id": "ear_01jcqg3v5mefzr7d0a6w3k9x2b", "taskId": "tsk_01jcqg3v5mefzr7d0a6w3k9x2b",
        "automationId": "auto_01jcqg3v5mefzr7d0a6w3k9x2b", "version": 1, "status": "COMPLETED", "trigger": "MANUAL",
        "createdAt": "2026-11-15T09:30:00.000Z", "startedAt": "2026-11-15T09:30:00.004Z",
        "completedAt": "2026-11-15T09:30:00.120Z", "durationMs": 116, "success": true, "evaluationStatus": "pass",
        "evaluationReason": "It answered 200.", "output": {"httpStatus": 200}, "logs": ["asking"], "error": null,
        "attachmentId": "att_01jcqg3v5mefzr7d0a6w3k9x2b"
    })
}

/// Bare: everything, unless a page is asked for.
#[derive(Debug)]
pub(crate) struct ListRuns {
    limit: Option<u16>,
    after: Option<After>,
}

impl FromQuery for ListRuns {
    fn read(query: &mut Query) -> Self {
        let is_paged = query.has("limit") || query.has("cursor");
        let after = lists::cursor(query, CURSOR, |key| matches!(key, Key::Id));
        let limit = lists::limit(query);
        Self { limit: is_paged.then_some(limit), after }
    }
}

impl IntoParams for ListRuns {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        lists::plain_parameters()
    }
}

/// How many runs are read at a time: their logs may be long.
const PIECE: u16 = 16;

async fn runs_of(
    api: &Api,
    scope: &attestry_domain::access::Scope,
    task: TaskId,
    automation: Option<AutomationId>,
    query: ListRuns,
    uri: &Uri,
) -> Result<Response, Problem> {
    let ListRuns { limit, after } = query;
    let first = runs::list(
        &api.ctx,
        scope,
        task,
        automation,
        limit.map_or(PIECE, |limit| limit.min(PIECE)),
        after.clone(),
    )
    .await?;
    let next = match limit {
        Some(limit) => runs::next(&api.ctx, scope, task, automation, limit, after).await?,
        None => None,
    };
    let (ctx, scope) = (api.ctx.clone(), scope.clone());
    // The pieces of a page end where the page does.
    let last = next.as_ref().map(|next| next.id.clone());
    let rows = lists::streamed(
        until(first, last.as_deref()),
        move |after| {
            let (ctx, scope, last) = (ctx.clone(), scope.clone(), last.clone());
            async move {
                let piece = runs::list(&ctx, &scope, task, automation, PIECE, Some(after)).await?;
                Ok(until(piece, last.as_deref()))
            }
        },
        RunView::from,
    );
    Ok(lists::linked(uri, lists::next_cursor(CURSOR, next), rows))
}

/// A piece, cut off after the last run of its page.
fn until(
    mut piece: attestry_domain::page::Page<Run>,
    last: Option<&str>,
) -> attestry_domain::page::Page<Run> {
    if let Some(place) = last.and_then(|last| piece.items.iter().position(|run| run.id.to_string() == last)) {
        piece.items.truncate(place + 1);
        piece.next = None;
    }
    piece
}

/// Lists the runs of all automations of a task
///
/// Everything, newest first, unless `limit` or `cursor` asks for a page; the `Link` header then leads to the next one.
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/runs", tag = "Automations",
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ListRuns),
    responses((status = 200, body = Vec<RunView>, description = "The runs.")),
    extensions(("x-permission" = json!("automation:read")))
)]
pub(crate) async fn list_task_runs(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    query: ValidQuery<ListRuns>,
    uri: Uri,
) -> Result<Response, Problem> {
    runs_of(&api, &scope, task.found()?, None, query.0, &uri).await
}

/// Lists the runs of an automation
///
/// Everything, newest first, unless `limit` or `cursor` asks for a page; the `Link` header then leads to the next one.
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/{automationId}/runs", tag = "Automations",
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id."), ListRuns),
    responses((status = 200, body = Vec<RunView>, description = "The runs.")),
    extensions(("x-permission" = json!("automation:read")))
)]
pub(crate) async fn list_automation_runs(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    automation: AutomationAt,
    query: ValidQuery<ListRuns>,
    uri: Uri,
) -> Result<Response, Problem> {
    let Place { task, automation } = place(&task, &automation)?;
    runs_of(&api, &scope, task, Some(automation), query.0, &uri).await
}

/// Runs an automation now
///
/// The run is put into the queue; ask for it to learn how it ended.
#[utoipa::path(
    post, path = "/v1/tasks/{taskId}/automations/{automationId}/runs", tag = "Automations",
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id.")),
    responses(
        (status = 201, body = RunView, description = "The run."),
        (status = 409, description = "The automation has no script yet."),
    ),
    extensions(("x-permission" = json!("automation:run")))
)]
pub(crate) async fn run_automation(
    api: State<Api>,
    scope: Granted<grant::AutomationRun>,
    task: TaskAt,
    automation: AutomationAt,
    _: Optional<NoFields>,
) -> Result<(StatusCode, Json<RunView>), Problem> {
    let run = runs::start(&api.ctx, &scope, place(&task, &automation)?).await?;
    Ok((StatusCode::CREATED, Json(run.into())))
}

/// Shows one run
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/{automationId}/runs/{runId}", tag = "Automations",
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id."), ("runId" = inline(RunId), Path, description = "The run's id.")),
    responses((status = 200, body = RunView, description = "The run.")),
    extensions(("x-permission" = json!("automation:read")))
)]
pub(crate) async fn get_run(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    automation: AutomationAt,
    run: PathId<kind::Run>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let run = runs::get(&api.ctx, &scope, place(&task, &automation)?, run.found()?).await?;
    Ok(conditions.respond(&[run.status as i64], RunView::from(run)))
}

/// Cancels a run
///
/// A script that is running is stopped within a second.
#[utoipa::path(
    post, path = "/v1/tasks/{taskId}/automations/{automationId}/runs/{runId}/cancel", tag = "Automations",
    params(("taskId" = inline(TaskId), Path, description = "The task's id."), ("automationId" = inline(AutomationId), Path, description = "The automation's id."), ("runId" = inline(RunId), Path, description = "The run's id.")),
    responses(
        (status = 200, body = RunView, description = "The run as it is now."),
        (status = 409, description = "The run has ended already."),
    ),
    extensions(("x-permission" = json!("automation:run")))
)]
pub(crate) async fn cancel_run(
    api: State<Api>,
    scope: Granted<grant::AutomationRun>,
    task: TaskAt,
    automation: AutomationAt,
    run: PathId<kind::Run>,
    _: Optional<NoFields>,
) -> Result<Json<RunView>, Problem> {
    let run = runs::cancel(&api.ctx, &scope, place(&task, &automation)?, run.found()?).await?;
    Ok(Json(run.into()))
}

/// A check that ships with the product.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AutomationCheck, example = json!(check_example()))]
pub(crate) struct CheckView {
    /// What an automation names in `check`.
    check: &'static str,
    title: &'static str,
    description: &'static str,
    /// A JSON Schema of the parameters.
    #[schema(value_type = Object)]
    parameters: Value,
    /// What it runs.
    script: &'static str,
}

impl From<&'static Check> for CheckView {
    fn from(check: &'static Check) -> Self {
        let parameters = check.schema();
        Self {
            check: check.name,
            title: check.title,
            description: check.description,
            parameters,
            script: check.script,
        }
    }
}

fn check_example() -> Value {
    json!(CHECKS.first().map(CheckView::from))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [check_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct CheckList {
    data: Vec<CheckView>,
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Lists the built-in checks
#[utoipa::path(
    get, path = "/v1/automation-checks", tag = "Automations",
    responses((status = 200, body = CheckList, description = "All checks, with their parameters.")),
    extensions(("x-permission" = json!("automation:read")))
)]
pub(crate) async fn list_automation_checks(_scope: Granted<grant::AutomationRead>) -> Json<CheckList> {
    let data: Vec<CheckView> = CHECKS.iter().map(Into::into).collect();
    Json(CheckList { count: data.len(), data, next_cursor: None })
}
