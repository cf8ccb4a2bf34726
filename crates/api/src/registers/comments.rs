//! `/v1/comments`.

use attestry_app::comments::{self, NewComment};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{AttachmentId, CommentId, UserId, kind};
use attestry_domain::page::After;
use attestry_domain::registers::attachments::Attachment;
use attestry_domain::registers::comments::{Author, Comment, CommentText, CommentWithAuthor};
use attestry_domain::registers::id_set::IdSet;
use attestry_domain::registers::subjects::Commentable;
use attestry_domain::text::Line;
use attestry_http::answer::lists::{self, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::{Granted, OwnName, must_be_own};
use attestry_http::request::path::PathId;
use attestry_http::request::query::{FromQuery, Query, ValidQuery};
use attestry_http::request::uploads::Enclosures;
use attestry_http::request::wire::{Optional, Valid};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

/// The author of a comment.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Author)]
#[schema(example = json!({"id": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Ada Byron", "email": "ada@example.com", "image": null, "deactivated": false}))]
pub(crate) struct AuthorView {
    #[schema(value_type = String, example = "usr_01jcqg3v5mefzr7d0a6w3k9x2b")]
    #[view(one.user_id)]
    id: UserId,
    name: String,
    email: String,
    #[schema(required)]
    image: Option<String>,
    /// True if the author is no longer an active member.
    deactivated: bool,
}

/// A file attached to a comment.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Attachment)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"id": "att_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "access-review.txt", "type": "text/plain", "size": 9, "createdAt": "2026-11-15T09:30:00.000Z"}))]
pub(crate) struct EnclosureView {
    #[schema(value_type = String, example = "att_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: AttachmentId,
    name: String,
    #[serde(rename = "type")]
    media_type: String,
    /// The size in bytes.
    size: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Comment, example = json!(comment_example()))]
pub(crate) struct CommentView {
    #[schema(value_type = String, example = "cmt_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: CommentId,
    content: String,
    author: AuthorView,
    attachments: Vec<EnclosureView>,
    entity_id: String,
    #[schema(schema_with = schema_of::<Commentable>)]
    entity_type: Commentable,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

impl From<CommentWithAuthor> for CommentView {
    fn from(CommentWithAuthor { comment, author, attachments }: CommentWithAuthor) -> Self {
        let Comment { id, content, entity_type, entity_id, created_at, updated_at, .. } = comment;
        let (author, attachments) = (author.into(), attachments.into_iter().map(Into::into).collect());
        Self { id, content, author, attachments, entity_id, entity_type, created_at, updated_at }
    }
}

fn comment_example() -> Value {
    json!({
        "id": "cmt_01jcqg3v5mefzr7d0a6w3k9x2b", "content": "Disks are encrypted since Monday.",
        "author": {"id": "usr_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Ada Byron", "email": "ada@example.com", "image": null, "deactivated": false},
        "attachments": [],
        "entityId": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "entityType": "risk",
        "createdAt": "2026-11-15T09:30:00.000Z", "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

page_of! {
    pub(crate) CommentList = CommentView, "CommentList", comment_example()
}

#[derive(Debug)]
pub(crate) struct ListComments {
    entity: Option<(Commentable, String)>,
    limit: u16,
    after: Option<After>,
    total: bool,
}

impl FromQuery for ListComments {
    fn read(query: &mut Query) -> Self {
        let entity_type = query.required("entityType");
        let entity_id = query.required::<Line<1, 64>>("entityId").map(String::from);
        Self {
            entity: entity_type.zip(entity_id),
            limit: lists::limit(query),
            after: lists::after_id(query),
            total: lists::total(query),
        }
    }
}

impl IntoParams for ListComments {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let mut all = vec![
            lists::required(
                "entityType",
                schema_of::<Commentable>(),
                "The type of the records with the comments.",
            ),
            lists::required("entityId", lists::text(), "Its id."),
        ];
        all.extend(lists::plain_parameters());
        all.push(lists::total_parameter());
        all
    }
}

/// Lists the comments on a record
#[utoipa::path(
    get, path = "/v1/comments", tag = "Comments", params(ListComments),
    responses(
        (status = 200, body = CommentList, description = "The comments, newest first."),
        (status = 404, description = "It does not exist.")
    )
)]
pub(crate) async fn list_comments(
    api: State<Api>,
    scope: Granted<grant::CommentRead>,
    query: ValidQuery<ListComments>,
) -> Result<Json<CommentList>, Problem> {
    let ValidQuery(ListComments { entity, limit, after, total }) = query;
    let (entity, id) = entity.ok_or_else(|| Problem::internal("a list without what it is about"))?;
    let page = comments::list(&api.ctx, &scope, entity, id.clone(), limit, after).await?;
    let total = if total { Some(comments::count(&api.ctx, &scope, entity, id).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, total)))
}

