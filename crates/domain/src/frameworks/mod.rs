//! Frameworks and their requirements. Some ship with the product, in our own words and mapped to each other; an
//! organization can add its own.

pub mod controls;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hash::sha256;
use crate::id::{FrameworkId, RequirementId};
use crate::json::JsonSchema;
use crate::text::Parse;

pub mod drafts;
pub mod oscal;

pub use drafts::{FrameworkDraft, RequirementDraft, Wrong};

crate::words! {
    /// The extent of the publisher's text in a framework.
    FrameworkText {
        /// The full text.
        Full = "full",
        /// Numbers and short titles; the rest is our own words.
        Titles = "titles",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framework {
    pub id: FrameworkId,
    /// A machine-readable name that never changes: `iso_27001`.
    pub alias: String,
    pub name: String,
    pub description: String,
    pub version: String,
    pub source: String,
    pub licence: String,
    pub attribution: String,
    pub text: FrameworkText,
    pub requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    pub id: RequirementId,
    /// Its number or short name: `5.1`, `CC6.1`.
    pub code: String,
    pub title: String,
    pub theme: String,
    /// The framework's term for it: a control, a clause, a criterion …
    pub kind: String,
    pub objective: String,
    /// Guidance for meeting it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub guidance: String,
    pub tags: Vec<String>,
    /// The ids of the requirement and of its theme in the catalog from which they were imported.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub control_id: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mapping {
    from: String,
    to: String,
    pairs: Vec<(String, String)>,
}

const SOURCES: &[&str] = &[
    include_str!("../../data/frameworks/iso_27001.json"),
    include_str!("../../data/frameworks/soc_2.json"),
    include_str!("../../data/frameworks/gdpr.json"),
    include_str!("../../data/frameworks/hipaa.json"),
    include_str!("../../data/frameworks/nist_csf.json"),
];
const MAPPINGS: &str = include_str!("../../data/mappings.json");

static SHIPPED: LazyLock<Vec<Arc<Framework>>> = LazyLock::new(|| {
    // A test verifies that all of these files can be parsed.
    SOURCES.iter().filter_map(|source| serde_json::from_str(source).ok().map(Arc::new)).collect()
});

type MappedRequirement = (&'static Framework, &'static Requirement);

/// The requirements that correspond to each other in different frameworks, in both directions.
static MAPPED: LazyLock<HashMap<RequirementId, Vec<MappedRequirement>>> = LazyLock::new(|| {
    let place = |alias: &str, code: &str| -> Option<MappedRequirement> {
        let framework: &'static Framework = shipped().iter().find(|framework| framework.alias == alias)?;
        Some((framework, framework.requirements.iter().find(|one| one.code == code)?))
    };
    let mappings: Vec<Mapping> = serde_json::from_str(MAPPINGS).unwrap_or_default();
    let mut mapped: HashMap<RequirementId, Vec<MappedRequirement>> = HashMap::new();
    for Mapping { from, to, pairs } in &mappings {
        for (a, b) in pairs {
            if let (Some(a), Some(b)) = (place(from, a), place(to, b)) {
                mapped.entry(a.1.id).or_default().push(b);
                mapped.entry(b.1.id).or_default().push(a);
            }
        }
    }
    mapped
});

/// The frameworks that ship with the product. Their ids never change, and sort in this order.
pub fn shipped() -> &'static [Arc<Framework>] {
    &SHIPPED
}

/// The requirements of other frameworks that a requirement corresponds to.
pub fn mapped(requirement: RequirementId) -> &'static [MappedRequirement] {
    MAPPED.get(&requirement).map(Vec::as_slice).unwrap_or_default()
}

impl Framework {
    /// Returns true when an organization added it.
    pub fn is_own(&self) -> bool {
        shipped().iter().all(|framework| framework.id != self.id)
    }

    /// The entity tag, a hash of the content.
    pub fn tag(&self) -> i64 {
        // Serialization cannot fail, because the framework contains only text.
        let hash = sha256(&serde_json::to_vec(self).unwrap_or_default());
        hash.iter().take(8).fold(0_i64, |number, byte| (number << 8) | i64::from(*byte)) & i64::MAX
    }

    pub fn requirement(&self, id: RequirementId) -> Option<&Requirement> {
        self.requirements.iter().find(|one| one.id == id)
    }

