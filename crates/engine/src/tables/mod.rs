//! Exact tables of chess endings: the distance to mate in plies of every position of up to four pieces.
//!
//! An [`Endgame`] names the pieces: `KBNK` is white's king, bishop and knight against black's king. Its
//! [`EndgameTable`] is made by [`EndgameTable::make`], has a byte for each position up to symmetry, and is
//! written and read as bytes ([`EndgameTable::to_bytes`]); callers store them. [`shared`] makes each once a
//! process, and [`value`], [`move_values`] and [`solve`] look up positions in those.
//!
//! ```
//! use spelrum_engine::games::Chess;
//! use spelrum_engine::tables::{Endgame, EndgameTable, TableValue};
//! use spelrum_engine::Game;
//!
//! let table = EndgameTable::make(&"KRK".parse()?, |_| {});
//! let position = Chess::parse(&Chess::rules(), "8/8/8/8/8/2k5/1R6/K7 w - - 0 1")?;
//! assert_eq!(table.value(&position), Some(TableValue::Win { plies: 31 }));
//!
//! let white = &table.counts().sides[0];
//! assert_eq!((white.legal, white.wins, white.longest_win_plies()), (175_168, 175_168, Some(31)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a value is
//!
//! The plies to mate, or in a table by [`Metric::Conversion`] to conversion, under best play by both: the winner mates as fast as possible, the loser delays. A mated
//! position has 0, so wins are odd and losses even. Captures and promotions lead to the table of the pieces then. There
//! is no castling, and the fifty-move rule and repetition are ignored: stalemates and positions that neither
//! side wins are draws.
//!
//! # Symmetry
//!
//! Without pawns and castling the eight symmetries of the square change nothing (Thompson 1986, "Retrograde
//! Analysis of Certain Endgames", ICCA Journal 9.3; Heinz 2000, "Scalable Search in Computer Chess", chapter
//! 5). The white king is moved to the triangle a1-d1-d4, and if it is on the diagonal a1-h8, the black one to
//! or below that diagonal: 462 pairs of kings that do not touch. So a table of four pieces has 2 · 462 · 64 ·
//! 64 = 3,784,704 bytes. For two like pieces (`KNNK`) it has both orders.
//!
//! With a pawn only the reversal of files changes nothing: the white king is on the files a to d, 1,806 pairs of
//! kings, and a table of four pieces has 14,794,752 bytes. With a pawn on each side (`KPKP`), a position in which one
//! can be taken en passant is in the table by itself, as if the pawn that went two squares stood on its own first
//! rank, where none can be. It counts as a position of its own if a pawn of the other side stands beside that pawn,
//! whether or not its king's safety lets it capture.

mod bytes;
mod counts;
mod endgame;
mod layout;
mod metric;
mod placement;
mod retrograde;
mod shared;
mod symmetry;

use std::fmt;

use cozy_chess::{Board, Color};

use crate::core::position::Side;
use crate::games::Chess;

pub use bytes::TableBytesError;
pub use counts::{Longest, SideCounts, TableCounts};
pub use endgame::{Endgame, PIECES_MAX};
pub use metric::Metric;
pub use retrograde::Progress;
pub(crate) use shared::syzygy_position;
pub use shared::{
    TableSolution, ending, install_source, known_value, move_value, move_values, shared, shared_by,
    solve, value, value_by,
};

use endgame::has_castle_rights;
use placement::{Placement, index_of_board, index_of_squares};

/// A position's value under perfect play, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableValue {
    /// It mates in this many plies, an odd number.
    Win {
        /// Plies to mate.
        plies: u32,
    },
    /// Neither side mates.
    Draw,
    /// It is mated in this many plies, an even number: 0 if it is mated already.
    Loss {
        /// Plies to mate.
        plies: u32,
    },
}

impl TableValue {
    /// 1 if the side to move wins, 0 for a draw, -1 if it loses.
    #[must_use]
    pub const fn value(self) -> i32 {
        match self {
            Self::Win { .. } => 1,
            Self::Draw => 0,
            Self::Loss { .. } => -1,
        }
    }

