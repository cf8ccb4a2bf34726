//! `/v1/organization/domains`: the mail domains of the organization.

use attestry_app::Ctx;
use attestry_app::identity::{confirmation, mail_domains};
use attestry_domain::access::grant;
use attestry_domain::id::{MailDomainId, SsoConnectionId, kind};
use attestry_domain::identity::mail_domains::{MailDomain, MailDomainState};
use attestry_domain::portals::DomainName;
use attestry_domain::{Patch, Time};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::identity::auth::Done;

/// The DNS record that verifies a domain.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MailDomainRecord, example = json!(record_example()))]
pub(crate) struct RecordView {
    r#type: &'static str,
    name: String,
    value: String,
}

fn record_example() -> Value {
    json!({"type": "TXT", "name": "_attestry-identity.acme.example", "value": "attestry-domain=9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p"})
}

/// A mail domain of the organization.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MailDomain, example = json!(domain_example()))]
pub(crate) struct DomainView {
    #[schema(value_type = String, example = "dom_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: MailDomainId,
    #[schema(value_type = String, example = "acme.example")]
    name: DomainName,
    /// `verified` and `failing` count; `failing`: the record is missing, for at most 14 days.
    #[schema(schema_with = schema_of::<MailDomainState>)]
    state: MailDomainState,
    record: RecordView,
    /// The value that the last look-up found in place of the record; null if the record is there.
    #[schema(required)]
    reason: Option<String>,
    /// The connection by which people of the domain sign in; null if there is only one.
    #[schema(required, value_type = Option<String>, example = "idc_01jcqg3v5mefzr7d0a6w3k9x2b")]
    connection_id: Option<SsoConnectionId>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    verified_at: Option<Time>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    failing_since: Option<Time>,
    /// The operator of the server answers for it, and no record is needed.
    is_by_operator: bool,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    checked_at: Option<Time>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn domain_example() -> Value {
    json!({
        "id": "dom_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "acme.example", "state": "verified", "record": record_example(),
        "reason": null, "connectionId": null, "verifiedAt": "2026-11-15T09:30:00.000Z", "failingSince": null, "isByOperator": false,
        "checkedAt": "2026-11-15T09:30:00.000Z", "createdAt": "2026-11-15T09:30:00.000Z",
        "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl DomainView {
    fn of(ctx: &Ctx, domain: MailDomain) -> Self {
        let record = RecordView {
            r#type: "TXT",
            name: domain.record_name(),
            value: mail_domains::record_value(ctx, domain.organization_id, &domain.name),
        };
        let MailDomain {
            id,
            organization_id: _,
            name,
            state,
            connection_id,
            reason,
            verified_at,
            failing_since,
            is_by_operator,
            checked_at,
            created_at,
            updated_at,
            version: _,
        } = domain;
        Self {
            id,
            name,
            state,
            record,
            reason,
            connection_id,
            verified_at,
            failing_since,
            is_by_operator,
            checked_at,
            created_at,
            updated_at,
        }
    }
}

page_of! {
    pub(crate) DomainList = DomainView, "MailDomainList", domain_example(), HAS_TOTAL = false
}

body! {
    /// A mail domain to add.
    AddMailDomain {
        name "name": required DomainName = "The domain of the organization's e-mail addresses.",
    }
    example json!({"name": "acme.example"})
}

body! {
    /// A change of a mail domain.
    UpdateMailDomain {
        connection_id "connectionId": nullable SsoConnectionId = "The connection with which people of the domain sign in; null if there is only one.",
    }
    example json!({"connectionId": null})
}

fn shown(api: &Api, status: StatusCode, domain: MailDomain) -> Response {
    with_tag(status, &[domain.version], DomainView::of(&api.ctx, domain))
}

/// Lists the mail domains
///
/// Oldest first.
#[utoipa::path(
    get, path = "/v1/organization/domains", tag = "Single sign-on",
    responses((status = 200, body = DomainList, description = "The domains."))
)]
pub(crate) async fn list_mail_domains(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<DomainList>, Problem> {
    let found = mail_domains::list(&api.ctx, &scope).await?;
    let views: Vec<DomainView> = found.into_iter().map(|domain| DomainView::of(&api.ctx, domain)).collect();
    Ok(Json(PageView::whole(views)))
}

/// Adds a mail domain
///
/// For owners, whose session must have been confirmed within the last ten minutes. Create the DNS record of the answer,
/// then verify the domain.
#[utoipa::path(
    post, path = "/v1/organization/domains", tag = "Single sign-on", request_body = AddMailDomain,
    responses(
        (status = 201, body = DomainView, description = "The domain, and the record to create."),
        (status = 409, description = "The organization has this domain already."),
    )
)]
pub(crate) async fn add_mail_domain(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    Valid(body): Valid<AddMailDomain>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let domain = mail_domains::create(&api.ctx, &scope, body.name).await?;
    Ok(shown(&api, StatusCode::CREATED, domain))
}

/// Shows a mail domain
#[utoipa::path(
    get, path = "/v1/organization/domains/{domainId}", tag = "Single sign-on",
    responses((status = 200, body = DomainView, description = "The domain."))
)]
pub(crate) async fn get_mail_domain(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    id: PathId<kind::MailDomain>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let domain = mail_domains::get(&api.ctx, &scope, id.found()?).await?;
    Ok(conditions.respond(&[domain.version], DomainView::of(&api.ctx, domain)))
}

/// Looks up the DNS record of a mail domain
#[utoipa::path(
    post, path = "/v1/organization/domains/{domainId}/verify", tag = "Single sign-on",
    responses(
        (status = 200, body = DomainView, description = "The domain; `reason` says what was found instead of the record."),
        (status = 409, description = "Another organization has verified the domain."),
        (status = 502, description = "The name servers do not answer."),
    )
)]
pub(crate) async fn verify_mail_domain(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::MailDomain>,
) -> Result<Response, Problem> {
    let domain = mail_domains::verify(&api.ctx, &scope, id.found()?).await?;
    Ok(shown(&api, StatusCode::OK, domain))
}

/// Changes the connection of a mail domain
#[utoipa::path(
    patch, path = "/v1/organization/domains/{domainId}", tag = "Single sign-on", request_body = UpdateMailDomain,
    responses((status = 200, body = DomainView, description = "The domain."))
)]
pub(crate) async fn update_mail_domain(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::MailDomain>,
    conditions: Conditions,
    Valid(body): Valid<UpdateMailDomain>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let connection: Patch<SsoConnectionId> = body.connection_id;
    let domain =
        mail_domains::update(&api.ctx, &scope, id.found()?, connection, conditions.if_match()).await?;
    Ok(shown(&api, StatusCode::OK, domain))
}

/// Removes a mail domain
///
/// Identities that were linked through it stay.
#[utoipa::path(
    delete, path = "/v1/organization/domains/{domainId}", tag = "Single sign-on",
    responses(
        (status = 200, body = Done, description = "The domain is removed."),
        (status = 409, description = "Single sign-on is required, and this is the last verified domain."),
    )
)]
pub(crate) async fn remove_mail_domain(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::MailDomain>,
    conditions: Conditions,
) -> Result<Json<Done>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    mail_domains::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(Done::DONE))
}
