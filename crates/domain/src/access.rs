//! Permissions, roles and scopes. A role is a set of [`Permission`]s, and a [`Scope`] is the proof that an actor
//! passed a permission check: storage requires one for all tenant data, and [`Actor::authorize`] issues it. The
//! scopes without a check, [`Scope::system`], [`Scope::visitor`] and [`Actor::for_the_record`], are easy to grep for.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use crate::date::Date;
use crate::id::{ApiKeyId, DirectoryTokenId, MemberId, OrganizationId, SessionId, UserId};
use crate::json::JsonSchema;
use crate::text::Parse;
use crate::time::Time;
use crate::zone::Zone;

macro_rules! permissions {
    ($($variant:ident $word:literal $meaning:literal)*) => {
        /// A single permission, `resource:action`. API keys use the same words as scopes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Permission { $(#[doc = $meaning] $variant),* }

        impl Permission {
            pub const ALL: &'static [Permission] = &[$(Permission::$variant),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Permission::$variant => $word),* }
            }

            pub fn meaning(self) -> &'static str {
                match self { $(Permission::$variant => $meaning),* }
            }
        }

        impl Parse for Permission {
            fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Permission::$variant),)*
                    _ => Err(format!("{text:?} is not a scope")),
                }
            }
        }

        /// Each permission as a type, so that a handler names what it needs in its signature.
        pub mod grant {
            $(
                #[doc = $meaning]
                #[derive(Debug)]
                pub enum $variant {}
                impl super::Grant for $variant {
                    const PERMISSION: super::Permission = super::Permission::$variant;
                }
            )*
        }
    };
}

/// A permission as a type.
pub trait Grant: 'static {
    const PERMISSION: Permission;
    /// A weaker permission that is also accepted; access is then decided row by row.
    const OR: Option<Permission> = None;
    /// The extent of the access that [`Self::OR`] gives.
    const REACH: &'static str = "on what is assigned to oneself";

    /// Returns true when these permissions satisfy the grant.
    fn admits(permissions: Permissions) -> bool {
        permissions.contains(Self::PERMISSION) || Self::OR.is_some_and(|or| permissions.contains(or))
    }
}

