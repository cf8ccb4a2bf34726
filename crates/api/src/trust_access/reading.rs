//! `/v1/trust-access/access`: reading documents with an access link.

use attestry_app::trust_access::reading::{self, Readable};
use attestry_derive::View;
use attestry_domain::Time;
use attestry_domain::files::MediaType;
use attestry_domain::id::{PolicyId, kind};
use attestry_domain::policies::version::VersionNumber;
use attestry_domain::portals::{Certificate, CertificateFramework};
use attestry_http::answer::downloads::download;
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Guest;
use attestry_http::request::path::PathId;
use attestry_http::state::Api;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::Response;
use http::Method;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::trust_portal::certificates::{FrameworkSchema, framework};

/// The access that a link gives.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortalAccess, example = json!({
    "organizationName": "Analytical Engines", "name": "Grace Hopper", "email": "grace@customer.example",
    "expiresAt": "2026-12-15T09:30:00.000Z", "policies": [policy_example()], "complianceResources": [resource_example()]
}))]
pub(crate) struct AccessView {
    organization_name: String,
    name: String,
    email: String,
    #[schema(value_type = String, format = DateTime)]
    expires_at: Time,
    policies: Vec<PolicyView>,
    compliance_resources: Vec<ResourceView>,
}

/// A policy that the link gives access to.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Readable)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReadablePolicy, example = json!(policy_example()))]
pub(crate) struct PolicyView {
    #[schema(value_type = String)]
    #[view(one.policy.id)]
    id: PolicyId,
    #[view(one.version.name)]
    name: String,
    #[view(one.version.description)]
    description: String,
    #[schema(value_type = i64)]
    #[view(one.version.number)]
    version: VersionNumber,
    #[schema(value_type = String, format = DateTime)]
    #[view(one.version.published_at)]
    published_at: Time,
    /// False for a Word file, which cannot be watermarked.
    is_downloadable: bool,
}

fn policy_example() -> Value {
    json!({
        "id": "pol_01jcqg3v5mefzr7d0a6w3k9x2b", "name": "Access Control Policy", "description": "Who may see what.",
        "version": 2, "publishedAt": "2026-11-15T09:30:00.000Z", "isDownloadable": true
    })
}

/// A certificate that the link gives access to.
#[derive(Debug, Serialize, ToSchema, View)]
#[view(Certificate)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReadableCertificate, example = json!(resource_example()))]
pub(crate) struct ResourceView {
    #[schema(schema_with = schema_of::<CertificateFramework>)]
    framework: CertificateFramework,
    #[view(one.framework.title())]
    title: &'static str,
    file_name: String,
    /// The size of the file without the watermark, in bytes.
    file_size: i64,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn resource_example() -> Value {
    json!({
        "framework": "iso_27001", "title": "ISO/IEC 27001", "fileName": "certificate.pdf", "fileSize": 48213,
        "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

async fn open(api: &Api, guest: Guest, token: &str) -> Result<reading::Reader, Problem> {
    Ok(reading::open(&api.ctx, token, guest.host, guest.origin).await?)
}

/// Shows what a link gives access to
#[utoipa::path(
    get, path = "/v1/trust-access/access/{token}", tag = "Trust access",
    params(("token" = String, Path, description = "The token of the link.")),
    responses(
        (status = 200, body = AccessView, description = "The reader, the expiry of the access, and the documents."),
        (status = 410, description = "The access has expired or was revoked."),
    )
)]
pub(crate) async fn get_access(
    api: State<Api>,
    guest: Guest,
    Path(token): Path<String>,
    method: Method,
) -> Result<Json<AccessView>, Problem> {
    let reader = open(&api, guest, &token).await?;
    let policies = reading::policies(&api.ctx, &reader).await?;
    let certificates = reading::certificates(&api.ctx, &reader).await?;
    if method != Method::HEAD {
        reading::arrive(&api.ctx, &reader).await?;
    }
    Ok(Json(AccessView {
        organization_name: reader.organization.name,
        name: reader.grant.name,
        email: reader.grant.email,
        expires_at: reader.grant.expires_at,
        policies: policies.into_iter().map(Into::into).collect(),
        compliance_resources: certificates.into_iter().map(Into::into).collect(),
    }))
}

/// Lists the policies a link gives access to
#[utoipa::path(
    get, path = "/v1/trust-access/access/{token}/policies", tag = "Trust access",
    params(("token" = String, Path, description = "The token of the link.")),
    responses(
        (status = 200, body = Vec<PolicyView>, description = "The published policies."),
        (status = 410, description = "The access has expired or was revoked."),
    )
)]
pub(crate) async fn list_readable_policies(
    api: State<Api>,
    guest: Guest,
    Path(token): Path<String>,
) -> Result<Json<Vec<PolicyView>>, Problem> {
    let reader = open(&api, guest, &token).await?;
    Ok(Json(reading::policies(&api.ctx, &reader).await?.into_iter().map(Into::into).collect()))
}

