//! The attributes that are kept, as a table, and reading them.

use serde_json::{Value, json};

use super::{Fault, Refusal, Resource, refuse};

pub const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
pub const ENTERPRISE: &str = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
pub const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";

/// The maximum length of a text, in characters.
const MAX_TEXT: usize = 1024;
/// The maximum number of values of an attribute, except the members of a group.
const MAX_VALUES: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Compared without case.
    Text,
    /// Compared with case.
    Exact,
    Boolean,
    DateTime,
    /// The address of a resource of this type.
    Reference(&'static str),
    Complex(&'static [Attribute]),
}

/// An attribute that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    pub name: &'static str,
    pub kind: Kind,
    pub is_multi: bool,
    pub is_required: bool,
    pub is_read_only: bool,
    pub about: &'static str,
}

const fn attribute(name: &'static str, kind: Kind, about: &'static str) -> Attribute {
    Attribute { name, kind, is_multi: false, is_required: false, is_read_only: false, about }
}

impl Attribute {
    const fn multi(self) -> Self {
        Self { is_multi: true, ..self }
    }

    const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    const fn read_only(self) -> Self {
        Self { is_read_only: true, ..self }
    }

    /// The attributes of a complex one.
    pub fn parts(&self) -> &'static [Attribute] {
        match self.kind {
            Kind::Complex(parts) => parts,
            Kind::Text | Kind::Exact | Kind::Boolean | Kind::DateTime | Kind::Reference(_) => &[],
        }
    }
}

/// Attributes of every resource.
pub const COMMON: &[Attribute] = &[
    attribute("id", Kind::Exact, "The id of the resource here.").read_only(),
    attribute(
        "meta",
        Kind::Complex(&[
            attribute("resourceType", Kind::Exact, "The type of the resource.").read_only(),
            attribute("created", Kind::DateTime, "When it was created.").read_only(),
            attribute("lastModified", Kind::DateTime, "When it was last changed.").read_only(),
            attribute("location", Kind::Exact, "Its address.").read_only(),
            attribute("version", Kind::Exact, "Its ETag.").read_only(),
        ]),
        "Facts about the resource.",
    )
    .read_only(),
];

const EXTERNAL_ID: Attribute =
    attribute("externalId", Kind::Exact, "The id of the resource at the identity provider.");

const USER_ATTRIBUTES: &[Attribute] = &[
    EXTERNAL_ID,
    attribute(
        "userName",
        Kind::Text,
        "The name with which the person signs in at the identity provider; unique.",
    )
    .required(),
    attribute("displayName", Kind::Text, "The name that is shown."),
    attribute(
        "name",
        Kind::Complex(&[
            attribute("formatted", Kind::Text, "The whole name."),
            attribute("givenName", Kind::Text, "The given name."),
            attribute("familyName", Kind::Text, "The family name."),
        ]),
        "The parts of the name.",
    ),
    attribute("title", Kind::Text, "The job title."),
    attribute("active", Kind::Boolean, "False keeps the person out, and ends their sessions and keys."),
    attribute(
        "emails",
        Kind::Complex(&[
            attribute("value", Kind::Text, "The address, of a verified domain of the organization."),
            attribute("type", Kind::Text, "The use of the address: work, home, other."),
            attribute("primary", Kind::Boolean, "True for the address of the account."),
        ]),
        "E-mail addresses. The primary one, or the one for work, is the address of the account.",
    )
    .multi(),
    attribute(
        "groups",
        Kind::Complex(&[
            attribute("value", Kind::Exact, "The id of the group.").read_only(),
            attribute("display", Kind::Text, "The name of the group.").read_only(),
            attribute("$ref", Kind::Reference("Group"), "The address of the group.").read_only(),
            attribute("type", Kind::Text, "direct").read_only(),
        ]),
        "The groups of the person; changed at the groups.",
    )
    .multi()
    .read_only(),
    ENTERPRISE_ATTRIBUTE,
];

pub const ENTERPRISE_PARTS: &[Attribute] = &[
    attribute("employeeNumber", Kind::Text, "The number of the person in the company."),
    attribute("department", Kind::Text, "The department."),
];

