//! `…/attachments` of whatever can have any, and `/v1/attachments`.

use attestry_app::attachments;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::attachments::{Attachment, AttachmentEntity};
use attestry_domain::id::{AttachmentId, CommentId, MemberId, RiskId, VendorId, kind};
use attestry_domain::page::{After, Key};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::{IntoParams, ToSchema};

use crate::caller::{Granted, OwnName, must_be_own};
use crate::conditions::Conditions;
use crate::lists;
use crate::path::{ParentId, PathId};
use crate::problem::Problem;
use crate::query::{Asked, FromQuery, Query};
use crate::state::Api;
use crate::uploads::{AttachmentForm, CreateAttachment, Sent};
use crate::wire::Optional;

const CURSOR: &str = "attachments";

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attachment, example = json!(attachment_example()))]
pub(crate) struct AttachmentView {
    #[schema(value_type = String, example = "att_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: AttachmentId,
    name: String,
    #[serde(rename = "type")]
    media_type: String,
    /// Bytes.
    size: i64,
    /// SHA-256 of the content, in hexadecimal digits.
    sha256: String,
    #[schema(required)]
    description: Option<String>,
    #[schema(inline)]
    entity_type: AttachmentEntity,
    entity_id: String,
    /// The member who attached it; null if the product made it.
    #[schema(required, value_type = Option<String>, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    uploaded_by: Option<MemberId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
}

impl From<Attachment> for AttachmentView {
    fn from(attachment: Attachment) -> Self {
        let Attachment {
            id,
            organization_id: _,
            entity_type,
            entity_id,
            name,
            media_type,
            size,
            sha256,
            description,
            uploaded_by,
            created_at,
        } = attachment;
        Self {
            id,
            name,
            media_type,
            size,
            sha256,
            description,
            entity_type,
            entity_id,
            uploaded_by,
            created_at,
        }
    }
}

fn attachment_example() -> Value {
    json!({
        "id": "att_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "access-review.txt", "type": "text/plain", "size": 9,
        "sha256": "7f2bcd4a6f4a2a5d70d4e7e6d4bb2a0c1a9c8a3c5ad0d53d7b8e6f21c0d4e9aa",
        "description": "Who may sign in, as of October.",
        "entityType": "risk", "entityId": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b",
        "uploadedBy": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "createdAt": "2026-11-15T09:30:00.000Z"
    })
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"data": [attachment_example()], "count": 1, "nextCursor": null}))]
pub(crate) struct AttachmentList {
    data: Vec<AttachmentView>,
    /// How many items this page holds.
    count: usize,
    #[schema(required)]
    next_cursor: Option<String>,
}

#[derive(Debug)]
pub(crate) struct ListAttachments {
    limit: u16,
    after: Option<After>,
}

impl FromQuery for ListAttachments {
    fn read(query: &mut Query) -> Self {
        let after = lists::cursor(query, CURSOR, |key| matches!(key, Key::Id));
        Self { limit: lists::limit(query), after }
    }
}

impl IntoParams for ListAttachments {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        lists::plain_parameters()
    }
}

