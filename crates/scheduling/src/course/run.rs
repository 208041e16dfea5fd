//! A run of a course: the interface that [`super::runs`] requires of each kind.

use spelrum_engine::{Parameters, Value};
use spelrum_model::AxisValue;
use spelrum_model::course::Note;

use super::outcome::CellOutcome;

/// A cell that a run requests.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// Settings of the decided player, by the names of definitions.
    pub(super) parameters: Vec<(String, Value)>,
    /// That player's opponent.
    pub(super) opponent: Opponent,
    /// Additional settings of the other player, by the names of definitions.
    pub(super) opponent_parameters: Vec<(String, Value)>,
    /// Cells of equal series start from the same openings: two numbers of the run's own. `None` is a separate
    /// series.
    pub(super) series: Option<(u64, u64)>,
    /// Number of games, if not the sweep's.
    pub(super) games: Option<u64>,
    /// Its place on the axes of the course, beside that of its run.
    pub(super) axes: Vec<(String, AxisValue)>,
}

/// The opponent of a run's player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opponent {
    /// The opponent of this number, from 0, in the order of the run's meetings.
    Player(usize),
    /// A player like itself, except for the decided settings.
    OwnKind,
}

/// A run under way.
pub(super) trait Run: Send {
    /// The cells to play now, in addition to those requested before; empty if it waits.
    fn ask(&mut self) -> Vec<Asked>;

    /// Receives the outcome of a requested cell, from the subject's view: requested cells are numbered from
    /// 0.
    fn tell(&mut self, number: u64, outcome: &CellOutcome);

    /// Whether the run is done with outcomes.
    fn has_ended(&self) -> bool;

    /// All parameters of the best player found, if the run decides which parameters that player has.
    fn best_player(&self) -> Option<Parameters> {
        None
    }

    /// Notes since the last call.
    fn take_notes(&mut self) -> Vec<Note>;
}
