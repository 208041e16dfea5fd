//! One run of a course: what [`super::runs`] asks of each kind.

use spelrum_engine::{Parameters, Value};
use spelrum_model::AxisValue;
use spelrum_model::course::Note;

use super::outcome::CellOutcome;

/// A cell that a run asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    /// What the player has that it decides about, by the names of definitions.
    pub(super) parameters: Vec<(String, Value)>,
    /// Whom that player meets.
    pub(super) opponent: Opponent,
    /// What the other has in addition, by the names of definitions.
    pub(super) opponent_parameters: Vec<(String, Value)>,
    /// Cells of equal series start from the same openings: two numbers of the run's own. `None` is a series of
    /// its own.
    pub(super) series: Option<(u64, u64)>,
    /// How many games it has, if not as many as the sweep says.
    pub(super) games: Option<u64>,
    /// Its place on the axes of the course, beside that of its run.
    pub(super) axes: Vec<(String, AxisValue)>,
}

/// Whom the player of a run meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opponent {
    /// The opponent of this number, from 0, in the order of the run's meetings.
    Player(usize),
    /// A player like itself, but for what the run decides.
    OwnKind,
}

/// One run under way.
pub(super) trait Run: Send {
    /// The cells that it wants now, in addition to those that it asked for before; none if it waits.
    fn ask(&mut self) -> Vec<Asked>;

    /// What came of a cell that it asked for, the subject's view: the cells that it asked for are numbered
    /// from 0.
    fn tell(&mut self, number: u64, outcome: &CellOutcome);

    /// Whether it wants to hear no more.
    fn has_ended(&self) -> bool;

    /// All parameters of the player that it holds for the best, if it decides which of them that has.
    fn best_player(&self) -> Option<Parameters> {
        None
    }

    /// What is to be known of it since this was called last.
    fn take_notes(&mut self) -> Vec<Note>;
}
