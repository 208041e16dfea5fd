//! A second computation of the values: forward from all positions, without symmetry, round after round.

use cozy_chess::{Board, BoardBuilder, Color, Piece, Square, get_king_moves};
use spelrum_engine::Side;
use spelrum_engine::tables::TableValue;

use super::table;

/// Bare kings, a draw.
const BARE: u32 = u32::MAX;

/// The legal position with the white king, the black king and a white piece on these squares.
fn board(turn: Color, piece: Piece, squares: [Square; 3]) -> Option<Board> {
    let mut builder = BoardBuilder::empty();
    builder.side_to_move = turn;
    let men = [(Piece::King, Color::White), (Piece::King, Color::Black), (piece, Color::White)];
    for (man, square) in men.into_iter().zip(squares) {
        if builder.square_mut(square).replace(man).is_some() {
            return None;
        }
    }
    let do_kings_touch = get_king_moves(squares[0]).has(squares[1]);
    if do_kings_touch { None } else { builder.build().ok() }
}

/// The places of positions with one of the pieces.
const PLACES: usize = 2 * 64 * 64 * 64;

fn place(number: usize, turn: Color, squares: [Square; 3]) -> usize {
    let first = 2 * number + turn as usize;
    squares.into_iter().fold(first, |place, square| place * 64 + square as usize)
}

/// Where the white piece is one of these.
fn place_of(board: &Board, pieces: &[Piece]) -> u32 {
    let white = board.colors(Color::White) & !board.pieces(Piece::King);
    let Some(other) = white.next_square() else { return BARE };
    let is_it = |piece: &Piece| board.pieces(*piece).has(other);
    let number = pieces.iter().position(is_it).expect("one of the pieces");
    let kings = [board.king(Color::White), board.king(Color::Black)];
    place(number, board.side_to_move(), [kings[0], kings[1], other]) as u32
}

/// The value of every place, `None` of those without a legal position. A pawn comes with all that it can become.
fn values(pieces: &[Piece]) -> Vec<Option<TableValue>> {
    let places = PLACES * pieces.len();
    let mut values = vec![None; places];
    let mut successors: Vec<Vec<u32>> = vec![Vec::new(); places];
    let numbers = 0..pieces.len();
    for at in 0..places {
        let [turn, squares @ ..] = [at >> 18, at >> 12, at >> 6, at].map(|part| part & 63);
        let squares = squares.map(Square::index);
        let (number, turn) = (turn / 2, Color::ALL[turn % 2]);
        assert!(numbers.contains(&number) && place(number, turn, squares) == at);
        let Some(board) = board(turn, pieces[number], squares) else { continue };
        board.generate_moves(|moves| {
            for mv in moves {
                let mut child = board.clone();
                child.play_unchecked(mv);
                successors[at].push(place_of(&child, pieces));
            }
            false
        });
        let is_mate = successors[at].is_empty() && !board.checkers().is_empty();
        values[at] = Some(if is_mate { TableValue::Loss { plies: 0 } } else { TableValue::Draw });
    }
    // What is not decided in n plies is a draw so far.
    for plies in 1.. {
        let decided_before = |place: u32| match values.get(place as usize) {
            Some(Some(value)) => *value,
            _ => TableValue::Draw,
        };
        let newly: Vec<(usize, TableValue)> = (0..places)
            .filter(|at| values[*at] == Some(TableValue::Draw) && !successors[*at].is_empty())
            .filter_map(|at| {
                let next: Vec<_> =
                    successors[at].iter().map(|place| decided_before(*place)).collect();
                if next.iter().any(|value| value.value() == -1) {
                    Some((at, TableValue::Win { plies }))
                } else if next.iter().all(|value| value.value() == 1) {
                    Some((at, TableValue::Loss { plies }))
                } else {
                    None
                }
            })
            .collect();
        if newly.is_empty() {
            break;
        }
        for (at, value) in newly {
            values[at] = Some(value);
        }
    }
    values
}

fn check(name: &str, pieces: &[Piece]) {
    let table = table(name);
    for (at, value) in values(pieces).into_iter().take(PLACES).enumerate() {
        let squares = [at >> 12, at >> 6, at].map(|square| (square & 63) as u8);
        let side = if at >> 18 == 0 { Side::First } else { Side::Second };
        assert_eq!(table.value_at(side, &squares), value, "{name} {side:?} {squares:?}");
    }
}

#[test]
fn the_values_of_all_positions_forward_are_those_of_the_table() {
    check("KRK", &[Piece::Rook]);
    check("KQK", &[Piece::Queen]);
}

#[test]
fn the_values_of_a_pawn_forward_are_those_of_the_table() {
    check("KPK", &[Piece::Pawn, Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight]);
}
