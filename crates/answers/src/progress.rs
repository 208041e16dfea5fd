//! How far an experiment is and the work left, as sums over its cells.

use spelrum_model::ExperimentState;
use spelrum_statistics::forecast::{Backlog, GameSpread};

use crate::forfeits::PlayerForfeits;

/// How far an experiment is: as much however many cells it has.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Its state.
    pub state: ExperimentState,
    /// Cells that its sweep names.
    pub cells: u64,
    /// Of these, cells without a game to play.
    pub cells_settled: u64,
    /// When its cells end before they have all their games, in words; none without a stop rule.
    pub stop_rule: Option<String>,
    /// Cells that the rule has ended.
    pub cells_stopped: u64,
    /// Games that its cells are to have.
    pub games_planned: u64,
    /// Games with a result, or finally failed.
    pub games_settled: u64,
    /// Of these, games that finally failed.
    pub games_failed: u64,
    /// Games that players forfeited, of those that forfeited any, by name.
    pub forfeits: Vec<PlayerForfeits>,
    /// The player that forfeited more games than the sweep allows, while the experiment is paused for that.
    pub stopped_for: Option<String>,
    /// Networks that its games wait or waited for.
    pub networks: u64,
    /// Of these, networks that are trained, or could finally not be.
    pub networks_settled: u64,
    /// The time that all its games took, summed over them, in microseconds.
    pub wall_us: f64,
    /// The work left.
    pub backlog: Backlog,
    /// How much the times of a cell's games vary, from the latest games.
    pub spread: GameSpread,
    /// Slots of the workers that hold games of it.
    pub slots: u64,
    /// The id of the latest game of any experiment; 0 without one. Ids of settled games grow, but the
    /// greatest may be deleted.
    pub last_game_id: i64,
}

impl Progress {
    /// Whether nothing of it is left to play.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.state.is_over()
    }
}
