//! Changes of a resource by PATCH (RFC 7644, 3.5.2), in the shapes that identity providers send.

use serde_json::{Value, json};

use super::filter::Filter;
use super::{Attribute, Fault, Refusal, Resource, Type, is_ignored, named, read, refuse};

/// The maximum number of operations of a request.
const MAX_OPERATIONS: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Add,
    Replace,
    Remove,
}

/// The place that an operation changes.
#[derive(Debug)]
struct Target {
    attribute: &'static Attribute,
    /// Only the values that match.
    filter: Option<Filter>,
    part: Option<&'static Attribute>,
}

/// Applies the operations of a body, all or none.
pub fn apply(of: Type, resource: &Resource, body: &Resource) -> Result<Resource, Refusal> {
    let operations =
        body.iter().find(|(name, _)| name.eq_ignore_ascii_case("Operations")).map(|(_, value)| value);
    let Some(Value::Array(operations)) = operations else {
        return refuse(Fault::Syntax, "Operations must be a list.");
    };
    if operations.is_empty() || operations.len() > MAX_OPERATIONS {
        return refuse(Fault::Syntax, format!("Operations must have 1 to {MAX_OPERATIONS} elements."));
    }
    let mut after = resource.clone();
    for operation in operations {
        run(of, &mut after, operation)?;
    }
    of.must_be_whole(&after)?;
    Ok(after)
}

fn run(of: Type, resource: &mut Resource, operation: &Value) -> Result<(), Refusal> {
    let Value::Object(operation) = operation else {
        return refuse(Fault::Syntax, "Each operation must be an object.");
    };
    let field = |wanted: &str| {
        operation.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
    };
    let action = match field("op").and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
        Some("add") => Action::Add,
        Some("replace") => Action::Replace,
        Some("remove") => Action::Remove,
        _ => return refuse(Fault::Syntax, "op must be add, replace or remove."),
    };
    let path = match field("path") {
        None | Some(Value::Null) => None,
        Some(Value::String(path)) if path.trim().is_empty() => None,
        Some(Value::String(path)) => Some(path.trim()),
        Some(_) => return refuse(Fault::Path, "path must be a text."),
    };
    let value = field("value");
    match (path, value) {
        (Some(path), _) => match target(of, path)? {
            Some(target) => change(resource, action, &target, value),
            None => Ok(()),
        },
        (None, _) if action == Action::Remove => refuse(Fault::NoTarget, "remove needs a path."),
        (None, Some(Value::Object(values))) => {
            for (path, value) in values {
                match target(of, path)? {
                    // Clients send read-only attributes back with a resource that they read.
                    Some(target) if target.attribute.is_read_only => {}
                    Some(target) => change(resource, action, &target, Some(value))?,
                    None => {}
                }
            }
            Ok(())
        }
        (None, _) => refuse(Fault::Syntax, "Without a path, value must be an object."),
    }
}

/// Reads a path; `None` if it names an attribute that is not kept.
fn target(of: Type, path: &str) -> Result<Option<Target>, Refusal> {
    let unknown = || refuse(Fault::Path, format!("{path:?} is not an attribute."));
    let Some((extension, rest)) = of.without_urn(path) else { return unknown() };
    let (attribute, rest) = match extension {
        Some(attribute) => (attribute, rest),
        None => {
            let end = rest.find(['[', '.']).unwrap_or(rest.len());
            let (name, rest) = rest.split_at(end);
            match of.attribute(name) {
                Some(attribute) => (attribute, rest),
                None if is_ignored(name) => return Ok(None),
                None => return unknown(),
            }
        }
    };
    let (filter, rest) = match rest.strip_prefix('[') {
        None => (None, rest),
        Some(_) if attribute.parts().is_empty() || !attribute.is_multi => return unknown(),
        Some(inner) => {
            let Some(end) = closing(inner) else {
                return refuse(Fault::Path, format!("{path:?} has no closing bracket."));
            };
            let filter = Filter::parse_within(attribute, &inner[..end]);
            let filter = filter.map_err(|refusal| Refusal { fault: Fault::Path, ..refusal })?;
            (Some(filter), &inner[end + 1..])
        }
    };
    let part = rest.strip_prefix('.').unwrap_or(rest);
    if part.is_empty() {
        return Ok(Some(Target { attribute, filter, part: None }));
    }
    match named(attribute.parts(), part) {
        Some(part) => Ok(Some(Target { attribute, filter, part: Some(part) })),
        None if is_ignored(part.split(['.', '[']).next().unwrap_or_default()) => Ok(None),
        None => unknown(),
    }
}

