//! Parameters as flat maps: how sweeps, hashes and the results database see a player.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// A word.
    Text(String),
}

/// Parameters by name. A `BTreeMap`, so that the order never depends on anything.
pub type Parameters = BTreeMap<String, Value>;

/// What is wrong with a player's parameters: which key, why, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; {remedy}")]
pub struct ParameterError {
    /// The key at fault, if it is a single one.
    pub key: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub remedy: String,
}

/// What a parameter means, for `--help`, documents and editors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterInfo {
    /// Its key in a sweep's player table.
    pub name: &'static str,
    /// Its kind for people: `integer`, `number`, `switch`, `duration`, or the words it may be.
    pub kind: &'static str,
    /// Its default for people, or what happens without it.
    pub default: &'static str,
    /// What it does, in a sentence.
    pub meaning: &'static str,
}
