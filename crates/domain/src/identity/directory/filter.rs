//! Filters (RFC 7644, 3.4.2.2): `userName eq "eve" and emails[type eq "work"]`.

use serde_json::Value;

use super::{Attribute, Fault, Kind, Refusal, Resource, Type, named, refuse};

/// The maximum length of a filter in characters, and its maximum depth.
const MAX_LENGTH: usize = 2000;
const MAX_DEPTH: usize = 20;

#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    And(Box<Filter>, Box<Filter>),
    Or(Box<Filter>, Box<Filter>),
    Not(Box<Filter>),
    /// The attribute has a value.
    Present(Place),
    Compare(Place, Comparison, Value),
    /// One value of the attribute matches.
    Within(&'static Attribute, Box<Filter>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Contains,
    StartsWith,
    EndsWith,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

const COMPARISONS: &[(&str, Comparison)] = &[
    ("eq", Comparison::Equal),
    ("ne", Comparison::NotEqual),
    ("co", Comparison::Contains),
    ("sw", Comparison::StartsWith),
    ("ew", Comparison::EndsWith),
    ("gt", Comparison::Greater),
    ("ge", Comparison::GreaterOrEqual),
    ("lt", Comparison::Less),
    ("le", Comparison::LessOrEqual),
];

/// An attribute, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub attribute: &'static Attribute,
    pub part: Option<&'static Attribute>,
}

impl Place {
    /// The attribute that is compared: of a complex one without a part, its `value`.
    fn compared(self) -> Option<&'static Attribute> {
        match (self.part, self.attribute.kind) {
            (Some(part), _) => Some(part),
            (None, Kind::Complex(parts)) => named(parts, "value"),
            (None, _) => Some(self.attribute),
        }
    }

    /// The values at this place.
    fn values(self, resource: &Resource) -> Vec<&Value> {
        let Some(value) = resource.get(self.attribute.name) else { return Vec::new() };
        let items = match value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        let part = self.part.or_else(|| match self.attribute.kind {
            Kind::Complex(parts) => named(parts, "value"),
            Kind::Text | Kind::Exact | Kind::Boolean | Kind::DateTime | Kind::Reference(_) => None,
        });
        match part {
            Some(part) => items.iter().filter_map(|item| item.get(part.name)).collect(),
            None => items.iter().collect(),
        }
    }
}

/// The attributes that a filter may name.
#[derive(Clone, Copy)]
enum Known {
    Resource(Type),
    /// The parts of a complex attribute, within its brackets.
    Parts(&'static [Attribute]),
}

impl Known {
    fn place(self, path: &str) -> Option<Place> {
        let (extension, rest) = match self {
            Self::Resource(of) => of.without_urn(path)?,
            Self::Parts(_) => (None, path),
        };
        if let Some(attribute) = extension {
            let part = if rest.is_empty() { None } else { Some(named(attribute.parts(), rest)?) };
            return Some(Place { attribute, part });
        }
        let (name, part) = match rest.split_once('.') {
            Some((name, part)) => (name, Some(part)),
            None => (rest, None),
        };
        let attribute = match self {
            Self::Resource(of) => of.attribute(name)?,
            Self::Parts(parts) => named(parts, name)?,
        };
        let part = match part {
            Some(part) => Some(named(attribute.parts(), part)?),
            None => None,
        };
        Some(Place { attribute, part })
    }
}

impl Filter {
    /// Reads a filter on resources of a type.
    pub fn parse(of: Type, text: &str) -> Result<Self, Refusal> {
        Self::read(Known::Resource(of), text)
    }

    /// Reads a filter on the values of a complex attribute, as a path has it in brackets.
    pub fn parse_within(attribute: &'static Attribute, text: &str) -> Result<Self, Refusal> {
        Self::read(Known::Parts(attribute.parts()), text)
    }

    fn read(known: Known, text: &str) -> Result<Self, Refusal> {
        if text.chars().count() > MAX_LENGTH {
            return refuse(Fault::Filter, format!("The filter is longer than {MAX_LENGTH} characters."));
        }
        let mut parser = Parser { rest: text, known, depth: 0 };
        let filter = parser.any()?;
        parser.skip();
        match parser.rest.is_empty() {
            true => Ok(filter),
            false => parser.fail("and, or, or the end"),
        }
    }

