//! Moves, and the legal ones of a position in canonical order.

use crate::core::problem::Problem;
use std::fmt;

use cozy_chess::{BitBoard, Board, File, Move, Piece, Rank, Square, get_pawn_attacks};

/// A move. The notation is that of the Universal Chess Interface: the squares of origin and target and, for a
/// pawn that reaches the last rank, its promotion (`e2e4`, `e7e8q`).
///
/// Castling is written with the king's two squares (`e1g1`); in Chess960, where these may be ambiguous, with
/// the king's and the castling rook's (`e1h1`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChessMove(u16);

/// The promotion pieces of a pawn, in the order of their codes from 1 on.
const PROMOTIONS: [(Piece, char); 4] =
    [(Piece::Knight, 'n'), (Piece::Bishop, 'b'), (Piece::Rook, 'r'), (Piece::Queen, 'q')];

/// The code of a promotion to a queen.
const TO_QUEEN: u16 = 4;

impl ChessMove {
    /// Upper bound (exclusive) of [`crate::Knowledge::move_code`].
    pub(super) const CODES: usize = 4 << 12;

    #[inline]
    pub(super) const fn new(from: Square, to: Square) -> Self {
        Self((from as u16) << 9 | (to as u16) << 3)
    }

    #[inline]
    const fn promoting(self, code: u16) -> Self {
        Self(self.0 | code)
    }

    #[inline]
    pub(crate) fn from(self) -> Square {
        Square::index(usize::from(self.0 >> 9))
    }

    #[inline]
    pub(crate) fn to(self) -> Square {
        Square::index(usize::from(self.0 >> 3 & 63))
    }

    /// The promotion piece.
    #[inline]
    pub(super) fn promotion(self) -> Option<Piece> {
        match self.0 & 7 {
            0 => None,
            code => Some(PROMOTIONS[usize::from(code) - 1].0),
        }
    }

    /// Origin and target; underpromotions come after all other moves, so that the codes of nearly
    /// all moves lie close together.
    #[inline]
    pub(super) const fn code(self) -> u16 {
        let promotion = match self.0 & 7 {
            TO_QUEEN => 0,
            other => other,
        };
        promotion << 12 | self.0 >> 3
    }

    /// The move in the form of `cozy_chess`, which castles only by the rook's square.
    #[inline]
    pub(super) fn to_cozy(self, board: &Board, is_chess960: bool) -> Move {
        let (from, mut to) = (self.from(), self.to());
        if !is_chess960 && board.pieces(Piece::King).has(from) {
            to = match (from, to) {
                (Square::E1, Square::G1) => Square::H1,
                (Square::E1, Square::C1) => Square::A1,
                (Square::E8, Square::G8) => Square::H8,
                (Square::E8, Square::C8) => Square::A8,
                _ => to,
            };
        }
        Move { from, to, promotion: self.promotion() }
    }

    /// Parses a move.
    ///
    /// # Errors
    /// If the text is not a move in the notation of the Universal Chess Interface.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let error = |problem: String| {
            Problem::new(
                problem,
                "write the square left and the square reached, and what a pawn becomes on the \
                     last rank, such as e2e4 or e7e8q",
            )
        };
        let not_a_move = || error(format!("`{text}` is not a chess move"));
        let characters: Vec<char> = text.chars().collect();
        let ([from, to], rest) = match characters.as_slice() {
            [a, b, c, d, rest @ ..] => {
                let squares = [square(*a, *b), square(*c, *d)];
                let [Some(from), Some(to)] = squares else { return Err(not_a_move()) };
                ([from, to], rest)
            }
            _ => return Err(not_a_move()),
        };
        if from == to {
            return Err(error(format!("`{text}` leaves the piece where it is")));
        }
        let mv = Self::new(from, to);
        match rest {
            [] => Ok(mv),
            [letter] => (1..)
                .zip(PROMOTIONS)
                .find(|(_, (_, promoted))| promoted == letter)
                .map(|(code, _)| mv.promoting(code))
                .ok_or_else(|| error(format!("in `{text}`, `{letter}` is none of n, b, r and q"))),
            _ => Err(not_a_move()),
        }
    }
}

impl fmt::Display for ChessMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())?;
        match self.0 & 7 {
            0 => Ok(()),
            code => write!(f, "{}", PROMOTIONS[usize::from(code) - 1].1),
        }
    }
}

impl fmt::Debug for ChessMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The square for a file's letter and a rank's digit.
pub(super) fn square(file: char, rank: char) -> Option<Square> {
    Some(Square::new(File::try_from(file).ok()?, Rank::try_from(rank).ok()?))
}

/// The kind of legal moves to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoveFilter {
    /// All of them.
    All,
    /// Captures, en passant among them, and promotions to a queen; no other promotions.
    Tactical,
}

/// Pieces of a side, at most.
const PIECES_MAX: usize = 16;

