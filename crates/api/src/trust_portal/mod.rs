//! `/v1/trust-portal`: the settings and content of the organization's trust portal.

pub(crate) mod certificates;
pub(crate) mod domains;
pub(crate) mod posts;

use attestry_app::portals::{self, Listed, Settings};
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::hash::sha256;
use attestry_domain::id::OrganizationId;
use attestry_domain::portals::{
    AgreementText, CertificateFramework, Days, DomainName, FriendlyUrl, MAX_DOCUMENTS, PortalDocument,
    PortalPatch, PortalStatus, Progress, Shown, Visibility,
};
use attestry_domain::text::{Email, LongText};
use attestry_http::answer::conditions::{Conditions, with_tag};
use attestry_http::answer::problem::Problem;
use attestry_http::document::schemas::schema_of;
use attestry_http::request::caller::Granted;
use attestry_http::request::json::{FromJson, Json as JsonValue, distinct};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::trust_access::page;

body! {
    /// The settings of a framework on the portal.
    PortalFramework {
        framework "framework": required CertificateFramework = "The framework.",
        enabled "enabled": required bool = "True if the portal shows it, with its certificate if there is one.",
        status "status": required Progress = "The progress of the organization.",
    }
    example json!({"framework": "iso_27001", "enabled": true, "status": "compliant"})
}

/// The settings of frameworks on the portal.
#[derive(Clone, Debug)]
pub(crate) struct PortalFrameworks(Vec<PortalFramework>);

impl FromJson for PortalFrameworks {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let all = json.each_body(CertificateFramework::ALL.len())?;
        distinct(all, |one: &PortalFramework| one.framework).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        let most = CertificateFramework::ALL.len();
        ArrayBuilder::new().items(PortalFramework::schema()).max_items(Some(most)).into()
    }
}

body! {
    /// The visibility of a document.
    PortalDocumentChoice {
        document "document": required PortalDocument = "The framework of a certificate, or the id of a policy.",
        visibility "visibility": required Visibility = "`hidden`: nobody outside learns of it. `on_request`: listed, and read by those who asked for it and were approved. `nda`: listed, and read by everybody who signed the agreement. `public`: read by anybody.",
    }
    example json!({"document": "iso_27001", "visibility": "nda"})
}

/// The visibility of documents.
#[derive(Clone, Debug)]
pub(crate) struct PortalDocumentChoices(Vec<PortalDocumentChoice>);

impl FromJson for PortalDocumentChoices {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let all = json.each_body(MAX_DOCUMENTS)?;
        distinct(all, |one: &PortalDocumentChoice| one.document).map(Self)
    }

    fn schema() -> RefOr<Schema> {
        ArrayBuilder::new().items(PortalDocumentChoice::schema()).max_items(Some(MAX_DOCUMENTS)).into()
    }
}

body! {
    /// The settings of the portal to change. Fields that are left out stay as they are.
    UpdatePortal (Large) {
        friendly_url "friendlyUrl": nullable FriendlyUrl = "The portal's name in its address; unique. Without one, the organization's id.",
        status "status": optional PortalStatus = "The visibility of the portal.",
        domain "domain": nullable DomainName = "A domain of your own. It is used once its DNS records are found to be right.",
        contact_email "contactEmail": nullable Email = "The address for questions from the public.",
        overview "overview": nullable LongText = "The organization's own words about its security.",
        frameworks "frameworks": optional PortalFrameworks = "The frameworks that are shown; those left out stay as they are.",
        documents "documents": optional PortalDocumentChoices = "The visibility of documents; those left out stay as they are. A document without a choice is hidden.",
        nda_text "ndaText": nullable AgreementText = "Your own agreement in Markdown; null is ours. Placeholders: {{organization}}, {{name}}, {{email}}, {{company}}, {{jobTitle}}, {{date}}, {{duration}}.",
        default_duration_days "defaultDurationDays": optional Days = "For how many days access is given.",
    }
    example json!({"friendlyUrl": "analytical-engines", "status": "published", "frameworks": [{"framework": "iso_27001", "enabled": true, "status": "compliant"}]})
}

impl From<UpdatePortal> for PortalPatch {
    fn from(body: UpdatePortal) -> Self {
        let shown =
            |one: PortalFramework| (one.framework, Shown { enabled: one.enabled, status: one.status });
        Self {
            friendly_url: body.friendly_url,
            status: body.status,
            domain: body.domain,
            contact_email: body.contact_email,
            overview: body.overview,
            frameworks: body.frameworks.map_or_else(Vec::new, |all| all.0.into_iter().map(shown).collect()),
            documents: body.documents.map_or_else(Vec::new, |all| {
                all.0.into_iter().map(|one| (one.document, one.visibility)).collect()
            }),
            nda_text: body.nda_text,
            default_duration_days: body.default_duration_days,
        }
    }
}

/// A framework on the portal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortalFrameworkView, example = json!({"framework": "iso_27001", "title": "ISO/IEC 27001", "enabled": true, "status": "compliant", "hasCertificate": true}))]
pub(crate) struct FrameworkView {
    #[schema(schema_with = schema_of::<CertificateFramework>)]
    framework: CertificateFramework,
    title: &'static str,
    enabled: bool,
    #[schema(schema_with = schema_of::<Progress>)]
    status: Progress,
    has_certificate: bool,
}

/// A document and its visibility.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortalDocument, example = json!({"document": "iso_27001", "title": "ISO/IEC 27001", "visibility": "nda"}))]
pub(crate) struct DocumentView {
    /// The framework of a certificate, or the id of a policy.
    #[schema(value_type = String)]
    document: PortalDocument,
    title: String,
    #[schema(schema_with = schema_of::<Visibility>)]
    visibility: Visibility,
}

