//! Games adjudicated by exact tables: at the first position of a table, with its result.

use std::time::Duration;

use spelrum_engine::games::Chess;
use spelrum_engine::tables::{self, Endgame, TableValue};
use spelrum_engine::{
    Adjudication, Board, Ending, GameRecord, GameSetup, Host, Outcome, Rules, Side, SyzygyResults,
    SyzygyRule, Termination, Timeless, play_game, referee, replay_moves,
};

use super::chess;
use crate::common::{key, player};

const RULE: Adjudication = Adjudication { resign: None, draw: None, tables: true, syzygy: None };

fn played(opening: &str, algorithm: &str, rule: Option<Adjudication>, seed: u64) -> GameRecord {
    played_by(&Timeless, opening, algorithm, rule, seed)
}

fn played_by(
    host: &dyn Host,
    opening: &str,
    algorithm: &str,
    rule: Option<Adjudication>,
    seed: u64,
) -> GameRecord {
    let rules = Chess::rules();
    let player = player(&rules, algorithm);
    let setup = GameSetup {
        rules: &rules,
        opening,
        players: [&player, &player],
        keys: [key(seed), key(seed + 1)],
        max_plies: Some(400),
        adjudication: rule,
        stops: None,
    };
    play_game(&setup, host).unwrap()
}

fn board<'a>(rules: &'a Rules, opening: &'a str, rule: Option<Adjudication>) -> Board<'a> {
    Board { rules, opening, max_plies: Some(400), adjudication: rule }
}

/// Where a game is over by the tables, as the rule reads: after how many plies, and for whom, 1 for white.
fn first_in_a_table(opening: &str, free: &GameRecord) -> Option<(usize, i32)> {
    let moves = free.moves.iter().map(|record| record.mv.as_str());
    let positions = replay_moves(&Chess::rules(), opening, moves).unwrap();
    // What the game's own rules end is over by them.
    let last = if free.termination == Termination::MAX_PLIES { 0 } else { 1 };
    positions[1..positions.len() - last].iter().enumerate().find_map(|(ply, position)| {
        let position = chess(&position.position);
        let endgame = Endgame::from_position(&position).filter(|endgame| !endgame.has_pawns())?;
        let value = tables::shared(&endgame).value(&position)?;
        let white_moves = if position.to_string().contains(" w ") { 1 } else { -1 };
        let clock = position.halfmove_clock();
        let winner = match value {
            TableValue::Win { plies } if clock + plies <= 100 => white_moves,
            TableValue::Loss { plies } if clock + plies <= 100 => -white_moves,
            TableValue::Draw => 0,
            TableValue::Win { .. } | TableValue::Loss { .. } => return None,
        };
        Some((ply + 1, winner))
    })
}

/// Games by chance from positions of five pieces with every kind of end, beside the same games without the
/// rule; the referee agrees, and with no record that ends otherwise.
#[test]
fn games_end_at_the_first_position_that_a_table_has() {
    let rules = Chess::rules();
    let openings = [
        "3k4/8/8/5q2/4R3/3B4/8/4K3 w - - 0 1",
        "4k3/8/2r5/3n4/4R3/8/8/4K3 b - - 0 1",
        "7k/8/8/2b1b3/8/4N3/8/K7 w - - 0 1",
        // The fifty moves are near.
        "3k4/8/2r5/3n4/4R3/8/8/4K3 w - - 70 90",
        // With a pawn the game goes on.
        "8/4P3/8/8/1k6/8/8/4K3 w - - 0 1",
    ];
    let mut ends = [0; 3];
    for (opening, seed) in
        openings.iter().flat_map(|opening| (0..40).map(move |seed| (*opening, seed)))
    {
        let random = r#"{"algorithm": "random"}"#;
        let free = played(opening, random, None, 2 * seed);
        let ruled = played(opening, random, Some(RULE), 2 * seed);
        let with = board(&rules, opening, Some(RULE));
        let without = board(&rules, opening, None);
        assert_eq!(referee(&with, &ruled), Ok(()));
        let Some((plies, winner)) = first_in_a_table(opening, &free) else {
            assert_eq!(ruled, free);
            continue;
        };
        assert_eq!(ruled.moves[..], free.moves[..plies], "{opening} {seed}");
        assert_eq!(ruled.termination, Termination::TABLE);
        let first = if opening.contains(" w ") { 1 } else { -1 };
        let outcome = match winner * first {
            1 => Outcome::Win,
            0 => Outcome::Draw,
            _ => Outcome::Loss,
        };
        assert_eq!(ruled.outcome, outcome, "{opening} {seed}");
        ends[usize::try_from(winner + 1).unwrap()] += 1;
        // Neither goes on, nor was without the rule, nor won by the other.
        assert!(referee(&with, &free).is_err());
        assert!(referee(&without, &ruled).is_err());
        let outcome = if outcome == Outcome::Draw { Outcome::Win } else { Outcome::Draw };
        assert!(referee(&with, &GameRecord { outcome, ..ruled }).is_err());
    }
    assert!(ends.iter().all(|&count| count > 5), "{ends:?}");
}

