//! The risk criteria of an organization: its own words for the two scales, its appetite, and the longest time for
//! which a risk may be accepted.

use serde::{Deserialize, Serialize};

use crate::registers::scales::{Impact, Likelihood, Score};
use crate::row::Row;
use crate::text::{Line, Text};
use crate::time::Time;

/// A step of a scale.
pub trait Step: Copy + PartialEq + std::fmt::Display + 'static {
    const STEPS: &'static [Self];
}

impl Step for Likelihood {
    const STEPS: &'static [Self] = Self::ALL;
}

impl Step for Impact {
    const STEPS: &'static [Self] = Self::ALL;
}

pub type LevelName = Line<1, 60>;
pub type LevelText = Text<1, 1000>;

/// An organization's own words for a step of a scale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level<L> {
    pub level: L,
    /// `None` means the product's own name.
    pub name: Option<LevelName>,
    pub description: Option<LevelText>,
}

/// The steps of a scale in their order, each once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Levels<L>(Vec<Level<L>>);

impl<L: Step> Default for Levels<L> {
    fn default() -> Self {
        Self(L::STEPS.iter().map(|level| Level { level: *level, name: None, description: None }).collect())
    }
}

impl<L: Step> Levels<L> {
    /// Orders the given steps; those that are missing have no words.
    pub fn new(given: Vec<Level<L>>) -> Result<Self, String> {
        let mut all = Self::default();
        let mut seen: Vec<L> = Vec::new();
        for one in given {
            if seen.contains(&one.level) {
                return Err(format!("{} is given more than once", one.level));
            }
            seen.push(one.level);
            let same = |known: &Level<L>| known.name.as_ref().map(lower) == one.name.as_ref().map(lower);
            let is_usual = |known: &Level<L>| {
                let usual = known.level.to_string().replace('_', " ");
                known.level != one.level && one.name.as_ref().map(lower).as_ref() == Some(&usual)
            };
            if one.name.is_some() && all.0.iter().any(|known| same(known) || is_usual(known)) {
                return Err(format!("{}: another step has the same name", one.level));
            }
            if let Some(place) = all.0.iter_mut().find(|known| known.level == one.level) {
                *place = one;
            }
        }
        Ok(all)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Level<L>> {
        self.0.iter()
    }
}

fn lower(name: &LevelName) -> String {
    name.as_str().to_lowercase()
}

/// The number of months for which a risk may be accepted.
pub const ACCEPTANCE_MONTHS: std::ops::RangeInclusive<i64> = 1..=36;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RiskCriteria {
    pub likelihood: Levels<Likelihood>,
    pub impact: Levels<Impact>,
    /// The highest residual score that is tolerated; `None` if it was not decided.
    pub appetite: Option<Score>,
    pub acceptance_months: i64,
}

impl Default for RiskCriteria {
    fn default() -> Self {
        Self {
            likelihood: Levels::default(),
            impact: Levels::default(),
            appetite: None,
            acceptance_months: 12,
        }
    }
}

/// The criteria that an organization has set.
#[derive(Clone, Debug, Default, Row)]
pub struct SetCriteria {
    #[row(json, column = "content")]
    pub criteria: RiskCriteria,
    /// `None` while they are the defaults.
    pub updated_at: Option<Time>,
    pub version: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Parse;

    fn level(level: Likelihood, name: &str) -> Level<Likelihood> {
        Level { level, name: LevelName::parse(name).ok(), description: None }
    }

    #[test]
    fn steps_keep_their_order_and_have_one_name_each() {
        let levels =
            Levels::new(vec![level(Likelihood::Likely, "Often"), level(Likelihood::Unlikely, "Seldom")])
                .expect("fine");
        let names: Vec<_> = levels.iter().map(|one| one.name.as_ref().map(LevelName::as_str)).collect();
        assert_eq!(names, [None, Some("Seldom"), None, Some("Often"), None]);
        let twice = vec![level(Likelihood::Likely, "Often"), level(Likelihood::Likely, "Daily")];
        assert!(Levels::new(twice).is_err());
        let same = vec![level(Likelihood::Likely, "Often"), level(Likelihood::VeryLikely, "often")];
        assert!(Levels::new(same).is_err());
    }
}