/// Where a file can be fetched for a while.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"downloadUrl": "https://compliance.example.com/v1/files/aGVsbG8", "expiresIn": 900}))]
pub(crate) struct AttachmentLink {
    /// Needs no credentials: whoever has it can fetch the file.
    download_url: String,
    /// Seconds.
    expires_in: u64,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedAttachmentId": "att_01jcqg3v5mefzr7d0a6w3k9x2b", "message": "The attachment is deleted."}))]
pub(crate) struct AttachmentDeletion {
    success: bool,
    #[schema(value_type = String, example = "att_01jcqg3v5mefzr7d0a6w3k9x2b")]
    deleted_attachment_id: AttachmentId,
    message: &'static str,
}

/// The five operations on the attachments of one kind of thing.
macro_rules! attachments_of {
    (
        $noun:literal $tag:literal $kind:ident $id:ident $parent:literal see $see:ident $see_word:literal
        $all:literal $one:literal $download:literal;
        $list:ident $list_grant:ident $list_word:literal;
        $create:ident $create_grant:ident $create_word:literal;
        $get:ident;
        $link:ident;
        $delete:ident $delete_grant:ident $delete_word:literal;
    ) => {
        #[utoipa::path(
            get, path = $all, tag = $tag, summary = concat!("Lists what is attached to a ", $noun),
            description = concat!("Needs the permission `", $see_word, "` besides."),
            params(ListAttachments, ($parent = inline($id), Path, description = concat!("The ", $noun, "'s id."))),
            responses((status = 200, body = AttachmentList, description = "The attachments, newest first.")),
            extensions(("x-permission" = json!($list_word)))
        )]
        pub(crate) async fn $list(
            api: State<Api>,
            scope: Granted<grant::$list_grant>,
            _sees: Granted<grant::$see>,
            id: PathId<kind::$kind>,
            asked: Asked<ListAttachments>,
        ) -> Result<Json<AttachmentList>, Problem> {
            let Asked(ListAttachments { limit, after }) = asked;
            let page = attachments::list(&api.ctx, &scope, id.found()?, limit, after).await?;
            let next_cursor = lists::next_cursor(CURSOR, page.next);
            let data: Vec<AttachmentView> = page.items.into_iter().map(Into::into).collect();
            Ok(Json(AttachmentList { count: data.len(), data, next_cursor }))
        }

        #[utoipa::path(
            post, path = $all, tag = $tag, summary = concat!("Attaches a file to a ", $noun),
            description = concat!("Needs the permission `", $see_word, "` besides."),
            params(($parent = inline($id), Path, description = concat!("The ", $noun, "'s id."))),
            request_body(content((CreateAttachment = "application/json"), (AttachmentForm = "multipart/form-data"))),
            responses((status = 201, body = AttachmentView, description = "The file is stored.")),
            extensions(("x-permission" = json!($create_word)))
        )]
        pub(crate) async fn $create(
            api: State<Api>,
            scope: Granted<grant::$create_grant>,
            _sees: Granted<grant::$see>,
            id: PathId<kind::$kind>,
            sent: Sent,
        ) -> Result<Response, Problem> {
            let stored = sent.store(&api, &scope, id.found()?.into()).await?;
            let view = AttachmentView::from(attachments::create(&api.ctx, &scope, stored).await?);
            Ok((StatusCode::CREATED, Json(view)).into_response())
        }

        #[utoipa::path(
            get, path = $one, tag = $tag, summary = concat!("Shows what is known of a file that is attached to a ", $noun),
            description = concat!("Needs the permission `", $see_word, "` besides."),
            params(
                ($parent = inline($id), Path, description = concat!("The ", $noun, "'s id.")),
                ("attachmentId" = inline(AttachmentId), Path, description = "The attachment's id.")
            ),
            responses((status = 200, body = AttachmentView, description = "The attachment, without its content.")),
            extensions(("x-permission" = json!($list_word)))
        )]
        pub(crate) async fn $get(
            api: State<Api>,
            scope: Granted<grant::$list_grant>,
            _sees: Granted<grant::$see>,
            parent: ParentId<kind::$kind>,
            id: PathId<kind::Attachment>,
            conditions: Conditions,
        ) -> Result<Response, Problem> {
            let target = Some(parent.found()?.into());
            let found = attachments::get(&api.ctx, &scope, target, id.found()?).await?;
            Ok(conditions.respond(&[Attachment::VERSION], AttachmentView::from(found)))
        }

        #[utoipa::path(
            get, path = $download, tag = $tag,
            summary = concat!("Makes a link to a file that is attached to a ", $noun),
            description = concat!("Needs the permission `", $see_word, "` besides."),
            params(
                ($parent = inline($id), Path, description = concat!("The ", $noun, "'s id.")),
                ("attachmentId" = inline(AttachmentId), Path, description = "The attachment's id.")
            ),
            responses((status = 200, body = AttachmentLink, description = "The link, and how long it lives.")),
            extensions(("x-permission" = json!($list_word)))
        )]
        pub(crate) async fn $link(
            api: State<Api>,
            scope: Granted<grant::$list_grant>,
            _sees: Granted<grant::$see>,
            parent: ParentId<kind::$kind>,
            id: PathId<kind::Attachment>,
        ) -> Result<Json<AttachmentLink>, Problem> {
            link(&api, &scope, Some(parent.found()?.into()), id.found()?).await
        }

        #[utoipa::path(
            delete, path = $one, tag = $tag, request_body(content = OwnName),
            summary = concat!("Deletes a file that is attached to a ", $noun),
            description = concat!("Needs the permission `", $see_word, "` besides."),
            params(
                ($parent = inline($id), Path, description = concat!("The ", $noun, "'s id.")),
                ("attachmentId" = inline(AttachmentId), Path, description = "The attachment's id.")
            ),
            responses((status = 200, body = AttachmentDeletion, description = "It is gone, and the file with it.")),
            extensions(("x-permission" = json!($delete_word)))
        )]
        pub(crate) async fn $delete(
            api: State<Api>,
            scope: Granted<grant::$delete_grant>,
            _sees: Granted<grant::$see>,
            parent: ParentId<kind::$kind>,
            id: PathId<kind::Attachment>,
            conditions: Conditions,
            body: Optional<OwnName>,
        ) -> Result<Json<AttachmentDeletion>, Problem> {
            must_be_own(&scope, body.0.and_then(|body| body.user_id))?;
            let (parent, precondition) = (parent.found()?, conditions.if_match());
            let deleted = attachments::delete(&api.ctx, &scope, parent, id.found()?, precondition).await?;
            Ok(Json(AttachmentDeletion {
                success: true,
                deleted_attachment_id: deleted.id,
                message: "The attachment is deleted.",
            }))
        }
    };
}

