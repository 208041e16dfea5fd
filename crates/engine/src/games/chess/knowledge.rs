//! Knowledge of chess for searches.

use cozy_chess::{BitBoard, Color, Piece, Rank, Square};

use super::{CLOCK_MAX, Chess, ChessMove, MoveFilter, exchange};
use crate::core::knowledge::Knowledge;

/// The number of plies without a capture or a pawn move from which [`Knowledge::table_key`] includes them.
const CLOCK_KEYED_FROM: u8 = CLOCK_MAX / 2;

impl Chess {
    /// Pieces of the side to move, other than pawns and king.
    fn officers(&self) -> BitBoard {
        let board = &self.board;
        let others = board.pieces(Piece::Pawn) | board.pieces(Piece::King);
        board.colors(board.side_to_move()) & !others
    }

    /// Plies that pawns can still make, if each goes to its last rank step by step.
    fn pawn_plies(&self) -> u32 {
        let steps = |color| {
            let pawns = self.board.colored_pieces(color, Piece::Pawn);
            let plies_of =
                |pawn: Square| Rank::Eighth as u32 - pawn.rank().relative_to(color) as u32;
            pawns.into_iter().map(plies_of).sum::<u32>()
        };
        steps(Color::White) + steps(Color::Black)
    }
}

impl Knowledge for Chess {
    const MOVE_CODES: usize = ChessMove::CODES;

    const HAS_TACTICS: bool = true;

    /// None: repetition compares squares, so mirror images are not the same position.
    type Orientation = ();

    #[inline]
    fn move_code(mv: ChessMove) -> u16 {
        mv.code()
    }

    /// Positions with one key have the same pieces, side to move, rights and legal moves. The number of plies
    /// without a capture or a pawn move is included from the fiftieth on. Before, no search of up to fifty
    /// plies can distinguish such positions by the fifty-move rule, so they share entries. Repetitions are
    /// not part of a position: a value that depends on one holds for its line alone.
    #[inline]
    fn table_key(&self) -> u64 {
        let clock = match self.board.halfmove_clock() {
            CLOCK_KEYED_FROM.. => u64::from(self.board.halfmove_clock()),
            _ => 0,
        };
        self.placement_hash() ^ clock.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// As [`Knowledge::table_key`]: there are no symmetries, and counters matter.
    #[inline]
    fn reduced_key(&self) -> (u64, ()) {
        (self.table_key(), ())
    }

    /// Captures by [`Knowledge::capture_rank`], then all other moves.
    #[inline]
    fn move_kind(&self, mv: ChessMove) -> u8 {
        self.capture_rank(mv) as u8
    }

    /// Each capture and each pawn move allows a hundred more plies; their number is bounded by the
    /// pieces and the ranks before the pawns.
    fn plies_left(&self) -> u32 {
        let captures = self.board.occupied().len() - 2;
        let plies = u32::from(CLOCK_MAX);
        (captures + self.pawn_plies() + 1) * plies - self.halfmove_clock()
    }

    fn tactical_moves(&self, moves: &mut Vec<ChessMove>) {
        if !self.is_drawn_by_rule() {
            self.targets(MoveFilter::Tactical).append(moves);
        }
    }

    #[inline]
    fn is_tactical(&self, mv: ChessMove) -> bool {
        match mv.promotion() {
            Some(promotion) => promotion == Piece::Queen,
            None => self.is_capture(mv),
        }
    }

    fn exchange(&self, mv: ChessMove) -> i32 {
        if self.is_castling(mv) { 0 } else { exchange::exchange(&self.board, self.cozy_move(mv)) }
    }

    #[inline]
    fn loses_exchange(&self, mv: ChessMove) -> bool {
        !self.is_castling(mv)
            && exchange::is_risky(&self.board, self.cozy_move(mv))
            && self.exchange(mv) < 0
    }

    /// The captured value, a pawn being 1 and a queen 5, plus the gain of a promotion; ties go to the least
    /// valuable attacker. 0 without any gain.
    #[inline]
    fn capture_rank(&self, mv: ChessMove) -> u16 {
        let (from, to) = (mv.from(), mv.to());
        let taken = match self.board.piece_on(to) {
            _ if !self.is_capture(mv) => 0,
            Some(victim) => victim as u16 + 1,
            // En passant.
            None => 1,
        };
        let won = taken + mv.promotion().map_or(0, |promotion| promotion as u16);
        match self.board.piece_on(from) {
            Some(piece) if won > 0 => won << 3 | (Piece::King as u16 - piece as u16),
            Some(_) | None => 0,
        }
    }

    #[inline]
    fn is_in_check(&self) -> bool {
        self.is_check()
    }

    /// Nor if the pass would end the game by the fifty-move rule.
    fn passed(&self) -> Option<Self> {
        if self.officers().is_empty() || self.board.halfmove_clock() + 1 >= CLOCK_MAX {
            return None;
        }
        let board = self.board.null_move()?;
        Some(Self { board, is_chess960: self.is_chess960 })
    }

    fn is_irreversible(&self, mv: ChessMove) -> bool {
        let board = &self.board;
        let from = mv.from();
        if board.pieces(Piece::Pawn).has(from) || self.is_capture(mv) {
            return true;
        }
        // Castling itself is one of these.
        let rights = board.castle_rights(board.side_to_move());
        let files = [rights.short, rights.long];
        let is_home = from.rank() == Rank::First.relative_to(board.side_to_move());
        let is_king = board.pieces(Piece::King).has(from);
        files.into_iter().flatten().any(|file| is_king || (is_home && file == from.file()))
    }
}
