//! Go's moves.

use std::fmt;

use super::{SIZE_MAX, STRIDE};
use crate::core::problem::Problem;

/// A stone put on a point, or a pass.
///
/// The notation of a point is its column's letter from the left, without `i`, and its row's number from the
/// bottom, as in GTP, in lower case: `d4`. A pass is `pass`. Points come row by row from the bottom left, the
/// pass after all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GoMove(u16);

impl GoMove {
    /// Puts no stone.
    pub const PASS: Self = Self((SIZE_MAX * STRIDE) as u16);

    /// The number of move codes.
    pub(super) const CODES: usize = Self::PASS.0 as usize + 1;

    /// A stone on a point, by its column from the left and its row from the bottom, both from 0.
    ///
    /// # Panics
    /// If one of them is not below 19.
    #[must_use]
    pub const fn new(column: u32, row: u32) -> Self {
        assert!(column < SIZE_MAX && row < SIZE_MAX, "a board has at most 19 rows and columns");
        Self((STRIDE * row + column) as u16)
    }

    #[inline(always)]
    pub(super) const fn at(cell: u32) -> Self {
        Self(cell as u16)
    }

    /// The bit of the point; `None` for a pass.
    #[inline(always)]
    pub(super) const fn cell(self) -> Option<u32> {
        if self.0 == Self::PASS.0 { None } else { Some(self.0 as u32) }
    }

    /// The column from the left and the row from the bottom, both from 0; `None` for a pass.
    #[must_use]
    pub fn point(self) -> Option<[u32; 2]> {
        self.cell().map(|cell| [cell % STRIDE, cell / STRIDE])
    }

    #[inline]
    pub(super) const fn code(self) -> u16 {
        self.0
    }
}

/// The letter of a column.
pub(super) fn letter(column: u32) -> char {
    ('a'..='z').filter(|letter| *letter != 'i').nth(column as usize).unwrap_or('?')
}

/// Parses a move on a board of this size.
pub(super) fn parse(text: &str, size: u32) -> Result<GoMove, Problem> {
    if text == "pass" {
        return Ok(GoMove::PASS);
    }
    let point = || {
        let mut characters = text.chars();
        let first = characters.next()?;
        let column = (0..size).find(|&column| letter(column) == first)?;
        let row = characters.as_str();
        let number: u32 = row.parse().ok().filter(|number| (1..=size).contains(number))?;
        (number.to_string() == row).then(|| GoMove::new(column, number - 1))
    };
    point().ok_or_else(|| {
        Problem::new(
            format!("`{text}` is not a move on a Go board of size {size}"),
            format!(
                "write a column from a (left) to {}, without i, and a row from 1 (bottom) to {size}, such as \
                 b2, or pass",
                letter(size - 1)
            ),
        )
    })
}

impl fmt::Display for GoMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.point() {
            None => f.pad("pass"),
            Some([column, row]) => f.pad(&format!("{}{}", letter(column), row + 1)),
        }
    }
}

impl fmt::Debug for GoMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
