//! Chess by the Laws of FIDE (2023), and Chess960.
//!
//! A game ends by checkmate, stalemate, threefold repetition, fifty moves of both sides without a capture or
//! a pawn move, or if neither side can mate any more. All of them end it at once, as in match runners: draws
//! need no claim.
//!
//! # Representation
//!
//! `cozy_chess::Board` (MIT): bitboards for each kind of piece and each colour, checkers and pins, castling
//! rights by the rook's file, and the counters of a FEN. It lists only legal moves. The recorded, unchanging
//! key of a position is [`Position::canonical_key`] rather than the board's hash, which may change in a later
//! release; it is computed on demand.

mod book;
pub mod evaluation;
mod exchange;
mod fen;
mod game;
mod knowledge;
mod moves;
mod pgn;
mod san;

use std::fmt;
use std::hash::{Hash, Hasher};

use cozy_chess::{BitBoard, Board, Color, File, Move, Piece, Rank, Square, get_pawn_attacks};

use crate::core::position::{Ending, Line, Position, Side, SideName, mix_key};
use crate::core::problem::Problem;
use crate::core::rng::PlayoutRandom;
use crate::core::solver::{PlainSolver, Solvable};
use crate::core::termination::{Termination, TerminationInfo};

pub use moves::ChessMove;
use moves::{MoveFilter, Targets};

/// The king is attacked and there is no legal move (article 5.1.1).
pub const CHECKMATE: Termination =
    Termination::new(&TerminationInfo { name: "checkmate", words: "checkmate" });

/// The king is not attacked and there is no legal move (article 5.2.1).
pub const STALEMATE: Termination =
    Termination::new(&TerminationInfo { name: "stalemate", words: "stalemate" });

/// The same position for the third time (article 9.2): the same side to move, the same pieces on the same
/// squares, the same rights to castle and to capture en passant.
pub const THREEFOLD_REPETITION: Termination = Termination::new(&TerminationInfo {
    name: "threefold_repetition",
    words: "the same position for the third time",
});

/// Fifty moves of each side without a capture or a pawn move (article 9.3). A mate with the last of them
/// counts.
pub const FIFTY_MOVES: Termination = Termination::new(&TerminationInfo {
    name: "fifty_moves",
    words: "fifty moves without a capture or a pawn's move",
});

/// No sequence of moves mates (article 5.2.2), judged by the pieces alone: beside the kings there is nothing,
/// or one knight, or only bishops on squares of one colour. That is the rule of match runners and servers;
/// positions that are dead because pawns block each other are played on, as they are there.
pub const INSUFFICIENT_MATERIAL: Termination = Termination::new(&TerminationInfo {
    name: "insufficient_material",
    words: "neither side has the pieces to mate",
});

/// Plies without a capture or a pawn move that end the game.
pub(crate) const CLOCK_MAX: u8 = 100;

/// Plies after which a position can have occurred twice before.
const REPETITION_PLIES: usize = 8;

/// A position of chess or Chess960.
///
/// The notation is FEN (Edwards 1994, "Portable Game Notation Specification", 16.1), with the square of en
/// passant only if a pawn can capture there; it is accepted wherever a pawn has just made its double step. In
/// Chess960, rights to castle are written by the files of the rooks (`HAha`); `KQkq`, for the outermost
/// rooks, is accepted too.
#[derive(Clone)]
pub struct Chess {
    board: Board,
    /// Whether it is Chess960, which differs in its notation and its start positions.
    is_chess960: bool,
}

impl Chess {
    /// The start position of chess.
    #[must_use]
    pub fn initial() -> Self {
        Self { board: Board::startpos(), is_chess960: false }
    }