    pub fn matches(&self, resource: &Resource) -> bool {
        match self {
            Self::And(one, other) => one.matches(resource) && other.matches(resource),
            Self::Or(one, other) => one.matches(resource) || other.matches(resource),
            Self::Not(filter) => !filter.matches(resource),
            Self::Present(place) => {
                let value = match place.part {
                    Some(_) => return !place.values(resource).is_empty(),
                    None => resource.get(place.attribute.name),
                };
                value.is_some_and(|value| {
                    !matches!(value, Value::Null) && value.as_array().is_none_or(|all| !all.is_empty())
                })
            }
            Self::Compare(place, comparison, expected) => compare(*place, *comparison, expected, resource),
            Self::Within(attribute, filter) => {
                let items = match resource.get(attribute.name) {
                    Some(Value::Array(items)) => items.as_slice(),
                    Some(one) => std::slice::from_ref(one),
                    None => &[],
                };
                items.iter().filter_map(Value::as_object).any(|item| filter.matches(item))
            }
        }
    }

    /// The places and the texts of which all must hold, `attribute eq "text"` each, for an index to narrow the search.
    pub fn equalities(&self) -> Vec<(Place, &str)> {
        match self {
            Self::And(one, other) => [one.equalities(), other.equalities()].concat(),
            other => other.equality().into_iter().collect(),
        }
    }

    /// The place and the text of a filter that is nothing but `attribute eq "text"`.
    pub fn equality(&self) -> Option<(Place, &str)> {
        match self {
            Self::Compare(place, Comparison::Equal, Value::String(text)) => Some((*place, text)),
            _ => None,
        }
    }
}

fn compare(place: Place, comparison: Comparison, expected: &Value, resource: &Resource) -> bool {
    let values = place.values(resource);
    let is_exact = place.compared().is_some_and(|attribute| attribute.kind == Kind::Exact);
    if expected.is_null() {
        return match comparison {
            Comparison::Equal => values.is_empty(),
            Comparison::NotEqual => !values.is_empty(),
            _ => false,
        };
    }
    let holds = |value: &&Value| match (value, expected) {
        (Value::String(value), Value::String(expected)) if is_exact => holds(comparison, value, expected),
        (Value::String(value), Value::String(expected)) => {
            holds(comparison, &value.to_lowercase(), &expected.to_lowercase())
        }
        (value, expected) => match comparison {
            Comparison::Equal => *value == expected,
            Comparison::NotEqual => *value != expected,
            _ => false,
        },
    };
    // An absent attribute is not equal to any value.
    (values.is_empty() && comparison == Comparison::NotEqual) || values.iter().any(holds)
}

fn holds(comparison: Comparison, value: &str, expected: &str) -> bool {
    match comparison {
        Comparison::Equal => value == expected,
        Comparison::NotEqual => value != expected,
        Comparison::Contains => value.contains(expected),
        Comparison::StartsWith => value.starts_with(expected),
        Comparison::EndsWith => value.ends_with(expected),
        Comparison::Greater => value > expected,
        Comparison::GreaterOrEqual => value >= expected,
        Comparison::Less => value < expected,
        Comparison::LessOrEqual => value <= expected,
    }
}

struct Parser<'t> {
    rest: &'t str,
    known: Known,
    depth: usize,
}

