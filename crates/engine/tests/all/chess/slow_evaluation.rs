//! Chess's evaluations by going through the board square by square.

use super::slow_chess::{At, SlowChess};

const OFFICERS: &str = "nbrq";

/// Values in the middlegame and in the endgame.
type Phased = [i32; 2];

fn add(to: &mut Phased, value: Phased, times: i32) {
    to[0] += value[0] * times;
    to[1] += value[1] * times;
}

/// `material`, with the weights of pawn, knight, bishop, rook and queen.
pub(super) fn material(board: &SlowChess, weights: [i32; 5]) -> i32 {
    let side = |is_white| -> i32 {
        let pieces = board.pieces(is_white).into_iter();
        pieces.filter_map(|(_, piece)| weights[..].get("pnbrq".find(piece)?)).sum()
    };
    side(board.is_white) - side(!board.is_white)
}

/// `positional`, with its weights and shares in their order.
pub(super) fn positional(board: &SlowChess, weights: [i32; 10]) -> i32 {
    let [pawn, knight, bishop, rook, queen, pair, shares @ ..] = weights;
    let mut value = material(board, [pawn, knight, bishop, rook, queen]);
    let mut parts = [0, 0];
    let mut phase = 0;
    for (is_white, sign) in [(board.is_white, 1), (!board.is_white, -1)] {
        let pieces = board.pieces(is_white);
        let bishops = pieces.iter().filter(|(_, piece)| *piece == 'b').count();
        value += sign * pair * i32::from(bishops >= 2);
        for &(at, piece) in &pieces {
            add(&mut parts, on_square(piece, seen_by(is_white, at)), sign * shares[0]);
            add(&mut parts, mobility(board, is_white, at, piece), sign * shares[1]);
            if piece == 'p' {
                add(&mut parts, of_pawn(board, is_white, at), sign * shares[2]);
            }
            phase += OFFICERS.find(piece).map_or(0, |kind| [1, 1, 2, 4][kind]);
        }
        add(&mut parts, shelter(board, is_white), sign * shares[3]);
        add(&mut parts, [danger(board, is_white), 0], sign * shares[3]);
    }
    let phase = phase.min(24);
    value + (parts[0] * phase + parts[1] * (24 - phase)) / 2_400
}

/// The square as white would have it.
fn seen_by(is_white: bool, (file, rank): At) -> At {
    (file, if is_white { rank } else { 7 - rank })
}

fn on_square(piece: char, (file, rank): At) -> Phased {
    let inside = |index: i32| index.min(7 - index);
    let central = inside(file) + inside(rank);
    match piece {
        'p' => {
            let forward = [[0, 0], [0, 0], [2, 4], [6, 10], [10, 20], [20, 40], [40, 70], [0, 0]];
            let [middlegame, endgame] = forward[rank as usize];
            let central = match rank {
                1 if inside(file) == 3 => -12,
                1 => 0,
                _ => 4 * inside(file) - 4,
            };
            [middlegame + central, endgame]
        }
        'n' => [8 * central - 30, 6 * central - 24],
        'b' => [4 * central - if rank == 0 { 18 } else { 10 }, 3 * central - 9],
        'r' if rank == 6 => [4 * inside(file) + 12, 12],
        'r' => [4 * inside(file) - 6, 0],
        'q' => [2 * central - 6, 5 * central - 16],
        _ => [8 * (3 - inside(file)) - 16 * rank.min(4) - 12, 9 * central - 27],
    }
}

fn mobility(board: &SlowChess, is_white: bool, at: At, piece: char) -> Phased {
    let Some(kind) = OFFICERS.find(piece) else { return [0, 0] };
    let enemy_pawns: Vec<At> = board
        .pieces(!is_white)
        .into_iter()
        .filter(|(_, piece)| *piece == 'p')
        .map(|piece| piece.0)
        .collect();
    let own: Vec<At> = board.pieces(is_white).into_iter().map(|piece| piece.0).collect();
    let is_free = |to: &At| {
        !own.contains(to) && enemy_pawns.iter().all(|&pawn| !board.attacked_by(pawn).contains(to))
    };
    let free = board.attacked_by(at).iter().filter(|to| is_free(to)).count() as i32;
    let more = free - [4, 6, 7, 13][kind];
    let [middlegame, endgame] = [[4, 4], [4, 4], [2, 4], [1, 2]][kind];
    [more * middlegame, more * endgame]
}

fn of_pawn(board: &SlowChess, is_white: bool, at: At) -> Phased {
    let up = if is_white { 1 } else { -1 };
    let pawns = |of_white: bool| -> Vec<At> {
        board
            .pieces(of_white)
            .into_iter()
            .filter(|piece| piece.1 == 'p')
            .map(|piece| piece.0)
            .collect()
    };
    let (own, enemy) = (pawns(is_white), pawns(!is_white));
    let is_before = |other: &At| (other.1 - at.1) * up > 0;
    let mut value = [0, 0];
    if own.iter().any(|&pawn| board.attacked_by(pawn).contains(&at)) {
        add(&mut value, [6, 5], 1);
    }
    if !own.iter().any(|pawn| (pawn.0 - at.0).abs() == 1) {
        add(&mut value, [-10, -12], 1);
    }
    if own.iter().any(|pawn| pawn.0 == at.0 && is_before(pawn)) {
        add(&mut value, [-8, -14], 1);
    } else if !enemy.iter().any(|pawn| (pawn.0 - at.0).abs() <= 1 && is_before(pawn)) {
        let passed = [[0, 0], [4, 8], [6, 14], [12, 26], [24, 48], [44, 80], [70, 120]];
        add(&mut value, passed[seen_by(is_white, at).1 as usize], 1);
    }
    value
}

fn king(board: &SlowChess, is_white: bool) -> At {
    board.pieces(is_white).into_iter().find(|(_, piece)| *piece == 'k').unwrap().0
}

fn shelter(board: &SlowChess, is_white: bool) -> Phased {
    let king = king(board, is_white);
    let up = if is_white { 1 } else { -1 };
    let pawn = if is_white { 'P' } else { 'p' };
    let row = |distance: i32| {
        (-1..=1).filter(|right| board.at((king.0 + right, king.1 + up * distance)) == pawn).count()
    };
    [10 * row(1) as i32 + 5 * row(2) as i32, 0]
}

/// What the attack of a side on the other's king is worth.
fn danger(board: &SlowChess, is_white: bool) -> i32 {
    let king = king(board, !is_white);
    let (mut danger, mut attackers) = (0, 0);
    for (at, piece) in board.pieces(is_white) {
        let Some(kind) = OFFICERS.find(piece) else { continue };
        let is_beside = |to: &&At| (to.0 - king.0).abs() <= 1 && (to.1 - king.1).abs() <= 1;
        let beside = board.attacked_by(at).iter().filter(is_beside).count() as i32;
        danger += [2, 2, 3, 5][kind] * beside;
        attackers += i32::from(beside > 0);
    }
    if attackers >= 2 { (danger * danger / 8).min(300) } else { 0 }
}
