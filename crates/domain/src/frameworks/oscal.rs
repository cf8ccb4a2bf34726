//! Frameworks as OSCAL catalogs, NIST's format for controls: read from others, written for others.

use std::collections::{BTreeMap, HashMap};

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::{Map, Value, json};

use super::drafts::{LONGEST_CODE, LONGEST_TEXT, LONGEST_TITLE, MOST_REQUIREMENTS, MOST_WRONG};
use super::{Framework, FrameworkDraft, Requirement, RequirementDraft, Wrong};
use crate::time::Time;

const VERSION: &str = "1.1.3";
/// What OSCAL has no place for is kept in properties of this namespace.
const OURS: &str = "urn:attestry:framework";
/// The namespace of properties that name none.
const THEIRS: &str = "http://csrc.nist.gov/ns/oscal";
/// A catalog must have a version, a framework need not.
const UNVERSIONED: &str = "unversioned";
const UNKNOWN: &str = "[…]";
/// What a document of OSCAL holds.
pub const MODELS: &[&str] = &[
    "catalog",
    "profile",
    "component-definition",
    "mapping-collection",
    "system-security-plan",
    "assessment-plan",
    "assessment-results",
    "plan-of-action-and-milestones",
];

const MOST_DEPTH: usize = 20;
const MOST_PUBLISHERS: usize = 10;
/// What stands for a parameter is cut when it is longer: one can be inserted many times.
const LONGEST_PARAMETER: usize = 1000;

type Object = Map<String, Value>;

/// Writes a catalog: a group a theme, a control a requirement.
pub fn write(framework: &Framework, at: Time) -> Value {
    let mut ids = Ids::default();
    let controls: Vec<String> = framework.requirements.iter().map(|one| ids.of(&one.code)).collect();
    // The first holds what has no theme.
    let mut groups: Vec<(&str, Vec<Value>)> = vec![("", Vec::new())];
    let mut known = HashMap::from([("", 0)]);
    let mut places = Vec::with_capacity(controls.len());
    for one in &framework.requirements {
        places.push(*known.entry(one.theme.as_str()).or_insert_with(|| {
            groups.push((&one.theme, Vec::new()));
            groups.len() - 1
        }));
    }
    let in_order = places.is_sorted();
    for (position, (one, (id, place))) in
        framework.requirements.iter().zip(controls.into_iter().zip(places)).enumerate()
    {
        let position = (!in_order).then_some(position);
        groups[place].1.push(control(one, &id, position, &mut ids));
    }
    let mut groups = groups.into_iter();
    let top = groups.next().map(|(_, controls)| controls).unwrap_or_default();
    let groups = groups
        .map(|(theme, controls)| json!({"id": ids.of(theme), "title": line(theme), "controls": controls}))
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
    let mut catalog = json!({"uuid": uuid(&format!("{OURS}:{}", framework.id)), "metadata": metadata});
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
    if !one.objective.is_empty() {
        let id = ids.of(&format!("{id}_smt"));
        parts.push(json!({"id": id, "name": "statement", "prose": one.objective}));
    }
    let mut control = json!({"id": id, "title": if title.is_empty() { label } else { title }});
    if !class.is_empty() {
        control["class"] = class.into();
    }
    put(&mut control, "props", props);
    put(&mut control, "parts", parts);
    control
}

/// Arrays of a catalog must not be empty.
fn put(object: &mut Value, name: &str, all: Vec<Value>) {
    if !all.is_empty() {
        object[name] = all.into();
    }
}

/// A property of ours; what is no value on one line is kept in its remarks.
fn own(name: &str, text: &str) -> Option<Value> {
    let value = line(text);
    if value.is_empty() {
        return None;
    }
    let mut property = json!({"name": name, "ns": OURS, "value": value});
    if value != text {
        property["remarks"] = text.into();
    }
    Some(property)
}

/// A UUID of version 5, in the namespace of URLs.
fn uuid(name: &str) -> String {
    let mut bytes = uuid::Uuid::NAMESPACE_URL.as_bytes().to_vec();
    bytes.extend_from_slice(name.as_bytes());
    let mut first = [0; 16];
    first.copy_from_slice(&digest(&SHA1_FOR_LEGACY_USE_ONLY, &bytes).as_ref()[..16]);
    uuid::Builder::from_sha1_bytes(first).into_uuid().to_string()
}

/// The ids that a catalog has given out.
#[derive(Default)]
struct Ids(HashMap<String, usize>);

