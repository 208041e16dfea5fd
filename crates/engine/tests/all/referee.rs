//! The referee: it accepts every played game, and finds every change that breaks the rules.

use crate::common::{all_rules, key, player, start};
use spelrum_engine::{
    Board, GameRecord, GameSetup, Outcome, Rules, Termination, Timeless, play_game, referee,
    referee_margin,
};

/// A game of random moves.
fn random_game(rules: &Rules, max_plies: Option<u32>, number: u64) -> GameRecord {
    let random = player(rules, r#"{"algorithm": "random"}"#);
    let setup = GameSetup {
        rules,
        opening: &start(rules),
        players: [&random, &random],
        keys: [key(2 * number), key(2 * number + 1)],
        max_plies,
        adjudication: None,
        stops: None,
    };
    play_game(&setup, &Timeless).unwrap()
}

fn judge(rules: &Rules, max_plies: Option<u32>, record: &GameRecord) -> Result<(), String> {
    let opening = start(rules);
    referee(&Board { rules, opening: &opening, max_plies, adjudication: None }, record)
        .map_err(|error| error.to_string())
}

#[test]
fn games_that_were_played_pass() {
    for rules in all_rules() {
        for number in 0..20 {
            for max_plies in [None, Some(3)] {
                let record = random_game(&rules, max_plies, number);
                assert_eq!(judge(&rules, max_plies, &record), Ok(()), "{}", rules.name());
            }
        }
    }
}

/// A change to a record.
type Change = fn(&mut GameRecord);

#[test]
fn whatever_is_changed_is_found() {
    let changes: &[(&str, Change, &str)] = &[
        ("outcome", |record| record.outcome = other(record.outcome), "the outcome is"),
        (
            "margin",
            |record| record.margin = record.margin.map_or(Some(0), |margin| Some(margin + 1)),
            "the margin is",
        ),
        ("termination", |record| record.termination = Termination::MAX_PLIES, "the termination is"),
        (
            "first side",
            |record| record.first_side = record.first_side.other(),
            "the side that moved first is",
        ),
        ("no moves", |record| record.moves.clear(), "the game is not over after its 0 moves"),
        ("a move less", |record| drop(record.moves.pop()), "the game is not over after"),
        (
            "a move more",
            |record| record.moves.push(record.moves[0].clone()),
            "comes after the end of the game",
        ),
        ("a move twice", |record| record.moves.insert(0, record.moves[0].clone()), "move "),
        (
            "not a move",
            |record| "zz".clone_into(&mut record.moves[0].mv),
            "move 0: `zz` is not a legal move",
        ),
        ("white space", |record| record.moves[0].mv.push(' '), "move 0: "),
        ("mover", |record| record.moves[1].mover ^= 1, "move 1: the mover is 1, not 0"),
        (
            "key",
            |record| record.moves[1].position_key += 1,
            "move 1: the key of the position before it is",
        ),
        (
            "legal moves",
            |record| record.moves[1].legal_moves -= 1,
            "move 1: the number of legal moves is",
        ),
    ];
    for rules in all_rules() {
        for number in 0..5 {
            let record = random_game(&rules, None, number);
            for (name, change, expected) in changes {
                let mut changed = record.clone();
                change(&mut changed);
                let problem = judge(&rules, None, &changed).unwrap_err();
                assert!(problem.contains(expected), "{}: {name}: {problem}", rules.name());
            }
        }
    }
}

fn other(outcome: Outcome) -> Outcome {
    if outcome == Outcome::Win { Outcome::Loss } else { Outcome::Win }
}

/// Only the game's own rules say by how much it was won.
#[test]
fn a_margin_that_the_rules_do_not_give_is_found() {
    for rules in all_rules() {
        for max_plies in [None, Some(3)] {
            let mut record = random_game(&rules, max_plies, 2);
            let is_counted = rules.game().margin.is_some() && max_plies.is_none();
            assert_eq!(record.margin.is_some(), is_counted, "{}", rules.name());
            let judge_margin =
                |margin| referee_margin(&rules, record.outcome, record.termination, margin);
            assert_eq!(judge_margin(record.margin), Ok(()));
            assert!(
                judge_margin(record.margin.map_or(Some(1), |margin| Some(-margin - 1))).is_err()
            );
            record.margin = if is_counted { None } else { Some(2) };
            let problem = judge(&rules, max_plies, &record).unwrap_err();
            assert!(problem.contains("the margin is"), "{}: {problem}", rules.name());
        }
    }
}

/// What searches say of themselves is not a matter of the rules, and a forfeit has no other witness.
#[test]
fn what_the_rules_cannot_know_is_believed() {
    for rules in all_rules() {
        let mut record = random_game(&rules, None, 1);
        record.moves[0].search.nodes = 1 << 50;
        record.moves[0].wall_us = 1 << 50;
        record.wall_us = 0;
        assert_eq!(judge(&rules, None, &record), Ok(()));
        record.moves.truncate(1);
        record.termination = Termination::CRASH;
        // After one move it is the other's turn, who loses.
        record.outcome = Outcome::Win;
        record.margin = None;
        assert_eq!(judge(&rules, None, &record), Ok(()), "{}", rules.name());
        record.outcome = other(record.outcome);
        assert_eq!(
            judge(&rules, None, &record).unwrap_err(),
            format!("the outcome is {}, not {}", word(other(record.outcome)), word(record.outcome))
        );
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Win => "win",
        Outcome::Draw => "draw",
        Outcome::Loss => "loss",
    }
}

#[test]
fn an_opening_that_is_not_a_position_is_irregular() {
    for rules in all_rules() {
        let record = random_game(&rules, None, 0);
        let board = Board { rules: &rules, opening: "?", max_plies: None, adjudication: None };
        let problem = referee(&board, &record).unwrap_err().to_string();
        assert!(problem.starts_with("failed to read the opening"), "{problem}");
    }
}
