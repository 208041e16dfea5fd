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