impl Ids {
    /// A token like the text, with a number where another one has it.
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

/// `164.308(a)(1)` as `r-164.308-a-1`: OSCAL's tokens begin with a letter and hold letters, digits, `.`, `-` and `_`.
fn token(text: &str) -> String {
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

/// Text as one line, as OSCAL wants titles and values.
fn line(text: &str) -> String {
    let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    text.replace(is_break, " ").trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}').to_owned()
}

/// Text in lines, without what cannot be kept.
fn lines(text: &str) -> String {
    let is_strange = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    text.replace("\r\n", "\n").replace('\r', "\n").replace(is_strange, "").trim().to_owned()
}

fn cut(text: String, longest: usize) -> String {
    if text.len() <= longest || text.chars().count() <= longest {
        return text;
    }
    text.chars().take(longest - 1).chain(['…']).collect()
}

/// A label without the title that some put before it: `GV.OC` of `Organizational Context (GV.OC)`.
fn code<'a>(label: &'a str, title: &str) -> &'a str {
    let bare = || label.strip_prefix(title)?.trim_start().strip_prefix('(')?.strip_suffix(')');
    bare().map(str::trim).filter(|code| !code.is_empty()).unwrap_or(label)
}

/// Reads `{"catalog": …}`. Every control is a requirement, those inside of others too; withdrawn ones are left out.
pub fn read(document: &Value) -> Result<FrameworkDraft, Vec<Wrong>> {
    let wrong = |message: String| Err(vec![Wrong { field: "catalog".to_owned(), message }]);
    let catalog = match document.get("catalog") {
        Some(Value::Object(catalog)) => catalog,
        Some(_) => return wrong("must be an object".to_owned()),
        None => {
            let other = MODELS.iter().find(|name| document.get(**name).is_some());
            return wrong(match other {
                Some(name) => format!("is missing; this is another OSCAL document, a {name}"),
                None => "is missing; an OSCAL catalog is an object with a catalog".to_owned(),
            });
        }
    };
    let mut reader = Reader { parameters: parameters(catalog), ..Reader::default() };
    let mut draft = reader.metadata(catalog);
    reader.level(catalog, "catalog", "", 0);
    if reader.found.is_empty() && reader.wrong.is_empty() {
        reader.report("catalog", "must hold at least one control that is not withdrawn");
    }
    if !reader.wrong.is_empty() {
        return Err(reader.wrong);
    }
    // Only ours have a position; the others stay as they are.
    reader.found.sort_by_key(|(position, _)| *position);
    draft.requirements = reader.found.into_iter().map(|(_, requirement)| requirement).collect();
    Ok(draft)
}

struct Property<'v> {
    path: String,
    name: &'v str,
    ns: &'v str,
    has_class: bool,
    value: &'v str,
    remarks: &'v str,
}

impl Property<'_> {
    /// What we keep in it.
    fn text(&self) -> &str {
        if self.remarks.is_empty() { self.value } else { self.remarks }
    }
}

/// The properties of one thing.
struct Properties<'v>(Vec<Property<'v>>);

impl<'v> Properties<'v> {
    fn own(&self, name: &str) -> impl Iterator<Item = &Property<'v>> {
        self.0.iter().filter(move |one| one.ns == OURS && one.name == name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.own(name).map(Property::text).next()
    }

    /// The plain label, or else the first of those that are of some class.
    fn label(&self) -> Option<&Property<'v>> {
        let is_label =
            |one: &&Property<'v>| one.ns == THEIRS && one.name == "label" && !line(one.value).is_empty();
        let mut labels = self.0.iter().filter(is_label);
        labels.clone().find(|one| !one.has_class).or_else(|| labels.next())
    }

    fn is_withdrawn(&self) -> bool {
        self.0.iter().any(|one| one.name == "status" && one.value.trim().eq_ignore_ascii_case("withdrawn"))
    }
}

#[derive(Default)]
struct Reader<'v> {
    /// What stands for each parameter.
    parameters: HashMap<&'v str, String>,
    /// Where each code was found.
    codes: HashMap<String, String>,
    found: Vec<(usize, RequirementDraft)>,
    wrong: Vec<Wrong>,
    is_over: bool,
}

impl<'v> Reader<'v> {
    fn report(&mut self, field: impl Into<String>, message: impl Into<String>) {
        if self.wrong.len() < MOST_WRONG {
            self.wrong.push(Wrong { field: field.into(), message: message.into() });
        }
        self.is_over |= self.wrong.len() >= MOST_WRONG;
    }

