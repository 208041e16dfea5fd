//! Distances to conversion: the first capture, promotion or mate.

use spelrum_engine::games::{Chess, ChessMove};
use spelrum_engine::tables::{self, Endgame, EndgameTable, Metric, TableValue};
use spelrum_engine::{Game as _, GameSetup, Position as _, Timeless, play_game};

use super::{chess, table};
use crate::common::{key, player};

const CONVERTER: &str = r#"{"algorithm": "table", "metric": "conversion"}"#;

fn to_conversion(name: &str) -> EndgameTable {
    EndgameTable::make_by(&name.parse().unwrap(), Metric::Conversion, |_| {})
}

/// With one side's king alone and no pawn nothing is converted but by the loser, to a draw.
#[test]
fn conversion_is_mate_where_nothing_else_can_be() {
    for name in ["KRK", "KQK", "KBNK"] {
        let (mate, conversion) = (table(name), to_conversion(name));
        assert!(mate.positions().eq(conversion.positions()), "{name}");
        assert_ne!(mate.sha256(), conversion.sha256(), "its name is in its bytes");
    }
}

/// White's longest wins in moves: Ströhlein 1970, "Untersuchungen über kombinatorische Spiele", who counted to
/// conversion.
#[test]
fn the_longest_conversions_are_the_published_ones() {
    for (name, moves) in [("KQKR", 31), ("KRKN", 27), ("KRKB", 18)] {
        let counts = to_conversion(name).counts();
        assert_eq!(counts.sides[0].longest_win_plies(), Some(2 * moves - 1), "{name}");
        let mate = table(name).counts();
        let results = |counts: &tables::TableCounts| {
            counts.sides.clone().map(|side| (side.wins, side.draws, side.losses, side.mates))
        };
        assert_eq!(results(&counts), results(&mate), "{name}");
    }
}

/// By the notation of the move and the number of pieces before and after.
fn is_conversion(position: &Chess, mv: ChessMove) -> bool {
    let pieces = |position: &Chess| {
        let text = position.to_string();
        text.split(' ').next().unwrap().chars().filter(char::is_ascii_alphabetic).count()
    };
    let mut child = position.clone();
    child.play_unchecked(mv);
    mv.to_string().len() == 5 || pieces(&child) != pieces(position)
}

/// What a look at all moves says, by the rules of chess.
fn by_moves(position: &Chess) -> Option<TableValue> {
    let mut moves = Vec::new();
    position.legal_moves(&mut moves);
    let values = moves.into_iter().map(|mv| {
        let mut child = position.clone();
        child.play_unchecked(mv);
        let value = if is_conversion(position, mv) {
            match tables::value(&child).unwrap() {
                TableValue::Win { .. } => TableValue::Loss { plies: 2 },
                TableValue::Draw => TableValue::Draw,
                TableValue::Loss { .. } => TableValue::Win { plies: 1 },
            }
        } else {
            tables::value_by(&child, Metric::Conversion).unwrap().for_mover()
        };
        assert_eq!(tables::move_value(position, &child, Metric::Conversion), Some(value));
        value
    });
    values.max_by_key(|value| value.on_scale())
}

/// Of `KPK` this is every position: a proof.
#[test]
fn values_follow_from_those_of_their_moves() {
    for (name, one_in) in [("KPK", 1), ("KQKR", 997), ("KBBK", 1_997)] {
        let table = tables::shared_by(&name.parse::<Endgame>().unwrap(), Metric::Conversion);
        let mut checked = 0;
        for position in table.positions().step_by(one_in) {
            let Ok(chess) = Chess::parse(&Chess::rules(), &table.fen(&position)) else { continue };
            if let Some(value) = by_moves(&chess) {
                assert_eq!(value, position.value, "{chess}");
                checked += 1;
            }
        }
        assert!(checked > 500, "{name}: {checked}");
    }
}

/// Both hasten and delay the conversion: it comes with the ply that the table says.
#[test]
fn the_player_converts_in_the_table_s_plies() {
    let rules = Chess::rules();
    let converter = player(&rules, CONVERTER);
    let mut games = 0;
    for (name, one_in) in [("KQKR", 40_009), ("KPK", 2_003)] {
        let table = tables::shared_by(&name.parse::<Endgame>().unwrap(), Metric::Conversion);
        for (seed, position) in (0..).zip(table.positions().step_by(one_in)) {
            let TableValue::Win { plies } = position.value else { continue };
            let fen = table.fen(&position);
            let setup = GameSetup {
                rules: &rules,
                opening: &fen,
                players: [&converter, &converter],
                keys: [key(seed), key(seed + 1)],
                max_plies: Some(400),
                adjudication: None,
                stops: None,
            };
            let game = play_game(&setup, &Timeless).unwrap();
            let mut position = chess(&fen);
            let mut converted = None;
            for (ply, record) in (1..).zip(&game.moves) {
                let mv = position.parse_move(&record.mv).unwrap();
                if is_conversion(&position, mv) {
                    converted = converted.or(Some(ply));
                }
                position.play_unchecked(mv);
            }
            // The loser's own conversion comes a ply before the count.
            let found = converted.unwrap_or(game.moves.len() as u32);
            assert_eq!(found | 1, plies, "{fen}");
            games += 1;
        }
    }
    assert!(games > 50, "{games}");
}

/// Stored players stay as they are: the metric is part of them where it is not mate.
#[test]
fn a_player_without_a_metric_is_as_before() {
    let rules = Chess::rules();
    let text = |json: &str| format!("{:?}", player(&rules, json).parameters());
    let plain = text(r#"{"algorithm": "table"}"#);
    assert!(!plain.contains("metric"), "{plain}");
    assert_eq!(text(r#"{"algorithm": "table", "metric": "mate"}"#), plain);
    assert!(text(CONVERTER).contains("conversion"));
}
