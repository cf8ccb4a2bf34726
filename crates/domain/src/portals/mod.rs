//! The trust portal: the public page of an organization, its certificates, and news for subscribers.

pub mod trust_access;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use url::Host;

use crate::id::{CertificateId, MemberId, OrganizationId, PolicyId, PortalPostId, SubscriberId};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::patch::Patch;
use crate::plain::{Keep, Plain, PlainKind};
use crate::row::Row;
use crate::text::{AnyText, Email, LongText, Name, Parse, Text};
use crate::time::Time;

crate::words! {
    /// The framework that a certificate is for.
    CertificateFramework {
        Iso27001 = "iso_27001",
        Iso42001 = "iso_42001",
        Gdpr = "gdpr",
        Hipaa = "hipaa",
        Soc2Type1 = "soc2_type1",
        Soc2Type2 = "soc2_type2",
        PciDss = "pci_dss",
        Nen7510 = "nen_7510",
        Iso9001 = "iso_9001",
    }
}

impl CertificateFramework {
    pub fn title(self) -> &'static str {
        match self {
            Self::Iso27001 => "ISO/IEC 27001",
            Self::Iso42001 => "ISO/IEC 42001",
            Self::Gdpr => "GDPR",
            Self::Hipaa => "HIPAA",
            Self::Soc2Type1 => "SOC 2 Type 1",
            Self::Soc2Type2 => "SOC 2 Type 2",
            Self::PciDss => "PCI DSS",
            Self::Nen7510 => "NEN 7510",
            Self::Iso9001 => "ISO 9001",
        }
    }
}

crate::words! {
    /// The publication status of a portal.
    #[derive(Default)]
    PortalStatus {
        #[default]
        Draft = "draft",
        Published = "published",
    }
}

crate::words! {
    /// The progress of an organization with a framework.
    Progress {
        Started = "started",
        InProgress = "in_progress",
        Compliant = "compliant",
    }
}

crate::words! {
    /// The access level of a document.
    #[derive(Default)]
    Visibility {
        /// Not visible outside of the organization.
        #[default]
        Hidden = "hidden",
        /// Listed; readable by visitors who requested this document and were approved.
        OnRequest = "on_request",
        /// Listed; readable by all visitors who signed the agreement.
        Nda = "nda",
        /// Readable by everyone.
        Public = "public",
    }
}

impl Visibility {
    /// Returns true when a visitor with a grant may read the document. `is_granted` is true when this document was
    /// requested and approved.
    pub fn opens(self, is_granted: bool) -> bool {
        match self {
            Self::Hidden => false,
            Self::OnRequest => is_granted,
            Self::Nda | Self::Public => true,
        }
    }
}

/// A document of a portal: a certificate by its framework, or a policy by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PortalDocument {
    Certificate(CertificateFramework),
    Policy(PolicyId),
}

impl fmt::Display for PortalDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate(framework) => framework.fmt(f),
            Self::Policy(id) => id.fmt(f),
        }
    }
}

impl Parse for PortalDocument {
    fn parse(text: &str) -> Result<Self, String> {
        let certificate = || CertificateFramework::parse(text).ok().map(Self::Certificate);
        PolicyId::read(text).map(Self::Policy).or_else(certificate).ok_or_else(|| {
            "must be the framework of a certificate, such as iso_27001, or the id of a policy".to_owned()
        })
    }
}

impl Serialize for PortalDocument {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PortalDocument {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'_, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for PortalDocument {
    fn json_schema() -> Value {
        json!({"type": "string", "maxLength": 40, "examples": ["iso_27001"]})
    }
}

/// The maximum number of documents in one request.
pub const MAX_DOCUMENTS: usize = 1_000;

impl Given for Vec<PortalDocument> {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        json.each(MAX_DOCUMENTS, PortalDocument::given)
    }

    fn accepted() -> Value {
        json!({"type": "array", "items": PortalDocument::json_schema(), "maxItems": MAX_DOCUMENTS})
    }
}

/// The pattern of a friendly URL: 3 to 63 lower-case letters, digits and hyphens, with a letter or a digit at both
/// ends.
const SLUG: &str = "^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$";

/// The name of a portal in its URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FriendlyUrl(String);

