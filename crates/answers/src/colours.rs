//! Scores by first mover from the opening.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_statistics::{GameCounts, OpeningCounts, ScoreInterval};

/// Returns the mean score of the first mover from the opening, with an interval over openings, or over games if there
/// is only one opening. `by_opening` has games as units, with the first mover's points. `None` without games.
#[must_use]
pub fn first_mover(by_opening: &OpeningCounts, games: u64, draws: u64) -> Option<ScoreInterval> {
    if games == 0 {
        return None;
    }
    if by_opening.openings() > 1 {
        return Some(by_opening.spread(1).interval(by_opening.mean(1)));
    }
    let wins = by_opening.half_points().saturating_sub(draws) / 2;
    let losses = games.saturating_sub(draws + wins);
    Some(GameCounts([losses, draws, wins]).interval())
}

/// Results of a cell's first player in its games of one colour: as first mover from the opening, or as second mover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColourResult {
    /// Games won.
    pub wins: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Mean points, with a 95% interval over openings, or over games if there is only one opening. `None` without
    /// games.
    pub score: Option<ScoreInterval>,
}

impl ColourResult {
    /// Creates the result of these games; `by_opening` has the player's points in them.
    #[must_use]
    pub fn new([wins, draws, losses]: [u64; 3], by_opening: &OpeningCounts) -> Self {
        let score = first_mover(by_opening, wins + draws + losses, draws);
        Self { wins, draws, losses, score }
    }

    /// Returns the number of games.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}
