//! `/v1/auth/sessions` and `/v1/auth/confirm`: the caller's sessions, and their confirmation.

use attestry_app::identity::sessions::{self, Link};
use attestry_domain::id::{OrganizationId, SessionId, SsoConnectionId, kind};
use attestry_domain::identity::sessions::Session;
use attestry_domain::identity::sign_in::{SecondFactor, SignInMethod};
use attestry_domain::{JsonSchema as _, Time};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::{ORGANIZATION, SignedIn};
use attestry_http::request::json::Secret;
use attestry_http::request::path::PathId;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::identity::auth::{Done, second_factor};
use crate::identity::second_factors::CodeText;

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session, example = json!(session_example()))]
pub(crate) struct SessionView {
    #[schema(value_type = String, example = "ses_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: SessionId,
    /// True for the session that sent this request.
    is_current: bool,
    /// The IP address from which the session was started.
    #[schema(required)]
    ip: Option<String>,
    /// The `User-Agent` header of the client that signed in.
    #[schema(required)]
    user_agent: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    /// When it was last used, to within a minute.
    #[schema(value_type = String, format = DateTime)]
    last_seen_at: Time,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
    #[schema(schema_with = schema_of::<SignInMethod>)]
    method: SignInMethod,
    /// Null if it was started without one, and not confirmed with one since.
    #[schema(required, schema_with = second_factor)]
    second_factor: Option<SecondFactor>,
}

fn session_example() -> Value {
    json!({
        "id": "ses_01jcqg3v5mefzr7d0a6w3k9x2b", "isCurrent": true, "ip": "203.0.113.7",
        "userAgent": "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
        "createdAt": "2026-11-15T09:30:00.000Z", "lastSeenAt": "2026-11-15T11:02:00.000Z",
        "expiresAt": "2026-12-15T11:02:00.000Z", "method": "password", "secondFactor": "totp"
    })
}

impl SessionView {
    fn of(session: Session, own: SessionId) -> Self {
        let Session {
            id, created_at, last_seen_at, expires_at, ip, user_agent, method, second_factor, ..
        } = session;
        let is_current = id == own;
        Self { id, is_current, ip, user_agent, created_at, last_seen_at, expires_at, method, second_factor }
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"data": [session_example()], "count": 1}))]
pub(crate) struct SessionList {
    data: Vec<SessionView>,
    count: usize,
}

/// Lists your sessions
///
/// Most recently used first, at most 100.
#[utoipa::path(
    get, path = "/v1/auth/sessions", tag = "Sign-in",
    responses((status = 200, body = SessionList, description = "The sessions that still work."))
)]
pub(crate) async fn list_sessions(api: State<Api>, caller: SignedIn) -> Result<Json<SessionList>, Problem> {
    let own = &caller.session.session;
    let found = sessions::list(&api.ctx, own).await?;
    let data: Vec<SessionView> = found.into_iter().map(|one| SessionView::of(one, own.id)).collect();
    Ok(Json(SessionList { count: data.len(), data }))
}

/// Ends one of your sessions
#[utoipa::path(
    delete, path = "/v1/auth/sessions/{id}", tag = "Sign-in",
    responses((status = 200, body = Done, description = "The session has ended."))
)]
pub(crate) async fn end_session(
    api: State<Api>,
    caller: SignedIn,
    id: PathId<kind::Session>,
) -> Result<Json<Done>, Problem> {
    sessions::end_one(&api.ctx, &caller.session.session, id.found()?, caller.origin).await?;
    Ok(Json(Done::DONE))
}

body! {
    /// The password, entered again.
    Confirm {
        password "password": optional Secret = "The account's password; an account without one is confirmed with the code.",
        code "code": optional CodeText = "The code of the authenticator app, if the account has one. A recovery code confirms nothing.",
    }
    example json!({"password": "correct horse battery"})
}

/// The confirmation of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "confirmedUntil": "2026-11-15T09:40:00.000Z"}))]
pub(crate) struct Confirmed {
    success: bool,
    #[schema(value_type = String, format = DateTime)]
    confirmed_until: Time,
}

impl Confirmed {
    pub(crate) fn until(confirmed_until: Time) -> Self {
        Self { success: true, confirmed_until }
    }
}

/// The ways to confirm the session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Confirmation, example = json!({
    "isConfirmed": true, "confirmedUntil": "2026-11-15T09:40:00.000Z", "isAccountConfirmed": true, "methods": ["password"], "needsCode": false,
    "connections": []
}))]
pub(crate) struct ConfirmationView {
    is_confirmed: bool,
    /// Null if it is not confirmed.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    confirmed_until: Option<Time>,
    /// It may change how the account signs in, also after a sign-in with a recovery code.
    is_account_confirmed: bool,
    #[schema(schema_with = methods)]
    methods: Vec<SignInMethod>,
    /// The password is confirmed together with a code of the authenticator app.
    needs_code: bool,
    /// The connections that can authenticate you again; that counts in their own organizations.
    connections: Vec<ConfirmingConnection>,
}

/// A connection that can confirm a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "idc_01jcqg3v5mefzr7d0a6w3k9x2b", "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Acme"
}))]
pub(crate) struct ConfirmingConnection {
    #[schema(value_type = String, example = "idc_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: SsoConnectionId,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    name: String,
}

fn methods() -> RefOr<Schema> {
    schema(json!({"type": "array", "items": SignInMethod::json_schema()}))
}

/// Shows if the session is confirmed, and how to confirm it
#[utoipa::path(
    get, path = "/v1/auth/confirm", tag = "Sign-in",
    responses((status = 200, body = ConfirmationView, description = "The ways to confirm it."))
)]
pub(crate) async fn get_confirmation(
    api: State<Api>,
    caller: SignedIn,
    headers: HeaderMap,
) -> Result<Json<ConfirmationView>, Problem> {
    let organization = headers.get(ORGANIZATION).and_then(|value| OrganizationId::read(value.to_str().ok()?));
    let found = sessions::confirmation(&api.ctx, &caller.session.session, organization).await?;
    let sessions::Confirmation { confirmed_until, is_fresh, methods, connections, needs_code } = found;
    let view = |Link { identity, connection_name, .. }: Link| ConfirmingConnection {
        id: identity.connection_id,
        organization_id: identity.organization_id,
        name: connection_name.into_string(),
    };
    Ok(Json(ConfirmationView {
        is_confirmed: confirmed_until.is_some(),
        confirmed_until,
        is_account_confirmed: is_fresh,
        methods,
        needs_code,
        connections: connections.into_iter().map(view).collect(),
    }))
}

/// Confirms the session with the password
///
/// Signing a policy, approving a policy or a statement of applicability, and changing how people sign in require a proof
/// of identity within the last ten minutes. Signing in counts, except with a recovery code. With a code, the session also counts as signed in with a
/// second factor.
#[utoipa::path(
    post, path = "/v1/auth/confirm", tag = "Sign-in", request_body = Confirm,
    responses((status = 200, body = Confirmed, description = "The session is confirmed for ten minutes."))
)]
pub(crate) async fn confirm_session(
    api: State<Api>,
    caller: SignedIn,
    body: Valid<Confirm>,
) -> Result<Json<Confirmed>, Problem> {
    let Confirm { password, code } = body.0;
    let code = code.map(|CodeText(code)| code);
    let session = &caller.session.session;
    let password = password.as_ref().map(|password| password.0.as_str());
    let until = sessions::confirm(&api.ctx, session, password, code, caller.origin).await?;
    Ok(Json(Confirmed::until(until)))
}
