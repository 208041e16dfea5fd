//! Evaluations: bounds, antisymmetry, symmetry, and the last ply from tables.

use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::search::{Budget, Evaluate, LastPly, Limits, WIN_MIN};
use spelrum_engine::{
    EvaluationInfo, Game, ParameterKind, Parameters, Position, Random, Timeless, Value,
    with_evaluation,
};

use super::exchange::exchanged;
use super::keys::{image_of, orientations_of_the_start};
use super::{PlayedGame, Sample};
use crate::common::brute_force::{after, first_win, for_mover, moves_of, wins};
use crate::common::{chosen, evaluations_of_parameters, key};

/// Positions that each choice of an evaluation's parameters is asked for, at most.
const EVALUATED_MAX: usize = 3_000;

pub(super) fn check<G: Game>(sample: &Sample<'_, G>) {
    assert!(!G::EVALUATIONS.is_empty());
    let mut random = Random::from_key(key(2));
    for info in evaluations_of_parameters::<G>() {
        let mut players = vec![Parameters::new()];
        for size in [3, 100, i64::MAX] {
            players.push(with_integers(info, |min, max| {
                let [min, max] = [min.max(-size), max.min(size)];
                min + i64::from(random.below((max - min + 1).try_into().unwrap()))
            }));
        }
        players.push(with_integers(info, |min, _| min));
        players.push(with_integers(info, |_, max| max));
        for mut player in players {
            player.extend(chosen(info));
            with_evaluation(&player, Check { sample }).unwrap();
            if info.parameters.iter().any(|info| info.name == "view") {
                player.insert("view".to_owned(), Value::Text("difference".to_owned()));
                with_evaluation(&player, Check { sample }).unwrap();
            }
        }
    }
}

/// The evaluation's parameters that are integers, each chosen from its range.
fn with_integers(info: &EvaluationInfo, mut choose: impl FnMut(i64, i64) -> i64) -> Parameters {
    let chosen = info.parameters.iter().filter_map(|info| {
        let ParameterKind::Integer { min, max } = info.kind else { return None };
        Some((info.name.to_owned(), Value::Integer(choose(min, max))))
    });
    chosen.collect()
}

struct Check<'s, 'r, G: Position> {
    sample: &'s Sample<'r, G>,
}

impl<G: Game> EvaluationVisitor<G> for Check<'_, '_, G> {
    type Output = ();

    fn visit<E: GameEvaluation<G>>(self, evaluation: E) {
        let Self { sample } = self;
        values_are_within_their_bounds(sample, &evaluation);
        if evaluation.is_antisymmetric() {
            exchanging_the_sides_negates(sample, &evaluation);
        }
        if evaluation.is_symmetric() {
            images_have_the_value_of_their_originals(sample, &evaluation);
        }
        the_last_ply_is_the_best_of_all_moves(sample, &evaluation);
    }
}

fn values_are_within_their_bounds<G: Game>(sample: &Sample<'_, G>, evaluation: &dyn Evaluate<G>) {
    for position in sample.some_ongoing(EVALUATED_MAX) {
        let value = evaluation.evaluate(position);
        assert!(value > -WIN_MIN && value < WIN_MIN, "{position:?} has the value {value}");
        assert_eq!(evaluation.evaluate(position), value, "{position:?} is valued anew");
    }
}

fn exchanging_the_sides_negates<G: Game>(sample: &Sample<'_, G>, evaluation: &dyn Evaluate<G>) {
    for position in sample.some_ongoing(EVALUATED_MAX) {
        let Some(other) = exchanged(sample.rules, position) else { continue };
        let [own, value] = [position, &other].map(|position| evaluation.evaluate(position));
        // Where the turn is exchanged as well, the side to move has what it had.
        let expected = if other.to_move() == position.to_move() { -value } else { value };
        assert_eq!(own, expected, "{position:?} and {other:?}");
    }
}

fn images_have_the_value_of_their_originals<G: Game>(
    sample: &Sample<'_, G>,
    evaluation: &dyn Evaluate<G>,
) {
    let orientations = orientations_of_the_start(sample);
    for (number, game) in sample.games.iter().enumerate() {
        let going = game.moves.len() - 1;
        let until = PlayedGame {
            positions: game.positions[..=going].to_vec(),
            moves: game.moves[..going].to_vec(),
        };
        let image = image_of(&until, orientations[number % orientations.len()]);
        for (position, image) in until.positions.iter().zip(&image.positions) {
            let [value, of_image] = [position, image].map(|position| evaluation.evaluate(position));
            assert_eq!(value, of_image, "{position:?} and its image {image:?}");
        }
    }
}

/// The best move's value for who makes it, as [`Evaluate::last_ply`] is asked for it.
fn best_by_making_every_move<G: Game>(
    position: &G,
    evaluation: &dyn Evaluate<G>,
    LastPly { lost, lost_to_reply, .. }: LastPly,
) -> i32 {
    let value = |mv| {
        let child = after(position, mv);
        if let Some(ending) = child.ending() {
            return if ending.winner.is_some() { lost } else { 0 };
        }
        match lost_to_reply {
            Some(lost) if moves_of(&child).into_iter().any(|mv| wins(&child, mv)) => lost,
            Some(_) | None => for_mover(position, &child, evaluation.evaluate(&child)),
        }
    };
    moves_of(position).into_iter().map(value).max().unwrap()
}

fn the_last_ply_is_the_best_of_all_moves<G: Game>(
    sample: &Sample<'_, G>,
    evaluation: &dyn Evaluate<G>,
) {
    for (number, position) in sample.some_ongoing(200).enumerate() {
        if first_win(position).is_some() {
            continue;
        }
        let asked = LastPly {
            lost: -900_000,
            lost_to_reply: (number % 2 == 0).then_some(-899_999),
            beta: i32::MAX,
        };
        let last_ply = |beta| {
            let mut budget = Budget::new(&Limits::default(), &Timeless);
            let asked = LastPly { beta, ..asked };
            evaluation.last_ply(position, asked, &mut budget).map(Result::unwrap)
        };
        let Some(found) = last_ply(i32::MAX) else { continue };
        let exact = best_by_making_every_move(position, evaluation, asked);
        assert_eq!(found, exact, "{position:?}");
        for beta in [exact - 1_000, exact - 1, exact, exact + 1] {
            let bounded = last_ply(beta).unwrap();
            let is_bound = bounded >= beta && bounded < exact;
            assert!(bounded == exact || is_bound, "{position:?}: {bounded} is not {exact}");
        }
    }
}
