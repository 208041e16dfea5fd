//! Openings of pairs (invariant 1): pair k's opening is a function of the sweep's seed, the game's rules, the openings
//! rule and k. It is the same in every cell, so that cells can be compared pair by pair, and independent of the caller,
//! time and order.
//!
//! An *opening* under `random` and `all` is a position at a given number of plies from the start that is not over and
//! in which the side to move cannot win at once. No two openings of a sequence are equal up to the game's symmetries.
//!
//! - If few positions lie on the way (see [`enumerate`]), `random` and `all` are the same: every opening that exists,
//!   in an order shuffled by the openings key (see [`crate::seeds`]). The sequence repeats after the last one.
//! - If there are many, `random` draws playouts, one key for each attempt, and keeps those that end in a new opening
//!   (see [`draw`]). `all` is refused.
//! - `strata` alternates between such openings of several distances, skipping those of an earlier distance (in Nim a
//!   position may be reached after two plies and after four).
//! - `ending` takes positions from the table of a chess ending (see [`ending`]), with known distances to mate.
//! - `start` and `listed` are the start position and the list in order.
//!
//! All of this, bounds included, is part of the recorded data, like the seeds.

mod draw;
mod ending;
mod enumerate;
mod known_values;
mod shared;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use spelrum_engine::{Game, KeyProblem, Position, Problem, Random, Rules, with_game};

use crate::conditions::{OpeningsRule, ToMove};
use crate::definition::CellDefinition;
use crate::seeds;
use draw::Drawn;
use ending::{Ending, Wanted};
pub(crate) use known_values::KnownValues;
use sha2::{Digest as _, Sha256};
use shared::Shared;
pub(crate) use shared::SharedConditions;

/// Most plies between the start and an opening.
pub const OPENING_PLIES_MAX: u32 = 200;

/// The openings of one sweep under one set of rules: shared by cells and by a worker's slots.
#[derive(Debug)]
pub struct Openings {
    rules: Rules,
    sequence: Sequence,
    /// The number of moves played to make them, without those of later draws.
    played: u64,
}

#[derive(Debug)]
enum Sequence {
    /// All openings; never empty.
    Whole(Box<[Arc<str>]>),
    /// The openings requested so far; never empty.
    Drawn(RwLock<Drawn>),
    /// Openings of each distance in turn; never empty.
    Strata(Box<[Openings]>),
    /// Positions of a chess ending.
    Ending(Ending),
}

/// Why openings could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningsError {
    /// The rules are invalid.
    #[error("failed to set up the game: {0}")]
    Rules(#[from] KeyProblem),
    /// The openings are further from the start than [`OPENING_PLIES_MAX`].
    #[error("openings after {plies} plies are too far from the start, at most {OPENING_PLIES_MAX}")]
    Far {
        /// The requested plies.
        plies: u32,
    },
    /// `all` over too large a set.
    #[error("there are too many positions after {plies} plies to play them all")]
    Many {
        /// The requested plies.
        plies: u32,
    },
    /// Every position is over or won at once, or none was found.
    #[error("no position after {plies} plies goes on without a win in one move")]
    None {
        /// The requested plies.
        plies: u32,
    },
    /// The list is empty.
    #[error("the list of openings is empty")]
    Empty,
    /// A listed position is invalid.
    #[error("failed to read opening {number}: {error}")]
    Notation {
        /// Its place in the list, from 1.
        number: usize,
        /// The problem with it.
        error: Problem,
    },
    /// A listed position appears earlier, up to symmetry.
    #[error("opening {number} is the same as opening {first}, up to symmetry")]
    Repeated {
        /// Its place in the list, from 1.
        number: usize,
        /// The place of the first.
        first: usize,
    },
    /// A listed position is over.
    #[error("opening {number} is a game that is over")]
    Over {
        /// Its place in the list, from 1.
        number: usize,
    },
    /// Endings of another game than chess, or of Chess960.
    #[error("there are tables of endings of chess alone, under its usual rules")]
    NotChess,
    /// An ending without a table.
    #[error("this ending has no table: {}", .0.what)]
    Ending(Problem),
    /// White wins none of the requested positions.
    #[error(
        "white wins no position of {ending} with {} to move{}",
        to_move.word(),
        distance.map(|[from, to]| format!(" in {from} to {to} moves")).unwrap_or_default(),
    )]
    NoWin {
        /// The ending's name.
        ending: String,
        /// The side to move.
        to_move: ToMove,
        /// The range of moves to mate.
        distance: Option<[u32; 2]>,
    },
}

