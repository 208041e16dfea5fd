//! Minimax as it is defined: every move, to the horizon.

use spelrum_engine::Position;
use spelrum_engine::search::Evaluate;

use crate::common::brute_force::{minimax_of_move, moves_of};

/// The values of all first moves for the side to move at the root, and the best of them.
pub(crate) fn minimax_of_moves<P: Position>(
    root: &P,
    depth: u32,
    evaluation: &impl Evaluate<P>,
) -> (Vec<(P::Move, i32)>, i32) {
    let values: Vec<_> = moves_of(root)
        .into_iter()
        .map(|mv| (mv, minimax_of_move(root, mv, depth, evaluation)))
        .collect();
    let best = values.iter().map(|&(_, value)| value).max().unwrap();
    (values, best)
}

/// How many first moves are better than this one.
pub(crate) fn rank<M: Eq>(values: &[(M, i32)], mv: M) -> usize {
    let own = values.iter().find(|(other, _)| *other == mv).unwrap().1;
    values.iter().filter(|&&(_, value)| value > own).count()
}
