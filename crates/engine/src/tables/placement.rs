//! Pieces on their squares and the side to move, and their index in a table.

use cozy_chess::{
    BitBoard, Board, Color, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_rook_moves,
};

use super::endgame::PIECES_MAX;
use super::symmetry::{DIAGONAL, IMAGES, KINGS, NO_PAIR, PAIRS};

/// The pieces of an endgame, in its order, on their squares. Two may share a square: that position is not
/// legal, but has an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub(super) turn: Color,
    squares: [Square; PIECES_MAX],
    len: u8,
}

impl Placement {
    #[inline]
    pub(super) fn new(turn: Color, given: impl Iterator<Item = Square>) -> Self {
        let mut placement = Self { turn, squares: [Square::A1; PIECES_MAX], len: 0 };
        for square in given {
            placement.squares[usize::from(placement.len)] = square;
            placement.len += 1;
        }
        placement
    }

    /// The number of places in a table of this many pieces.
    pub(super) const fn places(men: usize) -> usize {
        (2 * PAIRS) << (6 * (men - 2))
    }

    /// Its place in the table, shared by all its images by symmetry, or `None` if the kings touch.
    #[inline]
    pub(super) fn index(&self) -> Option<usize> {
        let code = KINGS.code[self.squares[0] as usize][self.squares[1] as usize];
        (code != NO_PAIR).then(|| self.index_by(usize::from(code & 511), usize::from(code >> 9)))
    }

    /// Both places of a position that has two, since its kings are on a diagonal: its own and its mirror
    /// image's, which may be equal. For all others the second is `None`.
    #[inline]
    pub(super) fn both_indices(&self) -> Option<(usize, Option<usize>)> {
        let code = KINGS.code[self.squares[0] as usize][self.squares[1] as usize];
        if code == NO_PAIR {
            return None;
        }
        let (pair, symmetry) = (usize::from(code & 511), usize::from(code >> 9));
        // The mirror image of an image, since DIAGONAL exchanges files and ranks last.
        let mirrored = KINGS.is_diagonal[pair].then(|| self.index_by(pair, symmetry ^ DIAGONAL));
        Some((self.index_by(pair, symmetry), mirrored))
    }

    #[inline]
    fn index_by(&self, pair: usize, symmetry: usize) -> usize {
        let others = self.squares()[2..].iter().map(|square| *square as usize);
        index_of(self.turn, pair, symmetry, others)
    }

    /// The placement at this place of a table of this many pieces.
    #[inline]
    pub(super) fn at(index: usize, men: usize) -> Self {
        let mut placement =
            Self { turn: Color::White, squares: [Square::A1; PIECES_MAX], len: men as u8 };
        let mut rest = index;
        for square in placement.squares[2..men].iter_mut().rev() {
            *square = Square::ALL[rest & 63];
            rest >>= 6;
        }
        if rest >= PAIRS {
            placement.turn = Color::Black;
            rest -= PAIRS;
        }
        let [white, black] = KINGS.squares[rest];
        placement.squares[0] = Square::ALL[usize::from(white)];
        placement.squares[1] = Square::ALL[usize::from(black)];
        placement
    }

    /// The squares, in the order of the endgame's pieces.
    #[inline]
    pub(super) fn squares(&self) -> &[Square] {
        &self.squares[..usize::from(self.len)]
    }

    /// Whether both kings are on the diagonal a1-h8.
    #[inline]
    pub(super) fn is_diagonal(&self) -> bool {
        let on = |square: Square| square.file() as usize == square.rank() as usize;
        on(self.squares[0]) && on(self.squares[1])
    }

    /// The number of images of its pair of kings.
    pub(super) fn images(&self) -> u32 {
        if self.is_diagonal() { 4 } else { 8 }
    }

    /// The squares with something on them.
    #[inline]
    pub(super) fn occupied(&self) -> BitBoard {
        self.squares().iter().fold(BitBoard::EMPTY, |all, square| all | square.bitboard())
    }

    /// The same with the other side to move, and one piece elsewhere.
    #[inline]
    pub(super) fn moved(&self, man: usize, to: Square) -> Self {
        let mut moved = *self;
        moved.turn = !self.turn;
        moved.squares[man] = to;
        moved
    }

