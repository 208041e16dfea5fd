//! Chess's evaluation `positional`.
//!
//! Except for the pieces themselves, each term has one value for the middlegame and one for the endgame,
//! interpolated by the remaining pieces ("tapered evaluation", as in Fruit, Letouzey 2005). The numbers are
//! this project's own, chosen by rules of thumb and not tuned.

use cozy_chess::{
    BitBoard, Board, Color, File, Piece, Rank, Square, get_bishop_moves, get_king_moves,
    get_knight_moves, get_rook_moves,
};

use super::material::{USUAL, difference};
use super::phased::Phased;
use super::tables::TABLES;
use crate::core::parameters::{EvaluationInfo, ParameterInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, weight, weights};
use crate::games::chess::Chess;

/// For each square above (or below) this number that a piece attacks: squares without its own pieces and
/// without attacks by enemy pawns.
const MOBILITY: [(i32, Phased); 4] = [
    (4, Phased::new(4, 4)),
    (6, Phased::new(4, 4)),
    (7, Phased::new(2, 4)),
    (13, Phased::new(1, 2)),
];

/// The kinds of pieces in [`MOBILITY`], [`PHASES`] and [`ATTACKS`].
const OFFICERS: [Piece; 4] = [Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];

/// A piece's weight in the game phase.
const PHASES: [i32; 4] = [1, 1, 2, 4];

/// The sum of [`PHASES`] over the pieces of the start position.
const MIDDLEGAME: i32 = 24;

/// The danger of a piece's attack on a square beside the king, or the king's own.
const ATTACKS: [i32; 4] = [2, 2, 3, 5];

/// The squared danger from two or more pieces, divided by this, is its value…
const DANGER_DIVISOR: i32 = 8;
/// … up to this.
const DANGER_MAX: i32 = 300;

/// A pawn on the king's file or beside it, one and two ranks ahead of the king.
const SHELTER: [Phased; 2] = [Phased::new(10, 0), Phased::new(5, 0)];

/// A pawn behind another one of its side.
const DOUBLED: Phased = Phased::new(-8, -14);
/// A pawn without one of its side on the adjacent files.
const ISOLATED: Phased = Phased::new(-10, -12);
/// A pawn protected by another one.
const PROTECTED: Phased = Phased::new(6, 5);
/// A passed pawn, with no pawn ahead of it and no enemy pawn that can capture it on its way, by its rank.
const PASSED: [Phased; 8] = [
    Phased::ZERO,
    Phased::new(4, 8),
    Phased::new(6, 14),
    Phased::new(12, 26),
    Phased::new(24, 48),
    Phased::new(44, 80),
    Phased::new(70, 120),
    Phased::ZERO,
];

/// The share of a term, in hundredths.
const fn share(name: &'static str, meaning: &'static str) -> ParameterInfo {
    ParameterInfo::integer(name, -SHARE_MAX..=SHARE_MAX, PERCENT as i64, meaning)
}

const SHARE_MAX: i64 = 1_000;
const PERCENT: i32 = 100;

/// `positional`: the pieces, their squares, their mobility, pawn structure, and king safety.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChessPositional {
    /// Of pawn, knight, bishop, rook and queen.
    material: [i32; 5],
    bishop_pair: i32,
    /// In hundredths: tables of squares, mobility, pawns, kings.
    shares: [i32; 4],
}

impl Default for ChessPositional {
    fn default() -> Self {
        Self { material: USUAL, bishop_pair: 30, shares: [PERCENT; 4] }
    }
}

