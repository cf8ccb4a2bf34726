//! `/v1/organization/sso-connections`: the connections of the organization to identity providers.

use attestry_app::Ctx;
use attestry_app::identity::confirmation;
use attestry_app::identity::sso::flow;
use attestry_app::identity::sso::{
    self, Addresses, Checked, ConnectionPatch, NewConnection, SealedConnection, Step,
};
use attestry_domain::access::{Roles, grant};
use attestry_domain::id::{SsoConnectionId, SsoSignInId, kind};
use attestry_domain::identity::sso::{
    ClaimName, ClientId, ConnectionName, GroupRole, MAX_GROUP_ROLES, ProviderFacts, RoleSync, SsoSignIn,
};
use attestry_domain::text::{Line, Name};
use attestry_domain::{JsonSchema as _, Time};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::PageView;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{schema, schema_of};
use attestry_http::request::caller::{Granted, SignedIn};
use attestry_http::request::json::{FromJson, Json as JsonValue, Secret, distinct};
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
use utoipa::openapi::{RefOr, Schema};

use crate::identity::auth::Done;

/// What the provider said of itself when it was last checked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SsoProvider, example = json!(provider_example()))]
pub(crate) struct ProviderView {
    /// True if the token endpoint knows the client; null if it does not say.
    #[schema(required)]
    is_client_known: Option<bool>,
    /// The provider names itself in its answers (RFC 9207).
    sends_issuer: bool,
    /// The provider has an address at which browsers sign out.
    has_sign_out: bool,
    has_back_channel_logout: bool,
    /// The accepted algorithms that it signs with.
    algorithms: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    checked_at: Time,
}

