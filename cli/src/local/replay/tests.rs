use spelrum_engine::games::TicTacToe;
use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use spelrum_engine::{
    ENGINE_REVISION, EndedBy, Outcome, Parameters, Rules, Side, Termination, Value,
};
use spelrum_model::{
    CellDefinition, CellId, DifferentField, GameId, OpeningsRule, PlayableCell, Task,
};

use super::*;
use crate::error::MessageStyle;
use crate::local::clock::Clock;

fn player(settings: &[(&str, Value)]) -> Arc<Parameters> {
    Arc::new(settings.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

fn word(word: &str) -> Value {
    Value::Text(word.to_owned())
}

fn definition(rules: Rules, players: [Arc<Parameters>; 2]) -> CellDefinition {
    CellDefinition {
        format: CellDefinition::FORMAT,
        seed: 5,
        rules,
        openings: OpeningsRule::Random { plies: 1 },
        max_plies: Some(12),
        adjudication: None,
        swap_sides: true,
        task: Task::Game,
        players,
    }
}

/// Noughts and crosses between a search of fixed depth and one that draws random numbers.
fn fixed_depth() -> CellDefinition {
    let players = [
        player(&[("algorithm", word("alpha-beta")), ("depth", Value::Integer(3))]),
        player(&[("algorithm", word("genetic-minimax")), ("depth", Value::Integer(3))]),
    ];
    definition(TicTacToe::rules(), players)
}

/// Pentago limited only by the clock.
fn timed() -> CellDefinition {
    let timed = player(&[
        ("algorithm", word("alpha-beta")),
        ("iterative", Value::Bool(true)),
        ("move_time_us", Value::Integer(700)),
    ]);
    definition(Rules::from_name("pentago").unwrap(), [Arc::clone(&timed), timed])
}

/// A game as it would be in the database.
fn recorded(definition: CellDefinition, number: u64) -> RecordedGame {
    let cell = PlayableCell::new(definition).unwrap();
    let (derived, record) = cell.play(number, None, &Clock::default()).unwrap();
    RecordedGame {
        game_id: 17,
        game: GameId { cell: CellId(3), number },
        definition: cell.definition().clone(),
        experiment: "test".to_owned(),
        experiment_uuid: String::new(),
        names: ["ab".to_owned(), "gm".to_owned()],
        opening: derived.opening.to_string(),
        end: GameEnd {
            first_side: record.first_side,
            outcome: record.outcome,
            margin: record.margin,
            termination: record.termination,
            plies: record.plies(),
            moves_hash: record.moves_hash(),
        },
        wall_us: Some(record.wall_us),
        moves: Some(record.moves),
        engine_revision: ENGINE_REVISION,
        not_counted_reason: None,
        engines: [None, None],
        forfeit: None,
    }
}

fn check(game: &RecordedGame) -> Check {
    replay_game(game, &mut Cells::default(), &Arc::default()).unwrap().unwrap().check
}

/// The first difference: its ply, and the fields that differ there.
fn difference(game: &RecordedGame) -> (Option<u32>, Vec<&'static str>) {
    let Check::Different(difference) = check(game) else { panic!("no difference is seen") };
    let name = |field: DifferentField| match field.name {
        Cow::Borrowed(name) => name,
        Cow::Owned(name) => panic!("{name} was read"),
    };
    (difference.ply, difference.fields.into_iter().map(name).collect())
}

#[test]
fn the_engine_does_the_same_again() {
    for number in 0..20 {
        assert_eq!(check(&recorded(fixed_depth(), number)), Check::Same(Compared::Moves));
    }
    for number in 0..4 {
        let game = recorded(timed(), number);
        let moves = game.moves.as_deref().unwrap();
        assert!(moves.iter().any(|record| record.search.ended_by == EndedBy::Time));
        assert_eq!(check(&game), Check::Same(Compared::Moves));
    }
}

/// A change of one figure of one ply.
type Tampering = (&'static str, fn(&mut MoveRecord));

const TAMPERINGS: &[Tampering] = &[
    ("side", |record| record.mover = 1 - record.mover),
    ("position_key", |record| record.position_key ^= 1),
    ("legal_moves", |record| record.legal_moves += 1),
    ("move", |record| record.mv.push('x')),
    ("depth", |record| record.search.depth += 1),
    ("nodes", |record| record.search.nodes += 1),
    ("evaluations", |record| record.search.evaluations += 1),
    ("full_tree_leaves", |record| record.search.full_tree_leaves += 1),
    ("score", |record| record.search.score = Some(77)),
    ("ended_by", |record| record.search.ended_by = EndedBy::Generations),
];

#[test]
fn whatever_differs_is_named_with_its_ply() {
    for (name, tamper) in TAMPERINGS {
        for ply in 0..recorded(fixed_depth(), 2).plies() {
            let mut game = recorded(fixed_depth(), 2);
            tamper(&mut game.moves.as_mut().unwrap()[ply as usize]);
            assert_eq!(difference(&game), (Some(ply), vec![*name]));
        }
    }
}

#[test]
fn only_the_first_difference_is_named() {
    let mut game = recorded(fixed_depth(), 2);
    let moves = game.moves.as_mut().unwrap();
    moves[1].search.depth += 1;
    moves[1].search.evaluations += 1;
    moves[2].search.depth += 1;
    game.end.plies += 1;
    assert_eq!(difference(&game), (Some(1), vec!["depth", "evaluations"]));
}

#[test]
fn what_the_whole_game_has_is_compared_too() {
    let changed = |change: fn(&mut RecordedGame)| {
        let mut game = recorded(fixed_depth(), 2);
        change(&mut game);
        difference(&game)
    };
    assert_eq!(changed(|game| game.opening = "x........".to_owned()).1, ["opening"]);
    assert_eq!(
        changed(|game| {
            game.end.outcome = match game.end.outcome {
                Outcome::Win => Outcome::Loss,
                Outcome::Draw | Outcome::Loss => Outcome::Win,
            };
        }),
        (None, vec!["outcome"])
    );
    // After one ply.
    assert_eq!(recorded(fixed_depth(), 2).end.first_side, Side::Second);
    assert_eq!(changed(|game| game.end.first_side = Side::First), (None, vec!["first_side"]));
    assert_eq!(changed(|game| game.end.termination = Termination::MAX_PLIES).1, ["termination"]);
    assert_eq!(changed(|game| game.end.plies += 1), (None, vec!["plies"]));
    assert_eq!(changed(|game| game.end.moves_hash ^= 1), (None, vec!["moves_hash"]));
}

/// A record that lacks plies, or has too many of them.
#[test]
fn a_record_of_another_length_is_another_game() {
    let mut game = recorded(fixed_depth(), 2);
    let plies = game.plies();
    let last = game.moves.as_mut().unwrap().pop().unwrap();
    let Check::Different(shorter) = check(&game) else { panic!("no difference is seen") };
    assert_eq!(shorter.ply, Some(plies - 1));
    assert_eq!(shorter.fields[0].name, "move");
    assert_eq!(shorter.fields[0].recorded, Json::Null);
    assert_eq!(shorter.fields[0].played, json!(last.mv));

    let mut game = recorded(fixed_depth(), 2);
    game.moves.as_mut().unwrap().push(last);
    game.end.plies += 1;
    assert_eq!(difference(&game), (None, vec!["plies"]));
}

/// Only its time limits this player: without the record's node counts, a search that differs
/// would never end.
#[test]
fn a_timed_search_that_goes_on_is_held() {
    let mut game = recorded(timed(), 0);
    let moves = game.moves.as_mut().unwrap();
    let ply = moves.iter().position(|record| record.search.ended_by == EndedBy::Time).unwrap();
    moves[ply].search.ended_by = EndedBy::Proven;
    let nodes = moves[ply].search.nodes;
    let Check::Different(found) = check(&game) else { panic!("no difference is seen") };
    assert_eq!(found.ply, u32::try_from(ply).ok());
    assert_eq!(found.fields.len(), 1);
    assert_eq!(found.fields[0].recorded, json!(nodes));
    assert_eq!(found.fields[0].played, json!(format!("more than {nodes}")));
    // A search without a record.
    game.moves.as_mut().unwrap().truncate(ply);
    let Check::Different(found) = check(&game) else { panic!("no difference is seen") };
    assert_eq!((found.ply, &*found.fields[0].name), (u32::try_from(ply).ok(), "move"));
}

#[test]
fn a_game_whose_moves_are_not_recorded_is_compared_by_their_hash() {
    let mut game = recorded(fixed_depth(), 2);
    let moves = game.moves.take().unwrap();
    let again = replay_game(&game, &mut Cells::default(), &Arc::default()).unwrap().unwrap();
    assert_eq!(again.check, Check::Same(Compared::Hash));
    let texts =
        |moves: &[MoveRecord]| moves.iter().map(|record| record.mv.clone()).collect::<Vec<_>>();
    assert_eq!(texts(&moves), texts(&again.moves), "they are there to be shown");
    game.end.moves_hash ^= 1;
    assert_eq!(difference(&game), (None, vec!["moves_hash"]));
}

#[test]
fn an_interrupted_game_has_no_verdict() {
    let watch = Arc::new(Watch::default());
    watch.interrupt();
    let game = recorded(fixed_depth(), 2);
    assert!(replay_game(&game, &mut Cells::default(), &watch).unwrap().is_none());
}

#[test]
fn what_cannot_be_checked_says_why_and_what_to_do() {
    let message = |game: &RecordedGame| {
        let error = replay_game(game, &mut Cells::default(), &Arc::default()).unwrap_err();
        error.message(MessageStyle::Plain).unwrap()
    };
    let mut unrecorded = recorded(timed(), 0);
    unrecorded.moves = None;
    let mut revision = recorded(fixed_depth(), 0);
    revision.engine_revision = ENGINE_REVISION + 1;
    let mut unknown = recorded(fixed_depth(), 0);
    unknown.definition.players[0] = player(&[("algorithm", word("oracle"))]);
    let messages = [unrecorded, revision, unknown].map(|game| message(&game));
    insta::with_settings!({ filters => vec![(r"engine revision \d+", "engine revision [N]")] }, {
        insta::assert_snapshot!(messages.join("\n"));
    });
}
