//! Piece-square tables: the value of a piece's square, in the middlegame and in the endgame, in points of 100
//! a pawn.
//!
//! The numbers follow from a few rules, stated in the comments: pieces belong in the middle, the king behind
//! its pawns until few pieces are left, pawns forward and rooks on the seventh rank.

use cozy_chess::{Piece, Square};

use super::phased::Phased;

/// By kind of piece and square, from white's point of view.
pub(super) const TABLES: [[Phased; Square::NUM]; Piece::NUM] = {
    let mut tables = [[Phased::ZERO; Square::NUM]; Piece::NUM];
    let (mut piece, mut square) = (0, 0);
    while piece < Piece::NUM {
        while square < Square::NUM {
            tables[piece][square] = worth_on(Piece::index_const(piece), square);
            square += 1;
        }
        piece += 1;
        square = 0;
    }
    tables
};

/// The closeness of a file or rank to the middle: 0 at the edge, 3 in the middle.
const fn centrality(index: i32) -> i32 {
    if index < 4 { index } else { 7 - index }
}

const fn worth_on(piece: Piece, square: usize) -> Phased {
    let (file, rank) = (square as i32 % 8, square as i32 / 8);
    let central = centrality(file) + centrality(rank);
    match piece {
        Piece::Pawn => pawn(file, rank),
        Piece::Knight => Phased::new(8 * central - 30, 6 * central - 24),
        // At home a bishop has not been developed.
        Piece::Bishop if rank == 0 => Phased::new(4 * central - 18, 3 * central - 9),
        Piece::Bishop => Phased::new(4 * central - 10, 3 * central - 9),
        Piece::Rook if rank == 6 => Phased::new(4 * centrality(file) + 12, 12),
        Piece::Rook => Phased::new(4 * centrality(file) - 6, 0),
        Piece::Queen => Phased::new(2 * central - 6, 5 * central - 16),
        Piece::King => {
            let away = if rank < 4 { rank } else { 4 };
            Phased::new(8 * (3 - centrality(file)) - 16 * away - 12, 9 * central - 27)
        }
    }
}

/// The further the better, and in the middle first.
const fn pawn(file: i32, rank: i32) -> Phased {
    const ADVANCED: [Phased; 8] = [
        Phased::ZERO,
        Phased::ZERO,
        Phased::new(2, 4),
        Phased::new(6, 10),
        Phased::new(10, 20),
        Phased::new(20, 40),
        Phased::new(40, 70),
        Phased::ZERO,
    ];
    let Phased { middlegame, endgame } = ADVANCED[rank as usize];
    let central = match (rank, centrality(file)) {
        (1, 3) => -12,
        (0 | 1 | 7, _) => 0,
        (_, centrality) => 4 * (centrality - 1),
    };
    Phased::new(middlegame + central, endgame)
}