fn provider_example() -> Value {
    json!({
        "isClientKnown": true, "sendsIssuer": true, "hasSignOut": true, "hasBackChannelLogout": false,
        "algorithms": ["RS256"], "checkedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl From<ProviderFacts> for ProviderView {
    fn from(facts: ProviderFacts) -> Self {
        let ProviderFacts {
            is_client_known,
            sends_issuer,
            end_session_endpoint,
            has_back_channel_logout,
            algorithms,
            checked_at,
        } = facts;
        Self {
            is_client_known,
            sends_issuer,
            has_sign_out: end_session_endpoint.is_some(),
            has_back_channel_logout,
            algorithms,
            checked_at,
        }
    }
}

/// The roles that the members of a group get.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SsoGroupRole, example = json!({"group": "Compliance", "role": "admin"}))]
pub(crate) struct GroupRoleView {
    group: String,
    role: String,
}

/// A connection to an identity provider.
#[expect(clippy::struct_excessive_bools, reason = "the switches of a connection")]
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SsoConnection, example = json!(connection_example()))]
pub(crate) struct ConnectionView {
    #[schema(value_type = String, example = "idc_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: SsoConnectionId,
    /// Shown on the sign-in page.
    name: String,
    is_enabled: bool,
    /// The issuer, as the provider's own document has it.
    issuer: String,
    client_id: String,
    /// The secret itself is never shown.
    has_client_secret: bool,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    client_secret_expires_at: Option<Time>,
    scopes: Vec<String>,
    /// The claim with the e-mail address: a name, or a path with dots.
    email_claim: String,
    /// The claim with the groups: a name, or a path with dots.
    groups_claim: String,
    /// Unknown people of a verified domain become members.
    adds_members: bool,
    /// The role of people whose groups give none.
    default_role: String,
    #[schema(schema_with = schema_of::<RoleSync>)]
    role_sync: RoleSync,
    group_roles: Vec<GroupRoleView>,
    /// People whose groups give no role are not let in.
    requires_group: bool,
    /// Signing out here signs out at the provider, too.
    signs_out_at_provider: bool,
    /// Null before the first check.
    #[schema(required)]
    provider: Option<ProviderView>,
    /// When a test succeeded with this issuer and client; null before.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    tested_at: Option<Time>,
    /// To register at the provider.
    redirect_uri: String,
    /// Starts a sign-in; for the provider's own page of applications.
    start_url: String,
    /// To register at the provider, if `signsOutAtProvider`.
    post_logout_redirect_uri: String,
    /// To register at the provider, if it has back-channel logout.
    back_channel_logout_uri: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn connection_example() -> Value {
    json!({
        "id": "idc_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Acme", "isEnabled": true,
        "issuer": "https://login.acme.example", "clientId": "attestry", "hasClientSecret": true,
        "clientSecretExpiresAt": null, "scopes": ["openid", "email", "profile"], "emailClaim": "email",
        "groupsClaim": "groups", "addsMembers": true, "defaultRole": "employee", "roleSync": "always",
        "groupRoles": [{"group": "Compliance", "role": "admin"}], "requiresGroup": false, "signsOutAtProvider": false,
        "provider": provider_example(), "testedAt": "2026-11-15T09:30:00.000Z",
        "redirectUri": "https://attestry.acme.example/v1/auth/sso/idc_01jcqg3v5mefzr7d0a6w3k9x2b/callback",
        "startUrl": "https://attestry.acme.example/v1/auth/sso/idc_01jcqg3v5mefzr7d0a6w3k9x2b/start",
        "postLogoutRedirectUri": "https://attestry.acme.example/sign-in",
        "backChannelLogoutUri": "https://attestry.acme.example/v1/auth/sso/idc_01jcqg3v5mefzr7d0a6w3k9x2b/logout-token",
        "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl ConnectionView {
    fn of(ctx: &Ctx, sealed: SealedConnection) -> Self {
        let SealedConnection { connection: one, client_secret } = sealed;
        let Addresses { redirect_uri, start_url, post_logout_redirect_uri, back_channel_logout_uri } =
            sso::addresses(ctx, one.id);
        let group_role = |GroupRole { group, role }: GroupRole| GroupRoleView {
            group: group.into_string(),
            role: role.as_str().to_owned(),
        };
        Self {
            id: one.id,
            name: one.name.into_string(),
            is_enabled: one.is_enabled,
            issuer: one.issuer,
            client_id: one.client_id.into_string(),
            has_client_secret: client_secret.is_some(),
            client_secret_expires_at: one.client_secret_expires_at,
            scopes: one.scopes,
            email_claim: one.email_claim.into_string(),
            groups_claim: one.groups_claim.into_string(),
            adds_members: one.adds_members,
            default_role: one.default_role.as_str().to_owned(),
            role_sync: one.role_sync,
            group_roles: one.group_roles.into_iter().map(group_role).collect(),
            requires_group: one.requires_group,
            signs_out_at_provider: one.signs_out_at_provider,
            provider: one.provider.map(Into::into),
            tested_at: one.tested_at,
            redirect_uri,
            start_url,
            post_logout_redirect_uri,
            back_channel_logout_uri,
            created_at: one.created_at,
            updated_at: one.updated_at,
        }
    }
}

page_of! {
    pub(crate) ConnectionList = ConnectionView, "SsoConnectionList", connection_example(), HAS_TOTAL = false
}

/// The scopes of an authorization request.
#[derive(Clone, Debug)]
pub(crate) struct Scopes(Vec<String>);

const MAX_SCOPES: usize = 20;

impl FromJson for Scopes {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let word = |item: &JsonValue| {
            let text = item.text()?.into_owned();
            let is_word = (1..=100).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
            if is_word { Ok(text) } else { Err("must be a word of at most 100 ASCII characters".to_owned()) }
        };
        let all = distinct(json.each(MAX_SCOPES, word)?, String::clone)?;
        if all.iter().any(|word| word == "openid") {
            Ok(Self(all))
        } else {
            Err("must contain openid".to_owned())
        }
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "array", "minItems": 1, "maxItems": MAX_SCOPES, "uniqueItems": true,
            "items": {"type": "string", "minLength": 1, "maxLength": 100}
        }))
    }
}

