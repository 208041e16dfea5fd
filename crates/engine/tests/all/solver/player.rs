//! The player `exact`: optimal moves within its limits, sensible ones beyond.

use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::search::{Limits, WIN, WIN_MIN};
use spelrum_engine::{
    Analysis, EndedBy, Game, GameSetup, Outcome, Player, Rules, Timeless, analyze, play_game,
    solve, with_game,
};
use std::sync::LazyLock;

use super::{random, random_position};

static PENTAGO: LazyLock<Rules> = LazyLock::new(|| Pentago::rules(true));

fn player(rules: &Rules, json: &str) -> Player {
    Player::from_parameters(rules, &serde_json::from_str(json).unwrap()).unwrap()
}

fn analysed(rules: &Rules, position: &str, json: &str, seed: u8) -> Analysis {
    analyze(rules, position, &player(rules, json), [seed; 32], &Timeless).unwrap()
}

/// Positions of every game that are solved in a moment.
fn positions() -> Vec<(Rules, String)> {
    let mut positions = Vec::new();
    for (seed, plies) in [(1, 24), (2, 25), (3, 26), (4, 27), (5, 28), (6, 29), (7, 31), (8, 33)] {
        let position: Pentago = random_position(&PENTAGO, plies, &mut random(seed));
        positions.push((PENTAGO.clone(), position.to_string()));
    }
    for plies in 0..5 {
        for rules in [
            TicTacToe::rules(),
            Nim::rules(&[3, 4, 5], false).unwrap(),
            Nim::rules(&[2, 3, 4], true).unwrap(),
        ] {
            let random = &mut random(u64::from(plies));
            let text = with_game!(&rules, P => {
                random_position::<P>(&rules, plies, random).to_string()
            });
            positions.push((rules, text));
        }
    }
    positions
}

#[test]
fn it_plays_an_optimal_move_and_scores_it() {
    for (rules, position) in positions() {
        let solved = solve(&rules, &position, &Limits::default(), &Timeless).unwrap();
        for seed in 0..3 {
            let found =
                analysed(&rules, &position, r#"{"algorithm": "exact", "nodes": 100000000}"#, seed);
            assert!(solved.optimal_moves.contains(&found.best_move), "{position}: {found:?}");
            if solved.legal_moves == 1 {
                assert_eq!(found.search.ended_by, EndedBy::OnlyMove);
                continue;
            }
            assert_eq!(found.search.ended_by, EndedBy::Proven, "{position}: {found:?}");
            let score = found.search.score.unwrap();
            match solved.value {
                1 => assert!(score == WIN_MIN || score == WIN - 1, "{score}"),
                0 => assert_eq!(score, 0),
                _ => assert_eq!(score, -WIN_MIN),
            }
        }
    }
}

/// Without random order the same search gives the same move; the first of the best by evaluation.
#[test]
fn of_optimal_moves_it_plays_the_best_by_evaluation() {
    let json =
        r#"{"algorithm": "exact", "nodes": 100000000, "evaluation": "lines", "shuffle": false}"#;
    let shallow =
        r#"{"algorithm": "minimax", "depth": 1, "evaluation": "lines", "shuffle": false}"#;
    for (rules, position) in positions().into_iter().filter(|(rules, _)| *rules == *PENTAGO) {
        let solved = solve(&rules, &position, &Limits::default(), &Timeless).unwrap();
        let found = analysed(&rules, &position, json, 1);
        assert_eq!(
            found,
            Analysis { wall_us: 0, cpu_us: 0, ..analysed(&rules, &position, json, 2) }
        );
        let by_evaluation = analysed(&rules, &position, shallow, 1).best_move;
        if solved.optimal_moves.contains(&by_evaluation) {
            assert_eq!(found.best_move, by_evaluation, "{position}");
        }
    }
}

#[test]
fn a_limit_leaves_it_the_best_move_by_evaluation() {
    let start = Pentago::start(&PENTAGO).unwrap().to_string();
    let one_ply = r#"{"algorithm": "minimax", "depth": 1, "shuffle": false}"#;
    let best = analysed(&PENTAGO, &start, one_ply, 1);
    for nodes in [288, 289, 300, 1000] {
        let json = format!(r#"{{"algorithm": "exact", "nodes": {nodes}, "shuffle": false}}"#);
        let found = analysed(&PENTAGO, &start, &json, 1);
        assert_eq!(found.search.ended_by, EndedBy::Nodes);
        assert_eq!(found.search.nodes, nodes);
        assert_eq!(found.search.depth, 1);
        assert_eq!(found.search.evaluations, 288);
        assert_eq!(
            (found.best_move, found.search.score),
            (best.best_move.clone(), best.search.score)
        );
    }
    for nodes in [1, 2, 100, 287] {
        let json = format!(r#"{{"algorithm": "exact", "nodes": {nodes}}}"#);
        let found = analysed(&PENTAGO, &start, &json, 1);
        assert_eq!((found.search.ended_by, found.search.nodes), (EndedBy::Nodes, nodes));
        assert_eq!(found.search.depth, 0);
    }
}

#[test]
fn it_wants_a_limit() {
    let given = serde_json::from_str(r#"{"algorithm": "exact"}"#).unwrap();
    let error = Player::from_parameters(&PENTAGO, &given).unwrap_err();
    insta::assert_snapshot!(error, @"nothing bounds the search of `exact`; limit at least one of `nodes`, `move_time`, `clock`");
}

/// Two of them play a drawn position to a draw, and a won one to its win.
#[test]
fn perfect_play_reaches_the_value() {
    let exact = r#"{"algorithm": "exact", "nodes": 100000000}"#;
    for (rules, position) in positions() {
        let value = solve(&rules, &position, &Limits::default(), &Timeless).unwrap().value;
        let player = player(&rules, exact);
        let setup = GameSetup {
            rules: &rules,
            opening: &position,
            players: [&player; 2],
            keys: [[1; 32], [2; 32]],
            max_plies: None,
            adjudication: None,
            stops: None,
        };
        let outcome = match play_game(&setup, &Timeless).unwrap().outcome {
            Outcome::Win => 1,
            Outcome::Draw => 0,
            Outcome::Loss => -1,
        };
        assert_eq!(outcome, value, "{position}");
    }
}
