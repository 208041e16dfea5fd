//! A game and its rules as data: the data form of a start position.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::core::external::{GtpBoard, Protocol};
use crate::core::parameters::{EvaluationInfo, ParameterDefault, ParameterInfo, Settings, Value};
use crate::core::position::{Side, SideName};
use crate::core::termination::Termination;

/// A game and its rules, as a sweep names them: checked and complete.
///
/// The JSON form is part of a cell's definition: `{"name":"nim","heaps":[3,4,5],"misere":false}`,
/// the rules in the order of the game's table ([`GameInfo::rules`]), without white space. A rule
/// that is [added later](ParameterInfo::added_later) is left out while it is at its default, which
/// is how the game was played before, so that definitions written before keep their hashes.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) game: &'static GameInfo,
    pub(crate) values: Settings,
}

impl Rules {
    /// The game's name, as in [`Rules::games`] and in the JSON form.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.game.name
    }

    /// The game's description.
    #[must_use]
    pub const fn game(&self) -> &'static GameInfo {
        self.game
    }

    /// Every rule with its value, in the order of the game's table.
    pub fn values(&self) -> impl Iterator<Item = (&'static ParameterInfo, &Value)> {
        self.values.values()
    }

    /// Whether a rule that is a switch is on.
    ///
    /// # Panics
    /// If the game has no such switch.
    #[must_use]
    pub fn switch(&self, name: &str) -> bool {
        self.values.switch(name)
    }

    /// A rule that is an integer.
    ///
    /// # Panics
    /// If the game has no such rule.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        self.values.integer(name)
    }

    /// A rule that is one of a few words.
    ///
    /// # Panics
    /// If the game has no such rule.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.values.word(name)
    }

    /// The integers of a rule that is a list of them.
    ///
    /// # Panics
    /// If the game has no such rule.
    #[must_use]
    pub fn integers(&self, name: &str) -> Vec<i64> {
        self.values.integers(name)
    }
}

/// A game ([`crate::Game`]) for code that does not depend on its type.
#[derive(Debug)]
pub struct GameInfo {
    /// The name that sweeps use.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub meaning: &'static str,
    /// The rules that a sweep can choose.
    pub rules: &'static [ParameterInfo],
    /// Its names for the sides, the one that moves first from the start position first.
    pub sides: [SideName; 2],
    /// How its games end.
    pub terminations: &'static [Termination],
    /// The kinds of ended games that perft counts separately.
    pub leaf_kinds: &'static [&'static str],
    /// Its evaluations, the default first.
    pub evaluations: &'static [EvaluationInfo],
    /// Whether the moves before a position can affect how the game continues.
    pub history_matters: bool,
    /// The unit of its margins, in the plural, such as `discs`; `None` if its games have none.
    pub margin: Option<&'static str>,
    /// Protocols of the external engines that can play it.
    pub protocols: &'static [Protocol],
    /// Its board in GTP, if it has one.
    pub gtp_board: Option<GtpBoard>,
}

impl GameInfo {
    /// The game's name for a side.
    #[must_use]
    pub const fn side(&self, side: Side) -> SideName {
        self.sides[side.index()]
    }
}

impl PartialEq for Rules {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.values == other.values
    }
}

impl Serialize for Rules {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name())?;
        for (info, value) in self.values() {
            let is_left_out = info.added_later && is_default(info, value);
            if !is_left_out {
                map.serialize_entry(info.name, value)?;
            }
        }
        map.end()
    }
}

fn is_default(info: &ParameterInfo, value: &Value) -> bool {
    match (info.default, value) {
        (ParameterDefault::Bool(default), Value::Bool(value)) => default == *value,
        (ParameterDefault::Integer(default), Value::Integer(value)) => default == *value,
        (ParameterDefault::Number(default), Value::Number(value)) => default == *value,
        (ParameterDefault::Word(default), Value::Text(value)) => default == value,
        _ => false,
    }
}