permissions! {
    OrganizationRead "organization:read" "See the organization's settings"
    OrganizationUpdate "organization:update" "Change the organization's settings"
    OrganizationDelete "organization:delete" "Delete the organization and all it holds"
    ProfileRead "profile:read" "See one's own entry among the people, and use one's inbox"
    MemberRead "member:read" "See the people of the organization"
    MemberCreate "member:create" "Add and invite people"
    MemberUpdate "member:update" "Change people's roles and details, and bring them back"
    MemberDelete "member:delete" "Deactivate people"
    OwnerManage "owner:manage" "Make, change and deactivate owners"
    IdentityRead "identity:read" "See how people may sign in"
    IdentityUpdate "identity:update" "Set how people may sign in"
    ApiKeyRead "api-key:read" "See the API keys"
    ApiKeyCreate "api-key:create" "Make API keys"
    ApiKeyDelete "api-key:delete" "Revoke API keys"
    AuditRead "audit-log:read" "Read the audit log"
    RiskRead "risk:read" "See the risks, their history and the matrix"
    RiskCreate "risk:create" "Add and import risks"
    RiskUpdate "risk:update" "Change risks"
    RiskDelete "risk:delete" "Delete risks"
    VendorRead "vendor:read" "See the vendors, their history and the matrix"
    VendorCreate "vendor:create" "Add and import vendors"
    VendorUpdate "vendor:update" "Change vendors"
    VendorDelete "vendor:delete" "Delete vendors"
    TaskRead "task:read" "See all tasks, their history and their evidence"
    TaskCreate "task:create" "Add and import tasks"
    TaskUpdate "task:update" "Change, assign and reorder tasks"
    TaskDelete "task:delete" "Delete tasks"
    TaskAssigned "task:assigned" "See the tasks assigned to oneself and change their status"
    AutomationRead "automation:read" "See the automations, their scripts, runs and logs"
    AutomationCreate "automation:create" "Add automations, whose scripts can use the secrets"
    AutomationUpdate "automation:update" "Change automations and their scripts, which can use the secrets"
    AutomationDelete "automation:delete" "Delete automations"
    AutomationRun "automation:run" "Run automations, and cancel runs"
    SecretRead "secret:read" "See the names of the secrets"
    SecretUpdate "secret:update" "Set secrets"
    SecretDelete "secret:delete" "Delete secrets"
    PolicyRead "policy:read" "See all policies, their drafts, versions, signatures and history"
    PolicyCreate "policy:create" "Add policies"
    PolicyUpdate "policy:update" "Change policies, submit them for approval and remind members to sign"
    PolicyDelete "policy:delete" "Delete policies"
    PolicyApprove "policy:approve" "Approve or deny policies one is asked to approve"
    PolicySign "policy:sign" "Read the published policies and sign them"
    FrameworkRead "framework:read" "See the frameworks and their requirements"
    FrameworkCreate "framework:create" "Add and replace frameworks of one's own"
    FrameworkDelete "framework:delete" "Delete frameworks of one's own"
    ControlRead "control:read" "See the controls, their history, and how ready the organization is"
    ControlCreate "control:create" "Add and import controls"
    ControlUpdate "control:update" "Change controls and what they are linked to"
    ControlDelete "control:delete" "Delete controls"
    ContextRead "context:read" "See what is known of the organization"
    ContextCreate "context:create" "Add and import what is known of the organization"
    ContextUpdate "context:update" "Change what is known of the organization"
    ContextDelete "context:delete" "Delete what is known of the organization"
    PortalRead "trust-portal:read" "See the trust portal's settings, certificates and posts"
    PortalUpdate "trust-portal:update" "Change the trust portal, its certificates and posts"
    AccessRead "trust-access:read" "See who asked for access to the portal's documents, who has it, and what they read"
    AccessReview "trust-access:review" "Approve and deny requests for access, and revoke it"
    ProgrammeRead "programme:read" "See the programme: its plan, its scope and its progress"
    ProgrammeUpdate "programme:update" "Start and change the programme"
    SoaRead "soa:read" "See the statements of applicability"
    SoaUpdate "soa:update" "Make, answer and submit statements of applicability"
    SoaApprove "soa:approve" "Approve or decline statements of applicability one is asked to approve"
    AttachmentRead "attachment:read" "See and download attachments"
    AttachmentCreate "attachment:create" "Attach files"
    AttachmentDelete "attachment:delete" "Delete attachments"
    CommentRead "comment:read" "Read comments"
    CommentCreate "comment:create" "Comment"
    CommentUpdate "comment:update" "Change one's own comments"
    CommentDelete "comment:delete" "Delete one's own comments"
}

/// Read access to tasks: all of them, or those assigned to the actor.
#[derive(Debug)]
pub enum SeeTasks {}

impl Grant for SeeTasks {
    const PERMISSION: Permission = Permission::TaskRead;
    const OR: Option<Permission> = Some(Permission::TaskAssigned);
}

/// Write access to tasks: all of them, or the status of those assigned to the actor.
#[derive(Debug)]
pub enum ChangeTasks {}

impl Grant for ChangeTasks {
    const PERMISSION: Permission = Permission::TaskUpdate;
    const OR: Option<Permission> = Some(Permission::TaskAssigned);
}

/// Read access to policies: all of them, or those that are published.
#[derive(Debug)]
pub enum SeePolicies {}

impl Grant for SeePolicies {
    const PERMISSION: Permission = Permission::PolicyRead;
    const OR: Option<Permission> = Some(Permission::PolicySign);
    const REACH: &'static str = "the policies that are published, as they are published";
}

/// A set of permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permissions(u128);

// One bit each.
const _: () = assert!(Permission::ALL.len() <= u128::BITS as usize, "the set of permissions is full");

impl Permissions {
    pub const NONE: Self = Self(0);

    pub fn all() -> Self {
        Permission::ALL.iter().copied().collect()
    }