impl FriendlyUrl {
    /// Path segments that the product uses itself.
    const RESERVED: &[&str] = &[
        "access",
        "admin",
        "api",
        "confirm",
        "leave",
        "nda",
        "organization",
        "portal",
        "subscriptions",
        "trust",
    ];

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

impl Parse for FriendlyUrl {
    fn parse(text: &str) -> Result<Self, String> {
        let is_fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if !(3..=63).contains(&text.len())
            || !text.bytes().all(is_fine)
            || text.starts_with('-')
            || text.ends_with('-')
        {
            return Err(
                "must be 3 to 63 lower-case letters, digits and hyphens, with no hyphen at either end"
                    .to_owned(),
            );
        }
        if Self::RESERVED.contains(&text) {
            return Err(format!("must be another word; {text} is used by the product itself"));
        }
        Ok(Self(text.to_owned()))
    }
}

crate::kept_as_stored!(FriendlyUrl, DomainName);

impl JsonSchema for FriendlyUrl {
    fn json_schema() -> Value {
        json!({
            "type": "string", "minLength": 3, "maxLength": 63, "pattern": SLUG,
            "examples": ["analytical-engines"]
        })
    }
}

/// The custom domain of a portal, in lower-case ASCII.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct DomainName(String);

impl DomainName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Parse for DomainName {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || "must be a host name such as trust.example.com, without https:// or a path".to_owned();
        let text = text.trim();
        if text.chars().count() > 253 || text.contains('%') {
            return Err(wrong());
        }
        let Ok(Host::Domain(name)) = Host::parse(text) else { return Err(wrong()) };
        let name = name.strip_suffix('.').unwrap_or(&name);
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        };
        let is_top = |label: &str| label.len() >= 2 && !label.bytes().all(|b| b.is_ascii_digit());
        match name.rsplit_once('.') {
            Some((_, top)) if name.len() <= 253 && is_top(top) && name.split('.').all(is_label) => {
                Ok(Self(name.to_owned()))
            }
            _ => Err(wrong()),
        }
    }
}

impl JsonSchema for DomainName {
    fn json_schema() -> Value {
        json!({"type": "string", "minLength": 4, "maxLength": 253, "examples": ["trust.example.com"]})
    }
}

/// The duration of access in days.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Days(i64);

impl Days {
    pub const MAX: i64 = 365;
    pub const USUAL: Self = Self(30);

    pub fn new(days: i64) -> Option<Self> {
        (1..=Self::MAX).contains(&days).then_some(Self(days))
    }

    pub fn get(self) -> i64 {
        self.0
    }

    /// The end of a period that starts at `time`.
    pub fn after(self, time: Time) -> Time {
        time.plus(std::time::Duration::from_hours(24 * self.0.unsigned_abs()))
    }
}

impl Keep for Days {
    const KIND: PlainKind = PlainKind::Int;

    fn plain(&self) -> Plain<'_> {
        Plain::Int(self.0)
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        let days = Keep::kept(value)?;
        Self::new(days).ok_or_else(|| format!("{days} is no number of days"))
    }
}

impl JsonSchema for Days {
    fn json_schema() -> Value {
        json!({"type": "integer", "minimum": 1, "maximum": Self::MAX, "examples": [30]})
    }
}

impl Given for Days {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        let days = json.whole().and_then(Self::new);
        days.ok_or_else(|| format!("must be a whole number from 1 to {}", Self::MAX))
    }
}

/// An agreement in Markdown.
pub type AgreementText = Text<1, 50_000>;

/// The setting and the status of a framework on a portal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    pub enabled: bool,
    pub status: Progress,
}

impl Shown {
    /// The default for a framework without a setting.
    pub fn usual(has_certificate: bool) -> Self {
        let status = if has_certificate { Progress::Compliant } else { Progress::Started };
        Self { enabled: has_certificate, status }
    }
}

/// The verification status of a portal's custom domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct DomainState {
    pub verified_at: Option<Time>,
    /// The time since which its DNS records are invalid.
    pub broken_at: Option<Time>,
}

/// A trust portal. Every organization has exactly one, from the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Portal {
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub friendly_url: Option<FriendlyUrl>,
    pub status: PortalStatus,
    pub domain: Option<DomainName>,
    #[row(flatten, prefix = "domain_")]
    pub domain_state: DomainState,
    pub contact_email: Option<String>,
    pub overview: Option<String>,
    /// The settings of frameworks; a framework without one has the default.
    #[row(json)]
    pub frameworks: BTreeMap<CertificateFramework, Shown>,
    /// The access level of each document; a document that is not listed is hidden.
    #[row(json)]
    pub documents: BTreeMap<PortalDocument, Visibility>,
    /// The organization's own agreement in Markdown; the default is used if there is none.
    pub nda_text: Option<String>,
    #[row(column = "duration_days")]
    pub default_duration_days: Days,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

#[derive(Clone, Debug, Default)]
pub struct PortalPatch {
    pub friendly_url: Patch<FriendlyUrl>,
    pub status: Option<PortalStatus>,
    pub domain: Patch<DomainName>,
    pub contact_email: Patch<Email>,
    pub overview: Patch<LongText>,
    /// The new settings of frameworks, each replacing the previous one.
    pub frameworks: Vec<(CertificateFramework, Shown)>,
    pub documents: Vec<(PortalDocument, Visibility)>,
    pub nda_text: Patch<AgreementText>,
    pub default_duration_days: Option<Days>,
}

impl Portal {
    /// The portal of an organization that has not changed it.
    pub fn untouched(organization_id: OrganizationId, created_at: Time) -> Self {
        Self {
            organization_id,
            friendly_url: None,
            status: PortalStatus::default(),
            domain: None,
            domain_state: DomainState::default(),
            contact_email: None,
            overview: None,
            frameworks: BTreeMap::new(),
            documents: BTreeMap::new(),
            nda_text: None,
            default_duration_days: Days::USUAL,
            created_at,
            updated_at: created_at,
            version: 0,
        }
    }