/// The place of the bracket that ends a filter, outside of its texts.
fn closing(text: &str) -> Option<usize> {
    let (mut is_text, mut is_escaped) = (false, false);
    text.char_indices().find_map(|(at, c)| {
        match c {
            '"' if !is_escaped => is_text = !is_text,
            ']' if !is_text => return Some(at),
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        None
    })
}

fn change(
    resource: &mut Resource,
    action: Action,
    target: &Target,
    value: Option<&Value>,
) -> Result<(), Refusal> {
    let attribute = target.attribute;
    if attribute.is_read_only || target.part.is_some_and(|part| part.is_read_only) {
        return refuse(Fault::ReadOnly, format!("{} is set by the server.", attribute.name));
    }
    if action != Action::Remove && value.is_none() {
        return refuse(Fault::Value, format!("value is missing for {}.", attribute.name));
    }
    match (&target.filter, target.part) {
        (Some(filter), part) => change_matching(resource, action, attribute, filter, part, value)?,
        (None, Some(part)) => change_part(resource, action, attribute, part, value)?,
        (None, None) => change_whole(resource, action, attribute, value)?,
    }
    tidy(resource, attribute);
    Ok(())
}

/// Removes what has become empty.
fn tidy(resource: &mut Resource, attribute: &Attribute) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Object(parts) => parts.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if let Some(Value::Array(items)) = resource.get_mut(attribute.name) {
        items.retain(|item| !is_empty(item));
    }
    if resource.get(attribute.name).is_some_and(is_empty) {
        resource.remove(attribute.name);
    }
}

fn set(resource: &mut Resource, attribute: &Attribute, value: Option<Value>) {
    match value {
        Some(value) => resource.insert(attribute.name.to_owned(), value),
        None => resource.remove(attribute.name),
    };
}

/// Adds the parts of one value to another.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => into.extend(from),
        (into, from) => *into = from,
    }
}

fn change_whole(
    resource: &mut Resource,
    action: Action,
    attribute: &'static Attribute,
    value: Option<&Value>,
) -> Result<(), Refusal> {
    let given = match value {
        Some(value) => read(attribute, value)?,
        None => None,
    };
    match (action, attribute.is_multi) {
        (Action::Remove, true) if value.is_some_and(|value| !value.is_null()) => {
            if let Some(Value::Array(items)) = resource.get_mut(attribute.name) {
                let gone = Values::of(given.as_ref());
                items.retain(|item| !gone.has(item));
            }
            Ok(())
        }
        (Action::Remove, _) => {
            if attribute.is_required {
                return refuse(Fault::ReadOnly, format!("{} cannot be removed.", attribute.name));
            }
            set(resource, attribute, None);
            Ok(())
        }
        (Action::Add, true) => {
            unite(resource, attribute, given);
            Ok(())
        }
        (Action::Add | Action::Replace, false) if !attribute.parts().is_empty() => {
            match (resource.get_mut(attribute.name), given) {
                (Some(known), Some(given)) => merge(known, given),
                (_, given) => set(resource, attribute, given),
            }
            Ok(())
        }
        (Action::Add | Action::Replace, _) => {
            set(resource, attribute, given);
            Ok(())
        }
    }
}

/// The values of an attribute, by their `value`.
struct Values<'v>(std::collections::HashSet<String>, &'v [Value]);

fn key(item: &Value) -> Option<String> {
    item.get("value").and_then(Value::as_str).map(str::to_lowercase)
}

