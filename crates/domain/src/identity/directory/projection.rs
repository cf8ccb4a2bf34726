//! The attributes of a response.

use serde_json::Value;

use super::{Resource, Type};

/// A selection of attributes of a response (RFC 7644, 3.9).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projection {
    /// Only these; all if there are none.
    pub only: Vec<Vec<String>>,
    pub without: Vec<Vec<String>>,
}

impl Projection {
    /// Reads the parameters `attributes` and `excludedAttributes`. Unknown names select nothing.
    pub fn of(of: &Type, attributes: &str, excluded: &str) -> Self {
        let names = |list: &str| -> Vec<Vec<String>> {
            let all = list.split(',').map(str::trim).filter(|name| !name.is_empty());
            all.filter_map(|name| {
                let (extension, rest) = of.without_urn(name)?;
                let first = extension.map(|one| one.name.to_lowercase());
                let parts = rest.split('.').filter(|part| !part.is_empty()).map(str::to_lowercase);
                Some(first.into_iter().chain(parts).collect())
            })
            .collect()
        };
        Self { only: names(attributes), without: names(excluded) }
    }

    /// True if the response has this attribute.
    pub fn has(&self, name: &str) -> bool {
        let is_named =
            |path: &Vec<String>| path.first().is_some_and(|first| first.eq_ignore_ascii_case(name));
        let is_left_out = |path: &Vec<String>| path.len() == 1 && is_named(path);
        (self.only.is_empty() || self.only.iter().any(is_named)) && !self.without.iter().any(is_left_out)
    }

    /// Applies the selection. `schemas` and `id` always stay, and so do required attributes unless others are named.
    pub fn apply(&self, resource: Resource) -> Resource {
        let always = |name: &str| name == "schemas" || name == "id";
        let part_paths = |paths: &[Vec<String>], name: &str| -> Vec<String> {
            let own = paths.iter().filter(|path| path.len() > 1 && path[0].eq_ignore_ascii_case(name));
            own.map(|path| path[1].clone()).collect()
        };
        let mut kept = Resource::new();
        for (name, mut value) in resource {
            if !always(&name) && !self.has(&name) {
                continue;
            }
            let is_whole = self.only.is_empty()
                || self.only.iter().any(|path| path.len() == 1 && path[0].eq_ignore_ascii_case(&name));
            let only = if is_whole { Vec::new() } else { part_paths(&self.only, &name) };
            let without = part_paths(&self.without, &name);
            if !only.is_empty() || !without.is_empty() {
                let items = match &mut value {
                    Value::Array(items) => items.as_mut_slice(),
                    one => std::slice::from_mut(one),
                };
                for item in items.iter_mut().filter_map(Value::as_object_mut) {
                    item.retain(|part, _| {
                        let is = |named: &String| named.eq_ignore_ascii_case(part);
                        (only.is_empty() || only.iter().any(is)) && !without.iter().any(is)
                    });
                }
            }
            kept.insert(name, value);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::identity::directory::tests::object;
    use crate::identity::directory::{ENTERPRISE, USER, USERS};

    #[test]
    fn responses_have_the_named_attributes() {
        let whole = || {
            object(json!({
                "schemas": [USER], "id": "1", "userName": "eve", "emails": [{"value": "a", "type": "work"}],
                (ENTERPRISE): {"department": "IT", "employeeNumber": "7"}
            }))
        };
        let with =
            |only: &str, without: &str| Value::Object(Projection::of(&USERS, only, without).apply(whole()));
        assert_eq!(with("", ""), Value::Object(whole()));
        assert_eq!(with("username", ""), json!({"schemas": [USER], "id": "1", "userName": "eve"}));
        assert_eq!(
            with("emails.value", ""),
            json!({"schemas": [USER], "id": "1", "emails": [{"value": "a"}]})
        );
        let department = format!("{ENTERPRISE}:department");
        assert_eq!(
            with(&department, ""),
            json!({"schemas": [USER], "id": "1", (ENTERPRISE): {"department": "IT"}})
        );
        let all_but = with("", &format!("emails, {ENTERPRISE}"));
        assert_eq!(all_but, json!({"schemas": [USER], "id": "1", "userName": "eve"}));
    }
}
