//! Tables of the whole process, and positions looked up in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use spelrum_engine::games::{Chess, ChessMove};
use spelrum_engine::tables::{
    self, Endgame, EndgameTable, Metric, TablePosition, TableSolution, TableValue,
};
use spelrum_engine::{Game, Position, Random, Rules};

use super::{chess, table};
use crate::common::key;

/// How often the table was made that no other test asks for.
static MADE: AtomicU32 = AtomicU32::new(0);

fn counted(endgame: &Endgame, metric: Metric) -> EndgameTable {
    if endgame.name() == "KKN" {
        MADE.fetch_add(1, Ordering::SeqCst);
    }
    EndgameTable::make_by(endgame, metric, |_| {})
}

#[test]
fn a_table_is_made_once_a_process_by_the_source_that_was_installed() {
    tables::install_source(counted);
    assert!(!tables::install_source(|endgame, metric| EndgameTable::make_by(
        endgame,
        metric,
        |_| {}
    )));
    let endgame: Endgame = "KKN".parse().unwrap();
    let asked: Vec<Arc<EndgameTable>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| tables::shared(&endgame))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(MADE.load(Ordering::SeqCst), 1);
    assert!(asked.iter().all(|table| Arc::ptr_eq(table, &asked[0])));
    assert_eq!(*asked[0], table("KKN"));
}

fn name(fen: &str) -> Option<String> {
    Endgame::from_position(&chess(fen)).map(|endgame| endgame.name().to_owned())
}

#[test]
fn a_position_s_pieces_name_its_endgame() {
    for (fen, expected) in [
        ("8/8/8/8/8/2k5/8/K7 w - - 0 1", Some("KK")),
        ("8/8/8/8/8/2k5/1R6/K7 w - - 0 1", Some("KRK")),
        // Colours changed.
        ("8/8/8/8/8/2K5/1r6/k7 w - - 0 1", Some("KRK")),
        ("8/8/8/8/8/2k5/1RN5/K7 b - - 0 1", Some("KRNK")),
        ("8/8/8/8/8/2K5/1rn5/k7 b - - 0 1", Some("KRNK")),
        ("8/8/8/n7/8/2k5/1R6/K7 w - - 0 1", Some("KRKN")),
        ("8/8/8/N7/8/2K5/1r6/k7 w - - 0 1", Some("KRKN")),
        ("8/8/8/b7/8/2K5/1N6/k7 w - - 0 1", Some("KBKN")),
        ("8/8/8/q7/8/2K5/7Q/k7 w - - 0 1", Some("KQKQ")),
        ("8/8/8/nn6/8/2K5/8/k7 w - - 0 1", Some("KNNK")),
        ("8/8/8/8/8/2k5/1P6/K7 b - - 0 1", Some("KPK")),
        ("8/1p6/8/8/8/2K5/8/k7 w - - 0 1", Some("KPK")),
        ("8/8/8/8/8/2k5/1PPP4/K7 b - - 0 1", None),
        ("8/8/8/nn6/8/2K4N/8/k7 w - - 0 1", None),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", None),
        ("4k2r/8/8/8/8/8/8/4K3 w k - 0 1", None),
        ("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", Some("KRK")),
    ] {
        assert_eq!(name(fen).as_deref(), expected, "{fen}");
        assert_eq!(tables::value(&chess(fen)).is_some(), expected.is_some(), "{fen}");
        assert_eq!(tables::solve(&chess(fen)).is_some(), expected.is_some(), "{fen}");
        assert_eq!(tables::move_values(&chess(fen)).is_some(), expected.is_some(), "{fen}");
    }
    assert_eq!(Endgame::from_position(&Chess::initial()), None);
}

