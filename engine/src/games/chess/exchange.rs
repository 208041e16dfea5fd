//! Static exchange evaluation: what the captures on one square come to.
//!
//! Both sides capture there with the least valuable piece that can, of several of a kind the first in
//! the order of squares (a1, b1, … h8), and stop as soon as it does not pay (the swap algorithm: Slate
//! & Atkin 1977, "Chess 4.5", in Frey, "Chess Skill in Man and Machine"). What stands behind a piece
//! that has captured joins in. A king captures only what is not protected. Pins, checks and promotions
//! by a capture of the exchange itself are not looked at.

use cozy_chess::{
    BitBoard, Board, Move, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

/// What a piece is worth, in points of 100 a pawn. Nobody takes a king.
pub(super) const fn worth(piece: Piece) -> i32 {
    match piece {
        Piece::Pawn => 100,
        Piece::Knight => 320,
        Piece::Bishop => 330,
        Piece::Rook => 500,
        Piece::Queen => 900,
        Piece::King => 0,
    }
}

/// Captures on one square: no more pieces than these can take part.
const CAPTURES_MAX: usize = 32;

/// What a legal move that is not castling gains its mover by the exchange on its target.
pub(super) fn exchange(board: &Board, mv: Move) -> i32 {
    let Some(moved) = board.piece_on(mv.from) else { return 0 };
    let mut side = board.side_to_move();
    let mut occupied = board.occupied() ^ mv.from.bitboard();
    let mut won = [0; CAPTURES_MAX + 1];
    let mut on_target = worth(moved);
    if let Some(victim) = board.piece_on(mv.to) {
        won[0] = worth(victim);
    } else if moved == Piece::Pawn && mv.from.file() != mv.to.file() {
        won[0] = worth(Piece::Pawn);
        occupied ^= Square::new(mv.to.file(), mv.from.rank()).bitboard();
    }
    if let Some(promotion) = mv.promotion {
        won[0] += worth(promotion) - worth(Piece::Pawn);
        on_target = worth(promotion);
    }
    let mut captures = 0;
    loop {
        side = !side;
        let attackers = attackers(board, mv.to, occupied);
        let own = attackers & board.colors(side);
        let Some((piece, from)) = least_valuable(board, own) else { break };
        if piece == Piece::King && !(attackers & board.colors(!side)).is_empty() {
            break;
        }
        captures += 1;
        // If it ends here: what is taken, less what the other side has won so far.
        won[captures] = on_target - won[captures - 1];
        on_target = worth(piece);
        occupied ^= from.bitboard();
    }
    // From the last capture back: whoever captures might have let it be.
    for capture in (1..=captures).rev() {
        won[capture - 1] = won[capture - 1].min(-won[capture]);
    }
    won[0]
}

/// The pieces of both sides that attack a square, where these squares are taken.
fn attackers(board: &Board, target: Square, occupied: BitBoard) -> BitBoard {
    let pieces = |piece| board.pieces(piece);
    let queens = pieces(Piece::Queen);
    let pawns = [cozy_chess::Color::White, cozy_chess::Color::Black]
        .map(|color| get_pawn_attacks(target, !color) & board.colored_pieces(color, Piece::Pawn));
    let all = pawns[0]
        | pawns[1]
        | get_knight_moves(target) & pieces(Piece::Knight)
        | get_bishop_moves(target, occupied) & (pieces(Piece::Bishop) | queens)
        | get_rook_moves(target, occupied) & (pieces(Piece::Rook) | queens)
        | get_king_moves(target) & pieces(Piece::King);
    all & occupied
}

fn least_valuable(board: &Board, among: BitBoard) -> Option<(Piece, Square)> {
    if among.is_empty() {
        return None;
    }
    let of = |piece| (among & board.pieces(piece)).next_square().map(|square| (piece, square));
    Piece::ALL.into_iter().find_map(of)
}
