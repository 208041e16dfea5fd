//! Random games, as fast as they can be had.
//!
//! They are what the obvious way of [`Position`](crate::Position) plays, move for move: the tests
//! hold them to it.

use super::bitboard::Bitboard;
use super::moves::PentagoMove;
use super::{CELLS, Pentago, State, TURNS};
use crate::rng::PlayoutRandom;

impl Pentago {
    /// `Position::play_randomly`.
    ///
    /// One random number a move and no branch on it but at the end of the game: which cell is
    /// drawn, and what turns, cannot be foretold. Winning cells are looked up only where a line
    /// lacks one marble, and each board's lines once a ply: the opponent's, read for a five now,
    /// tell the winning cells of the next ply.
    pub(super) fn play_fast(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        if self.state != State::Going {
            return 0;
        }
        let (mut own, mut other, mut marbles) = (self.own, self.other, self.marbles);
        let mut state = State::Going;
        let mut own_lines = own.lines();
        let mut plies = 0;
        while plies < plies_max {
            plies += 1;
            let mut moves = u32::from(CELLS - marbles) * TURNS;
            let mut cells = Bitboard::ALL.without(own.or(other));
            let mut wins = 0;
            let mut winning = Bitboard::EMPTY;
            if own_lines.lacking_one != 0 && self.win_before_rotation {
                winning = own.missing(own_lines.lacking_one).without(other);
                wins = winning.count();
                moves -= wins * (TURNS - 1);
                cells = cells.without(winning);
            }
            let index = random.below(moves);
            marbles += 1;
            if index < wins {
                own = own.or(Bitboard::cell(winning.nth(index)));
                (own, other) = (other, own);
                state = State::FiveByPlacement;
                break;
            }
            let index = index - wins;
            let (quadrant, direction) = PentagoMove::turn_of_index(index % TURNS);
            let mover = own.or(Bitboard::cell(cells.nth(index / TURNS)));
            let mover = mover.turned(quadrant, direction);
            (own, other) = (other.turned(quadrant, direction), mover);
            own_lines = own.lines();
            if other.has_five() || own_lines.complete != 0 || marbles == CELLS {
                state = State::after_turn(other, own, marbles);
                break;
            }
        }
        (self.own, self.other, self.marbles, self.state) = (own, other, marbles, state);
        plies
    }
}
