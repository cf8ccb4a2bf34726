//! `/v1/trust-portal/compliance-resources`: certificates, one per framework.

use attestry_app::files::attachments::too_large;
use attestry_app::portals::certificates;
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::files::{FileName, MediaType};
use attestry_domain::id::OrganizationId;
use attestry_domain::portals::{Certificate, CertificateFramework};
use attestry_domain::registers::attachments::FILE_LIMIT;
use attestry_domain::text::Parse;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::{SchemaOf, schema, schema_of};
use attestry_http::request::caller::{Granted, must_be_same_organization};
use attestry_http::request::json::{FromJson, Json as JsonValue};
use attestry_http::request::uploads::RawFile;
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{Path, State};
use http::StatusCode;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

body! {
    /// A certificate to upload.
    UploadCertificate (Large) {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        framework "framework": required CertificateFramework = "The certified framework; an existing certificate is replaced.",
        file_name "fileName": required FileName = "The file name; any path is removed.",
        file_type "fileType": required PdfType = "The media type of a PDF.",
        file_data "fileData": required PdfData = "The PDF in base64; at most 10 MiB when decoded.",
    }
    example json!({
        "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "framework": "iso_27001", "fileName": "certificate.pdf",
        "fileType": "application/pdf", "fileData": EXAMPLE_PDF
    })
}

/// The media type of a PDF.
#[derive(Clone, Debug)]
pub(crate) struct PdfType(MediaType);

impl FromJson for PdfType {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        MediaType::from_json(json).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        schema(json!({"type": "string", "enum": [MediaType::PDF]}))
    }
}

/// A PDF in base64 that has not been checked yet.
#[derive(Clone, Debug)]
pub(crate) struct PdfData(RawFile);

impl FromJson for PdfData {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        RawFile::from_json(json).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        let mut written = json!(RawFile::schema());
        written["examples"] = json!([EXAMPLE_PDF]);
        schema(written)
    }
}

/// A minimal PDF in base64.
const EXAMPLE_PDF: &str = include_str!("example.pdf.base64");

/// A certificate.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Certificate)]
#[serde(rename_all = "camelCase")]
#[schema(as = ComplianceResource, example = json!({"framework": "iso_27001", "fileName": "certificate.pdf", "fileSize": 48213, "updatedAt": "2026-11-15T09:30:00.000Z"}))]
pub(crate) struct CertificateView {
    #[schema(schema_with = schema_of::<CertificateFramework>)]
    framework: CertificateFramework,
    file_name: String,
    /// The size in bytes.
    file_size: i64,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

/// Uploads a certificate, replacing the existing one
///
/// The file must be a PDF that can be watermarked: not encrypted, not damaged, without attachments.
#[utoipa::path(
    post, path = "/v1/trust-portal/compliance-resources/upload", tag = "Trust portal", request_body = UploadCertificate,
    responses(
        (status = 201, body = CertificateView, description = "The certificate."),
        (status = 413, description = "The file has more than 10 MiB."),
    )
)]
pub(crate) async fn upload_certificate(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    body: Valid<UploadCertificate>,
) -> Result<(StatusCode, Json<CertificateView>), Problem> {
    let UploadCertificate { organization_id, framework, file_name, file_type, file_data } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let field = |name: &str, message: &str| Problem::from(attestry_app::Error::field(name, message));
    let data = file_data.0.read().map_err(|message| field("fileData", &message))?;
    if data.size() > FILE_LIMIT {
        return Err(too_large().into());
    }
    if file_type.0.as_str() != MediaType::PDF {
        return Err(field("fileType", "must be application/pdf"));
    }
    let content = data.whole()?;
    let made = certificates::upload(&api.ctx, &scope, framework, file_name, content).await?;
    Ok((StatusCode::CREATED, Json(made.into())))
}

body! {
    /// The organization whose certificates to list.
    ListCertificates {
        organization_id "organizationId": required OrganizationId = "Your organization.",
    }
    example json!({"organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b"})
}

/// Lists the certificates
#[utoipa::path(
    post, path = "/v1/trust-portal/compliance-resources/list", tag = "Trust portal", request_body = ListCertificates,
    responses((status = 200, body = Vec<CertificateView>, description = "The certificates, by framework."))
)]
pub(crate) async fn list_certificates(
    api: State<Api>,
    scope: Granted<grant::PortalRead>,
    body: Valid<ListCertificates>,
) -> Result<Json<Vec<CertificateView>>, Problem> {
    must_be_same_organization(&scope, body.0.organization_id)?;
    Ok(Json(certificates::list(&api.ctx, &scope).await?.into_iter().map(Into::into).collect()))
}

body! {
    /// The certificate to link to.
    NameCertificate {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        framework "framework": required CertificateFramework = "The certified framework.",
    }
    example json!({"organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "framework": "iso_27001"})
}

/// A link to a certificate.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CertificateLink, example = json!({"signedUrl": "https://compliance.example.com/v1/files/9rVq0mJxk2J6n0y8", "fileName": "certificate.pdf", "fileSize": 48213}))]
pub(crate) struct LinkView {
    /// Works for 15 minutes, for anyone who has it.
    signed_url: String,
    file_name: String,
    file_size: i64,
}

/// Creates a link to a certificate as it was uploaded
#[utoipa::path(
    post, path = "/v1/trust-portal/compliance-resources/signed-url", tag = "Trust portal", request_body = NameCertificate,
    responses(
        (status = 200, body = LinkView, description = "The link."),
        (status = 404, description = "There is no certificate for this framework."),
    )
)]
pub(crate) async fn get_certificate_link(
    api: State<Api>,
    scope: Granted<grant::PortalRead>,
    body: Valid<NameCertificate>,
) -> Result<Json<LinkView>, Problem> {
    let NameCertificate { organization_id, framework } = body.0;
    must_be_same_organization(&scope, organization_id)?;
    let (found, link) = certificates::link(&api.ctx, &scope, framework).await?;
    Ok(Json(LinkView { signed_url: link.0, file_name: found.file_name, file_size: found.file_size }))
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"success": true, "deletedFramework": "iso_27001"}))]
pub(crate) struct CertificateDeletion {
    success: bool,
    #[schema(schema_with = schema_of::<CertificateFramework>)]
    deleted_framework: CertificateFramework,
}

pub(crate) type FrameworkSchema = SchemaOf<CertificateFramework>;

/// Parses the framework in a path; an unknown one is not found.
pub(crate) fn framework(text: &str) -> Result<CertificateFramework, Problem> {
    CertificateFramework::parse(text).map_err(|_| Problem::not_found("certificate"))
}

/// Deletes a certificate
#[utoipa::path(
    delete, path = "/v1/trust-portal/compliance-resources/{framework}", tag = "Trust portal",
    params(("framework" = inline(FrameworkSchema), Path, description = "The certified framework.")),
    responses((status = 200, body = CertificateDeletion, description = "The certificate is deleted."))
)]
pub(crate) async fn delete_certificate(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    Path(wanted): Path<String>,
) -> Result<Json<CertificateDeletion>, Problem> {
    let deleted = certificates::delete(&api.ctx, &scope, framework(&wanted)?).await?;
    Ok(Json(CertificateDeletion { success: true, deleted_framework: deleted.framework }))
}
