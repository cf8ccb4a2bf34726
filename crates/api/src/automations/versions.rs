//! `…/versions`: the scripts of an automation.

use attestry_app::automations;
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::automations::{Source, Version};
use attestry_domain::id::{AutomationVersionId, MemberId};
use attestry_domain::text::LongText;
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use super::{AutomationAt, TaskAt, place};

#[derive(Debug, Serialize, ToSchema, View)]
#[view(Version)]
#[serde(rename_all = "camelCase")]
#[schema(as = AutomationVersion, example = json!(version_example()))]
pub(crate) struct VersionView {
    #[schema(value_type = String, example = "eav_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: AutomationVersionId,
    version: i64,
    script: String,
    #[schema(required)]
    changelog: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    /// The member who created it.
    #[schema(required, value_type = Option<String>, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    created_by: Option<MemberId>,
}

const SCRIPT: &str = "export default async function (ctx) {\n  const response = await ctx.fetch(\"https://status.example.com/\");\n  return { status: response.ok ? \"pass\" : \"fail\", summary: `It answered ${response.status}.` };\n}\n";

fn version_example() -> Value {
    json!({
        "id": "eav_01jcqg3v5mefzr7d0a6w3k9x2b", "version": 2, "script": SCRIPT, "changelog": "Asks the new server.",
        "createdAt": "2026-11-15T09:30:00.000Z", "createdBy": "mem_01jcqg3v5mefzr7d0a6w3k9x2b"
    })
}

page_of! {
    pub(crate) VersionList = VersionView, "VersionList", version_example()
}

body! {
    /// A new version of the script.
    CreateAutomationVersion (Large) {
        script "script": required Source = "A JavaScript module; at most 256 KiB.",
        changelog "changelog": optional LongText = "The changes in this version.",
    }
    example json!({"script": SCRIPT, "changelog": "Asks the new server."})
}

#[derive(Debug)]
pub(crate) struct ListVersions {
    page: ById,
    offset: u64,
}

impl FromQuery for ListVersions {
    fn read(query: &mut Query) -> Self {
        Self { page: ById::read(query), offset: lists::offset(query) }
    }
}

impl IntoParams for ListVersions {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        ById::into_params(place).into_iter().chain([lists::offset_parameter()]).collect()
    }
}

/// Lists the versions of an automation's script
#[utoipa::path(
    get, path = "/v1/tasks/{taskId}/automations/{automationId}/versions", tag = "Automations",
    params(ListVersions),
    responses((status = 200, body = VersionList, description = "The versions, newest first."))
)]
pub(crate) async fn list_automation_versions(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    task: TaskAt,
    automation: AutomationAt,
    query: ValidQuery<ListVersions>,
) -> Result<Json<VersionList>, Problem> {
    let ValidQuery(ListVersions { page: ById { limit, after, total }, offset }) = query;
    let at = place(&task, &automation)?;
    let read = |limit, after| automations::versions(&api.ctx, &scope, at, limit, after);
    let page = lists::page_at_offset(offset, limit, after, read).await?;
    let total = if total { Some(automations::count_versions(&api.ctx, &scope, at).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, total)))
}

/// Adds a version of an automation's script
///
/// It is used for all runs from now on. An invalid script is rejected with the line and the column of the error.
#[utoipa::path(
    post, path = "/v1/tasks/{taskId}/automations/{automationId}/versions", tag = "Automations", request_body = CreateAutomationVersion,
    responses(
        (status = 201, body = VersionView, description = "The version."),
        (status = 409, description = "The automation runs a built-in check."),
    )
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
