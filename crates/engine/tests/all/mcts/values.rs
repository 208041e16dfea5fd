//! Proofs of Monte Carlo tree search against reference data and theory, and its choice of good
//! moves.

use std::collections::BTreeMap;

use serde::Deserialize;
use spelrum_engine::games::pentago::{Direction, Quadrant};
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::search::{WIN, WIN_MIN};
use spelrum_engine::{Analysis, EndedBy, Game, Position, Rules, Timeless, analyze};

use crate::common::brute_force::{ExactScores, after, for_mover, score_of_end};
use crate::common::{key, player};

#[derive(Deserialize)]
struct File {
    sets: BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    board: String,
    value: i32,
    optimal_list: Option<Vec<[i32; 3]>>,
}

fn set(name: &str) -> Vec<Entry> {
    let file: File =
        serde_json::from_str(include_str!("../../vectors/pentago/positions.json")).unwrap();
    file.sets.into_iter().find(|(set, _)| set == name).unwrap().1
}

/// The move as the reference data has it.
fn encoded(position: &Pentago, text: &str) -> [i32; 3] {
    let mv = position.parse_move(text).unwrap();
    let cell = i32::try_from(mv.cell()).unwrap();
    let Some(turn) = mv.turn() else { return [cell, -1, -1] };
    let quadrant = Quadrant::ALL.iter().position(|&quadrant| quadrant == turn.quadrant).unwrap();
    let direction =
        Direction::ALL.iter().position(|&direction| direction == turn.direction).unwrap();
    [cell, i32::try_from(quadrant).unwrap(), i32::try_from(direction).unwrap()]
}

fn analysed(rules: &Rules, position: &str, settings: &str) -> Analysis {
    let player = player(rules, &format!(r#"{{"algorithm": "mcts", {settings}}}"#));
    analyze(rules, position, &player, key(1), &Timeless).unwrap()
}

/// The value (1, 0, -1 for the side to move) of a search that proved it.
fn proven(analysis: &Analysis) -> Option<i32> {
    if analysis.search.ended_by != EndedBy::Proven {
        return None;
    }
    let score = analysis.search.score.unwrap();
    assert!(score == 0 || score.abs() >= WIN_MIN && score.abs() < WIN, "{analysis:?}");
    Some(score.signum())
}

/// How many positions of a set are proven, and of how many the best move is played.
fn check(name: &str, settings: &str) -> (usize, usize) {
    let rules = Pentago::rules(true);
    let (mut proofs, mut best_moves) = (0, 0);
    for entry in set(name) {
        let position = Pentago::parse(&rules, &entry.board).unwrap();
        let analysis = analysed(&rules, &entry.board, settings);
        let optimal = entry.optimal_list.unwrap();
        let is_best = optimal.contains(&encoded(&position, &analysis.best_move));
        best_moves += usize::from(is_best);
        if let Some(value) = proven(&analysis) {
            assert_eq!(value, entry.value, "{} {}", entry.id, entry.board);
            assert!(is_best, "{} {}: {}", entry.id, entry.board, analysis.best_move);
            proofs += 1;
        }
    }
    (proofs, best_moves)
}

#[test]
fn proofs_agree_with_the_reference() {
    for playout in ["uniform", "decisive"] {
        let settings = format!(r#""playout": "{playout}", "simulations": 200000"#);
        let (proofs, best_moves) = check("final", &settings);
        assert!(proofs >= 15 && best_moves >= 27, "{playout}: {proofs} {best_moves}");
        let (proofs, best_moves) = check("late", &settings);
        assert!(proofs >= 10 && best_moves >= 25, "{playout}: {proofs} {best_moves}");
    }
}

/// Without the solver nothing is proven, and the means lead to the same moves.
#[test]
fn means_find_the_best_moves() {
    let (proofs, best_moves) = check("final", r#""solver": false, "simulations": 100000"#);
    assert!(proofs <= 30 && best_moves >= 27, "{proofs} {best_moves}");
}

/// Every position is solved, and a move of its value played. A win is no nearer than it can be, and
/// as the same side always makes the last move of a game that is won, it is as many plies away as the
/// nearest or an even number more.
fn check_solved<G: Game>(rules: &Rules, settings: &str) {
    let mut scores = ExactScores::default();
    scores.score(&G::start(rules).unwrap(), usize::MAX).unwrap();
    let exact: BTreeMap<&str, i32> = scores.known().collect();
    for (name, score) in &exact {
        let position = G::parse(rules, name).unwrap();
        if position.legal_move_count() < 2 {
            continue;
        }
        let analysis = analysed(rules, name, settings);
        assert_eq!(proven(&analysis), Some(score.signum()), "{name}: {analysis:?}");
        let child = after(&position, position.parse_move(&analysis.best_move).unwrap());
        let reached = score_of_end(&child, 0).unwrap_or_else(|| exact[child.to_string().as_str()]);
        let reached = for_mover(&position, &child, reached);
        assert_eq!(reached.signum(), score.signum(), "{name}: {analysis:?}");
        let found = analysis.search.score.unwrap();
        assert!(found <= *score || *score <= 0, "{name}: {analysis:?} sooner than {score}");
        assert_eq!(found % 2, score % 2, "{name}: {analysis:?} for {score}");
    }
}

const SOLVERS: &[&str] = &[
    r#""nodes": 10000000"#,
    r#""nodes": 10000000, "playout": "uniform", "bound": "ucb1-tuned", "exploration": 1"#,
    r#""nodes": 10000000, "playout_plies": 0, "first_play_urgency": 1000, "choice": "max""#,
];

#[test]
fn tic_tac_toe_is_solved_from_every_position() {
    for settings in SOLVERS {
        check_solved::<TicTacToe>(&TicTacToe::rules(), settings);
    }
}

#[test]
fn nim_is_solved_from_every_position() {
    for settings in SOLVERS {
        for misere in [false, true] {
            check_solved::<Nim>(&Nim::rules(&[2, 3, 3], misere).unwrap(), settings);
        }
    }
}

/// Reported wins and losses are as far away as the line that proves them.
#[test]
fn a_win_at_once_is_found_at_once() {
    let rules = Pentago::rules(true);
    let board = "wwww..bbb...b.......................";
    for settings in [r#""nodes": 1"#, r#""simulations": 100000, "playout": "uniform""#] {
        let analysis = analysed(&rules, board, settings);
        assert_eq!(analysis.search.score, Some(WIN - 1), "{analysis:?}");
        assert_eq!(analysis.search.ended_by, EndedBy::Proven);
        let mut position = Pentago::parse(&rules, board).unwrap();
        position.play_unchecked(position.parse_move(&analysis.best_move).unwrap());
        assert!(position.is_over());
    }
}