impl Openings {
    /// Creates the openings of a sweep with this seed under these rules.
    ///
    /// Enumerates positions, or draws the first opening: milliseconds if a game has few. Makes the table of an ending
    /// on first use: a second with four pieces.
    ///
    /// # Errors
    /// See [`OpeningsError`].
    pub fn new(seed: u64, rules: &Rules, rule: &OpeningsRule) -> Result<Self, OpeningsError> {
        let identity = seeds::openings_identity(seed, rules, rule);
        let key = seeds::openings_key(&identity);
        let mut played = 0;
        let sequence =
            with_game!(rules, G => Sequence::new::<G>(seed, rules, rule, key, &mut played))?;
        Ok(Self { rules: rules.clone(), sequence, played })
    }

    /// The opening of a pair, in the game's notation. After the last opening, pairs start again from the first.
    #[must_use]
    pub fn opening(&self, pair: u64) -> Arc<str> {
        match &self.sequence {
            Sequence::Whole(openings) => at_wrapped(openings, pair),
            Sequence::Drawn(drawn) => {
                {
                    let drawn = drawn.read().unwrap_or_else(PoisonError::into_inner);
                    if drawn.is_complete() || pair < drawn.openings().len() as u64 {
                        return at_wrapped(drawn.openings(), pair);
                    }
                }
                self.extended(drawn, pair.saturating_add(1), u64::MAX, |drawn| {
                    at_wrapped(drawn.openings(), pair)
                })
            }
            Sequence::Strata(strata) => {
                let (stratum, number) = in_stratum(strata, pair);
                strata[stratum].opening(number)
            }
            Sequence::Ending(ending) => ending.opening(pair),
        }
    }

    /// Plies to mate from the opening of a pair, by best play of both sides; `None` for openings outside endings.
    #[must_use]
    pub fn plies_to_mate(&self, pair: u64) -> Option<u32> {
        match &self.sequence {
            Sequence::Ending(ending) => ending.plies_to_mate(pair),
            Sequence::Whole(_) | Sequence::Drawn(_) | Sequence::Strata(_) => None,
        }
    }

    /// The rule in the form used by definitions: with listed positions in the game's own notation, so that another
    /// spelling of the same list gives the same cell. `rule` is the one behind these openings.
    #[must_use]
    pub fn normalized(&self, rule: &OpeningsRule) -> OpeningsRule {
        match (rule, &self.sequence) {
            (OpeningsRule::Listed { .. }, Sequence::Whole(openings)) => OpeningsRule::Listed {
                positions: openings.iter().map(|opening| opening.to_string()).collect(),
            },
            _ => rule.clone(),
        }
    }

