//! `/v1/auth/passkeys`: the caller's passkeys, and signing in and confirming with them.

use attestry_app::identity::passkeys;
use attestry_app::identity::passkeys::Ceremony;
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::id::{PasskeyId, kind};
use attestry_domain::identity::passkeys::{Passkey, PasskeyName};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema;
use attestry_http::request::body_limits::MAX_BYTES;
use attestry_http::request::caller::{SignedIn, Visitor};
use attestry_http::request::json::{FromJson, Json as JsonValue, Secret};
use attestry_http::request::path::PathId;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::identity::auth::{Done, LoggedIn, signed_in, user_agent};
use crate::identity::sessions::Confirmed;

#[derive(Debug, Serialize, ToSchema, View)]
#[view(Passkey)]
#[serde(rename_all = "camelCase")]
#[schema(as = Passkey, example = json!(passkey_example()))]
pub(crate) struct PasskeyView {
    #[schema(value_type = String, example = "psk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: PasskeyId,
    name: String,
    /// The passkey is copied to the user's other devices.
    is_synced: bool,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Time>,
}

pub(crate) fn passkey_example() -> Value {
    json!({
        "id": "psk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Laptop", "isSynced": false,
        "createdAt": "2026-11-15T09:30:00.000Z", "lastUsedAt": null
    })
}

/// A step that the browser carries out with an authenticator.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasskeyCeremony, example = json!({
    "ticket": "b3BhcXVl", "publicKey": {"challenge": "c2lnbiB0aGlz", "userVerification": "required"},
    "expiresAt": "2026-11-15T09:35:00.000Z"
}))]
pub(crate) struct CeremonyView {
    /// To be sent back with the credential; it works once.
    ticket: String,
    /// The options in JSON, as browsers read them (`parseCreationOptionsFromJSON`, `parseRequestOptionsFromJSON`).
    #[schema(value_type = Object)]
    public_key: Value,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
}

impl From<Ceremony> for CeremonyView {
    fn from(Ceremony { ticket, public_key }: Ceremony) -> Self {
        Self { ticket: ticket.text, public_key, expires_at: ticket.expires_at }
    }
}

/// The ticket of a ceremony.
type TicketText = Secret;

/// A credential as browsers write it. It is parsed by the ceremony.
#[derive(Clone, Debug)]
pub(crate) struct Credential(JsonValue);

const MAX_CREDENTIAL_BYTES: usize = 64 << 10;

impl FromJson for Credential {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        if !json.bytes().starts_with(b"{") {
            return Err("must be an object".to_owned());
        }
        if json.bytes().len() > MAX_CREDENTIAL_BYTES {
            return Err(format!("must have at most {} KiB", MAX_CREDENTIAL_BYTES >> 10));
        }
        Ok(Self(json.clone()))
    }

    fn schema() -> RefOr<Schema> {
        let mut object = json!({"type": "object"});
        object[MAX_BYTES] = json!(MAX_CREDENTIAL_BYTES);
        schema(object)
    }
}

body! {
    /// The answer of an authenticator.
    PasskeyAnswer (Medium) {
        ticket "ticket": required TicketText = "The ticket of the options.",
        credential "credential": required Credential = "The credential in JSON, as browsers write it (`toJSON()`).",
    }
    example json!({"ticket": "b3BhcXVl", "credential": {"id": "a2V5", "rawId": "a2V5", "type": "public-key", "response": {}}})
}

body! {
    /// A new passkey.
    AddPasskey (Medium) {
        ticket "ticket": required TicketText = "The ticket of the options.",
        credential "credential": required Credential = "The credential in JSON, as browsers write it (`toJSON()`).",
        name "name": optional PasskeyName = "A name to tell it from others.",
    }
    example json!({"ticket": "b3BhcXVl", "credential": {"id": "a2V5", "rawId": "a2V5", "type": "public-key", "response": {}}, "name": "Laptop"})
}

body! {
    /// The fields of a passkey to change.
    RenamePasskey {
        name "name": optional PasskeyName = "A name to tell it from others.",
    }
    example json!({"name": "Desk"})
}

fn value(Credential(credential): &Credential) -> Result<Value, Problem> {
    credential.value().map_err(Problem::internal)
}

/// Starts to add a passkey
///
/// The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    post, path = "/v1/auth/passkeys/registration-options", tag = "Sign-in",
    responses((status = 200, body = CeremonyView, description = "The options for `navigator.credentials.create`."))
)]
pub(crate) async fn start_passkey_registration(
    api: State<Api>,
    caller: SignedIn,
) -> Result<Json<CeremonyView>, Problem> {
    Ok(Json(passkeys::start_registration(&api.ctx, &caller.session.session).await?.into()))
}