impl GameEvaluation<Chess> for ChessPositional {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "positional",
        meaning: "The pieces, their squares and mobility, pawn structure and the kings' safety.",
        parameters: &[
            weight("weight_pawn", USUAL[0], "value of a pawn"),
            weight("weight_knight", USUAL[1], "value of a knight"),
            weight("weight_bishop", USUAL[2], "value of a bishop"),
            weight("weight_rook", USUAL[3], "value of a rook"),
            weight("weight_queen", USUAL[4], "value of a queen"),
            weight("weight_bishop_pair", 30, "value of two bishops or more"),
            share("percent_squares", "how much of the tables of squares counts, in hundredths"),
            share("percent_mobility", "how much of mobility counts, in hundredths"),
            share("percent_pawns", "how much of the pawn structure counts, in hundredths"),
            share("percent_kings", "how much of the kings' safety counts, in hundredths"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        let [pawn, knight, bishop, rook, queen, bishop_pair, shares @ ..] =
            weights::<10>(settings, &Self::INFO);
        Ok(Self { material: [pawn, knight, bishop, rook, queen], bishop_pair, shares })
    }
}

impl Evaluate<Chess> for ChessPositional {
    fn evaluate(&self, position: &Chess) -> i32 {
        let board = position.cozy();
        let side = board.side_to_move();
        let [own, other] = [side, !side].map(|color| Parts::new(board, color));
        let pairs = i32::from(own.has_bishop_pair) - i32::from(other.has_bishop_pair);
        let phased = (own.squares - other.squares) * self.shares[0]
            + (own.mobility - other.mobility) * self.shares[1]
            + (own.pawns - other.pawns) * self.shares[2]
            + (own.king - other.king) * self.shares[3];
        let phase = (own.phase + other.phase).min(MIDDLEGAME);
        let tapered = phased.middlegame * phase + phased.endgame * (MIDDLEGAME - phase);
        difference(position, self.material)
            + pairs * self.bishop_pair
            + tapered / (MIDDLEGAME * PERCENT)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// The terms of one side.
struct Parts {
    squares: Phased,
    mobility: Phased,
    pawns: Phased,
    /// The shelter of its own king, and the danger to the other.
    king: Phased,
    phase: i32,
    has_bishop_pair: bool,
}

impl Parts {
    #[inline]
    fn new(board: &Board, color: Color) -> Self {
        let own = board.colors(color);
        let pawns = own & board.pieces(Piece::Pawn);
        let king = board.king(color);
        let mut parts = Self {
            squares: on_square(Piece::King, king, color),
            mobility: Phased::ZERO,
            pawns: Phased::ZERO,
            king: shelter(king, pawns, color),
            phase: 0,
            has_bishop_pair: (own & board.pieces(Piece::Bishop)).len() >= 2,
        };
        parts.add_officers(board, color);
        parts.add_pawns(board, color, pawns);
        parts
    }

    #[inline]
    fn add_officers(&mut self, board: &Board, color: Color) {
        let own = board.colors(color);
        let occupied = board.occupied();
        let enemy_pawns = board.colored_pieces(!color, Piece::Pawn);
        let free = !own & !attacked_by_pawns(enemy_pawns, !color);
        let enemy_king = board.king(!color);
        let zone = get_king_moves(enemy_king) | enemy_king.bitboard();
        let (mut danger, mut attackers) = (0, 0);
        for (kind, piece) in OFFICERS.into_iter().enumerate() {
            let (usual, worth) = MOBILITY[kind];
            for square in own & board.pieces(piece) {
                let attacked = match piece {
                    Piece::Knight => get_knight_moves(square),
                    Piece::Bishop => get_bishop_moves(square, occupied),
                    Piece::Rook => get_rook_moves(square, occupied),
                    Piece::Pawn | Piece::Queen | Piece::King => {
                        get_bishop_moves(square, occupied) | get_rook_moves(square, occupied)
                    }
                };
                self.squares += on_square(piece, square, color);
                self.mobility += worth * ((attacked & free).len() as i32 - usual);
                self.phase += PHASES[kind];
                let beside_king = (attacked & zone).len() as i32;
                danger += ATTACKS[kind] * beside_king;
                attackers += i32::from(beside_king > 0);
            }
        }
        if attackers >= 2 {
            let danger = (danger * danger / DANGER_DIVISOR).min(DANGER_MAX);
            self.king += Phased::new(danger, 0);
        }
    }

    #[inline]
    fn add_pawns(&mut self, board: &Board, color: Color, pawns: BitBoard) {
        let enemy_pawns = board.colored_pieces(!color, Piece::Pawn);
        let protected = attacked_by_pawns(pawns, color);
        self.pawns += PROTECTED * (pawns & protected).len() as i32;
        for pawn in pawns {
            self.squares += on_square(Piece::Pawn, pawn, color);
            let (file, beside) = (pawn.file().bitboard(), pawn.file().adjacent());
            let before = before(pawn, color);
            if (pawns & beside).is_empty() {
                self.pawns += ISOLATED;
            }
            if !(pawns & file & before).is_empty() {
                self.pawns += DOUBLED;
            } else if (enemy_pawns & (file | beside) & before).is_empty() {
                self.pawns += PASSED[pawn.rank().relative_to(color) as usize];
            }
        }
    }
}

#[inline]
fn on_square(piece: Piece, square: Square, color: Color) -> Phased {
    TABLES[piece as usize][square.relative_to(color) as usize]
}

/// The ranks ahead of a square.
#[inline]
fn before(square: Square, color: Color) -> BitBoard {
    const BEFORE: [[BitBoard; Rank::NUM]; Color::NUM] = {
        let mut before = [[BitBoard::EMPTY; Rank::NUM]; Color::NUM];
        let mut rank = 0;
        while rank < Rank::NUM {
            let below = (1 << (8 * rank)) - 1;
            before[Color::Black as usize][rank] = BitBoard(below);
            before[Color::White as usize][rank] = BitBoard(!below & !(0xff << (8 * rank)));
            rank += 1;
        }
        before
    };
    BEFORE[color as usize][square.rank() as usize]
}

#[inline]
fn attacked_by_pawns(pawns: BitBoard, color: Color) -> BitBoard {
    let to_left = pawns.0 & !File::A.bitboard().0;
    let to_right = pawns.0 & !File::H.bitboard().0;
    BitBoard(match color {
        Color::White => to_left << 7 | to_right << 9,
        Color::Black => to_left >> 9 | to_right >> 7,
    })
}

#[inline]
fn shelter(king: Square, pawns: BitBoard, color: Color) -> Phased {
    let files = pawns & (king.file().bitboard() | king.file().adjacent());
    let rank = king.rank().relative_to(color) as usize;
    let at = |distance: usize| {
        let rank = Rank::try_index(rank + distance).map(|rank| rank.relative_to(color));
        rank.map_or(0, |rank| (files & rank.bitboard()).len() as i32)
    };
    SHELTER[0] * at(1) + SHELTER[1] * at(2)
}
