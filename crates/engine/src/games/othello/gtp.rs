//! Othello in GTP: squares in capitals or not, and passes.
//!
//! There is no command that sets up a position: it is reached by moves.

use std::collections::BTreeSet;

use super::{Othello, OthelloMove, SquareClass};
use crate::core::position::Position;
use crate::core::problem::Problem;

/// Parses a GTP move.
pub(super) fn read(text: &str) -> Result<OthelloMove, Problem> {
    super::moves::parse_move(&text.to_ascii_lowercase())
}

/// The most positions searched on the way to another: enough for openings of ten plies and more, in a moment.
const TRIES_MAX: usize = 50_000;

/// Moves that lead from the start to a position, if found.
///
/// Discs are placed only where the position has some, and no position is tried twice.
pub(super) fn moves_to(position: &Othello) -> Option<Vec<OthelloMove>> {
    let mut moves = Vec::new();
    walk(&Othello::initial(), position, &mut moves, &mut BTreeSet::new()).then_some(moves)
}

/// Adds moves that lead on to the goal.
fn walk(
    position: &Othello,
    goal: &Othello,
    moves: &mut Vec<OthelloMove>,
    tried: &mut BTreeSet<[u64; 2]>,
) -> bool {
    if position == goal {
        return true;
    }
    let is_new =
        tried.len() < TRIES_MAX && tried.insert(position.words(position.own(), position.other()));
    if !is_new || has_wrong_corner(position, goal) {
        return false;
    }
    let [black, white] = goal.black_and_white();
    let squares = position.moves & (black | white);
    let is_pass = position.legal_move_count() == 1 && position.moves == 0;
    let ways = (0..64).filter(|square| squares >> square & 1 == 1).map(OthelloMove::new);
    for mv in ways.chain(is_pass.then_some(OthelloMove::PASS)) {
        let mut next = *position;
        next.play_unchecked(mv);
        moves.push(mv);
        if walk(&next, goal, moves, tried) {
            return true;
        }
        moves.pop();
    }
    false
}

/// Whether a corner, which is never flipped, has the disc of the wrong side.
fn has_wrong_corner(position: &Othello, goal: &Othello) -> bool {
    let corners = SquareClass::A.board();
    let [black, white] = position.black_and_white();
    let [goal_black, goal_white] = goal.black_and_white();
    (black & goal_white | white & goal_black) & corners != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::rng::PlayoutRandom;

    #[test]
    fn moves_are_read_in_capitals_too() {
        for (text, mv) in [("D3", "d3"), ("d3", "d3"), ("PASS", "pass"), ("pass", "pass")] {
            assert_eq!(read(text).map(|mv| mv.to_string()), Ok(mv.to_owned()));
        }
        for text in ["", "i1", "a9", "resign", "d33", "ö1"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    /// Openings are reached, by the way that is found.
    #[test]
    fn there_is_a_way_to_every_opening() {
        for seed in 0..200 {
            let mut random = PlayoutRandom::from_seed(seed);
            let mut position = Othello::initial();
            position.play_randomly(&mut random, (seed % 13) as u32);
            let mut reached = Othello::initial();
            for mv in moves_to(&position).unwrap() {
                assert!(reached.is_legal(mv));
                reached.play_unchecked(mv);
            }
            assert_eq!(reached, position);
        }
    }

    #[test]
    fn there_is_none_to_what_play_does_not_reach() {
        let side_by_side = "bb".to_owned() + &".".repeat(6);
        let text = format!("{}{}{}{} b", ".".repeat(27), side_by_side, "ww", ".".repeat(27));
        let position = super::super::notation::parse(&text).unwrap();
        assert_eq!(moves_to(&position), None);
    }
}
