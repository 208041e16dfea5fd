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
}

#[cfg(test)]
mod tests;
