//! `/v1/organization/directory`: the settings of the directory, its tokens, and the roles of its groups.

use attestry_app::identity::confirmation;
use attestry_app::identity::directory::{self, Overview};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::{Roles, grant};
use attestry_domain::id::{DirectoryGroupId, DirectoryRequestId, DirectoryTokenId, kind};
use attestry_domain::identity::directory::{DirectoryGroup, DirectoryRequest, DirectoryToken};
use attestry_domain::text::Name;
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::request::caller::Granted;
use attestry_http::request::idempotency::WithoutSecret;
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

use crate::identity::auth::Done;

/// The directory of an organization.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Directory, example = json!({
    "baseUrl": "https://attestry.example/scim/v2", "isActive": true, "defaultRole": "employee",
    "lastRequestAt": "2026-11-15T09:30:00.000Z", "people": 120, "groups": 4
}))]
pub(crate) struct DirectoryView {
    /// The address to enter at the identity provider.
    base_url: String,
    /// It has a token that has not expired.
    is_active: bool,
    /// The role of people whose groups have none.
    default_role: String,
    /// When the identity provider last asked, to the minute.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    last_request_at: Option<Time>,
    /// The number of people that it manages.
    people: i64,
    groups: i64,
}

fn shown(api: &Api, found: Overview) -> DirectoryView {
    let Overview { directory, tokens, people, groups } = found;
    DirectoryView {
        base_url: api.ctx.link(directory::BASE),
        is_active: tokens.iter().any(|token| token.expires_at.is_none_or(|at| at > api.ctx.now())),
        default_role: directory.default_role.as_str().to_owned(),
        last_request_at: directory.last_request_at,
        people,
        groups,
    }
}

/// Shows the directory
#[utoipa::path(
    get, path = "/v1/organization/directory", tag = "Directory",
    responses((status = 200, body = DirectoryView, description = "The directory."))
)]
pub(crate) async fn get_directory(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<DirectoryView>, Problem> {
    Ok(Json(shown(&api, directory::get(&api.ctx, &scope).await?)))
}

body! {
    /// The settings of the directory.
    UpdateDirectory {
        default_role "defaultRole": required Roles = "The role of people whose groups have none; never owner.",
    }
    example json!({"defaultRole": "employee"})
}

/// Changes the settings of the directory
///
/// The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    patch, path = "/v1/organization/directory", tag = "Directory", request_body = UpdateDirectory,
    responses((status = 200, body = DirectoryView, description = "The directory."))
)]
pub(crate) async fn update_directory(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    body: Valid<UpdateDirectory>,
) -> Result<Json<DirectoryView>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let found = directory::update(&api.ctx, &scope, body.0.default_role).await?;
    Ok(Json(shown(&api, found)))
}

#[derive(Clone, Debug, Serialize, ToSchema, View)]
#[view(DirectoryToken)]
#[serde(rename_all = "camelCase")]
#[schema(as = DirectoryToken, example = json!(token_example()))]
pub(crate) struct TokenView {
    #[schema(value_type = String, example = "dtk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: DirectoryTokenId,
    name: String,
    /// The public part, to tell tokens apart.
    prefix: String,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    expires_at: Option<Time>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    /// When it was last used, to the minute.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Time>,
}

fn token_example() -> Value {
    json!({
        "id": "dtk_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Entra ID", "prefix": "k3x9w7ab", "expiresAt": null,
        "createdAt": "2026-11-15T09:30:00.000Z", "lastUsedAt": null
    })
}

page_of! {
    pub(crate) TokenList = TokenView, "DirectoryTokenList", token_example(), HAS_TOTAL = false
}

/// Lists the tokens of the directory
#[utoipa::path(
    get, path = "/v1/organization/directory/tokens", tag = "Directory",
    responses((status = 200, body = TokenList, description = "The tokens, newest first; never their secrets."))
)]
pub(crate) async fn list_directory_tokens(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<TokenList>, Problem> {
    let found = directory::get(&api.ctx, &scope).await?;
    Ok(Json(PageView::new(found.tokens, None, None)))
}

body! {
    /// A new token of the directory.
    CreateDirectoryToken {
        name "name": required Name = "The identity provider that uses it.",
        expires_at "expiresAt": nullable Time = "When it stops working; never if left out or null. Owners are told 14 and 3 days before.",
    }
    example json!({"name": "Entra ID", "expiresAt": null})
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!(made_example()))]
pub(crate) struct CreatedDirectoryToken {
    #[serde(flatten)]
    directory_token: TokenView,
    /// The token itself, shown only once. A repeated request with the same `Idempotency-Key` gets null.
    #[schema(required)]
    token: Option<String>,
}

fn made_example() -> Value {
    let mut example = token_example();
    example["token"] = json!("ats_k3x9w7ab_9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0");
    example
}

/// Creates a token of the directory
///
/// At most two, so that one can replace the other. Needs a verified domain and an exempt owner with a second factor. The
/// session must have been confirmed within the last ten minutes.
#[utoipa::path(
    post, path = "/v1/organization/directory/tokens", tag = "Directory", request_body = CreateDirectoryToken,
    responses(
        (status = 201, body = CreatedDirectoryToken, description = "The token. Store it safely: it is not shown again."),
        (status = 409, description = "There is no verified domain or no exempt owner, or there are two tokens."),
    )
)]
pub(crate) async fn create_directory_token(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    body: Valid<CreateDirectoryToken>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let CreateDirectoryToken { name, expires_at } = body.0;
    let made = directory::create_token(&api.ctx, &scope, name, expires_at.into_option()).await?;
    let mut view = CreatedDirectoryToken { directory_token: made.token.into(), token: Some(made.text) };
    let mut response = (StatusCode::CREATED, Json(&view)).into_response();
    view.token = None;
    response.extensions_mut().insert(WithoutSecret::of(&view)?);
    Ok(response)
}