/// The slow twin: of each move, what a table made for this test alone says of where it leads.
fn solved_slowly(position: &Chess, tables: &[EndgameTable]) -> TableSolution {
    let value_of =
        |position: &Chess| tables.iter().find_map(|table| table.value(position)).unwrap();
    let mut moves: Vec<ChessMove> = Vec::new();
    position.legal_moves(&mut moves);
    let children: Vec<(ChessMove, TableValue)> = moves
        .into_iter()
        .map(|mv| {
            let mut child = position.clone();
            child.play_unchecked(mv);
            (mv, value_of(&child))
        })
        .collect();
    let wins = children.iter().filter_map(|&(_, value)| match value {
        TableValue::Loss { plies } => Some(plies),
        TableValue::Win { .. } | TableValue::Draw => None,
    });
    let losses = children.iter().filter_map(|&(_, value)| match value {
        TableValue::Win { plies } => Some(plies),
        TableValue::Loss { .. } | TableValue::Draw => None,
    });
    let has_draw = children.iter().any(|&(_, value)| value == TableValue::Draw);
    let wanted = match (wins.min(), has_draw, losses.max()) {
        (Some(plies), _, _) => TableValue::Loss { plies },
        (None, true, _) => TableValue::Draw,
        (None, false, Some(plies)) => TableValue::Win { plies },
        (None, false, None) => {
            return TableSolution { value: value_of(position), best_moves: Vec::new() };
        }
    };
    let best = children.iter().filter(|(_, value)| *value == wanted).map(|(mv, _)| *mv).collect();
    TableSolution { value: value_of(position), best_moves: best }
}

fn check_solutions(name: &str, captures: &[&str], one_in: usize) -> [u32; 3] {
    let tables: Vec<EndgameTable> = [name].iter().chain(captures).map(|name| table(name)).collect();
    let mut found = [0; 3];
    let mut random = Random::from_key(key(one_in as u64));
    for position in tables[0].positions().step_by(one_in) {
        let fen = tables[0].turned_fen(&position, random.below(8) as u8);
        let position = chess(&fen);
        let solution = tables::solve(&position).unwrap();
        assert_eq!(solution, solved_slowly(&position, &tables), "{fen}");
        let values = tables::move_values(&position).unwrap();
        assert_eq!(
            values.iter().map(|move_value| move_value.1.on_scale()).max().unwrap_or(0),
            match values[..] {
                [] => 0,
                [..] => solution.value.on_scale(),
            }
        );
        found[(solution.value.value() + 1) as usize] += 1;
    }
    found
}

/// Invariant: the best moves are those that a look at every child finds, also after captures.
#[test]
fn best_moves_are_those_that_a_look_at_all_children_finds() {
    check_solutions("KRK", &["KK"], 7);
    let found = check_solutions("KQKR", &["KQK", "KKR", "KK"], 997);
    assert!(found.iter().all(|&count| count > 50), "{found:?}");
    check_solutions("KNNK", &["KNK", "KK"], 997);
}

#[test]
fn a_game_that_is_over_has_no_moves() {
    for (fen, value) in [
        // Mated, stalemated, dead.
        ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", TableValue::Loss { plies: 0 }),
        ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", TableValue::Draw),
        ("8/8/8/8/8/2k5/1N6/K7 w - - 0 1", TableValue::Draw),
    ] {
        let solution = tables::solve(&chess(fen)).unwrap();
        assert_eq!(solution, TableSolution { value, best_moves: Vec::new() }, "{fen}");
    }
}

/// A table does not know of the fifty moves: a position is solved by it only where every mate comes in time, the
/// last of which is with the hundredth ply.
#[test]
fn fifty_moves_may_come_before_mate() {
    for (fen, is_solved) in [
        ("8/8/8/8/8/2k5/1R6/K7 w - - 0 80", true),
        ("8/8/8/8/8/2k5/1R6/K7 w - - 67 80", true),
        // One move wins in 31 plies, another in 33.
        ("8/8/8/8/8/2k5/1R6/K7 w - - 68 80", false),
        ("8/8/8/8/8/2k5/1R6/K7 w - - 100 80", false),
        // Drawn whatever anybody does.
        ("7k/8/8/8/8/8/1N6/K7 w - - 99 80", true),
        ("7k/8/6K1/8/8/8/8/R7 w - - 99 80", false),
    ] {
        assert_eq!(tables::solve(&chess(fen)).is_some(), is_solved, "{fen}");
    }
}

