//! A game that is reported again: whether it says the same as its settled result.

use spelrum_engine::{EndedBy, MoveRecord, Outcome, Side};

use crate::played::PlayedGame;

/// What a store keeps of a game's settled result, as far as another result is compared with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledResult {
    /// Whether every result of the game must be this one: no clock decides its moves (invariant 2).
    pub is_deterministic: bool,
    /// The engine that played it.
    pub engine_revision: u32,
    /// The position that it started from.
    pub opening: String,
    /// The side of the game that moved first.
    pub first_side: Side,
    /// For who moved first.
    pub outcome: Outcome,
    /// For who moved first, in what the game counts.
    pub margin: Option<i32>,
    /// The name of what ended it.
    pub termination: String,
    /// Its length.
    pub plies: u64,
    /// The hash of its moves.
    pub moves_hash: u64,
    /// What is kept of its searches.
    pub searches: SettledSearches,
}

/// What is kept of a settled game's searches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettledSearches {
    /// All of them, by ply.
    Moves(Vec<SettledMove>),
    /// The sum of the nodes of all searched moves: the moves themselves are not kept.
    Nodes(u64),
}

/// What is kept of one move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledMove {
    /// In the game's notation.
    pub mv: String,
    /// The depth that was completed, in plies.
    pub depth: u32,
    /// Nodes searched.
    pub nodes: u64,
    /// For the side to move, if the algorithm has one.
    pub score: Option<i32>,
}

/// What becomes of a result of a game that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    /// It says the same, or need not say the same.
    Repeat,
    /// It differs where it must not.
    Conflict,
}

/// Compares a result with the settled one of its game; `None` if that one finally failed, so that there
/// is nothing to differ from.
///
/// Games of a player with a time limit may differ; all others of one engine revision must agree in who
/// moved first, moves, outcome, margin, termination, depth, nodes and scores (invariant 2).
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

/// The same for a result of which no moves are kept, as far as can be told: by the hash of its moves and the
/// sum of their nodes.
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
    /// The sum of the nodes of all moves: one that was not searched for has none.
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

/// The nodes of all moves that were searched for.
fn searched_nodes(moves: &[MoveRecord]) -> u64 {
    let searched = moves.iter().filter(|mv| mv.search.ended_by != EndedBy::OnlyMove);
    searched.fold(0, |sum, mv| sum.saturating_add(mv.search.nodes))
}