    fn text(&mut self, object: &'v Object, name: &str, path: &str) -> &'v str {
        match object.get(name) {
            None | Some(Value::Null) => "",
            Some(Value::String(text)) => text,
            Some(_) => {
                self.report(format!("{path}.{name}"), "must be a string");
                ""
            }
        }
    }

    /// The objects of an array, each with its path.
    fn objects(&mut self, object: &'v Object, name: &str, path: &str) -> Vec<(String, &'v Object)> {
        let all = match object.get(name) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(all)) => all,
            Some(_) => {
                self.report(format!("{path}.{name}"), "must be an array");
                return Vec::new();
            }
        };
        let mut objects = Vec::with_capacity(all.len());
        for (place, one) in all.iter().enumerate() {
            if self.is_over {
                break;
            }
            let path = format!("{path}.{name}[{place}]");
            match one {
                Value::Object(one) => objects.push((path, one)),
                _ => self.report(path, "must be an object"),
            }
        }
        objects
    }

    fn properties(&mut self, object: &'v Object, path: &str) -> Properties<'v> {
        let mut all = Vec::new();
        for (path, one) in self.objects(object, "props", path) {
            let ns = self.text(one, "ns", &path);
            all.push(Property {
                name: self.text(one, "name", &path),
                ns: if ns.is_empty() { THEIRS } else { ns },
                has_class: one.contains_key("class"),
                value: self.text(one, "value", &path),
                remarks: self.text(one, "remarks", &path),
                path,
            });
        }
        Properties(all)
    }

    fn is_at_most(&mut self, text: &str, longest: usize, field: &str) -> bool {
        let length = text.chars().count();
        if length > longest {
            self.report(field, format!("must have at most {longest} characters; it has {length}"));
        }
        length <= longest
    }

    fn title(&mut self, object: &'v Object, path: &str) -> String {
        let title = line(self.text(object, "title", path));
        self.is_at_most(&title, LONGEST_TITLE, &format!("{path}.title"));
        title
    }

    fn metadata(&mut self, catalog: &'v Object) -> FrameworkDraft {
        let path = "catalog.metadata";
        let metadata = match catalog.get("metadata") {
            Some(Value::Object(metadata)) => metadata,
            Some(_) => {
                self.report(path, "must be an object");
                return FrameworkDraft::default();
            }
            None => {
                self.report(path, "is missing");
                return FrameworkDraft::default();
            }
        };
        let properties = self.properties(metadata, path);
        let text = |name: &str| properties.text(name).map(|text| cut(lines(text), LONGEST_TEXT));
        let name = self.title(metadata, path);
        if name.is_empty() {
            self.report(format!("{path}.title"), "must not be empty");
        }
        let version = line(self.text(metadata, "version", path));
        FrameworkDraft {
            alias: properties.text("alias").map(line).filter(|alias| !alias.is_empty()),
            name,
            description: cut(lines(self.text(metadata, "remarks", path)), LONGEST_TEXT),
            version: if version == UNVERSIONED { String::new() } else { version },
            source: text("source").unwrap_or_else(|| self.publishers(metadata, path)),
            licence: text("licence").unwrap_or_default(),
            attribution: text("attribution").unwrap_or_default(),
            requirements: Vec::new(),
        }
    }

    /// Who a catalog of somebody else is from.
    fn publishers(&mut self, metadata: &'v Object, path: &str) -> String {
        let mut names: Vec<String> = Vec::new();
        for (path, party) in self.objects(metadata, "parties", path) {
            let name = line(self.text(party, "name", &path));
            if !name.is_empty() && !names.contains(&name) && names.len() < MOST_PUBLISHERS {
                names.push(name);
            }
        }
        cut(names.join("; "), LONGEST_TEXT)
    }

    /// The controls and groups of a catalog, a group or a control.
    fn level(&mut self, object: &'v Object, path: &str, theme: &str, depth: usize) {
        let controls = self.objects(object, "controls", path);
        let groups = self.objects(object, "groups", path);
        if depth >= MOST_DEPTH
            && let Some((path, _)) = controls.first().or(groups.first())
        {
            self.report(path, format!("groups and controls can be nested at most {MOST_DEPTH} deep"));
            return;
        }
        for (path, control) in controls {
            if self.is_over {
                return;
            }
            let properties = self.properties(control, &path);
            if !properties.is_withdrawn() {
                self.requirement(control, &path, theme, &properties);
                self.level(control, &path, theme, depth + 1);
            }
        }
        for (path, group) in groups {
            if self.is_over {
                return;
            }
            if !self.properties(group, &path).is_withdrawn() {
                let title = self.title(group, &path);
                let theme = if title.is_empty() { theme } else { &title };
                self.level(group, &path, theme, depth + 1);
            }
        }
    }

    fn requirement(&mut self, control: &'v Object, path: &str, theme: &str, properties: &Properties<'v>) {
        if self.found.len() == MOST_REQUIREMENTS {
            self.report("catalog", format!("must hold at most {MOST_REQUIREMENTS} controls"));
            self.is_over = true;
            return;
        }
        let title = self.title(control, path);
        if title.is_empty() {
            self.report(format!("{path}.title"), "must not be empty");
        }
        let code = self.code(control, path, &title, properties);
        let class = line(self.text(control, "class", path));
        let kind = properties.text("kind").map_or(class, line);
        let position = properties.text("position").and_then(|position| position.parse().ok());
        let requirement = RequirementDraft {
            code,
            title,
            theme: theme.to_owned(),
            kind: if kind.is_empty() { "control".to_owned() } else { kind },
            objective: self.objective(control, path),
            tags: properties.own("tag").map(|tag| line(tag.text())).filter(|tag| !tag.is_empty()).collect(),
        };
        self.found.push((position.unwrap_or(usize::MAX), requirement));
    }

    fn code(&mut self, control: &'v Object, path: &str, title: &str, properties: &Properties<'v>) -> String {
        let id = self.text(control, "id", path);
        let (field, code) = match (properties.own("code").next(), properties.label()) {
            (Some(own), _) => (format!("{}.value", own.path), line(own.text())),
            (None, Some(label)) => {
                (format!("{}.value", label.path), code(&line(label.value), title).to_owned())
            }
            (None, None) => (format!("{path}.id"), line(id)),
        };
        if code.is_empty() {
            self.report(field, "must not be empty");
        } else if self.is_at_most(&code, LONGEST_CODE, &field) {
            let first = self.codes.entry(code.clone()).or_insert_with(|| path.to_owned()).clone();
            if first != path {
                self.report(field, format!("{code:?} is already the code of {first}"));
            }
        }
        code
    }

    /// What a control states; of one without a statement, the first other text that asks for something.
    fn objective(&mut self, control: &'v Object, path: &str) -> String {
        let parts = self.objects(control, "parts", path);
        let is_statement = |part: &Object| part.get("name").and_then(Value::as_str) == Some("statement");
        let has_statement = parts.iter().any(|(_, part)| is_statement(part));
        let mut text = String::new();
        for (path, part) in &parts {
            if is_statement(part) || (!has_statement && text.is_empty()) {
                self.part(part, path, 0, &mut text);
            }
        }
        cut(lines(&text), LONGEST_TEXT)
    }

    /// A line for the part, and one for each item below it.
    fn part(&mut self, part: &'v Object, path: &str, depth: usize, text: &mut String) {
        let name = self.text(part, "name", path);
        if name.starts_with("assessment") || is_enough(text, LONGEST_TEXT) {
            return;
        }
        let title = line(self.text(part, "title", path));
        let prose = lines(self.text(part, "prose", path));
        let prose = filled(&prose, LONGEST_TEXT, |id| self.parameters.get(id).cloned());
        let properties = self.properties(part, path);
        let label = properties.label().filter(|_| depth > 0).map(|label| line(label.value));
        let label = label.as_deref().unwrap_or_default();
        let said: Vec<&str> =
            [label, &title, prose.trim()].into_iter().filter(|one| !one.is_empty()).collect();
        if !said.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&"  ".repeat(depth.saturating_sub(1)));
            text.push_str(if depth > 0 && label.is_empty() { "- " } else { "" });
            let said = said.join(" ");
            match depth {
                0 => text.push_str(&said),
                _ => text.push_str(&below(&said, depth)),
            }
        }
        let parts = self.objects(part, "parts", path);
        if depth >= MOST_DEPTH
            && let Some((path, _)) = parts.first()
        {
            self.report(path, format!("parts can be nested at most {MOST_DEPTH} deep"));
            return;
        }
        for (path, part) in &parts {
            self.part(part, path, depth + 1, text);
        }
    }
}

