//! The values of all legal moves, against slow references.

use std::collections::BTreeMap;

use crate::common::brute_force::{ExactScores, after, for_mover, minimax_of_move, moves_of};
use crate::common::{
    Counting, all_rules, chosen, chosen_json, evaluations_of_parameters, key, player,
    random_position,
};
use proptest::prelude::*;
use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::games::pentago::PentagoSolver;
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::games::{ConnectFour, Nim, Pentago, TicTacToe};
use spelrum_engine::search::{Budget, Evaluate, Limits, Stop, WIN};
use spelrum_engine::{
    EndedBy, Game, Knowledge, MoveValues, MoveValuesError, Optimal, PlainSolver, Player, Position,
    Random, Rules, SolveError, Solver, Timeless, check_reference, move_values, solve,
    with_evaluation, with_game,
};

fn exact(rules: &Rules) -> Player {
    player(rules, r#"{"algorithm": "exact", "nodes": 1000000000}"#)
}

fn minimax(rules: &Rules, evaluation: &str, depth: u32) -> Player {
    let evaluation = chosen_json(rules, evaluation);
    let json = format!(r#"{{"algorithm": "minimax", {evaluation}, "depth": {depth}}}"#);
    player(rules, &json)
}

fn valued(rules: &Rules, position: &impl Position, reference: &Player) -> MoveValues {
    let found = move_values(rules, &position.to_string(), reference, &Timeless).unwrap();
    assert_eq!(found.position, position.to_string());
    assert_eq!(found.to_move, position.to_move());
    let moves: Vec<String> = moves_of(position).iter().map(ToString::to_string).collect();
    let found_moves: Vec<&str> =
        found.moves.iter().map(|move_value| move_value.mv.as_str()).collect();
    assert_eq!(found_moves, moves, "{position}");
    found
}

fn values(rules: &Rules, position: &impl Position, reference: &Player) -> Vec<i64> {
    valued(rules, position, reference)
        .moves
        .into_iter()
        .map(|move_value| move_value.value)
        .collect()
}

/// The value of each move, from that of what it leads to.
fn by_child<P: Position>(position: &P, mut value_of: impl FnMut(&P) -> i32) -> Vec<i64> {
    let of_move = |mv| {
        let child = after(position, mv);
        i64::from(for_mover(position, &child, value_of(&child)))
    };
    moves_of(position).into_iter().map(of_move).collect()
}

/// The exact values of moves by plain recursion.
fn exactly<P: Position>(position: &P, scores: &mut ExactScores) -> Vec<i64> {
    by_child(position, |child| scores.score(child, 3_000_000).unwrap().signum())
}

fn random(seed: u64) -> Random {
    Random::from_key(key(seed))
}

#[test]
fn exact_values_are_right_in_all_of_tic_tac_toe() {
    let rules = TicTacToe::rules();
    let reference = exact(&rules);
    let mut scores = ExactScores::default();
    assert_eq!(scores.score(&TicTacToe::empty(), 10_000), Some(0));
    let names: Vec<String> = scores.known().map(|(name, _)| name.to_owned()).collect();
    for name in names {
        let position = TicTacToe::parse(&rules, &name).unwrap();
        assert_eq!(
            values(&rules, &position, &reference),
            exactly(&position, &mut scores),
            "{name}"
        );
    }
}

#[test]
fn exact_values_are_right_in_nim() {
    for (heaps, misere) in [(&[3, 4, 5][..], false), (&[2, 3, 4], true), (&[1, 1, 2, 2], true)] {
        let rules = Nim::rules(heaps, misere).unwrap();
        for seed in 0..20 {
            let position: Nim = random_position(&rules, seed % 5, &mut random(u64::from(seed)));
            let expected = exactly(&position, &mut ExactScores::default());
            assert_eq!(values(&rules, &position, &exact(&rules)), expected, "{position}");
        }
    }
}

#[test]
fn exact_values_are_right_late_in_connect_four() {
    let rules = ConnectFour::rules();
    let mut differing = 0;
    for seed in 0..60 {
        let plies = 28 + seed as u32 % 14;
        let position: ConnectFour = random_position(&rules, plies, &mut random(seed));
        if position.plies_left() > 16 {
            continue;
        }
        let expected = exactly(&position, &mut ExactScores::default());
        assert_eq!(values(&rules, &position, &exact(&rules)), expected, "{position}");
        differing += u32::from(expected.iter().any(|value| *value != expected[0]));
    }
    assert!(differing >= 5, "{differing}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, ..ProptestConfig::default() })]

    #[test]
    fn exact_values_are_right_late_in_pentago(seed: u64, plies in 31_u32..36, before: bool) {
        let rules = Pentago::rules(before);
        let position: Pentago = random_position(&rules, plies, &mut random(seed));
        if position.marbles() < 31 {
            return Ok(());
        }
        let expected = exactly(&position, &mut ExactScores::default());
        prop_assert_eq!(values(&rules, &position, &exact(&rules)), expected, "{}", position);
    }
}

/// A position after so many random moves, the game not being over.
fn random_pentago(rules: &Rules, marbles: u32, random: &mut Random) -> Pentago {
    loop {
        let position: Pentago = random_position(rules, marbles, random);
        if position.marbles() == marbles {
            return position;
        }
    }
}

/// Further from the end: move by move, by the solver that plays every move on one board at a time, and then by
/// this one, whose values of positions are held against others elsewhere.
#[test]
fn exact_values_are_those_of_the_positions_after_the_moves() {
    let mut counts = [0; 3];
    for seed in 0..90 {
        let rules = Pentago::rules(seed % 3 != 0);
        let marbles = 22 + seed as u32 % 10;
        let position = random_pentago(&rules, marbles, &mut random(seed));
        let mut plain = PlainSolver::default();
        let mut solver = PentagoSolver::default();
        let mut value_of = |child: &Pentago| {
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            match child.ending() {
                Some(ending) => {
                    ending.winner.map_or(0, |winner| if winner == child.to_move() { 1 } else { -1 })
                }
                None if marbles >= 30 => plain.value(child, &mut budget).unwrap(),
                None => solver.value(child, &mut budget).unwrap(),
            }
        };
        let expected = by_child(&position, &mut value_of);
        let found = values(&rules, &position, &exact(&rules));
        assert_eq!(found, expected, "{position} under {rules:?}");
        for value in found {
            counts[(value + 1) as usize] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 200), "{counts:?}");
}

/// With more empty cells than every board below them can be worked out for, a position is valued within
/// the limits, or not at all.
#[test]
fn far_from_the_end_the_limits_decide() {
    let rules = Pentago::rules(true);
    let limited =
        |nodes: u64| player(&rules, &format!(r#"{{"algorithm": "exact", "nodes": {nodes}}}"#));
    let (mut known, mut stopped) = (0, 0);
    for seed in 0..20 {
        let position = random_pentago(&rules, 16 + seed as u32 % 3, &mut random(seed));
        match move_values(&rules, &position.to_string(), &limited(20_000), &Timeless) {
            Ok(found) => {
                known += 1;
                let mut solver = PentagoSolver::default();
                let mut budget = Budget::new(&Limits::default(), &Timeless);
                let best = found.moves.iter().map(|move_value| move_value.value).max();
                let value = solver.value(&position, &mut budget).unwrap();
                assert_eq!(best, Some(value.into()), "{position}");
            }
            Err(MoveValuesError::Limit { limit: EndedBy::Nodes, nodes: 20_000 }) => stopped += 1,
            Err(other) => panic!("{position}: {other}"),
        }
    }
    assert!(known > 0 && stopped > 0, "{known} {stopped}");
}

/// Nodes within which a position is solved that is looked at: a game may have many moves near its end.
const SOLVED_NODES_MAX: u64 = 2_000_000;

/// The best value is the position's, and the moves that have it are the optimal ones, in every game.
#[test]
fn the_best_moves_are_those_of_the_solver() {
    let mut checked = 0;
    for rules in all_rules() {
        for seed in 0..10 {
            with_game!(&rules, G => {
                let plies = G::start(&rules).unwrap().plies_left() * 3 / 4 + seed % 4;
                let position: G = random_position(&rules, plies, &mut random(u64::from(seed)));
                if position.plies_left() > 16 {
                    continue;
                }
                let limits = Limits { nodes: Some(SOLVED_NODES_MAX), ..Limits::default() };
                let solved = match solve(&rules, &position.to_string(), &limits, &Timeless) {
                    Err(SolveError::Limit { .. }) => continue,
                    solved => solved.unwrap(),
                };
                let found = valued(&rules, &position, &exact(&rules));
                let best = found.moves.iter().map(|move_value| move_value.value).max();
                assert_eq!(best, Some(solved.value.into()), "{position}");
                let moves = found.moves.iter().filter(|move_value| Some(move_value.value) == best);
                let moves: Vec<_> = moves.map(|move_value| move_value.mv.clone()).collect();
                assert!(solved.are_all, "{position}");
                assert_eq!(moves, solved.optimal_moves, "{position}");
                checked += 1;
            });
        }
    }
    assert!(checked >= 40, "{checked}");
}

/// A solver that leaves the values of moves to the trait.
#[derive(Default)]
struct WithoutMoves(PlainSolver);

impl<P: Knowledge> Solver<P> for WithoutMoves {
    fn value(&mut self, position: &P, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        self.0.value(position, budget)
    }

    fn optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<i32, Stop> {
        self.0.optimal_moves(position, budget, moves)
    }

    fn some_optimal_moves(
        &mut self,
        position: &P,
        budget: &mut Budget<'_>,
        moves: &mut Vec<P::Move>,
    ) -> Result<Optimal, Stop> {
        self.0.some_optimal_moves(position, budget, moves)
    }
}

#[test]
fn a_solver_need_not_know_more_than_values() {
    for rules in all_rules() {
        for seed in 0..10 {
            with_game!(&rules, G => {
                let plies_left = G::start(&rules).unwrap().plies_left();
                let plies = plies_left.saturating_sub(6 + seed % 3);
                let position: G = random_position(&rules, plies, &mut random(u64::from(seed)));
                let values_by = |solver: &mut dyn Solver<G>| {
                    let mut values = Vec::new();
                    let mut budget = Budget::new(&Limits::default(), &Timeless);
                    solver.move_values(&position, &mut budget, &mut values).unwrap();
                    values
                };
                if position.plies_left() <= 12 {
                    let of_game = values_by(&mut WithoutMoves::default());
                    assert_eq!(of_game, values_by(&mut PlainSolver::default()), "{position}");
                }
            });
        }
    }
}

/// A position valued by plain minimax and by the reference, with an evaluation of the catalogue.
struct Searched<'a, G> {
    rules: &'a Rules,
    position: &'a G,
    evaluation: &'static str,
}

impl<G: Game> EvaluationVisitor<G> for Searched<'_, G> {
    type Output = ();

    fn visit<E: GameEvaluation<G>>(self, evaluation: E) {
        let Self { rules, position, evaluation: name } = self;
        let moves = u64::from(position.legal_move_count());
        let depth_max = (1..6).find(|&depth| moves.pow(depth + 1) > 50_000).unwrap_or(6);
        for depth in 1..=depth_max {
            check_minimax(rules, position, depth, name, &evaluation);
        }
    }
}

fn check_minimax<G: Game>(
    rules: &Rules,
    position: &G,
    depth: u32,
    name: &str,
    evaluation: &dyn Evaluate<G>,
) -> Vec<i64> {
    let found = values(rules, position, &minimax(rules, name, depth));
    let moves = moves_of(position).into_iter();
    let expected: Vec<i64> =
        moves.map(|mv| minimax_of_move(position, mv, depth, evaluation).into()).collect();
    assert_eq!(found, expected, "{position} to depth {depth} with {name}");
    found
}

#[test]
fn minimax_values_are_those_of_plain_minimax_in_every_game() {
    for rules in all_rules() {
        for seed in 0..10 {
            with_game!(&rules, G => {
                let mut random = random(seed);
                let plies = random.below(G::start(&rules).unwrap().plies_left());
                let position: G = random_position(&rules, plies, &mut random);
                for info in evaluations_of_parameters::<G>() {
                    let evaluation = info.name;
                    let searched = Searched { rules: &rules, position: &position, evaluation };
                    with_evaluation(&chosen(info), searched).unwrap();
                }
            });
        }
    }
}

#[test]
fn minimax_values_are_those_of_plain_minimax_in_pentago() {
    let (runs, lines) = (PentagoRuns::default(), PentagoLines::default());
    let (mut mates, mut plain) = (0, 0);
    for seed in 0..40 {
        let rules = Pentago::rules(seed % 2 == 0);
        let position = random_pentago(&rules, 14 + seed as u32 % 22, &mut random(seed));
        let depth = match position.marbles() {
            14..24 => 2,
            24..31 => 3,
            31..34 => 4,
            _ => 5,
        };
        for value in check_minimax(&rules, &position, depth, "runs", &runs) {
            let is_mate = value.abs() > i64::from(WIN) - 100;
            *(if is_mate { &mut mates } else { &mut plain }) += 1;
        }
        check_minimax(&rules, &position, depth.min(3), "lines", &lines);
    }
    assert!(mates > 100 && plain > 100, "{mates} {plain}");
}

/// A move by its cell, and the quadrant and direction that it turns.
type Named = (u32, Option<(u32, u32)>);

/// The board mirrored left to right: cells, quadrants and directions change places.
fn mirrored((cell, turn): Named) -> Named {
    let cell = cell / 6 * 6 + 5 - cell % 6;
    (cell, turn.map(|(quadrant, direction)| (quadrant ^ 1, direction ^ 1)))
}

/// The board turned a quarter to the right: directions stay.
fn turned((cell, turn): Named) -> Named {
    let cell = cell % 6 * 6 + 5 - cell / 6;
    (cell, turn.map(|(quadrant, direction)| ([1, 3, 0, 2][quadrant as usize], direction)))
}

#[test]
fn symmetric_positions_have_the_same_values_elsewhere() {
    let named = |position: &Pentago, reference: &Player, rules: &Rules| -> BTreeMap<Named, i64> {
        let moves = valued(rules, position, reference).moves.into_iter();
        let named = moves.map(|move_value| {
            let mv = position.parse_move(&move_value.mv).unwrap();
            let turn = mv.turn().map(|turn| (turn.quadrant as u32, turn.direction as u32));
            ((mv.cell(), turn), move_value.value)
        });
        named.collect()
    };
    for seed in 0..24 {
        let rules = Pentago::rules(seed % 2 == 0);
        let position = random_pentago(&rules, 22 + seed as u32 % 14, &mut random(seed));
        let text: Vec<char> = position.to_string().chars().collect();
        for reference in [exact(&rules), minimax(&rules, "runs", 2)] {
            let values = named(&position, &reference, &rules);
            for map in [mirrored, turned] {
                let mut image = ['.'; 36];
                for (cell, &marble) in (0..).zip(&text) {
                    image[map((cell, None)).0 as usize] = marble;
                }
                let image = Pentago::parse(&rules, &image.iter().collect::<String>()).unwrap();
                let expected = values.iter().map(|(&mv, &value)| (map(mv), value)).collect();
                assert_eq!(named(&image, &reference, &rules), expected, "{position}");
            }
        }
    }
}

#[test]
fn what_was_valued_before_changes_nothing() {
    let mut solver = PentagoSolver::default();
    let values_by = |solver: &mut PentagoSolver, position: &Pentago| {
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        let mut values = Vec::new();
        solver.move_values(position, &mut budget, &mut values).unwrap();
        (values, budget.nodes())
    };
    for seed in 0..24 {
        let rules = Pentago::rules(seed % 3 != 0);
        let position = random_pentago(&rules, 23 + seed as u32 % 6, &mut random(seed));
        let fresh = values_by(&mut PentagoSolver::default(), &position);
        assert_eq!(values_by(&mut solver, &position), fresh, "{position}");
        let mut budget = Budget::new(&Limits::default(), &Timeless);
        solver.value(&position, &mut budget).unwrap();
    }
}

#[test]
fn limits_and_the_host_end_it_with_an_error() {
    let start = ".w..b....w.....b..b.....w....b..w...";
    let rules = Pentago::rules(true);
    for search in [r#""algorithm": "exact""#, r#""algorithm": "minimax", "depth": 4"#] {
        for nodes in [1, 2, 63, 64, 65, 1000] {
            let reference = player(&rules, &format!(r#"{{{search}, "nodes": {nodes}}}"#));
            let error = move_values(&rules, start, &reference, &Timeless).unwrap_err();
            assert_eq!(error, MoveValuesError::Limit { limit: EndedBy::Nodes, nodes });
            let host = Counting { abort_at_look: Some(1), ..Counting::default() };
            let error = move_values(&rules, start, &reference, &host).unwrap_err();
            assert_eq!(error, MoveValuesError::Aborted);
        }
    }
    let error =
        move_values(&rules, "wwwwwbbbb...........................", &exact(&rules), &Timeless);
    assert!(matches!(error, Err(MoveValuesError::Position(_))), "{error:?}");
    let error = move_values(&TicTacToe::rules(), ".........", &exact(&rules), &Timeless);
    assert_eq!(error, Err(MoveValuesError::OtherGame));
}

/// A limit on nodes that is enough changes no value.
#[test]
fn a_limit_that_is_not_reached_changes_nothing() {
    let mut checked = 0;
    for rules in all_rules() {
        for (search, limit) in [("exact", ""), ("minimax", r#""depth": 2, "#)] {
            with_game!(&rules, G => {
                let plies = G::start(&rules).unwrap().plies_left() * 3 / 4;
                // What may last for hundreds of plies is never near its end.
                let is_late = |position: &G| search != "exact" || position.plies_left() <= 16;
                let mut positions =
                    (1..100).map(|seed| random_position(&rules, plies.min(100), &mut random(seed)));
                let Some(position) = positions.find(is_late) else { continue };
                let values_within = |nodes: u64| {
                    let json = format!(r#"{{"algorithm": "{search}", {limit}"nodes": {nodes}}}"#);
                    move_values(&rules, &position.to_string(), &player(&rules, &json), &Timeless)
                };
                let found = match values_within(SOLVED_NODES_MAX) {
                    Err(MoveValuesError::Limit { .. }) => continue,
                    found => found.unwrap(),
                };
                checked += 1;
                assert_eq!(values_within(found.nodes), Ok(found.clone()), "{position}");
                if found.nodes > 1 {
                    let error = values_within(found.nodes - 1).unwrap_err();
                    assert!(matches!(error, MoveValuesError::Limit { .. }), "{position}: {error}");
                }
            });
        }
    }
    assert!(checked >= 12, "{checked}");
}

#[test]
fn what_is_no_reference_is_refused_with_what_to_write() {
    let rules = Pentago::rules(true);
    let refused = |json: &str| check_reference(&player(&rules, json)).unwrap_err();
    for json in [
        r#"{"algorithm": "exact", "nodes": 1000}"#,
        r#"{"algorithm": "exact", "nodes": 1000, "shuffle": false, "evaluation": "lines"}"#,
        r#"{"algorithm": "minimax", "depth": 3}"#,
        r#"{"algorithm": "minimax", "depth": 3, "nodes": 1000}"#,
    ] {
        assert_eq!(check_reference(&player(&rules, json)), Ok(()), "{json}");
    }
    for (json, key, problem, remedy) in [
        (r#"{"algorithm": "random"}"#, Some("algorithm"), "`random`", "`algorithm = \"exact\"`"),
        (r#"{"algorithm": "alpha-beta", "depth": 3}"#, Some("algorithm"), "alpha-beta", "minimax"),
        (r#"{"algorithm": "minimax", "nodes": 100}"#, None, "`depth`", "in plies"),
        (
            r#"{"algorithm": "minimax", "depth": 2, "move_time": "1s"}"#,
            Some("move_time"),
            "time",
            "leave",
        ),
        (r#"{"algorithm": "exact", "move_time": "1s"}"#, Some("move_time"), "time", "`nodes`"),
        (
            r#"{"algorithm": "exact", "nodes": 9, "evaluations": 9}"#,
            Some("evaluations"),
            "eval",
            "leave",
        ),
    ] {
        let error = refused(json);
        assert_eq!(error.place.as_deref(), key, "{json}");
        assert!(error.what.contains(problem), "{json}: {error}");
        assert!(error.remedy.contains(remedy), "{json}: {error}");
        let refused =
            move_values(&rules, ".".repeat(36).as_str(), &player(&rules, json), &Timeless);
        assert_eq!(refused, Err(MoveValuesError::Reference(error)), "{json}");
    }
}
