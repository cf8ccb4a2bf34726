//! `/v1/organization/automation-hosts`: the hosts that scripts may reach.

use attestry_app::automations;
use attestry_domain::Parse;
use attestry_domain::access::grant;
use attestry_domain::automations::hosts::{AllowedHost, AllowedHosts};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

/// The hosts that scripts may reach.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AutomationHosts, example = json!({"hosts": ["api.github.com", "*.example.com"]}))]
pub(crate) struct HostsView {
    #[schema(value_type = Vec<String>)]
    hosts: AllowedHosts,
}

/// A list of hosts in a body.
#[derive(Clone, Debug)]
pub(crate) struct Hosts(AllowedHosts);

impl FromJson for Hosts {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let hosts = json.each(AllowedHosts::COUNT, |item| AllowedHost::parse(&item.text()?))?;
        AllowedHosts::new(hosts).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema_of::<AllowedHosts>()
    }
}

body! {
    /// The hosts that scripts may reach.
    SetHosts (Medium) {
        hosts "hosts": required Hosts = "Hosts such as api.example.com, api.example.com:8443, *.example.com or http://intranet.example.com; https unless http:// is written.",
    }
    example json!({"hosts": ["api.github.com", "*.example.com"]})
}

/// Shows the hosts that automations can reach
#[utoipa::path(
    get, path = "/v1/organization/automation-hosts", tag = "Automations",
    responses((status = 200, body = HostsView, description = "The hosts."))
)]
pub(crate) async fn get_automation_hosts(
    api: State<Api>,
    scope: Granted<grant::AutomationRead>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let (hosts, version) = automations::hosts(&api.ctx, &scope).await?;
    Ok(conditions.respond(&[version], HostsView { hosts }))
}

/// Sets the hosts that automations can reach
///
/// Addresses within private networks are rejected regardless of the list, unless the operator allows them.
#[utoipa::path(
    put, path = "/v1/organization/automation-hosts", tag = "Automations", request_body = SetHosts,
    responses((status = 200, body = HostsView, description = "The hosts as they are now."))
)]
pub(crate) async fn set_automation_hosts(
    api: State<Api>,
    scope: Granted<grant::OrganizationUpdate>,
    conditions: Conditions,
    body: Valid<SetHosts>,
) -> Result<Response, Problem> {
    let hosts = body.0.hosts.0;
    let (hosts, version) = automations::set_hosts(&api.ctx, &scope, hosts, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[version], HostsView { hosts }))
}
