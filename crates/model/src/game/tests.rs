use std::num::NonZeroU32;

use spelrum_engine::games::TicTacToe;
use spelrum_engine::{Adjudication, DrawRule, Parameters, Termination, Timeless};

use super::*;
use crate::conditions::OpeningsRule;

fn random_player() -> Arc<Parameters> {
    Arc::new(Parameters::from([("algorithm".to_owned(), Value::Text("random".to_owned()))]))
}

pub(crate) fn definition() -> CellDefinition {
    CellDefinition {
        format: CellDefinition::FORMAT,
        seed: 2014,
        rules: TicTacToe::rules(),
        openings: OpeningsRule::Random { plies: 2 },
        max_plies: None,
        adjudication: None,
        swap_sides: true,
        task: Task::Game,
        players: [random_player(), random_player()],
    }
}

#[test]
fn a_pair_shares_its_opening_and_swaps_colours() {
    let cell = PlayableCell::new(definition()).unwrap();
    for pair in 0..30 {
        let (even, odd) = (cell.derive(2 * pair), cell.derive(2 * pair + 1));
        assert_eq!(even.opening, odd.opening);
        assert!(even.first_player_moves_first && !odd.first_player_moves_first);
        let mut keys = [even.keys, odd.keys].concat();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), 4, "no two sides of a pair share their random numbers");
    }
}

#[test]
fn fixed_sides_play_each_opening_once() {
    let openings = OpeningsRule::Random { plies: 2 };
    let swapped = PlayableCell::new(definition()).unwrap();
    let fixed = CellDefinition { swap_sides: false, openings, ..definition() };
    let fixed = PlayableCell::new(fixed).unwrap();
    for number in 0..30 {
        let game = fixed.derive(number);
        assert!(game.first_player_moves_first);
        // The openings themselves are the same.
        assert_eq!(game.opening, swapped.derive(2 * number).opening);
    }
}

/// Invariant 1: a game is a function of definition and number, independent of the worker and the time.
#[test]
fn a_game_is_a_function_of_definition_and_number() {
    let cell = PlayableCell::new(definition()).unwrap();
    let games = |numbers: &mut dyn Iterator<Item = u64>| {
        numbers.map(|number| (number, play(&cell, number))).collect::<Vec<_>>()
    };
    let forwards = games(&mut (0..40));
    let mut backwards = games(&mut (0..40).rev());
    backwards.reverse();
    assert_eq!(forwards, backwards);

    let json = cell.definition().canonical_json();
    let elsewhere = PlayableCell::new(serde_json::from_str(&json).unwrap()).unwrap();
    assert!(forwards.iter().all(|(number, game)| &play(&elsewhere, *number) == game));

    let other_seed = PlayableCell::new(CellDefinition { seed: 2015, ..definition() }).unwrap();
    assert!(forwards.iter().any(|(number, game)| &play(&other_seed, *number) != game));
}

#[test]
fn time_factors_change_nothing_but_times() {
    let bounded = |more: &[(&str, Value)]| {
        let given = [("algorithm", Value::Text("alpha-beta".to_owned()))];
        let all = given.iter().chain(more).cloned();
        Arc::new(all.map(|(key, value)| (key.to_owned(), value)).collect::<Parameters>())
    };
    let nodes = bounded(&[("nodes", Value::Integer(60)), ("iterative", Value::Bool(true))]);
    let depth = bounded(&[("depth", Value::Integer(2)), ("shuffle", Value::Bool(true))]);
    let players = [nodes, depth];
    let cell = PlayableCell::new(CellDefinition { players, ..definition() }).unwrap();
    let without = |mut record: GameRecord| {
        record.wall_us = 0;
        record
    };
    for factor in [1, 500, 1_000, 4_000, u32::MAX] {
        let scaled = cell.with_time_factor(factor);
        for number in 0..6 {
            let [(seed, mine), (scaled_seed, scaled)] =
                [&cell, &scaled].map(|cell| cell.play(number, None, &Timeless).unwrap());
            assert_eq!((seed, without(mine)), (scaled_seed, without(scaled)), "{factor}");
        }
    }

    let timed = bounded(&[("move_time", Value::Text("3ms".to_owned()))]);
    let players = [random_player(), timed];
    let cell = PlayableCell::new(CellDefinition { players, ..definition() }).unwrap();
    let limits =
        |factor| cell.with_time_factor(factor).players.map(|player| player.limits().move_time_us);
    assert_eq!(limits(1_500), [None, Some(4_500)]);
    assert_eq!(limits(1), [None, Some(3)]);
    assert_eq!(limits(u32::MAX), [None, Some(12_884_901_885)]);
    let clocked = bounded(&[("clock", Value::Text("40/10s+100ms".to_owned()))]);
    let players = [random_player(), clocked];
    let clocked = PlayableCell::new(CellDefinition { players, ..definition() }).unwrap();
    assert!(clocked.has_time_limit() && !clocked.is_deterministic());
    let clocks = clocked.with_time_factor(1_500).players.map(|player| player.clock());
    assert_eq!(
        clocks.map(|clock| clock.map(|clock| clock.to_string())),
        [None, Some("40/15s+150ms".to_owned())]
    );
    let json = cell.with_time_factor(1_500).definition().canonical_json();
    assert_eq!(json, cell.definition().canonical_json(), "it is the same cell");
}

