//! The mater by rules, from every won position of king and rook against king.

use spelrum_engine::games::{Chess, ChessMove};
use spelrum_engine::tables::{self, TableValue};
use spelrum_engine::{Player, Position as _, Rules, Timeless, analyze};

use super::chess;
use crate::common::{key, player};

const MATER: &str = r#"{"algorithm": "ajedrecista"}"#;

fn chosen(rules: &Rules, position: &Chess, mater: &Player) -> ChessMove {
    let analysis = analyze(rules, &position.to_string(), mater, key(1), &Timeless).unwrap();
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    moves.into_iter().find(|mv| mv.to_string() == analysis.best_move).unwrap()
}

/// Plies to mate against the table's defence, the first of equal moves; `None` if the game ends otherwise.
fn plies_to_mate(rules: &Rules, start: &Chess, mater: &Player) -> Option<u32> {
    let mut position = start.clone();
    let mut plies = 0;
    while !position.is_over() {
        let is_ours = plies % 2 == 0;
        let mv = if is_ours {
            chosen(rules, &position, mater)
        } else {
            let mut values = tables::move_values(&position).unwrap().into_iter().rev();
            let first = values.next().unwrap();
            // The last of equals in reverse is the first.
            let better = |best: (ChessMove, TableValue), next: (ChessMove, TableValue)| {
                if next.1.on_scale() >= best.1.on_scale() { next } else { best }
            };
            values.fold(first, better).0
        };
        position.play_unchecked(mv);
        plies += 1;
    }
    let is_mate = position.is_check() && position.legal_move_count() == 0;
    is_mate.then_some(plies)
}

/// From the automaton's own beginning, its king on a8, its rook on b8 and the lone king on the first six ranks and not
/// in check: it mates from all.
#[test]
fn the_automaton_mates_from_where_it_began() {
    let rules = Chess::rules();
    let mater = player(&rules, MATER);
    let (mut games, mut longest, mut moves) = (0, 0, 0);
    for square in (0..48).filter(|square| square % 8 != 1) {
        let (file, rank) = (square % 8, square / 8);
        let row = |empty: usize| if empty == 0 { String::new() } else { empty.to_string() };
        let ranks: Vec<String> = (0..6)
            .rev()
            .map(|at| if at == rank { row(file) + "k" + &row(7 - file) } else { "8".to_owned() })
            .collect();
        let fen = format!("KR6/8/{} w - - 0 1", ranks.join("/"));
        let plies = plies_to_mate(&rules, &chess(&fen), &mater);
        let plies = plies.unwrap_or_else(|| panic!("no mate from {fen}"));
        games += 1;
        longest = longest.max(plies.div_ceil(2));
        moves += plies.div_ceil(2);
    }
    assert_eq!((games, longest, moves), (42, 27, 1_060));
}

/// What it does from all won positions with White to move, up to symmetry: how many there are, mates within fifty
/// moves, the longest in moves, and the sums of its moves and of the table's where it mates. The others end without
/// a mate.
#[test]
fn the_mater_by_rules_from_every_won_position() {
    let rules = Chess::rules();
    let (table, mater) = (tables::shared(&"KRK".parse().unwrap()), player(&rules, MATER));
    let (mut all, mut mates, mut longest, mut moves, mut fewest) = (0, 0, 0, 0, 0);
    for place in 0..table.len() {
        let Some(position) = table.position(place) else { continue };
        let TableValue::Win { plies: least } = position.value else { continue };
        if table.first_place(place) != place {
            continue;
        }
        let fen = table.fen(&position);
        all += 1;
        if let Some(plies) = plies_to_mate(&rules, &chess(&fen), &mater) {
            assert!(plies >= least, "{fen}");
            mates += 1;
            longest = longest.max(plies.div_ceil(2));
            moves += plies.div_ceil(2);
            fewest += least.div_ceil(2);
        }
    }
    assert_eq!((all, mates, longest, moves, fewest), (21_959, 21_052, 37, 424_094, 206_891));
}
