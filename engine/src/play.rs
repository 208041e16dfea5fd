//! Playing one game: a pure function of its setup, and of the clock where a limit is a time.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::host::Host;
use crate::player::Player;
use crate::position::{Game, NotationError, Termination};
use crate::rng::Random;
use crate::rules::Rules;
use crate::search::{Budget, Limits, Search, Stop};
use crate::with_game;

/// Everything that decides a game.
#[derive(Clone, Copy, Debug)]
pub struct GameSetup<'a> {
    /// The game and its rules.
    pub rules: &'a Rules,
    /// The position the game starts from, in the game's notation.
    pub opening: &'a str,
    /// The player who moves first from the opening, and the other.
    pub players: [&'a Player; 2],
    /// The ChaCha8 keys of their random numbers, in the same order.
    pub keys: [[u8; 32]; 2],
    /// A game that is still going on after this many plies from the opening is a draw.
    pub max_plies: Option<u32>,
    /// For a replay: at which node count the clock stopped each move's search, `None` for a move
    /// that something else ended. Time limits are then not read from the clock at all. A count
    /// beyond those that a search made changes nothing.
    pub stops: Option<&'a [Option<u64>]>,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The result for the player who moved first from the opening.
    pub outcome: Outcome,
    /// Why the game ended.
    pub termination: Termination,
    /// One record for each ply.
    pub moves: Vec<MoveRecord>,
    /// Wall time of the whole game, in microseconds.
    pub wall_us: u64,
}

impl GameRecord {
    /// A key below 2^53 of the moves' notation, in order: equal games have equal hashes.
    ///
    /// The first 53 bits, big-endian, of the SHA-256 of every move's notation followed by a line
    /// feed. Part of the recorded data: it never changes.
    #[must_use]
    pub fn moves_hash(&self) -> u64 {
        let mut hash = Sha256::new();
        for record in &self.moves {
            hash.update(record.mv.as_bytes());
            hash.update(b"\n");
        }
        let first_bytes =
            hash.finalize().iter().take(8).fold(0, |key, &byte| key << 8 | u64::from(byte));
        first_bytes >> (64 - 53)
    }

    /// The number of moves. The positions are not stored: [`crate::replay_moves`] yields them.
    #[must_use]
    pub fn plies(&self) -> u32 {
        u32::try_from(self.moves.len()).unwrap_or(u32::MAX)
    }
}

/// Win, draw or loss for the player who moved first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The player who moved first won.
    Win,
    /// Nobody won.
    Draw,
    /// The player who moved first lost.
    Loss,
}

/// One move of a recorded game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveRecord {
    /// 0 if the player who moved first from the opening made it, 1 for the other.
    pub mover: u8,
    /// The move's notation.
    pub mv: String,
    /// Canonical key of the position before the move.
    pub position_key: u64,
    /// Legal moves in the position before the move.
    pub legal_moves: u32,
    /// What the search did.
    pub search: SearchReport,
    /// Wall time of the move, in microseconds.
    pub wall_us: u64,
    /// Processor time of the move, in microseconds.
    pub cpu_us: u64,
}

/// What a search says of itself, apart from its move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchReport {
    /// Depth completed, in plies; 0 where the algorithm does not search.
    pub depth: u32,
    /// Positions made by a move in the search.
    pub nodes: u64,
    /// Calls of the static evaluation.
    pub evaluations: u64,
    /// Leaves of the full tree of `depth` (see `Position::full_tree_leaves`); 0 without a search.
    pub full_tree_leaves: u64,
    /// The value found, for the side to move; `None` where the algorithm has none.
    pub score: Option<i32>,
    /// What ended the search.
    pub ended_by: EndedBy,
}

/// What ended a search. The names are stored in the results database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The depth limit was reached, or the algorithm does not search.
    Depth,
    /// The node limit.
    Nodes,
    /// The limit on evaluations.
    Evaluations,
    /// The limit on generations.
    Generations,
    /// The limit on simulations.
    Simulations,
    /// The time limit; `nodes` is where the clock stopped it (invariant 3).
    Time,
    /// The value is proven: searching deeper cannot change the move.
    Proven,
    /// There was only one legal move: nothing was searched.
    OnlyMove,
}

/// Why a game has no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayError {
    /// The host asked to stop.
    #[error("the game was aborted")]
    Aborted,
    /// The opening is no position of this game, or is already over.
    #[error("failed to read the opening: {0}")]
    Opening(#[from] NotationError),
    /// A player was made for the rules of another game.
    #[error(
        "failed to play: a player's evaluation is not of this game; make players and game from the same rules"
    )]
    OtherGame,
}

/// Plays one game.
///
/// A move's times run from the end of the move before it, so they include making its record.
///
/// # Errors
/// If the opening cannot be played from, a player was made for another game, or the host aborts.
pub fn play_game(setup: &GameSetup<'_>, host: &dyn Host) -> Result<GameRecord, PlayError> {
    with_game!(setup.rules, G => play::<G>(setup, host))
}

