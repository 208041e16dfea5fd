//! Fast random games.
//!
//! They play the same moves as the plain implementation in [`Position`](crate::Position); the tests
//! ensure it.

use super::bitboard::{Bitboard, FULL, NEAR, TURNED};
use super::moves::PentagoMove;
use super::{CELLS, Pentago, State, TURNS};
use crate::core::position::Position;
use crate::core::rng::PlayoutRandom;

/// With fewer marbles on the board neither colour has four, so no move makes five.
const MARBLES_BEFORE_FIVE: u8 = 8;

/// For each quadrant and its marbles: the lines that are complete in it after a turn of it, in
/// either direction.
static COMPLETE_AFTER_TURN: [[u32; 512]; 4] = after_either_turn(&FULL);
/// The same for the lines that then lack exactly one cell in it.
static LACKING_ONE_AFTER_TURN: [[u32; 512]; 4] = after_either_turn(&NEAR);

impl Pentago {
    /// `Position::play_randomly`.
    ///
    /// One random number a move and no branch on it except at the end of the game: the cell and the
    /// turn are unpredictable. Winning cells are looked up only if a line lacks one marble, and
    /// each board's lines once a ply: the opponent's, read for a five now, give the winning cells
    /// of the next ply.
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

    /// `Position::play_decisively`: a move of either kind costs little more than a test of a few
    /// tables for a possible win, and wins at once are rare until the last move.
    pub(super) fn play_decisively_fast(
        &mut self,
        random: &mut PlayoutRandom,
        plies_max: u32,
    ) -> u32 {
        if self.state != State::Going {
            return 0;
        }
        let mut plies = 0;
        while plies < plies_max {
            plies += 1;
            if self.might_win_at_once()
                && let Some(mv) = self.winning_move()
            {
                self.play_unchecked(mv);
                break;
            }
            // No placement wins, so each has its eight turns.
            let index = random.below(u32::from(CELLS - self.marbles) * TURNS);
            let (quadrant, direction) = PentagoMove::turn_of_index(index % TURNS);
            let cell = Bitboard::cell(self.empty_cells().nth(index / TURNS));
            let mover = self.own.or(cell).turned(quadrant, direction);
            (self.own, self.other) = (self.other.turned(quadrant, direction), mover);
            self.marbles += 1;
            if self.marbles > MARBLES_BEFORE_FIVE {
                self.state = State::after_turn(self.other, self.own, self.marbles);
                if self.state != State::Going {
                    break;
                }
            }
        }
        plies
    }

    /// Whether a line lacks at most one marble now or after a turn, with any gap and for either
    /// colour: false only if no move wins at once.
    fn might_win_at_once(&self) -> bool {
        if self.marbles < MARBLES_BEFORE_FIVE {
            return false;
        }
        let parts = self.own.line_parts();
        let lines_after_turn = |quadrant: usize| {
            let rest = parts.without_quadrant(quadrant);
            let cells = self.own.quadrant(quadrant);
            let (complete, lacking_one) = (
                COMPLETE_AFTER_TURN[quadrant & 3][cells],
                LACKING_ONE_AFTER_TURN[quadrant & 3][cells],
            );
            rest.complete & (complete | lacking_one) | rest.lacking_one & complete
        };
        let after_turn = (0..4).fold(0, |lines, quadrant| lines | lines_after_turn(quadrant));
        (after_turn | parts.together().lacking_one) != 0
    }
}

const fn after_either_turn(table: &[[u32; 512]; 4]) -> [[u32; 512]; 4] {
    let mut either = [[0; 512]; 4];
    let mut quadrant = 0;
    while quadrant < 4 {
        let mut cells = 0;
        while cells < 512 {
            let [clockwise, counter_clockwise] =
                [TURNED[0][cells] as usize, TURNED[1][cells] as usize];
            either[quadrant][cells] =
                table[quadrant][clockwise] | table[quadrant][counter_clockwise];
            cells += 1;
        }
        quadrant += 1;
    }
    either
}
