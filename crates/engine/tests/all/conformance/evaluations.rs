//! Evaluations: bounds, antisymmetry, symmetry, and the last ply from tables.

use spelrum_engine::evaluation::{EvaluationVisitor, GameEvaluation};
use spelrum_engine::games::Chess;
use spelrum_engine::search::{Budget, Evaluate, LastPly, Limits, WIN_MIN};
use spelrum_engine::{
    EvaluationInfo, Game, ParameterKind, Parameters, Position, Random, Rules, Timeless, Value,
    with_evaluation,
};

use super::keys::image_of;
use super::{PlayedGame, Sample};
use crate::common::brute_force::{after, first_win, for_mover, moves_of, wins};
use crate::common::{chosen, evaluations_of_parameters, key};

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
    for position in sample.positions().filter(|position| !position.is_over()) {
        let value = evaluation.evaluate(position);
        assert!(value > -WIN_MIN && value < WIN_MIN, "{position:?} has the value {value}");
        assert_eq!(evaluation.evaluate(position), value, "{position:?} is valued anew");
    }
}

/// The position with what belongs to the one side given to the other, if there is such a position:
/// where the letters of the sides are exchanged in its notation.
fn exchanged<G: Game>(rules: &Rules, position: &G) -> Option<G> {
    if G::NAME == Chess::NAME {
        return G::parse(rules, &with_colours_exchanged(&position.to_string())).ok();
    }
    let [first, second] = G::SIDES.map(|side| side.letter);
    let other = |letter| match letter {
        letter if letter == first => second,
        letter if letter == second => first,
        other => other,
    };
    let text: String = position.to_string().chars().map(other).collect();
    G::parse(rules, &text).ok().filter(|other| !other.is_over())
}

/// In a FEN the colours are told apart by case, and by which end of the board is theirs.
fn with_colours_exchanged(fen: &str) -> String {
    let other_case = |text: &str| -> String {
        let other = |c: char| {
            if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        text.chars().map(other).collect()
    };
    let fields: Vec<&str> = fen.split(' ').collect();
    let rows: Vec<String> = fields[0].split('/').rev().map(other_case).collect();
    let turn = if fields[1] == "w" { "b" } else { "w" };
    let rights = other_case(fields[2]);
    let (white, black): (String, String) = rights.chars().partition(|c| c.is_ascii_uppercase());
    let en_passant: String = fields[3]
        .chars()
        .map(|c| match c {
            '3' => '6',
            '6' => '3',
            c => c,
        })
        .collect();
    let rows = rows.join("/");
    format!("{rows} {turn} {white}{black} {en_passant} {} {}", fields[4], fields[5])
}

fn exchanging_the_sides_negates<G: Game>(sample: &Sample<'_, G>, evaluation: &dyn Evaluate<G>) {
    let mut checked = 0;
    for position in sample.positions().filter(|position| !position.is_over()) {
        let Some(other) = exchanged(sample.rules, position) else { continue };
        let [own, value] = [position, &other].map(|position| evaluation.evaluate(position));
        // Where the turn is exchanged as well, the side to move has what it had.
        let expected = if other.to_move() == position.to_move() { -value } else { value };
        assert_eq!(own, expected, "{position:?} and {other:?}");
        checked += 1;
    }
    assert!(checked >= 5, "{checked} positions whose sides can be exchanged");
}

fn images_have_the_value_of_their_originals<G: Game>(
    sample: &Sample<'_, G>,
    evaluation: &dyn Evaluate<G>,
) {
    for game in &sample.games {
        let middle = game.moves.len() / 2;
        let (_, orientation) = game.positions[middle].reduced_key();
        let going = game.moves.len() - 1;
        let until = PlayedGame {
            positions: game.positions[..=going].to_vec(),
            moves: game.moves[..going].to_vec(),
        };
        let Some(image) = image_of(&until, orientation) else { continue };
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