body! {
    /// The roles that the members of a group get.
    SetGroupRole {
        group "group": required Name = "The group, as the provider names it in the claim.",
        role "role": required Roles = "One or more roles joined by commas; never `owner`.",
    }
    example json!({"group": "Compliance", "role": "admin"})
}

/// The roles of groups in a body.
#[derive(Clone, Debug)]
pub(crate) struct GroupRoles(Vec<GroupRole>);

impl FromJson for GroupRoles {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let all = json.each_body::<SetGroupRole>(MAX_GROUP_ROLES)?;
        let all = distinct(all, |one| one.group.to_string())?;
        Ok(Self(all.into_iter().map(|SetGroupRole { group, role }| GroupRole { group, role }).collect()))
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({
            "type": "array", "maxItems": MAX_GROUP_ROLES,
            "items": {
                "type": "object", "additionalProperties": false, "required": ["group", "role"],
                "properties": {"group": Name::json_schema(), "role": Roles::json_schema()}
            }
        }))
    }
}

type Issuer = Line<1, 500>;

body! {
    /// A connection to add.
    CreateSsoConnection (Large) {
        name "name": required ConnectionName = "Shown on the sign-in page.",
        is_enabled "isEnabled": optional bool = "True lets people sign in with it; false by default, so that it can be tested first.",
        issuer "issuer": required Issuer = "The address of the provider: https://…, without a query.",
        client_id "clientId": required ClientId = "The id of the client that is registered at the provider.",
        client_secret "clientSecret": nullable Secret = "The secret of the client; none for a public client. It is encrypted, and never shown again.",
        client_secret_expires_at "clientSecretExpiresAt": nullable Time = "When the secret expires; owners are told 30, 7 and 1 days before.",
        scopes "scopes": optional Scopes = "The scopes to ask for; `openid`, `email` and `profile` by default.",
        email_claim "emailClaim": optional ClaimName = "The claim with the e-mail address: a name, or a path with dots; `email` by default.",
        groups_claim "groupsClaim": optional ClaimName = "The claim with the groups: a name, or a path with dots; `groups` by default.",
        adds_members "addsMembers": optional bool = "True makes unknown people of a verified domain members; false by default.",
        default_role "defaultRole": optional Roles = "The role of people whose groups give none; `employee` by default.",
        role_sync "roleSync": optional RoleSync = "When the groups of a person set their roles; `off` by default.",
        group_roles "groupRoles": optional GroupRoles = "The roles that groups give.",
        requires_group "requiresGroup": optional bool = "True lets in only people whose groups give a role.",
        signs_out_at_provider "signsOutAtProvider": optional bool = "True signs people out at the provider when they sign out here.",
    }
    example json!({
        "name": "Acme", "issuer": "https://login.acme.example", "clientId": "attestry", "clientSecret": "b3BhcXVl",
        "addsMembers": true, "roleSync": "always", "groupRoles": [{"group": "Compliance", "role": "admin"}]
    })
}

body! {
    /// A change of a connection. Fields that are left out stay as they are.
    UpdateSsoConnection (Large) {
        name "name": optional ConnectionName = "Shown on the sign-in page.",
        is_enabled "isEnabled": optional bool = "False ends what was granted by it.",
        issuer "issuer": optional Issuer = "The address of the provider. A change must be tested again.",
        client_id "clientId": optional ClientId = "The id of the client. A change must be tested again.",
        client_secret "clientSecret": nullable Secret = "The secret of the client; null for a public client.",
        client_secret_expires_at "clientSecretExpiresAt": nullable Time = "When the secret expires.",
        scopes "scopes": optional Scopes = "The scopes to ask for.",
        email_claim "emailClaim": optional ClaimName = "The claim with the e-mail address.",
        groups_claim "groupsClaim": optional ClaimName = "The claim with the groups.",
        adds_members "addsMembers": optional bool = "True makes unknown people of a verified domain members.",
        default_role "defaultRole": optional Roles = "The role of people whose groups give none.",
        role_sync "roleSync": optional RoleSync = "When the groups of a person set their roles.",
        group_roles "groupRoles": optional GroupRoles = "The roles that groups give.",
        requires_group "requiresGroup": optional bool = "True lets in only people whose groups give a role.",
        signs_out_at_provider "signsOutAtProvider": optional bool = "True signs people out at the provider when they sign out here.",
    }
    example json!({"name": "Acme Europe"})
}

