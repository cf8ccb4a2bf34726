//! The review of access requests.

use attestry_app::trust_access::{agreements, requests};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::{AccessGrantId, AccessRequestId, MemberId, NdaId, kind};
use attestry_domain::portals::trust_access::{
    AccessRequest, Nda, NdaStatus, RequestSort, RequestStatus, Signature,
};
use attestry_domain::portals::{Days, PortalDocument};
use attestry_http::answer::conditions::Conditions;
use attestry_http::answer::lists::{self, PageView};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::path::PathId;
use attestry_http::request::query::ValidQuery;
use attestry_http::request::wire::{Optional, Valid};
use attestry_http::state::Api;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{GiveReason, OfStatus, PreviewView};
use crate::registers::attachments::AttachmentLink;

/// A request for access.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(AccessRequest)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessRequest, example = json!(request_example()))]
pub(crate) struct RequestView {
    #[schema(value_type = String)]
    id: AccessRequestId,
    name: String,
    email: String,
    #[schema(required)]
    company: Option<String>,
    #[schema(required)]
    job_title: Option<String>,
    #[schema(required)]
    purpose: Option<String>,
    #[schema(required, value_type = Option<i64>)]
    requested_duration_days: Option<Days>,
    /// The requested documents; once the request is approved, the granted ones.
    #[schema(value_type = Vec<String>)]
    documents: Vec<PortalDocument>,
    #[schema(schema_with = schema_of::<RequestStatus>)]
    status: RequestStatus,
    #[schema(required, value_type = Option<String>)]
    reviewed_by: Option<MemberId>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    reviewed_at: Option<Time>,
    #[schema(required)]
    denial_reason: Option<String>,
    /// The resulting grant, or the one that already existed.
    #[schema(required, value_type = Option<String>)]
    grant_id: Option<AccessGrantId>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn request_example() -> Value {
    json!({
        "id": "tar_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Grace Hopper", "email": "grace@customer.example",
        "company": "Customer Inc.", "jobTitle": "Security analyst", "purpose": "Vendor assessment",
        "requestedDurationDays": 30, "documents": ["soc2_type2"], "status": "under_review", "reviewedBy": null, "reviewedAt": null,
        "denialReason": null, "grantId": null, "createdAt": "2026-11-15T09:30:00.000Z",
        "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

/// A non-disclosure agreement that was sent.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Nda)]
#[serde(rename_all = "camelCase")]
#[schema(as = NdaAgreement, example = json!(nda_example()))]
pub(crate) struct NdaView {
    #[schema(value_type = String)]
    id: NdaId,
    #[schema(schema_with = schema_of::<NdaStatus>)]
    status: NdaStatus,
    /// The SHA-256 of the text of the agreement.
    #[view(one.text_sha256)]
    document_hash: String,
    /// The duration of the access in days, from the signature.
    #[schema(value_type = i64)]
    duration_days: Days,
    #[schema(value_type = String, format = DateTime)]
    created_at: Time,
    /// The time until which it can be signed.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
    #[schema(required)]
    #[view(one.signature.map(Into::into))]
    signature: Option<SignatureView>,
}

/// The signature of an agreement.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Signature)]
#[serde(rename_all = "camelCase")]
#[schema(as = NdaSignature, example = json!(signature_example()))]
pub(crate) struct SignatureView {
    name: String,
    email: String,
    #[schema(value_type = String, format = DateTime)]
    #[view(one.at)]
    signed_at: Time,
    #[schema(required)]
    ip: Option<String>,
    /// The verification code that the signed file shows.
    code: String,
    file_sha256: String,
}

fn signature_example() -> Value {
    json!({
        "name": "Grace Hopper", "email": "grace@customer.example", "signedAt": "2026-11-15T09:30:00.000Z",
        "ip": "203.0.113.7", "code": "K3X9-W7AB-9RVQ-MJXK",
        "fileSha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    })
}

fn nda_example() -> Value {
    json!({
        "id": "tna_01jcqg3v5mefzr7d0a6w3k9x2b", "status": "pending",
        "documentHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "durationDays": 30,
        "createdAt": "2026-11-15T09:30:00.000Z", "expiresAt": "2026-11-22T09:30:00.000Z", "signature": null
    })
}

page_of! {
    pub(crate) RequestList = RequestView, "AccessRequests", request_example()
}

/// Lists the requests for access
#[utoipa::path(
    get, path = "/v1/trust-access/admin/requests", tag = "Trust access", params(OfStatus<RequestStatus, RequestSort>),
    responses((status = 200, body = RequestList, description = "The requests, newest first by default."))
)]
pub(crate) async fn list_access_requests(
    api: State<Api>,
    scope: Granted<grant::AccessRead>,
    ValidQuery(OfStatus { status, page, total }): ValidQuery<OfStatus<RequestStatus, RequestSort>>,
) -> Result<Json<RequestList>, Problem> {
    let (sort, order) = (page.sort, page.order);
    let found = requests::list(&api.ctx, &scope, status.clone(), page).await?;
    let total = if total { Some(requests::count(&api.ctx, &scope, status).await?) } else { None };
    Ok(Json(PageView::new(found.items, lists::cursor_of(sort, order, found.next), total)))
}

/// A request and the agreement that was sent for it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessRequestDetails, example = json!(details_example()))]
pub(crate) struct DetailsView {
    #[serde(flatten)]
    request: RequestView,
    /// The agreement that was sent last.
    #[schema(required)]
    nda_agreement: Option<NdaView>,
}

fn details_example() -> Value {
    let mut example = request_example();
    example["ndaAgreement"] = nda_example();
    example
}

/// Shows a request for access
#[utoipa::path(
    get, path = "/v1/trust-access/admin/requests/{id}", tag = "Trust access",
    responses((status = 200, body = DetailsView, description = "The request, and the agreement that was sent for it."))
)]
pub(crate) async fn get_access_request(
    api: State<Api>,
    scope: Granted<grant::AccessRead>,
    id: PathId<kind::AccessRequest>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let (request, nda) = requests::get(&api.ctx, &scope, id.found()?).await?;
    // Sending an agreement again does not change the version of the request.
    let versions = [request.version, nda.as_ref().map_or(0, |nda| nda.created_at.as_millis())];
    let view = DetailsView { request: request.into(), nda_agreement: nda.map(Into::into) };
    Ok(conditions.respond(&versions, view))
}

body! {
    /// The terms of an approval.
    ApproveAccess (Medium) {
        duration_days "durationDays": optional Days = "For how many days access is given; as was asked for, or else the portal's default, if left out.",
        documents "documents": optional Vec<PortalDocument> = "The documents on request that are granted; those that were asked for, if left out.",
    }
    example json!({"durationDays": 30, "documents": []})
}

/// The result of an approval.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AccessApproval, example = json!({"request": request_example(), "ndaAgreement": nda_example(), "message": "The agreement is on its way to grace@customer.example."}))]
pub(crate) struct ApprovalView {
    request: RequestView,
    nda_agreement: NdaView,
    message: String,
}

impl ApprovalView {
    fn new((request, nda): (AccessRequest, Nda)) -> Self {
        let message = format!("The agreement is on its way to {}.", request.email);
        Self { request: request.into(), nda_agreement: nda.into(), message }
    }
}

/// Approves a request for access
///
/// The requester gets the agreement by e-mail and has seven days to sign it. The body can be left out.
#[utoipa::path(
    post, path = "/v1/trust-access/admin/requests/{id}/approve", tag = "Trust access", request_body = Option<ApproveAccess>,
    responses(
        (status = 200, body = ApprovalView, description = "The request, and the agreement that was sent."),
        (status = 409, description = "The request was approved or denied before."),
    )
)]
pub(crate) async fn approve_access_request(
    api: State<Api>,
    scope: Granted<grant::AccessReview>,
    id: PathId<kind::AccessRequest>,
    body: Optional<ApproveAccess>,
) -> Result<Json<ApprovalView>, Problem> {
    let (days, documents) = body.0.map_or((None, None), |body| (body.duration_days, body.documents));
    let approved = requests::approve(&api.ctx, &scope, id.found()?, days, documents).await?;
    Ok(Json(ApprovalView::new(approved)))
}