/// Adds a passkey
#[utoipa::path(
    post, path = "/v1/auth/passkeys", tag = "Sign-in", request_body = AddPasskey,
    responses(
        (status = 201, body = PasskeyView, description = "The passkey. The session counts as signed in with it."),
        (status = 410, description = "The ticket has expired or was used."),
    )
)]
pub(crate) async fn add_passkey(
    api: State<Api>,
    caller: SignedIn,
    body: Valid<AddPasskey>,
) -> Result<Response, Problem> {
    let AddPasskey { ticket, credential, name } = body.0;
    let (session, credential) = (&caller.session.session, value(&credential)?);
    let passkey = passkeys::register(&api.ctx, session, ticket.0, credential, name, caller.origin).await?;
    Ok((StatusCode::CREATED, Json(PasskeyView::from(passkey))).into_response())
}

/// Renames a passkey
#[utoipa::path(
    patch, path = "/v1/auth/passkeys/{id}", tag = "Sign-in", request_body = RenamePasskey,
    responses((status = 200, body = PasskeyView, description = "The passkey as it is now."))
)]
pub(crate) async fn rename_passkey(
    api: State<Api>,
    caller: SignedIn,
    id: PathId<kind::Passkey>,
    body: Valid<RenamePasskey>,
) -> Result<Json<PasskeyView>, Problem> {
    let session = &caller.session.session;
    Ok(Json(passkeys::rename(&api.ctx, session, id.found()?, body.0.name, caller.origin).await?.into()))
}

/// Removes a passkey
///
/// The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    delete, path = "/v1/auth/passkeys/{id}", tag = "Sign-in",
    responses(
        (status = 200, body = Done, description = "The passkey no longer works."),
        (status = 409, description = "An organization requires a second factor, and this is the last one."),
    )
)]
pub(crate) async fn remove_passkey(
    api: State<Api>,
    caller: SignedIn,
    id: PathId<kind::Passkey>,
) -> Result<Json<Done>, Problem> {
    passkeys::remove(&api.ctx, &caller.session.session, id.found()?, caller.origin).await?;
    Ok(Json(Done::DONE))
}

/// Starts to sign in with a passkey
///
/// The options name no account: the authenticator offers the accounts it knows.
#[utoipa::path(
    post, path = "/v1/auth/passkeys/sign-in-options", tag = "Sign-in",
    responses((status = 200, body = CeremonyView, description = "The options for `navigator.credentials.get`."))
)]
pub(crate) async fn start_passkey_sign_in(
    api: State<Api>,
    _visitor: Visitor,
) -> Result<Json<CeremonyView>, Problem> {
    Ok(Json(passkeys::start_sign_in(&api.ctx).await?.into()))
}

/// Signs in with a passkey
///
/// A passkey that verifies its user is a second factor at the same time.
#[utoipa::path(
    post, path = "/v1/auth/passkeys/sign-in", tag = "Sign-in", request_body = PasskeyAnswer,
    responses(
        (status = 200, body = LoggedIn, description = "A session, in a cookie and as a token."),
        (status = 401, description = "The passkey does not sign in here."),
        (status = 403, description = "The account is not active in any organization."),
        (status = 410, description = "The ticket has expired or was used."),
    )
)]
pub(crate) async fn sign_in_with_passkey(
    api: State<Api>,
    visitor: Visitor,
    headers: HeaderMap,
    body: Valid<PasskeyAnswer>,
) -> Result<Response, Problem> {
    let PasskeyAnswer { ticket, credential } = body.0;
    let credential = value(&credential)?;
    let opened = passkeys::sign_in(&api.ctx, ticket.0, credential, user_agent(&headers), visitor.0).await?;
    Ok(signed_in(&api, opened))
}

/// Starts to confirm the session with a passkey
#[utoipa::path(
    post, path = "/v1/auth/passkeys/confirm-options", tag = "Sign-in",
    responses((status = 200, body = CeremonyView, description = "The options for `navigator.credentials.get`."))
)]
pub(crate) async fn start_passkey_confirmation(
    api: State<Api>,
    caller: SignedIn,
) -> Result<Json<CeremonyView>, Problem> {
    Ok(Json(passkeys::start_confirmation(&api.ctx, &caller.session.session).await?.into()))
}

/// Confirms the session with a passkey
#[utoipa::path(
    post, path = "/v1/auth/passkeys/confirm", tag = "Sign-in", request_body = PasskeyAnswer,
    responses(
        (status = 200, body = Confirmed, description = "The session is confirmed for ten minutes."),
        (status = 410, description = "The ticket has expired or was used."),
    )
)]
pub(crate) async fn confirm_with_passkey(
    api: State<Api>,
    caller: SignedIn,
    body: Valid<PasskeyAnswer>,
) -> Result<Json<Confirmed>, Problem> {
    let PasskeyAnswer { ticket, credential } = body.0;
    let (session, credential) = (&caller.session.session, value(&credential)?);
    let until = passkeys::confirm(&api.ctx, session, ticket.0, credential, caller.origin).await?;
    Ok(Json(Confirmed::until(until)))
}