    /// A start position of Chess960 by its number (Scharnagl 2004); 518 is that of chess.
    ///
    /// # Panics
    /// If the number is not below 960.
    #[must_use]
    pub fn chess960(number: u32) -> Self {
        Self { board: Board::chess960_startpos(number), is_chess960: true }
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub fn is_check(&self) -> bool {
        !self.board.checkers().is_empty()
    }

    /// Plies since the last capture or pawn move, at most 100.
    #[must_use]
    pub fn halfmove_clock(&self) -> u32 {
        u32::from(self.board.halfmove_clock())
    }

    /// The number of the next move, from 1: it increases after each move of black.
    #[must_use]
    pub fn fullmove_number(&self) -> u32 {
        u32::from(self.board.fullmove_number())
    }

    /// The board, for evaluations and tables.
    #[inline]
    pub(crate) const fn cozy(&self) -> &Board {
        &self.board
    }

    /// A move in the form of `cozy_chess`.
    #[inline]
    fn cozy_move(&self, mv: ChessMove) -> Move {
        mv.to_cozy(&self.board, self.is_chess960)
    }

    #[inline]
    fn targets(&self, filter: MoveFilter) -> Targets {
        Targets::new(&self.board, self.is_chess960, filter)
    }

    /// The king's own move in castling, which in Chess960 differs from the written one.
    fn is_castling(&self, mv: ChessMove) -> bool {
        let Move { from, to, .. } = self.cozy_move(mv);
        self.board.pieces(Piece::King).has(from)
            && self.board.colors(self.board.side_to_move()).has(to)
    }

    /// Whether a legal move captures, including en passant.
    #[inline]
    fn is_capture(&self, mv: ChessMove) -> bool {
        let (from, to) = (mv.from(), mv.to());
        self.board.colors(!self.board.side_to_move()).has(to)
            || (from.file() != to.file() && self.board.pieces(Piece::Pawn).has(from))
    }

    /// Whether the game is over regardless of legal moves.
    #[inline]
    fn is_drawn_by_rule(&self) -> bool {
        self.board.halfmove_clock() >= CLOCK_MAX || self.is_dead()
    }

    /// Whether neither side can mate any more: see [`INSUFFICIENT_MATERIAL`].
    #[inline]
    fn is_dead(&self) -> bool {
        let pieces = |piece| self.board.pieces(piece);
        if !(pieces(Piece::Pawn) | pieces(Piece::Rook) | pieces(Piece::Queen)).is_empty() {
            return false;
        }
        let (knights, bishops) = (pieces(Piece::Knight), pieces(Piece::Bishop));
        match knights.len() {
            0 => {
                bishops.is_disjoint(BitBoard::LIGHT_SQUARES)
                    || bishops.is_disjoint(BitBoard::DARK_SQUARES)
            }
            1 => bishops.is_empty(),
            _ => false,
        }
    }

    /// Whether a piece of the side to move can move.
    #[inline]
    fn has_move(&self) -> bool {
        self.board.generate_moves(|_| true)
    }

    /// The file of the pawn that a legal move can capture en passant.
    fn en_passant(&self) -> Option<File> {
        let file = self.board.en_passant()?;
        let side = self.board.side_to_move();
        let to = Square::new(file, Rank::Sixth.relative_to(side));
        let takers = get_pawn_attacks(to, !side) & self.board.colored_pieces(side, Piece::Pawn);
        let takes = |from| self.board.is_legal(Move { from, to, promotion: None });
        takers.into_iter().any(takes).then_some(file)
    }

    /// Whether these are the same position by FIDE's rule on repetition. (`Board::same_position` mistakes any
    /// piece that can go to the square of en passant for a pawn that can capture there.)
    fn has_placement_of(&self, other: &Self) -> bool {
        let (board, other_board) = (&self.board, &other.board);
        let is_same_side = |color| {
            board.colors(color) == other_board.colors(color)
                && board.castle_rights(color) == other_board.castle_rights(color)
        };
        self.placement_hash() == other.placement_hash()
            && board.side_to_move() == other_board.side_to_move()
            && [Color::White, Color::Black].into_iter().all(is_same_side)
            && Piece::ALL.into_iter().all(|piece| board.pieces(piece) == other_board.pieces(piece))
            && self.en_passant() == other.en_passant()
    }

    /// A hash of the fields that FIDE's rule on repetition compares; not recorded.
    #[inline]
    fn placement_hash(&self) -> u64 {
        if self.board.en_passant().is_some() && self.en_passant().is_none() {
            self.board.hash_without_ep()
        } else {
            self.board.hash()
        }
    }
}

/// The side of a colour.
#[inline]
const fn side_of(color: Color) -> Side {
    match color {
        Color::White => Side::First,
        Color::Black => Side::Second,
    }
}

/// Positions are equal if their FENs are, and they belong to the same game.
impl PartialEq for Chess {
    fn eq(&self, other: &Self) -> bool {
        self.is_chess960 == other.is_chess960
            && self.halfmove_clock() == other.halfmove_clock()
            && self.fullmove_number() == other.fullmove_number()
            && self.has_placement_of(other)
    }
}

impl Eq for Chess {}

impl Hash for Chess {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.placement_hash().hash(state);
        self.halfmove_clock().hash(state);
        self.fullmove_number().hash(state);
    }
}

impl Position for Chess {
    type Move = ChessMove;

    const SIDES: [SideName; 2] =
        [SideName { word: "white", letter: 'w' }, SideName { word: "black", letter: 'b' }];

    const HISTORY_MATTERS: bool = true;

    #[inline]
    fn to_move(&self) -> Side {
        side_of(self.board.side_to_move())
    }

    fn is_after_irreversible_move(&self) -> bool {
        self.board.halfmove_clock() == 0
    }