impl<'v> Values<'v> {
    fn of(value: Option<&'v Value>) -> Self {
        let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        Self(items.iter().filter_map(key).collect(), items)
    }

    fn has(&self, item: &Value) -> bool {
        match key(item) {
            Some(key) => self.0.contains(&key),
            None => self.1.contains(item),
        }
    }
}

/// Adds values to an attribute that has several; those with a known `value` are changed.
fn unite(resource: &mut Resource, attribute: &Attribute, given: Option<Value>) {
    let Some(Value::Array(given)) = given else { return };
    let known = resource.entry(attribute.name).or_insert_with(|| json!([]));
    let Value::Array(items) = known else { return };
    if given.iter().any(|item| item["primary"] == json!(true)) {
        clear_primary(items);
    }
    let mut places: std::collections::HashMap<String, usize> =
        items.iter().enumerate().filter_map(|(place, item)| Some((key(item)?, place))).collect();
    for item in given {
        match key(&item).and_then(|key| places.get(&key).copied()) {
            Some(place) => merge(&mut items[place], item),
            None if items.contains(&item) => {}
            None => {
                places.extend(key(&item).map(|key| (key, items.len())));
                items.push(item);
            }
        }
    }
}

/// Leaves no value primary, because another one becomes it.
fn clear_primary(items: &mut [Value]) {
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        if item.get("primary") == Some(&json!(true)) {
            item.insert("primary".to_owned(), json!(false));
        }
    }
}

fn part_value(part: &'static Attribute, value: Option<&Value>) -> Result<Option<Value>, Refusal> {
    match value {
        Some(value) => read(part, value),
        None => Ok(None),
    }
}

fn set_part(item: &mut Value, part: &Attribute, value: Option<Value>) {
    if !item.is_object() {
        *item = json!({});
    }
    if let Value::Object(parts) = item {
        set(parts, part, value);
    }
}

fn change_part(
    resource: &mut Resource,
    action: Action,
    attribute: &'static Attribute,
    part: &'static Attribute,
    value: Option<&Value>,
) -> Result<(), Refusal> {
    let given = if action == Action::Remove { None } else { part_value(part, value)? };
    if given.is_none() && !resource.contains_key(attribute.name) {
        return Ok(());
    }
    let empty = if attribute.is_multi { json!([{}]) } else { json!({}) };
    match resource.entry(attribute.name).or_insert(empty) {
        Value::Array(items) => items.iter_mut().for_each(|item| set_part(item, part, given.clone())),
        item => set_part(item, part, given),
    }
    Ok(())
}