    #[must_use]
    pub fn patched(&self, patch: PortalPatch) -> Self {
        let mut after = self.clone();
        after.friendly_url = patch.friendly_url.apply(after.friendly_url);
        after.status = patch.status.unwrap_or(after.status);
        after.domain = patch.domain.apply(after.domain);
        if after.domain != self.domain {
            after.domain_state = DomainState::default();
        }
        after.contact_email =
            patch.contact_email.map(|email| email.as_str().to_owned()).apply(after.contact_email);
        after.overview = patch.overview.map(String::from).apply(after.overview);
        after.frameworks.extend(patch.frameworks);
        after.documents.extend(patch.documents);
        after.documents.retain(|_, visibility| *visibility != Visibility::Hidden);
        after.nda_text = patch.nda_text.map(String::from).apply(after.nda_text);
        after.default_duration_days = patch.default_duration_days.unwrap_or(after.default_duration_days);
        after
    }

    pub fn is_published(&self) -> bool {
        self.status == PortalStatus::Published
    }

    /// The setting of a framework, or its default.
    pub fn shown(&self, framework: CertificateFramework, has_certificate: bool) -> Shown {
        self.frameworks.get(&framework).copied().unwrap_or_else(|| Shown::usual(has_certificate))
    }

    /// The access level of a document. The certificate of a framework that is not shown is also hidden.
    pub fn visibility(&self, document: PortalDocument) -> Visibility {
        match document {
            PortalDocument::Certificate(framework) if !self.shown(framework, true).enabled => {
                Visibility::Hidden
            }
            _ => self.documents.get(&document).copied().unwrap_or_default(),
        }
    }

    /// The custom domain, once it is verified.
    pub fn verified_domain(&self) -> Option<&DomainName> {
        self.domain.as_ref().filter(|_| self.domain_state.verified_at.is_some())
    }
}

/// A certificate, one per framework.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Certificate {
    pub id: CertificateId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub framework: CertificateFramework,
    pub file_name: String,
    pub file_size: i64,
    pub sha256: String,
    pub pages: i64,
    pub uploaded_by: Option<MemberId>,
    pub updated_at: Time,
}

crate::words! {
    /// The kind of a post on the portal.
    PostKind {
        /// News.
        Update = "update",
        /// A frequently asked question and its answer.
        Question = "question",
    }
}

/// News, or a question with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct PortalPost {
    pub id: PortalPostId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub kind: PostKind,
    /// The title of the news, or the question.
    pub title: String,
    /// The text of the news, or the answer.
    pub text: String,
    /// The time of the first publication.
    pub published_at: Option<Time>,
    pub is_published: bool,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

#[derive(Clone, Debug, Default)]
pub struct PostPatch {
    pub title: Option<Name>,
    pub text: Option<AnyText>,
    pub is_published: Option<bool>,
}

impl PortalPost {
    #[must_use]
    pub fn patched(&self, patch: PostPatch, now: Time) -> Self {
        let mut after = self.clone();
        after.title = patch.title.map_or(after.title, String::from);
        after.text = patch.text.map_or(after.text, String::from);
        after.is_published = patch.is_published.unwrap_or(after.is_published);
        if after.is_published {
            after.published_at = after.published_at.or(Some(now));
        }
        after
    }
}

/// A subscriber to the news of a portal.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct Subscriber {
    pub id: SubscriberId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub email: String,
    pub created_at: Time,
    /// The time at which the address was confirmed by the link in a mail.
    pub confirmed_at: Option<Time>,
}

/// The recorded state of a subscriber. The address is stored only in the list of subscribers, so that unsubscribing
/// leaves nothing behind.
#[derive(Debug, Serialize)]
pub struct Anonymous {}

crate::given_as_text!(DomainName, FriendlyUrl, PortalDocument);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friendly_urls() {
        for good in ["abc", "analytical-engines", "a1b", &"a".repeat(63)] {
            assert!(FriendlyUrl::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "ab", "-abc", "abc-", "Abc", "a b", "a_b", "ä-b-c", "admin", &"a".repeat(64)] {
            assert!(FriendlyUrl::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn domain_names() {
        let read = |text| DomainName::parse(text).map(|name| name.to_string());
        for (text, name) in [
            ("trust.example.com", "trust.example.com"),
            (" Trust.Example.COM. ", "trust.example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("a.museum", "a.museum"),
            ("trust.example.photography", "trust.example.photography"),
            ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
        ] {
            assert_eq!(read(text), Ok(name.to_owned()), "{text}");
        }
        for bad in [
            "",
            "com",
            "localhost",
            "https://example.com",
            "example.com/",
            "example.com:443",
            "127.0.0.1",
            "0x7f.1",
            "[::1]",
            "a..b",
            "-a.example",
            "a_b.example",
            "exa mple.com",
            "a.b%2e.com",
            "user@example.com",
            &format!("{}.com", "a".repeat(64)),
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
