//! Results of searches, against slow references, theory and reference values.

use crate::common::brute_force::{ExactScores, minimax, minimax_of_move};
use crate::common::{
    all_rules, chosen, chosen_json, evaluations_of_parameters, key, player, random_position,
};
use spelrum_engine::Knowledge;
use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation, NoEvaluation};
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::games::tic_tac_toe::evaluation::TicTacToeLines;
use spelrum_engine::games::{Nim, Pentago, TicTacToe};
use spelrum_engine::search::{Evaluate, Limits, WIN, WIN_MIN};
use spelrum_engine::{
    Analysis, EndedBy, Game, ParameterKind, Player, Position, Promise, Random, Rules, Timeless,
    analyze, parameters_of, solve, with_evaluation, with_game,
};

/// Players that must find minimax's value at this depth; `None` is unlimited. Of the many
/// combinations of refinements a third, another for each seed.
fn exact_players(rules: &Rules, evaluation: &str, depth: Option<u32>, seed: u64) -> Vec<Player> {
    let evaluation = chosen_json(rules, evaluation);
    let depth = depth.map_or("\"unlimited\"".to_owned(), |depth| depth.to_string());
    let bounds = format!(r#""depth": {depth}, "nodes": 1000000000"#);
    let mut players = Vec::new();
    for shuffle in [true, false] {
        players.push(format!(
            r#"{{"algorithm": "minimax", {evaluation}, {bounds}, "shuffle": {shuffle}}}"#
        ));
        for (order, iterative) in [(false, false), (false, true), (true, false), (true, true)] {
            players.push(format!(
                r#"{{"algorithm": "alpha-beta", {evaluation}, {bounds},
                    "shuffle": {shuffle}, "order": {order}, "iterative": {iterative}}}"#
            ));
        }
    }
    for switches in refinements().iter().skip((seed % 3) as usize).step_by(3) {
        players.push(format!(r#"{{"algorithm": "alpha-beta", {evaluation}, {bounds}{switches}}}"#));
    }
    players.iter().map(|json| player(rules, json)).collect()
}

/// Value-preserving switches of alpha-beta as they are declared: each alone, all, and all but each;
/// with a window narrow enough to miss.
fn refinements() -> Vec<String> {
    // With the switch that each of them needs.
    let declared: Vec<(&str, Option<&str>)> = parameters_of("alpha-beta")
        .iter()
        .filter(|info| info.promise == Some(Promise::ValuePreserving))
        .filter(|info| info.kind == ParameterKind::Switch && info.added_later)
        .map(|info| (info.name, info.only_with.map(|(needed, _)| needed)))
        .collect();
    assert!(declared.len() >= 10, "{declared:?}");
    let on = |name: &str| format!(r#", "{name}": true"#);
    let all_but = |left_out: Option<&str>| {
        let is_on = |name: &str| left_out != Some(name);
        let names =
            declared.iter().filter(|(name, needed)| is_on(name) && needed.is_none_or(is_on));
        let switches: String = names.map(|(name, _)| on(name)).collect();
        format!(r#", "iterative": true, "aspiration": 2{switches}"#)
    };
    let alone =
        declared.iter().map(|&(name, needed)| needed.map(on).unwrap_or_default() + &on(name));
    let all_but_each = declared.iter().map(|&(name, _)| all_but(Some(name)));
    alone.chain(all_but_each).chain([all_but(None)]).collect()
}

fn analysed(rules: &Rules, position: &impl Position, player: &Player, seed: u64) -> Analysis {
    analyze(rules, &position.to_string(), player, key(seed), &Timeless).unwrap()
}

/// Every player finds the twin's value in this position, and plays a move of that value.
///
/// Iterative deepening that stops early because a win or loss is proven knows what the full depth
/// would say: the twin is asked at the full depth all the same.
fn check<G: Game>(
    rules: &Rules,
    position: &G,
    depth: u32,
    evaluation_name: &str,
    evaluation: &dyn Evaluate<G>,
    seed: u64,
) {
    if position.legal_move_count() < 2 {
        return;
    }
    let value = minimax(position, depth, 0, evaluation);
    let players = exact_players(rules, evaluation_name, Some(depth), seed);
    for player in players {
        let analysis = analysed(rules, position, &player, seed);
        let about = || format!("{position} to depth {depth} by {:?}", player.parameters());
        assert_eq!(analysis.search.score, Some(value), "{}", about());
        let mv = position.parse_move(&analysis.best_move).unwrap();
        assert!(position.is_legal(mv), "{}", about());
        assert_eq!(minimax_of_move(position, mv, depth, evaluation), value, "{}", about());
    }
}

/// A position of a game, to be searched with an evaluation of the catalogue.
struct Searched<'a, G> {
    rules: &'a Rules,
    position: &'a G,
    evaluation: &'static str,
    seed: u64,
}

impl<G: Game> EvaluationVisitor<G> for Searched<'_, G> {
    type Output = ();

    fn visit<E: GameEvaluation<G>>(self, evaluation: E) {
        let Self { rules, position, evaluation: name, seed } = self;
        let moves = position.legal_move_count();
        let depth = (1..6).find(|&depth| moves.pow(depth + 1) > 5_000).unwrap_or(6);
        check(rules, position, depth, name, &evaluation, seed);
    }
}

/// Plies after which a game that may last longer is looked at.
const PLIES_MAX: u32 = 100;

/// Whatever games there are, with all their evaluations; the tests below look harder at some.
#[test]
fn every_search_finds_minimaxs_value_in_every_game() {
    for rules in all_rules() {
        for seed in 0..8 {
            with_game!(&rules, G => {
                let mut random = Random::from_key(key(seed));
                let plies_max = G::start(&rules).unwrap().plies_left().min(PLIES_MAX) * 4 / 5;
                let position: G = random_position(&rules, random.below(plies_max), &mut random);
                for info in evaluations_of_parameters::<G>() {
                    let given = chosen(info);
                    let evaluation = info.name;
                    let searched = Searched { rules: &rules, position: &position, evaluation, seed };
                    with_evaluation(&given, searched).unwrap();
                }
            });
        }
    }
}

#[test]
fn every_search_finds_minimaxs_value_in_pentago() {
    let (runs, lines) = (PentagoRuns::default(), PentagoLines::default());
    for win_before_rotation in [true, false] {
        let rules = Pentago::rules(win_before_rotation);
        for seed in 0..24 {
            let mut random = Random::from_key(key(seed));
            let plies = random.below(34);
            let position: Pentago = random_position(&rules, plies, &mut random);
            let depth = match position.legal_move_count() {
                0..=40 => 4,
                41..=80 => 3,
                81..=200 => 2,
                _ => 1 + u32::from(seed < 2),
            };
            check(&rules, &position, depth, "runs", &runs, seed);
            check(&rules, &position, depth.min(2), "lines", &lines, seed);
        }
    }
}

#[test]
fn every_search_finds_minimaxs_value_in_tic_tac_toe_at_every_depth() {
    let rules = TicTacToe::rules();
    for seed in 0..60 {
        let mut random = Random::from_key(key(seed));
        let plies = 2 + random.below(6);
        let position: TicTacToe = random_position(&rules, plies, &mut random);
        for depth in 1..=9 - plies {
            check(&rules, &position, depth, "lines", &TicTacToeLines::default(), seed);
        }
    }
}

#[test]
fn every_search_finds_minimaxs_value_in_nim_at_every_depth() {
    for misere in [false, true] {
        let rules = Nim::rules(&[2, 2, 3], misere).unwrap();
        for seed in 0..6 {
            let mut random = Random::from_key(key(seed));
            let plies = random.below(3);
            let position: Nim = random_position(&rules, plies, &mut random);
            for depth in 1..=7 {
                check(&rules, &position, depth, "none", &NoEvaluation, seed);
            }
        }
    }
}

#[test]
fn tic_tac_toe_is_solved_from_every_position() {
    let rules = TicTacToe::rules();
    let mut scores = ExactScores::default();
    assert_eq!(scores.score(&TicTacToe::empty(), 10_000), Some(0), "tic-tac-toe is a draw");
    // 5,478 positions, of which 626 are won by x, 316 by o and 16 are full without a three.
    assert_eq!(scores.known().count(), 5_478 - 626 - 316 - 16);
    for (seed, (name, value)) in (0..).zip(scores.known()) {
        let position = TicTacToe::parse(&rules, name).unwrap();
        if position.legal_move_count() < 2 {
            continue;
        }
        for player in &exact_players(&rules, "none", None, seed) {
            // A plain search of a nearly empty board is slow, and all are alike to it.
            if position.legal_move_count() >= 8 && seed % 5 > 0 {
                continue;
            }
            let search = analysed(&rules, &position, player, seed).search;
            assert_eq!(search.score, Some(value), "{name} by {:?}", player.parameters());
            assert_eq!(search.ended_by, EndedBy::Proven, "{name} by {:?}", player.parameters());
            assert!(search.depth <= position.legal_move_count(), "{name}: {search:?}");
        }
    }
}

/// Bouton (1901): a position of normal play is lost for the side to move if and only if the
/// exclusive or of the heaps is zero; of misère play the same, unless no heap exceeds one, when
/// it is lost if and only if the number of ones is odd.
fn bouton_wins(nim: &Nim) -> bool {
    let sum = nim.heaps().fold(0, |sum, heap| sum ^ heap);
    if nim.is_misere() && nim.heaps().all(|heap| heap <= 1) { sum == 0 } else { sum != 0 }
}

#[test]
fn nim_is_solved_as_bouton_says() {
    for misere in [false, true] {
        let rules = Nim::rules(&[3, 3, 4], misere).unwrap();
        let mut checked = 0;
        for (seed, heaps) in (0..).zip(0..80) {
            let name = format!("{},{},{}/w", heaps / 20, heaps / 5 % 4, heaps % 5);
            let Ok(position) = Nim::parse(&rules, &name) else { continue };
            if position.legal_move_count() < 2 {
                continue;
            }
            checked += 1;
            for player in &exact_players(&rules, "none", None, seed) {
                let is_slow = !player.parameters().contains_key("iterative");
                if is_slow && position.legal_move_count() > 8 {
                    continue;
                }
                let analysis = analysed(&rules, &position, player, seed);
                let score = analysis.search.score.unwrap();
                assert!(score.abs() >= WIN_MIN, "{position}: {score} is not proven");
                assert_eq!(score > 0, bouton_wins(&position), "{position:?}");
                let mut child = position;
                child.play_unchecked(position.parse_move(&analysis.best_move).unwrap());
                assert!(child.is_over() || bouton_wins(&child) == (score < 0), "{position:?}");
            }
        }
        assert!(checked > 60, "{checked} positions");
    }
}

/// Roots with a win at once, and roots where every move loses to the next reply: what is known by
/// table of one ply must not be taken for known of another.
#[test]
fn decided_roots_are_valued_like_all_others() {
    let runs = PentagoRuns::default();
    let (mut won, mut lost) = (0, 0);
    for seed in 0..400 {
        let rules = Pentago::rules(seed % 2 == 0);
        let mut random = Random::from_key(key(seed));
        let plies = 20 + random.below(12);
        let position: Pentago = random_position(&rules, plies, &mut random);
        if position.legal_move_count() < 2 {
            continue;
        }
        let value = minimax(&position, 2, 0, &runs);
        won += u32::from(value == WIN - 1);
        lost += u32::from(value == 2 - WIN);
        if value.abs() >= WIN_MIN {
            let depth = if position.legal_move_count() > 48 { 2 } else { 3 };
            check(&rules, &position, depth, "runs", &runs, seed);
        }
    }
    assert!(won > 30 && lost > 10, "{won} won, {lost} lost");
}

/// What extends the depth tells of wins and losses what a search of one ply more knows, and all
/// else as before: a value that is not a win or loss may differ, never which of the three it is.
#[test]
fn wins_with_the_ply_after_the_last_are_those_of_one_ply_more() {
    let evaluation = PentagoLines::default();
    let mut decided = 0;
    for seed in 0..120 {
        let rules = Pentago::rules(seed % 3 != 0);
        let mut random = Random::from_key(key(seed));
        let plies = 8 + random.below(25);
        let position: Pentago = random_position(&rules, plies, &mut random);
        if position.legal_move_count() < 2 {
            continue;
        }
        let depth = if position.legal_move_count() > 90 { 1 } else { 2 };
        let further = minimax(&position, depth + 1, 0, &evaluation);
        for switches in ["", r#", "last_ply": true"#, r#", "preset": "full", "exact_plies": 0"#] {
            let json = format!(
                r#"{{"algorithm": "alpha-beta", "evaluation": "lines", "depth": {depth},
                    "extension": true{switches}}}"#
            );
            let search = analysed(&rules, &position, &player(&rules, &json), seed).search;
            let score = search.score.unwrap();
            if score.abs() >= WIN_MIN || further.abs() >= WIN_MIN {
                decided += 1;
                assert_eq!(score, further, "{position} to depth {depth}, {json}");
            }
        }
    }
    assert!(decided > 60, "{decided}");
}

/// Near the end the exact solver chooses: what is won or drawn is kept, and the score says so.
#[test]
fn the_exact_solver_takes_over_near_the_end() {
    let rules = Pentago::rules(true);
    let handing_over = r#"{"algorithm": "alpha-beta", "depth": 1, "exact_plies": 8}"#;
    let mut kept = 0;
    for seed in 0..40 {
        let mut random = Random::from_key(key(seed));
        let position: Pentago = random_position(&rules, 28, &mut random);
        if position.plies_left() > 8 || position.legal_move_count() < 2 {
            continue;
        }
        let exact = solve(&rules, &position.to_string(), &Limits::default(), &Timeless).unwrap();
        let analysis = analysed(&rules, &position, &player(&rules, handing_over), seed);
        if exact.value >= 0 {
            assert_eq!(analysis.search.ended_by, EndedBy::Proven, "{position}");
            assert!(exact.optimal_moves.contains(&analysis.best_move), "{position}");
            kept += 1;
        } else {
            // Lost: it searches on, one ply deep.
            assert_ne!(analysis.search.score, Some(0), "{position}");
        }
    }
    assert!(kept > 10, "{kept}");
}
