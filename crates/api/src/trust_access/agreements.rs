//! `/v1/trust-access/nda`: reading, signing and verifying agreements.

use attestry_app::files::attachments::too_large;
use attestry_app::trust_access::agreements::{self, Offer, Signed, Signing, Verified};
use attestry_domain::Time;
use attestry_domain::portals::Days;
use attestry_domain::portals::trust_access::{NdaStatus, PrintableName};
use attestry_domain::registers::attachments::FILE_LIMIT;
use attestry_domain::text::Email;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Guest;
use attestry_http::request::idempotency::WithoutSecret;
use attestry_http::request::uploads::RawFile;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::{GrantView, PreviewView, grant_example};

/// An agreement to sign, or a signed one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NdaOffer, example = json!({
    "organizationName": "Analytical Engines", "name": "Grace Hopper", "email": "grace@customer.example", "company": "Customer Inc.",
    "status": "pending", "text": "# Non-disclosure agreement", "plainText": "Non-disclosure agreement", "documentHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "durationDays": 30, "expiresAt": "2026-11-22T09:30:00.000Z"
}))]
pub(crate) struct OfferView {
    organization_name: String,
    /// The name of the person who requested access.
    name: String,
    email: String,
    #[schema(required)]
    company: Option<String>,
    #[schema(schema_with = schema_of::<NdaStatus>)]
    status: NdaStatus,
    /// The text of the agreement in Markdown.
    text: String,
    /// The text without Markdown formatting.
    plain_text: String,
    /// The SHA-256 of the text.
    document_hash: String,
    /// The duration of the access in days, from the signature.
    #[schema(value_type = i64)]
    duration_days: Days,
    /// The time until which it can be signed.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
}

impl From<Offer> for OfferView {
    fn from(Offer { nda, request, organization, .. }: Offer) -> Self {
        Self {
            organization_name: organization.name,
            name: request.name,
            email: request.email,
            company: request.company,
            status: nda.status,
            plain_text: agreements::plain(&nda.text),
            text: nda.text,
            document_hash: nda.text_sha256,
            duration_days: nda.duration_days,
            expires_at: nda.expires_at,
        }
    }
}

/// Shows the agreement of a link
#[utoipa::path(
    get, path = "/v1/trust-access/nda/{token}", tag = "Trust access",
    params(("token" = String, Path, description = "The token of the link in the e-mail.")),
    responses(
        (status = 200, body = OfferView, description = "The agreement."),
        (status = 410, description = "The link has expired, or another one was sent."),
    )
)]
pub(crate) async fn get_nda(
    api: State<Api>,
    guest: Guest,
    Path(token): Path<String>,
) -> Result<Json<OfferView>, Problem> {
    Ok(Json(agreements::open(&api.ctx, &token, guest.host).await?.into()))
}

/// Creates a preview of the agreement of a link
#[utoipa::path(
    post, path = "/v1/trust-access/nda/{token}/preview-nda", tag = "Trust access",
    params(("token" = String, Path, description = "The token of the link in the e-mail.")),
    responses(
        (status = 200, body = PreviewView, description = "The preview."),
        (status = 410, description = "The link has expired, or another one was sent."),
    )
)]
pub(crate) async fn preview_own_nda(
    api: State<Api>,
    guest: Guest,
    Path(token): Path<String>,
) -> Result<Json<PreviewView>, Problem> {
    Ok(Json(agreements::preview_by_token(&api.ctx, &token, guest.host).await?.into()))
}

body! {
    /// A signature.
    SignNda {
        name "name": required PrintableName = "Your full name.",
        email "email": required Email = "The address that requested access.",
        accept "accept": required bool = "Must be true: you agree to the text.",
    }
    example json!({"name": "Grace Hopper", "email": "grace@customer.example", "accept": true})
}

/// The grant and the links for the signer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NdaSigned, example = json!(signed_example()))]
pub(crate) struct SignedView {
    message: &'static str,
    grant: GrantView,
    /// The link to the signed agreement. Works for 15 minutes, for anyone who has it. A repeated request with the
    /// same `Idempotency-Key` gets null.
    #[schema(required)]
    pdf_download_url: Option<String>,
    /// The signer's personal link to the documents, which is also sent by e-mail. A repeated request with the same
    /// `Idempotency-Key` gets null.
    #[schema(required)]
    portal_url: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
}

fn signed_example() -> Value {
    json!({
        "message": "Thank you. You can read the documents now.", "grant": grant_example(),
        "pdfDownloadUrl": "https://compliance.example.com/v1/files/9rVq0mJxk2J6n0y8",
        "portalUrl": "https://compliance.example.com/trust/access?token=9rVq0mJxk2J6n0y8tQ4w5e7r1u3i6o8p0a2s4d6f8g0",
        "expiresAt": "2026-12-15T09:30:00.000Z"
    })
}

