//! Properties of filters and changes, on values that are random and the same in every run.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use super::filter::Filter;
use super::{ENTERPRISE, GROUPS, Resource, USERS, patch};

/// Checks a property of random values.
fn check<S: Strategy>(
    cases: u32,
    values: &S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) -> Result<(), String> {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, rng).run(values, property).map_err(|error| error.to_string())
}

fn object(value: Value) -> Resource {
    match value {
        Value::Object(map) => map,
        other => panic!("not an object: {other}"),
    }
}

/// Texts that are often equal, equal but for their case, or part of each other, and hard to quote.
const TEXTS: &[&str] = &[
    "eve",
    "Eve",
    "e",
    "EVE@acme.example",
    "eve@acme.example",
    "work",
    "Work",
    "home",
    "True",
    "false",
    "2026-11-15T09:30:00Z",
    "Döe",
    "\" or title pr or userName eq \"",
    "a]b)c(d[e\\",
    " and ",
    "a\n\tb",
];

fn text() -> impl Strategy<Value = String> {
    select(TEXTS).prop_map(str::to_owned)
}

/// A person as the directory stores them: nothing in it is empty.
fn person() -> impl Strategy<Value = Resource> {
    let maybe = || option::of(text());
    let email = (text(), maybe(), option::of(any::<bool>()));
    let names = (text(), maybe(), maybe(), maybe(), maybe());
    (names, option::of(any::<bool>()), maybe(), vec(email, 0..4), maybe()).prop_map(
        |((user_name, external_id, title, given, family), active, display, emails, department)| {
            let mut person = Resource::new();
            let mut set = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    person.insert(name.to_owned(), value);
                }
            };
            let parts = |parts: &[(&str, Option<Value>)]| {
                let known =
                    parts.iter().filter_map(|(name, value)| Some(((*name).to_owned(), value.clone()?)));
                Some(known.collect::<Resource>()).filter(|parts| !parts.is_empty()).map(Value::Object)
            };
            let text = |text: Option<String>| text.map(Value::String);
            set("id", Some(json!("mem_1")));
            set("userName", Some(json!(user_name)));
            set("externalId", text(external_id));
            set("title", text(title));
            set("displayName", text(display));
            set("active", active.map(Value::Bool));
            set("name", parts(&[("givenName", text(given)), ("familyName", text(family))]));
            set(ENTERPRISE, parts(&[("department", text(department))]));
            // At most one address is primary, and no two are the same.
            let (mut all, mut has_primary): (Vec<Value>, bool) = (Vec::new(), false);
            for (value, kind, primary) in emails {
                let primary = primary.map(|primary| primary && !has_primary);
                has_primary |= primary == Some(true);
                let is_known = all
                    .iter()
                    .any(|one| one["value"].as_str().map(str::to_lowercase) == Some(value.to_lowercase()));
                if !is_known {
                    let value = ("value", Some(json!(value)));
                    all.extend(parts(&[value, ("type", text(kind)), ("primary", primary.map(Value::Bool))]));
                }
            }
            set("emails", (!all.is_empty()).then_some(Value::Array(all)));
            person
        },
    )
}

/// A path that a filter may name.
#[derive(Clone, Copy, Debug)]
struct Path {
    text: &'static str,
    /// The names of the attribute and of its part.
    attribute: &'static str,
    part: Option<&'static str>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Text,
    /// Compared with case.
    Exact,
    Boolean,
}

const fn path(text: &'static str, attribute: &'static str, part: Option<&'static str>, kind: Kind) -> Path {
    Path { text, attribute, part, kind }
}

const PATHS: &[Path] = &[
    path("id", "id", None, Kind::Exact),
    path("externalId", "externalId", None, Kind::Exact),
    path("userName", "userName", None, Kind::Text),
    path("USERNAME", "userName", None, Kind::Text),
    path("urn:ietf:params:scim:schemas:core:2.0:User:userName", "userName", None, Kind::Text),
    path("title", "title", None, Kind::Text),
    path("active", "active", None, Kind::Boolean),
    path("name.givenName", "name", Some("givenName"), Kind::Text),
    path("name.familyName", "name", Some("familyName"), Kind::Text),
    path("emails.value", "emails", Some("value"), Kind::Text),
    path("emails.type", "emails", Some("type"), Kind::Text),
    path("emails.primary", "emails", Some("primary"), Kind::Boolean),
    path(
        "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department",
        ENTERPRISE,
        Some("department"),
        Kind::Text,
    ),
];

