//! The directory of an organization: the people and groups that an identity provider keeps in step by SCIM 2.0
//! (RFC 7643 and 7644). This module has the entities.

mod attributes;
pub mod filter;
pub mod patch;
mod projection;
#[cfg(test)]
mod properties;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::access::Roles;
use crate::id::{DirectoryGroupId, DirectoryRequestId, DirectoryTokenId, MemberId, OrganizationId};
use crate::row::Row;
use crate::time::Time;

pub use attributes::{
    Attribute, COMMON, ENTERPRISE, ENTERPRISE_PARTS, GROUP, GROUPS, Kind, Type, USER, USERS,
};
pub use projection::Projection;

pub(crate) use attributes::{is_ignored, named, read};

/// The maximum number of live tokens of an organization, so that one can replace another.
pub const MAX_TOKENS: usize = 2;

/// The settings of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct Directory {
    /// The role of people whose groups have none.
    pub default_role: Roles,
    #[serde(skip)]
    pub last_request_at: Option<Time>,
    #[serde(skip)]
    pub updated_at: Option<Time>,
    #[serde(skip)]
    pub version: i64,
}

/// A token of the identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryToken {
    pub id: DirectoryTokenId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub name: String,
    /// The public part, which identifies the token but does not help to guess the rest.
    pub prefix: String,
    pub expires_at: Option<Time>,
    pub created_at: Time,
    #[serde(skip)]
    pub last_used_at: Option<Time>,
}

/// A person as the directory describes them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryUser {
    /// The id of the member.
    pub id: MemberId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub user_name: String,
    pub external_id: Option<String>,
    /// The attributes that are kept, as they were sent.
    #[row(json)]
    #[serde(skip)]
    pub resource: Resource,
    /// The switch of the directory.
    pub is_active: bool,
    /// True if the organization itself deactivated the member, who stays out until it brings them back.
    pub is_suspended: bool,
    pub deleted_at: Option<Time>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// A group of the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Row)]
#[serde(rename_all = "camelCase")]
pub struct DirectoryGroup {
    pub id: DirectoryGroupId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub display_name: String,
    pub external_id: Option<String>,
    /// The role that it gives; never `owner`.
    pub role: Option<Roles>,
    pub created_at: Time,
    pub updated_at: Time,
    #[serde(skip)]
    pub version: i64,
}

/// A request of the identity provider, for the log.
#[derive(Clone, Debug, PartialEq, Eq, Row)]
pub struct DirectoryRequest {
    pub id: DirectoryRequestId,
    #[row(column = "org_id")]
    pub organization_id: OrganizationId,
    pub token_id: DirectoryTokenId,
    pub at: Time,
    pub method: String,
    /// The path with its query.
    pub path: String,
    pub status: i64,
    /// The reason for which it failed.
    pub detail: Option<String>,
    /// The body without passwords, cut to a maximum length.
    pub body: Option<String>,
}

/// The maximum length of a kept path and of a kept body, in bytes.
const MAX_KEPT_PATH: usize = 2000;
const MAX_KEPT_BODY: usize = 8192;

impl DirectoryRequest {
    /// Cuts what is longer than the log keeps.
    #[must_use]
    pub fn cut(self) -> Self {
        let cut = |mut text: String, most: usize| {
            text.truncate(text.floor_char_boundary(most));
            text
        };
        let Self { path, body, .. } = self.clone();
        Self { path: cut(path, MAX_KEPT_PATH), body: body.map(|body| cut(body, MAX_KEPT_BODY)), ..self }
    }
}

/// The text of a body for the log, without passwords.
pub fn loggable(body: &Resource) -> String {
    fn without_passwords(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // The names of attributes and operations have no case.
                let is_password = |text: &str| text.to_lowercase().contains("password");
                let names_one = |(name, value): (&String, &Value)| {
                    name.eq_ignore_ascii_case("path") && value.as_str().is_some_and(is_password)
                };
                let sets_one = fields.iter().any(names_one);
                fields.retain(|name, _| {
                    let is_value = sets_one && name.eq_ignore_ascii_case("value");
                    !is_password(name) && !is_value
                });
                fields.values_mut().for_each(without_passwords);
            }
            Value::Array(items) => items.iter_mut().for_each(without_passwords),
            _ => {}
        }
    }
    let mut value = Value::Object(body.clone());
    without_passwords(&mut value);
    value.to_string()
}

