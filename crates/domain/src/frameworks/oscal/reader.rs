//! Reads an OSCAL catalog as a framework.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::writer::token;
use super::{
    GUIDANCE, MODELS, OSCAL_NAMESPACE, OWN_NAMESPACE, STATEMENT, UNVERSIONED, code, cut, line, lines,
};
use crate::frameworks::drafts::{
    MAX_CODE_CHARS, MAX_KIND_CHARS, MAX_REPORTED_ERRORS, MAX_REQUIREMENT_CHARS, MAX_REQUIREMENTS,
    MAX_TITLE_CHARS,
};
use crate::frameworks::{FrameworkDraft, RequirementDraft, Wrong};

const UNKNOWN: &str = "[…]";
const MAX_DEPTH: usize = 20;
const MAX_PUBLISHERS: usize = 10;
/// The maximum length of a parameter's replacement text, since a parameter can be inserted many times.
const MAX_PARAMETER_CHARS: usize = 1000;

type Object = Map<String, Value>;

/// Reads `{"catalog": …}`. Every control becomes a requirement, including nested ones; withdrawn controls are
/// skipped.
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
    reader.level(catalog, "catalog", &Theme { id: "", title: "" }, 0);
    if reader.found.is_empty() && reader.wrong.is_empty() {
        reader.report("catalog", "must hold at least one control that is not withdrawn");
    }
    if !reader.wrong.is_empty() {
        return Err(reader.wrong);
    }
    // Only catalogs that we wrote have positions; the stable sort preserves the order of the others.
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
    /// The text of one of our own properties.
    fn text(&self) -> &str {
        if self.remarks.is_empty() { self.value } else { self.remarks }
    }
}

/// The properties of one object.
struct Properties<'v>(Vec<Property<'v>>);

impl<'v> Properties<'v> {
    fn own(&self, name: &str) -> impl Iterator<Item = &Property<'v>> {
        self.0.iter().filter(move |one| one.ns == OWN_NAMESPACE && one.name == name)
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.own(name).map(Property::text).next()
    }

    /// The label without a class, or else the first label with one.
    fn label(&self) -> Option<&Property<'v>> {
        let is_label = |one: &&Property<'v>| {
            one.ns == OSCAL_NAMESPACE && one.name == "label" && !line(one.value).is_empty()
        };
        let mut labels = self.0.iter().filter(is_label);
        labels.clone().find(|one| !one.has_class).or_else(|| labels.next())
    }

    fn is_withdrawn(&self) -> bool {
        self.0.iter().any(|one| one.name == "status" && one.value.trim().eq_ignore_ascii_case("withdrawn"))
    }
}

#[derive(Default)]
struct Reader<'v> {
    /// The replacement text of each parameter.
    parameters: HashMap<&'v str, String>,
    /// The path at which each code was found.
    codes: HashMap<String, String>,
    found: Vec<(usize, RequirementDraft)>,
    wrong: Vec<Wrong>,
    is_over: bool,
}

impl<'v> Reader<'v> {
    fn report(&mut self, field: impl Into<String>, message: impl Into<String>) {
        if self.wrong.len() < MAX_REPORTED_ERRORS {
            self.wrong.push(Wrong { field: field.into(), message: message.into() });
        }
        self.is_over |= self.wrong.len() >= MAX_REPORTED_ERRORS;
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

    /// The objects in an array, each with its path.
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
                ns: if ns.is_empty() { OSCAL_NAMESPACE } else { ns },
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
        self.is_at_most(&title, MAX_TITLE_CHARS, &format!("{path}.title"));
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
        let text = |name: &str| properties.text(name).map(|text| cut(lines(text), MAX_REQUIREMENT_CHARS));
        let name = self.title(metadata, path);
        if name.is_empty() {
            self.report(format!("{path}.title"), "must not be empty");
        }
        let version = line(self.text(metadata, "version", path));
        FrameworkDraft {
            alias: properties.text("alias").map(line).filter(|alias| !alias.is_empty()),
            name,
            description: cut(lines(self.text(metadata, "remarks", path)), MAX_REQUIREMENT_CHARS),
            version: if version == UNVERSIONED { String::new() } else { version },
            source: text("source").unwrap_or_else(|| self.publishers(metadata, path)),
            licence: text("licence").unwrap_or_default(),
            attribution: text("attribution").unwrap_or_default(),
            requirements: Vec::new(),
        }
    }

    /// The publishers of a catalog that has no source property: the names of its parties.
    fn publishers(&mut self, metadata: &'v Object, path: &str) -> String {
        let mut names: Vec<String> = Vec::new();
        for (path, party) in self.objects(metadata, "parties", path) {
            let name = line(self.text(party, "name", &path));
            if !name.is_empty() && !names.contains(&name) && names.len() < MAX_PUBLISHERS {
                names.push(name);
            }
        }
        cut(names.join("; "), MAX_REQUIREMENT_CHARS)
    }