/// The trust portal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortalSettings, example = json!(settings_example()))]
pub(crate) struct SettingsView {
    #[schema(value_type = String)]
    organization_id: OrganizationId,
    #[schema(required, value_type = Option<String>)]
    friendly_url: Option<FriendlyUrl>,
    #[schema(schema_with = schema_of::<PortalStatus>)]
    status: PortalStatus,
    /// The public URL of the portal, once it is published.
    url: String,
    #[schema(required, value_type = Option<String>)]
    domain: Option<DomainName>,
    /// The time since which your ownership of the domain is verified.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    domain_verified_at: Option<Time>,
    /// The time since which the DNS records of the domain are no longer correct.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    domain_broken_at: Option<Time>,
    #[schema(required)]
    contact_email: Option<String>,
    #[schema(required)]
    overview: Option<String>,
    /// All frameworks. A framework without a setting is shown once it has a certificate.
    frameworks: Vec<FrameworkView>,
    /// All certificates and published policies. A document without a setting is hidden.
    documents: Vec<DocumentView>,
    /// Your own agreement; null uses the default one.
    #[schema(required)]
    nda_text: Option<String>,
    #[schema(value_type = i64)]
    default_duration_days: Days,
    /// The number of subscribers to the portal's news.
    subscriber_count: i64,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Time,
}

fn settings_example() -> Value {
    json!({
        "organizationId": "org_01jcqg3v5mefzr7d0a6w3k9x2b", "friendlyUrl": "analytical-engines",
        "status": "published", "url": "https://compliance.example.com/trust/analytical-engines",
        "domain": "trust.engines.example", "domainVerifiedAt": null, "domainBrokenAt": null,
        "contactEmail": "security@engines.example", "overview": "How we look after your data.",
        "frameworks": [{"framework": "iso_27001", "title": "ISO/IEC 27001", "enabled": true, "status": "compliant", "hasCertificate": true}],
        "documents": [{"document": "iso_27001", "title": "ISO/IEC 27001", "visibility": "nda"}],
        "ndaText": null, "defaultDurationDays": 30, "subscriberCount": 12, "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl From<Settings> for SettingsView {
    fn from(settings: Settings) -> Self {
        let Settings { portal, documents, frameworks, subscribers, url } = settings;
        let document = |Listed { document, title, visibility }| DocumentView { document, title, visibility };
        let view = |(framework, Shown { enabled, status }, certificate): (
            CertificateFramework,
            Shown,
            Option<_>,
        )| {
            let (title, has_certificate) = (framework.title(), certificate.is_some());
            FrameworkView { framework, title, enabled, status, has_certificate }
        };
        Self {
            organization_id: portal.organization_id,
            friendly_url: portal.friendly_url,
            status: portal.status,
            url,
            domain: portal.domain,
            domain_verified_at: portal.domain_state.verified_at,
            domain_broken_at: portal.domain_state.broken_at,
            contact_email: portal.contact_email,
            overview: portal.overview,
            frameworks: frameworks.into_iter().map(view).collect(),
            documents: documents.into_iter().map(document).collect(),
            nda_text: portal.nda_text,
            default_duration_days: portal.default_duration_days,
            subscriber_count: subscribers,
            updated_at: portal.updated_at,
        }
    }
}

/// Returns the versions of the portal, its certificates, its subscribers and its documents, for the ETag.
fn versions(settings: &Settings) -> [i64; 4] {
    let certificates = settings.frameworks.iter().filter_map(|(_, _, one)| one.as_ref());
    let latest = certificates.fold(0, |sum: i64, one| sum.wrapping_add(one.updated_at.as_millis()));
    let titles: Vec<&str> = settings.documents.iter().map(|one| one.title.as_str()).collect();
    let mut digest = [0; 8];
    digest.copy_from_slice(&sha256(titles.join("\n").as_bytes())[..8]);
    [settings.portal.version, latest, settings.subscribers, i64::from_be_bytes(digest)]
}

/// Shows the settings of the trust portal
#[utoipa::path(
    get, path = "/v1/trust-portal/settings", tag = "Trust portal",
    responses((status = 200, body = SettingsView, description = "The settings."))
)]
pub(crate) async fn get_portal_settings(
    api: State<Api>,
    scope: Granted<grant::PortalRead>,
    conditions: Conditions,
) -> Result<Response, Problem> {
    let settings = portals::get(&api.ctx, &scope).await?;
    Ok(conditions.respond(&versions(&settings), SettingsView::from(settings)))
}

/// Changes the settings of the trust portal
#[utoipa::path(
    patch, path = "/v1/trust-portal/settings", tag = "Trust portal", request_body = UpdatePortal,
    responses(
        (status = 200, body = SettingsView, description = "The settings as they are now."),
        (status = 409, description = "Another portal has this `friendlyUrl`, or the domain belongs to another organization."),
    )
)]
pub(crate) async fn update_portal_settings(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    conditions: Conditions,
    body: Valid<UpdatePortal>,
) -> Result<Response, Problem> {
    let patch = body.0.into();
    let settings = portals::update(&api.ctx, &scope, patch, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &versions(&settings), SettingsView::from(settings)))
}

/// Previews the public page of the trust portal
///
/// Returns the page as visitors would see it with these changes, in the language of `Accept-Language` and without
/// scripts. Nothing is saved.
#[utoipa::path(
    post, path = "/v1/trust-portal/preview", tag = "Trust portal", request_body = UpdatePortal,
    responses((status = 200, content_type = "text/html", body = String, description = "The page."))
)]
pub(crate) async fn preview_portal(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    headers: HeaderMap,
    body: Valid<UpdatePortal>,
) -> Result<Response, Problem> {
    page::preview(&api, &scope, body.0.into(), &headers).await
}
