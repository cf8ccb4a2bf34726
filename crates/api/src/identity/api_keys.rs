//! `/v1/organization/api-keys`.

use std::time::Duration;

use attestry_app::identity::api_keys::{self, KeyInForce, MadeKey};
use attestry_domain::Time;
use attestry_domain::access::{Permission, grant};
use attestry_domain::id::{ApiKeyId, MemberId, kind};
use attestry_domain::identity::api_keys::{ApiKey, KeyKind, NewApiKey, Scopes};
use attestry_domain::text::Name;
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::idempotency::WithoutSecret;
use attestry_http::request::json::Whole;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{NoQuery, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ApiKey, example = json!(key_example()))]
pub(crate) struct ApiKeyView {
    #[schema(value_type = String, example = "apk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: ApiKeyId,
    name: String,
    /// The public part, to tell keys apart.
    prefix: String,
    /// The permissions of the key; `*` grants everything its owner can do.
    scopes: Vec<&'static str>,
    /// The member as which it acts: the one who created it, or that of a service account.
    #[schema(value_type = String, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    member_id: MemberId,
    #[schema(schema_with = schema_of::<KeyKind>)]
    kind: KeyKind,
    #[schema(value_type = Option<String>, format = DateTime, required)]
    expires_at: Option<Time>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    /// When it was last used, to the minute.
    #[schema(value_type = Option<String>, format = DateTime, required)]
    last_used_at: Option<Time>,
    /// The IP address from which it was used then.
    #[schema(required)]
    last_used_ip: Option<String>,
    /// It is older than the sign-in policy, which would not allow it today.
    is_beyond_policy: bool,
}

impl From<KeyInForce> for ApiKeyView {
    fn from(KeyInForce { key, kind, is_beyond_policy }: KeyInForce) -> Self {
        Self {
            scopes: key.scopes.words(),
            id: key.id,
            name: key.name,
            prefix: key.prefix,
            member_id: key.member_id,
            kind,
            expires_at: key.expires_at,
            created_at: key.created_at,
            last_used_at: key.last_used_at,
            last_used_ip: key.last_used_ip,
            is_beyond_policy,
        }
    }
}

fn key_example() -> Value {
    json!({
        "id": "apk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Nightly import", "prefix": "k3x9w7ab",
        "scopes": ["member:read"], "memberId": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "kind": "personal",
        "expiresAt": null, "createdAt": "2026-11-15T09:30:00.000Z", "lastUsedAt": null, "lastUsedIp": null,
        "isBeyondPolicy": false
    })
}

page_of! {
    pub(crate) ApiKeyList = ApiKeyView, "ApiKeyList", key_example()
}

/// The hours for which a rotated key still works, unless the request says so.
const DEFAULT_OVERLAP: u64 = 24;

/// Lists the API keys that have not been revoked
#[utoipa::path(
    get, path = "/v1/organization/api-keys", tag = "API keys", params(ById),
    responses((status = 200, body = ApiKeyList, description = "The keys, newest first; never their secrets."))
)]
pub(crate) async fn list_api_keys(
    api: State<Api>,
    scope: Granted<grant::ApiKeyRead>,
    query: ValidQuery<ById>,
) -> Result<Json<ApiKeyList>, Problem> {
    let ValidQuery(ById { limit, after, total }) = query;
    let page = api_keys::list(&api.ctx, &scope, limit, after).await?;
    let total = if total { Some(api_keys::count(&api.ctx, &scope).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, total)))
}

body! {
    /// A new API key. It acts as you, with your permissions at most.
    CreateApiKey (Large) {
        name "name": required Name = "The purpose of the key.",
        scopes "scopes": optional Scopes = "The permissions of the key; all of yours (`*`) by default.",
        expires_at "expiresAt": nullable Time = "When the key stops working; never if left out or null.",
    }
    example json!({"name": "Nightly import", "scopes": ["member:read"], "expiresAt": "2027-11-15T00:00:00.000Z"})
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(made_example()))]
pub(crate) struct CreatedApiKey {
    #[serde(flatten)]
    api_key: ApiKeyView,
    /// The key itself, shown only once. A repeated request with the same `Idempotency-Key` gets null.
    #[schema(required)]
    key: Option<String>,
}

fn made_example() -> Value {
    let mut example = key_example();
    example["key"] = json!("atk_k3x9w7ab_9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0");
    example
}

/// Creates an API key
#[utoipa::path(
    post, path = "/v1/organization/api-keys", tag = "API keys", request_body = CreateApiKey,
    responses((status = 201, body = CreatedApiKey, description = "The key. Store it safely: it is not shown again."))
)]
pub(crate) async fn create_api_key(
    api: State<Api>,
    scope: Granted<grant::ApiKeyCreate>,
    body: Valid<CreateApiKey>,
) -> Result<Response, Problem> {
    created(api_keys::create(&api.ctx, &scope, body.0.into()).await?)
}