attachments_of! {
    "risk" "Risks" Risk RiskId "id" see RiskRead "risk:read"
    "/v1/risks/{id}/attachments" "/v1/risks/{id}/attachments/{attachmentId}" "/v1/risks/{id}/attachments/{attachmentId}/download";
    list_risk_attachments AttachmentRead "attachment:read";
    create_risk_attachment AttachmentCreate "attachment:create";
    get_risk_attachment;
    get_risk_attachment_link;
    delete_risk_attachment AttachmentDelete "attachment:delete";
}

attachments_of! {
    "vendor" "Vendors" Vendor VendorId "id" see VendorRead "vendor:read"
    "/v1/vendors/{id}/attachments" "/v1/vendors/{id}/attachments/{attachmentId}" "/v1/vendors/{id}/attachments/{attachmentId}/download";
    list_vendor_attachments AttachmentRead "attachment:read";
    create_vendor_attachment AttachmentCreate "attachment:create";
    get_vendor_attachment;
    get_vendor_attachment_link;
    delete_vendor_attachment AttachmentDelete "attachment:delete";
}

attachments_of! {
    "comment" "Comments" Comment CommentId "commentId" see CommentRead "comment:read"
    "/v1/comments/{commentId}/attachments" "/v1/comments/{commentId}/attachments/{attachmentId}" "/v1/comments/{commentId}/attachments/{attachmentId}/download";
    list_comment_attachments CommentRead "comment:read";
    create_comment_attachment CommentUpdate "comment:update";
    get_comment_attachment;
    get_comment_attachment_link;
    delete_comment_attachment CommentUpdate "comment:update";
}

async fn link(
    api: &Api,
    scope: &attestry_domain::access::Scope,
    target: Option<attachments::Target>,
    id: AttachmentId,
) -> Result<Json<AttachmentLink>, Problem> {
    let (link, lifetime) = attachments::link(&api.ctx, scope, target, id).await?;
    Ok(Json(AttachmentLink { download_url: link.0, expires_in: lifetime.as_secs() }))
}

/// Makes a link to an attached file, whatever it is attached to
#[utoipa::path(
    get, path = "/v1/attachments/{id}/download", tag = "Attachments",
    params(("id" = inline(AttachmentId), Path, description = "The attachment's id.")),
    responses((status = 200, body = AttachmentLink, description = "The link, and how long it lives.")),
    extensions(("x-permission" = json!("attachment:read")))
)]
pub(crate) async fn get_attachment_link(
    api: State<Api>,
    scope: Granted<grant::AttachmentRead>,
    id: PathId<kind::Attachment>,
) -> Result<Json<AttachmentLink>, Problem> {
    link(&api, &scope, None, id.found()?).await
}