fn change_matching(
    resource: &mut Resource,
    action: Action,
    attribute: &'static Attribute,
    filter: &Filter,
    part: Option<&'static Attribute>,
    value: Option<&Value>,
) -> Result<(), Refusal> {
    let known = resource.entry(attribute.name).or_insert_with(|| json!([]));
    let Value::Array(items) = known else { return Ok(()) };
    let is_match = |item: &Value| item.as_object().is_some_and(|item| filter.matches(item));
    let Some(value) = value.filter(|_| action != Action::Remove) else {
        match part {
            Some(part) => {
                items.iter_mut().filter(|item| is_match(item)).for_each(|item| set_part(item, part, None));
            }
            None => items.retain(|item| !is_match(item)),
        }
        return Ok(());
    };
    let given = match part {
        Some(part) => part_value(part, Some(value))?.map(|value| json!({(part.name): value})),
        None => {
            let one = Attribute { is_multi: false, ..*attribute };
            read(&one, value)?
        }
    };
    let mut matching: Vec<usize> = (0..items.len()).filter(|place| is_match(&items[*place])).collect();
    if matching.is_empty() {
        // An identity provider that sets the address for work expects it to be added.
        let Some((place, text)) = filter.equality().filter(|(place, _)| place.part.is_none()) else {
            return refuse(Fault::NoTarget, format!("No value of {} matches the path.", attribute.name));
        };
        if given.is_none() {
            return Ok(());
        }
        items.push(json!({(place.attribute.name): text}));
        matching.push(items.len() - 1);
    }
    if given.as_ref().is_some_and(|given| given["primary"] == json!(true)) {
        clear_primary(items);
    }
    for place in matching {
        match (&given, part) {
            (Some(given), _) => merge(&mut items[place], given.clone()),
            (None, Some(part)) => set_part(&mut items[place], part, None),
            (None, None) => items[place] = Value::Null,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{ENTERPRISE, GROUPS, USERS};
    use super::*;

    fn object(value: Value) -> Resource {
        match value {
            Value::Object(map) => map,
            other => panic!("not an object: {other}"),
        }
    }

    fn patched(of: Type, before: Value, operations: &Value) -> Result<Value, Refusal> {
        apply(of, &object(before), &object(json!({"Operations": operations}))).map(Value::Object)
    }

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "literals")]
    fn becomes(of: Type, before: Value, operations: Value, after: Value) {
        assert_eq!(patched(of, before, &operations), Ok(after), "{operations}");
    }

    #[test]
    fn single_values_are_set_and_removed() {
        let eve = json!({"userName": "eve"});
        let add = |path: &str, value: Value| json!([{"op": "Add", "path": path, "value": value}]);
        becomes(USERS, eve.clone(), add("title", json!("CISO")), json!({"userName": "eve", "title": "CISO"}));
        becomes(
            USERS,
            eve.clone(),
            add("active", json!("False")),
            json!({"userName": "eve", "active": false}),
        );
        becomes(
            USERS,
            eve.clone(),
            add("name.givenName", json!("Eve")),
            json!({"userName": "eve", "name": {"givenName": "Eve"}}),
        );
        let department = format!("{ENTERPRISE}:department");
        becomes(
            USERS,
            eve.clone(),
            add(&department, json!("IT")),
            json!({"userName": "eve", (ENTERPRISE): {"department": "IT"}}),
        );
        becomes(
            USERS,
            json!({"userName": "eve", "name": {"givenName": "Eve"}, "title": "x"}),
            json!([{"op": "remove", "path": "name.givenName"}, {"op": "replace", "path": "title", "value": null}]),
            eve.clone(),
        );
        becomes(
            USERS,
            json!({"userName": "eve", "name": {"givenName": "Eve"}}),
            json!([{"op": "replace", "path": "name", "value": {"familyName": "Doe"}}]),
            json!({"userName": "eve", "name": {"givenName": "Eve", "familyName": "Doe"}}),
        );
    }

    #[test]
    fn without_a_path_keys_are_paths() {
        becomes(
            USERS,
            json!({"userName": "eve"}),
            json!([{"op": "replace", "value": {
                "active": false, "name.givenName": "Eve", "id": "x", "schemas": [], "phoneNumbers": [],
                "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:employeeNumber": "7",
                "emails[type eq \"work\"].value": "eve@acme.example"
            }}]),
            json!({
                "userName": "eve", "active": false, "name": {"givenName": "Eve"}, (ENTERPRISE): {"employeeNumber": "7"},
                "emails": [{"type": "work", "value": "eve@acme.example"}]
            }),
        );
    }

    #[test]
    fn members_are_added_and_removed_one_by_one() {
        let group = |members: Value| json!({"displayName": "g", "members": members});
        let (a, b, c) = (json!({"value": "a"}), json!({"value": "b"}), json!({"value": "c"}));
        let both = group(json!([a, b]));
        becomes(
            GROUPS,
            group(json!([a])),
            json!([{"op": "Add", "path": "members", "value": [{"$ref": null, "value": "b"}, {"value": "a"}]}]),
            both.clone(),
        );
        becomes(
            GROUPS,
            both.clone(),
            json!([{"op": "remove", "path": "members[value eq \"a\"]"}]),
            group(json!([b])),
        );
        becomes(
            GROUPS,
            both.clone(),
            json!([{"op": "Remove", "path": "members", "value": [{"value": "b"}, {"value": "x"}]}]),
            group(json!([a])),
        );
        becomes(
            GROUPS,
            both.clone(),
            json!([{"op": "remove", "path": "members"}]),
            json!({"displayName": "g"}),
        );
        becomes(
            GROUPS,
            both.clone(),
            json!([{"op": "replace", "path": "members", "value": [c]}]),
            group(json!([c])),
        );
        becomes(
            GROUPS,
            both,
            json!([{"op": "replace", "path": "members", "value": []}]),
            json!({"displayName": "g"}),
        );
    }

    #[test]
    fn matching_values_are_changed() {
        let emails = |items: Value| json!({"userName": "eve", "emails": items});
        let before =
            emails(json!([{"value": "a", "type": "work", "primary": true}, {"value": "b", "type": "home"}]));
        becomes(
            USERS,
            before.clone(),
            json!([{"op": "replace", "path": "emails[type eq \"work\"].value", "value": "c"}]),
            emails(json!([{"value": "c", "type": "work", "primary": true}, {"value": "b", "type": "home"}])),
        );
        becomes(
            USERS,
            before.clone(),
            json!([{"op": "replace", "path": "emails[type eq \"home\"].primary", "value": true}]),
            emails(json!([
                {"value": "a", "type": "work", "primary": false}, {"value": "b", "type": "home", "primary": true}
            ])),
        );
        becomes(
            USERS,
            before.clone(),
            json!([{"op": "remove", "path": "emails[value eq \"]\" or type eq \"home\"]"}]),
            emails(json!([{"value": "a", "type": "work", "primary": true}])),
        );
        becomes(
            USERS,
            before.clone(),
            json!([{"op": "add", "path": "emails", "value": {"value": "B", "type": "other"}}]),
            emails(json!([{"value": "a", "type": "work", "primary": true}, {"value": "B", "type": "other"}])),
        );
        let refusal = patched(
            USERS,
            before,
            &json!([{"op": "replace", "path": "emails[value sw \"x\"].type", "value": "work"}]),
        );
        assert_eq!(refusal.expect_err("nothing matches").fault, Fault::NoTarget);
    }

    #[test]
    fn anything_else_is_refused() {
        for (operations, fault) in [
            (json!([]), Fault::Syntax),
            (json!([3]), Fault::Syntax),
            (json!([{"op": "move", "path": "title"}]), Fault::Syntax),
            (json!([{"op": "add", "value": "x"}]), Fault::Syntax),
            (json!([{"op": "remove"}]), Fault::NoTarget),
            (json!([{"op": "add", "path": "shoeSize", "value": 3}]), Fault::Path),
            (json!([{"op": "add", "path": "name.shoeSize", "value": 3}]), Fault::Path),
            (json!([{"op": "add", "path": "title[value eq \"x\"]", "value": 3}]), Fault::Path),
            (json!([{"op": "add", "path": "emails[type eq \"work\"", "value": 3}]), Fault::Path),
            (json!([{"op": "add", "path": "urn:x:y", "value": 3}]), Fault::Path),
            (json!([{"op": "replace", "path": "title", "value": 3}]), Fault::Value),
            (json!([{"op": "replace", "path": "title"}]), Fault::Value),
            (json!([{"op": "replace", "path": "userName", "value": ""}]), Fault::Value),
            (json!([{"op": "remove", "path": "userName"}]), Fault::ReadOnly),
            (json!([{"op": "replace", "path": "id", "value": "x"}]), Fault::ReadOnly),
            (json!([{"op": "replace", "path": "groups", "value": []}]), Fault::ReadOnly),
            (
                json!([{"op": "add", "path": "title", "value": "x"}, {"op": "add", "path": "y", "value": 1}]),
                Fault::Path,
            ),
        ] {
            let refusal = patched(USERS, json!({"userName": "eve"}), &operations);
            assert_eq!(refusal.map_err(|refusal| refusal.fault), Err(fault), "{operations}");
        }
        let ignored =
            json!([{"op": "add", "path": "addresses[type eq \"work\"].streetAddress", "value": "x"}]);
        becomes(USERS, json!({"userName": "eve"}), ignored, json!({"userName": "eve"}));
    }
}
