//! Scores by who moved first from the opening.

use spelrum_statistics::{GameCounts, OpeningCounts, ScoreInterval};

/// The mean score of whoever moved first from the opening, with an interval over openings; with one opening
/// alone over games. `by_opening` has games for units and what they gave who moved first. None without any.
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

/// What a cell's first player got in its games of one colour: those in which it moved first from the
/// opening, or those in which it moved second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ColourResult {
    /// Games that it won.
    pub wins: u64,
    /// Games that nobody won.
    pub draws: u64,
    /// Games that it lost.
    pub losses: u64,
    /// Its mean points, with a 95% interval over openings; with one opening alone over games. None without
    /// any.
    pub score: Option<ScoreInterval>,
}

impl ColourResult {
    /// Of these games; `by_opening` has what it got in them.
    #[must_use]
    pub fn of([wins, draws, losses]: [u64; 3], by_opening: &OpeningCounts) -> Self {
        let score = first_mover(by_opening, wins + draws + losses, draws);
        Self { wins, draws, losses, score }
    }

    /// How many games.
    #[must_use]
    pub const fn games(&self) -> u64 {
        self.wins + self.draws + self.losses
    }
}
