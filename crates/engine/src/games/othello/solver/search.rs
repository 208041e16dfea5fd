//! The search: whether a score exceeds a bound.

use super::super::{SQUARES, board};
use super::last::{Discs, UNMOVED, last_score};
use super::stability::stable;
use super::table::{Known, NO_SQUARE, Table};
use crate::core::budget::Budget;
use crate::core::limits::{MemoryRefused, Stop};

/// Up to so many empty squares, moves are tried by parity alone, without a table: sorting them takes longer than
/// trying them.
const SHALLOW_MAX: u32 = 6;
/// From so many empty squares on, the table is asked about all positions after a move before one is searched.
const LOOKS_AHEAD_FROM: u32 = 8;
/// From so many empty squares on, stable discs count in the order of moves.
const STABILITY_FROM: u32 = 11;

const CORNERS: u64 = 0x8100_0000_0000_0081;

/// What a search needs and the next one can reuse.
#[derive(Debug, Default)]
pub(super) struct Memory {
    table: Table,
    /// A stack of the untried moves of all positions from the root to here.
    children: Vec<Child>,
}

impl Memory {
    /// Forgets all results, for searches of a board and those below.
    ///
    /// # Errors
    /// If the system refuses the table's memory.
    pub(super) fn start(&mut self, board: Discs) -> Result<(), MemoryRefused> {
        self.table.start(board.empty().count_ones())
    }
}

/// A legal move on a square, and the board after it.
#[derive(Clone, Copy, Debug)]
struct Child {
    board: Discs,
    /// The squares on which the side to move then has moves.
    replies: u64,
    square: u8,
    /// Moves of higher rank are tried first.
    rank: i32,
}

/// Searches under a budget, which share one memory.
///
/// Each gives a bound of the true score, with `alpha` as the question: a result above `alpha` is at most the true
/// score, any other is at least that.
pub(super) struct Run<'s, 'b, 'h> {
    memory: &'s mut Memory,
    budget: &'b mut Budget<'h>,
}

impl<'s, 'b, 'h> Run<'s, 'b, 'h> {
    /// Searches with the results that the memory already has.
    pub(super) fn new(memory: &'s mut Memory, budget: &'b mut Budget<'h>) -> Self {
        memory.children.clear();
        Self { memory, budget }
    }

    /// The result for a board that a move has made.
    pub(super) fn enter(&mut self, board: Discs, alpha: i32) -> Result<i32, Stop> {
        self.budget.enter()?;
        self.search(board, alpha)
    }

    /// The result for a board.
    pub(super) fn search(&mut self, board: Discs, alpha: i32) -> Result<i32, Stop> {
        self.search_from(board, board.moves(), board.empty().count_ones(), alpha)
    }

    /// The result for a board with these moves and so many empty squares.
    fn search_from(
        &mut self,
        board: Discs,
        moves: u64,
        empty: u32,
        alpha: i32,
    ) -> Result<i32, Stop> {
        if empty <= 4 {
            return Ok(last_score(board, alpha));
        }
        if empty <= SHALLOW_MAX {
            return self.search_shallowly(board, empty, alpha);
        }
        if moves != 0 {
            return self.search_moves(board, moves, empty, alpha);
        }
        let passed = board.passed();
        match passed.moves() {
            0 => Ok(board.score()),
            moves => Ok(-self.search_moves(passed, moves, empty, -alpha - 1)?),
        }
    }

    fn search_moves(
        &mut self,
        board: Discs,
        moves: u64,
        empty: u32,
        alpha: i32,
    ) -> Result<i32, Stop> {
        let most = |kept: u32| SQUARES as i32 - 2 * kept as i32;
        if most(board.other.count_ones()) <= alpha {
            let most = most(stable(board.other, board.own).count_ones());
            if most <= alpha {
                return Ok(most);
            }
        }
        let mut known = self.memory.table.get(board);
        if i32::from(known.lower) > alpha {
            return Ok(known.lower.into());
        }
        if i32::from(known.upper) <= alpha {
            return Ok(known.upper.into());
        }
        let first = self.memory.children.len();
        self.list_children(board, moves, empty, known);
        if empty >= LOOKS_AHEAD_FROM
            && let Some(score) = self.known_cutoff(first, alpha)
        {
            self.memory.children.truncate(first);
            return Ok(score);
        }
        let (mut best, mut best_square) = (UNMOVED, NO_SQUARE);
        while best <= alpha
            && let Some(child) = self.take_child(first)
        {
            self.budget.enter()?;
            let score = -self.search_from(child.board, child.replies, empty - 1, -alpha - 1)?;
            if score > best {
                (best, best_square) = (score, child.square);
            }
        }
        self.memory.children.truncate(first);
        if best > alpha {
            known.lower = best as i8;
        } else {
            known.upper = best as i8;
        }
        if known.best[0] != best_square {
            known.best = [best_square, known.best[0]];
        }
        self.memory.table.put(board, empty, known);
        Ok(best)
    }

