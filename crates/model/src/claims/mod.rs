//! Claims that a sweep states about its results in advance, and their change by a submit.
//!
//! A sweep's `[[claims]]` are planned with it ([`Claim`]), stored before the first game, and judged together once their
//! cells are finished ([`judge`](spelrum_statistics::claims::judge)): all claims stated before the first settled game
//! share one family-wise error rate. Claims are not part of cells, so games are the same with and without them.

mod restate;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use spelrum_statistics::claims::{About, Claimed, Quantifier};

use crate::definition::DefinitionHash;
use crate::plan::cell::{PlannedCell, Role};
use crate::seeds::canonical_json;

pub use restate::{AddedClaim, ClaimStanding, KnownClaim, Restated, Restatement};

/// Most claims of a sweep.
pub const CLAIMS_MAX: usize = 100;

/// Most cells in a sweep's claims, counted once per claim.
pub const CLAIMED_CELLS_MAX: usize = 10_000;

/// Longest text of a claim, in bytes.
pub const CLAIM_TEXT_BYTES_MAX: usize = 500;

/// The default family-wise error rate.
pub const DEFAULT_ERROR_RATE: f64 = 0.05;

/// A claim of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The claim in the author's words.
    pub text: String,
    /// The comparison.
    pub statement: Statement,
    /// Its cells, case by case ([`Statement::cells_of_case`]); none if it is about the results of runs.
    pub cells: Vec<ClaimedCell>,
}

/// A cell that a claim is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimedCell {
    /// Its number in the plan.
    pub cell: usize,
    /// The role of the claim's player in the cell.
    pub player: Role,
}

/// What a claim compares: a figure of a player in some cells with a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The name of the player in the sweep.
    pub player: String,
    /// The opponent's name; `None`: any opponent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opponent: Option<String>,
    /// The axes with named values, and these values as the axes have them; empty: all cells of the pairing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<(String, Vec<String>)>,
    /// The figure, and the bound claimed for it.
    #[serde(flatten)]
    pub about: About,
    /// What each cell is compared with; `None` for a figure of single cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub than: Option<Than>,
    /// The axis of replicates over which the figure is a mean, if the sweep names one; then each case is such a mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over: Option<String>,
    /// The quantifier over the cases.
    #[serde(rename = "in")]
    pub quantifier: Quantifier,
    /// The allowed probability that any false claim of the family is called supported.
    pub error_rate: f64,
}

/// The cell that a claim compares a cell with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Than {
    /// The cell with the value before on this axis, in the axis's order.
    Before(String),
    /// The cell with this player, opponent and values in place of its own.
    Other {
        /// The player's name; `None`: the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        player: Option<String>,
        /// The opponent's name; `None`: the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opponent: Option<String>,
        /// Axes with other values.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        at: Vec<(String, Vec<String>)>,
    },
}

/// SHA-256 of a whole claim: its text, its comparison and its cells. Written as 64 hexadecimal digits.
pub type ClaimHash = DefinitionHash;

impl Claim {
    /// The claim without its text, as self-contained canonical JSON: cells of its plan are replaced by the hashes of
    /// their definitions, each with the claim's player in it.
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
    /// The figure, its bound, the quantifier and the error rate, without the players.
    #[must_use]
    pub const fn claimed(&self) -> Claimed {
        Claimed { about: self.about, quantifier: self.quantifier, error_rate: self.error_rate }
    }

    /// Parses a [`Claim::definition_json`]; `None` if invalid.
    #[must_use]
    pub fn from_definition(definition_json: &str) -> Option<Self> {
        let mut definition: serde_json::Value = serde_json::from_str(definition_json).ok()?;
        definition.as_object_mut()?.remove("cells");
        serde_json::from_value(definition).ok()
    }

    /// The pairing and values in words: `a against b at depth=1, 2`.
    #[must_use]
    pub fn subject(&self) -> String {
        let mut words = self.player.clone();
        if let Some(opponent) = &self.opponent {
            words = format!("{words} against {opponent}");
        }
        if !self.at.is_empty() {
            words = format!("{words} at {}", values_text(&self.at));
        }
        words
    }

    /// The name of the player in the claim's own cells, or in those that they are compared with.
    #[must_use]
    pub fn player_of(&self, is_own: bool) -> &str {
        match &self.than {
            Some(Than::Other { player: Some(other), .. }) if !is_own => other,
            Some(_) | None => &self.player,
        }
    }

    /// The number of cells in each case: the first is compared with the second.
    #[must_use]
    pub const fn cells_of_case(&self) -> usize {
        if self.than.is_some() { 2 } else { 1 }
    }

    /// The figure and its bound in words: `score above 0.5 in every one of 4 cells`.
    #[must_use]
    pub fn predicate(&self, cases: usize) -> String {
        let (over, case) = match &self.than {
            None if self.about.is_of_runs() => (String::new(), "run"),
            None if self.about.is_of_ratings() => (String::new(), "difference"),
            None => (String::new(), "cell"),
            Some(than) => (format!(" over that {}", than.text()), "comparison"),
        };
        let (case, of_what) = match &self.over {
            None => (case, String::new()),
            Some(axis) => ("mean", format!(" over {axis}")),
        };
        let subject = match (cases, self.quantifier) {
            (1, _) => format!("its one {case}{of_what}"),
            (_, Quantifier::Every) => format!("every one of {cases} {case}s{of_what}"),
            (_, Quantifier::Some) => format!("some of {cases} {case}s{of_what}"),
        };
        format!("{}{over} in {subject}", self.about.words())
    }
}

impl Than {
    /// The other cell in words: `with the depth before`, or `of minimax at depth=1`.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Before(axis) => format!("with the {axis} before"),
            Self::Other { player, opponent, at } => {
                let player = player.as_ref().map(|name| format!("of {name}"));
                let opponent = opponent.as_ref().map(|name| format!("against {name}"));
                let at = (!at.is_empty()).then(|| format!("at {}", values_text(at)));
                let parts = [player, opponent, at];
                parts.into_iter().flatten().collect::<Vec<String>>().join(" ")
            }
        }
    }
}

/// Values on axes: `depth=1, 2; time=1s`.
fn values_text(at: &[(String, Vec<String>)]) -> String {
    let on_axis = |(axis, values): &(String, Vec<String>)| format!("{axis}={}", values.join(", "));
    at.iter().map(on_axis).collect::<Vec<String>>().join("; ")
}

/// The cells of a [`Claim::definition_json`]: the hash of each definition, and the claim's player in it. `None` if
/// invalid.
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
