//! Access to the protected documents of a portal: the request, the signed agreement and the grant.

use serde::Serialize;
use serde_json::Value;

use crate::date::Date;
use crate::id::{AccessGrantId, AccessRequestId, MemberId, NdaFileId, NdaId, OrganizationId, PolicyId};
use crate::json::JsonSchema;
use crate::page::{Key, Sort};
use crate::portals::{CertificateFramework, Days, PortalDocument};
use crate::row::Row;
use crate::text::{Email, LongText, Name, Parse};
use crate::time::Time;

crate::words! {
    /// The status of an access request.
    RequestStatus {
        UnderReview = "under_review",
        Approved = "approved",
        Denied = "denied",
    }
}

crate::words! {
    /// The sort keys of the list of access requests.
    #[derive(Default)]
    RequestSort {
        #[default]
        CreatedAt = "createdAt",
        Name = "name",
        Company = "company",
        Purpose = "purpose",
        Status = "status",
    }
}

impl Sort for RequestSort {
    fn takes(self, key: &Key) -> bool {
        match self {
            Self::CreatedAt => matches!(key, Key::Id),
            Self::Name | Self::Company | Self::Purpose => matches!(key, Key::Text(_)),
            Self::Status => matches!(key, Key::Number(_)),
        }
    }
}

/// A printable name of a portal visitor. It appears on pages and in agreements, so it must be visible and must not
/// change the direction of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintableName(Name);

