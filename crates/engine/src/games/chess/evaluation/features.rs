//! Features of chess for formulas.

use cozy_chess::{
    Board, Color, Piece, get_bishop_moves, get_king_moves, get_knight_moves, get_rook_moves,
};

use super::material::WEIGHED;
use crate::core::expression::FeatureInfo;
use crate::core::position::Side;
use crate::evaluation::Features;
use crate::games::chess::Chess;

impl Features for Chess {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_pawns", "pawns"),
        FeatureInfo::symmetric("opp_pawns", "the opponent's pawns"),
        FeatureInfo::symmetric("own_knights", "knights"),
        FeatureInfo::symmetric("opp_knights", "the opponent's knights"),
        FeatureInfo::symmetric("own_bishops", "bishops"),
        FeatureInfo::symmetric("opp_bishops", "the opponent's bishops"),
        FeatureInfo::symmetric("own_rooks", "rooks"),
        FeatureInfo::symmetric("opp_rooks", "the opponent's rooks"),
        FeatureInfo::symmetric("own_queens", "queens"),
        FeatureInfo::symmetric("opp_queens", "the opponent's queens"),
        FeatureInfo::symmetric(
            "own_mobility",
            "for each knight, bishop, rook and queen, the squares it attacks that no own piece is on",
        ),
        FeatureInfo::symmetric("opp_mobility", "the same for the opponent"),
        FeatureInfo::symmetric("own_advance", "ranks that the pawns have advanced, added up"),
        FeatureInfo::symmetric("opp_advance", "the same for the opponent's pawns"),
        FeatureInfo::symmetric("own_shelter", "own pieces on the squares beside the king"),
        FeatureInfo::symmetric("opp_shelter", "the opponent's pieces beside the opponent's king"),
    ];

    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let board = self.cozy();
        let color = match side {
            Side::First => Color::White,
            Side::Second => Color::Black,
        };
        for (&feature, value) in wanted.iter().zip(values) {
            // They come in pairs: own, and the opponent's.
            let (kind, is_other) = (usize::from(feature / 2), feature % 2 == 1);
            let color = if is_other { !color } else { color };
            *value = f64::from(match kind {
                5 => mobility(board, color),
                6 => advance(board, color),
                7 => (get_king_moves(board.king(color)) & board.colors(color)).len(),
                _ => board.colored_pieces(color, WEIGHED[kind]).len(),
            });
        }
    }
}

fn mobility(board: &Board, color: Color) -> u32 {
    let (own, occupied) = (board.colors(color), board.occupied());
    let officers = own & !board.pieces(Piece::Pawn) & !board.pieces(Piece::King);
    let of_officer = |square| {
        let straight = || get_rook_moves(square, occupied);
        let diagonal = || get_bishop_moves(square, occupied);
        let attacked = match board.piece_on(square) {
            Some(Piece::Knight) => get_knight_moves(square),
            Some(Piece::Bishop) => diagonal(),
            Some(Piece::Rook) => straight(),
            Some(Piece::Queen | Piece::Pawn | Piece::King) | None => straight() | diagonal(),
        };
        (attacked & !own).len()
    };
    officers.into_iter().map(of_officer).sum()
}

fn advance(board: &Board, color: Color) -> u32 {
    let pawns = board.colored_pieces(color, Piece::Pawn);
    pawns.into_iter().map(|pawn| pawn.rank().relative_to(color) as u32 - 1).sum()
}