    fn ending(&self) -> Option<Ending> {
        let draw = |termination| Some(Ending { winner: None, termination });
        if self.is_dead() {
            return draw(INSUFFICIENT_MATERIAL);
        }
        if !self.has_move() {
            return if self.is_check() {
                Some(Ending { winner: Some(self.to_move().other()), termination: CHECKMATE })
            } else {
                draw(STALEMATE)
            };
        }
        if self.board.halfmove_clock() >= CLOCK_MAX { draw(FIFTY_MOVES) } else { None }
    }

    #[inline]
    fn is_over(&self) -> bool {
        self.is_drawn_by_rule() || !self.has_move()
    }

    #[inline]
    fn legal_moves(&self, moves: &mut Vec<ChessMove>) {
        if !self.is_drawn_by_rule() {
            self.targets(MoveFilter::All).append(moves);
        }
    }

    #[inline]
    fn legal_move_count(&self) -> u32 {
        if self.is_drawn_by_rule() {
            return 0;
        }
        let mut count = 0;
        self.board.generate_moves(|moves| {
            count += moves.len() as u32;
            false
        });
        count
    }

    fn nth_legal_move(&self, index: u32) -> ChessMove {
        assert!(!self.is_drawn_by_rule(), "the game is over");
        self.targets(MoveFilter::All).nth(index)
    }

    /// Only a move that gives check wins.
    fn winning_move(&self) -> Option<ChessMove> {
        if self.is_drawn_by_rule() {
            return None;
        }
        self.targets(MoveFilter::All).find(|mv| {
            let mut child = self.clone();
            child.play_unchecked(mv);
            child.is_check() && !child.has_move()
        })
    }

    fn play_randomly(&mut self, random: &mut PlayoutRandom, plies_max: u32) -> u32 {
        let mut plies = 0;
        while plies < plies_max && !self.is_drawn_by_rule() {
            let targets = self.targets(MoveFilter::All);
            let count = targets.count();
            if count == 0 {
                break;
            }
            self.play_unchecked(targets.nth(random.below(count)));
            plies += 1;
        }
        plies
    }

    fn is_legal(&self, mv: ChessMove) -> bool {
        // By the king's squares alone: castling by the rook's square is Chess960.
        let takes_own = self.board.colors(self.board.side_to_move()).has(mv.to());
        !self.is_drawn_by_rule()
            && (self.is_chess960 || !takes_own)
            && self.board.is_legal(self.cozy_move(mv))
    }

    #[inline]
    fn play_unchecked(&mut self, mv: ChessMove) {
        let cozy_move = self.cozy_move(mv);
        self.board.play_unchecked(cozy_move);
    }

    /// The fields that FIDE's rule on repetition compares, mixed: the squares of each kind of piece and of
    /// white's, the side to move, castling rights by the rook's file, and en passant where a capture is
    /// possible. Neither the counters nor the rules. Mirror images differ, since repetition compares squares.
    fn canonical_key(&self) -> u64 {
        let squares = |piece| self.board.pieces(piece).0;
        let file = |file: Option<File>| file.map_or(0, |file| file as u64 + 1);
        let rights = [Color::White, Color::Black].map(|color| {
            let rights = self.board.castle_rights(color);
            file(rights.short) << 4 | file(rights.long)
        });
        let turn = self.to_move().index() as u64;
        mix_key([
            squares(Piece::Pawn),
            squares(Piece::Knight),
            squares(Piece::Bishop),
            squares(Piece::Rook),
            squares(Piece::Queen),
            squares(Piece::King),
            self.board.colors(Color::White).0,
            rights[0] << 16 | rights[1] << 8 | file(self.en_passant()) << 4 | turn,
        ])
    }

    /// The third repetition. No position from before the last capture or pawn move recurs.
    fn adjudicate(line: Line<'_, Self>) -> Option<Ending> {
        let since = line.before.len().min(usize::from(line.position.board.halfmove_clock()));
        if since < REPETITION_PLIES {
            return None;
        }
        let now = line.position.canonical_key();
        let earlier = line.before[line.before.len() - since..].iter();
        let times = earlier.filter(|before| before.key == now).count();
        (times >= 2).then_some(Ending { winner: None, termination: THREEFOLD_REPETITION })
    }

    fn board(&self) -> String {
        let rows = (1..=8).rev().zip(fen::rows(&self.board)).map(|(number, row)| {
            let pieces = row.map(|piece| format!(" {}", piece.unwrap_or('.'))).concat();
            format!("{number} {pieces}")
        });
        let below = ["\n   a b c d e f g h".to_owned(), self.status()];
        rows.chain(below).collect::<Vec<String>>().join("\n")
    }

    fn parse_move(&self, text: &str) -> Result<ChessMove, Problem> {
        ChessMove::parse(text)
    }
}

impl Solvable for Chess {
    type Solver = PlainSolver;
}

impl fmt::Display for Chess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fen::write(self, f)
    }
}

impl fmt::Debug for Chess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chess{}({self})", if self.is_chess960 { "960" } else { "" })
    }
}
