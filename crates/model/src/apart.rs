//! Definitions whose listed positions stand apart: a book may have a megabyte of them, and a sweep a thousand cells
//! that list the same.
//!
//! Nothing of it shows in a definition's hash: where positions stand apart, their SHA-256 stands in the definition's
//! JSON in their place, and both together say what the whole said.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::conditions::OpeningsRule;
use crate::definition::CellDefinition;
use crate::seeds;

/// Positions of fewer bytes stay where they are.
const APART_BYTES_MIN: usize = 4 << 10;

/// What stands before them in a definition's canonical JSON. A text in it has no quote of its own.
const BEFORE: &str = r#""openings":{"kind":"listed","positions":"#;

/// What stands before the players.
const PLAYERS: &str = r#""players":["#;

/// Positions that definitions list.
#[derive(Debug)]
pub struct ListedPositions {
    hash: [u8; 32],
    positions: Arc<[String]>,
}

impl ListedPositions {
    /// Reads them from their JSON; `None` if it is not that of positions.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Self> {
        let positions = serde_json::from_str(json).ok()?;
        Some(Self { hash: Sha256::digest(json).into(), positions })
    }

    /// SHA-256 of their JSON.
    #[must_use]
    pub const fn hash(&self) -> [u8; 32] {
        self.hash
    }

    /// Their canonical JSON.
    #[must_use]
    pub fn json(&self) -> String {
        seeds::canonical_json(&self.positions)
    }
}

/// A definition's JSON in two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart<'j> {
    /// The definition with a hash in the place of its positions.
    pub json: String,
    /// The positions.
    pub positions_json: &'j str,
    /// SHA-256 of them.
    pub hash: [u8; 32],
}

impl<'j> Apart<'j> {
    /// Sets the positions of a definition apart; `None` of one that lists few or none.
    #[must_use]
    pub fn of(json: &'j str) -> Option<Self> {
        // A verification has a cell's definition within its own.
        let (_format, rest) = json.split_once(',')?;
        if !rest.starts_with("\"seed\":") {
            return None;
        }
        let start = json.find(BEFORE)? + BEFORE.len();
        let mut is_text = false;
        let mut bytes = json.as_bytes()[start..].iter();
        loop {
            match bytes.next()? {
                b'"' => is_text = !is_text,
                b'\\' if is_text => drop(bytes.next()?),
                b']' if !is_text => break,
                _ => {}
            }
        }
        let end = json.len() - bytes.len();
        let positions_json = &json[start..end];
        if positions_json.len() < APART_BYTES_MIN || !positions_json.starts_with('[') {
            return None;
        }
        let hash: [u8; 32] = Sha256::digest(positions_json).into();
        let json = [&json[..start], &quoted(hash), &json[end..]].concat();
        Some(Self { json, positions_json, hash })
    }
}

/// What stands in the place of positions.
fn quoted(hash: [u8; 32]) -> String {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// Splits a definition whose positions stand apart: what cells share, and the players as a list in JSON.
pub(crate) fn split(json: &str) -> Option<(&str, &str)> {
    let at = json.find(PLAYERS)?;
    let players = json[at + PLAYERS.len() - 1..].strip_suffix('}')?;
    Some((&json[..at], players))
}

/// The definition that begins like this, without players; `None` of one of other positions.
pub(crate) fn without_players(prefix: &str, listed: &ListedPositions) -> Option<CellDefinition> {
    let (before, after) = prefix.split_once(&[BEFORE, &quoted(listed.hash)].concat())?;
    let whole = [before, BEFORE, "[]", after, PLAYERS, "{},{}]}"].concat();
    let mut definition: CellDefinition = serde_json::from_str(&whole).ok()?;
    definition.openings = OpeningsRule::Listed { positions: Arc::clone(&listed.positions) };
    Some(definition)
}