    /// Plies to mate, or `None` for a draw.
    #[must_use]
    pub const fn plies(self) -> Option<u32> {
        match self {
            Self::Win { plies } | Self::Loss { plies } => Some(plies),
            Self::Draw => None,
        }
    }

    /// The value for the side whose move led to the position with this value: one ply more,
    /// negated.
    #[must_use]
    pub const fn for_mover(self) -> Self {
        match self {
            Self::Win { plies } => Self::Loss { plies: plies + 1 },
            Self::Draw => Self::Draw,
            Self::Loss { plies } => Self::Win { plies: plies + 1 },
        }
    }

    /// A number that grows with the value, on a scale of plies: for a win [`TableValue::SCALE`] minus the
    /// plies to mate, for a loss its negative, 0 for a draw. A win that is delayed by five plies costs five,
    /// and a missed win costs more.
    #[must_use]
    pub const fn on_scale(self) -> i32 {
        match self {
            Self::Win { plies } => Self::SCALE - plies as i32,
            Self::Draw => 0,
            Self::Loss { plies } => plies as i32 - Self::SCALE,
        }
    }

    /// An upper bound of [`TableValue::on_scale`]. No table has a win of this many plies.
    pub const SCALE: i32 = 256;

    /// The value for a byte; `None` for an illegal position.
    #[inline]
    const fn of_code(code: u8) -> Option<Self> {
        match code {
            code::ILLEGAL => None,
            code::DRAW | code::STALEMATE => Some(Self::Draw),
            plies if plies % 2 == 1 => Some(Self::Win { plies: plies as u32 }),
            plies => Some(Self::Loss { plies: plies as u32 }),
        }
    }
}

/// The bytes of a table: plies to mate, or one of these.
mod code {
    /// The greatest number of plies. For four pieces it is 80 (`KRKN`).
    pub(super) const PLIES_MAX: u8 = 252;
    /// A draw: no legal move, and no check.
    pub(super) const STALEMATE: u8 = 253;
    /// Any other draw.
    pub(super) const DRAW: u8 = 254;
    /// Two pieces on one square, or the side that just moved is in check.
    pub(super) const ILLEGAL: u8 = 255;
}

/// The values of all positions of an endgame.
#[derive(Clone, PartialEq, Eq)]
pub struct EndgameTable {
    endgame: Endgame,
    metric: Metric,
    /// By [`Placement::index`].
    codes: Vec<u8>,
}

/// A position of a table: one of each class up to symmetry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TablePosition {
    placement: Placement,
    /// Its value for the side to move.
    pub value: TableValue,
    /// The number of positions of the board that are equal up to symmetry, this one included: 4 if both kings
    /// are on the diagonal a1-h8, where its mirror image may be in the table as well, and 8 elsewhere; 2 with
    /// pawns. With two like pieces each of them is in the table twice.
    pub images: u32,
}

impl TablePosition {
    /// Whose move it is: white is the first side.
    #[must_use]
    pub fn to_move(&self) -> Side {
        match self.placement.turn {
            Color::White => Side::First,
            Color::Black => Side::Second,
        }
    }

    /// The squares of the pieces, in the order of [`Endgame::letters`]: a1 is 0, b1 is 1, h8 is 63.
    pub fn squares(&self) -> impl Iterator<Item = u8> + '_ {
        self.placement.squares().iter().map(|square| *square as u8)
    }
}