impl PrintableName {
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl From<PrintableName> for String {
    fn from(name: PrintableName) -> Self {
        name.0.into()
    }
}

impl Parse for PrintableName {
    fn parse(text: &str) -> Result<Self, String> {
        let name = Name::parse(text)?;
        let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        // Letters that are rendered blank.
        let is_blank = |c: char| matches!(c, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}');
        if name.as_str().chars().any(turns) {
            return Err("must not contain characters that change the direction of text".to_owned());
        }
        if !name.as_str().chars().any(|c| c.is_alphanumeric() && !is_blank(c)) {
            return Err("must have a letter or a digit".to_owned());
        }
        Ok(Self(name))
    }
}

impl JsonSchema for PrintableName {
    fn json_schema() -> Value {
        Name::json_schema()
    }
}

/// The input for an access request.
#[derive(Clone, Debug)]
pub struct NewRequest {
    pub name: PrintableName,
    pub email: Email,
    pub company: Option<PrintableName>,
    pub job_title: Option<PrintableName>,
    pub purpose: Option<LongText>,
    pub requested_duration_days: Option<Days>,
    pub documents: Vec<PortalDocument>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct AccessRequest {
    pub id: AccessRequestId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub name: String,
    pub email: String,
    pub company: Option<String>,
    pub job_title: Option<String>,
    pub purpose: Option<String>,
    #[row(column = "requested_days")]
    pub requested_duration_days: Option<Days>,
    /// The requested documents among those on request; after approval, the granted ones.
    #[row(json)]
    pub documents: Vec<PortalDocument>,
    pub status: RequestStatus,
    pub reviewed_by: Option<MemberId>,
    pub reviewed_at: Option<Time>,
    pub denial_reason: Option<String>,
    /// The grant that resulted from it, or that already existed.
    pub grant_id: Option<AccessGrantId>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

impl AccessRequest {
    pub fn new(id: AccessRequestId, organization_id: OrganizationId, new: NewRequest, now: Time) -> Self {
        let NewRequest { name, email, company, job_title, purpose, requested_duration_days, documents } = new;
        Self {
            id,
            organization_id,
            name: name.into(),
            email: email.as_str().to_owned(),
            company: company.map(String::from),
            job_title: job_title.map(String::from),
            purpose: purpose.map(String::from),
            requested_duration_days,
            documents,
            status: RequestStatus::UnderReview,
            reviewed_by: None,
            reviewed_at: None,
            denial_reason: None,
            grant_id: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// The request after the decision.
    #[must_use]
    pub fn reviewed(&self, status: RequestStatus, by: Option<MemberId>, now: Time) -> Self {
        Self {
            status,
            reviewed_by: by,
            reviewed_at: Some(now),
            updated_at: now,
            version: self.version + 1,
            ..self.clone()
        }
    }
}

/// The agreement of organizations that have none of their own.
const USUAL_AGREEMENT: &str = include_str!("../../data/nda.md");

/// The parties to an agreement, its date and its duration.
#[derive(Clone, Debug)]
pub struct Parties<'a> {
    pub organization: &'a str,
    pub request: &'a AccessRequest,
    pub date: Date,
    pub duration: Days,
}

impl Parties<'_> {
    /// The text of the agreement in Markdown: the organization's own or the default, with the placeholders filled in.
    pub fn agree(&self, own: Option<&str>) -> String {
        let days = self.duration.get();
        let values = [
            ("organization", self.organization.to_owned()),
            ("name", self.request.name.clone()),
            ("email", self.request.email.clone()),
            ("company", self.request.company.clone().unwrap_or_else(|| "themselves".to_owned())),
            ("jobTitle", self.request.job_title.clone().unwrap_or_default()),
            ("date", self.date.to_string()),
            ("duration", if days == 1 { "one day".to_owned() } else { format!("{days} days") }),
        ];
        // Placeholders are filled in one pass, so that a visitor's name is never read as a placeholder.
        let mut text = String::new();
        let mut rest = own.unwrap_or(USUAL_AGREEMENT);
        while let Some((before, after)) = rest.split_once("{{") {
            text.push_str(before);
            let value = after.split_once("}}").and_then(|(name, behind)| {
                let (_, value) = values.iter().find(|(known, _)| *known == name.trim())?;
                Some((value, behind))
            });
            match value {
                Some((value, behind)) => {
                    text.push_str(&literally(value));
                    rest = behind;
                }
                None => {
                    text.push_str("{{");
                    rest = after;
                }
            }
        }
        text.push_str(rest);
        text
    }
}

/// Escapes a text for Markdown.
fn literally(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    for (place, c) in text.char_indices() {
        // At the start of a line, these characters begin a list or another block.
        let begins = (place == 0 && "-+=".contains(c)) || (place == digits && digits > 0 && ".)".contains(c));
        if begins || "\\`*_[]<>~|&!#$".contains(c) {
            written.push('\\');
        }
        written.push(c);
    }
    written
}

crate::words! {
    /// The status of an agreement.
    NdaStatus {
        Pending = "pending",
        Signed = "signed",
        /// It was replaced by another one, or is no longer offered.
        Void = "void",
    }
}

/// The signature of an agreement: the signer, the time and the IP address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Signature {
    #[row(column = "signer_name")]
    pub name: String,
    #[row(column = "signer_email")]
    pub email: String,
    #[row(column = "signed_at")]
    pub at: Time,
    #[row(column = "signer_ip")]
    pub ip: Option<String>,
    /// The code that the signed file shows and by which it is found.
    pub code: String,
    pub file_id: NdaFileId,
    pub file_sha256: String,
}

/// An agreement that is offered for signature; its text is final.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Nda {
    pub id: NdaId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub request_id: AccessRequestId,
    pub status: NdaStatus,
    #[serde(skip)]
    pub text: String,
    /// The SHA-256 of its text, in hexadecimal.
    pub text_sha256: String,
    pub duration_days: Days,
    pub created_at: Time,
    /// The deadline for signing.
    pub expires_at: Time,
    #[row(flatten)]
    pub signature: Option<Signature>,
    pub grant_id: Option<AccessGrantId>,
}

crate::words! {
    /// The status of an access grant.
    GrantStatus {
        Active = "active",
        Expired = "expired",
        Revoked = "revoked",
    }
}

crate::words! {
    /// The sort keys of the list of access grants.
    #[derive(Default)]
    GrantSort {
        #[default]
        CreatedAt = "createdAt",
        Name = "name",
        Status = "status",
        /// When it was revoked, or else when it expires.
        EndsAt = "endsAt",
        RevocationReason = "revocationReason",
    }
}

impl Sort for GrantSort {
    fn takes(self, key: &Key) -> bool {
        match self {
            Self::CreatedAt => matches!(key, Key::Id),
            Self::Name | Self::RevocationReason => matches!(key, Key::Text(_)),
            Self::Status | Self::EndsAt => matches!(key, Key::Number(_)),
        }
    }
}

/// The access of a visitor who signed the agreement, and its expiry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct AccessGrant {
    pub id: AccessGrantId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub request_id: AccessRequestId,
    pub nda_id: NdaId,
    pub name: String,
    pub email: String,
    pub created_at: Time,
    pub expires_at: Time,
    pub revoked_at: Option<Time>,
    pub revoked_by: Option<MemberId>,
    pub revocation_reason: Option<String>,
}

