//! Writes a framework as an OSCAL catalog.

use std::collections::HashMap;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::{Value, json};

use super::{GUIDANCE, OWN_NAMESPACE, STATEMENT, UNVERSIONED, VERSION, code, line};
use crate::frameworks::{Framework, Requirement};
use crate::time::Time;

/// Writes a catalog: themes become groups, requirements become controls.
pub fn write(framework: &Framework, at: Time) -> Value {
    let mut ids = Ids::default();
    // Imported ids are preserved; the others are derived without colliding with them.
    let kept: Vec<Option<String>> =
        framework.requirements.iter().map(|one| ids.exactly(&one.control_id)).collect();
    // The first group contains the requirements without a theme.
    let mut groups: Vec<(&str, Option<String>, Vec<Value>)> = vec![("", None, Vec::new())];
    let mut known = HashMap::from([(("", ""), 0)]);
    let mut places = Vec::with_capacity(kept.len());
    for one in &framework.requirements {
        let (theme, group) = (one.theme.as_str(), one.group_id.as_str());
        let key = if theme.is_empty() { ("", "") } else { (theme, group) };
        places.push(*known.entry(key).or_insert_with(|| {
            groups.push((theme, ids.exactly(group), Vec::new()));
            groups.len() - 1
        }));
    }
    let controls: Vec<String> = kept
        .into_iter()
        .zip(&framework.requirements)
        .map(|(kept, one)| kept.unwrap_or_else(|| ids.of(&one.code)))
        .collect();
    let in_order = places.is_sorted();
    for (position, (one, (id, place))) in
        framework.requirements.iter().zip(controls.into_iter().zip(places)).enumerate()
    {
        let position = (!in_order).then_some(position);
        groups[place].2.push(control(one, &id, position, &mut ids));
    }
    let mut groups = groups.into_iter();
    let top = groups.next().map(|(.., controls)| controls).unwrap_or_default();
    let groups = groups
        .map(|(theme, id, controls)| {
            let id = id.unwrap_or_else(|| ids.of(theme));
            json!({"id": id, "title": line(theme), "controls": controls})
        })
        .collect();

    let version = Some(line(&framework.version)).filter(|version| !version.is_empty());
    let mut metadata = json!({
        "title": line(&framework.name),
        "last-modified": at,
        "version": version.as_deref().unwrap_or(UNVERSIONED),
        "oscal-version": VERSION,
    });
    let props = [
        ("alias", &framework.alias),
        ("source", &framework.source),
        ("licence", &framework.licence),
        ("attribution", &framework.attribution),
    ];
    let props = props.into_iter().filter_map(|(name, text)| own(name, text)).collect();
    put(&mut metadata, "props", props);
    if !framework.description.is_empty() {
        metadata["remarks"] = framework.description.as_str().into();
    }
    let mut catalog =
        json!({"uuid": uuid(&format!("{OWN_NAMESPACE}:{}", framework.id)), "metadata": metadata});
    put(&mut catalog, "groups", groups);
    put(&mut catalog, "controls", top);
    json!({"catalog": catalog})
}

fn control(one: &Requirement, id: &str, position: Option<usize>, ids: &mut Ids) -> Value {
    let (label, title, class) = (line(&one.code), line(&one.title), token(&one.kind));
    let mut props = Vec::new();
    if !label.is_empty() {
        props.push(json!({"name": "label", "value": label}));
    }
    if code(&label, &title) != one.code {
        props.extend(own("code", &one.code));
    }
    if class != one.kind {
        props.extend(own("kind", &one.kind));
    }
    props.extend(position.and_then(|position| own("position", &position.to_string())));
    props.extend(one.tags.iter().filter_map(|tag| own("tag", tag)));
    let mut parts = Vec::new();
    // Guidance that was also read as the statement is written once.
    if !one.objective.is_empty() && one.objective != one.guidance {
        let id = ids.of(&format!("{id}_smt"));
        parts.push(json!({"id": id, "name": STATEMENT, "prose": one.objective}));
    }
    if !one.guidance.is_empty() {
        let id = ids.of(&format!("{id}_gdn"));
        parts.push(json!({"id": id, "name": GUIDANCE, "prose": one.guidance}));
    }
    let mut control = json!({"id": id, "title": if title.is_empty() { label } else { title }});
    if !class.is_empty() {
        control["class"] = class.into();
    }
    put(&mut control, "props", props);
    put(&mut control, "parts", parts);
    control
}

/// Sets a property to an array, unless it is empty: OSCAL does not allow empty arrays.
fn put(object: &mut Value, name: &str, all: Vec<Value>) {
    if !all.is_empty() {
        object[name] = all.into();
    }
}

/// A property in our own namespace. Text that is not a valid one-line value goes into its remarks.
fn own(name: &str, text: &str) -> Option<Value> {
    let value = line(text);
    if value.is_empty() {
        return None;
    }
    let mut property = json!({"name": name, "ns": OWN_NAMESPACE, "value": value});
    if value != text {
        property["remarks"] = text.into();
    }
    Some(property)
}

/// A UUID of version 5 in the URL namespace.
pub(super) fn uuid(name: &str) -> String {
    let mut bytes = uuid::Uuid::NAMESPACE_URL.as_bytes().to_vec();
    bytes.extend_from_slice(name.as_bytes());
    let mut first = [0; 16];
    first.copy_from_slice(&digest(&SHA1_FOR_LEGACY_USE_ONLY, &bytes).as_ref()[..16]);
    uuid::Builder::from_sha1_bytes(first).into_uuid().to_string()
}

/// The ids that are in use in a catalog.
#[derive(Default)]
struct Ids(HashMap<String, usize>);

impl Ids {
    /// Reserves exactly this id, if it is valid and not in use.
    fn exactly(&mut self, id: &str) -> Option<String> {
        if id.is_empty() || token(id) != id || self.0.contains_key(id) {
            return None;
        }
        self.0.insert(id.to_owned(), 1);
        Some(id.to_owned())
    }

    /// Reserves an id derived from the text, with a number if it is in use.
    fn of(&mut self, text: &str) -> String {
        let name = Some(token(text)).filter(|token| !token.is_empty()).unwrap_or_else(|| "r".to_owned());
        let mut id = name.clone();
        while self.0.contains_key(&id) {
            let count = self.0.entry(name.clone()).or_default();
            *count += 1;
            id = format!("{name}-{count}");
        }
        self.0.insert(id.clone(), 1);
        id
    }
}

/// Converts a text to an OSCAL token, such as `164.308(a)(1)` to `r-164.308-a-1`. Tokens begin with a letter and
/// contain letters, digits, `.`, `-` and `_`.
pub(super) fn token(text: &str) -> String {
    let mut token = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' => token.push(c),
            _ if token.ends_with(['-', '.']) => {}
            _ => token.push('-'),
        }
    }
    let token = token.trim_matches('-');
    match token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || token.is_empty() {
        true => token.to_owned(),
        false => format!("r-{token}"),
    }
}