const ENTERPRISE_ATTRIBUTE: Attribute =
    attribute(ENTERPRISE, Kind::Complex(ENTERPRISE_PARTS), "The person's place in the company.");

const GROUP_ATTRIBUTES: &[Attribute] = &[
    EXTERNAL_ID,
    attribute("displayName", Kind::Text, "The name of the group; unique.").required(),
    attribute(
        "members",
        Kind::Complex(&[
            attribute("value", Kind::Exact, "The id of the person."),
            attribute("$ref", Kind::Reference("User"), "The address of the person."),
        ]),
        "The people of the group.",
    )
    .multi(),
];

/// Attributes of RFC 7643 that are read and not kept. Identity providers send them unasked.
const IGNORED: &[&str] = &[
    "schemas",
    "addresses",
    "phoneNumbers",
    "preferredLanguage",
    "locale",
    "timezone",
    "nickName",
    "profileUrl",
    "userType",
    "ims",
    "photos",
    "entitlements",
    "roles",
    "x509Certificates",
    "password",
    "manager",
    "costCenter",
    "organization",
    "division",
    "middleName",
    "honorificPrefix",
    "honorificSuffix",
    "display",
    "$ref",
    "type",
];

pub(crate) fn is_ignored(name: &str) -> bool {
    IGNORED.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// A type of resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type {
    /// `User` or `Group`.
    pub name: &'static str,
    /// The path of its resources: `/Users`.
    pub endpoint: &'static str,
    pub urn: &'static str,
    pub attributes: &'static [Attribute],
}

pub const USERS: Type = Type { name: "User", endpoint: "/Users", urn: USER, attributes: USER_ATTRIBUTES };
pub const GROUPS: Type =
    Type { name: "Group", endpoint: "/Groups", urn: GROUP, attributes: GROUP_ATTRIBUTES };

/// Finds an attribute by its name, whose case does not matter.
pub(crate) fn named<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name))
}

impl Type {
    pub(crate) fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        named(self.attributes, name).or_else(|| named(COMMON, name))
    }

    /// Returns a name without the URN of its schema, and the attribute that an extension's URN stands for. `None`: the
    /// URN is of no schema of this type.
    pub(crate) fn without_urn<'p>(&self, path: &'p str) -> Option<(Option<&'static Attribute>, &'p str)> {
        let is_urn = path.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("urn:"));
        if !is_urn {
            return Some((None, path));
        }
        let rest = |urn: &str| -> Option<&'p str> {
            let (start, rest) = path.split_at_checked(urn.len())?;
            match start.eq_ignore_ascii_case(urn) {
                true if rest.is_empty() => Some(rest),
                true => rest.strip_prefix(':').or_else(|| rest.strip_prefix('.')),
                false => None,
            }
        };
        for attribute in self.attributes.iter().filter(|one| one.name.starts_with("urn:")) {
            if let Some(rest) = rest(attribute.name) {
                return Some((Some(attribute), rest));
            }
        }
        rest(self.urn).filter(|rest| !rest.is_empty()).map(|rest| (None, rest))
    }

    /// Reads a resource: attributes that are kept, under their names. Others are left out.
    pub fn read(&self, body: &Resource) -> Result<Resource, Refusal> {
        let mut found = Resource::new();
        for (name, value) in body {
            let Some(attribute) = named(self.attributes, name).filter(|attribute| !attribute.is_read_only)
            else {
                continue;
            };
            if let Some(value) = read(attribute, value)? {
                found.insert(attribute.name.to_owned(), value);
            }
        }
        self.must_be_whole(&found)?;
        Ok(found)
    }

    /// Checks that a resource has its required attributes.
    pub fn must_be_whole(&self, resource: &Resource) -> Result<(), Refusal> {
        let is_there = |attribute: &&Attribute| {
            resource.get(attribute.name).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
        };
        match self.attributes.iter().filter(|attribute| attribute.is_required).find(|one| !is_there(one)) {
            Some(missing) => refuse(Fault::Value, format!("{} is required.", missing.name)),
            None => Ok(()),
        }
    }
}

