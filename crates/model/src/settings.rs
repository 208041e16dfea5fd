//! Settings of an experiment as a whole. They are part of no cell's definition.

use crate::allocation::Allocation;
use crate::disturbance::Timing;
use crate::placement::Placement;

/// The key of the sweep file that decides the order in which cells are served.
pub const ALLOCATE: &str = "allocate";

/// The key of the sweep file for the workers that a sweep requires.
pub const PLACEMENT: &str = "placement";

/// The key of the sweep file whose change causes failed games to be replayed.
pub const GAME_TIMEOUT: &str = "game_timeout";

/// The settings that a sweep gives its experiment and a later sweep may change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExperimentSettings {
    /// The author's description; may be empty.
    pub description: String,
    /// The settings that steer its scheduling.
    pub scheduling: SchedulingSettings,
    /// The part of each game that is stored.
    pub record: Record,
    /// A game that takes longer than this, in microseconds of wall time, fails.
    pub game_timeout_us: Option<u64>,
    /// The experiment is paused after more forfeits than this by one player; `None`: never.
    pub forfeits_max: Option<u64>,
    /// The rules for timed games.
    pub timing: Timing,
    /// The workers allowed to play it.
    pub placement: Placement,
    /// The axis whose values are replicates: reports show the mean over them.
    pub replicates: Option<String>,
    /// The axes along which curves of scores only rise or only fall.
    pub monotone: Vec<String>,
}

/// The settings that steer the scheduling of an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedulingSettings {
    /// Larger goes first; experiments of equal priority share fairly.
    pub priority: i32,
    /// The most games that workers hold at once, in play or next in line; at least 2. `None`: any number.
    pub games_at_once: Option<u32>,
    /// The order in which cells are served.
    pub allocation: Allocation,
}

/// The part of each game that is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Record {
    /// The game with all its moves.
    #[default]
    Moves,
    /// Also the details of each search that external engines report, and the time left on clocks.
    Full,
    /// The game without moves.
    Games,
}

impl ExperimentSettings {
    /// The keys of the sweep file whose values differ.
    pub(crate) fn differences(&self, other: &Self) -> impl Iterator<Item = &'static str> {
        let [ours, theirs] = [self.scheduling, other.scheduling];
        [
            ("description", self.description != other.description),
            ("priority", ours.priority != theirs.priority),
            ("games_at_once", ours.games_at_once != theirs.games_at_once),
            (ALLOCATE, ours.allocation != theirs.allocation),
            ("record", self.record != other.record),
            (GAME_TIMEOUT, self.game_timeout_us != other.game_timeout_us),
            ("forfeits", self.forfeits_max != other.forfeits_max),
            ("timing", self.timing != other.timing),
            (PLACEMENT, self.placement != other.placement),
            ("replicates", self.replicates != other.replicates),
            ("monotone", self.monotone != other.monotone),
        ]
        .into_iter()
        .filter_map(|(key, differs)| differs.then_some(key))
    }
}