impl From<CreateApiKey> for NewApiKey {
    fn from(CreateApiKey { name, scopes, expires_at }: CreateApiKey) -> Self {
        let scopes = scopes.unwrap_or(Scopes::All);
        Self { name: name.into_string(), scopes, expires_at: expires_at.into_option() }
    }
}

/// Builds the response with a key. The copy stored for repeated requests omits its text.
pub(crate) fn created(made: MadeKey) -> Result<Response, Problem> {
    let MadeKey { key, kind, text } = made;
    let api_key = ApiKeyView::from(KeyInForce { key, kind, is_beyond_policy: false });
    let mut view = CreatedApiKey { api_key, key: Some(text) };
    let mut response = (StatusCode::CREATED, Json(&view)).into_response();
    view.key = None;
    response.extensions_mut().insert(WithoutSecret::of(&view)?);
    Ok(response)
}

body! {
    /// The rotation of an API key.
    RotateApiKey {
        overlap_hours "overlapHours": optional Whole<0, 168> = "The hours for which the old key still works; 24 by default, 0 ends it at once.",
        expires_at "expiresAt": nullable Time = "When the new key stops working; never if left out or null.",
    }
    example json!({"overlapHours": 24, "expiresAt": null})
}

/// Rotates an API key
///
/// Makes a key with the same name and scopes. The old one ends after the overlap. Only the member as whom a personal key
/// acts can rotate it, also with the key itself.
#[utoipa::path(
    post, path = "/v1/organization/api-keys/{id}/rotate", tag = "API keys", request_body = RotateApiKey,
    responses((status = 201, body = CreatedApiKey, description = "The new key. Store it safely: it is not shown again."))
)]
pub(crate) async fn rotate_api_key(
    api: State<Api>,
    scope: Granted<grant::ApiKeyCreate>,
    id: PathId<kind::ApiKey>,
    body: Valid<RotateApiKey>,
) -> Result<Response, Problem> {
    let RotateApiKey { overlap_hours, expires_at } = body.0;
    let hours = overlap_hours.map_or(DEFAULT_OVERLAP, |Whole(hours)| hours.unsigned_abs());
    let overlap = Duration::from_hours(hours);
    let made = api_keys::rotate(&api.ctx, &scope, id.found()?, overlap, expires_at.into_option()).await?;
    created(made)
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"scope": "member:read", "description": "See the people of the organization"}))]
pub(crate) struct ScopeView {
    scope: &'static str,
    description: &'static str,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"data": [{"scope": "member:read", "description": "See the people of the organization"}], "count": 1}))]
pub(crate) struct ScopeList {
    data: Vec<ScopeView>,
    count: usize,
}

/// Lists the scopes you can give to a key
#[utoipa::path(
    get, path = "/v1/organization/api-keys/available-scopes", tag = "API keys",
    responses((status = 200, body = ScopeList, description = "The scopes."))
)]
pub(crate) async fn list_available_scopes(
    scope: Granted<grant::ApiKeyRead>,
    _none: ValidQuery<NoQuery>,
) -> Json<ScopeList> {
    let view =
        |permission: Permission| ScopeView { scope: permission.as_str(), description: permission.meaning() };
    let data: Vec<ScopeView> = api_keys::available(&scope).iter().map(view).collect();
    Json(ScopeList { count: data.len(), data })
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "revokedApiKey": {"id": "apk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Nightly import"}}))]
pub(crate) struct ApiKeyRevocation {
    success: bool,
    revoked_api_key: RevokedApiKey,
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"id": "apk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Nightly import"}))]
pub(crate) struct RevokedApiKey {
    #[schema(value_type = String, example = "apk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: ApiKeyId,
    name: String,
}

impl From<ApiKey> for ApiKeyRevocation {
    fn from(ApiKey { id, name, .. }: ApiKey) -> Self {
        Self { success: true, revoked_api_key: RevokedApiKey { id, name } }
    }
}

/// Revokes an API key
#[utoipa::path(
    delete, path = "/v1/organization/api-keys/{id}", tag = "API keys",
    responses((status = 200, body = ApiKeyRevocation, description = "The key no longer works."))
)]
pub(crate) async fn revoke_api_key(
    api: State<Api>,
    scope: Granted<grant::ApiKeyDelete>,
    id: PathId<kind::ApiKey>,
) -> Result<Json<ApiKeyRevocation>, Problem> {
    Ok(Json(api_keys::revoke(&api.ctx, &scope, id.found()?).await?.into()))
}
