//! The slow reference of the leaf search: the same order and the same cut-offs, without stacks.

use spelrum_engine::Position;
use spelrum_engine::search::{Budget, Evaluate, Stop, WIN};

use super::legal_moves;

/// Alpha-beta from a leaf, without a stack of its own.
pub(crate) struct LeafTwin<M> {
    /// At the last ply the move that was last too good comes first.
    pub(crate) killer: Option<M>,
    pub(crate) saw_horizon: bool,
}

impl<M: Copy + Ord> LeafTwin<M> {
    pub(crate) fn value<P: Position<Move = M>>(
        &mut self,
        evaluation: &impl Evaluate<P>,
        position: &P,
        (depth, ply): (u32, u32),
        [mut alpha, beta]: [i32; 2],
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        if depth == 0 {
            self.saw_horizon = true;
            budget.evaluate()?;
            return Ok(evaluation.evaluate(position));
        }
        // A win with the next move is the best there is.
        let win = WIN - ply as i32 - 1;
        let beta = beta.min(win);
        if alpha >= beta {
            return Ok(beta);
        }
        let mut moves = legal_moves(position);
        if depth == 1 {
            self.saw_horizon = true;
            if let Some(killer) = self.killer.filter(|killer| moves.contains(killer)) {
                moves.retain(|&mv| mv != killer);
                moves.insert(0, killer);
            }
            let mut best = -WIN;
            for mv in moves {
                best = best.max(static_value(evaluation, position, mv, ply + 1, budget)?);
                if best >= beta {
                    self.killer = Some(mv);
                    break;
                }
            }
            return Ok(best);
        }
        let mut valued = Vec::new();
        for mv in moves {
            let value = static_value(evaluation, position, mv, ply + 1, budget)?;
            if value == win {
                valued = vec![(mv, value)];
                break;
            }
            valued.push((mv, value));
        }
        valued.sort_by_key(|&(_, value)| std::cmp::Reverse(value));
        let mut best = -WIN;
        for (mv, value) in valued {
            let child = make_child(position, mv);
            let value = if child.ending().is_some() {
                value
            } else if child.to_move() == position.to_move() {
                self.value(evaluation, &child, (depth - 1, ply + 1), [alpha, beta], budget)?
            } else {
                -self.value(evaluation, &child, (depth - 1, ply + 1), [-beta, -alpha], budget)?
            };
            best = best.max(value);
            alpha = alpha.max(best);
            if best >= beta {
                break;
            }
        }
        Ok(best)
    }
}

/// Makes a move, `ply` plies from the root, and values it for who makes it: a node, and an
/// evaluation unless the game is over.
pub(crate) fn static_value<P: Position>(
    evaluation: &impl Evaluate<P>,
    position: &P,
    mv: P::Move,
    ply: u32,
    budget: &mut Budget<'_>,
) -> Result<i32, Stop> {
    budget.enter()?;
    let child = make_child(position, mv);
    let ply = ply as i32;
    if let Some(ending) = child.ending() {
        return Ok(match ending.winner {
            None => 0,
            Some(winner) if winner == position.to_move() => WIN - ply,
            Some(_) => ply - WIN,
        });
    }
    budget.evaluate()?;
    let value = evaluation.evaluate(&child);
    Ok(if child.to_move() == position.to_move() { value } else { -value })
}

fn make_child<P: Position>(position: &P, mv: P::Move) -> P {
    let mut child = position.clone();
    child.play_unchecked(mv);
    child
}
