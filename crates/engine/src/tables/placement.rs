//! Pieces on their squares and the side to move, and their index in a table.

use cozy_chess::{
    BitBoard, Board, Color, Piece, Rank, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_pawn_attacks, get_rook_moves,
};

use super::endgame::{Endgame, PIECES_MAX};
use super::layout::Layout;
use super::symmetry::{DIAGONAL, IMAGES, KINGS, MIRROR_KINGS, MIRROR_PAIRS, NO_PAIR, PAIRS};

/// The ranks on which no pawn stands.
const PAWNLESS: BitBoard = BitBoard(Rank::First.bitboard().0 | Rank::Eighth.bitboard().0);

/// The pieces of an endgame, in its order, on their squares. Two may share a square: that position is not
/// legal, but has an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    pub(super) turn: Color,
    squares: [Square; PIECES_MAX],
    layout: Layout,
    /// The pawn that has just gone two squares beside a pawn of the side to move, which can take it en passant.
    /// The table has such a position as if that pawn stood on its own first rank.
    pub(super) passer: Option<u8>,
}

impl Placement {
    #[inline]
    pub(super) fn new(turn: Color, layout: Layout, given: impl Iterator<Item = Square>) -> Self {
        let mut placement = Self { turn, squares: [Square::A1; PIECES_MAX], layout, passer: None };
        for (place, square) in placement.squares.iter_mut().zip(given) {
            *place = square;
        }
        placement
    }

    /// Its place in the table, shared by all its images by symmetry, or `None` if the kings touch or a pawn
    /// stands where none can.
    #[inline]
    pub(super) fn index(&self) -> Option<usize> {
        if self.layout.has_pawns() {
            return self.index_with_pawns();
        }
        let code = KINGS.code[self.squares[0] as usize][self.squares[1] as usize];
        (code != NO_PAIR).then(|| self.index_by(usize::from(code & 511), usize::from(code >> 9)))
    }

    fn index_with_pawns(&self) -> Option<usize> {
        let code = MIRROR_KINGS.code[self.squares[0] as usize][self.squares[1] as usize];
        if code == NO_PAIR {
            return None;
        }
        let images = &IMAGES[usize::from(code >> 11)];
        let mut index = self.turn as usize * MIRROR_PAIRS + usize::from(code & 2047);
        for (man, square) in self.squares().iter().enumerate().skip(2) {
            let mut square = *square;
            if let Some(color) = self.layout.pawn(man) {
                if PAWNLESS.has(square) {
                    return None;
                }
                if self.passer == Some(man as u8) {
                    square = Square::new(square.file(), Rank::First.relative_to(color));
                }
            }
            index = index << 6 | usize::from(images[square as usize]);
        }
        Some(index)
    }