/// A mate that the fifty moves forbid is not one: the game goes on until a table sees one in time.
#[test]
fn the_fifty_moves_are_waited_for() {
    let table = r#"{"algorithm": "table"}"#;
    // 31 plies to mate: the clock leaves so many, or one less.
    for (clock, termination) in [(0, "table"), (69, "table"), (70, "fifty_moves")] {
        let opening = format!("8/8/8/8/8/2k5/1R6/K7 w - - {clock} 80");
        let value = tables::value(&chess(&opening)).unwrap();
        assert_eq!(value, TableValue::Win { plies: 31 });
        let game = played(&opening, table, Some(RULE), 1);
        assert_eq!(game.termination.name(), termination, "{clock}");
        assert_eq!(game.moves.len(), if termination == "table" { 1 } else { 30 });
    }
}

/// Where the rules of chess end a game at the same move, they do.
#[test]
fn the_rules_of_chess_come_first() {
    let opening = "7k/8/6K1/8/8/8/8/R7 w - - 0 1";
    let game = played(opening, r#"{"algorithm": "table"}"#, Some(RULE), 1);
    assert_eq!((game.moves.len(), game.termination.name()), (1, "checkmate"));
}

/// A machine whose Syzygy tables are the exact ones, so that pawns have none.
struct WithTables;

impl Host for WithTables {
    fn wall(&self) -> Duration {
        Duration::ZERO
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }

    fn syzygy_ending(&self, position: &str, _fifty_moves: bool) -> Option<Ending> {
        let ending = tables::ending(&chess(position))?;
        Some(Ending { termination: Termination::SYZYGY, ..ending })
    }
}

/// Games end by the host's tables as they do by exact ones, with a name of its own. The referee, who has no tables,
/// takes their result as true where the rule covers it, and nowhere else.
#[test]
fn games_end_by_the_tables_of_the_host_and_the_referee_needs_none() {
    let rules = Chess::rules();
    let by = |results| {
        let syzygy = Some(SyzygyRule { pieces: 4, fifty_moves: true, results });
        Some(Adjudication { syzygy, ..Adjudication::default() })
    };
    let random = r#"{"algorithm": "random"}"#;
    let mut ends = [0; 2];
    for seed in 0..60 {
        let opening =
            ["3k4/8/8/5q2/4R3/3B4/8/4K3 w - - 0 1", "4k3/8/2r5/3n4/4R3/8/8/4K3 b - - 0 1"]
                [seed as usize % 2];
        let expected = played(opening, random, Some(RULE), seed);
        let ruled = played_by(&WithTables, opening, random, by(SyzygyResults::All), seed);
        let is_ended = expected.termination == Termination::TABLE;
        if is_ended {
            assert_eq!(ruled.termination, Termination::SYZYGY);
            assert_eq!(ruled.outcome, expected.outcome);
        }
        assert_eq!(ruled.moves, expected.moves);
        assert_eq!(referee(&board(&rules, opening, by(SyzygyResults::All)), &ruled), Ok(()));
        // Without tables the game goes on.
        let free = played(opening, random, None, seed);
        assert_eq!(played(opening, random, by(SyzygyResults::All), seed), free);
        if !is_ended {
            continue;
        }
        let is_draw = ruled.outcome == Outcome::Draw;
        ends[usize::from(is_draw)] += 1;
        let covered = [(SyzygyResults::WinLoss, !is_draw), (SyzygyResults::Draw, is_draw)];
        for (results, is_covered) in covered {
            assert_eq!(referee(&board(&rules, opening, by(results)), &ruled).is_ok(), is_covered);
        }
        // Neither without the rule, nor with more pieces than it covers, nor earlier.
        assert!(referee(&board(&rules, opening, None), &ruled).is_err());
        let three = SyzygyRule { pieces: 3, fifty_moves: true, results: SyzygyResults::All };
        let three = Some(Adjudication { syzygy: Some(three), ..Adjudication::default() });
        assert!(referee(&board(&rules, opening, three), &ruled).is_err());
        let mut shorter = ruled.clone();
        shorter.moves.pop();
        if !shorter.moves.is_empty() {
            assert!(referee(&board(&rules, opening, by(SyzygyResults::All)), &shorter).is_err());
        }
        let mut other = ruled.clone();
        other.first_side = match ruled.first_side {
            Side::First => Side::Second,
            Side::Second => Side::First,
        };
        assert!(referee(&board(&rules, opening, by(SyzygyResults::All)), &other).is_err());
    }
    assert!(ends.iter().all(|&count| count > 3), "{ends:?}");
}