impl Parser<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn fail<T>(&self, expected: &str) -> Result<T, Refusal> {
        let at: String = self.rest.chars().take(20).collect();
        let place = if at.is_empty() { "at the end".to_owned() } else { format!("at {at:?}") };
        refuse(Fault::Filter, format!("The filter cannot be read {place}: expected {expected}."))
    }

    /// Takes a word, in any case, if it stands next and ends there.
    fn word(&mut self, word: &str) -> bool {
        self.skip();
        let Some((start, rest)) = self.rest.split_at_checked(word.len()) else { return false };
        let ends = rest.chars().next().is_none_or(|c| c.is_whitespace() || c == '(' || c == ')' || c == ']');
        let is_word = start.eq_ignore_ascii_case(word) && ends;
        if is_word {
            self.rest = rest;
        }
        is_word
    }

    fn sign(&mut self, sign: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Result<Filter, Refusal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return refuse(Fault::Filter, format!("The filter is nested more than {MAX_DEPTH} deep."));
        }
        let mut found = self.all()?;
        while self.word("or") {
            found = Filter::Or(Box::new(found), Box::new(self.all()?));
        }
        self.depth -= 1;
        Ok(found)
    }

    fn all(&mut self) -> Result<Filter, Refusal> {
        let mut found = self.one()?;
        while self.word("and") {
            found = Filter::And(Box::new(found), Box::new(self.one()?));
        }
        Ok(found)
    }

    fn in_parentheses(&mut self) -> Result<Filter, Refusal> {
        let found = self.any()?;
        if self.sign(')') { Ok(found) } else { self.fail("a closing parenthesis") }
    }

    fn one(&mut self) -> Result<Filter, Refusal> {
        if self.word("not") {
            return match self.sign('(') {
                true => Ok(Filter::Not(Box::new(self.in_parentheses()?))),
                false => self.fail("an opening parenthesis"),
            };
        }
        if self.sign('(') {
            return self.in_parentheses();
        }
        self.condition()
    }

    fn condition(&mut self) -> Result<Filter, Refusal> {
        let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '[' | ']' | '"');
        let length = self.rest.find(ends).unwrap_or(self.rest.len());
        let (path, rest) = self.rest.split_at(length);
        if path.is_empty() {
            return self.fail("an attribute");
        }
        let Some(place) = self.known.place(path) else {
            return refuse(Fault::Filter, format!("{path:?} is not an attribute."));
        };
        self.rest = rest;
        if self.rest.starts_with('[') {
            if place.part.is_some() || place.attribute.parts().is_empty() {
                return self.fail("an attribute with parts before the bracket");
            }
            self.sign('[');
            let outer = std::mem::replace(&mut self.known, Known::Parts(place.attribute.parts()));
            let within = self.any()?;
            self.known = outer;
            if !self.sign(']') {
                return self.fail("a closing bracket");
            }
            // `emails[type eq "work"].value eq "x"` is not in the grammar, and is sent all the same.
            let Some(rest) = self.rest.strip_prefix('.') else {
                return Ok(Filter::Within(place.attribute, Box::new(within)));
            };
            self.rest = rest;
            let outer = std::mem::replace(&mut self.known, Known::Parts(place.attribute.parts()));
            let of_value = self.condition()?;
            self.known = outer;
            let both = Filter::And(Box::new(within), Box::new(of_value));
            return Ok(Filter::Within(place.attribute, Box::new(both)));
        }
        if self.word("pr") {
            return Ok(Filter::Present(place));
        }
        let Some((_, comparison)) = COMPARISONS.iter().find(|(word, _)| self.word(word)) else {
            return self.fail("pr, eq, ne, co, sw, ew, gt, ge, lt or le");
        };
        let value = self.value()?;
        let is_ordered = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let is_boolean = place.compared().is_some_and(|attribute| attribute.kind == Kind::Boolean);
        if is_ordered && (is_boolean || !value.is_string()) {
            return refuse(Fault::Filter, format!("{path} can be compared by eq and ne only."));
        }
        // Some providers send the words.
        let word = value.as_str().and_then(|word| word.to_ascii_lowercase().parse().ok());
        let value = if is_boolean { word.map_or(value.clone(), Value::Bool) } else { value };
        Ok(Filter::Compare(place, *comparison, value))
    }

    fn value(&mut self) -> Result<Value, Refusal> {
        self.skip();
        let length = match self.rest.strip_prefix('"') {
            Some(text) => {
                let mut is_escaped = false;
                let end = text.char_indices().find(|(_, c)| {
                    let is_end = *c == '"' && !is_escaped;
                    is_escaped = *c == '\\' && !is_escaped;
                    is_end
                });
                end.map(|(at, _)| at + 2)
            }
            None => Some(
                self.rest
                    .find(|c: char| c.is_whitespace() || matches!(c, ')' | ']'))
                    .unwrap_or(self.rest.len()),
            ),
        };
        let Some((text, rest)) = length.and_then(|length| self.rest.split_at_checked(length)) else {
            return self.fail("a value in quotes");
        };
        let lower = text.to_ascii_lowercase();
        let text = if matches!(lower.as_str(), "true" | "false" | "null") { lower.as_str() } else { text };
        match serde_json::from_str::<Value>(text) {
            Ok(value) if !value.is_array() && !value.is_object() => {
                self.rest = rest;
                Ok(value)
            }
            _ => self.fail("a value: a text in quotes, a number, true, false or null"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{ENTERPRISE, GROUPS, USERS};
    use super::*;

    fn eve() -> Resource {
        let eve = json!({
            "id": "mem_1", "userName": "Eve@Acme.example", "externalId": "Ab", "active": true,
            "name": {"familyName": "O'Malley"},
            "emails": [{"value": "eve@acme.example", "type": "work", "primary": true}, {"value": "e@home.example", "type": "home"}],
            "meta": {"lastModified": "2026-11-15T09:30:00.000Z"}, (ENTERPRISE): {"department": "IT"}
        });
        eve.as_object().expect("an object").clone()
    }

    #[test]
    fn filters_match() {
        for (filter, expected) in [
            (r#"userName eq "eve@acme.example""#, true),
            (r#"USERNAME EQ "EVE@acme.example""#, true),
            (r#"urn:ietf:params:scim:schemas:core:2.0:User:userName sw "eve""#, true),
            (r#"externalId eq "ab""#, false),
            (r#"externalId eq "Ab""#, true),
            (r#"userName ne "x""#, true),
            (r#"title ne "x""#, true),
            ("title eq null", true),
            ("title pr", false),
            ("emails pr", true),
            (r#"name.familyName co "MALL""#, true),
            (r#"name.familyName eq "O'Malley" and active eq true"#, true),
            (r#"active eq "True""#, true),
            (r#"active eq false or userName ew ".example""#, true),
            ("not (active eq true)", false),
            ("not(title pr) and (active eq true or title pr)", true),
            (r#"emails.value eq "e@home.example""#, true),
            (r#"emails eq "e@home.example""#, true),
            (r#"emails[type eq "work"]"#, true),
            (r#"emails[type eq "home" and primary eq true]"#, false),
            (r#"emails[type eq "work" and value co "@acme"] and userName pr"#, true),
            (r#"meta.lastModified gt "2026-11-15T00:00:00Z""#, true),
            (r#"meta.lastModified lt "2026-11-15T00:00:00Z""#, false),
            (r#"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "it""#, true),
            (r#"id eq "mem_1""#, true),
            // `and` binds closer than `or`.
            ("title pr and title pr or active eq true", true),
            ("active eq true or title pr and title pr", true),
        ] {
            let parsed =
                Filter::parse(USERS, filter).unwrap_or_else(|refusal| panic!("{filter}: {}", refusal.detail));
            assert_eq!(parsed.matches(&eve()), expected, "{filter}");
        }
        assert!(Filter::parse(GROUPS, r#"members.value eq "mem_1""#).is_ok());
    }

    #[test]
    fn what_is_not_a_filter_is_refused() {
        let deep = format!("{}active eq true{}", "(".repeat(21), ")".repeat(21));
        let long = format!("userName eq \"{}\"", "x".repeat(2000));
        for filter in [
            "",
            " ",
            "userName",
            "userName eq",
            "userName is \"x\"",
            "userName eq x",
            "userName eq \"x",
            "userName eq \"x\" and",
            "userName eq \"x\" userName",
            "(userName pr",
            "userName pr)",
            "not userName pr",
            "shoeSize eq 3",
            "userName.x pr",
            "emails[type eq \"work\"",
            "emails[userName pr]",
            "userName[value pr]",
            "active gt true",
            "userName gt 3",
            "userName eq {}",
            "urn:x:userName pr",
            "userName eq \"x\"; DROP TABLE users",
            &deep,
            &long,
        ] {
            let refusal = Filter::parse(USERS, filter).expect_err(filter);
            assert_eq!(refusal.fault, Fault::Filter, "{filter}");
        }
        let allowed = format!("{}active eq true{}", "(".repeat(19), ")".repeat(19));
        assert!(Filter::parse(USERS, &allowed).is_ok());
    }

    #[test]
    fn an_equality_alone_is_told() {
        let parse = |text: &str| Filter::parse(USERS, text).expect(text);
        let filter = parse(r#"userName eq "x \"y\"""#);
        let (place, text) = filter.equality().expect("an equality");
        assert_eq!((place.attribute.name, text), ("userName", "x \"y\""));
        assert!(parse(r#"userName eq "x" and active eq true"#).equality().is_none());
        assert!(parse("active eq true").equality().is_none());
        let both = parse(r#"userName eq "x" and (active eq true and id eq "y")"#);
        let places: Vec<&str> = both.equalities().iter().map(|(place, _)| place.attribute.name).collect();
        assert_eq!(places, ["userName", "id"]);
        assert!(parse(r#"userName eq "x" or id eq "y""#).equalities().is_empty());
    }
}
