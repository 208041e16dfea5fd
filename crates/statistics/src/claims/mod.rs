//! Claims about scores, stated in advance and judged together at one family-wise error rate.

mod holm;
mod judge;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use holm::holm;
pub use judge::{
    CellOfClaim, ClaimFigures, ClaimToJudge, JudgedCell, JudgedClaim, Judgement, NotJudged,
    StateOfCell, judge,
};
use spelrum_names::Names;

use crate::ScoreTest;

/// The bound, the quantifier and the error rate of a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claimed {
    /// The claimed bound of the score.
    pub score: Bound,
    /// The quantifier over the cells.
    pub quantifier: Quantifier,
    /// The allowed probability that any false claim of the family is called supported.
    pub error_rate: f64,
}

/// A bound of a score: more than 0 and less than 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Above this.
    Above(f64),
    /// Below this.
    Below(f64),
}

/// The cells in which a claim must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "lowercase")]
pub enum Quantifier {
    /// In every cell.
    #[default]
    Every,
    /// In at least one cell.
    Some,
}

impl Bound {
    /// The score of the bound.
    #[must_use]
    pub const fn score(self) -> f64 {
        match self {
            Self::Above(score) | Self::Below(score) => score,
        }
    }

    /// The same bound for the other player's score.
    #[must_use]
    pub fn seen_by_opponent(self) -> Self {
        match self {
            Self::Above(score) => Self::Below(1.0 - score),
            Self::Below(score) => Self::Above(1.0 - score),
        }
    }

    /// The one-sided p-value of a cell whose first player's score has this test; the claim may be about its second's.
    #[must_use]
    pub(crate) fn p_value(self, score: &ScoreTest, is_of_second: bool) -> f64 {
        match if is_of_second { self.seen_by_opponent() } else { self } {
            Self::Above(bound) => score.p_value_above(bound),
            Self::Below(bound) => score.p_value_below(bound),
        }
    }
}

impl Quantifier {
    /// A claim's p-value, from those of its cells.
    pub(crate) fn p_value(self, cells: &[f64]) -> f64 {
        match self {
            Self::Every => cells.iter().copied().fold(0.0, f64::max),
            Self::Some => (cells.iter().copied().fold(1.0, f64::min) * cells.len() as f64).min(1.0),
        }
    }
}

#[cfg(test)]
mod tests;
