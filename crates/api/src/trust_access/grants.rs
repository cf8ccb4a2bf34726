//! The administration of access grants, and the log of visits.

use attestry_app::trust_access::grants::{self, Visit};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{AccessGrantId, VisitId, kind};
use attestry_domain::portals::trust_access::{GrantSort, GrantStatus, VisitAction};
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use super::{GiveReason, GrantView, OfStatus, grant_example};

page_of! {
    pub(crate) GrantList = GrantView, "AccessGrants", grant_example()
}

/// Lists the access grants
#[utoipa::path(
    get, path = "/v1/trust-access/admin/grants", tag = "Trust access", params(OfStatus<GrantStatus, GrantSort>),
    responses((status = 200, body = GrantList, description = "The grants, newest first by default; never the links."))
)]
pub(crate) async fn list_access_grants(
    api: State<Api>,
    scope: Granted<grant::AccessRead>,
    ValidQuery(OfStatus { status, page, total }): ValidQuery<OfStatus<GrantStatus, GrantSort>>,
) -> Result<Json<GrantList>, Problem> {
    let (sort, order) = (page.sort, page.order);
    let found = grants::list(&api.ctx, &scope, status.clone(), page).await?;
    let total = if total { Some(grants::count(&api.ctx, &scope, status).await?) } else { None };
    let now = api.ctx.now();
    let data: Vec<GrantView> = found.items.into_iter().map(|one| GrantView::new(one, now)).collect();
    Ok(Json(PageView::new(data, lists::cursor_of(sort, order, found.next), total)))
}

/// Revokes access
///
/// With immediate effect: all its links stop working.
#[utoipa::path(
    post, path = "/v1/trust-access/admin/grants/{id}/revoke", tag = "Trust access", request_body = GiveReason,
    responses(
        (status = 200, body = GrantView, description = "The grant."),
        (status = 409, description = "The access has expired or was revoked before."),
    )
)]
pub(crate) async fn revoke_access_grant(
    api: State<Api>,
    scope: Granted<grant::AccessReview>,
    id: PathId<kind::AccessGrant>,
    body: Valid<GiveReason>,
) -> Result<Json<GrantView>, Problem> {
    let grant = grants::revoke(&api.ctx, &scope, id.found()?, body.0.reason).await?;
    Ok(Json(GrantView::new(grant, api.ctx.now())))
}

/// An action of a portal visitor.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Visit)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortalVisit, example = json!(visit_example()))]
pub(crate) struct VisitView {
    #[schema(value_type = String)]
    id: VisitId,
    #[schema(value_type = String)]
    grant_id: AccessGrantId,
    name: String,
    email: String,
    #[schema(schema_with = schema_of::<VisitAction>)]
    #[view(one.visited.action)]
    action: VisitAction,
    /// The id of a policy, or the framework of a certificate.
    #[schema(required)]
    #[view(one.visited.document)]
    document: Option<String>,
    #[schema(required)]
    #[view(one.visited.title)]
    title: Option<String>,
    #[schema(required)]
    ip: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
}

fn visit_example() -> Value {
    json!({
        "id": "tvs_01jcqg3v5mefzr7d0a6w3k9x2b", "grantId": "tag_01jcqg3v5mefzr7d0a6w3k9x2b",
        "name": "Grace Hopper", "email": "grace@customer.example", "action": "downloaded_certificate",
        "document": "iso_27001", "title": "certificate.pdf", "ip": "203.0.113.7", "at": "2026-11-15T09:30:00.000Z"
    })
}

page_of! {
    pub(crate) VisitList = VisitView, "PortalVisits", visit_example()
}

#[derive(Debug)]
pub(crate) struct ListVisits {
    by_id: ById,
    grant: Option<AccessGrantId>,
}

impl FromQuery for ListVisits {
    fn read(query: &mut Query) -> Self {
        Self { by_id: ById::read(query), grant: query.get("grantId") }
    }
}

impl IntoParams for ListVisits {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = ById::into_params(place);
        all.push(lists::parameter("grantId", schema_of::<AccessGrantId>(), "Only what this visitor did."));
        all
    }
}

/// Lists what visitors opened and downloaded
#[utoipa::path(
    get, path = "/v1/trust-access/admin/visits", tag = "Trust access", params(ListVisits),
    responses((status = 200, body = VisitList, description = "The visits, newest first."))
)]
pub(crate) async fn list_portal_visits(
    api: State<Api>,
    scope: Granted<grant::AccessRead>,
    ValidQuery(ListVisits { by_id, grant }): ValidQuery<ListVisits>,
) -> Result<Json<VisitList>, Problem> {
    let page = grants::visits(&api.ctx, &scope, grant, by_id.limit, by_id.after).await?;
    let total = if by_id.total { Some(grants::count_visits(&api.ctx, &scope, grant).await?) } else { None };
    Ok(Json(PageView::new(page.items, lists::next_id(page.next), total)))
}
