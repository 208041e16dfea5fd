//! Othello's moves.

use crate::core::problem::Problem;
use std::fmt;

/// A disc put on a square, or a pass. The notation of a square is its column's letter, a to h from the
/// left, and its row's number, 1 to 8 from the top: `d3`. A pass is `pass`.
///
/// Squares come row by row from the top left, the pass after all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OthelloMove(u8);

impl OthelloMove {
    /// Places nothing, since no placement is legal.
    pub const PASS: Self = Self(64);

    /// The number of move codes.
    pub(super) const CODES: usize = 65;

    /// A disc on a square, numbered row by row from the top left (0 to 63).
    ///
    /// # Panics
    /// If `square` is not below 64.
    #[must_use]
    pub const fn new(square: u32) -> Self {
        assert!(square < 64, "an Othello board has 64 squares");
        Self(square as u8)
    }

    /// The square, numbered row by row from the top left (0 to 63); `None` for a pass.
    #[must_use]
    pub const fn square(self) -> Option<u32> {
        if self.0 == Self::PASS.0 { None } else { Some(self.0 as u32) }
    }

    /// The move on the lowest of these squares, of which there is at least one.
    #[inline]
    pub(super) const fn lowest(squares: u64) -> Self {
        Self(squares.trailing_zeros() as u8)
    }

    #[inline]
    pub(super) const fn code(self) -> u16 {
        self.0 as u16
    }
}

/// Parses a move.
pub(super) fn parse_move(text: &str) -> Result<OthelloMove, Problem> {
    match text.as_bytes() {
        b"pass" => Ok(OthelloMove::PASS),
        [column @ b'a'..=b'h', row @ b'1'..=b'8'] => {
            Ok(OthelloMove(8 * (row - b'1') + (column - b'a')))
        }
        _ => Err(Problem::new(
            format!("`{text}` is not an Othello move"),
            "write a column from a (left) to h and a row from 1 (top) to 8, such as d3, or \
                     pass",
        )),
    }
}

impl fmt::Display for OthelloMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.square() {
            None => f.pad("pass"),
            Some(_) => {
                let letters = [b'a' + self.0 % 8, b'1' + self.0 / 8].map(char::from);
                f.pad(&letters.iter().collect::<String>())
            }
        }
    }
}

impl fmt::Debug for OthelloMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
