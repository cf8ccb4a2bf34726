//! The public operations: viewing a portal, requesting access, subscribing.

use attestry_app::portals::public::{self, Form, Public, SubProcessor};
use attestry_app::portals::{Listed, subscribers};
use attestry_app::trust_access::{public_documents, requests};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::id::{AccessRequestId, OrganizationId, PortalPostId};
use attestry_domain::portals::trust_access::{NewRequest, PrintableName, RequestStatus};
use attestry_domain::portals::{
    CertificateFramework, Days, PortalDocument, PortalPost, Progress, Shown, Visibility,
};
use attestry_domain::text::{Email, LongText, Parse};
use attestry_http::answer::downloads::download;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{SchemaOf, schema_of};
use attestry_http::request::bodies::JSON;
use attestry_http::request::caller::Guest;
use attestry_http::request::json::Secret;
use attestry_http::request::query::ValidQuery;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::identity::auth::LinkToken;

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PublicFramework, example = json!({"framework": "iso_27001", "title": "ISO/IEC 27001", "status": "compliant"}))]
pub(crate) struct FrameworkView {
    #[schema(schema_with = schema_of::<CertificateFramework>)]
    framework: CertificateFramework,
    title: &'static str,
    #[schema(schema_with = schema_of::<Progress>)]
    status: Progress,
}

attestry_domain::words! {
    /// The kind of a document.
    DocumentKind {
        Certificate = "certificate",
        Policy = "policy",
    }
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PublicDocument, example = json!({"document": "iso_27001", "type": "certificate", "title": "ISO/IEC 27001", "visibility": "nda"}))]
pub(crate) struct DocumentView {
    /// The identifier for requests and downloads.
    #[schema(value_type = String)]
    document: PortalDocument,
    #[schema(schema_with = schema_of::<DocumentKind>)]
    r#type: DocumentKind,
    title: String,
    #[schema(schema_with = schema_of::<Visibility>)]
    visibility: Visibility,
}

#[derive(Debug, Serialize, ToSchema, View)]
#[view(SubProcessor)]
#[serde(rename_all = "camelCase")]
#[schema(as = PublicSubProcessor, example = json!({"name": "Cloud Hosting Ltd", "description": "Hosts our servers.", "category": "cloud", "website": "https://cloud.example"}))]
pub(crate) struct SubProcessorView {
    name: String,
    description: String,
    category: String,
    #[schema(required)]
    website: Option<String>,
}

#[derive(Debug, Serialize, ToSchema, View)]
#[view(PortalPost)]
#[serde(rename_all = "camelCase")]
#[schema(as = PublicPost, example = json!({"id": "tpp_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "Where is our data?", "text": "In the EU.", "publishedAt": "2026-11-15T09:30:00.000Z"}))]
pub(crate) struct PostView {
    #[schema(value_type = String)]
    id: PortalPostId,
    title: String,
    text: String,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    published_at: Option<Time>,
}

/// A trust portal as shown to the public.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PublicPortal, example = json!(portal_example()))]
pub(crate) struct PortalView {
    #[schema(value_type = String)]
    organization_id: OrganizationId,
    name: String,
    #[schema(required)]
    website: Option<String>,
    url: String,
    #[schema(required)]
    overview: Option<String>,
    #[schema(required)]
    contact_email: Option<String>,
    frameworks: Vec<FrameworkView>,
    /// The documents that are not hidden: anyone can download a `public` one, everyone who signed the agreement an
    /// `nda` one, and approved requesters one that is `on_request`.
    documents: Vec<DocumentView>,
    sub_processors: Vec<SubProcessorView>,
    updates: Vec<PostView>,
    questions: Vec<PostView>,
}

fn portal_example() -> Value {
    json!({
        "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Analytical Engines",
        "website": "https://engines.example", "url": "https://compliance.example.com/trust/analytical-engines",
        "overview": "How we look after your data.", "contactEmail": "security@engines.example",
        "frameworks": [{"framework": "iso_27001", "title": "ISO/IEC 27001", "status": "compliant"}],
        "documents": [{"document": "iso_27001", "type": "certificate", "title": "ISO/IEC 27001", "visibility": "nda"}],
        "subProcessors": [{"name": "Cloud Hosting Ltd", "description": "Hosts our servers.", "category": "cloud", "website": "https://cloud.example"}],
        "updates": [], "questions": [{"id": "tpp_01jcqg3v5mefzr7d0a6w3k9x2b", "title": "Where is our data?", "text": "In the EU.", "publishedAt": "2026-11-15T09:30:00.000Z"}]
    })
}

