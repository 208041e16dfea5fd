//! Pentago's moves.

use std::fmt;

use super::cell_bits::{bit_of_cell, cell_of_bit};
use crate::core::problem::Problem;

/// One of the four 3×3 quadrants of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quadrant {
    /// Number 1 in the notation.
    TopLeft,
    /// Number 2.
    TopRight,
    /// Number 3.
    BottomLeft,
    /// Number 4.
    BottomRight,
}

/// The direction of a quarter turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// To the right: `r` in the notation.
    Clockwise,
    /// To the left: `l`.
    CounterClockwise,
}

/// A quarter turn of one quadrant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Turn {
    /// What turns.
    pub quadrant: Quadrant,
    /// Which way.
    pub direction: Direction,
}

impl Quadrant {
    /// All four, in order.
    pub const ALL: [Self; 4] = [Self::TopLeft, Self::TopRight, Self::BottomLeft, Self::BottomRight];
}

impl Direction {
    /// Both, in order.
    pub const ALL: [Self; 2] = [Self::Clockwise, Self::CounterClockwise];
}

/// A placement and the turn that follows it, or none if the placement wins at once.
///
/// The notation is the cell, and after a hyphen the quadrant's number and the direction: `c3-2r`
/// places a marble on c3 and turns the top right quadrant clockwise; `c3` alone makes five.
/// Columns are a to f from the left, rows 1 to 6 from the top: a1 is the top left corner.
///
/// The order is: winning placements, then by quadrant of the cell, cell, quadrant turned,
/// direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PentagoMove(u16);

/// Codes from here on have a turn: `TURNS + 8 * bit + 2 * quadrant + direction`, `bit` being the
/// cell's index in a bitboard; codes below are the bit alone.
const TURNS: u16 = 64;

impl PentagoMove {
    /// The move that places on a cell, numbered row by row from the top left (0 to 35).
    ///
    /// # Panics
    /// If `cell` is not below 36.
    #[must_use]
    pub const fn new(cell: u32, turn: Option<Turn>) -> Self {
        assert!(cell < 36, "a Pentago board has 36 cells");
        match turn {
            None => Self::placement(bit_of_cell(cell)),
            Some(turn) => {
                let turn = 2 * turn.quadrant as u32 + turn.direction as u32;
                Self::with_turn(bit_of_cell(cell), turn)
            }
        }
    }

    /// The cell, numbered row by row from the top left (0 to 35).
    #[must_use]
    pub const fn cell(self) -> u32 {
        cell_of_bit(self.bit())
    }

    /// The turn of a quadrant; `None` for a placement that makes five and wins.
    #[must_use]
    pub const fn turn(self) -> Option<Turn> {
        match self.turn_index() {
            None => None,
            Some((quadrant, direction)) => Some(Turn {
                quadrant: Quadrant::ALL[quadrant & 3],
                direction: Direction::ALL[direction & 1],
            }),
        }
    }

    /// A winning placement on the cell with this bit index.
    #[inline]
    pub(super) const fn placement(bit: u32) -> Self {
        Self(bit as u16)
    }

    /// A placement with turn number `turn` (0 to 7) of its eight.
    #[inline]
    pub(super) const fn with_turn(bit: u32, turn: u32) -> Self {
        Self(TURNS + 8 * bit as u16 + turn as u16)
    }

    /// Upper bound (exclusive) of codes: the last cell has bit 56.
    pub(super) const CODES: usize = TURNS as usize + 8 * 57;

    /// A number for the move, in their order.
    #[inline]
    pub(super) const fn code(self) -> u16 {
        self.0
    }

    /// The move with this code.
    #[inline]
    pub(super) const fn from_code(code: u16) -> Self {
        Self(code)
    }

    /// The number of the turn among the eight. The move must have one.
    #[inline]
    pub(super) const fn turn_number(self) -> usize {
        (self.0 & 7) as usize
    }

    /// Quadrant and direction of turn number `turn` of the eight.
    #[inline]
    pub(super) const fn turn_of_index(turn: u32) -> (usize, usize) {
        ((turn as usize / 2) & 3, turn as usize & 1)
    }

    /// The cell's bit index.
    #[inline]
    pub(super) const fn bit(self) -> u32 {
        (if self.0 < TURNS { self.0 } else { (self.0 - TURNS) / 8 }) as u32
    }

    /// Quadrant and direction of the turn.
    #[inline]
    pub(super) const fn turn_index(self) -> Option<(usize, usize)> {
        if self.0 < TURNS { None } else { Some(Self::turn_of_index(self.0 as u32)) }
    }
}

impl fmt::Display for PentagoMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", cell_name(self.cell()))?;
        match self.turn() {
            None => Ok(()),
            Some(Turn { quadrant, direction }) => {
                let direction = match direction {
                    Direction::Clockwise => 'r',
                    Direction::CounterClockwise => 'l',
                };
                write!(f, "-{}{direction}", quadrant as u32 + 1)
            }
        }
    }
}

impl fmt::Debug for PentagoMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The name of a cell, such as `c3`.
pub(super) fn cell_name(cell: u32) -> String {
    let column = (b'a' + (cell % 6) as u8) as char;
    format!("{column}{}", cell / 6 + 1)
}

/// Reads a move.
pub(super) fn parse_move(text: &str) -> Result<PentagoMove, Problem> {
    let error = |problem: String| {
        Problem::new(
            format!("`{text}` is not a Pentago move: {problem}"),
            "write a cell and a turn such as c3-2r (quadrants 1 top left, 2 top right, 3 \
                 bottom left, 4 bottom right; r clockwise, l counter-clockwise), or the cell \
                 alone if the placement makes five",
        )
    };
    let (cell, turn) = match text.split_once('-') {
        None => (text, None),
        Some((cell, turn)) => (cell, Some(turn)),
    };
    let cell = match cell.as_bytes() {
        [column @ b'a'..=b'f', row @ b'1'..=b'6'] => {
            u32::from(row - b'1') * 6 + u32::from(column - b'a')
        }
        _ => return Err(error(format!("`{cell}` is not a cell from a1 to f6"))),
    };
    let turn = match turn.map(str::as_bytes) {
        None => None,
        Some([quadrant @ b'1'..=b'4', direction @ (b'r' | b'l')]) => Some(Turn {
            quadrant: Quadrant::ALL[usize::from(quadrant - b'1')],
            direction: Direction::ALL[usize::from(*direction == b'l')],
        }),
        Some(_) => {
            let turn = text.get(3..).unwrap_or_default();
            return Err(error(format!("`{turn}` is not a turn of a quadrant")));
        }
    };
    Ok(PentagoMove::new(cell, turn))
}