/// Reads the value of an attribute; `None` if it says that there is none.
pub(crate) fn read(attribute: &Attribute, value: &Value) -> Result<Option<Value>, Refusal> {
    if !attribute.is_multi {
        return read_one(attribute, value);
    }
    let items = match value {
        Value::Null => return Ok(None),
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    if items.len() > MAX_VALUES && attribute.name != "members" {
        return refuse(Fault::Value, format!("{} has more than {MAX_VALUES} values.", attribute.name));
    }
    let mut all: Vec<Value> = Vec::with_capacity(items.len());
    for item in items {
        all.extend(read_one(attribute, item)?);
    }
    let primaries = all.iter().filter(|item| item["primary"] == json!(true)).count();
    if primaries > 1 {
        return refuse(Fault::Value, format!("{} has more than one primary value.", attribute.name));
    }
    Ok((!all.is_empty()).then_some(Value::Array(all)))
}

fn read_one(attribute: &Attribute, value: &Value) -> Result<Option<Value>, Refusal> {
    let name = attribute.name;
    match (attribute.kind, value) {
        (_, Value::Null) => Ok(None),
        (Kind::Text | Kind::Exact | Kind::DateTime | Kind::Reference(_), Value::String(text)) => {
            if text.chars().count() > MAX_TEXT || text.contains('\0') {
                return refuse(
                    Fault::Value,
                    format!("{name} must be a text of at most {MAX_TEXT} characters."),
                );
            }
            Ok((!text.is_empty()).then(|| value.clone()))
        }
        (Kind::Text | Kind::Exact | Kind::DateTime | Kind::Reference(_), _) => {
            refuse(Fault::Value, format!("{name} must be a text."))
        }
        (Kind::Boolean, Value::Bool(_)) => Ok(Some(value.clone())),
        // Some providers send the words.
        (Kind::Boolean, Value::String(word)) if word.eq_ignore_ascii_case("true") => Ok(Some(json!(true))),
        (Kind::Boolean, Value::String(word)) if word.eq_ignore_ascii_case("false") => Ok(Some(json!(false))),
        (Kind::Boolean, _) => refuse(Fault::Value, format!("{name} must be true or false.")),
        (Kind::Complex(parts), Value::Object(fields)) => {
            let mut found = Resource::new();
            for (part, value) in fields {
                let Some(part) = named(parts, part).filter(|part| !part.is_read_only) else { continue };
                if let Some(value) = read_one(part, value)? {
                    found.insert(part.name.to_owned(), value);
                }
            }
            Ok((!found.is_empty()).then_some(Value::Object(found)))
        }
        (Kind::Complex(_), _) => refuse(Fault::Value, format!("{name} must be an object.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::directory::tests::object;

    #[test]
    fn attributes_are_read_by_their_names_and_others_left_out() {
        let read = USERS.read(&object(json!({
            "schemas": [USER], "ID": "x", "USERNAME": "Eve", "active": "True", "password": "secret", "roles": [],
            "name": {"givenName": "Eve", "middleName": "M"}, "emails": {"value": "eve@acme.example", "primary": true},
            "title": null, "displayName": "", (ENTERPRISE): {"department": "IT", "manager": {"value": "x"}}
        })));
        let expected = json!({
            "userName": "Eve", "active": true, "name": {"givenName": "Eve"},
            "emails": [{"value": "eve@acme.example", "primary": true}], (ENTERPRISE): {"department": "IT"}
        });
        assert_eq!(Value::Object(read.expect("read")), expected);
    }

    #[test]
    fn wrong_values_are_refused() {
        for (body, detail) in [
            (json!({}), "userName is required."),
            (json!({"userName": " "}), "userName is required."),
            (json!({"userName": 3}), "userName must be a text."),
            (json!({"userName": "a", "active": "yes"}), "active must be true or false."),
            (json!({"userName": "a", "name": "Eve"}), "name must be an object."),
            (
                json!({"userName": "a", "emails": [{"value": "a", "primary": true}, {"value": "b", "primary": true}]}),
                "emails has more than one primary value.",
            ),
        ] {
            let refusal = USERS.read(&object(body)).expect_err(detail);
            assert_eq!((refusal.fault, refusal.detail.as_str()), (Fault::Value, detail));
        }
    }
}
