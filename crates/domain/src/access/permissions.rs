//! Permissions, one by one and as sets.

use crate::text::Parse;

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
