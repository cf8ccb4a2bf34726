//! Views: saved settings of lists, private or shared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::access::{Permission, Scope};
use crate::id::{MemberId, OrganizationId, ViewId};
use crate::json::{Given, GivenJson, JsonSchema};
use crate::row::Row;
use crate::text::Name;
use crate::time::Time;

crate::words! {
    /// A list that can have views.
    ViewList {
        Risks = "risks",
        Vendors = "vendors",
        Tasks = "tasks",
        Controls = "controls",
        Policies = "policies",
        People = "people",
        AccessRequests = "access-requests",
        AccessGrants = "access-grants",
        AuditLog = "audit-log",
    }
}

/// The parameters of a list: filters, `q`, `sort` and `order` by their names in a query, and those of the console,
/// such as `columns` and `group`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ViewParameters(BTreeMap<String, String>);

impl ViewParameters {
    pub const MAX: usize = 40;
    const MAX_NAME: usize = 40;
    const MAX_VALUE: usize = 2000;

    pub fn new(all: BTreeMap<String, String>) -> Result<Self, String> {
        if all.len() > Self::MAX {
            return Err(format!("must hold at most {} parameters", Self::MAX));
        }
        for (name, value) in &all {
            let is_name = (1..=Self::MAX_NAME).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !is_name {
                return Err(format!("has a parameter {name:?} that no list has"));
            }
            if value.len() > Self::MAX_VALUE || value.contains('\0') {
                return Err(format!("{name} must be a text of at most {} bytes", Self::MAX_VALUE));
            }
        }
        Ok(Self(all))
    }
}

impl JsonSchema for ViewParameters {
    fn json_schema() -> Value {
        json!({"type": "object", "additionalProperties": {"type": "string"}})
    }
}

impl Given for ViewParameters {
    fn given(json: &impl GivenJson) -> Result<Self, String> {
        let all: BTreeMap<String, String> =
            json.value().map_err(|_| "must be an object of texts".to_owned())?;
        Self::new(all)
    }
}

/// The saved settings of a list.
#[derive(Clone, Debug, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct View {
    pub id: ViewId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    /// The member who created it.
    pub member_id: MemberId,
    pub list: ViewList,
    pub name: Name,
    #[row(json)]
    pub parameters: ViewParameters,
    /// True when all members see it.
    pub is_shared: bool,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// The permission to share views and to change shared ones.
pub const SHARE: Permission = Permission::OrganizationUpdate;

impl View {
    pub fn is_visible(&self, scope: &Scope) -> bool {
        self.is_shared || scope.member() == Some(self.member_id)
    }

    /// Returns true when the actor may change or delete it.
    pub fn may_change(&self, scope: &Scope) -> bool {
        if self.is_shared { scope.allows(SHARE) } else { self.is_visible(scope) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_bounds() {
        let of = |name: &str, value: &str| ViewParameters::new(BTreeMap::from([(name.into(), value.into())]));
        assert!(of("status", "open,pending").is_ok());
        assert!(of("", "x").is_err());
        assert!(of("a b", "x").is_err());
        assert!(of("q", &"x".repeat(2001)).is_err());
        let many = (0..41).map(|number| (format!("p{number}"), String::new())).collect();
        assert!(ViewParameters::new(many).is_err());
    }
}
