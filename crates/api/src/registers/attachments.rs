//! `…/attachments` of all records that can have attachments, and `/v1/attachments`.

use attestry_app::files::Link;
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::lists::{self, ById, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::listed::{Listed, Operations};
use attestry_http::document::operations::{Described, capitalized, json_of};
use attestry_http::document::schemas::{reference, schema_of};
use attestry_http::request::caller::{Granted, OwnName, must_be_own};
use attestry_http::request::facts::Route;
use attestry_http::request::path::{ParentId, PathId};
use attestry_http::request::query::ValidQuery;
use attestry_http::request::uploads::{AttachmentForm, CreateAttachment, Sent};
use attestry_http::request::wire::Optional;
use attestry_http::state::Api;
use std::time::Duration;

use attestry_app::files::attachments::{self, Target};
use attestry_derive::View;
use attestry_domain::access::{Grant, grant};
use attestry_domain::date::Date;
use attestry_domain::id::{AttachmentId, Kind, MemberId, RunId, kind};
use attestry_domain::registers::attachments::Attachment;
use attestry_domain::registers::subjects::Subject;
use attestry_domain::{Time, subjects};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::path::HttpMethod;
use utoipa::{IntoParams, PartialSchema, ToSchema};

#[derive(Debug, Serialize, ToSchema, View)]
#[view(Attachment)]
#[serde(rename_all = "camelCase")]
#[schema(as = Attachment, example = json!(attachment_example()))]
pub(crate) struct AttachmentView {
    #[schema(value_type = String, example = "att_01jcqg3v5mefzr7d0a6w3k9x2b")]
    id: AttachmentId,
    name: String,
    #[serde(rename = "type")]
    media_type: String,
    /// The size in bytes.
    size: i64,
    /// The SHA-256 of the content, in hexadecimal.
    sha256: String,
    #[schema(required)]
    description: Option<String>,
    /// The day that it is evidence for.
    #[schema(required, value_type = Option<String>, format = Date)]
    effective_date: Option<Date>,
    /// The automation run that created it; null if a member attached it.
    #[schema(required, value_type = Option<String>, example = "ear_01jcqg3v5mefzr7d0a6w3k9x2b")]
    #[view(one.run.map(|run| run.id))]
    run_id: Option<RunId>,
    /// The version of the automation that created it.
    #[schema(required)]
    #[view(one.run.map(|run| run.version))]
    automation_version: Option<i64>,
    #[schema(schema_with = schema_of::<Subject>)]
    entity_type: Subject,
    entity_id: String,
    /// The member who attached it; null if the product created it.
    #[schema(required, value_type = Option<String>, example = "mem_01jcqg3v5mefzr7d0a6w3k9x2b")]
    uploaded_by: Option<MemberId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
}

fn attachment_example() -> Value {
    json!({
        "id": "att_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "access-review.txt", "type": "text/plain", "size": 9,
        "sha256": "7f2bcd4a6f4a2a5d70d4e7e6d4bb2a0c1a9c8a3c5ad0d53d7b8e6f21c0d4e9aa",
        "description": "Who may sign in, as of October.", "effectiveDate": null, "runId": null, "automationVersion": null,
        "entityType": "risk", "entityId": "rsk_01jcqg3v5mefzr7d0a6w3k9x2b",
        "uploadedBy": "mem_01jcqg3v5mefzr7d0a6w3k9x2b", "createdAt": "2026-11-15T09:30:00.000Z"
    })
}

page_of! {
    pub(crate) AttachmentList = AttachmentView, "AttachmentList", attachment_example()
}

/// A temporary download link.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"downloadUrl": "https://compliance.example.com/v1/files/aGVsbG8", "expiresIn": 900}))]
pub(crate) struct AttachmentLink {
    /// Requires no credentials: anyone who has the link can download the file.
    download_url: String,
    /// The lifetime of the link in seconds.
    expires_in: u64,
}

impl AttachmentLink {
    pub(crate) fn new(link: Link, lifetime: Duration) -> Self {
        Self { download_url: link.0, expires_in: lifetime.as_secs() }
    }
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

/// A kind of record that can have attachments, with its path and permissions.
trait Holder: 'static {
    const SUBJECT: Subject;
    type Kind: Kind;
    /// The permission to see the record itself.
    type See: Grant;
    type Read: Grant;
    type Create: Grant;
    type Delete: Grant;
    /// The path of the record, such as `/v1/risks/{id}`.
    const PATH: &'static str;
    /// The plural of its name.
    const MANY: &'static str;
}

async fn list<H: Holder>(
    api: State<Api>,
    scope: Granted<H::Read>,
    _sees: Granted<H::See>,
    id: PathId<H::Kind>,
    query: ValidQuery<ById>,
) -> Result<Json<AttachmentList>, Problem> {
    let ValidQuery(ById { limit, after, total }) = query;
    let target = Target::new(H::SUBJECT, id.found()?);
    let page = attachments::list(&api.ctx, &scope, target.clone(), limit, after).await?;
    let total = if total { Some(attachments::count(&api.ctx, &scope, target).await?) } else { None };
    let next_cursor = lists::next_id(page.next);
    Ok(Json(PageView::new(page.items, next_cursor, total)))
}

async fn create<H: Holder>(
    api: State<Api>,
    scope: Granted<H::Create>,
    _sees: Granted<H::See>,
    id: PathId<H::Kind>,
    sent: Sent,
) -> Result<Response, Problem> {
    let stored = sent.store(&api, &scope, Target::new(H::SUBJECT, id.found()?)).await?;
    let view = AttachmentView::from(attachments::create(&api.ctx, &scope, stored).await?);
    Ok((StatusCode::CREATED, Json(view)).into_response())
}

async fn show<H: Holder>(
    api: State<Api>,
    scope: Granted<H::Read>,
    _sees: Granted<H::See>,
    parent: ParentId<H::Kind>,
    id: PathId<kind::Attachment>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let target = Target::new(H::SUBJECT, parent.found()?);
    let found = attachments::get(&api.ctx, &scope, Some(target), id.found()?).await?;
    Ok(conditions.respond(&[Attachment::VERSION], AttachmentView::from(found)))
}

async fn show_link<H: Holder>(
    api: State<Api>,
    scope: Granted<H::Read>,
    _sees: Granted<H::See>,
    parent: ParentId<H::Kind>,
    id: PathId<kind::Attachment>,
) -> Result<Json<AttachmentLink>, Problem> {
    link(&api, &scope, Some(Target::new(H::SUBJECT, parent.found()?)), id.found()?).await
}

async fn remove<H: Holder>(
    api: State<Api>,
    scope: Granted<H::Delete>,
    _sees: Granted<H::See>,
    parent: ParentId<H::Kind>,
    id: PathId<kind::Attachment>,
    conditions: Conditions,
    body: Optional<OwnName>,
) -> Result<Json<AttachmentDeletion>, Problem> {
    must_be_own(&scope, body.0.and_then(|body| body.user_id))?;
    let target = Target::new(H::SUBJECT, parent.found()?);
    let deleted = attachments::delete(&api.ctx, &scope, target, id.found()?, conditions.if_match()).await?;
    Ok(Json(AttachmentDeletion {
        success: true,
        deleted_attachment_id: deleted.id,
        message: "The attachment is deleted.",
    }))
}

/// Adds the five operations on the attachments of one kind of record.
fn routes_of<H: Holder>(all: Listed) -> Listed {
    let noun = H::Kind::NOUN;
    let (one, download) = ("/{attachmentId}", "/{attachmentId}/download");
    let listed = operation::<H>("", Route::new(HttpMethod::Get, list::<H>), move || {
        let summary = format!("Lists the files attached to a {noun}");
        told::<H>(format!("list_{noun}_attachments"), summary).takes(ById::into_params(|| None)).answers(
            200,
            "The attachments, newest first.",
            json_of("AttachmentList"),
        )
    });
    let created = operation::<H>("", Route::new(HttpMethod::Post, create::<H>), move || {
        let summary = format!("Attaches a file to a {noun}");
        let forms = json!({
            "application/json": {"schema": reference("CreateAttachment")},
            "multipart/form-data": {"schema": reference("AttachmentForm")}
        });
        told::<H>(format!("create_{noun}_attachment"), summary).reads(forms).answers(
            201,
            "The file is stored.",
            json_of("Attachment"),
        )
    });
    let shown = operation::<H>(one, Route::new(HttpMethod::Get, show::<H>), move || {
        let summary = format!("Shows the details of a file attached to a {noun}");
        told::<H>(format!("get_{noun}_attachment"), summary).answers(
            200,
            "The details, without the content.",
            json_of("Attachment"),
        )
    });
    let removed = operation::<H>(one, Route::new(HttpMethod::Delete, remove::<H>), move || {
        let summary = format!("Deletes a file attached to a {noun}");
        told::<H>(format!("delete_{noun}_attachment"), summary)
            .may_read(json_of("OwnName"))
            .fails(409, "The file is the text of a policy, or of a version of one.")
            .answers(200, "Deleted, and the file with it.", json_of("AttachmentDeletion"))
    });
    let linked = operation::<H>(download, Route::new(HttpMethod::Get, show_link::<H>), move || {
        let summary = format!("Makes a link to a file attached to a {noun}");
        told::<H>(format!("get_{noun}_attachment_link"), summary)
            .says("The audit log records this as a download.")
            .answers(200, "The link, and how long it works.", json_of("AttachmentLink"))
    });
    [listed, created, shown, removed, linked].into_iter().fold(all, Listed::routes)
}

fn operation<H: Holder>(
    under: &'static str,
    route: Route,
    described: impl FnOnce() -> Described + 'static,
) -> Operations {
    Operations::described(format!("{}/attachments{under}", H::PATH), route, described)
}

/// Returns the documentation that all operations on attachments have in common.
fn told<H: Holder>(id: String, summary: String) -> Described {
    Described::new(id, summary).tagged(capitalized(H::MANY))
}

/// Adds the attachment routes of every kind of record.
pub(crate) fn routes(mut all: Listed) -> Listed {
    macro_rules! holders {
        ([] $($name:ident $word:literal $many:literal $parameter:literal $see:ty, $what:ident $type:ty;)*) => {
            $({
                enum $name {}
                impl Holder for $name {
                    const SUBJECT: Subject = Subject::$name;
                    type Kind = kind::$name;
                    type See = $see;
                    const PATH: &'static str = concat!("/v1/", $many, "/{", $parameter, "}");
                    const MANY: &'static str = $many;
                    holders!(@$what);
                }
                all = all.with(routes_of::<$name>);
            })*
        };
        (@register) => {
            type Read = grant::AttachmentRead;
            type Create = grant::AttachmentCreate;
            type Delete = grant::AttachmentDelete;
        };
        (@comment) => {
            type Read = grant::CommentRead;
            type Create = grant::CommentUpdate;
            type Delete = grant::CommentUpdate;
        };
    }
    subjects!(holders);
    all.schemas(|| {
        vec![
            ("AttachmentList", AttachmentList::schema()),
            ("Attachment", AttachmentView::schema()),
            ("AttachmentDeletion", AttachmentDeletion::schema()),
            ("CreateAttachment", CreateAttachment::schema()),
            ("AttachmentForm", AttachmentForm::schema()),
            ("OwnName", OwnName::schema()),
        ]
    })
}

async fn link(
    api: &Api,
    scope: &attestry_domain::access::Scope,
    target: Option<Target>,
    id: AttachmentId,
) -> Result<Json<AttachmentLink>, Problem> {
    let (link, lifetime) = attachments::link(&api.ctx, scope, target, id).await?;
    Ok(Json(AttachmentLink::new(link, lifetime)))
}

/// Creates a link to an attached file of any record
///
/// The audit log records this as a download.
#[utoipa::path(
    get, path = "/v1/attachments/{id}/download", tag = "Attachments",
    responses((status = 200, body = AttachmentLink, description = "The link, and how long it works."))
)]
pub(crate) async fn get_attachment_link(
    api: State<Api>,
    scope: Granted<grant::AttachmentRead>,
    id: PathId<kind::Attachment>,
) -> Result<Json<AttachmentLink>, Problem> {
    link(&api, &scope, None, id.found()?).await
}