/// The paths within the brackets of `emails`.
const PARTS: &[Path] = &[
    path("value", "value", None, Kind::Text),
    path("type", "type", None, Kind::Text),
    path("primary", "primary", None, Kind::Boolean),
];

/// A filter as the random generator makes it.
#[derive(Clone, Debug)]
enum Tree {
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    Present(Path),
    Compare(Path, &'static str, Value),
    /// One of the addresses matches.
    Email(Box<Tree>),
}

const EQUALITIES: &[&str] = &["eq", "ne", "EQ"];
const COMPARISONS: &[&str] = &["eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le", "Co"];

/// The values that a path may be equal to.
fn equal_to(path: Path) -> BoxedStrategy<Value> {
    match path.kind {
        Kind::Boolean => {
            let word = text().prop_map(Value::String);
            prop_oneof![any::<bool>().prop_map(Value::Bool), word, Just(Value::Null)].boxed()
        }
        Kind::Text | Kind::Exact => {
            let number = (-3_i32..1000).prop_map(|number| json!(number));
            let boolean = any::<bool>().prop_map(Value::Bool);
            let text = text().prop_map(Value::String);
            prop_oneof![3 => text, 1 => boolean, 1 => number, 1 => Just(Value::Null)].boxed()
        }
    }
}

/// The comparisons that a path allows.
fn comparison(path: Path) -> BoxedStrategy<Tree> {
    let equality = (select(EQUALITIES), equal_to(path));
    let equality = equality.prop_map(move |(word, value)| Tree::Compare(path, word, value));
    if path.kind == Kind::Boolean {
        return equality.boxed();
    }
    let ordered = (select(COMPARISONS), text());
    let ordered = ordered.prop_map(move |(word, text)| Tree::Compare(path, word, Value::String(text)));
    prop_oneof![1 => equality, 3 => ordered].boxed()
}

fn leaf(paths: &'static [Path]) -> BoxedStrategy<Tree> {
    let compared = select(paths).prop_flat_map(comparison);
    prop_oneof![1 => select(paths).prop_map(Tree::Present), 4 => compared].boxed()
}

fn joined(leaf: BoxedStrategy<Tree>, depth: u32) -> BoxedStrategy<Tree> {
    let joined = leaf.prop_recursive(depth, 8, 2, |inner| {
        let two = || (inner.clone(), inner.clone());
        prop_oneof![
            two().prop_map(|(one, other)| Tree::And(Box::new(one), Box::new(other))),
            two().prop_map(|(one, other)| Tree::Or(Box::new(one), Box::new(other))),
            inner.clone().prop_map(|one| Tree::Not(Box::new(one))),
        ]
    });
    joined.boxed()
}

fn tree() -> BoxedStrategy<Tree> {
    let email = joined(leaf(PARTS), 1).prop_map(|tree| Tree::Email(Box::new(tree)));
    joined(prop_oneof![4 => leaf(PATHS), 1 => email].boxed(), 3)
}

impl Tree {
    /// Writes the filter as words, with no more parentheses than it needs.
    fn words(&self) -> Vec<String> {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let within =
            |open: &str, tree: &Self, close: &str| [own(&[open]), tree.words(), own(&[close])].concat();
        // `and` binds closer than `or`.
        let operand = |tree: &Self| match tree {
            Self::Or(..) => within("(", tree, ")"),
            other => other.words(),
        };
        match self {
            Self::And(one, other) => [operand(one), own(&["and"]), operand(other)].concat(),
            Self::Or(one, other) => [one.words(), own(&["or"]), other.words()].concat(),
            Self::Not(tree) => [own(&["not"]), within("(", tree, ")")].concat(),
            Self::Present(path) => own(&[path.text, "pr"]),
            Self::Compare(path, word, value) => own(&[path.text, word, &value.to_string()]),
            Self::Email(tree) => [own(&["emails"]), within("[", tree, "]")].concat(),
        }
    }