body! {
    /// A new comment.
    CreateComment (Large) {
        content "content": required CommentText = "The text of the comment.",
        entity_id "entityId": required Line<1, 64> = "The id of what the comment is about.",
        entity_type "entityType": required Commentable = "The type of the record to comment on.",
        user_id "userId": optional UserId = "Your own user id; optional.",
        attachments "attachments": optional Enclosures = "Files to attach to the comment.",
        mentions "mentions": optional IdSet<kind::Member> = "Members who are told of it by e-mail; they must be able to see what the comment is about.",
    }
    example json!({"content": "Disks are encrypted since Monday.", "entityId": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b", "entityType": "risk"})
}

/// Comments on a record
#[utoipa::path(
    post, path = "/v1/comments", tag = "Comments", request_body = CreateComment,
    responses(
        (status = 201, body = CommentView, description = "The comment."),
        (status = 404, description = "It does not exist.")
    )
)]
pub(crate) async fn create_comment(
    api: State<Api>,
    scope: Granted<grant::CommentCreate>,
    body: Valid<CreateComment>,
) -> Result<Response, Problem> {
    let CreateComment { content, entity_id, entity_type, user_id, attachments, mentions } = body.0;
    must_be_own(&scope, user_id)?;
    let mentions = mentions.map_or_else(Vec::new, |ids| ids.iter().collect());
    let new = NewComment { content, entity_type, entity_id: entity_id.into_string(), mentions };
    let enclosures = attachments.map_or(Ok(Vec::new()), |files| files.open(&scope))?;
    let view = CommentView::from(comments::create(&api.ctx, &scope, new, enclosures).await?);
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

body! {
    /// The new text of a comment.
    UpdateComment {
        content "content": required CommentText = "The new text.",
        user_id "userId": optional UserId = "Your own user id; optional.",
    }
    example json!({"content": "Disks are encrypted since Tuesday."})
}

/// Changes your own comment
#[utoipa::path(
    put, path = "/v1/comments/{commentId}", tag = "Comments", request_body = UpdateComment,
    responses((status = 200, body = CommentView, description = "The comment as it is now."))
)]
pub(crate) async fn update_comment(
    api: State<Api>,
    scope: Granted<grant::CommentUpdate>,
    id: PathId<kind::Comment>,
    body: Valid<UpdateComment>,
) -> Result<Json<CommentView>, Problem> {
    let UpdateComment { content, user_id } = body.0;
    must_be_own(&scope, user_id)?;
    Ok(Json(comments::update(&api.ctx, &scope, id.found()?, content).await?.into()))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedCommentId": "cmt_01jcqg3v5mefzr7d0a6w3k9x2b", "message": "The comment is deleted."}))]
pub(crate) struct CommentDeletion {
    success: bool,
    #[schema(value_type = String, example = "cmt_01jcqg3v5mefzr7d0a6w3k9x2b")]
    deleted_comment_id: CommentId,
    message: &'static str,
}

/// Deletes your own comment
#[utoipa::path(
    delete, path = "/v1/comments/{commentId}", tag = "Comments", request_body(content = Option<OwnName>),
    responses((status = 200, body = CommentDeletion, description = "Deleted."))
)]
pub(crate) async fn delete_comment(
    api: State<Api>,
    scope: Granted<grant::CommentDelete>,
    id: PathId<kind::Comment>,
    body: Optional<OwnName>,
) -> Result<Json<CommentDeletion>, Problem> {
    must_be_own(&scope, body.0.and_then(|body| body.user_id))?;
    let deleted_comment_id = comments::delete(&api.ctx, &scope, id.found()?).await?;
    Ok(Json(CommentDeletion { success: true, deleted_comment_id, message: "The comment is deleted." }))
}