fn words(text: &[&str]) -> Vec<String> {
    text.iter().map(|word| (*word).to_owned()).collect()
}

fn named(text: &str) -> ClaimName {
    ClaimName::stored(text.to_owned())
}

impl From<CreateSsoConnection> for NewConnection {
    fn from(body: CreateSsoConnection) -> Self {
        Self {
            name: body.name,
            is_enabled: body.is_enabled.unwrap_or(false),
            issuer: body.issuer.into_string(),
            client_id: body.client_id,
            client_secret: body.client_secret.into_option().map(|Secret(secret)| secret),
            client_secret_expires_at: body.client_secret_expires_at.into_option(),
            scopes: body.scopes.map_or_else(|| words(&["openid", "email", "profile"]), |Scopes(all)| all),
            email_claim: body.email_claim.unwrap_or_else(|| named("email")),
            groups_claim: body.groups_claim.unwrap_or_else(|| named("groups")),
            adds_members: body.adds_members.unwrap_or(false),
            default_role: body.default_role.unwrap_or_else(|| Roles::stored("employee".to_owned())),
            role_sync: body.role_sync.unwrap_or_default(),
            group_roles: body.group_roles.map(|GroupRoles(all)| all).unwrap_or_default(),
            requires_group: body.requires_group.unwrap_or(false),
            signs_out_at_provider: body.signs_out_at_provider.unwrap_or(false),
        }
    }
}

impl From<UpdateSsoConnection> for ConnectionPatch {
    fn from(body: UpdateSsoConnection) -> Self {
        Self {
            name: body.name,
            is_enabled: body.is_enabled,
            issuer: body.issuer.map(Line::into_string),
            client_id: body.client_id,
            client_secret: body.client_secret.map(|Secret(secret)| secret),
            client_secret_expires_at: body.client_secret_expires_at,
            scopes: body.scopes.map(|Scopes(all)| all),
            email_claim: body.email_claim,
            groups_claim: body.groups_claim,
            adds_members: body.adds_members,
            default_role: body.default_role,
            role_sync: body.role_sync,
            group_roles: body.group_roles.map(|GroupRoles(all)| all),
            requires_group: body.requires_group,
            signs_out_at_provider: body.signs_out_at_provider,
        }
    }
}

fn shown(api: &Api, status: StatusCode, sealed: SealedConnection) -> Response {
    with_tag(status, &[sealed.connection.version], ConnectionView::of(&api.ctx, sealed))
}

/// Lists the connections
///
/// Oldest first.
#[utoipa::path(
    get, path = "/v1/organization/sso-connections", tag = "Single sign-on",
    responses((status = 200, body = ConnectionList, description = "The connections."))
)]
pub(crate) async fn list_sso_connections(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<ConnectionList>, Problem> {
    let found = sso::list(&api.ctx, &scope).await?;
    let views: Vec<ConnectionView> =
        found.into_iter().map(|sealed| ConnectionView::of(&api.ctx, sealed)).collect();
    Ok(Json(PageView::whole(views)))
}

/// Adds a connection to an identity provider
///
/// For owners, whose session must have been confirmed within the last ten minutes. The provider's document is read, and
/// its token endpoint is asked if it knows the client.
#[utoipa::path(
    post, path = "/v1/organization/sso-connections", tag = "Single sign-on", request_body = CreateSsoConnection,
    responses(
        (status = 201, body = ConnectionView, description = "The connection, with the addresses to register."),
        (status = 409, description = "The organization has the maximum number of connections."),
        (status = 502, description = "The provider does not answer."),
    )
)]
pub(crate) async fn create_sso_connection(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    Valid(body): Valid<CreateSsoConnection>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let made = sso::create(&api.ctx, &scope, body.into()).await?;
    Ok(shown(&api, StatusCode::CREATED, made))
}

