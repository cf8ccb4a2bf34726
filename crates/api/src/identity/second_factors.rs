//! `/v1/auth/security`, `/v1/auth/totp` and `/v1/auth/recovery-codes`: the second factors of the caller's account.

use attestry_app::identity::second_factors::{Code, Demand, NewApp, Security};
use attestry_app::identity::sessions::Link;
use attestry_app::identity::{confirmation, passkeys, second_factors};
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{OrganizationId, SsoConnectionId, SsoIdentityId, kind};
use attestry_domain::identity::sign_in::{Mfa, SsoDemand};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::{Granted, SignedIn};
use attestry_http::request::idempotency::WithoutSecret;
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::path::PathId;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::identity::auth::Done;
use crate::identity::passkeys::{PasskeyView, passkey_example};

/// A code of an authenticator app, or a recovery code.
#[derive(Clone, Debug)]
pub(crate) struct CodeText(pub(crate) Code);

impl FromJson for CodeText {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        Code::read(&json.text()?).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        attestry_http::document::schemas::schema(
            json!({"type": "string", "minLength": 6, "maxLength": 30, "examples": ["123456"]}),
        )
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isSet": true}))]
pub(crate) struct PasswordView {
    is_set: bool,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"isActive": true, "since": "2026-11-15T09:30:00.000Z"}))]
pub(crate) struct TotpView {
    is_active: bool,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    since: Option<Time>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"left": 10, "createdAt": "2026-11-15T09:30:00.000Z"}))]
pub(crate) struct RecoveryCodesView {
    /// The number of unused codes.
    left: i64,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    created_at: Option<Time>,
}

/// An organization's demand for a second factor.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(demand_example()))]
pub(crate) struct DemandView {
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    organization_name: String,
    #[schema(schema_with = schema_of::<Mfa>)]
    mfa: Mfa,
    /// From when it is enforced; null while it is optional.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    mfa_from: Option<Time>,
    /// `required`: you sign in with a connection of the organization, unless you are exempt.
    #[schema(schema_with = schema_of::<SsoDemand>)]
    sso: SsoDemand,
    is_exempt: bool,
}

fn demand_example() -> Value {
    json!({
        "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "organizationName": "Analytical Engines", "mfa": "required",
        "mfaFrom": "2026-12-01T09:30:00.000Z", "sso": "optional", "isExempt": false
    })
}

/// How the caller can sign in, and what their organizations demand.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Security, example = json!({
    "password": {"isSet": true}, "totp": {"isActive": true, "since": "2026-11-15T09:30:00.000Z"},
    "recoveryCodes": {"left": 10, "createdAt": "2026-11-15T09:30:00.000Z"}, "passkeys": [passkey_example()],
    "arePasskeysAvailable": true, "identities": [identity_example()], "demands": [demand_example()]
}))]
pub(crate) struct SecurityView {
    password: PasswordView,
    totp: TotpView,
    recovery_codes: RecoveryCodesView,
    passkeys: Vec<PasskeyView>,
    /// Browsers offer passkeys only on sites with a name and TLS.
    are_passkeys_available: bool,
    /// The identities at providers by which you sign in.
    identities: Vec<OwnIdentityView>,
    demands: Vec<DemandView>,
}

/// An identity of the caller at a provider.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LinkedIdentity, example = json!(identity_example()))]
pub(crate) struct OwnIdentityView {
    #[schema(value_type = String, example = "idn_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: SsoIdentityId,
    #[schema(value_type = String, example = "org_01jcqg3v5mefzr7d0a6w3k9x2b")]
    organization_id: OrganizationId,
    #[schema(value_type = String, example = "idc_01jcqg3v5mefzr7d0a6w3k9x2b")]
    connection_id: SsoConnectionId,
    connection_name: String,
    /// The address that the provider last gave.
    #[schema(required)]
    email: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    last_used_at: Time,
}

fn identity_example() -> Value {
    json!({
        "id": "idn_01jcqg3v5mefzr7d0a6w3k9x2b", "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b",
        "connectionId": "idc_01jcqg3v5mefzr7d0a6w3k9x2b", "connectionName": "Acme", "email": "ada@acme.example",
        "createdAt": "2026-11-15T09:30:00.000Z", "lastUsedAt": "2026-11-15T09:30:00.000Z"
    })
}

/// Shows how you can sign in
#[utoipa::path(
    get, path = "/v1/auth/security", tag = "Sign-in",
    responses((status = 200, body = SecurityView, description = "The account's second factors, and what its organizations demand."))
)]
pub(crate) async fn get_security(api: State<Api>, caller: SignedIn) -> Result<Json<SecurityView>, Problem> {
    let Security { has_password, totp_since, recovery_codes, passkeys: all, identities, demands } =
        second_factors::security(&api.ctx, &caller.session.session).await?;
    let demand = |Demand { membership, mfa, mfa_from, sso, is_exempt }: Demand| DemandView {
        organization_id: membership.organization,
        organization_name: membership.organization_name,
        mfa,
        mfa_from,
        sso,
        is_exempt,
    };
    let identity = |Link { identity: one, connection_name, .. }: Link| OwnIdentityView {
        id: one.id,
        organization_id: one.organization_id,
        connection_id: one.connection_id,
        connection_name: connection_name.into_string(),
        email: one.email,
        created_at: one.created_at,
        last_used_at: one.last_used_at,
    };
    Ok(Json(SecurityView {
        password: PasswordView { is_set: has_password },
        totp: TotpView { is_active: totp_since.is_some(), since: totp_since },
        recovery_codes: RecoveryCodesView {
            left: recovery_codes.left,
            created_at: recovery_codes.created_at,
        },
        passkeys: all.into_iter().map(Into::into).collect(),
        are_passkeys_available: passkeys::unavailable(&api.ctx).is_none(),
        identities: identities.into_iter().map(identity).collect(),
        demands: demands.into_iter().map(demand).collect(),
    }))
}