    /// Its image under a symmetry: see [`IMAGES`].
    pub(super) fn turned(&self, symmetry: u8) -> Self {
        let images = &IMAGES[usize::from(symmetry & 7)];
        let squares = self.squares().iter();
        let turned = squares.map(|square| Square::index(usize::from(images[*square as usize])));
        Self::new(self.turn, turned)
    }

    /// The same with the last two pieces exchanged.
    pub(super) fn exchanged(&self) -> Self {
        let mut exchanged = *self;
        exchanged.squares.swap(PIECES_MAX - 2, PIECES_MAX - 1);
        exchanged
    }

    /// The same without one piece, as the smaller table has it.
    pub(super) fn without(&self, man: usize) -> Self {
        let kept = self.squares().iter().enumerate().filter(|(other, _)| *other != man);
        Self::new(self.turn, kept.map(|(_, square)| *square))
    }

    /// Whether this side's king is attacked.
    #[inline]
    pub(super) fn is_attacked(&self, men: &[(Color, Piece)], king: Color, all: BitBoard) -> bool {
        let square = self.squares[king as usize];
        men.iter()
            .zip(self.squares())
            .any(|(&(color, piece), from)| color != king && attacks(piece, *from, all).has(square))
    }

    /// As FEN, with fresh counters.
    pub(super) fn fen(&self, men: &[(Color, Piece)]) -> String {
        let mut builder = cozy_chess::BoardBuilder::empty();
        for (&(color, piece), square) in men.iter().zip(self.squares()) {
            *builder.square_mut(*square) = Some((piece, color));
        }
        builder.side_to_move = self.turn;
        builder.build().map_or_else(|_| String::new(), |board| board.to_string())
    }
}

/// The place of a board with these pieces or, with `changed`, with these pieces in exchanged colours; the
/// number of pieces must match. `None` if it has others, or its kings touch.
#[inline]
pub(super) fn index_of_board(
    board: &Board,
    men: &[(Color, Piece)],
    changed: bool,
) -> Option<usize> {
    let color = |color: Color| if changed { !color } else { color };
    let kings =
        [Color::White, Color::Black].map(|side_color| board.king(color(side_color)) as usize);
    let code = KINGS.code[kings[0]][kings[1]];
    let mut taken = BitBoard::EMPTY;
    let mut squares = [0; PIECES_MAX - 2];
    let others = &men[2..];
    for (place, &(side_color, piece)) in squares.iter_mut().zip(others) {
        let square = (board.colored_pieces(color(side_color), piece) & !taken).next_square()?;
        taken |= square.bitboard();
        *place = square as usize;
    }
    let (pair, symmetry) = (usize::from(code & 511), usize::from(code >> 9));
    let turn = color(board.side_to_move());
    let others = squares.into_iter().take(others.len());
    (code != NO_PAIR).then(|| index_of(turn, pair, symmetry, others))
}

/// The place of an endgame's pieces on these squares, in its order, or `None` if the kings touch.
///
/// # Panics
/// If a number is above 63, or there are no kings.
#[inline]
pub(super) fn index_of_squares(turn: Color, squares: &[u8]) -> Option<usize> {
    let code = KINGS.code[usize::from(squares[0])][usize::from(squares[1])];
    let others = &squares[2..];
    assert!(others.iter().all(|square| *square < 64), "squares are numbered from 0 to 63");
    let (pair, symmetry) = (usize::from(code & 511), usize::from(code >> 9));
    let others = others.iter().map(|square| usize::from(*square));
    (code != NO_PAIR).then(|| index_of(turn, pair, symmetry, others))
}

#[inline]
fn index_of(
    turn: Color,
    pair: usize,
    symmetry: usize,
    others: impl Iterator<Item = usize>,
) -> usize {
    let images = &IMAGES[symmetry & 7];
    let first = turn as usize * PAIRS + pair;
    others.fold(first, |index, square| index << 6 | usize::from(images[square & 63]))
}

/// The squares that a piece other than a pawn can reach: empty ones, and the first piece on its
/// way.
#[inline]
pub(super) fn attacks(piece: Piece, from: Square, all: BitBoard) -> BitBoard {
    match piece {
        Piece::King => get_king_moves(from),
        Piece::Queen => get_rook_moves(from, all) | get_bishop_moves(from, all),
        Piece::Rook => get_rook_moves(from, all),
        Piece::Bishop => get_bishop_moves(from, all),
        Piece::Knight => get_knight_moves(from),
        // No endgame of a table has pawns.
        Piece::Pawn => BitBoard::EMPTY,
    }
}