/// Opening, moves and result: all of a game except its times.
fn play(cell: &PlayableCell, number: u64) -> (Arc<str>, Vec<String>, String) {
    let (derived, record) = cell.play(number, None, &Timeless).unwrap();
    assert_eq!(derived, cell.derive(number));
    let moves = record.moves.iter().map(|mv| mv.mv.clone()).collect();
    (derived.opening, moves, format!("{:?} {:?}", record.outcome, record.termination))
}

/// A built-in player loses by no fault but by the time of its clock, of which nothing else is reported.
#[test]
fn only_a_clock_loses_on_time() {
    let clocked: Parameters =
        serde_json::from_str(r#"{"algorithm": "mcts", "clock": "10s"}"#).unwrap();
    let players = [random_player(), Arc::new(clocked)];
    let cell = PlayableCell::new(CellDefinition { players, ..definition() }).unwrap();
    let time = Termination::TIME_FORFEIT;
    for (number, outcome, can_lose) in
        [(0, Outcome::Win, true), (0, Outcome::Loss, false), (1, Outcome::Loss, true)]
    {
        assert_eq!(cell.referee_loser(number, time, outcome).is_ok(), can_lose, "{number}");
        assert!(cell.referee_loser(number, Termination::CRASH, outcome).is_err());
        let engines =
            |forfeit| cell.referee_engines(number, &[None, None], (time, outcome), forfeit);
        let forfeit = Forfeit { message: "late".to_owned(), output: String::new() };
        assert!(engines(None).is_ok() && engines(Some(&forfeit)).is_err());
    }
}

#[test]
fn max_plies_adjudicates() {
    let definition = CellDefinition { max_plies: Some(1), ..definition() };
    let (_, record) = PlayableCell::new(definition).unwrap().play(0, None, &Timeless).unwrap();
    assert_eq!(record.moves.len(), 1);
}

fn level_after(moves: u32) -> Option<Adjudication> {
    let moves = NonZeroU32::new(moves).unwrap();
    Some(Adjudication {
        draw: Some(DrawRule { score: 1_000, moves, after: 0, restart: false }),
        ..Adjudication::default()
    })
}

/// Games are played and judged by the definition's rule.
#[test]
fn scores_end_games_and_the_referee_knows() {
    let minimax = Arc::new(Parameters::from([
        ("algorithm".to_owned(), Value::Text("minimax".to_owned())),
        ("depth".to_owned(), Value::Integer(1)),
    ]));
    let players = [Arc::clone(&minimax), minimax];
    let free = CellDefinition { players, ..definition() };
    let ruled = CellDefinition { adjudication: level_after(1), ..free.clone() };
    let [free, ruled] = [free, ruled].map(|definition| PlayableCell::new(definition).unwrap());
    for number in 0..8 {
        let (game, mut record) = ruled.play(number, None, &Timeless).unwrap();
        assert_eq!((record.moves.len(), record.termination), (2, Termination::DRAW_RULE));
        assert_eq!(ruled.referee(number, &game.opening, &record), Ok(()));
        assert!(free.referee(number, &game.opening, &record).is_err());
        record.moves[1].search.score = Some(1_001);
        assert!(ruled.referee(number, &game.opening, &record).is_err());
        let (game, longer) = free.play(number, None, &Timeless).unwrap();
        assert_eq!(free.referee(number, &game.opening, &longer), Ok(()));
        let problem = ruled.referee(number, &game.opening, &longer).unwrap_err().to_string();
        assert!(problem.ends_with("comes after the end of the game"), "{problem}");
    }
}

fn exact() -> Arc<Parameters> {
    let exact = [("algorithm", Value::Text("exact".into())), ("nodes", Value::Integer(1 << 20))];
    Arc::new(exact.map(|(key, value)| (key.to_owned(), value)).into())
}

fn choices() -> CellDefinition {
    CellDefinition {
        openings: OpeningsRule::Strata { plies: Arc::from([2, 4]) },
        max_plies: Some(1),
        swap_sides: false,
        task: Task::Choice,
        players: [random_player(), exact()],
        ..definition()
    }
}

/// The first player moves once; the reference values every move and makes none.
#[test]
fn a_choice_is_one_move_with_the_values_of_all() {
    let cache = OpeningsCache::default();
    let cell = PlayableCell::with_cache(choices(), &cache).unwrap();
    for number in 0..12 {
        let (derived, record) = cell.play(number, None, &Timeless).unwrap();
        let values = cell.values(&derived.opening, &Timeless).unwrap();
        assert_eq!(record.moves.len(), 1);
        assert_eq!(values.len(), if number % 2 == 0 { 7 } else { 5 });
        assert!(values.iter().any(|value| value.mv == record.moves[0].mv));
        assert!(values.iter().all(|value| (-1..=1).contains(&value.value)));
        // Searched once, for any caller.
        assert_eq!(cell.values(&derived.opening, &Timeless), Ok(values.clone()));
        let other = CellDefinition { seed: 2015, ..choices() };
        let other = PlayableCell::with_cache(other, &cache).unwrap();
        assert_eq!(other.values(&derived.opening, &Timeless), Ok(values.clone()));
        let alone = PlayableCell::new(choices()).unwrap();
        assert_eq!(alone.values(&derived.opening, &Timeless), Ok(values.clone()));

        assert_eq!(cell.referee(number, &derived.opening, &record), Ok(()));
        assert_eq!(cell.referee_values(&derived.opening, &values), Ok(()));
        let judged = |values: &[MoveValue]| {
            cell.referee_values(&derived.opening, values).unwrap_err().to_string()
        };
        assert!(judged(&[]).contains("0 have values"));
        assert!(judged(&values[1..]).contains("legal moves"));
        let mut swapped = values.clone();
        swapped.swap(0, 1);
        assert!(judged(&swapped).contains("stands"));
        let mut renamed = values.clone();
        renamed[0].mv = "z9".to_owned();
        assert!(judged(&renamed).contains("`z9`"));
        let mut beyond = values.clone();
        beyond[0].value = 2;
        assert!(judged(&beyond).contains("at 2"));
    }
}

#[test]
fn a_game_has_no_values_of_moves() {
    let cell = PlayableCell::new(definition()).unwrap();
    let (derived, _) = cell.play(0, None, &Timeless).unwrap();
    assert_eq!(cell.values(&derived.opening, &Timeless), Ok(Vec::new()));
    let values = [MoveValue { mv: "a1".to_owned(), value: 1 }];
    let judged = cell.referee_values(&derived.opening, &values).unwrap_err();
    assert!(judged.to_string().contains("it is a game"));
}

/// Definitions that no coordinator would hand out, but that a file may contain.
#[test]
fn choices_that_make_no_sense_are_an_error() {
    let error = |definition| PlayableCell::new(definition).unwrap_err().to_string();
    let pairs = CellDefinition { swap_sides: true, ..choices() };
    assert!(error(pairs).contains("fixed sides"));
    assert!(error(CellDefinition { max_plies: None, ..choices() }).contains("after a ply"));
    let adjudicated = CellDefinition { adjudication: level_after(1), ..choices() };
    assert!(error(adjudicated).contains("by nothing else"));
    let players = [random_player(), random_player()];
    assert!(error(CellDefinition { players, ..choices() }).contains("the reference"));
}

/// A reference that hits its limit reports that, and how far it came.
#[test]
fn a_reference_out_of_reach_is_an_error() {
    let mut definition = choices();
    Arc::make_mut(&mut definition.players[1]).insert("nodes".to_owned(), Value::Integer(3));
    let cell = PlayableCell::new(definition).unwrap();
    let error = cell.values(&cell.derive(0).opening, &Timeless).unwrap_err();
    assert!(error.to_string().contains("the node limit"), "{error}");
}

#[test]
fn cells_of_a_cache_share_openings() {
    let cache = OpeningsCache::default();
    let cell = || PlayableCell::with_cache(definition(), &cache).unwrap();
    let (first, second) = (cell(), cell());
    assert!(Arc::ptr_eq(&first.openings, &second.openings));
}

#[test]
fn what_this_engine_cannot_play_is_an_error() {
    let error = |definition| PlayableCell::new(definition).unwrap_err().to_string();
    let unknown = Parameters::from([("algorithm".to_owned(), Value::Text("oracle".to_owned()))]);
    let players = [random_player(), Arc::new(unknown)];
    assert!(error(CellDefinition { players, ..definition() }).contains("player 2"));
    assert!(error(CellDefinition { format: 2, ..definition() }).contains("format 2"));
    let openings = OpeningsRule::Random { plies: 9 };
    assert!(error(CellDefinition { openings, ..definition() }).contains("9 plies"));
}
