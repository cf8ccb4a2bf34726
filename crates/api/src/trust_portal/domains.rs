//! `/v1/trust-portal/domain/status`, and what a reverse proxy asks before it gets a certificate.

use attestry_app::portals::domains::{self, Record, Status};
use attestry_domain::access::grant;
use attestry_domain::portals::DomainName;
use attestry_http::answer::lists;
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// A DNS record that is still to be made.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DomainRecord, example = json!({"type": "TXT", "domain": "_attestry-challenge.trust.example.com", "value": "attestry-verification=9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p", "reason": "No TXT record is found at _attestry-challenge.trust.example.com."}))]
pub(crate) struct RecordView {
    r#type: String,
    domain: String,
    value: String,
    /// What was found instead.
    reason: String,
}

/// Whether a domain is verified, and points here.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DomainStatus, example = json!({
    "domain": "trust.example.com", "verified": false, "verification": [{"type": "TXT", "domain": "_attestry-challenge.trust.example.com", "value": "attestry-verification=9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p", "reason": "No TXT record is found at _attestry-challenge.trust.example.com."}],
    "cnameTarget": "compliance.example.com", "misconfigured": true
}))]
pub(crate) struct StatusView {
    #[schema(value_type = String)]
    domain: DomainName,
    /// Whether the organization has proven that it owns the domain.
    verified: bool,
    /// The records still to be made.
    verification: Vec<RecordView>,
    /// What the domain should be a CNAME of.
    #[schema(required)]
    cname_target: Option<String>,
    /// Whether the domain does not point here.
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
        vec![lists::required("domain", DomainName::schema(), "The host name to look up.")]
    }
}

/// Checks the DNS records of a domain
///
/// Also for a domain that is not the portal's yet, to learn which records to make. What is found about the portal's own
/// domain is remembered.
#[utoipa::path(
    get, path = "/v1/trust-portal/domain/status", tag = "Trust portal", params(AskedDomain),
    responses(
        (status = 200, body = StatusView, description = "What was found."),
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

/// For a reverse proxy: whether it may get a certificate for this domain.
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