impl From<Public> for PortalView {
    fn from(shown: Public) -> Self {
        let framework = |(framework, Shown { status, .. }): (CertificateFramework, Shown)| FrameworkView {
            framework,
            title: framework.title(),
            status,
        };
        let document = |Listed { document, title, visibility }| {
            let r#type = match document {
                PortalDocument::Certificate(_) => DocumentKind::Certificate,
                PortalDocument::Policy(_) => DocumentKind::Policy,
            };
            DocumentView { document, r#type, title, visibility }
        };
        Self {
            organization_id: shown.organization.id,
            name: shown.organization.name,
            website: shown.organization.website,
            url: shown.url,
            overview: shown.portal.overview,
            contact_email: shown.portal.contact_email,
            frameworks: shown.frameworks.into_iter().map(framework).collect(),
            documents: shown.documents.into_iter().map(document).collect(),
            sub_processors: shown.sub_processors.into_iter().map(Into::into).collect(),
            updates: shown.updates.into_iter().map(Into::into).collect(),
            questions: shown.questions.into_iter().map(Into::into).collect(),
        }
    }
}

/// Shows a published trust portal
#[utoipa::path(
    get, path = "/v1/trust-access/{friendlyUrl}", tag = "Trust access",
    params(("friendlyUrl" = String, Path, description = "The portal's name in its address, or the organization's id.")),
    responses((status = 200, body = PortalView, description = "The portal as the public sees it."))
)]
pub(crate) async fn get_public_portal(
    api: State<Api>,
    guest: Guest,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let render = |shown| serde_json::to_vec(&PortalView::from(shown)).map_err(attestry_app::Error::internal);
    let page = public::page(&api.ctx, &name, guest.host, Form::Json, render).await?;
    Ok(([(CONTENT_TYPE, JSON)], page).into_response())
}

type DocumentSchema = SchemaOf<PortalDocument>;

/// Downloads a public document
///
/// Public documents are not watermarked; only files that are read with a link show the reader's name.
#[utoipa::path(
    get, path = "/v1/trust-access/{friendlyUrl}/documents/{document}", tag = "Trust access",
    params(
        ("friendlyUrl" = String, Path, description = "The portal's name in its address, or the organization's id."),
        ("document" = inline(DocumentSchema), Path, description = "The document, as the portal lists it."),
    ),
    responses((status = 200, content_type = "application/pdf", body = Vec<u8>, description = "The file."))
)]
pub(crate) async fn download_public_document(
    api: State<Api>,
    guest: Guest,
    Path((name, document)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let document = PortalDocument::parse(&document).map_err(|_| attestry_app::Error::NotFound("document"))?;
    let Guest { origin, host, .. } = guest;
    let (media_type, file) = public_documents::download(&api.ctx, &name, host, document, origin).await?;
    Ok(download(media_type, file))
}

body! {
    /// The person who requests access, and the purpose.
    RequestAccess (Medium) {
        name "name": required PrintableName = "Your name.",
        email "email": required Email = "Your address at work. Everything that follows is sent there.",
        company "company": optional PrintableName = "Your company.",
        job_title "jobTitle": optional PrintableName = "Your job.",
        purpose "purpose": optional LongText = "The reason for the request.",
        requested_duration_days "requestedDurationDays": optional Days = "For how many days.",
        documents "documents": optional Vec<PortalDocument> = "Documents you need that are given out on request only.",
    }
    example json!({"name": "Grace Hopper", "email": "grace@customer.example", "company": "Customer Inc.", "purpose": "Vendor assessment"})
}

/// The confirmation of a request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessRequested, example = json!({"id": "tar_01jcqg3v5mefzr7d0a6w3k9x2b", "status": "under_review", "message": "Thank you. You will receive a reply by e-mail."}))]
pub(crate) struct Requested {
    #[schema(value_type = String)]
    id: AccessRequestId,
    #[schema(schema_with = schema_of::<RequestStatus>)]
    status: RequestStatus,
    message: &'static str,
}

/// Requests access to the documents of a portal
///
/// The response is the same for everyone. If the address already has access, a new link is sent by e-mail.
#[utoipa::path(
    post, path = "/v1/trust-access/{friendlyUrl}/requests", tag = "Trust access", request_body = RequestAccess,
    params(("friendlyUrl" = String, Path, description = "The portal's name in its address, or the organization's id.")),
    responses((status = 201, body = Requested, description = "The request is taken."))
)]
pub(crate) async fn request_access(
    api: State<Api>,
    guest: Guest,
    Path(name): Path<String>,
    body: Valid<RequestAccess>,
) -> Result<(StatusCode, Json<Requested>), Problem> {
    let RequestAccess { name: who, email, company, job_title, purpose, requested_duration_days, documents } =
        body.0;
    let documents = documents.unwrap_or_default();
    let organization = guest.asks(&api, &name, &email).await?;
    let new =
        NewRequest { name: who, email, company, job_title, purpose, requested_duration_days, documents };
    let id = requests::create(&api.ctx, organization, new, guest.origin).await?;
    let message = "Thank you. You will receive a reply by e-mail.";
    Ok((StatusCode::CREATED, Json(Requested { id, status: RequestStatus::UnderReview, message })))
}

