//! Evaluations against slow references, and properties of all of them.

use proptest::prelude::*;
use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation, WEIGHT_MAX};
use spelrum_engine::games::pentago::evaluation::{PentagoLines, PentagoRuns};
use spelrum_engine::games::tic_tac_toe::evaluation::TicTacToeLines;
use spelrum_engine::games::{Pentago, TicTacToe};
use spelrum_engine::search::{Evaluate, WIN_MIN};
use spelrum_engine::{
    EvaluationInfo, Game, ParameterDefault, ParameterInfo, ParameterKind, Parameters, Position,
    Rules, Value, with_evaluation, with_game,
};

use super::slow_pentago::SlowBoard;
use super::{board, pentago, random_board, random_game};

fn parameters(pairs: &[(&str, i64)]) -> Parameters {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), Value::Integer(*value))).collect()
}

/// An evaluation by its name and all its weights.
pub(super) fn evaluation(rules: &Rules, name: &str, weights: &[i32]) -> Parameters {
    let info = rules.evaluations().iter().find(|info| info.name == name).unwrap();
    let names = info.parameters.iter().map(|info| info.name);
    let pairs: Vec<_> = names.zip(weights.iter().map(|&w| i64::from(w))).collect();
    let mut given = parameters(&pairs);
    given.insert("evaluation".to_owned(), Value::Text(name.to_owned()));
    given
}

/// Whether nothing else is to be said of an evaluation; formulas have tests of their own.
fn has_weights_alone(info: &EvaluationInfo) -> bool {
    info.parameters.iter().all(|info| matches!(info.kind, ParameterKind::Integer { .. }))
}

/// An evaluation by its name, with its default weights.
fn with_defaults(name: &str) -> Parameters {
    [("evaluation".to_owned(), Value::Text(name.to_owned()))].into()
}

struct At<'a, P>(&'a P);

impl<P: Position> EvaluationVisitor<P> for At<'_, P> {
    type Output = i32;

    fn visit<E: GameEvaluation<P>>(self, evaluation: E) -> i32 {
        evaluation.evaluate(self.0)
    }
}

pub(super) fn value<P: Game>(evaluation: &Parameters, position: &P) -> i32 {
    with_evaluation(evaluation, At(position)).unwrap()
}

fn weight() -> impl Strategy<Value = i32> {
    -WEIGHT_MAX..=WEIGHT_MAX
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn pentago_evaluations_are_their_slow_twins(
        marbles in 0_usize..36, seed: u64, runs in [weight(), weight(), weight()],
        lines in [weight(), weight(), weight(), weight()],
    ) {
        let text = random_board(marbles, seed);
        let (position, slow) = (board(&text), SlowBoard::from_text(&text));
        if !position.is_over() {
            let fast = value(&evaluation(&pentago(), "runs", &runs), &position);
            prop_assert_eq!(fast, slow.runs(runs));
            prop_assert!(fast.abs() < WIN_MIN);
            let fast = value(&evaluation(&pentago(), "lines", &lines), &position);
            prop_assert_eq!(fast, slow.lines(lines));
            prop_assert!(fast.abs() < WIN_MIN);
        }
    }

    /// With as many white as black marbles, exchanging the colours negates every evaluation.
    #[test]
    fn exchanging_the_colours_negates(pairs in 0_usize..18, seed: u64) {
        let text = random_board(2 * pairs, seed);
        let swapped: String =
            text.chars().map(|c| match c { 'w' => 'b', 'b' => 'w', c => c }).collect();
        if !board(&text).is_over() {
            for info in Pentago::EVALUATIONS.iter().filter(|info| has_weights_alone(info)) {
                let evaluation = with_defaults(info.name);
                prop_assert_eq!(
                    value(&evaluation, &board(&text)),
                    -value(&evaluation, &board(&swapped))
                );
            }
        }
    }
}

#[test]
fn a_run_is_maximal_and_its_ends_do_not_matter() {
    let runs = |run3: i32, run4: i32, text| {
        value(&evaluation(&pentago(), "runs", &[run3, run4, 0]), &board(text))
    };
    // White to move. Four in a row, hemmed in: one run of four, none of three.
    let four = "bwwwwb......b.......b...............";
    assert_eq!([runs(1, 0, four), runs(0, 1, four)], [0, 1]);
    // Three at the edge count, on a diagonal too; two do not.
    let three = "w......w......w...........bb.b......";
    assert_eq!([runs(1, 0, three), runs(0, 1, three)], [1, 0]);
    // A gap breaks a run.
    let gap = "ww.ww.......b.b.b.b.................";
    assert_eq!([runs(1, 0, gap), runs(0, 1, gap)], [0, 0]);
}

