//! The choice among several best moves of alpha-beta, against all of them by plain minimax.

use std::collections::BTreeMap;

use crate::common::brute_force::{minimax, minimax_of_move, moves_of};
use crate::common::{all_rules, chosen_json, key, player, random_position};
use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::games::{ConnectFour, TicTacToe};
use spelrum_engine::search::WIN_MIN;
use spelrum_engine::{Game, Player, Position, Random, Rules, Timeless, analyze, with_evaluation};

/// The best moves of a position to a depth.
struct Best<'a, G> {
    position: &'a G,
    depth: u32,
}

impl<G: Game> EvaluationVisitor<G> for Best<'_, G> {
    type Output = (i32, Vec<String>);

    fn visit<E: GameEvaluation<G>>(self, evaluation: E) -> Self::Output {
        let Self { position, depth } = self;
        let value = minimax(position, depth, 0, &evaluation);
        let is_best = |mv: &G::Move| minimax_of_move(position, *mv, depth, &evaluation) == value;
        (value, moves_of(position).into_iter().filter(is_best).map(|mv| mv.to_string()).collect())
    }
}

fn best<G: Game>(rules: &Rules, position: &G, evaluation: &str, depth: u32) -> (i32, Vec<String>) {
    let json = format!("{{{}}}", chosen_json(rules, evaluation));
    with_evaluation(&serde_json::from_str(&json).unwrap(), Best { position, depth }).unwrap()
}

fn searcher(rules: &Rules, evaluation: &str, depth: u32, rest: &str) -> Player {
    let evaluation = chosen_json(rules, evaluation);
    player(
        rules,
        &format!(r#"{{"algorithm": "alpha-beta", {evaluation}, "depth": {depth}{rest}}}"#),
    )
}

/// How often each move is played over so many keys.
fn played<G: Game>(
    rules: &Rules,
    position: &G,
    player: &Player,
    keys: u64,
) -> BTreeMap<String, u64> {
    let mut played = BTreeMap::new();
    for seed in 0..keys {
        let found = analyze(rules, &position.to_string(), player, key(seed), &Timeless).unwrap();
        *played.entry(found.best_move).or_default() += 1;
    }
    played
}

/// Ways to search that order root moves by their values, all of which draw.
const DRAWING: &[&str] = &[
    r#", "ties": "random", "shuffle": false"#,
    r#", "ties": "random", "order": true"#,
    r#", "ties": "random", "iterative": true, "pvs": true, "aspiration": 2, "combined": true"#,
    r#", "ties": "random", "iterative": true, "table": true, "table_mib": 1, "history": true,
        "killers": true, "threats": true, "distance": true, "last_ply": true, "pvs": true"#,
];

/// Every one of the best moves is played, and no other, each about as often.
fn check_fair(counts: &BTreeMap<String, u64>, best: &[String], keys: u64, about: &str) {
    let names: Vec<&String> = counts.keys().collect();
    let mut expected: Vec<&String> = best.iter().collect();
    expected.sort();
    assert_eq!(names, expected, "{about}");
    // The keys are fixed, and so is what comes of them: five standard deviations.
    let mean = keys as f64 / best.len() as f64;
    let bound = 5.0 * (mean * (1.0 - 1.0 / best.len() as f64)).sqrt();
    for (mv, &count) in counts {
        assert!((count as f64 - mean).abs() <= bound, "{mv} {count} of {keys}: {about}");
    }
}

#[test]
fn each_of_the_best_moves_is_played_as_often() {
    const KEYS: u64 = 400;
    let mut several = 0;
    for (seed, depth) in [(0, 1), (1, 2), (2, 3), (3, 1), (4, 2), (5, 4)] {
        let rules = TicTacToe::rules();
        let mut random = Random::from_key(key(seed));
        let position: TicTacToe = random_position(&rules, seed as u32 % 4, &mut random);
        for evaluation in ["lines", "expression", "none"] {
            let (_, best) = best(&rules, &position, evaluation, depth);
            several += usize::from(best.len() > 1);
            for rest in DRAWING.iter().chain(&[""]) {
                let player = searcher(&rules, evaluation, depth, rest);
                let about = format!("{position} to depth {depth} by {evaluation}{rest}");
                check_fair(&played(&rules, &position, &player, KEYS), &best, KEYS, &about);
            }
        }
    }
    assert!(several > 8, "{several}");
}

/// Two ways to win with the next move: one is not missed for the other.
#[test]
fn wins_at_once_are_drawn_too() {
    let rules = TicTacToe::rules();
    let position = TicTacToe::parse(&rules, "x.x.ooxo.").unwrap();
    let (value, moves) = best(&rules, &position, "lines", 2);
    for rest in DRAWING {
        let player = searcher(&rules, "lines", 2, rest);
        check_fair(&played(&rules, &position, &player, 200), &moves, 200, rest);
    }
    assert!(value >= WIN_MIN && moves.len() == 2, "{moves:?}");
}

/// In every game, whatever is drawn has the value that minimax finds, and the same key draws the same.
#[test]
fn what_is_drawn_is_best_in_every_game() {
    for rules in all_rules() {
        spelrum_engine::with_game!(&rules, G => {
            for seed in 0..6 {
                let mut random = Random::from_key(key(seed));
                let plies = random.below(20);
                let position: G = random_position(&rules, plies, &mut random);
                let moves = position.legal_move_count();
                let depth = (1..4).find(|&depth| moves.pow(depth + 1) > 3_000).unwrap_or(4);
                if moves < 2 {
                    continue;
                }
                for info in G::EVALUATIONS {
                    let (value, best) = best(&rules, &position, info.name, depth);
                    for rest in DRAWING {
                        let player = searcher(&rules, info.name, depth, rest);
                        for seed in 0..4 {
                            let find = || {
                                let text = position.to_string();
                                analyze(&rules, &text, &player, key(seed), &Timeless).unwrap()
                            };
                            let found = find();
                            assert_eq!(found.best_move, find().best_move);
                            assert_eq!(found.search.score, Some(value), "{position} {rest}");
                            assert!(best.contains(&found.best_move), "{position} {rest}");
                        }
                    }
                }
            }
        });
    }
}

/// What a limit leaves of a search has a move of its own all the same.
#[test]
fn limits_end_it_with_a_move() {
    let rules = ConnectFour::rules();
    for nodes in 1..60 {
        for rest in [r#", "iterative": true"#, ""] {
            let rest = format!(r#", "ties": "random", "nodes": {nodes}{rest}"#);
            let player = searcher(&rules, "lines", 3, &rest);
            let played = played(&rules, &ConnectFour::empty(), &player, 3);
            assert_eq!(played.values().sum::<u64>(), 3);
        }
    }
}

/// `first` is left out of what is hashed, and draws nothing.
#[test]
fn first_is_as_it_was() {
    let rules = TicTacToe::rules();
    let [stated, default] =
        [r#", "ties": "first""#, ""].map(|setting| searcher(&rules, "lines", 3, setting));
    assert_eq!(stated.parameters(), default.parameters());
    assert!(!searcher(&rules, "lines", 3, r#", "shuffle": false"#).draws_random_numbers());
    let drawn = searcher(&rules, "lines", 3, r#", "shuffle": false, "ties": "random""#);
    assert!(drawn.draws_random_numbers());
}