    /// The verdict on a resource, by the words of RFC 7644 alone.
    fn holds(&self, resource: &Resource) -> bool {
        match self {
            Self::And(one, other) => one.holds(resource) && other.holds(resource),
            Self::Or(one, other) => one.holds(resource) || other.holds(resource),
            Self::Not(tree) => !tree.holds(resource),
            Self::Present(path) => !path.values(resource).is_empty(),
            Self::Compare(path, word, expected) => {
                let (values, word) = (path.values(resource), word.to_lowercase());
                match (word.as_str(), expected) {
                    ("eq", Value::Null) => values.is_empty(),
                    ("ne", Value::Null) => !values.is_empty(),
                    // What is absent differs from every value.
                    ("ne", _) if values.is_empty() => true,
                    (word, expected) => values.iter().any(|value| path.kind.compares(word, value, expected)),
                }
            }
            Self::Email(tree) => {
                let emails = resource.get("emails").and_then(Value::as_array);
                emails.is_some_and(|all| all.iter().any(|one| tree.holds(&object(one.clone()))))
            }
        }
    }
}

impl Path {
    fn values(self, resource: &Resource) -> Vec<Value> {
        let found = match resource.get(self.attribute) {
            None => Vec::new(),
            Some(Value::Array(all)) => all.clone(),
            Some(one) => vec![one.clone()],
        };
        match self.part {
            Some(part) => found.iter().filter_map(|one| one.get(part).cloned()).collect(),
            None => found,
        }
    }
}

impl Kind {
    fn compares(self, word: &str, value: &Value, expected: &Value) -> bool {
        let folded = |value: &Value| match (self, value) {
            (Self::Text, Value::String(text)) => Value::String(text.to_lowercase()),
            // Providers send the words of booleans, too.
            (Self::Boolean, Value::String(text)) if text.eq_ignore_ascii_case("true") => json!(true),
            (Self::Boolean, Value::String(text)) if text.eq_ignore_ascii_case("false") => json!(false),
            (_, other) => other.clone(),
        };
        let (value, expected) = (folded(value), folded(expected));
        let texts = value.as_str().zip(expected.as_str());
        let text =
            |holds: fn(&str, &str) -> bool| texts.is_some_and(|(value, expected)| holds(value, expected));
        match word {
            "eq" => value == expected,
            "ne" => value != expected,
            "co" => text(|value, expected| value.contains(expected)),
            "sw" => text(|value, expected| value.starts_with(expected)),
            "ew" => text(|value, expected| value.ends_with(expected)),
            "gt" => text(|value, expected| value > expected),
            "ge" => text(|value, expected| value >= expected),
            "lt" => text(|value, expected| value < expected),
            "le" => text(|value, expected| value <= expected),
            other => panic!("no comparison: {other}"),
        }
    }
}

/// Joins the words of a filter by single spaces, without any inside of parentheses and brackets.
fn spaced(words: &[String]) -> String {
    let mut text = String::new();
    for (before, word) in std::iter::once("(").chain(words.iter().map(String::as_str)).zip(words) {
        if !matches!(before, "(" | "[") && !matches!(word.as_str(), ")" | "]" | "[") {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// True if an independent parser accepts a filter. It knows no attributes.
fn is_accepted_elsewhere(text: &str) -> bool {
    text.parse::<scim_v2::filter::Filter>().is_ok()
}

#[test]
fn printed_filters_parse_and_give_the_same_verdict() {
    let property = |(tree, people): (Tree, Vec<Resource>)| {
        let text = spaced(&tree.words());
        let parsed = Filter::parse(USERS, &text);
        let parsed = parsed.map_err(|refusal| TestCaseError::fail(format!("{text}: {}", refusal.detail)))?;
        prop_assert!(is_accepted_elsewhere(&text), "only this parser accepts {text}");
        for person in people {
            prop_assert_eq!(parsed.matches(&person), tree.holds(&person), "{} on {:?}", text, person);
        }
        Ok(())
    };
    assert_eq!(check(300, &(tree(), vec(person(), 8)), property), Ok(()));
}

/// The words that replace others.
const WORDS: &[&str] = &[
    "(", ")", "[", "]", "and", "or", "not", "pr", "eq", "co", "gt", "userName", "active", "emails", "type",
    "\"x\"", "true", "null", "7", "shoeSize",
];

/// A change of the words of a filter.
#[derive(Clone, Debug)]
enum Mutation {
    Remove,
    Repeat,
    Swap,
    Replace(&'static str),
}

fn mutated(mut words: Vec<String>, mutations: &[(Index, Mutation)]) -> Vec<String> {
    for (index, mutation) in mutations {
        if words.len() < 2 {
            break;
        }
        let at = index.index(words.len() - 1);
        match mutation {
            Mutation::Remove => drop(words.remove(at)),
            Mutation::Repeat => words.insert(at, words[at].clone()),
            Mutation::Swap => words.swap(at, at + 1),
            Mutation::Replace(word) => words[at] = (*word).to_owned(),
        }
    }
    words
}

fn mutations() -> impl Strategy<Value = Vec<(Index, Mutation)>> {
    let mutation = prop_oneof![
        Just(Mutation::Remove),
        Just(Mutation::Repeat),
        Just(Mutation::Swap),
        select(WORDS).prop_map(Mutation::Replace),
    ];
    vec((any::<Index>(), mutation), 1..4)
}

#[test]
fn what_another_parser_refuses_is_refused() {
    let property = |(tree, mutations): (Tree, Vec<(Index, Mutation)>)| {
        let text = spaced(&mutated(tree.words(), &mutations));
        let is_accepted = Filter::parse(USERS, &text).is_ok();
        prop_assert!(!is_accepted || is_accepted_elsewhere(&text), "only this parser accepts {text}");
        Ok(())
    };
    assert_eq!(check(300, &(tree(), mutations()), property), Ok(()));
}

const PIECES: &[&str] = &["(", "[", "\"", "\\", "]", ")", " ", ".", ":", "urn:", "é", "\u{0}", "1e999", "-"];

/// The words of almost a filter.
fn almost() -> impl Strategy<Value = Vec<String>> {
    (tree(), mutations()).prop_map(|(tree, mutations)| mutated(tree.words(), &mutations))
}

/// Texts from anything to almost a filter.
fn nonsense() -> impl Strategy<Value = String> {
    let piece = prop_oneof![select(WORDS), select(PIECES), select(TEXTS)];
    let cut = (almost(), any::<Index>()).prop_map(|(words, index)| {
        let text: Vec<char> = spaced(&words).chars().collect();
        text[..index.index(text.len() + 1)].iter().collect::<String>()
    });
    prop_oneof![
        any::<String>(),
        vec(piece, 0..40).prop_map(|pieces| pieces.concat()),
        almost().prop_map(|words| words.concat()),
        cut,
        (select(WORDS), 0_usize..3000).prop_map(|(word, count)| word.repeat(count)),
    ]
}

#[test]
fn parsing_arbitrary_text_never_panics() {
    let property = |(text, person): (String, Resource)| {
        for of in [USERS, GROUPS] {
            if let Ok(filter) = Filter::parse(of, &text) {
                filter.matches(&person);
                filter.equalities();
            }
            for attribute in of.attributes {
                if let Ok(filter) = Filter::parse_within(attribute, &text) {
                    filter.matches(&person);
                }
            }
        }
        Ok(())
    };
    assert_eq!(check(400, &(nonsense(), person()), property), Ok(()));
}

fn operation(op: &str, path: &str, value: &Value) -> Resource {
    object(json!({"Operations": [{"op": op, "path": path, "value": value}]}))
}

const OPERATIONS: &[&str] = &["add", "Replace", "remove", "move"];

/// Any JSON that is not deep.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|number| json!(number)),
        text().prop_map(Value::String),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let key = prop_oneof![select(WORDS).prop_map(str::to_owned), any::<String>()];
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            vec((key, inner), 0..3).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn patching_with_arbitrary_operations_never_panics_and_leaves_a_whole_resource() {
    let path = prop_oneof![
        3 => select(PATHS).prop_map(|path| path.text.to_owned()),
        1 => tree().prop_map(|tree| format!("emails[{}].value", spaced(&tree.words()))),
        2 => nonsense(),
    ];
    let property = |(person, op, path, value): (Resource, &str, String, Value)| {
        let without_path = object(json!({"Operations": [{"op": op, "value": value}]}));
        for body in [operation(op, &path, &value), without_path, object(json!({"Operations": value}))] {
            if let Ok(after) = patch::apply(USERS, &person, &body) {
                prop_assert_eq!(USERS.must_be_whole(&after), Ok(()));
                prop_assert!(after.values().all(|value| !value.is_null()), "{after:?}");
            }
        }
        Ok(())
    };
    assert_eq!(check(400, &(person(), select(OPERATIONS), path, anything()), property), Ok(()));
}

const SINGLE: &[&str] = &["userName", "displayName", "title", "externalId"];
const NAMES: &[&str] = &["name.givenName", "Name.FamilyName"];
const USES: &[&str] = &["work", "home", "other"];

/// A replacement: its path, the attribute that it is about, and a value that is fine there.
fn replacement() -> impl Strategy<Value = (String, &'static str, Value)> {
    let single = (select(SINGLE), text());
    let part = (select(NAMES), text());
    let email = (select(USES), text());
    prop_oneof![
        single.prop_map(|(name, text)| (name.to_owned(), name, json!(text))),
        any::<bool>().prop_map(|active| ("active".to_owned(), "active", json!(active))),
        part.prop_map(|(path, text)| (path.to_owned(), "name", json!(text))),
        text().prop_map(|text| (format!("{ENTERPRISE}:department"), ENTERPRISE, json!(text))),
        text().prop_map(|text| ("name".to_owned(), "name", json!({"formatted": text}))),
        email.prop_map(|(kind, text)| (format!("emails[type eq \"{kind}\"].value"), "emails", json!(text))),
        text().prop_map(|text| ("emails".to_owned(), "emails", json!([{"value": text, "type": "work"}]))),
        Just(("emails".to_owned(), "emails", json!([]))),
        Just(("title".to_owned(), "title", Value::Null)),
    ]
}

/// Everything of a resource but one attribute.
fn without(of: &Resource, name: &str) -> Resource {
    of.iter()
        .filter(|(known, _)| *known != name)
        .map(|(known, value)| (known.clone(), value.clone()))
        .collect()
}

/// Checks what a replacement leaves of the attribute that it is about.
fn keeps(before: &Resource, after: &Resource, path: &str, value: &Value) -> Result<(), TestCaseError> {
    let (attribute, part) = match path.split_once('.') {
        Some((attribute, part)) if attribute.eq_ignore_ascii_case("name") => ("name", Some(part)),
        _ => (path, None),
    };
    match (attribute, part) {
        ("name", _) => {
            let (before, after) = (before.get("name").cloned().unwrap_or(json!({})), &after["name"]);
            let changed = part.unwrap_or("formatted");
            for (name, known) in object(before) {
                let is_changed = name.eq_ignore_ascii_case(changed);
                prop_assert!(is_changed || after[&name] == known, "{name} of the name is lost");
            }
        }
        ("emails" | "title", _) if value.is_null() || *value == json!([]) => {
            prop_assert!(!after.contains_key(attribute));
        }
        ("userName" | "displayName" | "title" | "externalId" | "active" | "emails", _) => {
            prop_assert_eq!(&after[attribute], value);
        }
        _ => {}
    }
    Ok(())
}

#[test]
fn replacing_one_attribute_loses_no_other() {
    let property = |(person, (path, name, value), has_path): (Resource, (String, &str, Value), bool)| {
        let body = match has_path {
            true => operation("replace", &path, &value),
            false => object(json!({"Operations": [{"op": "Replace", "value": {(path.as_str()): value}}]})),
        };
        let after = patch::apply(USERS, &person, &body);
        let after = after.map_err(|refusal| TestCaseError::fail(format!("{path}: {}", refusal.detail)))?;
        prop_assert_eq!(without(&after, name), without(&person, name), "{}", path);
        keeps(&person, &after, &path, &value)
    };
    assert_eq!(check(500, &(person(), replacement(), any::<bool>()), property), Ok(()));
}

/// Members of a group are added and removed one by one, and the others stay.
#[test]
fn changing_one_member_loses_no_other() {
    let members = vec(0_u8..20, 0..10);
    let property = |(members, one): (Vec<u8>, u8)| {
        let known: BTreeSet<String> = members.iter().map(u8::to_string).collect();
        let values: Vec<Value> = known.iter().map(|id| json!({"value": id})).collect();
        let mut group = object(json!({"displayName": "g", "externalId": "x"}));
        if !values.is_empty() {
            group.insert("members".to_owned(), Value::Array(values));
        }
        let (one, mut more, mut fewer) = (one.to_string(), known.clone(), known);
        more.insert(one.clone());
        fewer.remove(&one);
        let filter = format!("members[value eq \"{one}\"]");
        let value = json!([{"value": one}]);
        let by_path = object(json!({"Operations": [{"op": "remove", "path": filter}]}));
        for (body, expected) in [
            (operation("add", "members", &value), &more),
            (operation("remove", "members", &value), &fewer),
            (by_path, &fewer),
        ] {
            let after = patch::apply(GROUPS, &group, &body);
            let after = after.map_err(|refusal| TestCaseError::fail(refusal.detail))?;
            let all = after.get("members").and_then(Value::as_array).cloned().unwrap_or_default();
            let mut found: Vec<&str> = all.iter().filter_map(|one| one["value"].as_str()).collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected.iter().map(String::as_str).collect::<Vec<_>>());
            prop_assert_eq!(without(&after, "members"), without(&group, "members"));
        }
        Ok(())
    };
    assert_eq!(check(200, &(members, 0_u8..20), property), Ok(()));
}
