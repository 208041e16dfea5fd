//! Claims as stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::claims::{ClaimHash, Statement};
use spelrum_model::{CellId, Role};
use spelrum_statistics::Estimate;

/// A claim as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatedClaim {
    /// The claim, in the author's words.
    pub text: String,
    /// The comparison.
    pub statement: Statement,
    /// Hash of the whole claim.
    pub hash: ClaimHash,
    /// Whether a game of the experiment had been settled before the claim was stated.
    pub is_late: bool,
    /// Whether the sweep still states the claim.
    pub in_sweep: bool,
    /// The stop rule of its cells when the claim was stated, in words.
    pub stop_rule: Option<String>,
    /// Its cells, case by case.
    pub cells: Vec<StatedCell>,
    /// For figures that do not follow from single cells' results: the estimate of each case, on the scale of logarithms
    /// for ratios; `None` without results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub estimates: Vec<Option<Estimate>>,
    /// For a claim about means over replicates: the cells of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<MeanOverReplicates>,
    /// For a claim about ratings: its cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads: Vec<RatedLead>,
}

/// Cells of a claim, or comparisons of two, that differ only on the axis of replicates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeanOverReplicates {
    /// Their numbers among the claim's ([`StatedClaim::cases`]).
    pub cases: Vec<u64>,
    /// Whether the axis does not affect them, so that there is only one.
    pub is_unaffected: bool,
}

/// The lead of a claim's player over another in the ratings of one point of the grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatedLead {
    /// The point, in words; empty where the grid has no axes.
    pub at: String,
    /// The other player.
    pub opponent: String,
    /// How much stronger the claim's player is, in Elo; `None` if the two did not meet, directly or through others, or if
    /// too few openings were played.
    pub lead: Option<Estimate>,
    /// Whether one scale may fit the players there: the test of fit does not reject it.
    pub fits: bool,
}

impl StatedClaim {
    /// Its cells, case by case.
    pub fn cases(&self) -> impl Iterator<Item = &[StatedCell]> {
        self.cells.chunks_exact(self.statement.cells_of_case())
    }
}

/// A cell of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatedCell {
    /// The cell.
    pub cell: CellId,
    /// The role of the claim's player in the cell.
    pub player: Role,
    /// Planned number of games when the claim was stated.
    pub games: u64,
}
