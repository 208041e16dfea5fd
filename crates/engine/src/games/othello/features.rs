//! Counts on a board, from the point of view of the side to move, for evaluations.

use super::{Othello, SQUARES, board};

/// A class of squares that the board's symmetries map to each other: ten, named in the upper left
/// triangle row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum SquareClass {
    /// The corners: a1.
    A,
    /// Beside a corner on the edge: b1.
    B,
    /// c1 and its like.
    C,
    /// The middles of the edges: d1.
    D,
    /// Beside a corner on the diagonal: b2.
    E,
    /// c2 and its like.
    F,
    /// d2 and its like.
    G,
    /// c3 and its like.
    H,
    /// d3 and its like.
    I,
    /// The middle: d4.
    J,
}

/// The number of classes.
pub(super) const CLASSES: usize = 10;

impl SquareClass {
    /// All of them, from a to j.
    pub const ALL: [Self; CLASSES] =
        [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G, Self::H, Self::I, Self::J];

    /// The class of a square, numbered row by row from the top left (0 to 63).
    ///
    /// # Panics
    /// If `square` is not below 64.
    #[inline]
    #[must_use]
    pub const fn of_square(square: u32) -> Self {
        Self::ALL[CLASS_OF[square as usize] as usize]
    }

    /// The number of its squares: four or eight.
    #[must_use]
    pub const fn squares(self) -> u32 {
        self.board().count_ones()
    }

    /// Its squares, a bit for each.
    #[inline]
    pub(super) const fn board(self) -> u64 {
        BOARDS[self as usize]
    }
}

const CLASS_OF: [u8; 64] = {
    /// By row and column, in ascending order: their distances from the nearer edge.
    const TRIANGLE: [[u8; 4]; 4] = [[0, 1, 2, 3], [1, 4, 5, 6], [2, 5, 7, 8], [3, 6, 8, 9]];
    let mut classes = [0; 64];
    let mut square = 0;
    while square < 64 {
        let (row, column) = (square / 8, square % 8);
        let row = if row < 4 { row } else { 7 - row };
        let column = if column < 4 { column } else { 7 - column };
        classes[square] = TRIANGLE[row][column];
        square += 1;
    }
    classes
};

const BOARDS: [u64; CLASSES] = {
    let mut boards = [0; CLASSES];
    let mut square = 0;
    while square < 64 {
        boards[CLASS_OF[square] as usize] |= 1 << square;
        square += 1;
    }
    boards
};

impl Othello {
    /// Discs of the side to move.
    #[inline]
    #[must_use]
    pub const fn own_discs(&self) -> u32 {
        self.own().count_ones()
    }

    /// Discs of the other side.
    #[inline]
    #[must_use]
    pub const fn other_discs(&self) -> u32 {
        self.other().count_ones()
    }

    /// Squares without a disc.
    #[inline]
    #[must_use]
    pub const fn empty_squares(&self) -> u32 {
        SQUARES - self.discs()
    }

    /// Squares on which the side to move may place a disc: 0 if it must pass.
    #[inline]
    #[must_use]
    pub const fn own_moves(&self) -> u32 {
        self.moves.count_ones()
    }

    /// Squares on which the other side could place a disc if it were its turn.
    #[inline]
    #[must_use]
    pub const fn other_moves(&self) -> u32 {
        board::moves(self.other(), self.own()).count_ones()
    }

    /// Discs of the side to move on squares of a class.
    #[inline]
    #[must_use]
    pub const fn own_discs_on(&self, class: SquareClass) -> u32 {
        (self.own() & class.board()).count_ones()
    }

    /// Discs of the other side on squares of a class.
    #[inline]
    #[must_use]
    pub const fn other_discs_on(&self, class: SquareClass) -> u32 {
        (self.other() & class.board()).count_ones()
    }

    /// Empty squares beside discs of the other side, which may become moves of the side to move, and empty
    /// squares beside its own.
    #[inline]
    pub(super) const fn frontiers(&self) -> [u32; 2] {
        let empty = !(self.own() | self.other());
        [
            (board::beside(self.other()) & empty).count_ones(),
            (board::beside(self.own()) & empty).count_ones(),
        ]
    }

    /// Discs on corners, of the side to move and of the other.
    #[inline]
    pub(super) const fn corners(&self) -> [u32; 2] {
        self.counts_on(SquareClass::A.board())
    }

    /// Discs on the edges without the corners, of the side to move and of the other.
    #[inline]
    pub(super) const fn edges(&self) -> [u32; 2] {
        self.counts_on(SquareClass::B.board() | SquareClass::C.board() | SquareClass::D.board())
    }

    /// Discs beside corners, empty or not, of the side to move and of the other.
    #[inline]
    pub(super) const fn near_corners(&self) -> [u32; 2] {
        self.counts_on(SquareClass::B.board() | SquareClass::E.board())
    }

    /// Discs beside empty corners on the diagonal, of the side to move and of the other.
    #[inline]
    pub(super) const fn beside_empty_corners_on_diagonals(&self) -> [u32; 2] {
        self.counts_on(SquareClass::E.board() & board::beside(self.empty_corners()))
    }

    /// Discs beside empty corners on the edge, of the side to move and of the other.
    #[inline]
    pub(super) const fn beside_empty_corners_on_edges(&self) -> [u32; 2] {
        self.counts_on(SquareClass::B.board() & board::beside(self.empty_corners()))
    }

    #[inline]
    const fn empty_corners(&self) -> u64 {
        SquareClass::A.board() & !(self.own() | self.other())
    }

    #[inline]
    const fn counts_on(&self, squares: u64) -> [u32; 2] {
        [(self.own() & squares).count_ones(), (self.other() & squares).count_ones()]
    }
}
