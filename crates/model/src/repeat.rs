//! Comparing another result of a game with its settled result.

use spelrum_engine::{EndedBy, MoveRecord, Outcome, Side};

use crate::played::PlayedGame;

/// The stored part of a game's settled result that other results are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledResult {
    /// Whether all results of the game must be identical: its moves depend on no clock (invariant 2).
    pub is_deterministic: bool,
    /// The engine that played it.
    pub engine_revision: u32,
    /// Its starting position.
    pub opening: String,
    /// The side of the game that moved first.
    pub first_side: Side,
    /// The outcome for the player that moved first.
    pub outcome: Outcome,
    /// The margin for the player that moved first, in the game's unit.
    pub margin: Option<i32>,
    /// The name of its termination.
    pub termination: String,
    /// Its length.
    pub plies: u64,
    /// The hash of its moves.
    pub moves_hash: u64,
    /// The stored data of its searches.
    pub searches: SettledSearches,
}

/// The stored data of a settled game's searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettledSearches {
    /// All moves, by ply.
    Moves(Vec<SettledMove>),
    /// The sum of the nodes of all searched moves, if moves are not stored.
    Nodes(u64),
}

/// The stored data of one move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledMove {
    /// The move in the game's notation.
    pub mv: String,
    /// The completed depth, in plies.
    pub depth: u32,
    /// Nodes searched.
    pub nodes: u64,
    /// The score for the side to move, if the algorithm has one.
    pub score: Option<i32>,
}

/// The verdict on another result of a settled game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// It is identical, or may differ.
    Repeat,
    /// It differs although it must be identical.
    Conflict,
}

/// Compares a result with the settled one of its game; `None` if the game finally failed, so that there is nothing to
/// compare with.
///
/// Games of a player with a time limit may differ; all others of one engine revision must agree in the first mover,
/// moves, outcome, margin, termination, depth, nodes and scores (invariant 2).
#[must_use]
pub fn compare(settled: Option<&SettledResult>, again: &PlayedGame) -> Repeated {
    let Some(settled) = settled else { return Repeated::Repeat };
    if !settled.is_deterministic || settled.engine_revision != again.engine_revision {
        return Repeated::Repeat;
    }
    let record = &again.record;
    let is_same = settled.first_side == record.first_side
        && settled.outcome == record.outcome
        && settled.margin == record.margin
        && settled.termination == record.termination.name()
        && settled.plies == record.moves.len() as u64
        && settled.moves_hash == again.moves_hash
        && settled.opening == again.opening
        && match &settled.searches {
            SettledSearches::Moves(moves) => moves.iter().zip(&record.moves).all(is_same_move),
            SettledSearches::Nodes(nodes) => *nodes == searched_nodes(&record.moves),
        };
    if is_same { Repeated::Repeat } else { Repeated::Conflict }
}

/// Compares a result stored without moves as far as possible: by the hash of its moves and the sum of their nodes.
#[must_use]
pub fn compare_bare(settled: Option<&SettledResult>, again: &SettledResult) -> Repeated {
    let Some(settled) = settled else { return Repeated::Repeat };
    if !settled.is_deterministic || settled.engine_revision != again.engine_revision {
        return Repeated::Repeat;
    }
    let is_same = settled.first_side == again.first_side
        && settled.outcome == again.outcome
        && settled.margin == again.margin
        && settled.termination == again.termination
        && settled.plies == again.plies
        && settled.moves_hash == again.moves_hash
        && settled.opening == again.opening
        && settled.searches.nodes() == again.searches.nodes();
    if is_same { Repeated::Repeat } else { Repeated::Conflict }
}

impl SettledSearches {
    /// The total nodes; a move without a search has none.
    fn nodes(&self) -> u64 {
        match self {
            Self::Moves(moves) => moves.iter().fold(0, |sum, mv| sum.saturating_add(mv.nodes)),
            Self::Nodes(nodes) => *nodes,
        }
    }
}

fn is_same_move((settled, again): (&SettledMove, &MoveRecord)) -> bool {
    settled.mv == again.mv
        && settled.depth == again.search.depth
        && settled.nodes == again.search.nodes
        && settled.score == again.search.score
}

fn searched_nodes(moves: &[MoveRecord]) -> u64 {
    let searched = moves.iter().filter(|mv| mv.search.ended_by != EndedBy::OnlyMove);
    searched.fold(0, |sum, mv| sum.saturating_add(mv.search.nodes))
}
