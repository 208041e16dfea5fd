//! From a sweep to its cells.

use crate::definition::CellDefinition;

/// A checked sweep, ready to be stored: what `Submit` becomes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    /// What it asks, in the author's words; may be empty.
    pub description: String,
    /// The game's name.
    pub game: String,
    /// The sweep's seed.
    pub seed: u64,
    /// Larger goes first; experiments of equal priority share fairly.
    pub priority: i32,
    /// What is stored of each game.
    pub record: Record,
    /// The axes, in the file's order. An axis whose values are tables stands here once for each
    /// of their keys, as `budget.ab`.
    pub axes: Vec<String>,
    /// Cells, distinct by definition, in the order of the grid.
    pub cells: Vec<PlannedCell>,
}

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCell {
    /// All that decides its games.
    pub definition: CellDefinition,
    /// The names its two players have in the sweep. If pairings of other names turn out to be the
    /// same cell, it has those under which it comes first.
    pub player_names: [String; 2],
    /// Its place on the axes, in their order. Cells that several points of the grid have are one
    /// cell; it lacks the axes on which these points differ, since they do not touch it.
    pub axes: Vec<(String, AxisValue)>,
    /// How many games it gets: even, at least 2.
    pub games: u64,
    /// Whether its result depends on time.
    pub timed: bool,
}

/// A value on an axis, as reports and SQL show it: a number to compute with, a text to read.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisValue {
    /// The number, in the axis's unit (durations in milliseconds), if it has one.
    pub number: Option<f64>,
    /// As the sweep wrote it.
    pub text: String,
}

/// What is stored of each game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The game and every move of it.
    Moves,
    /// The game alone.
    Games,
}