impl AccessGrant {
    pub fn status(&self, now: Time) -> GrantStatus {
        match self.revoked_at {
            Some(_) => GrantStatus::Revoked,
            None if self.expires_at <= now => GrantStatus::Expired,
            None => GrantStatus::Active,
        }
    }
}

crate::words! {
    /// The action of a portal visitor.
    VisitAction {
        Opened = "opened",
        DownloadedPolicy = "downloaded_policy",
        DownloadedPolicies = "downloaded_all_policies",
        DownloadedCertificate = "downloaded_certificate",
    }
}

/// A visit: the action and the document it concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Visited {
    pub action: VisitAction,
    /// A policy's id, or the framework of a certificate.
    pub document: Option<String>,
    pub title: Option<String>,
}

impl Visited {
    pub fn opened() -> Self {
        Self { action: VisitAction::Opened, document: None, title: None }
    }

    pub fn policy(id: PolicyId, name: &str) -> Self {
        Self {
            action: VisitAction::DownloadedPolicy,
            document: Some(id.to_string()),
            title: Some(name.to_owned()),
        }
    }

    pub fn all_policies() -> Self {
        Self { action: VisitAction::DownloadedPolicies, document: None, title: None }
    }

    pub fn certificate(framework: CertificateFramework, file_name: &str) -> Self {
        Self {
            action: VisitAction::DownloadedCertificate,
            document: Some(framework.as_str().to_owned()),
            title: Some(file_name.to_owned()),
        }
    }
}

crate::given_as_text!(PrintableName);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::markdown;

    #[test]
    fn an_agreement_names_its_parties_and_nothing_they_are_called_is_markup() {
        let new = NewRequest {
            name: PrintableName::parse("{{email}} *Ada*").expect("a name"),
            email: Email::parse("ada_l@example.com").expect("an address"),
            company: None,
            job_title: None,
            purpose: None,
            requested_duration_days: None,
            documents: Vec::new(),
        };
        let now = Time::from_millis(1_789_000_000_000);
        let request =
            AccessRequest::new(AccessRequestId::from_u128(1), OrganizationId::from_u128(2), new, now);
        let parties = Parties {
            organization: "Engines",
            request: &request,
            date: Date::of(now),
            duration: Days::USUAL,
        };
        let text = parties
            .agree(Some("{{ organization }} and {{name}}, {{email}}: {{unknown}} {{ for {{duration}}"));
        assert_eq!(text, "Engines and {{email}} \\*Ada\\*, ada\\_l@example.com: {{unknown}} {{ for 30 days");
        let usual = parties.agree(None);
        assert!(!usual.contains("{{") || usual.contains("{{email}}"), "{usual}");
        assert!(markdown::read(&usual).is_ok());
        for (name, written) in [("---", "\\---"), ("1. Ada", "1\\. Ada"), ("A-B 2.", "A-B 2.")] {
            assert_eq!(literally(name), written);
        }
        for bad in ["\u{202e}Ada", "\u{200b}", "\u{2800}\u{3164}", "---", ""] {
            assert!(PrintableName::parse(bad).is_err(), "{bad:?}");
        }
        assert!(PrintableName::parse("سارة \u{200f}").is_ok());
    }
}