impl EndgameTable {
    /// Makes the table, after those of its captures and promotions. `tell` is called with the progress after each
    /// ply.
    ///
    /// Single-threaded; takes three bytes of memory a position, 11 MB for four pieces and 44 MB with pawns, beside
    /// the tables that it leads to: 100 MB for `KPKP`.
    #[must_use]
    pub fn make(endgame: &Endgame, tell: impl FnMut(Progress<'_>)) -> Self {
        Self::make_by(endgame, Metric::Mate, tell)
    }

    /// The same with distances by a metric.
    #[must_use]
    pub fn make_by(endgame: &Endgame, metric: Metric, mut tell: impl FnMut(Progress<'_>)) -> Self {
        retrograde::make(endgame, metric, &mut tell)
    }

    /// What its distances lead to.
    #[must_use]
    pub const fn metric(&self) -> Metric {
        self.metric
    }

    /// The pieces of the table.
    #[must_use]
    pub const fn endgame(&self) -> &Endgame {
        &self.endgame
    }

    /// The value of a position, also with colours exchanged: black's bishop and knight against white's king
    /// are looked up in `KBNK`. `None` if it has other pieces, or rights to castle.
    #[must_use]
    pub fn value(&self, position: &Chess) -> Option<TableValue> {
        self.value_of_board(position.cozy())
    }

    #[inline]
    fn value_of_board(&self, board: &Board) -> Option<TableValue> {
        let has_as_many = board.occupied().len() as usize == self.endgame.men().len();
        if !has_as_many || has_castle_rights(board) {
            return None;
        }
        let endgame = &self.endgame;
        let index = index_of_board(board, endgame, false)
            .or_else(|| index_of_board(board, endgame, true))?;
        TableValue::of_code(self.codes[index])
    }

    /// The value with the pieces on these squares (a1 is 0, b1 is 1, h8 is 63), in the order of
    /// [`Endgame::letters`], where no pawn can be taken en passant. `None` if that is not a legal position.
    ///
    /// # Panics
    /// If there are more or fewer squares than pieces, or a number above 63.
    #[must_use]
    #[inline]
    pub fn value_at(&self, to_move: Side, squares: &[u8]) -> Option<TableValue> {
        assert_eq!(squares.len(), self.endgame.men().len(), "a square for each piece");
        let turn = match to_move {
            Side::First => Color::White,
            Side::Second => Color::Black,
        };
        TableValue::of_code(self.codes[index_of_squares(turn, self.endgame.layout(), squares)?])
    }

    /// Every legal position up to symmetry, in the table's order: the same on every machine.
    pub fn positions(&self) -> impl Iterator<Item = TablePosition> + '_ {
        (0..self.codes.len()).filter_map(|index| self.position(index))
    }

    /// The position at this place of the table, below [`EndgameTable::len`]; `None` if it is not legal.
    #[must_use]
    pub fn position(&self, index: usize) -> Option<TablePosition> {
        let value = TableValue::of_code(*self.codes.get(index)?)?;
        let placement = Placement::at(index, self.endgame.layout());
        Some(TablePosition { placement, value, images: placement.images() })
    }

    /// A position of this table as FEN.
    #[must_use]
    pub fn fen(&self, position: &TablePosition) -> String {
        position.placement.fen(self.endgame.men())
    }

    /// The image of a position under the symmetry with this number, as FEN. In the number, bit 0 reverses
    /// files, bit 1 ranks, and bit 2 then exchanges files and ranks; higher bits are ignored, and with pawns all
    /// but bit 0. Numbers never change their meaning.
    #[must_use]
    pub fn turned_fen(&self, position: &TablePosition, symmetry: u8) -> String {
        position.placement.turned(symmetry).fen(self.endgame.men())
    }

    /// The first place of this table with the same position as this place, up to symmetry and the order of
    /// like pieces: a position may be there twice, with both kings on the diagonal a1-h8 or with two like
    /// pieces, or even four times.
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    pub fn first_place(&self, index: usize) -> usize {
        assert!(index < self.codes.len(), "a place of the table");
        let placement = Placement::at(index, self.endgame.layout());
        let other_order = (self.endgame.orders() > 1).then(|| placement.exchanged());
        let placements = [Some(placement), other_order].into_iter().flatten();
        let places = placements.filter_map(|placement| placement.both_indices());
        places.fold(index, |least, (one, mirrored)| least.min(one).min(mirrored.unwrap_or(one)))
    }

    /// Places in the table; some of them have no legal position.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no table is empty")]
    pub const fn len(&self) -> usize {
        self.codes.len()
    }

    /// The counts of all positions; symmetric ones count separately.
    #[must_use]
    pub fn counts(&self) -> TableCounts {
        counts::count(self)
    }

    #[inline]
    fn code_of(&self, placement: &Placement) -> u8 {
        placement.index().map_or(code::ILLEGAL, |index| self.codes[index])
    }
}

impl fmt::Debug for EndgameTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndgameTable({}, {} places)", self.endgame, self.codes.len())
    }
}
