//! Evaluations against their slow references, and by hand.

use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation, WEIGHT_MAX};
use spelrum_engine::games::Chess;
use spelrum_engine::games::chess::evaluation::{ChessMaterial, ChessPositional};
use spelrum_engine::search::{Evaluate, WIN_MIN};
use spelrum_engine::{
    Game, ParameterDefault, Parameters, Position, Random, Value, with_evaluation,
};

use super::slow_chess::SlowChess;
use super::slow_evaluation::{material, positional};
use super::{all_rules, chess, positions_of_games};
use crate::common::key;

struct At<'a>(&'a Chess);

impl EvaluationVisitor<Chess> for At<'_> {
    type Output = i32;

    fn visit<E: GameEvaluation<Chess>>(self, evaluation: E) -> i32 {
        evaluation.evaluate(self.0)
    }
}

fn value(name: &str, parameters: &[(&str, i32)], position: &Chess) -> i32 {
    let mut given: Parameters = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Value::Integer((*value).into())))
        .collect();
    given.insert("evaluation".to_owned(), Value::Text(name.to_owned()));
    with_evaluation(&given, At(position)).unwrap()
}

/// An evaluation's parameters and their defaults.
fn defaults(name: &str) -> Vec<(&'static str, i32)> {
    let info = Chess::EVALUATIONS.iter().find(|info| info.name == name).unwrap();
    let default = |default: &ParameterDefault| {
        let ParameterDefault::Integer(value) = default else { panic!("{default:?}") };
        i32::try_from(*value).unwrap()
    };
    info.parameters.iter().map(|info| (info.name, default(&info.default))).collect()
}

#[test]
fn evaluations_are_their_slow_twins() {
    let usual = defaults("positional");
    let mut random = Random::from_key(key(3));
    let mut draw = |max: i32| i32::try_from(random.below(2 * max as u32 + 1)).unwrap() - max;
    for rules in all_rules() {
        let is_chess960 = rules.switch("chess960");
        for position in positions_of_games(&rules, 4).filter(|position| !position.is_over()) {
            let slow = SlowChess::from_fen(&position.to_string(), is_chess960);
            for is_usual in [true, false] {
                let weights: Vec<(&str, i32)> = usual
                    .iter()
                    .map(|&(name, usual)| {
                        let max = if name.starts_with("weight") { WEIGHT_MAX } else { 1_000 };
                        (name, if is_usual { usual } else { draw(max) })
                    })
                    .collect();
                let numbers: Vec<i32> = weights.iter().map(|(_, weight)| *weight).collect();
                let pieces = numbers[..5].try_into().unwrap();
                let found = value("material", &weights[..5], &position);
                assert_eq!(found, material(&slow, pieces), "{position}");
                let found = value("positional", &weights, &position);
                assert_eq!(found, positional(&slow, numbers.try_into().unwrap()), "{position}");
                assert!(found.abs() < WIN_MIN);
            }
        }
    }
}

/// Whoever has the move: with the colours exchanged everything is the same for them.
#[test]
fn both_sides_of_the_start_have_the_same() {
    for rules in all_rules() {
        let start = Chess::start(&rules).unwrap();
        assert_eq!(ChessPositional::default().evaluate(&start), 0);
        assert_eq!(ChessMaterial::default().evaluate(&start), 0);
    }
}

#[test]
fn the_defaults_are_those_of_the_tables() {
    let position = chess("r1bqkbnr/pp1ppppp/2n5/8/3QP3/8/PPP2PPP/RNB1KBNR b KQkq - 0 4");
    let by_table = |name| value(name, &[], &position);
    assert_eq!(by_table("material"), ChessMaterial::default().evaluate(&position));
    assert_eq!(by_table("positional"), ChessPositional::default().evaluate(&position));
    assert_eq!(by_table("material"), 0);
}

#[test]
fn pieces_count_by_their_kind() {
    // White, to move, has a queen and a pawn for a rook, a bishop and a knight.
    let position = chess("r1b1k1n1/8/8/8/8/8/P7/3QK3 w - - 0 1");
    assert_eq!(ChessMaterial::default().evaluate(&position), 900 + 100 - 500 - 330 - 320);
    let black = chess("r1b1k1n1/8/8/8/8/8/P7/3QK3 b - - 0 1");
    assert_eq!(ChessMaterial::default().evaluate(&black), 500 + 330 + 320 - 900 - 100);
    let pawns = [("weight_pawn", 7)];
    assert_eq!(value("material", &pawns, &position), 900 + 7 - 500 - 330 - 320);
}

#[test]
fn what_is_better_has_more() {
    let value_of = |fen| ChessPositional::default().evaluate(&chess(fen));
    for (better, worse) in [
        // A knight in the middle, a rook on an open file, a passed pawn further on.
        ("4k3/pp6/8/8/4N3/8/PP6/4K3 w - - 0 1", "4k3/pp6/8/8/8/8/PP6/N3K3 w - - 0 1"),
        ("4k3/p7/8/8/8/8/P7/3RK3 w - - 0 1", "4k3/p7/8/8/8/8/P7/R3K3 w - - 0 1"),
        ("4k3/8/4P3/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/4P3/8/8/4K3 w - - 0 1"),
        // Pawns that protect each other, and a king behind them.
        ("4k3/8/8/8/3P4/2P5/8/4K3 w - - 0 1", "4k3/8/8/8/3P4/8/3P4/4K3 w - - 0 1"),
        (
            "r1bq1rk1/ppp2ppp/2n2n2/8/8/2N2N2/PPP2PPP/R1BQ1RK1 w - - 0 1",
            "r1bq1rk1/ppp2ppp/2n2n2/8/8/2NK1N2/PPP2PPP/R1BQ1R2 w - - 0 1",
        ),
        // Two bishops.
        ("4k3/pp6/8/8/8/8/PP6/2B1KB2 w - - 0 1", "4k3/pp6/8/8/8/8/PP6/2B1KN2 w - - 0 1"),
    ] {
        assert!(
            value_of(better) > value_of(worse),
            "{better}: {}, {worse}: {}",
            value_of(better),
            value_of(worse)
        );
    }
}
