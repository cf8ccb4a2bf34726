//! The roles of members.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

use super::{Permission, Permissions};
use crate::json::JsonSchema;
use crate::text::Parse;

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

crate::given_as_text!(Roles);

#[cfg(test)]
mod tests {
    use super::*;

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
