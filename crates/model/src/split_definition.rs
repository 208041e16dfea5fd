//! Definitions whose listed positions are stored apart: a book may have a megabyte of them, and a sweep a thousand
//! cells with the same list.
//!
//! A definition's hash is unaffected: its JSON has the SHA-256 of the positions in their place, and both parts together
//! are equivalent to the whole.

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::conditions::OpeningsRule;
use crate::definition::CellDefinition;
use crate::seeds;

/// Positions with fewer bytes stay in the definition.
const APART_BYTES_MIN: usize = 4 << 10;

/// The text before the positions in a definition's canonical JSON. No string within contains an unescaped quote.
const BEFORE: &str = r#""openings":{"kind":"listed","positions":"#;

/// The text before the players.
const PLAYERS: &str = r#""players":["#;

/// Positions listed by definitions.
#[derive(Debug)]
pub struct ListedPositions {
    hash: [u8; 32],
    positions: Arc<[String]>,
}

impl ListedPositions {
    /// Parses positions from JSON; `None` if invalid.
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
pub struct SplitDefinition<'j> {
    /// The definition with a hash in place of its positions.
    pub json: String,
    /// The positions.
    pub positions_json: &'j str,
    /// SHA-256 of the positions.
    pub hash: [u8; 32],
}

impl<'j> SplitDefinition<'j> {
    /// Splits off the positions of a definition; `None` if it lists few or none.
    #[must_use]
    pub fn from_json(json: &'j str) -> Option<Self> {
        // A verification contains a cell's definition.
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

/// The text in place of positions.
fn quoted(hash: [u8; 32]) -> String {
    let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// Splits a definition with positions stored apart: the part shared by cells, and the players as a JSON list.
pub(crate) fn split(json: &str) -> Option<(&str, &str)> {
    let at = json.find(PLAYERS)?;
    let players = json[at + PLAYERS.len() - 1..].strip_suffix('}')?;
    Some((&json[..at], players))
}

/// The definition with this beginning, without players; `None` if it has other positions.
pub(crate) fn without_players(prefix: &str, listed: &ListedPositions) -> Option<CellDefinition> {
    let (before, after) = prefix.split_once(&[BEFORE, &quoted(listed.hash)].concat())?;
    let emptied_json = [before, BEFORE, "[]", after, PLAYERS, "{},{}]}"].concat();
    let mut definition: CellDefinition = serde_json::from_str(&emptied_json).ok()?;
    definition.openings = OpeningsRule::Listed { positions: Arc::clone(&listed.positions) };
    Some(definition)
}
