//! The outcome of a cell, for the course that requested it.

use spelrum_statistics::PairCounts;

/// The outcome of a settled cell, from its first player's view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellOutcome {
    /// Its place in the order of the experiment's cells, from 0.
    pub number: u64,
    /// Games that count.
    pub games: u64,
    /// Games that finally failed.
    pub games_failed: u64,
    /// Games that the first player won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games that the second player won.
    pub losses: u64,
    /// Complete pairs by the first player's points in both games.
    pub pairs: PairCounts,
    /// The sum of the margins of the games that count and have one
    /// ([`GameRecord::margin`](spelrum_engine::GameRecord)): the first player's total lead.
    pub margin_sum: i64,
}

impl CellOutcome {
    /// The same, from the second player's view.
    #[must_use]
    pub fn swapped(&self) -> Self {
        let mut pairs = self.pairs;
        pairs.0.reverse();
        let margin_sum = -self.margin_sum;
        Self { wins: self.losses, losses: self.wins, pairs, margin_sum, ..self.clone() }
    }
}