/// Shows a connection
#[utoipa::path(
    get, path = "/v1/organization/sso-connections/{connectionId}", tag = "Single sign-on",
    responses((status = 200, body = ConnectionView, description = "The connection."))
)]
pub(crate) async fn get_sso_connection(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    id: PathId<kind::SsoConnection>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let found = sso::get(&api.ctx, &scope, id.found()?).await?;
    Ok(conditions.respond(&[found.connection.version], ConnectionView::of(&api.ctx, found)))
}

/// Changes a connection
#[utoipa::path(
    patch, path = "/v1/organization/sso-connections/{connectionId}", tag = "Single sign-on",
    request_body = UpdateSsoConnection,
    responses(
        (status = 200, body = ConnectionView, description = "The connection."),
        (status = 409, description = "Single sign-on is required, and the change could lock people out."),
        (status = 502, description = "The provider does not answer."),
    )
)]
pub(crate) async fn update_sso_connection(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::SsoConnection>,
    conditions: Conditions,
    Valid(body): Valid<UpdateSsoConnection>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let changed = sso::update(&api.ctx, &scope, id.found()?, body.into(), conditions.if_match()).await?;
    Ok(shown(&api, StatusCode::OK, changed))
}

/// Deletes a connection
///
/// Its identities end, and with them what they granted.
#[utoipa::path(
    delete, path = "/v1/organization/sso-connections/{connectionId}", tag = "Single sign-on",
    responses(
        (status = 200, body = Done, description = "The connection is deleted."),
        (status = 409, description = "Single sign-on is required, and no other tested connection is enabled."),
    )
)]
pub(crate) async fn delete_sso_connection(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::SsoConnection>,
    conditions: Conditions,
) -> Result<Json<Done>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    sso::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(Done::DONE))
}

/// A step of a check.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SsoCheckStep, example = json!({"name": "discovery", "isOk": true, "detail": "The provider's document was read."}))]
pub(crate) struct StepView {
    /// `discovery`, `issuer`, `keys` or `client`.
    name: &'static str,
    is_ok: bool,
    detail: String,
}

/// The result of a check.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SsoCheck, example = json!({"isOk": true, "steps": [{"name": "discovery", "isOk": true, "detail": "The provider's document was read."}]}))]
pub(crate) struct CheckView {
    is_ok: bool,
    /// The steps, up to the first that failed.
    steps: Vec<StepView>,
}

impl From<Checked> for CheckView {
    fn from(checked: Checked) -> Self {
        let is_ok = checked.is_ok();
        let view = |Step { name, is_ok, detail }| StepView { name, is_ok, detail };
        Self { is_ok, steps: checked.steps.into_iter().map(view).collect() }
    }
}

/// Checks a connection
///
/// Asks the provider for its document and its keys, and if it knows the client.
#[utoipa::path(
    post, path = "/v1/organization/sso-connections/{connectionId}/check", tag = "Single sign-on",
    responses((status = 200, body = CheckView, description = "The steps of the check."))
)]
pub(crate) async fn check_sso_connection(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::SsoConnection>,
) -> Result<Json<CheckView>, Problem> {
    Ok(Json(sso::check(&api.ctx, &scope, id.found()?).await?.into()))
}

