//! The risk library: risks in our own words, with the controls of the catalogue that treat them. Their ratings are left
//! to the organization.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::registers::risks::RiskCategory;
use crate::words::Department;

const SOURCE: &str = include_str!("../../data/risk-library.json");

/// A risk of the library.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LibraryRisk {
    /// A machine-readable name that never changes.
    pub key: String,
    pub title: String,
    pub description: String,
    pub category: RiskCategory,
    pub department: Department,
    /// The scope flag under which it applies; without one it always applies.
    pub applies_when: Option<String>,
    /// The keys of the catalogue's controls that treat it.
    pub controls: Vec<String>,
}

static RISKS: LazyLock<Vec<LibraryRisk>> =
    // A test verifies that this file can be parsed completely.
    LazyLock::new(|| serde_json::from_str(SOURCE).unwrap_or_default());

pub fn all() -> &'static [LibraryRisk] {
    &RISKS
}

pub fn get(key: &str) -> Option<&'static LibraryRisk> {
    all().iter().find(|risk| risk.key == key)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::programme::{catalogue, scope};
    use crate::text::{LongText, Name, Parse};

    #[test]
    fn every_risk_is_complete() {
        let read: Vec<LibraryRisk> = serde_json::from_str(SOURCE).expect("the library");
        assert_eq!(read, all());
        assert!(read.len() >= 60);
        let keys: HashSet<&str> = read.iter().map(|risk| risk.key.as_str()).collect();
        let titles: HashSet<&str> = read.iter().map(|risk| risk.title.as_str()).collect();
        assert_eq!((keys.len(), titles.len()), (read.len(), read.len()));
        let flags: HashSet<&str> = scope::questions().iter().flat_map(scope::Question::flags).collect();
        for risk in all() {
            assert_eq!(Name::parse(&risk.title).expect("a title").as_str(), risk.title);
            assert_eq!(LongText::parse(&risk.description).expect("a text").as_str(), risk.description);
            assert!(!risk.controls.is_empty(), "{}", risk.key);
            for key in &risk.controls {
                assert!(catalogue::get(key).is_some(), "{}: {key}", risk.key);
            }
            assert!(
                risk.applies_when.as_ref().is_none_or(|flag| flags.contains(flag.as_str())),
                "{}",
                risk.key
            );
        }
    }
}