/// Lines of an item, those after the first as far in as what is below it.
fn below(text: &str, depth: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(&format!("\n{}", "  ".repeat(depth)))
}

/// Whether text will be cut whatever follows: no character takes more than four bytes.
fn is_enough(text: &str, longest: usize) -> bool {
    text.len() > 4 * longest
}

/// Prose with something readable at the places where parameters are inserted.
fn filled(prose: &str, longest: usize, mut parameter: impl FnMut(&str) -> Option<String>) -> String {
    let (mut out, mut rest) = (String::with_capacity(prose.len()), prose);
    while !is_enough(&out, longest)
        && let Some((before, after)) = rest.split_once("}}")
    {
        rest = after;
        let Some((before, inside)) = before.rsplit_once("{{") else {
            out.extend([before, "}}"]);
            continue;
        };
        out.push_str(before);
        let put = match inside.trim().strip_prefix("insert:") {
            Some(inserted) => {
                let id = inserted.split_once(',').map(|(_, id)| id.trim());
                Some(id.and_then(&mut parameter).unwrap_or_else(|| UNKNOWN.to_owned()))
            }
            // As drafts of OSCAL had it.
            None => parameter(inside.trim()),
        };
        match put {
            Some(put) => out.push_str(&put),
            None => out.extend(["{{", inside, "}}"]),
        }
    }
    out.push_str(rest);
    out
}

