//! The mail domains of an organization, verified by DNS.

use serde::Serialize;

use crate::id::{MailDomainId, OrganizationId, SsoConnectionId};
use crate::portals::DomainName;
use crate::row::Row;
use crate::time::Time;

crate::words! {
    /// The state of a domain.
    MailDomainState {
        /// Its record was never found.
        Pending = "pending",
        Verified = "verified",
        /// Its record is missing; it still counts.
        Failing = "failing",
        /// Its record was missing for too long.
        Lapsed = "lapsed",
        /// Another organization has verified it since.
        Lost = "lost",
    }
}

/// The maximum number of domains of an organization.
pub const MAX_MAIL_DOMAINS: usize = 50;

/// The label before a domain at which its record is looked up.
pub const RECORD_LABEL: &str = "_attestry-identity";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct MailDomain {
    pub id: MailDomainId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub name: DomainName,
    pub state: MailDomainState,
    /// The connection with which people of the domain sign in.
    pub connection_id: Option<SsoConnectionId>,
    /// The value that the last look-up found in place of the record.
    #[serde(skip)]
    pub reason: Option<String>,
    pub verified_at: Option<Time>,
    pub failing_since: Option<Time>,
    /// The operator answers for it, and no record is needed.
    pub is_by_operator: bool,
    #[serde(skip)]
    pub checked_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

impl MailDomain {
    /// True while the organization may link and add people of the domain.
    pub fn is_verified(&self) -> bool {
        matches!(self.state, MailDomainState::Verified | MailDomainState::Failing)
    }

    /// The name at which the record must be.
    pub fn record_name(&self) -> String {
        format!("{RECORD_LABEL}.{}", self.name)
    }
}

/// The domain of an address, in lower-case ASCII.
pub fn domain_of(email: &str) -> Option<DomainName> {
    use crate::text::Parse as _;
    let (_, domain) = email.rsplit_once('@')?;
    DomainName::parse(domain).ok()
}