/// Downloads all policies as one PDF
///
/// Every page shows the reader's name. Policies that are uploaded files are only mentioned; download them one by one.
#[utoipa::path(
    get, path = "/v1/trust-access/access/{token}/policies/download-all", tag = "Trust access",
    params(("token" = String, Path, description = "The token of the link.")),
    responses(
        (status = 200, content_type = "application/pdf", body = Vec<u8>, description = "The file."),
        (status = 409, description = "There are too many pages."),
        (status = 410, description = "The access has expired or was revoked."),
    )
)]
pub(crate) async fn download_readable_policies(
    api: State<Api>,
    guest: Guest,
    Path(token): Path<String>,
    method: Method,
) -> Result<Response, Problem> {
    let reader = open(&api, guest, &token).await?;
    Ok(download(MediaType::PDF, reading::all_policies(&api.ctx, &reader, method != Method::HEAD).await?))
}

/// Downloads a policy as PDF
///
/// Every page shows the reader's name.
#[utoipa::path(
    get, path = "/v1/trust-access/access/{token}/policies/{id}", tag = "Trust access",
    params(
        ("token" = String, Path, description = "The token of the link."),
    ),
    responses(
        (status = 200, content_type = "application/pdf", body = Vec<u8>, description = "The file."),
        (status = 409, description = "The policy is a file that cannot be watermarked."),
        (status = 410, description = "The access has expired or was revoked."),
    )
)]
pub(crate) async fn download_readable_policy(
    api: State<Api>,
    guest: Guest,
    path: Path<(String, String)>,
    id: PathId<kind::Policy>,
    method: Method,
) -> Result<Response, Problem> {
    let Path((token, _)) = path;
    let reader = open(&api, guest, &token).await?;
    Ok(download(
        MediaType::PDF,
        reading::policy(&api.ctx, &reader, id.found()?, method != Method::HEAD).await?,
    ))
}

/// Lists the certificates a link gives access to
#[utoipa::path(
    get, path = "/v1/trust-access/access/{token}/compliance-resources", tag = "Trust access",
    params(("token" = String, Path, description = "The token of the link.")),
    responses(
        (status = 200, body = Vec<ResourceView>, description = "The certificates."),
        (status = 410, description = "The access has expired or was revoked."),
    )
)]
pub(crate) async fn list_readable_certificates(
    api: State<Api>,
    guest: Guest,
    Path(token): Path<String>,
) -> Result<Json<Vec<ResourceView>>, Problem> {
    let reader = open(&api, guest, &token).await?;
    Ok(Json(reading::certificates(&api.ctx, &reader).await?.into_iter().map(Into::into).collect()))
}

/// Downloads a certificate
///
/// Every page shows the reader's name.
#[utoipa::path(
    get, path = "/v1/trust-access/access/{token}/compliance-resources/{framework}", tag = "Trust access",
    params(
        ("token" = String, Path, description = "The token of the link."),
        ("framework" = inline(FrameworkSchema), Path, description = "The certified framework."),
    ),
    responses(
        (status = 200, content_type = "application/pdf", body = Vec<u8>, description = "The file."),
        (status = 409, description = "The file cannot be watermarked."),
        (status = 410, description = "The access has expired or was revoked."),
    )
)]
pub(crate) async fn download_readable_certificate(
    api: State<Api>,
    guest: Guest,
    path: Path<(String, String)>,
    method: Method,
) -> Result<Response, Problem> {
    let Path((token, wanted)) = path;
    let reader = open(&api, guest, &token).await?;
    let wanted = framework(&wanted)?;
    Ok(download(
        MediaType::PDF,
        reading::certificate(&api.ctx, &reader, wanted, method != Method::HEAD).await?,
    ))
}
