//! Parameters as flat maps: the form of a player in sweeps, hashes and the results database.
//!
//! Each algorithm and each evaluation declares its parameters once, in a table of
//! [`ParameterInfo`]. The tables drive the validation of sweeps (`Settings`), the canonical map
//! that is hashed and stored, and the reference documentation.
//!
//! # The canonical map stays
//!
//! A stored player is identified by a hash of its canonical map, so the map of an existing player
//! must never change. Two rules ensure that:
//!
//! - A parameter that exists since the first release is always written out, so that its default may
//!   change later without changing the meaning of a stored player.
//! - A parameter that is *added later* has its "off" value as its default, in the table and in
//!   every earlier preset, is marked [`ParameterInfo::added_later`], and is left out of the
//!   canonical map while it is off. Players without it keep their hash and their meaning.

mod clock;
mod duration;
mod settings;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::core::expression::{FORMULA_BYTES_MAX, FeatureInfo};
use crate::core::problem::KeyProblem;

pub(crate) use clock::scaled_us;
pub use clock::{ClockRule, RunningClock, TimeLeft};
pub use duration::{format_duration_us, parse_duration_us};
pub use settings::Settings;
pub(crate) use settings::wrong_word;

pub use crate::core::nearest::nearest;

/// The value of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A finite number.
    Number(f64),
    /// A word or a text.
    Text(String),
    /// Several values in order.
    List(Vec<Self>),
    /// Several values by name: a recipe within a parameter.
    Table(BTreeMap<String, Self>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
            Self::Text(value) => write!(f, "{value:?}"),
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Table(values) => {
                f.write_str("{")?;
                for (index, (key, value)) in values.iter().enumerate() {
                    write!(f, "{} {key} = {value}", if index == 0 { "" } else { "," })?;
                }
                f.write_str(" }")
            }
        }
    }
}

impl Value {
    /// The number of values in it, itself included, and their nesting depth: 1 and 1 for a scalar.
    #[must_use]
    pub fn size_and_depth(&self) -> (usize, usize) {
        let sum = |(size, depth): (usize, usize), inner: &Self| {
            let (inner_size, inner_depth) = inner.size_and_depth();
            (size + inner_size, depth.max(1 + inner_depth))
        };
        match self {
            Self::Bool(_) | Self::Integer(_) | Self::Number(_) | Self::Text(_) => (1, 1),
            Self::List(values) => values.iter().fold((1, 1), sum),
            Self::Table(values) => values.values().fold((1, 1), sum),
        }
    }
}

/// Parameters by name. A `BTreeMap`, so that the order is always the same.
pub type Parameters = BTreeMap<String, Value>;

/// A whole number among a player's parameters, from 0; 0 if absent.
pub(crate) fn count_of(parameters: &Parameters, name: &str) -> u64 {
    match parameters.get(name) {
        Some(&Value::Integer(count)) => u64::try_from(count).unwrap_or(0),
        Some(_) | None => 0,
    }
}

/// One parameter: the single place that states its meaning and its possible values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterInfo {
    /// Its key in a sweep's player table.
    pub name: &'static str,
    /// Its possible values. `Display` writes them for people.
    pub kind: ParameterKind,
    /// Its value if a sweep does not set it. `Display` writes it for people.
    pub default: ParameterDefault,
    /// Its effect, in a sentence.
    pub meaning: &'static str,
    /// The parameter and value that this one depends on ([`ParameterDefault::Required`]: any value).
    /// Otherwise it is not part of the player, and setting it is an error.
    pub only_with: Option<(&'static str, ParameterDefault)>,
    /// Whether the canonical map omits it at its default: see the module's second rule.
    pub added_later: bool,
    /// The guarantee of a search for every value of this parameter; `None` for a parameter that is
    /// not a refinement.
    pub promise: Option<Promise>,
    /// Whether rules that depend on earlier moves, such as repetition, break that guarantee.
    pub unless_history_matters: bool,
}

/// The results that a refinement of a search leaves unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The value: a search to a depth finds minimax's value at that depth, and a move of that
    /// value, in every combination with others that promise it.
    ValuePreserving,
    /// The game-theoretic value only: it sees further than the depth, and never mistakes a win or
    /// loss for another.
    DepthExtending,
    /// Wins and losses only: reported ones are real. It may take longer to find them, and may value
    /// everything else differently, since it looks less closely at what seems not to matter.
    Heuristic,
}

impl ParameterInfo {
    /// `true` or `false`.
    #[must_use]
    pub const fn switch(name: &'static str, default: bool, meaning: &'static str) -> Self {
        Self::new(name, ParameterKind::Switch, ParameterDefault::Bool(default), meaning)
    }

