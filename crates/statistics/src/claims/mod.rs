//! Claims about results, stated in advance and judged together at one family-wise error rate.
//!
//! A claim is about a figure ([`About`]) in several *cases*: of each case there is evidence ([`FigureTest`]), which gives
//! a p-value and a band; the claim's [`Quantifier`] makes one p-value of them. A further figure is a variant of `About`.

mod about;
mod found;
mod holm;
mod judge;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use about::{About, Bound, FigureTest};
pub use found::FoundValue;
pub use holm::holm;
pub use judge::{
    CaseOfClaim, CaseState, ClaimFigures, ClaimToJudge, JudgedCase, JudgedClaim, Judgement,
    NotJudged, judge,
};
use spelrum_names::Names;

/// The figure with its bound, the quantifier and the error rate of a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claimed {
    /// The figure, and the bound claimed for it.
    pub about: About,
    /// The quantifier over the cases.
    pub quantifier: Quantifier,
    /// The allowed probability that any false claim of the family is called supported.
    pub error_rate: f64,
}

/// The cases in which a claim must hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "lowercase")]
pub enum Quantifier {
    /// In every case.
    #[default]
    Every,
    /// In at least one case.
    Some,
}

impl Quantifier {
    /// A claim's p-value, from those of its cases; 1 without any.
    pub(crate) fn p_value(self, cases: &[f64]) -> f64 {
        match self {
            Self::Every | Self::Some if cases.is_empty() => 1.0,
            Self::Every => cases.iter().copied().fold(0.0, f64::max),
            Self::Some => (cases.iter().copied().fold(1.0, f64::min) * cases.len() as f64).min(1.0),
        }
    }
}

#[cfg(test)]
mod simulated_figures;
#[cfg(test)]
mod simulations;
#[cfg(test)]
mod tests;
