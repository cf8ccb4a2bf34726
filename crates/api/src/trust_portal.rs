//! `/v1/trust-portal`: what the organization shows of itself.

pub(crate) mod certificates;
pub(crate) mod domains;
pub(crate) mod posts;

use attestry_app::portals::{self, Settings};
use attestry_domain::Time;
use attestry_domain::access::grant;
use attestry_domain::id::OrganizationId;
use attestry_domain::portals::{
    AgreementText, CertificateFramework, Days, DomainName, FriendlyUrl, PortalPatch, PortalStatus, Progress,
    Shown,
};
use attestry_domain::text::{Email, LongText};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::schema::ArrayBuilder;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::answer::conditions::{Conditions, with_tag};
use crate::answer::problem::Problem;
use crate::request::caller::Granted;
use crate::request::json::{FromJson, Json as JsonValue};
use crate::request::wire::Valid;
use crate::state::Api;

impl FromJson for Days {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let days = json.whole().and_then(Self::new);
        days.ok_or_else(|| format!("must be a whole number from 1 to {}", Self::MOST))
    }

    fn schema() -> RefOr<Schema> {
        <Self as PartialSchema>::schema()
    }
}

body! {
    /// What the portal says about a framework.
    PortalFramework {
        framework "framework": required CertificateFramework = "The framework.",
        enabled "enabled": required bool = "Whether the portal shows it, with its certificate if there is one.",
        status "status": required Progress = "How far the organization is.",
    }
    example json!({"framework": "iso_27001", "enabled": true, "status": "compliant"})
}

/// What is decided about some frameworks.
#[derive(Clone, Debug)]
pub(crate) struct PortalFrameworks(Vec<PortalFramework>);

impl FromJson for PortalFrameworks {
    fn from_json(json: &JsonValue) -> Result<Self, String> {
        let all: Vec<PortalFramework> = json.each_body(CertificateFramework::ALL.len())?;
        for (place, one) in all.iter().enumerate() {
            if all[..place].iter().any(|other| other.framework == one.framework) {
                return Err(format!("[{place}]: {} is given more than once", one.framework));
            }
        }
        Ok(Self(all))
    }

    fn schema() -> RefOr<Schema> {
        let most = CertificateFramework::ALL.len();
        ArrayBuilder::new().items(PortalFramework::schema()).max_items(Some(most)).into()
    }
}

body! {
    /// What to change in the portal. Fields that are left out stay as they are.
    UpdatePortal {
        friendly_url "friendlyUrl": nullable FriendlyUrl = "The portal's name in its address; unique. Without one, the organization's id.",
        status "status": optional PortalStatus = "Whether the public can see the portal.",
        domain "domain": nullable DomainName = "A domain of your own. It is used once its DNS records are found to be right.",
        contact_email "contactEmail": nullable Email = "Whom the public can write to.",
        overview "overview": nullable LongText = "What the organization says about its security.",
        frameworks "frameworks": optional PortalFrameworks = "What is shown of frameworks; those left out stay as they are.",
        nda_text "ndaText": nullable AgreementText = "Your own agreement in Markdown; null is ours. Placeholders: {{organization}}, {{name}}, {{email}}, {{company}}, {{jobTitle}}, {{date}}, {{duration}}.",
        default_duration_days "defaultDurationDays": optional Days = "For how many days access is given.",
    }
    example json!({"friendlyUrl": "analytical-engines", "status": "published", "frameworks": [{"framework": "iso_27001", "enabled": true, "status": "compliant"}]})
}

/// What the portal says about a framework.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PortalFrameworkView, example = json!({"framework": "iso_27001", "title": "ISO/IEC 27001", "enabled": true, "status": "compliant", "hasCertificate": true}))]
pub(crate) struct FrameworkView {
    #[schema(inline)]
    framework: CertificateFramework,
    title: &'static str,
    enabled: bool,
    #[schema(inline)]
    status: Progress,
    has_certificate: bool,
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
    #[schema(inline)]
    status: PortalStatus,
    /// Where the public finds the portal, once it is published.
    url: String,
    #[schema(required, value_type = Option<String>)]
    domain: Option<DomainName>,
    /// Since when the domain is proven to be yours.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    domain_verified_at: Option<Time>,
    /// Since when the records of the domain are no longer right.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    domain_broken_at: Option<Time>,
    #[schema(required)]
    contact_email: Option<String>,
    #[schema(required)]
    overview: Option<String>,
    /// All frameworks. One that nothing was decided about is shown once it has a certificate.
    frameworks: Vec<FrameworkView>,
    /// Your own agreement; null is ours.
    #[schema(required)]
    nda_text: Option<String>,
    #[schema(value_type = i64)]
    default_duration_days: Days,
    /// How many people are told what is new.
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
        "ndaText": null, "defaultDurationDays": 30, "subscriberCount": 12, "updatedAt": "2026-11-15T09:30:00.000Z"
    })
}

impl From<Settings> for SettingsView {
    fn from(settings: Settings) -> Self {
        let Settings { portal, frameworks, subscribers, url } = settings;
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
            nda_text: portal.nda_text,
            default_duration_days: portal.default_duration_days,
            subscriber_count: subscribers,
            updated_at: portal.updated_at,
        }
    }
}

/// What the answer is made of: the portal, its certificates and its subscribers.
fn versions(settings: &Settings) -> [i64; 3] {
    let certificates = settings.frameworks.iter().filter_map(|(_, _, one)| one.as_ref());
    let latest = certificates.fold(0, |sum: i64, one| sum.wrapping_add(one.updated_at.as_millis()));
    [settings.portal.version, latest, settings.subscribers]
}

/// Shows the settings of the trust portal
#[utoipa::path(
    get, path = "/v1/trust-portal/settings", tag = "Trust portal",
    responses((status = 200, body = SettingsView, description = "The settings.")),
    extensions(("x-permission" = json!("trust-portal:read")))
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
    ),
    extensions(("x-permission" = json!("trust-portal:update")))
)]
pub(crate) async fn update_portal_settings(
    api: State<Api>,
    scope: Granted<grant::PortalUpdate>,
    conditions: Conditions,
    body: Valid<UpdatePortal>,
) -> Result<Response, Problem> {
    let body = body.0;
    let shown = |one: PortalFramework| (one.framework, Shown { enabled: one.enabled, status: one.status });
    let patch = PortalPatch {
        friendly_url: body.friendly_url,
        status: body.status,
        domain: body.domain,
        contact_email: body.contact_email,
        overview: body.overview,
        frameworks: body.frameworks.map_or_else(Vec::new, |all| all.0.into_iter().map(shown).collect()),
        nda_text: body.nda_text,
        default_duration_days: body.default_duration_days,
    };
    let settings = portals::update(&api.ctx, &scope, patch, conditions.if_match()).await?;
    Ok(with_tag(StatusCode::OK, &versions(&settings), SettingsView::from(settings)))
}