    /// A score above `alpha` that the table knows after one of the listed moves (enhanced transposition cutoff).
    fn known_cutoff(&self, first: usize, alpha: i32) -> Option<i32> {
        let Memory { table, children } = &*self.memory;
        let mut scores =
            children[first..].iter().map(|child| -i32::from(table.get(child.board).upper));
        scores.find(|&score| score > alpha)
    }

    /// Takes the move of the highest rank from those listed.
    fn take_child(&mut self, first: usize) -> Option<Child> {
        let children = &mut self.memory.children;
        let best = (first..children.len()).max_by_key(|&index| children[index].rank)?;
        let last = children.len() - 1;
        children.swap(best, last);
        children.pop()
    }

    /// Lists the moves with their ranks. The squares that were best before come first; then those that leave the
    /// opponent few replies, and few empty squares beside the mover's discs for later ones.
    fn list_children(&mut self, board: Discs, mut moves: u64, empty: u32, known: Known) {
        let odd = odd_quadrants(board.empty());
        while moves != 0 {
            let square = moves.trailing_zeros();
            let is_on = |squares: u64| i32::from(squares >> square & 1 == 1);
            let after = board.after(square, board.flips(square));
            let replies = after.moves();
            let rank = match known.best.iter().position(|&best| u32::from(best) == square) {
                Some(place) => i32::MAX - place as i32,
                None => {
                    let mut rank = 64 * is_on(CORNERS) + 8 * is_on(odd);
                    rank -= 64 * (replies.count_ones() + (replies & CORNERS).count_ones()) as i32;
                    let open = board::beside(after.other) & after.empty();
                    rank -= 16 * open.count_ones() as i32;
                    if empty >= STABILITY_FROM {
                        rank += 8 * stable(after.other, after.own).count_ones() as i32;
                    }
                    rank
                }
            };
            self.memory.children.push(Child { board: after, replies, square: square as u8, rank });
            moves &= moves - 1;
        }
    }

    fn search_shallowly(&mut self, board: Discs, empty: u32, alpha: i32) -> Result<i32, Stop> {
        let best = self.try_squares(board, empty, alpha)?;
        if best != UNMOVED {
            return Ok(best);
        }
        let best = self.try_squares(board.passed(), empty, -alpha - 1)?;
        Ok(if best == UNMOVED { board.score() } else { -best })
    }

    /// As a search, but [`UNMOVED`] if no square is legal. Squares in quadrants with an odd number of empty ones
    /// come first: the side that plays there is likely to have the quadrant's last move.
    fn try_squares(&mut self, board: Discs, empty: u32, alpha: i32) -> Result<i32, Stop> {
        let squares = board.empty();
        let odd = odd_quadrants(squares);
        let mut best = UNMOVED;
        for mut squares in [squares & odd, squares & !odd] {
            while squares != 0 {
                let square = squares.trailing_zeros();
                squares &= squares - 1;
                let flipped = board.flips(square);
                if flipped == 0 {
                    continue;
                }
                self.budget.enter()?;
                let after = board.after(square, flipped);
                let score = if empty == 5 {
                    last_score(after, -alpha - 1)
                } else {
                    self.search_shallowly(after, empty - 1, -alpha - 1)?
                };
                best = best.max(-score);
                if best > alpha {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }
}

/// The squares of the quadrants with an odd number of these squares.
fn odd_quadrants(squares: u64) -> u64 {
    const QUADRANT: u64 = 0x0f0f_0f0f;
    let quadrants = [0, 4, 32, 36].map(|shift| QUADRANT << shift);
    let odd = quadrants.map(|quadrant| quadrant * u64::from((squares & quadrant).count_ones() & 1));
    odd[0] | odd[1] | odd[2] | odd[3]
}