    /// Reads the controls and groups of a catalog, a group or a control.
    fn level(&mut self, object: &'v Object, path: &str, theme: &Theme<'_>, depth: usize) {
        let controls = self.objects(object, "controls", path);
        let groups = self.objects(object, "groups", path);
        if depth >= MAX_DEPTH
            && let Some((path, _)) = controls.first().or(groups.first())
        {
            self.report(path, format!("groups and controls can be nested at most {MAX_DEPTH} deep"));
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
                let own = Theme { id: self.text(group, "id", &path), title: &title };
                self.level(group, &path, if title.is_empty() { theme } else { &own }, depth + 1);
            }
        }
    }

    fn requirement(
        &mut self,
        control: &'v Object,
        path: &str,
        theme: &Theme<'_>,
        properties: &Properties<'v>,
    ) {
        if self.found.len() == MAX_REQUIREMENTS {
            self.report("catalog", format!("must hold at most {MAX_REQUIREMENTS} controls"));
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
        let (objective, guidance) = self.texts(control, path);
        let control_id = explicit_id(&code, self.text(control, "id", path));
        let requirement = RequirementDraft {
            code,
            title,
            theme: theme.title.to_owned(),
            kind: if kind.is_empty() { "control".to_owned() } else { kind },
            objective,
            guidance,
            control_id,
            group_id: explicit_id(theme.title, theme.id),
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
        } else if self.is_at_most(&code, MAX_CODE_CHARS, &field) {
            let first = self.codes.entry(code.clone()).or_insert_with(|| path.to_owned()).clone();
            if first != path {
                self.report(field, format!("{code:?} is already the code of {first}"));
            }
        }
        code
    }

    /// The statement and the guidance of a control. Without a statement, the first other part is used instead.
    fn texts(&mut self, control: &'v Object, path: &str) -> (String, String) {
        let parts = self.objects(control, "parts", path);
        let has_statement = parts.iter().any(|(_, part)| is_named(part, STATEMENT));
        let (mut objective, mut guidance) = (String::new(), String::new());
        for (path, part) in &parts {
            if is_named(part, STATEMENT) || (!has_statement && objective.is_empty()) {
                self.part(part, path, 0, &mut objective);
            }
            if is_named(part, GUIDANCE) {
                self.part(part, path, 0, &mut guidance);
            }
        }
        (cut(lines(&objective), MAX_REQUIREMENT_CHARS), cut(lines(&guidance), MAX_REQUIREMENT_CHARS))
    }

    /// Appends a line for the part, and one for each item below it.
    fn part(&mut self, part: &'v Object, path: &str, depth: usize, text: &mut String) {
        let name = self.text(part, "name", path);
        if name.starts_with("assessment") || is_enough(text, MAX_REQUIREMENT_CHARS) {
            return;
        }
        let title = line(self.text(part, "title", path));
        let prose = lines(self.text(part, "prose", path));
        let prose = filled(&prose, MAX_REQUIREMENT_CHARS, |id| self.parameters.get(id).cloned());
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
        if depth >= MAX_DEPTH
            && let Some((path, _)) = parts.first()
        {
            self.report(path, format!("parts can be nested at most {MAX_DEPTH} deep"));
            return;
        }
        for (path, part) in &parts {
            self.part(part, path, depth + 1, text);
        }
    }
}

fn is_named(part: &Object, name: &str) -> bool {
    part.get("name").and_then(Value::as_str) == Some(name)
}

/// The id to store; empty when the writer derives the same id from the text.
fn explicit_id(text: &str, id: &str) -> String {
    let id = line(id);
    if token(text) == id { String::new() } else { cut(id, MAX_KIND_CHARS) }
}

/// A group that controls belong to.
struct Theme<'t> {
    id: &'t str,
    title: &'t str,
}

/// Joins the lines of an item; those after the first are indented like the items below it.
fn below(text: &str, depth: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(&format!("\n{}", "  ".repeat(depth)))
}

/// Returns true when the text will be truncated in any case, since a character takes at most four bytes.
fn is_enough(text: &str, longest: usize) -> bool {
    text.len() > 4 * longest
}

/// Replaces the parameters in prose with readable text.
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
            // The syntax of OSCAL drafts.
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

/// The replacement text of each parameter, wherever in the catalog it is declared.
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
        if depth < MAX_DEPTH {
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

/// The replacement text of a parameter: its values, or else its choices or its label in brackets. They can refer to
/// other parameters.
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
    if depth >= MAX_DEPTH {
        return None;
    }
    // A parameter that refers to itself finds this entry.
    texts.insert(id, UNKNOWN.to_owned());
    let strings = |value: Option<&'v Value>| {
        let all = value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        all.filter(|text| !text.trim().is_empty())
    };
    let mut read = |text: &str| {
        let start = &text[..text.floor_char_boundary(4 * MAX_PARAMETER_CHARS)];
        line(&filled(start, MAX_PARAMETER_CHARS, |id| stand_in(id, all, texts, depth + 1)))
    };
    let mut joined = |strings: &mut dyn Iterator<Item = &str>, between: &str| {
        let mut text = String::new();
        for one in strings {
            if is_enough(&text, MAX_PARAMETER_CHARS) {
                break;
            }
            if !text.is_empty() {
                text.push_str(between);
            }
            text.push_str(&read(one));
        }
        cut(text, MAX_PARAMETER_CHARS)
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