    /// The number of openings before they repeat, if known without drawing.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        match &self.sequence {
            Sequence::Whole(openings) => Some(openings.len() as u64),
            Sequence::Ending(ending) => Some(ending.count()),
            Sequence::Drawn(_) | Sequence::Strata(_) => None,
        }
    }

    /// The number of distinct openings, counted up to `wanted`.
    #[must_use]
    pub fn distinct(&self, wanted: u64) -> u64 {
        self.distinct_within(wanted, u64::MAX).unwrap_or(wanted)
    }

    /// The number of distinct openings; `None` if counting takes more than this many moves.
    #[must_use]
    pub fn distinct_within(&self, wanted: u64, moves_max: u64) -> Option<u64> {
        let count = match &self.sequence {
            Sequence::Whole(openings) => openings.len() as u64,
            Sequence::Ending(ending) => ending.count(),
            Sequence::Drawn(drawn) => self.extended(drawn, wanted, moves_max, |drawn| {
                let count = drawn.openings().len() as u64;
                (count >= wanted || drawn.is_complete()).then_some(count)
            })?,
            Sequence::Strata(strata) => {
                let mut count = wanted;
                let mut left = moves_max;
                for (stratum, openings) in strata.iter().enumerate() {
                    let here = wanted.saturating_sub(stratum as u64).div_ceil(strata.len() as u64);
                    let before = openings.cost();
                    let distinct = openings.distinct_within(here, before.saturating_add(left))?;
                    left = left.saturating_sub(openings.cost() - before);
                    if distinct < here {
                        count = count.min(distinct * strata.len() as u64 + stratum as u64);
                    }
                }
                count
            }
        };
        Some(wanted.min(count))
    }

    /// The cost of making and holding the openings so far: in moves, with each held opening counted as some moves.
    #[must_use]
    pub fn cost(&self) -> u64 {
        const COST_OF_OPENING: u64 = 64;
        let (openings, drawn) = match &self.sequence {
            Sequence::Strata(strata) => return strata.iter().map(Self::cost).sum(),
            Sequence::Ending(ending) => return ending.cost(),
            Sequence::Whole(openings) => (openings.len(), 0),
            Sequence::Drawn(drawn) => {
                let drawn = drawn.read().unwrap_or_else(PoisonError::into_inner);
                (drawn.openings().len(), drawn.played())
            }
        };
        self.played + drawn + COST_OF_OPENING * openings as u64
    }

    /// Draws until there are `wanted` openings, no more are found, or this many moves were played, then passes them to
    /// `look`.
    fn extended<T>(
        &self,
        drawn: &RwLock<Drawn>,
        wanted: u64,
        moves_max: u64,
        look: impl FnOnce(&Drawn) -> T,
    ) -> T {
        let mut drawn = drawn.write().unwrap_or_else(PoisonError::into_inner);
        with_game!(&self.rules, G => {
            if let Ok(start) = G::start(&self.rules) {
                drawn.extend(&start, usize::try_from(wanted).unwrap_or(usize::MAX), moves_max);
            }
        });
        look(&drawn)
    }
}

impl Sequence {
    fn new<G: Game>(
        seed: u64,
        rules: &Rules,
        rule: &OpeningsRule,
        key: seeds::Key,
        played: &mut u64,
    ) -> Result<Self, OpeningsError> {
        let start = G::start(rules)?;
        match rule {
            OpeningsRule::Start {} => Ok(Self::Whole(Box::new([notation(&start)]))),
            OpeningsRule::Listed { positions } => listed::<G>(rules, positions),
            OpeningsRule::Strata { plies } => Ok(Self::Strata(strata(seed, rules, plies)?)),
            OpeningsRule::Ending { ending, to_move, distance, stratified } => {
                let (to_move, distance, stratified) = (*to_move, *distance, *stratified);
                let wanted = Wanted { ending, to_move, distance, stratified };
                Ending::new(rules, wanted, key).map(Self::Ending)
            }
            OpeningsRule::Random { plies } | OpeningsRule::All { plies }
                if *plies > OPENING_PLIES_MAX =>
            {
                Err(OpeningsError::Far { plies: *plies })
            }
            &OpeningsRule::All { plies } => {
                let all = enumerate::openings(&start, plies, enumerate::ALL, played)
                    .ok_or(OpeningsError::Many { plies })?;
                shuffled(all, plies, key)
            }
            &OpeningsRule::Random { plies } => {
                match enumerate::openings(&start, plies, enumerate::FEW, played) {
                    Some(all) => shuffled(all, plies, key),
                    None => Drawn::new(&start, plies, key)
                        .map(|drawn| Self::Drawn(RwLock::new(drawn)))
                        .ok_or(OpeningsError::None { plies }),
                }
            }
        }
    }
}

/// The openings of each distance.
fn strata(seed: u64, rules: &Rules, plies: &[u32]) -> Result<Box<[Openings]>, OpeningsError> {
    if plies.is_empty() {
        return Err(OpeningsError::Empty);
    }
    let mut seen = BTreeSet::new();
    let stratum = |&plies: &u32| {
        let mut sequence = Openings::new(seed, rules, &OpeningsRule::Random { plies })?;
        // There are so many drawn openings that hardly any repeats at another distance.
        if let Sequence::Whole(openings) = &mut sequence.sequence {
            let new: Vec<Arc<str>> = openings
                .iter()
                .filter(|opening| key_of(rules, opening).is_none_or(|key| seen.insert(key)))
                .cloned()
                .collect();
            if new.is_empty() {
                return Err(OpeningsError::None { plies });
            }
            *openings = new.into();
        }
        Ok(sequence)
    };
    plies.iter().map(stratum).collect()
}

fn key_of(rules: &Rules, position: &str) -> Option<u64> {
    with_game!(rules, G => G::parse(rules, position).ok().map(|position| position.canonical_key()))
}

