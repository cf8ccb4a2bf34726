//! `/v1/trust-portal/domain/status`, and the check that a reverse proxy makes before it requests a certificate.

use attestry_app::portals::domains::{self, Record, Status};
use attestry_domain::access::grant;
use attestry_domain::portals::DomainName;
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// A DNS record to create.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DomainRecord, example = json!({"type": "TXT", "domain": "_attestry-challenge.trust.example.com", "value": "attestry-verification=9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p", "reason": "No TXT record is found at _attestry-challenge.trust.example.com."}))]
pub(crate) struct RecordView {
    r#type: String,
    domain: String,
    value: String,
    /// The record that was found instead.
    reason: String,
}

/// The verification status and the routing of a domain.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DomainStatus, example = json!({
    "domain": "trust.example.com", "verified": false, "verification": [{"type": "TXT", "domain": "_attestry-challenge.trust.example.com", "value": "attestry-verification=9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p", "reason": "No TXT record is found at _attestry-challenge.trust.example.com."}],
    "cnameTarget": "compliance.example.com", "misconfigured": true
}))]
pub(crate) struct StatusView {
    #[schema(value_type = String)]
    domain: DomainName,
    /// True if the organization has proven that it owns the domain.
    verified: bool,
    /// The DNS records to create.
    verification: Vec<RecordView>,
    /// The host that the domain's CNAME record should point to.
    #[schema(required)]
    cname_target: Option<String>,
    /// True if the domain does not point to `cnameTarget`.
    misconfigured: bool,
}

#[derive(Debug)]
pub(crate) struct AskedDomain(Option<DomainName>);

impl FromQuery for AskedDomain {
    fn read(query: &mut Query) -> Self {
        Self(query.required("domain"))
    }
}

impl IntoParams for AskedDomain {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![lists::required("domain", schema_of::<DomainName>(), "The host name to look up.")]
    }
}

/// Checks the DNS records of a domain
///
/// You can also check a domain that is not the portal's yet, to learn which records to create. The first successful
/// verification of the portal's own domain is stored.
#[utoipa::path(
    get, path = "/v1/trust-portal/domain/status", tag = "Trust portal", params(AskedDomain),
    responses(
        (status = 200, body = StatusView, description = "The results of the check."),
        (status = 404, description = "The hosting provider does not know the domain."),
        (status = 409, description = "Another organization has verified the domain."),
        (status = 502, description = "The name servers or the hosting provider do not answer."),
    )
)]
pub(crate) async fn get_domain_status(
    api: State<Api>,
    scope: Granted<grant::PortalRead>,
    ValidQuery(AskedDomain(domain)): ValidQuery<AskedDomain>,
) -> Result<Json<StatusView>, Problem> {
    let domain = domain.ok_or_else(|| Problem::internal("a required parameter is missing"))?;
    let Status { verified, verification, cname_target, misconfigured } =
        domains::status(&api.ctx, &scope, domain.clone()).await?;
    let view = |Record { kind, domain, value, reason }| RecordView { r#type: kind, domain, value, reason };
    let verification = verification.into_iter().map(view).collect();
    Ok(Json(StatusView { domain, verified, verification, cname_target, misconfigured }))
}

/// Returns 200 to a reverse proxy if it may request a certificate for the domain, otherwise 404.
pub(crate) async fn may_serve(
    State(api): State<Api>,
    ValidQuery(AskedDomain(domain)): ValidQuery<AskedDomain>,
) -> Result<StatusCode, Problem> {
    let missing = || Problem::not_found("domain");
    let domain = domain.ok_or_else(missing)?;
    if domain.as_str() == api.own_host || domains::owner(&api.ctx, domain.as_str()).await.is_some() {
        return Ok(StatusCode::OK);
    }
    Err(missing())
}
