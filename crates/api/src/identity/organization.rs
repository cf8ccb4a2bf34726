//! `/v1/organization`: the organization the caller acts in.

use attestry_app::identity::organizations;
use attestry_derive::View;
use attestry_domain::access::grant;
use attestry_domain::id::{FrameworkId, OrganizationId, kind};
use attestry_domain::identity::organizations::{Organization, OrganizationPatch};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::text::{Name, WebAddress};
use attestry_domain::{Time, Zone};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema, View)]
#[view(Organization)]
#[serde(rename_all = "camelCase")]
#[schema(as = Organization, example = json!({
    "id": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Analytical Engines", "website": "https://engines.example", "timeZone": "Europe/London",
    "isSelfApprovalAllowed": true, "frameworkIds": [], "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
}))]
pub(crate) struct OrganizationView {
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: OrganizationId,
    name: String,
    #[schema(required)]
    website: Option<String>,
    /// The IANA time zone that decides when a day of the organization begins.
    #[schema(value_type = String, example = "Europe/London")]
    time_zone: Zone,
    /// Lets members approve their own submissions.
    is_self_approval_allowed: bool,
    /// The frameworks it has chosen to work on.
    #[schema(value_type = Vec<String>)]
    framework_ids: Vec<FrameworkId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

body! {
    /// The fields of the organization to change. Fields that are left out stay as they are.
    UpdateOrganization (Large) {
        name "name": optional Name = "The organization's name.",
        website "website": nullable WebAddress = "Its web site; null clears it.",
        time_zone "timeZone": optional Zone = "The IANA time zone by which tasks reopen, schedules run and digests are sent. UTC by default.",
        is_self_approval_allowed "isSelfApprovalAllowed": optional bool = "False lets nobody approve a policy or a statement of applicability that they submitted themselves. True by default.",
        framework_ids "frameworkIds": optional IdSet<kind::Framework> = "The frameworks the organization works on, which its home page shows.",
    }
    example json!({"name": "Analytical Engines Ltd", "website": "engines.example", "timeZone": "Europe/London"})
}

/// Shows the organization
#[utoipa::path(
    get, path = "/v1/organization", tag = "Organization",
    responses((status = 200, body = OrganizationView, description = "The organization."))
)]
pub(crate) async fn get_organization(
    api: State<Api>,
    scope: Granted<grant::OrganizationRead>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let organization = organizations::get(&api.ctx, &scope).await?;
    Ok(conditions.respond(&[organization.version], OrganizationView::from(organization)))
}

/// Changes the organization
#[utoipa::path(
    patch, path = "/v1/organization", tag = "Organization", request_body = UpdateOrganization,
    responses((status = 200, body = OrganizationView, description = "The organization as it is now."))
)]
pub(crate) async fn update_organization(
    api: State<Api>,
    scope: Granted<grant::OrganizationUpdate>,
    conditions: Conditions,
    body: Valid<UpdateOrganization>,
) -> Result<Response, Problem> {
    let UpdateOrganization { name, website, time_zone, is_self_approval_allowed, framework_ids } = body.0;
    let framework_ids = framework_ids.map(|ids| ids.iter().collect());
    let patch = OrganizationPatch { name, website, time_zone, is_self_approval_allowed, framework_ids };
    let organization = organizations::update(&api.ctx, &scope, patch, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[organization.version], OrganizationView::from(organization)))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedOrganization": {"id": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Analytical Engines"}}))]
pub(crate) struct OrganizationDeletion {
    success: bool,
    deleted_organization: DeletedOrganization,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Analytical Engines"}))]
pub(crate) struct DeletedOrganization {
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: OrganizationId,
    name: String,
}

body! {
    /// Confirms the deletion.
    DeleteOrganization {
        name "name": required Name = "The exact name of the organization.",
    }
    example json!({"name": "Analytical Engines"})
}

/// Deletes the organization
///
/// For owners only. The organization is inaccessible from then on. For 30 days the operator can restore it
/// (`attestry admin restore-organization`); then it is removed with its files, and only the hashes of the audit log
/// remain.
#[utoipa::path(
    delete, path = "/v1/organization", tag = "Organization", request_body = DeleteOrganization,
    responses((status = 200, body = OrganizationDeletion, description = "The organization is deleted."))
)]
pub(crate) async fn delete_organization(
    api: State<Api>,
    scope: Granted<grant::OrganizationDelete>,
    conditions: Conditions,
    body: Valid<DeleteOrganization>,
) -> Result<Json<OrganizationDeletion>, Problem> {
    let Organization { id, name, .. } =
        organizations::delete(&api.ctx, &scope, body.0.name, conditions.if_match()).await?;
    Ok(Json(OrganizationDeletion { success: true, deleted_organization: DeletedOrganization { id, name } }))
}
