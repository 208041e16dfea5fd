//! The player `table` mates in exactly the table's plies, with either colour and in every orientation.

use std::collections::BTreeSet;

use spelrum_engine::games::{Chess, Pentago};
use spelrum_engine::search::{WIN, WIN_MIN};
use spelrum_engine::tables::{self, Endgame, TableValue};
use spelrum_engine::{
    Analysis, EndedBy, GameRecord, GameSetup, MoveValuesError, Outcome, Player, Position, Random,
    Rules, Timeless, analyze, check_reference, move_values, play_game,
};

use super::chess;
use crate::common::{key, player, start};

const TABLE: &str = r#"{"algorithm": "table"}"#;
const IN_ORDER: &str = r#"{"algorithm": "table", "shuffle": false}"#;

fn played(rules: &Rules, opening: &str, players: [&Player; 2], seed: u64) -> GameRecord {
    let setup = GameSetup {
        rules,
        opening,
        players,
        keys: [key(seed), key(seed + 1)],
        max_plies: None,
        adjudication: None,
        stops: None,
    };
    play_game(&setup, &Timeless).unwrap()
}

fn analysed(rules: &Rules, position: &str, json: &str, seed: u64) -> Analysis {
    analyze(rules, position, &player(rules, json), key(seed), &Timeless).unwrap()
}

/// Colours changed, and ranks turned round, so that it looks the same from the other side.
fn with_colours_changed(fen: &str) -> String {
    let (placement, rest) = fen.split_once(' ').unwrap();
    let change = |letter: char| {
        if letter.is_ascii_uppercase() {
            letter.to_ascii_lowercase()
        } else {
            letter.to_ascii_uppercase()
        }
    };
    let placement: String = placement.chars().map(change).collect();
    let rest = match rest.strip_prefix('w') {
        Some(rest) => format!("b{rest}"),
        None => format!("w{}", &rest[1..]),
    };
    format!("{placement} {rest}")
}

/// Plays from positions of an ending, in all orientations and with colours changed, and checks each game
/// against the table.
fn check_games(name: &str, one_in: usize) {
    let rules = Chess::rules();
    let table = tables::shared(&name.parse::<Endgame>().unwrap());
    let (shuffled, in_order) = (player(&rules, TABLE), player(&rules, IN_ORDER));
    let mut games = 0;
    for (number, position) in (0..).zip(table.positions().step_by(one_in)) {
        let fen = table.turned_fen(&position, (number % 8) as u8);
        let fen = if number % 16 < 8 { fen } else { with_colours_changed(&fen) };
        let start = chess(&fen);
        if start.is_over() {
            continue;
        }
        let players = if number % 3 == 0 { [&in_order, &shuffled] } else { [&shuffled, &shuffled] };
        let record = played(&rules, &fen, players, number);
        let outcome = match position.value.value() {
            1 => Outcome::Win,
            0 => Outcome::Draw,
            _ => Outcome::Loss,
        };
        assert_eq!(record.outcome, outcome, "{fen}");
        if let Some(plies) = position.value.plies() {
            assert_eq!(record.termination.name(), "checkmate", "{fen}");
            assert_eq!(record.moves.len() as u32, plies, "{fen}");
            let mover_wins = position.value.value() == 1;
            for (ply, record) in (0..).zip(&record.moves) {
                let left = i32::try_from(plies - ply).unwrap();
                let wins = (ply % 2 == 0) == mover_wins;
                if record.search.ended_by == EndedBy::OnlyMove {
                    continue;
                }
                assert_eq!(record.search.ended_by, EndedBy::Proven, "{fen}");
                let score = if wins { WIN - left } else { left - WIN };
                assert_eq!(record.search.score, Some(score), "{fen} {ply}");
                assert!(score.abs() > WIN_MIN);
            }
        }
        games += 1;
    }
    assert!(games > 200, "{name}: {games}");
}

#[test]
fn table_against_table_mates_in_the_table_s_plies() {
    check_games("KRK", 211);
    check_games("KQKR", 7_919);
}

/// Bishop and knight, whose mate is the longest of one side alone: 33 moves.
#[test]
fn the_longest_mate_of_bishop_and_knight_is_played_to_its_end() {
    let rules = Chess::rules();
    let table = tables::shared(&"KBNK".parse().unwrap());
    let longest =
        table.positions().filter(|position| position.value == TableValue::Win { plies: 65 });
    let player = player(&rules, TABLE);
    for (seed, position) in (0..).zip(longest.step_by(97).take(8)) {
        let fen = table.turned_fen(&position, seed as u8);
        let record = played(&rules, &fen, [&player, &player], seed);
        assert_eq!((record.outcome, record.moves.len()), (Outcome::Win, 65), "{fen}");
    }
}

