//! `…/runs`: the runs of automations. Lists are plain arrays, unpaged by default.

use attestry_app::automations::runs;
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::{Scope, grant};
use attestry_domain::automations::{Evaluation, Run, RunError, RunStatus, Trigger};
use attestry_domain::id::{AttachmentId, AutomationId, RunId, TaskId, kind};
use attestry_domain::page::{After, Page};
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{SchemaOf, schema_of};
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::{NoFields, Optional};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::{StatusCode, Uri};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use super::{AutomationAt, TaskAt, place};

type EvaluationSchema = SchemaOf<Evaluation>;

/// The reason why a run has no result.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(RunError)]
#[schema(example = json!({"code": "cpu_time_limit", "message": "The script used more than 5 s of processor time."}))]
pub(crate) struct RunProblem {
    code: String,
    message: String,
}

#[derive(Debug, Serialize, ToSchema, View)]
#[view(Run)]
#[serde(rename_all = "camelCase")]
#[schema(as = AutomationRun, example = json!(run_example()))]
pub(crate) struct RunView {
    #[schema(value_type = String, example = "ear_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: RunId,
    #[schema(value_type = String, example = "tsk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    task_id: TaskId,
    #[schema(value_type = String, example = "auto_01jcqg3v5mefzr7d0a6w3k9x2b")]
    automation_id: AutomationId,
    /// The version of the script.
    #[view(one.script)]
    version: i64,
    #[schema(schema_with = schema_of::<RunStatus>)]
    status: RunStatus,
    #[schema(schema_with = schema_of::<Trigger>)]
    trigger: Trigger,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    started_at: Option<Time>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    completed_at: Option<Time>,
    #[schema(required)]
    #[view(one.duration())]
    duration_ms: Option<i64>,
    /// True if the script finished; null until the run has ended.
    #[schema(required)]
    #[view(one.success())]
    success: Option<bool>,
    /// The result that the script returned.
    #[schema(required, value_type = Option<EvaluationSchema>, inline)]
    #[view(one.evaluation)]
    evaluation_status: Option<Evaluation>,
    /// The summary that the script returned.
    #[schema(required)]
    #[view(one.reason)]
    evaluation_reason: Option<String>,
    /// The evidence it returned: any JSON.
    #[schema(required, value_type = Option<Value>)]
    #[view(one.output.and_then(|text| RawValue::from_string(text).ok()))]
    output: Option<Box<RawValue>>,
    /// Its log, line by line. Secrets are masked.
    logs: Vec<String>,
    #[schema(required, value_type = Option<RunProblem>)]
    #[view(one.error.map(Into::into))]
    error: Option<RunProblem>,
    /// The attachment of the task with the evidence.
    #[schema(required, value_type = Option<String>, example = "att_01jcqg3v5mefzr7d0a6w3k9x2b")]
    attachment_id: Option<AttachmentId>,
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

/// The query of a plain array, which returns a page only if one is requested.
#[derive(Debug)]
pub(crate) struct ListRuns {
    limit: Option<u16>,
    after: Option<After>,
}

impl FromQuery for ListRuns {
    fn read(query: &mut Query) -> Self {
        let is_paged = query.has("limit") || query.has("cursor");
        let after = lists::after_id(query);
        let limit = lists::limit(query);
        Self { limit: is_paged.then_some(limit), after }
    }
}

impl IntoParams for ListRuns {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        lists::bare_parameters()
    }
}

/// The number of runs per batch; small, because their logs may be long.
const PIECE: u16 = 16;

async fn runs_of(
    api: &Api,
    scope: &Scope,
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
    // The batches stop at the last run of the page.
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
    Ok(lists::linked(uri, lists::next_id(next), rows))
}

/// Truncates a batch after the last run of the page.
fn until(mut piece: Page<Run>, last: Option<&str>) -> Page<Run> {
    if let Some(place) = last.and_then(|last| piece.items.iter().position(|run| run.id.to_string() == last)) {
        piece.items.truncate(place + 1);
        piece.next = None;
    }
    piece
}

/// Lists the runs of all automations of a task
///
/// All runs, newest first, unless you request a page with `limit` or `cursor`; the `Link` header then points to the
/// next one.
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/runs", tag = "Automations",
    params(ListRuns),
    responses((status = 200, body = Vec<RunView>, description = "The runs."))
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
/// All runs, newest first, unless you request a page with `limit` or `cursor`; the `Link` header then points to the
/// next one.
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/{automationId}/runs", tag = "Automations",
    params(ListRuns),
    responses((status = 200, body = Vec<RunView>, description = "The runs."))
)]
pub(crate) async fn list_automation_runs(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    automation: AutomationAt,
    query: ValidQuery<ListRuns>,
    uri: Uri,
) -> Result<Response, Problem> {
    let attestry_app::automations::AutomationRef { task, automation } = place(&task, &automation)?;
    runs_of(&api, &scope, task, Some(automation), query.0, &uri).await
}

/// Runs an automation now
///
/// The run is added to the queue; request it to see the result.
#[utoipa::path(
    post, path = "/v1/tasks/{taskId}/automations/{automationId}/runs", tag = "Automations",
    responses(
        (status = 201, body = RunView, description = "The run."),
        (status = 409, description = "The automation has no script yet."),
    )
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
    responses((status = 200, body = RunView, description = "The run."))
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
    responses(
        (status = 200, body = RunView, description = "The run as it is now."),
        (status = 409, description = "The run has ended already."),
    )
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