#[test]
fn six_in_two_directions_share_a_marble() {
    // c1 to c3 and c3 to e3, and the diagonals between: the corner counts in both runs.
    let corner = "..w.....w.....www..b.b......b..b..b.";
    let runs = evaluation(&pentago(), "runs", &[1, 0, 0]);
    assert_eq!(value(&runs, &board(corner)), 2);
}

#[test]
fn tic_tac_toe_lines_are_counted_by_hand() {
    let value = |weights: &[i32], text| {
        let position = TicTacToe::parse(&TicTacToe::rules(), text).unwrap();
        value(&evaluation(&TicTacToe::rules(), "lines", weights), &position)
    };
    // x on the centre has four lines; o to move.
    assert_eq!(value(&[1, 100], "....x...."), -4);
    // x: a2-c2, c1-a3 and b1-b3; o: a1-c1 and a1-a3. x to move.
    assert_eq!(value(&[1, 100], "o...x...."), 3 - 2);
    // x: a1-c1 with two, a1-a3 and the diagonal; o: b2... the middle row and column with b3.
    assert_eq!(value(&[1, 100], "xx..o...."), -(100 + 1 - (1 + 1)));
}

#[test]
fn every_evaluation_is_antisymmetric_and_bounded_in_every_game() {
    for name in Rules::games().iter().map(|game| game.name) {
        let rules = Rules::from_name(name).unwrap();
        with_game!(&rules, P => {
            assert_eq!(rules.evaluations(), P::EVALUATIONS);
            for info in P::EVALUATIONS.iter().filter(|info| has_weights_alone(info)) {
                let greatest = |info: &ParameterInfo| {
                    let ParameterKind::Integer { max, .. } = info.kind else {
                        panic!("{} is {}", info.name, info.kind)
                    };
                    max as i32
                };
                let weights: Vec<i32> = info.parameters.iter().map(greatest).collect();
                let extreme = evaluation(&rules, info.name, &weights);
                let defaults = with_defaults(info.name);
                for position in random_game(P::start(&rules).unwrap(), 7) {
                    assert!(value(&extreme, &position).abs() < WIN_MIN);
                    assert!(value(&defaults, &position).abs() < WIN_MIN);
                }
            }
        });
    }
}

/// What a sweep need not say has the value that the table states.
#[test]
fn the_default_weights_are_those_stated() {
    for game in Rules::games() {
        let rules = Rules::from_name(game.name).unwrap();
        let weighed = rules.evaluations().iter().filter(|info| has_weights_alone(info));
        for (index, info) in weighed.enumerate() {
            let stated: Vec<i32> = info
                .parameters
                .iter()
                .map(|weight| {
                    let ParameterDefault::Integer(value) = weight.default else {
                        panic!("{info:?} has the weight {}", weight.default)
                    };
                    value as i32
                })
                .collect();
            with_game!(&rules, P => for position in random_game(P::start(&rules).unwrap(), 5) {
                let by_default = value(&with_defaults(info.name), &position);
                assert_eq!(value(&evaluation(&rules, info.name, &stated), &position), by_default);
                if index == 0 {
                    assert_eq!(value(&Parameters::new(), &position), by_default);
                }
            });
        }
    }
}

#[test]
fn what_is_not_an_evaluation_is_refused() {
    let nim = Rules::from_name("nim").unwrap();
    let text = |text: &str| Value::Text(text.to_owned());
    let refusals = [
        (pentago(), "evaluation", text("run")),
        (nim.clone(), "evaluation", text("lines")),
        (pentago(), "evaluation", Value::Bool(true)),
        (pentago(), "weight_run3", Value::Integer(10_001)),
        (pentago(), "weight_run4", Value::Integer(i64::MIN)),
        (pentago(), "weight_centre", Value::Number(0.5)),
    ]
    .map(|(rules, key, value)| {
        let given = Parameters::from([(key.to_owned(), value)]);
        let error = with_game!(&rules, P => {
            with_evaluation(&given, At(&P::start(&rules).unwrap())).unwrap_err()
        });
        assert_eq!(error.place.as_deref(), Some(key));
        error.to_string()
    });
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    pentago has no evaluation "run"; did you mean "runs"?
    nim has no evaluation "lines"; write "none"
    pentago has no evaluation true; write "runs", "lines", "expression" or "none"
    `weight_run3` cannot be 10001; write an integer from -10000 to 10000
    `weight_run4` cannot be -9223372036854775808; write an integer from -10000 to 10000
    `weight_centre` cannot be 0.5; write an integer from -10000 to 10000
    "#);
}

/// The types can be used on their own, as a search compiled for one does.
#[test]
fn evaluations_are_types_too() {
    assert_eq!(PentagoRuns::default().evaluate(&Pentago::empty(true)), 0);
    assert_eq!(PentagoLines::default().evaluate(&Pentago::empty(true)), 0);
    assert_eq!(TicTacToeLines::default().evaluate(&TicTacToe::empty()), 0);
}
