//! Service accounts: members without a person, as which the API keys of programs act.

use serde::Serialize;

use crate::access::Roles;
use crate::id::{MemberId, OrganizationId, ServiceAccountId};
use crate::identity::members::Person;
use crate::patch::Patch;
use crate::row::Row;
use crate::text::{Name, Text};
use crate::time::Time;

/// The maximum number of service accounts of an organization.
pub const MAX_SERVICE_ACCOUNTS: i64 = 100;

pub type Purpose = Text<1, 1000>;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct ServiceAccount {
    pub id: ServiceAccountId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    /// The member as which its keys act.
    pub member_id: MemberId,
    pub description: Option<String>,
    /// The member who answers for it.
    pub owner_id: MemberId,
    /// When its owner left; `None` while it has one.
    pub orphaned_since: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// A service account with its name and role, which its member has.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct NamedAccount {
    #[row(flatten, prefix = "s.")]
    pub account: ServiceAccount,
    #[row(flatten)]
    pub person: Person,
}

/// The state of a service account that the journal records.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceAccountState<'a> {
    #[serde(flatten)]
    account: &'a ServiceAccount,
    name: &'a str,
    role: &'a Roles,
}

impl<'a> From<&'a NamedAccount> for ServiceAccountState<'a> {
    fn from(NamedAccount { account, person }: &'a NamedAccount) -> Self {
        Self { account, name: &person.user.name, role: &person.member.role }
    }
}

#[derive(Clone, Debug)]
pub struct NewServiceAccount {
    pub name: Name,
    pub description: Option<Purpose>,
    pub role: Roles,
    pub owner: MemberId,
}

#[derive(Clone, Debug, Default)]
pub struct ServiceAccountPatch {
    pub name: Option<Name>,
    pub description: Patch<Purpose>,
    pub role: Option<Roles>,
    pub owner: Option<MemberId>,
}