/// A secret for an authenticator app. A repeated request with the same `Idempotency-Key` gets nulls.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "secret": "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
    "uri": "otpauth://totp/Attestry:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Attestry",
    "qr": ["1110", "1010", "1110", "0001"], "expiresAt": "2026-11-15T09:45:00.000Z"
}))]
pub(crate) struct NewTotp {
    /// The secret in Base32, for apps without a camera.
    #[schema(required)]
    secret: Option<String>,
    /// The address that apps read from the QR code.
    #[schema(required)]
    uri: Option<String>,
    /// The QR code of the address: a row of modules each, `1` is dark.
    #[schema(required)]
    qr: Option<Vec<String>>,
    /// The time until which a first code activates it.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
}

/// Starts to add an authenticator app
///
/// The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    post, path = "/v1/auth/totp", tag = "Sign-in",
    responses((status = 201, body = NewTotp, description = "The secret for the app, shown once. A first code activates it."))
)]
pub(crate) async fn start_totp(api: State<Api>, caller: SignedIn) -> Result<Response, Problem> {
    let NewApp { secret, uri, picture, expires_at } =
        second_factors::start(&api.ctx, &caller.session.session, caller.origin).await?;
    let row = |row: Vec<bool>| row.into_iter().map(|dark| if dark { '1' } else { '0' }).collect();
    let view = NewTotp {
        secret: Some(secret),
        uri: Some(uri),
        qr: Some(picture.into_iter().map(row).collect()),
        expires_at,
    };
    let mut response = (StatusCode::CREATED, Json(view)).into_response();
    let kept = NewTotp { secret: None, uri: None, qr: None, expires_at };
    response.extensions_mut().insert(WithoutSecret::of(&kept)?);
    Ok(response)
}

body! {
    /// The first code of an authenticator app.
    ActivateTotp {
        code "code": required CodeText = "The six digits that the app shows.",
    }
    example json!({"code": "123456"})
}

/// Recovery codes, shown once. A repeated request with the same `Idempotency-Key` gets null.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"recoveryCodes": ["k3x9w-7abhd", "m2n4p-6qrst"]}))]
pub(crate) struct RecoveryCodeList {
    #[schema(required)]
    recovery_codes: Option<Vec<String>>,
}

fn shown(status: StatusCode, codes: Vec<String>) -> Result<Response, Problem> {
    let mut response = (status, Json(RecoveryCodeList { recovery_codes: Some(codes) })).into_response();
    response.extensions_mut().insert(WithoutSecret::of(&RecoveryCodeList { recovery_codes: None })?);
    Ok(response)
}

/// Activates the authenticator app
///
/// From now on signing in needs a code of the app. The recovery codes stand in for it, each once.
#[utoipa::path(
    post, path = "/v1/auth/totp/activate", tag = "Sign-in", request_body = ActivateTotp,
    responses(
        (status = 200, body = RecoveryCodeList, description = "The app is active."),
        (status = 410, description = "No app waits for its first code."),
    )
)]
pub(crate) async fn activate_totp(
    api: State<Api>,
    caller: SignedIn,
    body: Valid<ActivateTotp>,
) -> Result<Response, Problem> {
    let session = &caller.session.session;
    let codes = second_factors::activate(&api.ctx, session, body.0.code.0, caller.origin).await?;
    shown(StatusCode::OK, codes)
}

/// Removes the authenticator app and the recovery codes
///
/// The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    delete, path = "/v1/auth/totp", tag = "Sign-in",
    responses(
        (status = 200, body = Done, description = "Signing in needs no code any more."),
        (status = 404, description = "The account has no authenticator app."),
        (status = 409, description = "An organization requires a second factor, and this is the last one."),
    )
)]
pub(crate) async fn remove_totp(api: State<Api>, caller: SignedIn) -> Result<Json<Done>, Problem> {
    second_factors::remove(&api.ctx, &caller.session.session, caller.origin).await?;
    Ok(Json(Done::DONE))
}

/// Replaces the recovery codes
///
/// The session must have been confirmed within the last ten minutes. The old codes end.
#[utoipa::path(
    post, path = "/v1/auth/recovery-codes", tag = "Sign-in",
    responses((status = 201, body = RecoveryCodeList, description = "Ten codes, shown once."))
)]
pub(crate) async fn renew_recovery_codes(api: State<Api>, caller: SignedIn) -> Result<Response, Problem> {
    let codes = second_factors::renew_codes(&api.ctx, &caller.session.session, caller.origin).await?;
    shown(StatusCode::CREATED, codes)
}

/// Removes the second factors of a member
///
/// For a member who lost them. It ends their sessions, and a mail tells them. Resetting those of an owner requires
/// `owner:manage`.
#[utoipa::path(
    post, path = "/v1/people/{id}/reset-second-factor", tag = "People",
    responses(
        (status = 200, body = Done, description = "The account has no second factor any more."),
        (status = 409, description = "The account is active in another organization, too."),
    )
)]
pub(crate) async fn reset_second_factor(
    api: State<Api>,
    scope: Granted<grant::MemberUpdate>,
    id: PathId<kind::Member>,
) -> Result<Json<Done>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    second_factors::reset_of_member(&api.ctx, &scope, id.found()?).await?;
    Ok(Json(Done::DONE))
}