fn play<G: Game>(setup: &GameSetup<'_>, host: &dyn Host) -> Result<GameRecord, PlayError> {
    let mut position = opening_position::<G>(setup.rules, setup.opening)?;
    let [first, second] = setup.players;
    let [first_key, second_key] = setup.keys;
    let mut sides = [Side::<G>::new(first, first_key)?, Side::new(second, second_key)?];
    let first_colour = position.to_move();
    let plies_max = setup.max_plies.map_or(usize::MAX, |plies| plies as usize);
    let mut moves = Vec::new();
    let started = Reading::take(host);
    let mut before = started;
    let (winner, termination) = loop {
        if let Some(ending) = position.ending() {
            break (ending.winner, ending.termination);
        }
        if moves.len() >= plies_max {
            break (None, Termination::MaxPlies);
        }
        let mover = usize::from(position.to_move() != first_colour);
        let stops = setup.stops.map(|stops| stops.get(moves.len()).copied().flatten());
        let chosen = sides[mover].choose(&position, stops, host)?;
        let mut record = MoveRecord {
            mover: u8::from(mover == 1),
            mv: chosen.mv.to_string(),
            position_key: position.canonical_key(),
            legal_moves: chosen.legal_moves,
            search: chosen.search,
            wall_us: 0,
            cpu_us: 0,
        };
        position.play_unchecked(chosen.mv);
        let now = Reading::take(host);
        (record.wall_us, record.cpu_us) = now.since(before);
        before = now;
        host.played(&record);
        moves.push(record);
    };
    let outcome = match winner {
        None => Outcome::Draw,
        Some(winner) if winner == first_colour => Outcome::Win,
        Some(_) => Outcome::Loss,
    };
    let (wall_us, _) = before.since(started);
    Ok(GameRecord { outcome, termination, moves, wall_us })
}

/// Reads a position that a game can start from or a search can move in.
pub(crate) fn opening_position<G: Game>(rules: &Rules, text: &str) -> Result<G, NotationError> {
    let position = G::parse(rules, text)?;
    if position.is_over() {
        return Err(NotationError {
            problem: format!("in `{text}` the game is over"),
            remedy: "give a position that can still be played".to_owned(),
        });
    }
    Ok(position)
}

/// One side of one game: its search keeps what it has learnt from move to move.
pub(crate) struct Side<G: Game> {
    search: Box<dyn Search<G>>,
    limits: Limits,
    random: Random,
}

/// A move that a side chose, and what it cost.
pub(crate) struct Chosen<M> {
    pub(crate) mv: M,
    pub(crate) legal_moves: u32,
    pub(crate) search: SearchReport,
}

impl<G: Game> Side<G> {
    pub(crate) fn new(player: &Player, key: [u8; 32]) -> Result<Self, PlayError> {
        let search = player.search::<G>().ok_or(PlayError::OtherGame)?;
        Ok(Self { search, limits: *player.limits(), random: Random::from_key(key) })
    }

    /// Chooses a move in a position that is not over. `stops` is set in a replay, to where the
    /// clock stopped this search, if it did (invariant 3).
    pub(crate) fn choose(
        &mut self,
        position: &G,
        stops: Option<Option<u64>>,
        host: &dyn Host,
    ) -> Result<Chosen<G::Move>, PlayError> {
        let legal_moves = position.legal_move_count();
        if legal_moves == 1 {
            let mv = position.nth_legal_move(0);
            return Ok(Chosen { mv, legal_moves, search: SearchReport::ONLY_MOVE });
        }
        // A game of players that do not search never looks at a budget.
        if host.aborted() {
            return Err(PlayError::Aborted);
        }
        let mut budget = match stops {
            None => Budget::new(&self.limits, host),
            Some(stop) => Budget::replay(&self.limits, host, stop),
        };
        let found = match self.search.search(position, &mut budget, &mut self.random) {
            Ok(found) => found,
            Err(Stop::Aborted) => return Err(PlayError::Aborted),
            Err(Stop::Limit(limit)) => {
                unreachable!("a search ends with a move at a limit, here {limit:?}")
            }
        };
        let full_tree_leaves =
            if found.depth == 0 { 0 } else { position.full_tree_leaves(found.depth) };
        let search = SearchReport {
            depth: found.depth,
            nodes: budget.nodes(),
            evaluations: budget.evaluations(),
            full_tree_leaves,
            score: found.score,
            ended_by: found.ended_by,
        };
        Ok(Chosen { mv: found.mv, legal_moves, search })
    }
}

impl SearchReport {
    /// There was nothing to choose from.
    const ONLY_MOVE: Self = Self {
        depth: 0,
        nodes: 0,
        evaluations: 0,
        full_tree_leaves: 0,
        score: None,
        ended_by: EndedBy::OnlyMove,
    };
}

/// Both clocks at one moment.
#[derive(Clone, Copy)]
pub(crate) struct Reading {
    wall: Duration,
    cpu: Duration,
}

impl Reading {
    pub(crate) fn take(host: &dyn Host) -> Self {
        Self { wall: host.wall(), cpu: host.cpu() }
    }

    /// Wall and processor time since an earlier moment, in microseconds.
    pub(crate) fn since(self, earlier: Self) -> (u64, u64) {
        let us = |now: Duration, then: Duration| {
            u64::try_from(now.saturating_sub(then).as_micros()).unwrap_or(u64::MAX)
        };
        (us(self.wall, earlier.wall), us(self.cpu, earlier.cpu))
    }
}
