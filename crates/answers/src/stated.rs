//! Claims as a store has them.

use spelrum_model::claims::{ClaimHash, Statement};
use spelrum_model::{CellId, Role};

/// A claim as a store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedClaim {
    /// What is claimed, in the author's words.
    pub text: String,
    /// What is compared.
    pub statement: Statement,
    /// Of all that it says.
    pub hash: ClaimHash,
    /// Whether a game of the experiment had been settled when it was stated.
    pub is_late: bool,
    /// Whether the sweep states it still.
    pub in_sweep: bool,
    /// The rule by which its cells were to end when it was stated, in words.
    pub stop_rule: Option<String>,
    /// Its cells.
    pub cells: Vec<StatedCell>,
}

/// A cell of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedCell {
    /// The cell.
    pub cell: CellId,
    /// Which of its two players the claim's is.
    pub player: Role,
    /// How many games it was to have when the claim was stated.
    pub games: u64,
}