/// What stands for each parameter, wherever it is declared.
fn parameters(catalog: &Object) -> HashMap<&str, String> {
    fn gather<'v>(object: &'v Object, depth: usize, all: &mut BTreeMap<&'v str, &'v Object>) {
        let objects = |name: &str| {
            object.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
        };
        for parameter in objects("params") {
            if let Some(id) = parameter.get("id").and_then(Value::as_str) {
                all.entry(id).or_insert(parameter);
            }
        }
        if depth < MOST_DEPTH {
            let inner = objects("controls").chain(objects("groups"));
            inner.for_each(|object| gather(object, depth + 1, all));
        }
    }

    let mut all = BTreeMap::new();
    gather(catalog, 0, &mut all);
    let mut texts = HashMap::with_capacity(all.len());
    for id in all.keys() {
        stand_in(id, &all, &mut texts, 0);
    }
    texts
}

/// Values that are set, or else in brackets its choices or its label; they may name other parameters.
fn stand_in<'v>(
    id: &str,
    all: &BTreeMap<&'v str, &'v Object>,
    texts: &mut HashMap<&'v str, String>,
    depth: usize,
) -> Option<String> {
    if let Some(text) = texts.get(id) {
        return Some(text.clone());
    }
    let (id, parameter) = all.get_key_value(id)?;
    if depth >= MOST_DEPTH {
        return None;
    }
    // One that names itself finds this.
    texts.insert(id, UNKNOWN.to_owned());
    let strings = |value: Option<&'v Value>| {
        let all = value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        all.filter(|text| !text.trim().is_empty())
    };
    let mut read = |text: &str| {
        let start = &text[..text.floor_char_boundary(4 * LONGEST_PARAMETER)];
        line(&filled(start, LONGEST_PARAMETER, |id| stand_in(id, all, texts, depth + 1)))
    };
    let mut joined = |strings: &mut dyn Iterator<Item = &str>, between: &str| {
        let mut text = String::new();
        for one in strings {
            if is_enough(&text, LONGEST_PARAMETER) {
                break;
            }
            if !text.is_empty() {
                text.push_str(between);
            }
            text.push_str(&read(one));
        }
        cut(text, LONGEST_PARAMETER)
    };
    let select = parameter.get("select");
    let choices = || strings(select.and_then(|select| select.get("choice")));
    let label = parameter.get("label").and_then(Value::as_str).filter(|label| !label.trim().is_empty());
    let text = if strings(parameter.get("values")).next().is_some() {
        joined(&mut strings(parameter.get("values")), ", ")
    } else if choices().next().is_some() {
        let many = select.and_then(|select| select.get("how-many")).and_then(Value::as_str);
        let many = if many == Some("one-or-more") { "one or more of" } else { "one of" };
        format!("[{many}: {}]", joined(&mut choices(), "; "))
    } else if let Some(label) = label {
        format!("[{}]", joined(&mut std::iter::once(label), ""))
    } else {
        UNKNOWN.to_owned()
    };
    texts.insert(id, text.clone());
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frameworks::shipped;

    fn at() -> Time {
        Time::from_millis(1_789_000_000_000)
    }

    fn draft(framework: &Framework) -> FrameworkDraft {
        let Framework { alias, name, description, version, source, licence, attribution, .. } =
            framework.clone();
        let requirements = framework.requirements.iter().cloned().map(|one| {
            let Requirement { code, title, theme, kind, objective, tags, .. } = one;
            RequirementDraft { code, title, theme, kind, objective, tags }
        });
        FrameworkDraft {
            alias: Some(alias),
            name,
            description,
            version,
            source,
            licence,
            attribution,
            requirements: requirements.collect(),
        }
    }

    /// A small framework with the given codes.
    fn small(codes: &[&str]) -> Framework {
        let mut framework = Framework::clone(&shipped()[0]);
        framework.requirements.truncate(codes.len());
        for (one, code) in framework.requirements.iter_mut().zip(codes) {
            (*code).clone_into(&mut one.code);
        }
        framework
    }

    fn catalog(content: &Value) -> Value {
        let mut catalog = json!({"metadata": {"title": "A catalog", "version": "7"}});
        for (name, value) in content.as_object().expect("an object") {
            catalog[name] = value.clone();
        }
        json!({"catalog": catalog})
    }

    /// The objective of one control with these parameters and parts.
    fn objective(params: &Value, parts: &Value) -> String {
        let control = json!({"id": "x-1", "title": "X", "params": params, "parts": parts});
        let read = read(&catalog(&json!({"controls": [control]}))).expect("a catalog");
        read.requirements[0].objective.clone()
    }

    fn wrongs(document: &Value) -> Vec<(String, String)> {
        read(document).expect_err("problems").into_iter().map(|one| (one.field, one.message)).collect()
    }

    #[test]
    fn what_ships_reads_as_it_was_written() {
        assert!(!shipped().is_empty());
        for framework in shipped() {
            assert_eq!(read(&write(framework, at())), Ok(draft(framework)), "{}", framework.name);
        }
    }

    #[test]
    fn odd_frameworks_read_as_they_were_written() {
        let mut framework = small(&["5.1", "Ethics (X)", "5/1", "第一条", "r-5.1_smt", "5.1", "x"]);
        for (place, one) in framework.requirements.iter_mut().enumerate() {
            one.theme = ["B", "A", "B", "", "Ünï", "A", ""][place].to_owned();
            one.tags = vec!["two words".to_owned(), "plain".to_owned()];
        }
        framework.requirements[1].title = "Ethics".to_owned();
        framework.requirements[2].kind = "Control objective".to_owned();
        framework.requirements[3].objective = String::new();
        framework.requirements[4].objective = "One.\n\n- two\n- three }} {{ four".to_owned();
        framework.requirements[5].code = "5-1".to_owned();
        framework.source = "Line one\nline two".to_owned();
        framework.licence = String::new();
        framework.version = String::new();
        framework.description = String::new();
        let written = write(&framework, at());
        assert_eq!(read(&written), Ok(draft(&framework)));

        let mut ids = Vec::new();
        gather(&written, &mut ids);
        let is_token = |id: &str| {
            id.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && id.chars().all(|c| c.is_ascii_alphanumeric() || ".-_".contains(c))
        };
        assert!(ids.iter().all(|id| is_token(id)), "{ids:?}");
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count, "ids are unique: {ids:?}");
    }

    fn gather(value: &Value, ids: &mut Vec<String>) {
        match value {
            Value::Object(object) => {
                ids.extend(object.get("id").and_then(Value::as_str).map(str::to_owned));
                object.values().for_each(|value| gather(value, ids));
            }
            Value::Array(all) => all.iter().for_each(|value| gather(value, ids)),
            _ => {}
        }
    }

    #[test]
    fn a_catalog_is_written_the_way_oscal_wants_it() {
        let mut framework = small(&["164.308(a)(1)", "Art. 32"]);
        framework.requirements[1].theme = "Other".to_owned();
        let written = write(&framework, at());
        let catalog = &written["catalog"];
        assert_eq!(catalog["uuid"], write(&framework, Time::from_millis(0))["catalog"]["uuid"]);
        assert_eq!(catalog["metadata"]["last-modified"], "2026-09-10T00:26:40.000Z");
        assert_eq!(catalog["metadata"]["oscal-version"], VERSION);
        let one = &framework.requirements[0];
        let wanted = json!({
            "id": "r-164.308-a-1",
            "class": one.kind,
            "title": one.title,
            "props": [{"name": "label", "value": "164.308(a)(1)"}],
            "parts": [{"id": "r-164.308-a-1_smt", "name": "statement", "prose": one.objective}],
        });
        assert_eq!(catalog["groups"][0], json!({"id": "Clauses", "title": "Clauses", "controls": [wanted]}));
        assert_eq!(catalog["groups"][1]["controls"][0]["id"], "Art.32");
        assert_eq!(catalog.get("controls"), None, "no empty arrays");
        // The same as any other tool makes of this name.
        assert_eq!(uuid("http://www.ietf.org/rfc/rfc4122.txt"), "d0690b3c-b29d-52e7-81b0-d573b503f2d4");
    }

    #[test]
    fn groups_and_controls_nest() {
        let read = read(&catalog(&json!({
            "groups": [{
                "id": "a",
                "title": "Outer",
                "controls": [{
                    "id": "a-1",
                    "class": "SP800-53",
                    "title": "First",
                    "props": [
                        {"name": "label", "class": "zero-padded", "value": "A-01"},
                        {"name": "label", "value": "A-1"},
                        {"name": "label", "ns": "https://example.com/ns", "value": "other"},
                    ],
                    "controls": [
                        {"id": "a-1.1", "title": "Enhanced", "props": [{"name": "label", "value": "A-1(1)"}]},
                        {"id": "a-1.2", "title": "Gone", "props": [{"name": "status", "value": "Withdrawn"}]},
                    ],
                }],
                "groups": [
                    {"title": "Inner", "controls": [{
                        "id": "a-2",
                        "title": "Context",
                        "props": [{"name": "label", "value": "Context (A-2)"}],
                    }]},
                    {"controls": [{"id": "a-3", "title": "Third"}]},
                ],
            }],
        })))
        .expect("a catalog");
        let found: Vec<_> = read
            .requirements
            .iter()
            .map(|one| (one.code.as_str(), one.title.as_str(), one.theme.as_str(), one.kind.as_str()))
            .collect();
        let wanted = [
            ("A-1", "First", "Outer", "SP800-53"),
            ("A-1(1)", "Enhanced", "Outer", "control"),
            ("A-2", "Context", "Inner", "control"),
            ("a-3", "Third", "Outer", "control"),
        ];
        assert_eq!(found, wanted);
        assert_eq!((read.name.as_str(), read.version.as_str(), read.alias), ("A catalog", "7", None));
    }

    #[test]
    fn statements_become_text() {
        let item = |label: &str, prose: &str, parts: Value| json!({"name": "item", "prose": prose, "parts": parts, "props": [{"name": "label", "value": label}]});
        let params = json!([
            {"id": "p1", "label": "people or roles"},
            {"id": "p2", "label": "as selected", "select": {"how-many": "one-or-more", "choice": ["yearly", "{{ insert: param, p3 }}"]}},
            {"id": "p3", "label": "period"},
            {"id": "p4", "label": "unused", "values": ["30 days"]},
            {"id": "p5"},
            {"id": "p6", "label": "see {{ insert: param, p6 }}"},
        ]);
        let parts = json!([
            {"name": "overview", "prose": "Left out."},
            {"name": "statement", "prose": "The organization:", "parts": [
                item("a.", "Tells {{ insert: param, p1 }}:", json!([
                    item("1.", " {{ insert: param, p2 }} what it plans; and", json!([])),
                    {"name": "item", "prose": "in\n\n   lines within {{p4}}, {{ insert: param, p5 }} or {{ insert: param, p9 }};"},
                ])),
                item("b.", "Keeps {{ this }} and {{ insert: param, p6 }}.", Value::Null),
            ]},
            {"name": "guidance", "prose": "Left out too."},
        ]);
        let wanted = "The organization:\n\
            a. Tells [people or roles]:\n  \
              1. [one or more of: yearly; [period]] what it plans; and\n  \
              - in\n    lines within 30 days, […] or […];\n\
            b. Keeps {{ this }} and [see […]].";
        assert_eq!(objective(&params, &parts), wanted);
        let other = json!([
            {"name": "assessment-method", "prose": "Examine."},
            {"name": "overview"},
            {"name": "guidance", "prose": "Do it."},
        ]);
        assert_eq!(objective(&params, &other), "Do it.", "without a statement");
    }

    #[test]
    fn long_text_is_cut() {
        let statement = |prose: &str| json!([{"name": "statement", "prose": prose}]);
        assert_eq!(objective(&json!([]), &statement(&"ä".repeat(10_000))), "ä".repeat(10_000));
        let read = objective(&json!([]), &statement(&"ä".repeat(10_001)));
        assert_eq!(read, format!("{}…", "ä".repeat(9_999)));
        // Parameters that grow into each other do not grow without end.
        let params: Vec<Value> = (0..50)
            .map(|n| json!({"id": format!("p{n}"), "label": format!("{{{{ insert: param, p{} }}}}", n + 1).repeat(50)}))
            .collect();
        let read = objective(&json!(params), &statement(&"{{ insert: param, p0 }}".repeat(100_000)));
        assert_eq!(read.chars().count(), 10_000);
    }

    #[test]
    fn all_problems_are_named() {
        let control = |id: &str, title: &str| json!({"id": id, "title": title});
        let document = json!({"catalog": {
            "metadata": {"title": 5},
            "params": "ignored",
            "controls": [
                control("a", "A"),
                control(&"b".repeat(101), &"t".repeat(501)),
                control("a", "Again"),
                "nothing",
                {"title": "No id", "parts": {}},
                {"id": "c", "props": [{"name": "label", "value": 1}]},
            ],
            "groups": [{"title": "G", "controls": [control("a", "Third")]}],
        }});
        let wanted = [
            ("catalog.metadata.title", "must be a string"),
            ("catalog.metadata.title", "must not be empty"),
            ("catalog.controls[3]", "must be an object"),
            ("catalog.controls[1].title", "must have at most 500 characters; it has 501"),
            ("catalog.controls[1].id", "must have at most 100 characters; it has 101"),
            ("catalog.controls[2].id", "\"a\" is already the code of catalog.controls[0]"),
            ("catalog.controls[4].id", "must not be empty"),
            ("catalog.controls[4].parts", "must be an array"),
            ("catalog.controls[5].props[0].value", "must be a string"),
            ("catalog.controls[5].title", "must not be empty"),
            ("catalog.groups[0].controls[0].id", "\"a\" is already the code of catalog.controls[0]"),
        ];
        assert_eq!(wrongs(&document), wanted.map(|(field, message)| (field.to_owned(), message.to_owned())));

        let message = |document: Value| {
            let mut wrongs = wrongs(&document);
            assert_eq!(wrongs.len(), 1);
            wrongs.remove(0)
        };
        for document in [json!(null), json!([]), json!({"catalogue": {}})] {
            assert!(message(document).1.starts_with("is missing"));
        }
        assert!(message(json!({"profile": {}})).1.ends_with("a profile"));
        assert_eq!(message(json!({"catalog": []})).1, "must be an object");
        assert!(message(catalog(&json!({}))).1.starts_with("must hold at least one control"));
    }

    #[test]
    fn limits_hold() {
        let controls = |count: usize| {
            (0..count).map(|n| json!({"id": format!("c{n}"), "title": "C"})).collect::<Value>()
        };
        let read_one = |count| read(&catalog(&json!({"controls": controls(count)})));
        assert_eq!(read_one(5000).map(|read| read.requirements.len()), Ok(5000));
        let wrong = read_one(5001).expect_err("too many");
        assert_eq!((wrong.len(), wrong[0].message.as_str()), (1, "must hold at most 5000 controls"));

        let nested = |depth: usize| {
            let one = |n: usize| json!({"id": format!("c{n}"), "title": "C"});
            let outer = (1..depth).fold(one(0), |inner, n| {
                let mut outer = one(n);
                outer["controls"] = json!([inner]);
                outer
            });
            read(&catalog(&json!({"controls": [outer]})))
        };
        assert_eq!(nested(20).map(|read| read.requirements.len()), Ok(20));
        let wrong = nested(21).expect_err("too deep");
        assert_eq!(
            (wrong.len(), wrong[0].message.as_str()),
            (1, "groups and controls can be nested at most 20 deep")
        );

        let parts = |depth: usize| {
            let inner = json!({"name": "item", "prose": "inner"});
            let outer = (0..depth).fold(inner, |inner, _| json!({"name": "statement", "parts": [inner]}));
            read(&catalog(&json!({"controls": [{"id": "c", "title": "C", "parts": [outer]}]})))
        };
        assert!(parts(20).is_ok());
        assert_eq!(parts(21).expect_err("too deep")[0].message, "parts can be nested at most 20 deep");

        let same: Value = (0..500).map(|_| json!({"id": "c", "title": "C"})).collect();
        assert_eq!(wrongs(&catalog(&json!({"controls": same}))).len(), 100);
    }
}