    pub fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u8) != 0
    }

    /// Returns true when the set satisfies the grant `G`.
    pub fn grant<G: Grant>(self) -> bool {
        G::admits(self)
    }

    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The permissions in this set that are not in `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |p| self.contains(*p))
    }
}

impl FromIterator<Permission> for Permissions {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, p| bits | (1 << p as u8)))
    }
}

/// The built-in roles. Any other role name has the permissions of an employee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Owner,
    Admin,
    Auditor,
    Employee,
}

impl Role {
    /// The name of the owner role in storage and in queries.
    pub const OWNER: &'static str = "owner";

    fn of(word: &str) -> Self {
        match word {
            Self::OWNER => Self::Owner,
            "admin" => Self::Admin,
            "auditor" => Self::Auditor,
            _ => Self::Employee,
        }
    }

    pub fn permissions(self) -> Permissions {
        use Permission as P;
        match self {
            Self::Owner => Permissions::all(),
            Self::Admin => Permissions::all()
                .without([P::OrganizationDelete, P::OwnerManage, P::IdentityUpdate].into_iter().collect()),
            Self::Auditor => [
                P::OrganizationRead,
                P::ProfileRead,
                P::MemberRead,
                P::IdentityRead,
                P::AuditRead,
                P::RiskRead,
                P::VendorRead,
                P::TaskRead,
                P::AutomationRead,
                P::PolicyRead,
                P::FrameworkRead,
                P::ControlRead,
                P::ContextRead,
                P::ProgrammeRead,
                P::SoaRead,
                P::PortalRead,
                P::AccessRead,
                P::AttachmentRead,
                P::CommentRead,
                P::CommentCreate,
                P::CommentUpdate,
                P::CommentDelete,
            ]
            .into_iter()
            .collect(),
            // Files and comments of subjects that they can see, which are the tasks assigned to them.
            Self::Employee => [
                P::ProfileRead,
                P::TaskAssigned,
                P::PolicySign,
                P::AttachmentRead,
                P::AttachmentCreate,
                P::CommentRead,
                P::CommentCreate,
                P::CommentUpdate,
                P::CommentDelete,
            ]
            .into_iter()
            .collect(),
        }
    }
}

/// One or more roles, joined by commas: `owner` or `auditor,employee`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roles(String);

/// Reads a stored value without validating it.
impl<'de> Deserialize<'de> for Roles {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

impl Roles {
    pub fn owner() -> Self {
        Self(Role::OWNER.to_owned())
    }

    /// Wraps a value from the database without validating it.
    pub fn stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// All of several roles, each once; `None` of none.
    pub fn joined<'a>(all: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let mut words: Vec<&str> = Vec::new();
        for word in all.flat_map(Self::words) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        (!words.is_empty()).then(|| Self(words.join(",")))
    }

    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split(',')
    }

    pub fn is_owner(&self) -> bool {
        self.words().any(|word| word == Role::OWNER)
    }

    pub fn permissions(&self) -> Permissions {
        self.words().fold(Permissions::NONE, |set, word| set.union(Role::of(word).permissions()))
    }
}

impl Parse for Roles {
    fn parse(text: &str) -> Result<Self, String> {
        if text.chars().any(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        let mut words: Vec<&str> = Vec::new();
        for word in text.split(',').map(str::trim) {
            if word.is_empty() {
                return Err("must be one or more roles joined by commas, none of them empty".to_owned());
            }
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let joined = words.join(",");
        match joined.chars().count() {
            0..=255 => Ok(Self(joined)),
            length => Err(format!("must have 1 to 255 characters; it has {length}")),
        }
    }
}

crate::kept_as_stored!(Roles);

impl Serialize for Roles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl JsonSchema for Roles {
    fn json_schema() -> Value {
        json!({
            "type": "string", "minLength": 1, "maxLength": 255, "examples": ["employee"],
            "description": "One or more roles joined by commas. Built in: owner, admin, auditor, employee, contractor; \
                            any other word has the permissions of employee."
        })
    }
}

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

crate::given_as_text!(Roles);

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

    #[test]
    fn roles_add_up() {
        let roles = Roles::parse(" auditor , employee,auditor").expect("two roles");
        assert_eq!(roles.as_str(), "auditor,employee");
        assert!(roles.permissions().contains(Permission::AuditRead));
        assert!(!roles.permissions().contains(Permission::MemberCreate));
        assert_eq!(Roles::parse("wizard").expect("any word").permissions(), Role::Employee.permissions());
    }

    #[test]
    fn an_admin_has_all_but_the_owners_rights() {
        let admin = Role::Admin.permissions();
        let missing: Vec<_> = Permissions::all().without(admin).iter().collect();
        assert_eq!(
            missing,
            [Permission::OrganizationDelete, Permission::OwnerManage, Permission::IdentityUpdate]
        );
    }

    #[test]
    fn empty_roles_are_refused() {
        for bad in ["", " ", ",", "owner,", "a,,b", "a\u{0}b", "a\nb"] {
            assert!(Roles::parse(bad).is_err(), "{bad:?}");
        }
    }
}