    /// The requirements that a statement of applicability covers: the controls, or everything if there are none.
    pub fn questions(&self) -> impl Iterator<Item = &Requirement> {
        let has_controls = self.requirements.iter().any(Requirement::is_control);
        self.requirements.iter().filter(move |one| !has_controls || one.is_control())
    }
}

impl Requirement {
    pub fn is_control(&self) -> bool {
        self.kind == "control"
    }

    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|one| one == tag)
    }
}

/// A reference to a framework, by its id or its alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameworkName {
    Id(FrameworkId),
    Alias(String),
}

impl FrameworkName {
    pub fn names(&self, framework: &Framework) -> bool {
        match self {
            Self::Id(id) => framework.id == *id,
            Self::Alias(alias) => framework.alias == *alias,
        }
    }

    /// The built-in framework that this refers to, if it is one.
    pub fn shipped(&self) -> Option<Arc<Framework>> {
        shipped().iter().find(|framework| self.names(framework)).cloned()
    }
}

impl Parse for FrameworkName {
    fn parse(text: &str) -> Result<Self, String> {
        match FrameworkId::read(text) {
            Some(id) => Ok(Self::Id(id)),
            None => alias(text).map(Self::Alias),
        }
    }
}

impl JsonSchema for FrameworkName {
    fn json_schema() -> Value {
        json!({"type": "string", "examples": ["iso_27001"], "description": "A framework's id or alias."})
    }
}

/// Validates a machine-readable name.
pub fn alias(text: &str) -> Result<String, String> {
    let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let is_word = (1..=50).contains(&text.len()) && text.chars().all(is_fine);
    match is_word && !text.starts_with("frk_") {
        true => Ok(text.to_owned()),
        false => Err("must be a framework's id (frk_…) or alias, such as iso_27001".to_owned()),
    }
}

crate::given_as_text!(FrameworkName);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn named(name: &str) -> Arc<Framework> {
        FrameworkName::parse(name).expect("a name").shipped().expect("a framework")
    }

    #[test]
    fn all_of_them_are_complete() {
        for source in SOURCES {
            let read: Result<Framework, _> = serde_json::from_str(source);
            read.unwrap_or_else(|error| panic!("{error}: {source:.80}"));
        }
        assert!(shipped().is_sorted_by(|a, b| a.id < b.id), "ids count upwards");
        let mut ids = HashSet::new();
        for framework in shipped() {
            let name = &framework.name;
            assert!(framework.requirements.is_sorted_by(|a, b| a.id < b.id), "{name}: ids count upwards");
            let codes: HashSet<&str> = framework.requirements.iter().map(|one| one.code.as_str()).collect();
            assert_eq!(codes.len(), framework.requirements.len(), "{name}: codes are unique");
            for one in &framework.requirements {
                assert!(ids.insert(one.id), "{name} {}", one.code);
                assert!(!one.title.is_empty() && !one.objective.is_empty(), "{name} {}", one.code);
                assert!(one.objective.chars().count() <= 240, "{name} {}", one.code);
            }
        }
    }

    #[test]
    fn annex_a_has_its_93_controls() {
        let iso = named("iso_27001");
        let controls: Vec<&str> = iso
            .requirements
            .iter()
            .filter(|one| one.kind == "control")
            .map(|one| one.code.as_str())
            .collect();
        let wanted: Vec<String> = [(5, 37), (6, 8), (7, 14), (8, 34)]
            .into_iter()
            .flat_map(|(theme, last)| (1..=last).map(move |number| format!("{theme}.{number}")))
            .collect();
        assert_eq!(controls, wanted);
        assert_eq!(named(&iso.id.to_string()).id, iso.id);
        assert_eq!(iso.questions().count(), 93);
        assert!(!iso.is_own());
    }

    #[test]
    fn mappings_lead_both_ways() {
        let mappings: Vec<Mapping> = serde_json::from_str(MAPPINGS).expect("the mappings");
        let pairs: usize = mappings.iter().map(|mapping| mapping.pairs.len()).sum();
        let places: usize =
            shipped().iter().flat_map(|one| &one.requirements).map(|one| mapped(one.id).len()).sum();
        assert_eq!(places, 2 * pairs, "every code is known");
        let iso = named("iso_27001");
        for control in iso.requirements.iter().filter(|one| one.kind == "control") {
            assert!(!mapped(control.id).is_empty(), "{}", control.code);
        }
    }
}
