//! The two five-step scales of risks and vendors, and the score they make: 1–5 × 1–5.

crate::words! {
    /// How likely something is.
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
    /// How bad it would be.
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
    /// 1 to 5.
    pub fn step(self) -> i64 {
        self as i64 + 1
    }
}

impl Impact {
    /// 1 to 5.
    pub fn step(self) -> i64 {
        self as i64 + 1
    }
}

/// 1 to 25.
pub fn score(likelihood: Likelihood, impact: Impact) -> i64 {
    likelihood.step() * impact.step()
}

/// How many items stand in one cell of the five by five matrix, before and after treatment.
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