/// A resource: attributes by their names.
pub type Resource = Map<String, Value>;

/// The kind of a failure, as SCIM names it (RFC 7644, table 9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Filter,
    Path,
    Syntax,
    Value,
    NoTarget,
    ReadOnly,
}

impl Fault {
    /// The code of the problem.
    pub fn code(self) -> &'static str {
        match self {
            Self::Filter => "scim_invalid_filter",
            Self::Path => "scim_invalid_path",
            Self::Syntax => "scim_invalid_syntax",
            Self::Value => "scim_invalid_value",
            Self::NoTarget => "scim_no_target",
            Self::ReadOnly => "scim_mutability",
        }
    }
}

/// A request that SCIM refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub fault: Fault,
    pub detail: String,
}

pub(crate) fn refuse<T>(fault: Fault, detail: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { fault, detail: detail.into() })
}

/// The address of a person: the primary one, the one for work, the first one, or a user name that is one.
pub fn address_of(resource: &Resource) -> Option<&str> {
    let emails = resource.get("emails").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let is_work =
        |email: &&Value| email["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("work"));
    let primary = emails.iter().find(|email| email["primary"] == json!(true));
    let chosen = primary.or_else(|| emails.iter().find(is_work)).or_else(|| emails.first());
    let chosen = chosen.and_then(|email| email["value"].as_str());
    chosen.or_else(|| resource.get("userName").and_then(Value::as_str).filter(|name| name.contains('@')))
}

/// The name of a person.
pub fn name_of(resource: &Resource) -> Option<String> {
    let text = |value: Option<&Value>| {
        value.and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    let name = resource.get("name");
    let part = |part: &str| text(name.and_then(|name| name.get(part)));
    let parts: Vec<String> = [part("givenName"), part("familyName")].into_iter().flatten().collect();
    text(resource.get("displayName"))
        .or_else(|| part("formatted"))
        .or_else(|| (!parts.is_empty()).then(|| parts.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn object(value: Value) -> Resource {
        match value {
            Value::Object(map) => map,
            other => panic!("not an object: {other}"),
        }
    }

    #[test]
    fn the_log_has_no_passwords_and_is_cut() {
        let body = object(json!({
            "userName": "eve", "Password": "secret", "name": {"password": "secret"},
            "Operations": [{"op": "replace", "path": "password", "value": "secret"}, {"value": {"password": "secret"}}]
        }));
        assert!(!loggable(&body).contains("secret"), "{}", loggable(&body));
        assert!(loggable(&body).contains("eve"));
        let long = DirectoryRequest {
            id: DirectoryRequestId::from_u128(1),
            organization_id: OrganizationId::from_u128(1),
            token_id: DirectoryTokenId::from_u128(1),
            at: Time::from_millis(0),
            method: "PUT".to_owned(),
            path: "ä".repeat(2000),
            status: 200,
            detail: None,
            body: Some("x".repeat(10_000)),
        };
        let cut = long.cut();
        assert_eq!((cut.path.len(), cut.body.map(|body| body.len())), (2000, Some(8192)));
    }

    #[test]
    fn the_address_is_the_primary_one_or_a_user_name_that_is_one() {
        for (resource, address) in [
            (json!({"userName": "eve"}), None),
            (json!({"userName": "eve@acme.example"}), Some("eve@acme.example")),
            (
                json!({"userName": "x@y", "emails": [{"value": "a"}, {"value": "b", "type": "Work"}]}),
                Some("b"),
            ),
            (json!({"emails": [{"value": "a", "type": "work"}, {"value": "b", "primary": true}]}), Some("b")),
            (json!({"emails": [{"value": "a", "type": "home"}]}), Some("a")),
        ] {
            assert_eq!(address_of(&object(resource)), address);
        }
    }
}