/// Denies a request for access
///
/// The requester gets the reason by e-mail.
#[utoipa::path(
    post, path = "/v1/trust-access/admin/requests/{id}/deny", tag = "Trust access", request_body = GiveReason,
    responses(
        (status = 200, body = RequestView, description = "The request."),
        (status = 409, description = "The request was approved or denied before."),
    )
)]
pub(crate) async fn deny_access_request(
    api: State<Api>,
    scope: Granted<grant::AccessReview>,
    id: PathId<kind::AccessRequest>,
    body: Valid<GiveReason>,
) -> Result<Json<RequestView>, Problem> {
    Ok(Json(requests::deny(&api.ctx, &scope, id.found()?, body.0.reason).await?.into()))
}

/// Sends the agreement of an approved request again
///
/// With a new link that is valid for seven days; the previous link stops working.
#[utoipa::path(
    post, path = "/v1/trust-access/admin/requests/{id}/resend-nda", tag = "Trust access",
    responses(
        (status = 200, body = ApprovalView, description = "The request, and the agreement that was sent."),
        (status = 409, description = "The request is not approved, or the agreement is signed."),
    )
)]
pub(crate) async fn resend_nda(
    api: State<Api>,
    scope: Granted<grant::AccessReview>,
    id: PathId<kind::AccessRequest>,
) -> Result<Json<ApprovalView>, Problem> {
    Ok(Json(ApprovalView::new(requests::resend(&api.ctx, &scope, id.found()?).await?)))
}

/// Creates a preview of the agreement for a request
///
/// Possible in every status of the request. The preview says PREVIEW on each page and is stored for a day.
#[utoipa::path(
    post, path = "/v1/trust-access/admin/requests/{id}/preview-nda", tag = "Trust access",
    responses((status = 200, body = PreviewView, description = "The preview."))
)]
pub(crate) async fn preview_nda(
    api: State<Api>,
    scope: Granted<grant::AccessRead>,
    id: PathId<kind::AccessRequest>,
) -> Result<Json<PreviewView>, Problem> {
    Ok(Json(agreements::preview(&api.ctx, &scope, id.found()?).await?.into()))
}

/// Creates a link to the signed agreement of a request
#[utoipa::path(
    get, path = "/v1/trust-access/admin/requests/{id}/nda/download", tag = "Trust access",
    responses((status = 200, body = AttachmentLink, description = "The link."))
)]
pub(crate) async fn download_nda(
    api: State<Api>,
    scope: Granted<grant::AccessRead>,
    id: PathId<kind::AccessRequest>,
) -> Result<Json<AttachmentLink>, Problem> {
    let (link, lifetime) = agreements::download(&api.ctx, &scope, id.found()?).await?;
    Ok(Json(AttachmentLink::new(link, lifetime)))
}