/// The squares that each piece of the side to move may move to.
pub(super) struct Targets {
    /// The squares of the pieces that can move.
    from: BitBoard,
    /// The targets of each, in the order of generation. Castling is in the game's notation.
    to: [BitBoard; PIECES_MAX],
    /// The index in `to` of the piece on a square.
    place: [u8; Square::NUM],
    /// Pawns before the last rank: each of their moves is a promotion.
    promoting: BitBoard,
    filter: MoveFilter,
}

impl Targets {
    #[inline]
    pub(super) fn new(board: &Board, is_chess960: bool, filter: MoveFilter) -> Self {
        let side = board.side_to_move();
        let own = board.colors(side);
        let pawns = board.pieces(Piece::Pawn) & own;
        let promoting = pawns & Rank::Seventh.relative_to(side).bitboard();
        let mut targets = Self {
            from: BitBoard::EMPTY,
            to: [BitBoard::EMPTY; PIECES_MAX],
            place: [0; Square::NUM],
            promoting,
            filter,
        };
        let mut found = 0;
        let enemies = board.colors(!side);
        board.generate_moves(|moves| {
            let mut to = moves.to;
            match filter {
                MoveFilter::All if moves.piece == Piece::King && !is_chess960 => {
                    to = with_king_targets(to, own);
                }
                MoveFilter::All => {}
                MoveFilter::Tactical if moves.piece != Piece::Pawn => to &= enemies,
                MoveFilter::Tactical if promoting.has(moves.from) => {}
                // A pawn's attack has no other empty squares but for en passant.
                MoveFilter::Tactical => to &= get_pawn_attacks(moves.from, side),
            }
            if !to.is_empty() {
                // En passant comes separately from the pawn's other moves.
                if !targets.from.has(moves.from) {
                    targets.from |= moves.from.bitboard();
                    targets.place[moves.from as usize] = found;
                    found += 1;
                }
                let place = usize::from(targets.place[moves.from as usize]);
                targets.to[place % PIECES_MAX] |= to;
            }
            false
        });
        targets
    }

    #[inline]
    fn of_piece(&self, from: Square) -> BitBoard {
        self.to[usize::from(self.place[from as usize]) % PIECES_MAX]
    }

    /// The number of moves.
    #[inline]
    pub(super) fn count(&self) -> u32 {
        self.from.iter().map(|from| self.of_piece(from).len() * self.moves_for_each(from)).sum()
    }

    /// Moves of a piece to each of its squares.
    #[inline]
    fn moves_for_each(&self, from: Square) -> u32 {
        if self.promoting.has(from) && self.filter == MoveFilter::All {
            PROMOTIONS.len() as u32
        } else {
            1
        }
    }

    /// The first move in canonical order that satisfies a predicate.
    #[inline]
    pub(super) fn find(&self, mut predicate: impl FnMut(ChessMove) -> bool) -> Option<ChessMove> {
        for from in self.from {
            if !self.promoting.has(from) {
                for to in self.of_piece(from) {
                    let mv = ChessMove::new(from, to);
                    if predicate(mv) {
                        return Some(mv);
                    }
                }
                continue;
            }
            let first = if self.filter == MoveFilter::All { 1 } else { TO_QUEEN };
            for to in self.of_piece(from) {
                for code in first..=TO_QUEEN {
                    let mv = ChessMove::new(from, to).promoting(code);
                    if predicate(mv) {
                        return Some(mv);
                    }
                }
            }
        }
        None
    }

    /// Appends the moves in canonical order.
    #[inline]
    pub(super) fn append(&self, moves: &mut Vec<ChessMove>) {
        self.find(|mv| {
            moves.push(mv);
            false
        });
    }

    /// The move with this index in canonical order.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub(super) fn nth(&self, index: u32) -> ChessMove {
        let mut left = index;
        for from in self.from {
            let count = self.of_piece(from).len() * self.moves_for_each(from);
            if left >= count {
                left -= count;
                continue;
            }
            let each = self.moves_for_each(from);
            let to = self.of_piece(from).iter().nth((left / each) as usize);
            let code = match (self.promoting.has(from), self.filter) {
                (false, _) => 0,
                (true, MoveFilter::All) => 1 + (left % each) as u16,
                (true, MoveFilter::Tactical) => TO_QUEEN,
            };
            if let Some(to) = to {
                return ChessMove::new(from, to).promoting(code);
            }
        }
        panic!("there are fewer legal moves")
    }
}

/// A king's targets, with the squares it castles to instead of its rooks'.
#[inline]
fn with_king_targets(to: BitBoard, own: BitBoard) -> BitBoard {
    let rooks = to & own;
    let mut to = to & !own;
    for rook in rooks {
        let file = if rook.file() == File::H { File::G } else { File::C };
        to |= Square::new(file, rook.rank()).bitboard();
    }
    to
}
