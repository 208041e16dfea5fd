//! A cell of a plan: its players, and its place on the axes.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::{Parameters, Protocol, Value};
use spelrum_names::Names;

use crate::definition::DefinitionHash;
use crate::seeds::canonical_json;

/// One player of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlannedPlayer {
    /// Its algorithm.
    pub algorithm: String,
    /// The canonical JSON of its parameters, all spelt out, including the algorithm.
    pub parameters_json: String,
}

/// One cell of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCell {
    /// The hash of its definition.
    pub definition_hash: DefinitionHash,
    /// The cell's seed, from its definition.
    pub seed: u64,
    /// The index of its conditions in the plan.
    pub conditions: usize,
    /// Two of the plan's players; the first moves first in even numbers, or in all if sides are fixed.
    pub players: [Arc<PlannedPlayer>; 2],
    /// The names of its two players in the sweep. If pairings of other names lead to the same cell, those of the first
    /// one.
    pub player_names: [Arc<str>; 2],
    /// Its place on the axes, in their order, as pairs of axis and value index. Points of the grid that lead to the
    /// same cell are merged; the cell then lacks the axes on which these points differ, since they do not affect it.
    pub axes: Vec<(usize, usize)>,
    /// The number of games: at least 1; even if sides are swapped.
    pub games: u64,
    /// Whether its result depends on time.
    pub timed: bool,
    /// Whether its players are assumed to repeat a game with the same opening: neither draws random numbers, and no
    /// clock affects them. External engines may turn out to differ.
    pub repeats: bool,
}

/// A value on an axis, as reports and SQL show it: a number for computing, a text for reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AxisValue {
    /// The number, in the axis's unit (durations in milliseconds), if it has one.
    pub number: Option<f64>,
    /// The text in the sweep.
    pub text: String,
}

impl AxisValue {
    /// A whole number.
    #[must_use]
    pub fn from_integer(number: u64) -> Self {
        Self { number: Some(number as f64), text: number.to_string() }
    }
}

/// The player of a cell that a column of an axis refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The cell's first player.
    Player,
    /// Its second.
    Opponent,
}

impl Role {
    /// The name of the column for this role's variation, such as `player.depth`.
    #[must_use]
    pub fn axis(self, parameter: &str) -> String {
        format!("{}.{parameter}", self.prefix())
    }

    /// Splits an axis's name into role and parameter; `None` for an axis of the grid, which cannot have such a name.
    #[must_use]
    pub fn from_axis(axis: &str) -> Option<(Self, &str)> {
        let (role, parameter) = axis.split_once('.')?;
        Some((Self::named(role)?, parameter))
    }

    /// The role of the cell's other player.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Player => Self::Opponent,
            Self::Opponent => Self::Player,
        }
    }

    /// The prefix of its axes' names; no axis of the grid may have this name.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        self.name()
    }
}

impl PlannedPlayer {
    /// Creates the player with these parameters.
    #[must_use]
    pub fn new(parameters: &Parameters) -> Self {
        let algorithm = match parameters.get("algorithm") {
            Some(Value::Text(name)) => name.clone(),
            Some(_) | None => String::new(),
        };
        let mut parameters_json = canonical_json(parameters);
        // There may be 100,000 players.
        parameters_json.shrink_to_fit();
        Self { algorithm, parameters_json }
    }

    /// Its parameters.
    ///
    /// # Panics
    /// If they were not made by [`PlannedPlayer::new`].
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        serde_json::from_str(&self.parameters_json).expect("canonical JSON reads back")
    }

    /// Whether it is an external engine.
    #[must_use]
    pub fn is_external(&self) -> bool {
        Protocol::named(&self.algorithm).is_some()
    }

    /// Its time limit for a move, in microseconds, if it has one.
    pub(super) fn move_limit_us(&self) -> Option<u64> {
        match self.parameters().get("move_time_us") {
            Some(Value::Integer(us)) => u64::try_from(*us).ok(),
            Some(_) | None => None,
        }
    }
}
