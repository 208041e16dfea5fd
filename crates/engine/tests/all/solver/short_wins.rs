//! Wins and losses a few plies away are found at once, however many cells are empty.

use std::sync::LazyLock;

use spelrum_engine::games::Pentago;
use spelrum_engine::games::pentago::PentagoSolver;
use spelrum_engine::search::{Budget, Limits, WIN_MIN};
use spelrum_engine::{Game, Player, Position, Rules, SolveError, Solver, Timeless, analyze, solve};

use super::{random, random_position};

static PENTAGO: LazyLock<Rules> = LazyLock::new(|| Pentago::rules(true));

/// A win in three plies with 18 empty cells.
const WON: &str = ".b......wbw.b....b.wbwwb.w..w..bwwbb";

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

/// Whether every reply to a move leaves the mover a win with its next move.
fn wins_in_three(position: &Pentago, text: &str) -> bool {
    let mut child = *position;
    child.play_unchecked(position.parse_move(text).unwrap());
    let mut replies = Vec::new();
    child.legal_moves(&mut replies);
    !child.is_over()
        && replies.into_iter().all(|reply| {
            let mut next = child;
            next.play_unchecked(reply);
            match next.ending() {
                Some(ending) => ending.winner == Some(position.to_move()),
                None => next.winning_move().is_some(),
            }
        })
}

#[test]
fn a_win_in_three_plies_takes_a_moment() {
    let solved = solve(&PENTAGO, WON, &nodes(100), &Timeless).unwrap();
    assert_eq!(solved.value, 1);
    assert!(!solved.are_all, "{solved:?}");
    let position = Pentago::parse(&PENTAGO, WON).unwrap();
    assert!(!solved.optimal_moves.is_empty());
    for mv in &solved.optimal_moves {
        assert!(wins_in_three(&position, mv), "{mv}");
    }
    // With no limit at all it ends as soon: the other moves are not looked at.
    let unlimited = solve(&PENTAGO, WON, &Limits::default(), &Timeless).unwrap();
    assert_eq!((unlimited.value, unlimited.nodes), (1, solved.nodes));
}

/// With 17 empty cells all moves are told, if the limits allow it; the value does not depend on it.
#[test]
fn a_limit_while_moves_are_listed_leaves_the_value() {
    let mut random = random(3);
    let mut found = 0;
    while found < 3 {
        let position: Pentago = random_position(&PENTAGO, 20, &mut random);
        let text = position.to_string();
        let Ok(solved) = solve(&PENTAGO, &text, &nodes(2_000), &Timeless) else { continue };
        if solved.value != 1 || position.winning_move().is_some() {
            continue;
        }
        found += 1;
        assert!(!solved.are_all, "{text}");
        assert_eq!(solved.nodes, 2_000, "{text}");
        let child = |mv: &String| {
            let mut child = position;
            child.play_unchecked(position.parse_move(mv).unwrap());
            child
        };
        for mv in &solved.optimal_moves {
            let child = child(mv);
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            let value = PentagoSolver::default().value(&child, &mut budget).unwrap();
            assert_eq!(value, -1, "{text} {mv}");
        }
    }
}

/// What alpha-beta proves within a few plies, the solver finds with few nodes, and never the
/// opposite.
#[test]
fn it_finds_what_alpha_beta_proves() {
    let mut compared = [0; 2];
    for before in [true, false] {
        let rules = Pentago::rules(before);
        let json = r#"{"algorithm": "alpha-beta", "preset": "full", "depth": 4, "exact_plies": 0}"#;
        let player = Player::from_parameters(&rules, &serde_json::from_str(json).unwrap()).unwrap();
        for marbles in [12, 14, 16, 18, 20, 22] {
            let mut random = random(u64::from(marbles));
            for _ in 0..10 {
                let position: Pentago = random_position(&rules, marbles, &mut random);
                let text = position.to_string();
                let found = analyze(&rules, &text, &player, [1; 32], &Timeless).unwrap();
                let proven = match found.search.score {
                    Some(score) if score >= WIN_MIN => 1,
                    Some(score) if score <= -WIN_MIN => -1,
                    _ => continue,
                };
                compared[usize::from(proven == 1)] += 1;
                let solved = solve(&rules, &text, &nodes(50_000), &Timeless).unwrap();
                assert_eq!(solved.value, proven, "{text}");
            }
        }
    }
    assert!(compared[0] >= 3 && compared[1] >= 60, "{compared:?}");
}

/// What the solver finds with few nodes, plain minimax proves by making every move: wins within
/// three plies, losses within two.
#[test]
fn short_wins_and_losses_are_minimaxs() {
    let json = r#"{"algorithm": "minimax", "depth": 3, "evaluation": "none"}"#;
    let player = Player::from_parameters(&PENTAGO, &serde_json::from_str(json).unwrap()).unwrap();
    let mut decided = 0;
    for seed in 0..200 {
        let position: Pentago =
            random_position(&PENTAGO, 21 + seed as u32 % 3, &mut random(100 + seed));
        if position.winning_move().is_some() {
            continue;
        }
        let text = position.to_string();
        let found = analyze(&PENTAGO, &text, &player, [1; 32], &Timeless).unwrap();
        let score = found.search.score.unwrap();
        let few = match solve(&PENTAGO, &text, &nodes(60), &Timeless) {
            Ok(solved) => solved.value,
            Err(SolveError::Limit { .. }) => 0,
            Err(error) => panic!("{error}"),
        };
        if score.abs() >= WIN_MIN {
            decided += 1;
            assert_eq!(few, score.signum(), "{text}");
        }
    }
    assert!(decided >= 10, "{decided}");
}