/// Signs the agreement of a link
///
/// Access begins immediately. Signing twice returns the same grant.
#[utoipa::path(
    post, path = "/v1/trust-access/nda/{token}/sign", tag = "Trust access", request_body = SignNda,
    params(("token" = String, Path, description = "The token of the link in the e-mail.")),
    responses(
        (status = 200, body = SignedView, description = "The grant, the signed agreement, and where the documents are."),
        (status = 403, description = "The address is not the one that requested access."),
        (status = 410, description = "The link has expired, another one was sent, or the access has ended."),
    )
)]
pub(crate) async fn sign_nda(
    api: State<Api>,
    guest: Guest,
    Path(token): Path<String>,
    body: Valid<SignNda>,
) -> Result<Response, Problem> {
    let SignNda { name, email, accept } = body.0;
    let signing = Signing { name, email, accept };
    let Signed { grant, file, portal } =
        agreements::sign(&api.ctx, &token, guest.host, signing, guest.origin).await?;
    let mut view = SignedView {
        message: "Thank you. You can read the documents now.",
        expires_at: grant.expires_at,
        grant: GrantView::new(grant, api.ctx.now()),
        pdf_download_url: None,
        portal_url: None,
    };
    let without_secret = WithoutSecret::of(&view)?;
    (view.pdf_download_url, view.portal_url) = (Some(file.0), Some(portal.0));
    let mut response = Json(view).into_response();
    response.extensions_mut().insert(without_secret);
    Ok(response)
}

/// The verification of a signed agreement.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NdaVerification, example = json!({
    "isSigned": true, "organizationName": "Analytical Engines", "name": "Grace Hopper", "email": "grace@customer.example",
    "signedAt": "2026-11-15T09:30:00.000Z", "code": "K3X9-W7AB-9RVQ-MJXK",
    "documentHash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "fileSha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
}))]
pub(crate) struct VerificationView {
    /// True if the agreement exists; for a file, true if it is identical to the signed agreement.
    is_signed: bool,
    #[schema(required)]
    organization_name: Option<String>,
    #[schema(required)]
    name: Option<String>,
    #[schema(required)]
    email: Option<String>,
    #[schema(required, value_type = Option<String>, format = DateTime)]
    signed_at: Option<Time>,
    #[schema(required)]
    code: Option<String>,
    /// The SHA-256 of the text of the agreement.
    #[schema(required)]
    document_hash: Option<String>,
    /// The SHA-256 of the signed file, as `sha256sum` prints it.
    #[schema(required)]
    file_sha256: Option<String>,
}

impl From<Option<Verified>> for VerificationView {
    fn from(found: Option<Verified>) -> Self {
        let signature = found.as_ref().map(|found| &found.signature);
        Self {
            is_signed: found.is_some(),
            name: signature.map(|signature| signature.name.clone()),
            email: signature.map(|signature| signature.email.clone()),
            signed_at: signature.map(|signature| signature.at),
            code: signature.map(|signature| signature.code.clone()),
            file_sha256: signature.map(|signature| signature.file_sha256.clone()),
            organization_name: found.as_ref().map(|found| found.organization.clone()),
            document_hash: found.map(|found| found.text_sha256),
        }
    }
}

/// Finds a signed agreement by the code in its file
///
/// Compare `fileSha256` with your file, or send the file itself.
#[utoipa::path(
    get, path = "/v1/trust-access/nda/verify/{code}", tag = "Trust access",
    params(("code" = String, Path, description = "The code on the last page of the file.")),
    responses((status = 200, body = VerificationView, description = "The agreement."))
)]
pub(crate) async fn verify_nda_code(
    api: State<Api>,
    guest: Guest,
    Path(code): Path<String>,
) -> Result<Json<VerificationView>, Problem> {
    Ok(Json(Some(agreements::by_code(&api.ctx, &code, guest.host).await?).into()))
}

body! {
    /// A file to verify.
    VerifyNda (Large) {
        file_data "fileData": required RawFile = "The PDF in base64; at most 10 MiB when decoded.",
    }
    example json!({"fileData": "aGVsbG8="})
}

/// Verifies that a file is a signed agreement, unchanged
#[utoipa::path(
    post, path = "/v1/trust-access/nda/verify", tag = "Trust access", request_body = VerifyNda,
    responses(
        (status = 200, body = VerificationView, description = "True if it is one of the issued ones, and its details."),
        (status = 413, description = "The file has more than 10 MiB."),
    )
)]
pub(crate) async fn verify_nda_file(
    api: State<Api>,
    guest: Guest,
    body: Valid<VerifyNda>,
) -> Result<Json<VerificationView>, Problem> {
    let data = body.0.file_data.read();
    let data = data.map_err(|message| attestry_app::Error::field("fileData", message))?;
    if data.size() > FILE_LIMIT {
        return Err(too_large().into());
    }
    Ok(Json(agreements::by_file(&api.ctx, &data.whole()?, guest.host).await?.into()))
}
