//! Static exchange evaluation: the net result of the captures on one square.
//!
//! Both sides capture with the least valuable piece available, ties in the order of squares (a1, b1, … h8),
//! and stop as soon as it does not pay (the swap algorithm: Slate & Atkin 1977, "Chess 4.5", in Frey, "Chess
//! Skill in Man and Machine"). Pieces behind a capturing piece join in. A king captures only unprotected
//! pieces. Pins, checks and promotions by a capture within the exchange are ignored.

use cozy_chess::{
    BitBoard, Board, Move, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

/// The value of a piece, in points of 100 a pawn. A king is never captured.
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

/// The most captures on one square.
const CAPTURES_MAX: usize = 32;

/// Whether a legal move other than castling risks more than it captures: if not, no exchange on its target
/// loses material.
#[inline]
pub(super) fn is_risky(board: &Board, mv: Move) -> bool {
    let taken = board.piece_on(mv.to).map_or(0, worth);
    let risked = match mv.promotion {
        Some(_) => worth(Piece::Pawn),
        None => board.piece_on(mv.from).map_or(0, worth),
    };
    taken < risked
}

/// The mover's gain from a legal move other than castling by the exchange on its target.
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
        // If it ends here: the captured value minus the other side's gain so far.
        won[captures] = on_target - won[captures - 1];
        on_target = worth(piece);
        occupied ^= from.bitboard();
    }
    // From the last capture back: each side may decline to capture.
    for capture in (1..=captures).rev() {
        won[capture - 1] = won[capture - 1].min(-won[capture]);
    }
    won[0]
}

/// The pieces of both sides that attack a square, given these occupied squares.
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
    let square_of =
        |piece| (among & board.pieces(piece)).next_square().map(|square| (piece, square));
    Piece::ALL.into_iter().find_map(square_of)
}