/// The stratum of a pair's opening, and its number there.
fn in_stratum(strata: &[Openings], pair: u64) -> (usize, u64) {
    let count = strata.len() as u64;
    (usize::try_from(pair % count).expect("less than a length"), pair / count)
}

/// Openings in ascending canonical order, shuffled.
fn shuffled<P: Position>(
    mut all: Vec<P>,
    plies: u32,
    key: seeds::Key,
) -> Result<Sequence, OpeningsError> {
    if all.is_empty() {
        return Err(OpeningsError::None { plies });
    }
    Random::from_key(key).shuffle(&mut all);
    Ok(Sequence::Whole(all.iter().map(notation).collect()))
}

fn listed<G: Game>(rules: &Rules, positions: &[String]) -> Result<Sequence, OpeningsError> {
    if positions.is_empty() {
        return Err(OpeningsError::Empty);
    }
    let mut seen = BTreeMap::new();
    let mut openings = Vec::with_capacity(positions.len());
    for (number, text) in (1..).zip(positions) {
        let position =
            G::parse(rules, text).map_err(|error| OpeningsError::Notation { number, error })?;
        if position.is_over() {
            return Err(OpeningsError::Over { number });
        }
        if let Some(first) = seen.insert(position.canonical_key(), number) {
            return Err(OpeningsError::Repeated { number, first });
        }
        openings.push(notation(&position));
    }
    Ok(Sequence::Whole(openings.into()))
}

fn notation<P: Position>(position: &P) -> Arc<str> {
    Arc::from(position.to_string())
}

/// Sequences repeat from their first opening.
fn at_wrapped(openings: &[Arc<str>], pair: u64) -> Arc<str> {
    let index = pair % openings.len() as u64;
    Arc::clone(&openings[usize::try_from(index).expect("less than a length")])
}

/// Whether pairs may start here: not over, and not won by the next move.
fn is_opening<P: Position>(position: &P, moves: &mut Vec<P::Move>) -> bool {
    moves.clear();
    position.legal_moves(moves);
    let wins = |mv: &P::Move| {
        let mut next = position.clone();
        next.play_unchecked(*mv);
        next.ending().is_some_and(|ending| ending.winner == Some(position.to_move()))
    };
    !moves.is_empty() && !moves.iter().any(wins)
}

/// Openings shared by cells that use the same, so that a thousand cells enumerate once. Holds only those in use.
#[derive(Debug, Default)]
pub struct OpeningsCache {
    /// Openings by SHA-256 of [`seeds::openings_identity`], because lists can make identities long.
    in_use: Mutex<BTreeMap<[u8; 32], Weak<Openings>>>,
    shared: Shared,
    /// Values by the definition's rules and reference.
    known_values: Mutex<BTreeMap<String, Weak<KnownValues>>>,
}

impl OpeningsCache {
    /// The openings of [`Openings::new`], made only if no cell has them yet.
    ///
    /// # Errors
    /// See [`Openings::new`].
    pub fn get(
        &self,
        seed: u64,
        rules: &Rules,
        rule: &OpeningsRule,
    ) -> Result<Arc<Openings>, OpeningsError> {
        let identity = Sha256::digest(seeds::openings_identity(seed, rules, rule)).into();
        // Held while enumerating, so that slots that start together enumerate once.
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(openings) = in_use.get(&identity).and_then(Weak::upgrade) {
            return Ok(openings);
        }
        let openings = Arc::new(Openings::new(seed, rules, rule)?);
        in_use.retain(|_, openings| openings.strong_count() > 0);
        in_use.insert(identity, Arc::downgrade(&openings));
        Ok(openings)
    }

    /// Known values of moves by the reference of a cell of choices; shared by cells with its rules and its reference.
    pub(crate) fn known_values(&self, definition: &CellDefinition) -> Arc<KnownValues> {
        let [_, reference] = &definition.players;
        let identity = seeds::canonical_json(&(&definition.rules, reference));
        let mut known_values = self.known_values.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(values) = known_values.get(&identity).and_then(Weak::upgrade) {
            return values;
        }
        let values = Arc::new(KnownValues::default());
        known_values.retain(|_, values| values.strong_count() > 0);
        known_values.insert(identity, Arc::downgrade(&values));
        values
    }
}

#[cfg(test)]
mod tests;
