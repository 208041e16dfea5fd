//! Minimax as it is defined: every move, to the horizon.

use spelrum_engine::search::{Evaluate, WIN};
use spelrum_engine::{Colour, Position};

use crate::twin::legal_moves;

/// The values of all first moves for the side to move at the root, and the best of them.
pub(crate) fn minimax_of_moves<P: Position>(
    root: &P,
    depth: u32,
    evaluation: &impl Evaluate<P>,
) -> (Vec<(P::Move, i32)>, i32) {
    let values: Vec<_> = legal_moves(root)
        .into_iter()
        .map(|mv| (mv, value(&after(root, mv), depth - 1, 1, root.to_move(), evaluation)))
        .collect();
    let best = values.iter().map(|&(_, value)| value).max().unwrap();
    (values, best)
}

/// How many first moves are better than this one.
pub(crate) fn rank<M: Eq>(values: &[(M, i32)], mv: M) -> usize {
    let own = values.iter().find(|(other, _)| *other == mv).unwrap().1;
    values.iter().filter(|&&(_, value)| value > own).count()
}

fn value<P: Position>(
    position: &P,
    depth: u32,
    ply: i32,
    us: Colour,
    evaluation: &impl Evaluate<P>,
) -> i32 {
    let is_ours = position.to_move() == us;
    if let Some(ending) = position.ending() {
        return match ending.winner {
            None => 0,
            Some(winner) if winner == us => WIN - ply,
            Some(_) => ply - WIN,
        };
    }
    if depth == 0 {
        let value = evaluation.evaluate(position);
        return if is_ours { value } else { -value };
    }
    let values = legal_moves(position)
        .into_iter()
        .map(|mv| value(&after(position, mv), depth - 1, ply + 1, us, evaluation));
    if is_ours { values.max() } else { values.min() }.unwrap()
}

fn after<P: Position>(position: &P, mv: P::Move) -> P {
    let mut next = position.clone();
    next.play_unchecked(mv);
    next
}