    /// An integer in a range.
    #[must_use]
    pub const fn integer(
        name: &'static str,
        range: RangeInclusive<i64>,
        default: i64,
        meaning: &'static str,
    ) -> Self {
        let kind = ParameterKind::Integer { min: *range.start(), max: *range.end() };
        Self::new(name, kind, ParameterDefault::Integer(default), meaning)
    }

    /// A number in a range.
    #[must_use]
    pub const fn number(
        name: &'static str,
        range: RangeInclusive<f64>,
        default: f64,
        meaning: &'static str,
    ) -> Self {
        let kind = ParameterKind::Number { min: *range.start(), max: *range.end() };
        Self::new(name, kind, ParameterDefault::Number(default), meaning)
    }

    /// One of a few words.
    #[must_use]
    pub const fn word(
        name: &'static str,
        words: &'static [&'static str],
        default: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self::new(name, ParameterKind::Word(words), ParameterDefault::Word(default), meaning)
    }

    /// A limit: an integer from 1, or `"unlimited"`, which is its default.
    #[must_use]
    pub const fn limit(name: &'static str, max: i64, meaning: &'static str) -> Self {
        let kind = ParameterKind::Limit { max };
        Self::new(name, kind, ParameterDefault::Unlimited, meaning)
    }

    /// A limit of time, unlimited by default. Its canonical key is `<name>_us`.
    #[must_use]
    pub const fn duration(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ParameterKind::Duration, ParameterDefault::Unlimited, meaning)
    }

    /// A player's clock for its game; none by default.
    #[must_use]
    pub const fn clock(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ParameterKind::Clock, ParameterDefault::Absent, meaning)
    }

    /// A list of integers in a range, of bounded length.
    #[must_use]
    pub const fn integers(
        name: &'static str,
        count: RangeInclusive<usize>,
        range: RangeInclusive<i64>,
        default: &'static [i64],
        meaning: &'static str,
    ) -> Self {
        let kind = ParameterKind::Integers {
            count_min: *count.start(),
            count_max: *count.end(),
            min: *range.start(),
            max: *range.end(),
        };
        Self::new(name, kind, ParameterDefault::Integers(default), meaning)
    }

    /// A text, such as a formula, of at most this many bytes, which its reader checks further; a
    /// sweep must give it.
    #[must_use]
    pub const fn text(name: &'static str, bytes_max: usize, meaning: &'static str) -> Self {
        let kind = ParameterKind::Text { bytes_max };
        Self::new(name, kind, ParameterDefault::Required, meaning)
    }

    /// A formula over these features of a game. A sweep must give it.
    #[must_use]
    pub const fn formula(
        name: &'static str,
        features: &'static [FeatureInfo],
        meaning: &'static str,
    ) -> Self {
        Self::new(name, ParameterKind::Formula(features), ParameterDefault::Required, meaning)
    }

    /// A nested table, such as a recipe, which its reader checks further; a sweep must give it.
    #[must_use]
    pub const fn nested(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ParameterKind::Nested, ParameterDefault::Required, meaning)
    }

    /// A required table with keys of its own.
    #[must_use]
    pub const fn recipe(
        name: &'static str,
        recipe: &'static RecipeInfo,
        meaning: &'static str,
    ) -> Self {
        Self::new(name, ParameterKind::Recipe(recipe), ParameterDefault::Required, meaning)
    }

    /// The content hash of data stored elsewhere. A sweep must give it.
    #[must_use]
    pub const fn content(name: &'static str, meaning: &'static str) -> Self {
        Self::new(name, ParameterKind::Content, ParameterDefault::Required, meaning)
    }

    /// Replaces the constructor's default.
    #[must_use]
    pub const fn default_to(self, default: ParameterDefault) -> Self {
        Self { default, ..self }
    }

    /// Restricts the parameter to players whose parameter `name` has this value, or any value if it is
    /// [`ParameterDefault::Required`].
    #[must_use]
    pub const fn only_with(self, name: &'static str, value: ParameterDefault) -> Self {
        Self { only_with: Some((name, value)), ..self }
    }

    /// Declares a guarantee.
    #[must_use]
    pub const fn promises(self, promise: Promise) -> Self {
        Self { promise: Some(promise), ..self }
    }

    /// Limits the guarantee to games in which a position's value does not depend on earlier moves.
    #[must_use]
    pub const fn unless_history_matters(self) -> Self {
        Self { unless_history_matters: true, ..self }
    }

    /// The guarantee for this parameter in a game where earlier moves may (`true`) or cannot affect
    /// its end.
    #[must_use]
    pub fn promise_where(&self, history_matters: bool) -> Option<Promise> {
        self.promise.filter(|_| !(self.unless_history_matters && history_matters))
    }

    /// Omits the parameter from the canonical map at its default.
    #[must_use]
    pub const fn added_later(self) -> Self {
        Self { added_later: true, ..self }
    }

    const fn new(
        name: &'static str,
        kind: ParameterKind,
        default: ParameterDefault,
        meaning: &'static str,
    ) -> Self {
        Self {
            name,
            kind,
            default,
            meaning,
            only_with: None,
            added_later: false,
            promise: None,
            unless_history_matters: false,
        }
    }
}

