//! `/v1/trust-portal/posts`: news, and questions with their answers.

use attestry_app::portals::posts::{self, NewPost};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{PortalPostId, kind};
use attestry_domain::portals::{PortalPost, PostKind, PostPatch};
use attestry_domain::text::{AnyText, Name};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// News, or a question with its answer.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(PortalPost)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortalPost, example = json!(example()))]
pub(crate) struct PostView {
    #[schema(value_type = String)]
    id: PortalPostId,
    #[schema(schema_with = schema_of::<PostKind>)]
    kind: PostKind,
    title: String,
    text: String,
    is_published: bool,
    /// When it was first published.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    published_at: Option<Time>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn example() -> Value {
    json!({
        "id": "tpp_01jcqg3v5mefzr7d0a6w3k9x2b", "kind": "update", "title": "SOC 2 Type 2 report available",
        "text": "The report for this year can be requested here.", "isPublished": true,
        "publishedAt": "2026-11-15T09:30:00.000Z", "createdAt": "2026-11-15T09:30:00.000Z",
        "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

page_of! {
    pub(crate) PostList = PostView, "PortalPosts", example()
}

#[derive(Debug)]
pub(crate) struct ListPosts {
    by_id: ById,
    kind: Option<PostKind>,
}

impl FromQuery for ListPosts {
    fn read(query: &mut Query) -> Self {
        Self { by_id: ById::read(query), kind: query.get("kind") }
    }
}

impl IntoParams for ListPosts {
    fn into_params(place: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = ById::into_params(place);
        all.push(lists::parameter("kind", schema_of::<PostKind>(), "Only news, or only questions."));
        all
    }
}

/// Lists the posts of the trust portal
#[utoipa::path(
    get, path = "/v1/trust-portal/posts", tag = "Trust portal", params(ListPosts),
    responses((status = 200, body = PostList, description = "The posts, newest first."))
)]
pub(crate) async fn list_portal_posts(
    api: State<Api>,
    scope: Granted<grant::PortalRead>,
    ValidQuery(ListPosts { by_id, kind }): ValidQuery<ListPosts>,
) -> Result<Json<PostList>, Problem> {
    let page = posts::list(&api.ctx, &scope, kind, by_id.limit, by_id.after).await?;
    let total = if by_id.total { Some(posts::count(&api.ctx, &scope, kind).await?) } else { None };
    Ok(Json(PageView::new(page.items, lists::next_id(page.next), total)))
}

body! {
    /// A post.
    CreatePortalPost (Medium) {
        kind "kind": required PostKind = "`update` for news, `question` for a question that is often asked.",
        title "title": required Name = "The headline, or the question.",
        text "text": optional AnyText = "The news, or the answer to the question.",
        is_published "isPublished": optional bool = "True if the public sees it; false by default. Subscribers are mailed when news is published for the first time.",
    }
    example json!({"kind": "update", "title": "SOC 2 Type 2 report available", "text": "The report for this year can be requested here.", "isPublished": true})
}

/// Adds a post to the trust portal
#[utoipa::path(
    post, path = "/v1/trust-portal/posts", tag = "Trust portal", request_body = CreatePortalPost,
    responses((status = 201, body = PostView, description = "The post."))
)]
pub(crate) async fn create_portal_post(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    body: Valid<CreatePortalPost>,
) -> Result<Response, Problem> {
    let CreatePortalPost { kind, title, text, is_published } = body.0;
    let is_published = is_published.unwrap_or(false);
    let new = NewPost { kind, title, text: text.unwrap_or_default(), is_published };
    let post = posts::create(&api.ctx, &scope, new).await?;
    Ok(with_tag(StatusCode::CREATED, &[post.version], PostView::from(post)))
}

/// Shows a post of the trust portal
#[utoipa::path(
    get, path = "/v1/trust-portal/posts/{id}", tag = "Trust portal",
    responses((status = 200, body = PostView, description = "The post."))
)]
pub(crate) async fn get_portal_post(
    api: State<Api>,
    scope: Granted<grant::PortalRead>,
    id: PathId<kind::PortalPost>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let post = posts::get(&api.ctx, &scope, id.found()?).await?;
    Ok(conditions.respond(&[post.version], PostView::from(post)))
}

body! {
    /// The fields of a post to change. Fields that are left out stay as they are.
    UpdatePortalPost (Medium) {
        title "title": optional Name = "The headline, or the question.",
        text "text": optional AnyText = "The news, or the answer to the question.",
        is_published "isPublished": optional bool = "True if the public sees it.",
    }
    example json!({"isPublished": false})
}

/// Changes a post of the trust portal
#[utoipa::path(
    patch, path = "/v1/trust-portal/posts/{id}", tag = "Trust portal", request_body = UpdatePortalPost,
    responses((status = 200, body = PostView, description = "The post as it is now."))
)]
pub(crate) async fn update_portal_post(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    id: PathId<kind::PortalPost>,
    conditions: Conditions,
    body: Valid<UpdatePortalPost>,
) -> Result<Response, Problem> {
    let UpdatePortalPost { title, text, is_published } = body.0;
    let patch = PostPatch { title, text, is_published };
    let post = posts::update(&api.ctx, &scope, id.found()?, patch, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &[post.version], PostView::from(post)))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedPost": {"id": "tpp_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "SOC 2 Type 2 report available"}}))]
pub(crate) struct PortalPostDeletion {
    success: bool,
    #[schema(inline)]
    deleted_post: DeletedPost,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeletedPost {
    #[schema(value_type = String)]
    id: PortalPostId,
    title: String,
}

/// Deletes a post of the trust portal
#[utoipa::path(
    delete, path = "/v1/trust-portal/posts/{id}", tag = "Trust portal",
    responses((status = 200, body = PortalPostDeletion, description = "The post is deleted."))
)]
pub(crate) async fn delete_portal_post(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    id: PathId<kind::PortalPost>,
    conditions: Conditions,
) -> Result<Json<PortalPostDeletion>, Problem> {
    let PortalPost { id, title, .. } =
        posts::delete(&api.ctx, &scope, id.found()?, conditions.if_match()).await?;
    Ok(Json(PortalPostDeletion { success: true, deleted_post: DeletedPost { id, title } }))
}
