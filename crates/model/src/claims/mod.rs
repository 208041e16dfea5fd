//! Claims that a sweep states about its results before there are any, and their change by a submit.
//!
//! A sweep's `[[claims]]` are planned with it ([`Claim`]), kept by the store before the first game, and judged
//! together once their cells are finished ([`judge`](spelrum_statistics::claims::judge)):
//! all that were stated before the first settled game at one family-wise error rate. No claim is part of a cell:
//! the games are the same with claims and without.

mod restate;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use spelrum_statistics::claims::{Bound, Claimed, Quantifier};

use crate::definition::DefinitionHash;
use crate::plan::cell::{PlannedCell, Role};
use crate::seeds::canonical_json;

pub use restate::{AddedClaim, ClaimStanding, KnownClaim, Restated, Restatement};

/// Most claims of a sweep.
pub const CLAIMS_MAX: usize = 100;

/// Most cells that the claims of a sweep are about, each as often as a claim is about it.
pub const CLAIMED_CELLS_MAX: usize = 10_000;

/// Longest text of a claim, in bytes.
pub const CLAIM_TEXT_BYTES_MAX: usize = 500;

/// The family-wise error rate of a sweep that names none.
pub const DEFAULT_ERROR_RATE: f64 = 0.05;

/// A claim of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// What is claimed, in the author's words.
    pub text: String,
    /// What is compared.
    pub statement: Statement,
    /// The cells that it is about, in the grid's order; never empty.
    pub cells: Vec<ClaimedCell>,
}

/// A cell that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedCell {
    /// Its number in the plan.
    pub cell: usize,
    /// Which of its two players the claim's is.
    pub player: Role,
}

/// What a claim compares: a player's score in some cells with a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// Whose score it is, by its name in the sweep.
    pub player: String,
    /// Whom it meets; none: anybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opponent: Option<String>,
    /// On which axes it names values, and these as the axes have them; none: all cells of the pairing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<(String, Vec<String>)>,
    /// What the score is claimed to be.
    pub score: Bound,
    /// In how many of the cells.
    #[serde(rename = "in")]
    pub quantifier: Quantifier,
    /// How probable it may be that any false claim of the family is called supported.
    pub error_rate: f64,
}

/// SHA-256 of all that a claim says: its text, what it compares, and in which cells. Written as 64 hexadecimal
/// digits.
pub type ClaimHash = DefinitionHash;

impl Claim {
    /// What it says without its text, as canonical JSON, complete in itself: cells, which are those of its plan,
    /// stand by the hashes of their definitions, each with the claim's player in it.
    #[must_use]
    pub fn definition_json(&self, planned: &[PlannedCell]) -> String {
        #[derive(Serialize)]
        struct Definition<'c> {
            #[serde(flatten)]
            statement: &'c Statement,
            cells: Vec<(String, &'static str)>,
        }
        let cell = |claimed: &ClaimedCell| {
            let hash = planned[claimed.cell].definition_hash.to_string();
            (hash, claimed.player.name())
        };
        let cells = self.cells.iter().map(cell).collect();
        canonical_json(&Definition { statement: &self.statement, cells })
    }
}

impl Statement {
    /// The bound, the quantifier and the error rate, without the players.
    #[must_use]
    pub const fn claimed(&self) -> Claimed {
        Claimed { score: self.score, quantifier: self.quantifier, error_rate: self.error_rate }
    }

    /// That of a [`Claim::definition_json`]; none of what is not one.
    #[must_use]
    pub fn of_definition(definition_json: &str) -> Option<Self> {
        let mut definition: serde_json::Value = serde_json::from_str(definition_json).ok()?;
        definition.as_object_mut()?.remove("cells");
        serde_json::from_value(definition).ok()
    }

    /// In words: `a against b at depth=1, 2`.
    #[must_use]
    pub fn subject(&self) -> String {
        let mut words = self.player.clone();
        if let Some(opponent) = &self.opponent {
            words = format!("{words} against {opponent}");
        }
        for (index, (axis, values)) in self.at.iter().enumerate() {
            let join = if index == 0 { " at" } else { ";" };
            words = format!("{words}{join} {axis}={}", values.join(", "));
        }
        words
    }

    /// In words: `score above 0.5 in every cell`.
    #[must_use]
    pub fn predicate(&self, cells: usize) -> String {
        let (side, score) = match self.score {
            Bound::Above(score) => ("above", score),
            Bound::Below(score) => ("below", score),
        };
        let which = match (cells, self.quantifier) {
            (1, _) => "its one cell".to_owned(),
            (_, Quantifier::Every) => format!("every one of {cells} cells"),
            (_, Quantifier::Some) => format!("some of {cells} cells"),
        };
        format!("score {side} {score} in {which}")
    }
}

/// The cells of a [`Claim::definition_json`]: the hash of each one's definition, and the claim's player in it. None of
/// what is not one.
#[must_use]
pub fn cells_of_definition(definition_json: &str) -> Option<Vec<(String, Role)>> {
    let mut definition: serde_json::Value = serde_json::from_str(definition_json).ok()?;
    let cells = definition.as_object_mut()?.remove("cells")?;
    let cells: Vec<(String, String)> = serde_json::from_value(cells).ok()?;
    cells.into_iter().map(|(hash, player)| Some((hash, Role::named(&player)?))).collect()
}

/// The hash of a claim with this text and this [`Claim::definition_json`].
#[must_use]
pub fn claim_hash(text: &str, definition_json: &str) -> ClaimHash {
    let mut hasher = Sha256::new();
    hasher.update(b"spelrum claim v1\0");
    hasher.update(canonical_json(&text));
    hasher.update(definition_json);
    DefinitionHash(hasher.finalize().into())
}

#[cfg(test)]
mod tests;