    /// Both places of a position that has two, since its kings are on a diagonal: its own and its mirror
    /// image's, which may be equal. For all others the second is `None`.
    #[inline]
    pub(super) fn both_indices(&self) -> Option<(usize, Option<usize>)> {
        if self.layout.has_pawns() {
            return Some((self.index_with_pawns()?, None));
        }
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

    /// The placement at this place of a table of this layout. A pawn may stand where none can.
    #[inline]
    pub(super) fn at(index: usize, layout: Layout) -> Self {
        let mut placement =
            Self { turn: Color::White, squares: [Square::A1; PIECES_MAX], layout, passer: None };
        let mut rest = index;
        for square in placement.squares[2..layout.men()].iter_mut().rev() {
            *square = Square::ALL[rest & 63];
            rest >>= 6;
        }
        let pairs = layout.pairs();
        if rest >= pairs {
            placement.turn = Color::Black;
            rest -= pairs;
        }
        let [white, black] =
            if layout.has_pawns() { MIRROR_KINGS.squares[rest] } else { KINGS.squares[rest] };
        placement.squares[0] = Square::ALL[usize::from(white)];
        placement.squares[1] = Square::ALL[usize::from(black)];
        if layout.has_en_passant() {
            placement.find_passer();
        }
        placement
    }

    /// Puts the first pawn on its own first rank where it stands: on its fourth.
    fn find_passer(&mut self) {
        for man in 2..self.layout.men() {
            let Some(color) = self.layout.pawn(man) else { continue };
            let square = self.squares[man];
            if square.rank() == Rank::First.relative_to(color) {
                self.squares[man] = Square::new(square.file(), Rank::Fourth.relative_to(color));
                self.passer = Some(man as u8);
                return;
            }
        }
    }

    /// Whether no pawn is on a first or last rank, and one that can be taken en passant has come from where
    /// nothing stands now.
    #[inline]
    pub(super) fn has_possible_pawns(&self) -> bool {
        if !self.layout.has_pawns() {
            return true;
        }
        let mut pawns = (2..self.layout.men()).filter(|man| self.layout.pawn(*man).is_some());
        !pawns.any(|man| PAWNLESS.has(self.squares[man]))
            && self.passer.is_none_or(|passer| self.can_be_passer(usize::from(passer)))
    }

    /// Whether the piece at this place is a pawn that can have gone two squares with the last move, beside a
    /// pawn of the side to move.
    pub(super) fn can_be_passer(&self, man: usize) -> bool {
        let square = self.squares[man];
        let Some(color) = self.layout.pawn(man) else { return false };
        if color == self.turn || square.rank() != Rank::Fourth.relative_to(color) {
            return false;
        }
        let passed = [Rank::Second, Rank::Third]
            .map(|rank| Square::new(square.file(), rank.relative_to(color)).bitboard());
        let all = self.occupied();
        let beside = square.file().adjacent() & square.rank().bitboard();
        all.is_disjoint(passed[0] | passed[1])
            && (2..self.layout.men()).any(|taker| {
                self.layout.pawn(taker) == Some(self.turn) && beside.has(self.squares[taker])
            })
    }

    /// The square on which the passing pawn can be taken.
    #[inline]
    pub(super) fn passed_square(&self) -> Option<Square> {
        let man = usize::from(self.passer?);
        let color = self.layout.pawn(man)?;
        Some(Square::new(self.squares[man].file(), Rank::Third.relative_to(color)))
    }

    /// The same where the pawns that can be taken en passant are others: none, and each that may be.
    #[inline]
    pub(super) fn with_passers(self) -> impl Iterator<Item = Self> {
        let none = Self { passer: None, ..self };
        let with = |man: usize| {
            let is_passer = self.layout.has_en_passant() && none.can_be_passer(man);
            is_passer.then_some(Self { passer: Some(man as u8), ..none })
        };
        [Some(none), with(2), with(3)].into_iter().flatten()
    }

    /// The squares, in the order of the endgame's pieces.
    #[inline]
    pub(super) fn squares(&self) -> &[Square] {
        &self.squares[..self.layout.men()]
    }

    /// Whether both kings are on the diagonal a1-h8.
    #[inline]
    pub(super) fn is_diagonal(&self) -> bool {
        let on = |square: Square| square.file() as usize == square.rank() as usize;
        !self.layout.has_pawns() && on(self.squares[0]) && on(self.squares[1])
    }

    /// The number of images of its pair of kings.
    pub(super) fn images(&self) -> u32 {
        match (self.layout.has_pawns(), self.is_diagonal()) {
            (true, _) => 2,
            (false, true) => 4,
            (false, false) => 8,
        }
    }

    /// The squares with something on them.
    #[inline]
    pub(super) fn occupied(&self) -> BitBoard {
        self.squares().iter().fold(BitBoard::EMPTY, |all, square| all | square.bitboard())
    }

    /// The same with the other side to move, one piece elsewhere, and no pawn that can be taken en passant.
    #[inline]
    pub(super) fn moved(&self, man: usize, to: Square) -> Self {
        let mut moved = *self;
        moved.turn = !self.turn;
        moved.squares[man] = to;
        moved.passer = None;
        moved
    }

    /// Its image under a symmetry: see [`IMAGES`]. With pawns only bit 0 counts.
    pub(super) fn turned(&self, symmetry: u8) -> Self {
        let mask = if self.layout.has_pawns() { 1 } else { 7 };
        let images = &IMAGES[usize::from(symmetry & mask)];
        let mut turned = *self;
        for square in &mut turned.squares[..self.layout.men()] {
            *square = Square::index(usize::from(images[*square as usize]));
        }
        turned
    }

    /// The same with the last two pieces exchanged.
    pub(super) fn exchanged(&self) -> Self {
        let mut exchanged = *self;
        exchanged.squares.swap(PIECES_MAX - 2, PIECES_MAX - 1);
        exchanged
    }

    /// The position of another endgame with pieces of this one: for each of its pieces the place here, and
    /// whether colours are exchanged, as [`super::Endgame::of_pieces`] has them.
    pub(super) fn part(&self, layout: Layout, places: &[u8], is_exchanged: bool) -> Self {
        let turn = if is_exchanged { !self.turn } else { self.turn };
        let squares = places.iter().map(|place| self.squares[usize::from(*place)]);
        // Only pawns mind that ranks are reversed.
        let squares = squares.map(|square| if is_exchanged { square.flip_rank() } else { square });
        Self::new(turn, layout, squares)
    }

    /// Whether this side's king is attacked.
    #[inline]
    pub(super) fn is_attacked(&self, men: &[(Color, Piece)], king: Color, all: BitBoard) -> bool {
        let square = self.squares[king as usize];
        men.iter()
            .zip(self.squares())
            .any(|(&man, from)| man.0 != king && attacks(man, *from, all).has(square))
    }

    /// As FEN, with fresh counters.
    pub(super) fn fen(&self, men: &[(Color, Piece)]) -> String {
        let mut builder = cozy_chess::BoardBuilder::empty();
        for (&(color, piece), square) in men.iter().zip(self.squares()) {
            *builder.square_mut(*square) = Some((piece, color));
        }
        builder.side_to_move = self.turn;
        builder.en_passant = self.passed_square();
        builder.build().map_or_else(|_| String::new(), |board| board.to_string())
    }
}

/// The place of a board with these pieces or, with `changed`, with these pieces in exchanged colours; the
/// number of pieces must match. `None` if it has others, or its kings touch.
#[inline]
pub(super) fn index_of_board(board: &Board, endgame: &Endgame, changed: bool) -> Option<usize> {
    let men = endgame.men();
    if endgame.has_pawns() {
        return place_pawns(board, men, endgame.layout(), changed)?.index();
    }
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

/// The same with pawns, whose ranks are reversed with their colours.
fn place_pawns(
    board: &Board,
    men: &[(Color, Piece)],
    layout: Layout,
    changed: bool,
) -> Option<Placement> {
    let color = |color: Color| if changed { !color } else { color };
    let seen = |square: Square| if changed { square.flip_rank() } else { square };
    let mut taken = BitBoard::EMPTY;
    let mut squares = [Square::A1; PIECES_MAX];
    for (place, &(side_color, piece)) in squares.iter_mut().zip(men) {
        let square = (board.colored_pieces(color(side_color), piece) & !taken).next_square()?;
        taken |= square.bitboard();
        *place = seen(square);
    }
    let mut placement = Placement::new(color(board.side_to_move()), layout, squares.into_iter());
    if let Some(file) = board.en_passant()
        && layout.has_en_passant()
    {
        let is_passer = |man: &usize| squares[*man].file() == file && placement.can_be_passer(*man);
        placement.passer = (2..layout.men()).find(is_passer).map(|man| man as u8);
    }
    Some(placement)
}

/// The place of an endgame's pieces on these squares, in its order and without a capture en passant, or `None`
/// if the kings touch or a pawn is on a first or last rank.
///
/// # Panics
/// If a number is above 63, or there are no kings.
#[inline]
pub(super) fn index_of_squares(turn: Color, layout: Layout, squares: &[u8]) -> Option<usize> {
    let others = &squares[2..];
    assert!(others.iter().all(|square| *square < 64), "squares are numbered from 0 to 63");
    if layout.has_pawns() {
        let squares = squares.iter().map(|square| Square::index(usize::from(*square)));
        return Placement::new(turn, layout, squares).index();
    }
    let code = KINGS.code[usize::from(squares[0])][usize::from(squares[1])];
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

/// The squares that a piece attacks: empty ones, and the first piece on its way.
#[inline]
pub(super) fn attacks((color, piece): (Color, Piece), from: Square, all: BitBoard) -> BitBoard {
    match piece {
        Piece::King => get_king_moves(from),
        Piece::Queen => get_rook_moves(from, all) | get_bishop_moves(from, all),
        Piece::Rook => get_rook_moves(from, all),
        Piece::Bishop => get_bishop_moves(from, all),
        Piece::Knight => get_knight_moves(from),
        Piece::Pawn => get_pawn_attacks(from, color),
    }
}