/// Against a player that errs it mates sooner, and never later.
#[test]
fn against_random_moves_it_is_never_slower_than_the_table() {
    let rules = Chess::rules();
    let table = tables::shared(&"KRK".parse().unwrap());
    let (ours, random) = (player(&rules, TABLE), player(&rules, r#"{"algorithm": "random"}"#));
    let won = table.positions().filter(|position| matches!(position.value, TableValue::Win { .. }));
    for (seed, position) in (0..).zip(won.step_by(499)) {
        let fen = table.turned_fen(&position, (seed % 8) as u8);
        let record = played(&rules, &fen, [&ours, &random], seed);
        assert_eq!(record.outcome, Outcome::Win, "{fen}");
        assert!(record.moves.len() as u32 <= position.value.plies().unwrap(), "{fen}");
    }
}

/// With `shuffle` each of the best moves is played, and no other; without it the first in canonical order.
#[test]
fn ties_are_drawn_by_the_game_s_key() {
    let rules = Chess::rules();
    let mut ties = 0;
    for name in ["KRK", "KRKB"] {
        let table = tables::shared(&name.parse().unwrap());
        for position in table.positions().step_by(table.len() / 40) {
            let fen = table.fen(&position);
            let solution = tables::solve(&chess(&fen)).unwrap();
            let best: Vec<String> = solution.best_moves.iter().map(ToString::to_string).collect();
            if best.is_empty() || chess(&fen).legal_move_count() == 1 {
                continue;
            }
            assert_eq!(analysed(&rules, &fen, IN_ORDER, 1).best_move, best[0], "{fen}");
            let rounds = 12 * best.len() as u64;
            let drawn: BTreeSet<String> =
                (0..rounds).map(|seed| analysed(&rules, &fen, TABLE, seed).best_move).collect();
            assert_eq!(drawn, best.iter().cloned().collect(), "{fen}");
            ties += usize::from(best.len() > 1);
        }
    }
    assert!(ties > 20, "{ties}");
    assert!(player(&rules, TABLE).draws_random_numbers());
    assert!(!player(&rules, IN_ORDER).draws_random_numbers());
}

/// Where there is no table it plays as `random` does with the same key, which is all that is promised.
#[test]
fn without_a_table_it_plays_as_random_does() {
    let rules = Chess::rules();
    let random = r#"{"algorithm": "random"}"#;
    for seed in 0..20 {
        for json in [TABLE, IN_ORDER] {
            let (ours, theirs) =
                [json, random].map(|json| analysed(&rules, &start(&rules), json, seed)).into();
            assert_eq!(ours.best_move, theirs.best_move);
            assert_eq!(ours.search, theirs.search);
        }
    }
}

#[test]
fn other_games_are_refused() {
    let given = serde_json::from_str(TABLE).unwrap();
    let error = Player::from_parameters(&Pentago::rules(true), &given).unwrap_err();
    insta::assert_snapshot!(error, @"`table` plays only chess endings; choose another algorithm, or play endings of chess");
    assert_eq!(error.place.as_deref(), Some("algorithm"));
    let chess960: Rules = serde_json::from_str(r#"{"name": "chess", "chess960": true}"#).unwrap();
    let position = "8/8/8/8/8/2k5/1R6/K7 w - - 0 1";
    assert_eq!(analysed(&chess960, position, TABLE, 1).search.score, Some(WIN - 31));
}

#[test]
fn games_begin_where_there_is_a_table() {
    let rules = Chess::rules();
    let ours = player(&rules, TABLE);
    assert!(!ours.begins_anywhere());
    for fen in ["8/8/8/8/8/2k5/1R6/K7 w - - 0 1", "8/8/8/nn6/8/2K5/8/k7 w - - 0 1"] {
        assert_eq!(ours.check_start(&rules, fen), Ok(()));
    }
    let error = |fen: &str| ours.check_start(&rules, fen).unwrap_err().to_string();
    insta::assert_snapshot!(error(&start(&rules)), @r#"`table` has no table of `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1`, and games may begin there; begin with an ending, openings = { kind = "ending", ending = "KRK" }, or list positions of at most 4 pieces without rights to castle"#);
    insta::assert_snapshot!(error("4k2r/8/8/8/8/8/8/4K3 w k - 0 1"), @r#"`table` has no table of `4k2r/8/8/8/8/8/8/4K3 w k - 0 1`, and games may begin there; begin with an ending, openings = { kind = "ending", ending = "KRK" }, or list positions of at most 4 pieces without rights to castle"#);
    assert!(error("nonsense").contains("`nonsense` is not a chess position"));
    // Nobody else minds where games begin.
    for json in [r#"{"algorithm": "random"}"#, r#"{"algorithm": "minimax", "depth": 1}"#] {
        let player = player(&rules, json);
        assert!(player.begins_anywhere());
        assert_eq!(player.check_start(&rules, &start(&rules)), Ok(()));
    }
}

/// As a reference it values moves in plies: what a slower mate loses, and what a draw does.
#[test]
fn as_a_reference_it_values_moves_in_plies() {
    let rules = Chess::rules();
    let reference = player(&rules, TABLE);
    assert_eq!(check_reference(&reference), Ok(()));
    let mut random = Random::from_key(key(7));
    let table = tables::shared(&"KQKR".parse().unwrap());
    for position in table.positions().step_by(9_001) {
        let fen = table.turned_fen(&position, random.below(8) as u8);
        let start = chess(&fen);
        if start.is_over() {
            continue;
        }
        let values = move_values(&rules, &fen, &reference, &Timeless).unwrap();
        let expected: Vec<(String, i64)> = tables::move_values(&start)
            .unwrap()
            .into_iter()
            .map(|(mv, value)| (mv.to_string(), value.on_scale().into()))
            .collect();
        let found: Vec<_> =
            values.moves.into_iter().map(|move_value| (move_value.mv, move_value.value)).collect();
        assert_eq!(found, expected, "{fen}");
        let best = found.iter().map(|move_value| move_value.1).max().unwrap();
        assert_eq!(best, i64::from(position.value.on_scale()), "{fen}");
    }
    let refused = move_values(&rules, &start(&rules), &reference, &Timeless).unwrap_err();
    assert!(matches!(refused, MoveValuesError::Limit { limit: EndedBy::Depth, nodes: 0 }));
}