#[test]
fn the_scale_puts_values_in_their_order() {
    let win = |plies| TableValue::Win { plies };
    let loss = |plies| TableValue::Loss { plies };
    let ascending = [loss(0), loss(2), loss(80), TableValue::Draw, win(79), win(3), win(1)];
    assert!(ascending.map(TableValue::on_scale).is_sorted_by(|lesser, greater| lesser < greater));
    assert_eq!(win(5).on_scale(), TableValue::SCALE - 5);
    for value in ascending {
        assert_eq!(value.for_mover().value(), -value.value());
    }
    assert_eq!(loss(0).for_mover(), win(1));
    assert_eq!(win(7).for_mover(), loss(8));
}

/// Which places of a table are the same position, by the keys of all eight images with either order of like
/// pieces: which does not know how tables are numbered.
fn least_key(table: &EndgameTable, position: &TablePosition, rules: &Rules) -> u64 {
    let key = |symmetry| {
        let fen = table.turned_fen(position, symmetry);
        Chess::parse(rules, &fen).unwrap_or_else(|error| panic!("{fen}: {error}")).canonical_key()
    };
    (0..8).map(key).min().unwrap()
}

#[test]
fn places_of_one_position_have_one_first_place() {
    let rules = Chess::rules();
    for (name, places) in [("KRK", 0..usize::MAX), ("KNNK", 0..60_000), ("KBNK", 100_000..120_000)]
    {
        let table = table(name);
        let mut first = std::collections::BTreeMap::new();
        let mut again = 0;
        for place in places.start..places.end.min(table.len()) {
            let Some(position) = table.position(place) else { continue };
            let key = least_key(&table, &position, &rules);
            let expected = *first.entry(key).or_insert(place);
            again += u32::from(expected != place);
            let found = table.first_place(place);
            assert!(found == expected || found < places.start, "{name} {place}");
        }
        assert!(again > 100 || name == "KBNK", "{name}: {again}");
    }
}

#[test]
fn images_are_the_eight_of_the_square() {
    let table = table("KRK");
    for position in table.positions().step_by(1_001) {
        assert_eq!(table.turned_fen(&position, 0), table.fen(&position));
        let [white, black, rook] = [0, 1, 2].map(|man| position.squares().nth(man).unwrap());
        for symmetry in 0..8_u8 {
            let image = |square: u8| {
                let (mut file, mut rank) = (square % 8, square / 8);
                if symmetry & 1 != 0 {
                    file = 7 - file;
                }
                if symmetry & 2 != 0 {
                    rank = 7 - rank;
                }
                if symmetry & 4 != 0 { file * 8 + rank } else { rank * 8 + file }
            };
            let turned = chess(&table.turned_fen(&position, symmetry));
            let squares = [white, black, rook].map(image);
            assert_eq!(table.value_at(position.to_move(), &squares), Some(position.value));
            assert_eq!(table.value(&turned), Some(position.value));
            let board = turned.to_string();
            assert_eq!(squares, squares_of(&board), "{board}");
            assert_eq!(board, table.turned_fen(&position, symmetry), "as chess writes it");
        }
    }
}

/// The squares of K, k and R in a FEN.
fn squares_of(fen: &str) -> [u8; 3] {
    let mut squares = [64; 3];
    for (row, rank) in fen.split(' ').next().unwrap().split('/').zip((0..8).rev()) {
        let mut file = 0;
        for letter in row.chars() {
            if let Some(man) =
                ["K", "k", "R"].iter().position(|man_letter| man_letter.starts_with(letter))
            {
                squares[man] = rank * 8 + file;
            }
            file += letter.to_digit(10).map_or(1, |empty| empty as u8);
        }
    }
    squares
}
