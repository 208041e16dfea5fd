//! Perft, which counts game trees: the oracle for rules and move generation, and a measure of
//! speed.

use std::collections::BTreeSet;

use crate::core::position::Position;
use crate::games::game::Game;

/// The leaves of a game tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Perft {
    /// All leaves: positions at the depth, and games that ended before it or at it. Different moves
    /// to equal positions count separately. For a game that neither counts ended games as leaves
    /// ([`Game::ENDED_GAMES_ARE_LEAVES`]) nor counts kinds of them separately, as is usual in
    /// chess, only the positions at the depth.
    pub leaves: u64,
    /// The leaves where the game is over, by [`Game::LEAF_KINDS`].
    pub ended: Vec<(&'static str, u64)>,
}

/// Counts the leaves of the game tree of this depth in plies, without multiplying or caching. A position that
/// is over is one leaf, of no kind, since no move led to it.
///
/// If kinds of ended games are not counted separately, the moves of the last ply are counted, not made.
///
/// ```
/// use spelrum_engine::games::TicTacToe;
///
/// let all_games = spelrum_engine::perft(&TicTacToe::empty(), 9);
/// assert_eq!(all_games.leaves, 255_168);
/// assert_eq!(all_games.ended, [("three_in_a_row", 131_184 + 77_904), ("draw_full_board", 46_080)]);
/// ```
#[must_use]
pub fn perft<P: Game>(position: &P, depth: u32) -> Perft {
    let mut counter =
        Counter { leaves: 0, ended: vec![0; P::LEAF_KINDS.len()], buffers: Vec::new() };
    if P::LEAF_KINDS.is_empty() {
        counter.leaves = positions(position, depth);
    } else {
        counter.count(position, depth);
    }
    Perft {
        leaves: counter.leaves,
        ended: P::LEAF_KINDS.iter().copied().zip(counter.ended).collect(),
    }
}

struct Counter<M> {
    leaves: u64,
    ended: Vec<u64>,
    /// Move lists that no recursion level currently uses.
    buffers: Vec<Vec<M>>,
}

impl<M: Copy> Counter<M> {
    fn count<P: Game<Move = M>>(&mut self, position: &P, depth: u32) {
        if depth == 0 || position.is_over() {
            self.leaves += 1;
            return;
        }
        let mover = position.to_move();
        let mut moves = self.buffers.pop().unwrap_or_default();
        moves.clear();
        position.legal_moves(&mut moves);
        for &mv in &moves {
            let mut child = position.clone();
            child.play_unchecked(mv);
            match child.ending() {
                Some(ending) => {
                    self.leaves += 1;
                    self.ended[P::leaf_kind(ending, mover)] += 1;
                }
                None if depth == 1 => self.leaves += 1,
                None => self.count(&child, depth - 1),
            }
        }
        self.buffers.push(moves);
    }
}

/// The number of positions at a depth, with the games that ended before it if they count.
fn positions<P: Game>(position: &P, depth: u32) -> u64 {
    match depth {
        0 => return 1,
        1 => return leaves_below(position),
        _ if P::ENDED_GAMES_ARE_LEAVES && position.is_over() => return 1,
        _ => {}
    }
    let mut leaves = 0;
    match depth {
        2 => position.for_each_child(|child| leaves += leaves_below(child)),
        _ => position.for_each_child(|child| leaves += positions(child, depth - 1)),
    }
    leaves
}

#[inline(always)]
fn leaves_below<P: Game>(position: &P) -> u64 {
    let moves = u64::from(position.legal_move_count());
    moves + u64::from(P::ENDED_GAMES_ARE_LEAVES && moves == 0)
}

/// The number of distinct positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistinctPositions {
    /// Positions distinguished exactly.
    pub positions: u64,
    /// Positions up to the game's symmetries.
    pub up_to_symmetry: u64,
    /// How many of the positions are over.
    pub over: u64,
}

/// The numbers of distinct positions after each number of plies from 0 to `depth`: exactly, and up
/// to the game's symmetries (by [`Position::canonical_key`]). Games that ended earlier are not
/// carried on. Holds the positions of a ply in memory.
#[must_use]
pub fn distinct_positions<P: Position>(position: &P, depth: u32) -> Vec<DistinctPositions> {
    let mut level = vec![position.clone()];
    let mut counts = vec![DistinctPositions::count(&level)];
    let mut moves = Vec::new();
    for _ in 0..depth {
        let mut seen = Seen::default();
        let mut next = Vec::new();
        for parent in &level {
            moves.clear();
            parent.legal_moves(&mut moves);
            for &mv in &moves {
                let mut child = parent.clone();
                child.play_unchecked(mv);
                if seen.insert(child.clone()) {
                    next.push(child);
                }
            }
        }
        level = next;
        counts.push(DistinctPositions::count(&level));
    }
    counts
}

#[expect(clippy::disallowed_types, reason = "asked for membership only, never iterated")]
type Seen<P> = std::collections::HashSet<P>;

impl DistinctPositions {
    fn count<P: Position>(positions: &[P]) -> Self {
        let keys: BTreeSet<u64> = positions.iter().map(Position::canonical_key).collect();
        Self {
            positions: positions.len() as u64,
            up_to_symmetry: keys.len() as u64,
            over: positions.iter().filter(|position| position.is_over()).count() as u64,
        }
    }
}