/// The possible values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// `true` or `false`.
    Switch,
    /// An integer in a range, both ends included.
    Integer {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// A finite number in a range, both ends included.
    Number {
        /// The least.
        min: f64,
        /// The greatest.
        max: f64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// An integer from 1, or `"unlimited"`.
    Limit {
        /// The greatest.
        max: i64,
    },
    /// A time with its unit, or `"unlimited"`. The canonical map has it in microseconds, under the
    /// parameter's name with `_us`; that form is accepted too.
    Duration,
    /// Time for a game: see [`ClockRule`](crate::ClockRule).
    Clock,
    /// The name of one of the game's evaluations, whose parameters become parameters of the player.
    Evaluation,
    /// Several integers in a range, both ends included.
    Integers {
        /// The fewest.
        count_min: usize,
        /// The most.
        count_max: usize,
        /// The least of each.
        min: i64,
        /// The greatest of each.
        max: i64,
    },
    /// A text whose format its reader checks.
    Text {
        /// The longest, in bytes.
        bytes_max: usize,
    },
    /// A formula over these features: see [`Expression`](crate::expression::Expression). The canonical map
    /// has it with one space between two parts.
    Formula(&'static [FeatureInfo]),
    /// A table of values whose format its reader checks, at most 10,000 of them, 32 deep.
    Nested,
    /// A table of keys with their own table, such as a network's recipe. The canonical map has all of them.
    Recipe(&'static RecipeInfo),
    /// The SHA-256 of data, as 64 hexadecimal digits in lower case.
    Content,
}

/// The keys of a [`ParameterKind::Recipe`].
#[derive(Clone, Copy, Debug)]
pub struct RecipeInfo {
    /// Its keys.
    pub keys: &'static [ParameterInfo],
    /// Checks the keys, and fills in defaults.
    pub canonical: fn(&Parameters) -> Result<Parameters, KeyProblem>,
}

/// Compares the keys: functions have no unique addresses.
impl PartialEq for RecipeInfo {
    fn eq(&self, other: &Self) -> bool {
        self.keys == other.keys
    }
}

/// The most values in a nested parameter.
pub(crate) const NESTED_VALUES_MAX: usize = 10_000;
/// Their greatest nesting depth.
pub(crate) const NESTED_DEPTH_MAX: usize = 32;

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => write!(f, "true or false"),
            Self::Integer { min, max } => write!(f, "an integer from {min} to {max}"),
            Self::Number { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Word(words) => f.write_str(&alternatives(words.iter().copied())),
            Self::Limit { max } => write!(f, "an integer from 1 to {max}, or \"unlimited\""),
            Self::Duration => {
                write!(f, "a duration such as \"200us\", \"10ms\" or \"1.5s\", or \"unlimited\"")
            }
            Self::Clock => write!(f, "a clock such as \"10s\", \"10s+100ms\" or \"40/60s\""),
            Self::Evaluation => write!(f, "the name of one of the game's evaluations"),
            Self::Integers { count_min, count_max, min, max } => {
                write!(f, "a list of {count_min} to {count_max} integers from {min} to {max}")
            }
            Self::Text { bytes_max } => write!(f, "a text of at most {bytes_max} bytes"),
            Self::Formula(features) => {
                let names = features.iter().map(|info| info.name).chain(["1", "1"]);
                let [first, second] = [0, 1].map(|skipped| names.clone().nth(skipped));
                let [first, second] = [first, second].map(Option::unwrap_or_default);
                write!(
                    f,
                    "a formula such as \"(- {first} {second})\", at most {FORMULA_BYTES_MAX} bytes"
                )
            }
            Self::Nested => {
                write!(f, "a table of at most {NESTED_VALUES_MAX} values, {NESTED_DEPTH_MAX} deep")
            }
            Self::Recipe(recipe) => {
                let keys = recipe.keys.iter().map(|info| info.name);
                write!(f, "a table of {}", keys.collect::<Vec<_>>().join(", "))
            }
            Self::Content => write!(f, "a SHA-256 as 64 hexadecimal digits in lower case"),
        }
    }
}

/// A parameter's value in the form of tables and presets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterDefault {
    /// A switch.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A word.
    Word(&'static str),
    /// A list of integers.
    Integers(&'static [i64]),
    /// A limit that is off.
    Unlimited,
    /// The first of the game's evaluations.
    FirstEvaluation,
    /// A time, in microseconds.
    DurationUs(i64),
    /// Required: a sweep must give it.
    Required,
    /// Optional: a player has it only if a sweep gives it.
    Absent,
}

impl fmt::Display for ParameterDefault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
            Self::Word(value) => write!(f, "{value:?}"),
            Self::Integers(value) => write!(f, "{value:?}"),
            Self::Unlimited => write!(f, "\"unlimited\""),
            Self::FirstEvaluation => write!(f, "the game's first"),
            Self::DurationUs(us) => match u64::try_from(*us) {
                Ok(us) => write!(f, "{:?}", format_duration_us(us)),
                Err(_) => write!(f, "{us}us"),
            },
            Self::Required => write!(f, "required"),
            Self::Absent => write!(f, "none"),
        }
    }
}

