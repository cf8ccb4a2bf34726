//! The two five-step scales of risks and vendors, and the score they make: 1–5 × 1–5.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::json::JsonSchema;
use crate::patch::Patch;
use crate::plain::{Keep, Plain, PlainKind};
use crate::registers::Register;
use crate::text::Parse;

crate::words! {
    #[derive(Default)]
    Likelihood {
        #[default]
        VeryUnlikely = "very_unlikely",
        Unlikely = "unlikely",
        Possible = "possible",
        Likely = "likely",
        VeryLikely = "very_likely",
    }
}

crate::words! {
    #[derive(Default)]
    Impact {
        #[default]
        Insignificant = "insignificant",
        Minor = "minor",
        Moderate = "moderate",
        Major = "major",
        Severe = "severe",
    }
}

impl Likelihood {
    /// The step on the scale, 1 to 5.
    pub fn step(self) -> i64 {
        self as i64 + 1
    }
}

impl Impact {
    /// The step on the scale, 1 to 5.
    pub fn step(self) -> i64 {
        self as i64 + 1
    }
}

/// The score of a rating, 1 to 25.
pub fn score(likelihood: Likelihood, impact: Impact) -> i64 {
    likelihood.step() * impact.step()
}

/// Updates a side of a rating after the input is applied. On creation the defaults do not count as a rating, because
/// many clients always send them. Null for a half without a value for the other one takes the rating back: both halves
/// hold their defaults again.
pub fn follow_rating(
    (likelihood, impact, is_assessed): (&mut Likelihood, &mut Impact, &mut bool),
    given: (&Patch<Likelihood>, &Patch<Impact>),
    is_new: bool,
) {
    if given.0.value().is_some() || given.1.value().is_some() {
        let is_default = (*likelihood, *impact) == (Likelihood::default(), Impact::default());
        *is_assessed |= !(is_new && is_default);
    } else if *given.0 == Patch::Null || *given.1 == Patch::Null {
        (*likelihood, *impact, *is_assessed) = (Likelihood::default(), Impact::default(), false);
    }
}

/// A score from 1 to 25.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score(pub i64);

impl Score {
    pub const RANGE: std::ops::RangeInclusive<i64> = 1..=25;
}

impl Parse for Score {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(score) if Self::RANGE.contains(&score) => Ok(Self(score)),
            _ => Err("must be a whole number from 1 to 25".to_owned()),
        }
    }
}

impl Keep for Score {
    const KIND: PlainKind = PlainKind::Int;

    fn plain(&self) -> Plain<'_> {
        Plain::Int(self.0)
    }

    fn kept(value: Plain<'_>) -> Result<Self, String> {
        i64::kept(value).map(Self)
    }
}

impl JsonSchema for Score {
    fn json_schema() -> Value {
        json!({"type": "integer", "minimum": Self::RANGE.start(), "maximum": Self::RANGE.end()})
    }
}

/// A register whose rows have a likelihood and an impact, before and after treatment.
pub trait Rated: Register {
    fn inherent(&self) -> (Likelihood, Impact);
}

/// The rows of a register by their rating, before and after treatment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    pub inherent: MatrixSide,
    pub residual: MatrixSide,
}

/// Counts of rated rows in each cell of the matrix, and of rows that are not rated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatrixSide {
    pub cells: Vec<Cell>,
    pub not_assessed: i64,
}

impl MatrixSide {
    /// Adds rows with the same rating, which is a default if they were not assessed.
    pub fn add(&mut self, is_assessed: bool, cell: Cell) {
        let same = |known: &&mut Cell| (known.likelihood, known.impact) == (cell.likelihood, cell.impact);
        if !is_assessed {
            self.not_assessed += cell.count;
        } else if let Some(known) = self.cells.iter_mut().find(same) {
            known.count += cell.count;
        } else {
            self.cells.push(cell);
        }
    }
}

/// The number of rows in one cell of the five by five matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub likelihood: Likelihood,
    pub impact: Impact,
    pub count: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_run_from_one_to_twenty_five() {
        assert_eq!(score(Likelihood::default(), Impact::default()), 1);
        assert_eq!(score(Likelihood::VeryLikely, Impact::Severe), 25);
        assert_eq!(score(Likelihood::Possible, Impact::Major), 12);
    }
}
