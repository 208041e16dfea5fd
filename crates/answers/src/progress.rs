//! Progress of an experiment and the work left, as sums over its cells.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use spelrum_model::ExperimentState;
use spelrum_statistics::forecast::{Backlog, GameSpread};

use crate::checked::written_with_figures;
use crate::derived::ProgressFigures;
use crate::expected_games::ExpectedGames;
use crate::forfeits::PlayerForfeits;

/// Progress of an experiment, independent in size of its number of cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(transform = crate::derived::with_figures::<ProgressFigures>)]
pub struct Progress {
    /// Its state.
    pub state: ExperimentState,
    /// Cells that its sweep names.
    pub cells: u64,
    /// Of these, cells without a game to play.
    pub cells_settled: u64,
    /// The stop rule that ends cells early, in words; `None` without one.
    pub stop_rule: Option<String>,
    /// Cells that the rule has ended.
    pub cells_stopped: u64,
    /// Planned number of games of its cells.
    pub games_planned: u64,
    /// Games with a result, or finally failed.
    pub games_settled: u64,
    /// Of these, games that finally failed.
    pub games_failed: u64,
    /// Forfeit counts by player name, for players that forfeited any games.
    pub forfeits: Vec<PlayerForfeits>,
    /// The player that forfeited more games than the sweep allows, while the experiment is paused for this reason.
    pub stopped_for: Option<String>,
    /// Networks that its games wait or waited for.
    pub networks: u64,
    /// Of these, networks that are trained, or whose training finally failed.
    pub networks_settled: u64,
    /// Total duration of all its games, in microseconds.
    pub wall_us: f64,
    /// Games that are still expected where a stop rule ends cells; `None` without a rule.
    #[serde(default)]
    pub games_expected: Option<ExpectedGames>,
    /// The work left; with a stop rule that of the games expected.
    pub backlog: Backlog,
    /// Variation of the durations within a cell, from the latest games.
    pub spread: GameSpread,
    /// Slots of the workers that hold its games; no more than its sweep's `games_at_once`.
    pub slots: u64,
    /// Id of the latest game of any experiment; 0 without one. Ids of settled games grow, but the greatest may be
    /// deleted.
    pub last_game_id: i64,
}

written_with_figures!(Progress, ProgressFigures);

impl<'de> Deserialize<'de> for Progress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

impl Progress {
    /// Whether the experiment has no work left.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.state.is_over()
    }
}