/// A static evaluation of a game, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvaluationInfo {
    /// Its name: the value of the parameter `evaluation`.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub meaning: &'static str,
    /// Its weights and other parameters, for every player that uses it.
    pub parameters: &'static [ParameterInfo],
}

/// An algorithm, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AlgorithmInfo {
    /// The value of the parameter `algorithm`.
    pub(crate) name: &'static str,
    /// Its description, in a sentence.
    pub(crate) meaning: &'static str,
    /// Its parameters, limits included, in display order.
    pub(crate) parameters: &'static [ParameterInfo],
    /// Values of the key `preset`; the first is the default. If empty, there is no such key.
    pub(crate) presets: &'static [Preset],
    /// The limits of which at least one must be set. If empty, none is needed.
    pub(crate) bounded_by: &'static [&'static str],
}

/// Values that replace the defaults of the table. A preset is shorthand: the canonical map has the
/// values, not the preset's name, so that one player has one hash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Preset {
    /// The value of the key `preset`.
    pub(crate) name: &'static str,
    /// The values that differ from the table's defaults. A limit may be set here only if the
    /// table's own default for it is not `"unlimited"`.
    pub(crate) values: &'static [(&'static str, ParameterDefault)],
}

/// Parameters that several searches share.
pub(crate) mod shared {
    use super::{ParameterDefault, ParameterInfo, ParameterKind};

    /// The greatest depth of a search, also when its depth is unlimited: it bounds the stack
    /// ([`crate::search::STACK_BYTES`]).
    pub(crate) const DEPTH_MAX: i64 = 1_000;

    /// Counts stay below 2^53, so that every program that reads the database gets them exactly.
    pub(crate) const COUNT_MAX: i64 = (1 << 53) - 1;

    pub(crate) const DEPTH: ParameterInfo =
        ParameterInfo::limit("depth", DEPTH_MAX, "Plies that a move's search looks ahead.");

    pub(crate) const NODES: ParameterInfo =
        ParameterInfo::limit("nodes", COUNT_MAX, "Positions that a move's search may make.");

    pub(crate) const EVALUATIONS: ParameterInfo = ParameterInfo::limit(
        "evaluations",
        COUNT_MAX,
        "Static evaluations that a move's search may make.",
    );

    pub(crate) const MOVE_TIME: ParameterInfo =
        ParameterInfo::duration("move_time", "Wall time of a move's search.");

    pub(crate) const CLOCK: ParameterInfo = ParameterInfo::clock(
        "clock",
        "Time for a whole game, such as \"10s+100ms\" with an increment after each move, or for a number of \
         moves at a time, such as \"40/1m\".",
    );

    pub(crate) const MARGIN: ParameterInfo = ParameterInfo::duration(
        "margin",
        "Time by which a move may exceed its limit before the game is lost.",
    )
    .default_to(ParameterDefault::DurationUs(50_000));

    /// [`MARGIN`] of an algorithm, which loses no game by any other limit of time.
    pub(crate) const CLOCK_MARGIN: ParameterInfo =
        MARGIN.only_with("clock", ParameterDefault::Required);

    pub(crate) const EVALUATION: ParameterInfo = ParameterInfo::new(
        "evaluation",
        ParameterKind::Evaluation,
        ParameterDefault::FirstEvaluation,
        "The static evaluation of positions where the search ends.",
    );
}

/// `"a", "b" or "c"`.
fn alternatives<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let quoted: Vec<String> = words.map(|word| format!("{word:?}")).collect();
    match quoted.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}
