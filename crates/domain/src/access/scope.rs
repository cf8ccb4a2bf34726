//! Actors, and the scopes that prove that they may act.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::{Grant, Permission, Permissions};
use crate::date::Date;
use crate::id::{ApiKeyId, DirectoryTokenId, MemberId, OrganizationId, SessionId, UserId};
use crate::time::Time;
use crate::zone::Zone;

crate::words! {
    /// The authentication method of a request.
    AuthType {
        ApiKey = "api-key",
        Session = "session",
    }
}

crate::words! {
    /// The kind of actor that an audit entry names.
    ActorType {
        Member = "member",
        Key = "key",
        System = "system",
        Visitor = "visitor",
        /// The identity provider, by the token of the directory.
        Directory = "directory",
    }
}

/// The credential a request came with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    ApiKey(ApiKeyId),
    Session(SessionId),
}

impl Credential {
    pub fn auth_type(self) -> AuthType {
        match self {
            Self::ApiKey(_) => AuthType::ApiKey,
            Self::Session(_) => AuthType::Session,
        }
    }
}

/// A member resolved from a credential, shared by all requests with that credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub organization: OrganizationId,
    pub member: MemberId,
    pub user: UserId,
    pub email: String,
    pub credential: Credential,
    pub permissions: Permissions,
    /// The time zone of the organization.
    pub zone: Zone,
}

/// The origin of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub request_id: Arc<str>,
    pub ip: Option<IpAddr>,
    /// Set when the request carries an `Idempotency-Key`: the claim that is settled in the
    /// transaction of the change.
    #[serde(skip)]
    pub claim: Option<Arc<Claim>>,
    #[serde(skip)]
    pub connection: Connection,
}

/// The connection of a client. Work for a closed connection can be dropped as long as it has changed nothing.
#[derive(Clone, Debug, Default)]
pub struct Connection(Arc<AtomicBool>);

impl Connection {
    pub fn close(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub fn is_closed(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// All connections are equal, so that origins are compared by the request alone.
impl PartialEq for Connection {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Connection {}

/// The claim of an `Idempotency-Key` and the token of its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub name: String,
    pub holder: String,
}

impl Origin {
    /// The origin of an operator's command.
    pub fn command(words: &str) -> Self {
        Self { request_id: words.into(), ip: None, claim: None, connection: Connection::default() }
    }

    /// The network of the client, by which requests are rate-limited.
    pub fn network(&self) -> Option<IpAddr> {
        self.ip.map(network)
    }
}

/// The address itself, or the /64 of an IPv6 address, because one customer has the whole /64.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX))),
    }
}

/// A principal making one request.
#[derive(Clone, Debug)]
pub struct Actor {
    pub principal: Arc<Principal>,
    pub origin: Origin,
}

/// The error for an authenticated actor without the required permission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs the permission {}", .0.as_str())]
pub struct Denied(pub Permission);

impl Actor {
    /// The scope for entries about the actor itself, such as a refusal or a sign-in. It proves no permission.
    pub fn for_the_record(&self) -> Scope {
        let origin = Origin { claim: None, ..self.origin.clone() };
        Scope { who: Who::Principal(Arc::clone(&self.principal)), origin }
    }

    pub fn authorize<G: Grant>(&self) -> Result<Scope, Denied> {
        if self.principal.permissions.grant::<G>() {
            Ok(Scope { who: Who::Principal(Arc::clone(&self.principal)), origin: self.origin.clone() })
        } else {
            Err(Denied(G::PERMISSION))
        }
    }
}

#[derive(Clone, Debug)]
enum Who {
    Principal(Arc<Principal>),
    System { organization: OrganizationId },
    Visitor { organization: OrganizationId, user: Option<UserId> },
    Directory { organization: OrganizationId, token: DirectoryTokenId },
}

/// Proof of permission: the organization, the actor and the origin of the request.
#[derive(Clone, Debug)]
pub struct Scope {
    who: Who,
    origin: Origin,
}

impl Scope {
    /// The scope of the product itself: jobs, the command line, first set-up. The reason is recorded as the origin of
    /// its changes.
    pub fn system(organization: OrganizationId, reason: &str) -> Self {
        let origin = Origin::command(reason);
        Self { who: Who::System { organization }, origin }
    }

    /// The scope of a client without a membership that uses a secret it was sent: an invitation, a reset link, a
    /// sign-in.
    pub fn visitor(organization: OrganizationId, user: Option<UserId>, origin: Origin) -> Self {
        Self { who: Who::Visitor { organization, user }, origin }
    }