body! {
    /// Your e-mail address.
    GiveEmail {
        email "email": required Email = "Your address.",
    }
    example json!({"email": "grace@customer.example"})
}

#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PortalMessage, example = json!({"success": true, "message": "If this address has access, a link has been sent to it."}))]
pub(crate) struct MessageView {
    success: bool,
    message: &'static str,
}

fn said(message: &'static str) -> Json<MessageView> {
    Json(MessageView { success: true, message })
}

/// Sends a new access link
///
/// By e-mail only. The response is the same for everyone.
#[utoipa::path(
    post, path = "/v1/trust-access/{friendlyUrl}/reclaim", tag = "Trust access", request_body = GiveEmail,
    params(("friendlyUrl" = String, Path, description = "The portal's name in its address, or the organization's id.")),
    responses((status = 200, body = MessageView, description = "If the address has access, a link is on its way."))
)]
pub(crate) async fn reclaim_access(
    api: State<Api>,
    guest: Guest,
    Path(name): Path<String>,
    body: Valid<GiveEmail>,
) -> Result<Json<MessageView>, Problem> {
    let organization = guest.asks(&api, &name, &body.0.email).await?;
    requests::reclaim(&api.ctx, organization, body.0.email, guest.origin).await?;
    Ok(said("If this address has access, a link has been sent to it."))
}

/// Subscribes to the news of a portal
///
/// A confirmation link is sent to the address; nothing else is sent until it is confirmed.
#[utoipa::path(
    post, path = "/v1/trust-access/{friendlyUrl}/subscribers", tag = "Trust access", request_body = GiveEmail,
    params(("friendlyUrl" = String, Path, description = "The portal's name in its address, or the organization's id.")),
    responses((status = 200, body = MessageView, description = "A link is on its way, unless the address is subscribed already."))
)]
pub(crate) async fn subscribe(
    api: State<Api>,
    guest: Guest,
    Path(name): Path<String>,
    body: Valid<GiveEmail>,
) -> Result<Json<MessageView>, Problem> {
    let organization = guest.asks(&api, &name, &body.0.email).await?;
    subscribers::subscribe(&api.ctx, organization, body.0.email, guest.origin).await?;
    Ok(said("Follow the link in the e-mail to confirm the subscription."))
}

body! {
    /// The token from a link in a mail.
    SubscriptionToken {
        token "token": required Secret = "The token of the link.",
    }
    example json!({"token": "nonsense"})
}

/// Confirms a subscription by the link in the e-mail
#[utoipa::path(
    post, path = "/v1/trust-access/subscriptions/confirm", tag = "Trust access", request_body = SubscriptionToken,
    responses(
        (status = 200, body = MessageView, description = "The subscription is confirmed."),
        (status = 410, description = "The link is damaged or has been used."),
    )
)]
pub(crate) async fn confirm_subscription(
    api: State<Api>,
    guest: Guest,
    body: Valid<SubscriptionToken>,
) -> Result<Json<MessageView>, Problem> {
    subscribers::confirm(&api.ctx, &body.0.token.0, guest.host, guest.origin).await?;
    Ok(said("You are subscribed."))
}

/// Ends a subscription by the link in an e-mail
#[utoipa::path(
    post, path = "/v1/trust-access/subscriptions/unsubscribe", tag = "Trust access", request_body = SubscriptionToken,
    responses(
        (status = 200, body = MessageView, description = "The subscription is ended."),
        (status = 410, description = "The link is damaged."),
    )
)]
pub(crate) async fn end_subscription(
    api: State<Api>,
    guest: Guest,
    body: Valid<SubscriptionToken>,
) -> Result<Json<MessageView>, Problem> {
    subscribers::unsubscribe(&api.ctx, &body.0.token.0, guest.host, guest.origin).await?;
    Ok(said("You are unsubscribed."))
}

/// Ends a subscription for a mail program, which posts only `List-Unsubscribe=One-Click` (RFC 8058).
pub(crate) async fn leave_by_mail(
    api: State<Api>,
    guest: Guest,
    ValidQuery(LinkToken(token)): ValidQuery<LinkToken>,
) -> Result<&'static str, Problem> {
    subscribers::unsubscribe(&api.ctx, &token, guest.host, guest.origin).await?;
    Ok("You are unsubscribed.\n")
}