/// Revokes a token of the directory
///
/// The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    delete, path = "/v1/organization/directory/tokens/{id}", tag = "Directory",
    responses((status = 200, body = Done, description = "The token no longer works."))
)]
pub(crate) async fn revoke_directory_token(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::DirectoryToken>,
) -> Result<Json<Done>, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    directory::revoke_token(&api.ctx, &scope, id.found()?).await?;
    Ok(Json(Done::DONE))
}

/// A request of the identity provider.
#[derive(Clone, Debug, Serialize, ToSchema, View)]
#[view(DirectoryRequest)]
#[serde(rename_all = "camelCase")]
#[schema(as = DirectoryRequest, example = json!(request_example()))]
pub(crate) struct RequestView {
    #[schema(value_type = String, example = "drq_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: DirectoryRequestId,
    #[schema(value_type = String, example = "dtk_01jcqg3v5mefzr7d0a6w3k9x2b")]
    token_id: DirectoryTokenId,
    #[schema(value_type = String, format = DateTime)]
    at: Time,
    method: String,
    /// The path with its query.
    path: String,
    /// The status of the answer.
    status: i64,
    /// The reason for which it failed; null if it did not.
    #[schema(required)]
    detail: Option<String>,
    /// The body without passwords, cut at 8 KiB; null if there was none, or if it was not JSON.
    #[schema(required)]
    body: Option<String>,
}

fn request_example() -> Value {
    json!({
        "id": "drq_01jcqg3v5mefzr7d0a6w3k9x2b", "tokenId": "dtk_01jcqg3v5mefzr7d0a6w3k9x2b",
        "at": "2026-11-15T09:30:00.000Z", "method": "POST", "path": "/scim/v2/Users", "status": 400,
        "detail": "The domain acme.example is not verified by this organization.",
        "body": "{\"userName\":\"eve@acme.example\"}"
    })
}

page_of! {
    pub(crate) RequestList = RequestView, "DirectoryRequestList", request_example(), HAS_TOTAL = false
}

/// Lists the last requests of the identity provider
///
/// The last 1,000 of the last 14 days, those that failed with the reason. A request appears within seconds.
#[utoipa::path(
    get, path = "/v1/organization/directory/requests", tag = "Directory", params(ById),
    responses((status = 200, body = RequestList, description = "The requests, newest first."))
)]
pub(crate) async fn list_directory_requests(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    query: ValidQuery<ById>,
) -> Result<Json<RequestList>, Problem> {
    let ValidQuery(ById { limit, after, total: _ }) = query;
    let page = directory::requests(&api.ctx, &scope, limit, after).await?;
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, None)))
}

/// A group of the directory.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DirectoryGroup, example = json!(group_example()))]
pub(crate) struct GroupView {
    #[schema(value_type = String, example = "dgr_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: DirectoryGroupId,
    name: String,
    /// The role that it gives; null if it gives none.
    #[schema(required)]
    role: Option<String>,
    /// The number of its members.
    members: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn group_example() -> Value {
    json!({
        "id": "dgr_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Compliance", "role": "admin", "members": 3,
        "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl From<(DirectoryGroup, i64)> for GroupView {
    fn from((group, members): (DirectoryGroup, i64)) -> Self {
        let DirectoryGroup {
            id,
            organization_id: _,
            display_name: name,
            external_id: _,
            role,
            created_at,
            updated_at,
            version: _,
        } = group;
        let role = role.map(|role| role.as_str().to_owned());
        Self { id, name, role, members, created_at, updated_at }
    }
}

page_of! {
    pub(crate) GroupList = GroupView, "DirectoryGroupList", group_example(), HAS_TOTAL = false
}

/// Lists the groups of the directory
#[utoipa::path(
    get, path = "/v1/organization/directory/groups", tag = "Directory",
    responses((status = 200, body = GroupList, description = "The groups, oldest first."))
)]
pub(crate) async fn list_directory_groups(
    api: State<Api>,
    scope: Granted<grant::IdentityRead>,
    _none: ValidQuery<NoQuery>,
) -> Result<Json<GroupList>, Problem> {
    let groups = directory::list_groups(&api.ctx, &scope).await?;
    Ok(Json(PageView::new(groups, None, None)))
}

body! {
    /// The role of a group.
    UpdateDirectoryGroup {
        role "role": nullable Roles = "The role that the group gives; null for none, and never owner.",
    }
    example json!({"role": "auditor"})
}

/// Sets the role that a group of the directory gives
///
/// Its members get their roles at once: those of all their groups or, if these have none, the default role. Owners keep
/// theirs. The session must have been confirmed within the last ten minutes.
#[utoipa::path(
    patch, path = "/v1/organization/directory/groups/{id}", tag = "Directory", request_body = UpdateDirectoryGroup,
    responses((status = 200, body = GroupView, description = "The group."))
)]
pub(crate) async fn update_directory_group(
    api: State<Api>,
    scope: Granted<grant::IdentityUpdate>,
    id: PathId<kind::DirectoryGroup>,
    conditions: Conditions,
    body: Valid<UpdateDirectoryGroup>,
) -> Result<Response, Problem> {
    confirmation::must_be_confirmed(&api.ctx, &scope).await?;
    let (id, expected) = (id.found()?, conditions.if_match());
    let (group, members) = directory::set_role(&api.ctx, &scope, id, body.0.role, expected).await?;
    let version = group.version;
    Ok(with_tag(StatusCode::OK, &[version], GroupView::from((group, members))))
}
