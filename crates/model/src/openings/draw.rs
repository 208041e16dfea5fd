//! Openings by random playouts, if there are too many to enumerate.

use std::collections::BTreeSet;
use std::sync::Arc;

use spelrum_engine::{Position, Random};

use super::{is_opening, notation};
use crate::seeds::{Key, attempt_key};

/// Most distinct openings of a sequence, which then repeats. 262,144 pairs determine any score rate to a fifth of a
/// percent, and a worker holds them in some tens of megabytes.
const OPENINGS_MAX: usize = 1 << 18;

/// Attempts without a new opening after which the sequence ends.
const BARREN_ATTEMPTS_MAX: u64 = 1 << 13;

/// The openings drawn so far, and the state for drawing more.
///
/// Attempt n plays moves drawn uniformly by the key of (openings key, n). It is kept if it ends in an opening whose
/// canonical key is new; the position reached stands for its class. The sequence ends at [`OPENINGS_MAX`], or after
/// [`BARREN_ATTEMPTS_MAX`] attempts in a row that were not kept. So the sequence does not depend on how far and in what
/// steps it is extended.
#[derive(Debug)]
pub(super) struct Drawn {
    key: Key,
    plies: u32,
    openings: Vec<Arc<str>>,
    seen: BTreeSet<u64>,
    attempts: u64,
    barren_attempts: u64,
}

impl Drawn {
    /// A sequence with its first opening, or `None` if there is none.
    pub(super) fn new<P: Position>(start: &P, plies: u32, key: Key) -> Option<Self> {
        let mut drawn = Self {
            key,
            plies,
            openings: Vec::new(),
            seen: BTreeSet::new(),
            attempts: 0,
            barren_attempts: 0,
        };
        drawn.extend(start, 1, u64::MAX);
        (!drawn.openings.is_empty()).then_some(drawn)
    }

    /// The number of moves played to find the openings.
    pub(super) fn played(&self) -> u64 {
        self.attempts.saturating_mul(u64::from(self.plies) + 1)
    }

    /// The openings drawn so far.
    pub(super) fn openings(&self) -> &[Arc<str>] {
        &self.openings
    }

    /// Whether the sequence has ended.
    pub(super) fn is_complete(&self) -> bool {
        self.openings.len() >= OPENINGS_MAX || self.barren_attempts >= BARREN_ATTEMPTS_MAX
    }

    /// Draws until there are `wanted` openings, the sequence is complete, or this many moves were played in total.
    pub(super) fn extend<P: Position>(&mut self, start: &P, wanted: usize, moves_max: u64) {
        let mut moves = Vec::new();
        while self.openings.len() < wanted && !self.is_complete() && self.played() < moves_max {
            let key = attempt_key(&self.key, self.attempts);
            self.attempts += 1;
            self.barren_attempts += 1;
            if let Some(position) = playout(start, self.plies, &mut Random::from_key(key))
                && is_opening(&position, &mut moves)
                && self.seen.insert(position.canonical_key())
            {
                self.openings.push(notation(&position));
                self.barren_attempts = 0;
            }
        }
    }
}

/// Plays this many random plies; `None` if the game ends earlier.
fn playout<P: Position>(start: &P, plies: u32, random: &mut Random) -> Option<P> {
    let mut position = start.clone();
    for _ in 0..plies {
        if position.is_over() {
            return None;
        }
        let mv = position.random_move(random);
        position.play_unchecked(mv);
    }
    Some(position)
}