    /// The scope of an identity provider that keeps the people of an organization in step.
    pub fn directory(organization: OrganizationId, token: DirectoryTokenId, origin: Origin) -> Self {
        Self { who: Who::Directory { organization, token }, origin }
    }

    /// The token of the directory, if one acts.
    pub fn directory_token(&self) -> Option<DirectoryTokenId> {
        match &self.who {
            Who::Directory { token, .. } => Some(*token),
            Who::Principal(_) | Who::System { .. } | Who::Visitor { .. } => None,
        }
    }

    pub fn organization(&self) -> OrganizationId {
        match &self.who {
            Who::Principal(principal) => principal.organization,
            Who::System { organization }
            | Who::Visitor { organization, .. }
            | Who::Directory { organization, .. } => *organization,
        }
    }

    pub fn principal(&self) -> Option<&Principal> {
        match &self.who {
            Who::Principal(principal) => Some(principal),
            Who::System { .. } | Who::Visitor { .. } | Who::Directory { .. } => None,
        }
    }

    /// The acting member, if a member acts.
    pub fn member(&self) -> Option<MemberId> {
        self.principal().map(|principal| principal.member)
    }

    /// The date in the organization's time zone; the date in UTC if no member acts.
    pub fn today(&self, now: Time) -> Date {
        self.principal().map_or_else(|| Date::of(now), |principal| principal.zone.date_of(now))
    }

    /// The date at the moment `asked`, or else today. A plain date is passed as the end of that day in UTC, and is
    /// that date in every time zone.
    pub fn day(&self, asked: Option<Time>, now: Time) -> Date {
        let at = asked.unwrap_or(now);
        let date = Date::of(at);
        if asked == Some(date.end()) { date } else { self.today(at) }
    }

    pub fn auth_type(&self) -> Option<AuthType> {
        self.principal().map(|principal| principal.credential.auth_type())
    }

    /// The same scope without the claim of an `Idempotency-Key`, for the first transactions of an operation that has
    /// several: the last one settles the claim.
    #[must_use]
    pub fn without_claim(&self) -> Self {
        let origin = Origin { claim: None, ..self.origin.clone() };
        Self { who: self.who.clone(), origin }
    }

    /// The scope of another member, to check what that member may see. It is never used for changes.
    pub fn as_seen_by(&self, member: MemberId, permissions: Permissions) -> Option<Self> {
        let own = self.principal()?.clone();
        let who = Who::Principal(Arc::new(Principal { member, permissions, ..own }));
        Some(Self { who, origin: self.origin.clone() })
    }

    /// Returns true when the actor has the permission. The system and the directory have all permissions, a visitor none.
    pub fn allows(&self, permission: Permission) -> bool {
        match &self.who {
            Who::Principal(principal) => principal.permissions.contains(permission),
            Who::System { .. } | Who::Directory { .. } => true,
            Who::Visitor { .. } => false,
        }
    }

    /// The permissions that the actor can grant to others.
    pub fn permissions(&self) -> Permissions {
        match &self.who {
            Who::Principal(principal) => principal.permissions,
            Who::System { .. } | Who::Directory { .. } => Permissions::all(),
            Who::Visitor { .. } => Permissions::NONE,
        }
    }

    pub fn require(&self, permission: Permission) -> Result<(), Denied> {
        if self.allows(permission) { Ok(()) } else { Err(Denied(permission)) }
    }

    /// Like [`Self::require`], for a grant.
    pub fn require_grant<G: Grant>(&self) -> Result<(), Denied> {
        if self.permissions().grant::<G>() { Ok(()) } else { Err(Denied(G::PERMISSION)) }
    }

    /// The actor as an audit entry names it.
    pub fn actor(&self) -> (ActorType, String) {
        match &self.who {
            Who::Principal(principal) => match principal.credential {
                Credential::ApiKey(key) => (ActorType::Key, key.to_string()),
                Credential::Session(_) => (ActorType::Member, principal.member.to_string()),
            },
            Who::System { .. } => (ActorType::System, self.origin.request_id.to_string()),
            Who::Visitor { user: Some(user), .. } => (ActorType::Visitor, user.to_string()),
            Who::Visitor { user: None, .. } => (ActorType::Visitor, "unknown".to_owned()),
            Who::Directory { token, .. } => (ActorType::Directory, token.to_string()),
        }
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_customer_is_one_network() {
        let of = |text: &str| network(text.parse().expect("an address")).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("192.0.2.7"), "192.0.2.7");
    }
}