/// The address at which a flow starts.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SsoStart, example = json!({"startUrl": "https://attestry.acme.example/v1/auth/sso/idc_01jcqg3v5mefzr7d0a6w3k9x2b/start?ticket=b3BhcXVl"}))]
pub(crate) struct StartView {
    /// To be opened within a minute in this browser; it works once. Null in the answer to a repeated request.
    #[schema(required)]
    start_url: Option<String>,
}

impl StartView {
    pub(crate) fn new(start_url: String) -> Self {
        Self { start_url: Some(start_url) }
    }
}

/// Starts a test of a connection
///
/// Open the address in a browser: nobody is signed in, and the claims that came are shown in `sign-ins`. A test that
/// succeeds sets `testedAt`. Needs a session.
#[utoipa::path(
    post, path = "/v1/organization/sso-connections/{connectionId}/test", tag = "Single sign-on",
    responses((status = 200, body = StartView, description = "The address to open."))
)]
pub(crate) async fn test_sso_connection(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    caller: SignedIn,
    id: PathId<kind::SsoConnection>,
) -> Result<Json<StartView>, Problem> {
    let (id, session) = (id.found()?, &caller.session.session);
    sso::get(&api.ctx, &scope, id).await?;
    let url = flow::start_ticket(&api.ctx, session, id, flow::Purpose::Test, None).await?;
    Ok(Json(StartView::new(url)))
}

/// An attempt to sign in with a connection.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SsoSignIn, example = json!(sign_in_example()))]
pub(crate) struct SignInView {
    #[schema(value_type = String, example = "sgn_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: SsoSignInId,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    is_test: bool,
    /// `signed_in`, or the code that the sign-in page showed.
    result: String,
    /// The cause of a failure.
    #[schema(required)]
    reason: Option<String>,
    /// The request id, as in the server's log and on the sign-in page.
    request_id: String,
    #[schema(required)]
    subject: Option<String>,
    #[schema(required)]
    email: Option<String>,
    /// The claims that came, with their values only in a test. Null if none came.
    #[schema(required, schema_with = claims)]
    claims: Option<Value>,
    /// Null if the provider did not tell the groups.
    #[schema(required)]
    group_count: Option<i64>,
    /// The roles that the groups give; null if they give none.
    #[schema(required)]
    role: Option<String>,
}

fn sign_in_example() -> Value {
    json!({
        "id": "sgn_01jcqg3v5mefzr7d0a6w3k9x2b", "at": "2026-11-15T09:30:00.000Z", "isTest": true, "result": "signed_in",
        "reason": null, "requestId": "01jcqg3v5mefzr7d0a6w3k9x2b", "subject": "a81f", "email": "ada@acme.example",
        "claims": {"sub": "a81f", "email": "ada@acme.example", "groups": ["Compliance"]}, "groupCount": 1, "role": "admin"
    })
}

impl From<SsoSignIn> for SignInView {
    fn from(one: SsoSignIn) -> Self {
        Self {
            id: one.id,
            at: one.at,
            is_test: one.is_test,
            result: one.result,
            reason: one.reason,
            request_id: one.request_id,
            subject: one.subject,
            email: one.email,
            claims: one.claims,
            group_count: one.group_count,
            role: one.role,
        }
    }
}

fn claims() -> RefOr<Schema> {
    schema(json!({"type": ["object", "null"], "additionalProperties": true}))
}

page_of! {
    pub(crate) SignInList = SignInView, "SsoSignInList", sign_in_example(), HAS_TOTAL = false
}

/// Lists the last attempts to sign in with a connection
///
/// Newest first, at most 200.
#[utoipa::path(
    get, path = "/v1/organization/sso-connections/{connectionId}/sign-ins", tag = "Single sign-on",
    responses((status = 200, body = SignInList, description = "The attempts whose answer of the provider was received."))
)]
pub(crate) async fn list_sso_sign_ins(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    id: PathId<kind::SsoConnection>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<SignInList>, Problem> {
    Ok(Json(PageView::whole(sso::sign_ins(&api.ctx, &scope, id.found()?).await?)))
}
