//! Which game, under which rules: the data form of a start position.

use serde::{Deserialize, Serialize};

use crate::games::Nim;
use crate::parameters::EvaluationInfo;
use crate::position::Game;
use crate::with_game;

/// A game and its rules, as a sweep names them. The JSON form is part of a cell's definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rules {
    /// Pentago.
    Pentago {
        /// Whether a placement that makes five wins at once, before any turn of a quadrant.
        #[serde(default = "yes")]
        win_before_rotation: bool,
    },
    /// Tic-tac-toe.
    TicTacToe {},
    /// Nim.
    Nim {
        /// Objects in each heap: at most [`Nim::HEAPS_MAX`] heaps of [`Nim::OBJECTS_MAX`].
        #[serde(default = "classic_heaps")]
        heaps: Vec<u32>,
        /// Whether taking the last object loses (misère) instead of winning (normal play).
        #[serde(default)]
        misere: bool,
    },
}

impl Rules {
    /// The games by the names a sweep uses.
    pub const GAMES: &[&str] = &["pentago", "tic-tac-toe", "nim"];

    /// A game under its usual rules, by its name alone.
    ///
    /// # Errors
    /// If no game has this name; the remedy names the nearest one.
    pub fn from_name(name: &str) -> Result<Self, RulesError> {
        match name {
            "pentago" => Ok(Self::Pentago { win_before_rotation: yes() }),
            "tic-tac-toe" => Ok(Self::TicTacToe {}),
            "nim" => Ok(Self::Nim { heaps: classic_heaps(), misere: false }),
            unknown => Err(RulesError {
                problem: format!("there is no game `{unknown}`"),
                remedy: nearest_game(unknown),
            }),
        }
    }

    /// The game's name, as in [`Rules::GAMES`] and in the JSON form.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pentago { .. } => "pentago",
            Self::TicTacToe {} => "tic-tac-toe",
            Self::Nim { .. } => "nim",
        }
    }

    /// The game's evaluations with their weights, the default first: more parameters for players
    /// that search.
    #[must_use]
    pub fn evaluations(&self) -> &'static [EvaluationInfo] {
        with_game!(self, G => G::EVALUATIONS)
    }

    /// Checks what the type alone cannot: Nim's heaps.
    ///
    /// # Errors
    /// If there are no heaps, too many of them, too many objects in one, or none at all.
    pub fn validate(&self) -> Result<(), RulesError> {
        match self {
            Self::Pentago { .. } | Self::TicTacToe {} => Ok(()),
            Self::Nim { heaps, .. } => validate_heaps(heaps),
        }
    }

    /// The error of a game's constructor that was given another game's rules.
    pub(crate) fn mismatch(&self, wanted: &str) -> RulesError {
        RulesError {
            problem: format!("these are rules of {}, not of {wanted}", self.name()),
            remedy: format!("give the rules of {wanted}"),
        }
    }
}

/// Rules that are none, with what is wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct RulesError {
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

fn validate_heaps(heaps: &[u32]) -> Result<(), RulesError> {
    let remedy = format!(
        "give 1 to {} heaps of at most {} objects, such as [3, 4, 5]",
        Nim::HEAPS_MAX,
        Nim::OBJECTS_MAX
    );
    let problem = if heaps.is_empty() {
        "Nim needs at least one heap".to_owned()
    } else if heaps.len() > Nim::HEAPS_MAX {
        format!("{} heaps are too many for Nim", heaps.len())
    } else if let Some(heap) = heaps.iter().position(|&objects| objects > Nim::OBJECTS_MAX) {
        format!("heap {} of Nim has {} objects", heap + 1, heaps[heap])
    } else if heaps.iter().all(|&objects| objects == 0) {
        "Nim needs at least one object".to_owned()
    } else {
        return Ok(());
    };
    Err(RulesError { problem, remedy })
}

fn nearest_game(unknown: &str) -> String {
    let games = Rules::GAMES;
    let nearest = games
        .iter()
        .map(|&game| (strsim::damerau_levenshtein(&unknown.to_lowercase(), game), game))
        .min();
    match nearest {
        Some((distance, game)) if distance <= 3 => format!("did you mean `{game}`?"),
        Some(_) | None => format!("the games are {}", games.join(", ")),
    }
}

fn yes() -> bool {
    true
}

fn classic_heaps() -> Vec<u32> {
    vec![3, 4, 5]
}
