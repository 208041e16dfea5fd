//! Players that speak the protocol of lines, and misbehave.

use std::sync::Arc;
use std::time::Duration;

use spelrum_external::lines::{GameEnd, GameSetup, PositionAfter};
use spelrum_external::uci::{Bound, Score, ScoreValue};
use spelrum_external::{
    AnyPosition, Breach, BreachKind, Choice, Clock, Colour, Conditions, Engine, EngineFailure,
    EngineFile, EngineSpec, Exit, FailureKind, Limits, Options, Patience, Pool, Protocol,
    Remaining, RuleBook, Situation, Start,
};

use crate::harness::{GENEROUS, SHORT, guard, never, processes_with, spec, wait_until};

/// A game in which `a` may follow everything.
#[derive(Debug)]
pub(crate) struct OnlyA;

impl RuleBook for OnlyA {
    fn after(&self, moves: &[String]) -> Result<PositionAfter, String> {
        let position = moves.iter().map(|mv| format!("+{mv}")).collect();
        match moves.iter().find(|mv| *mv != "a") {
            Some(mv) => Err(format!("no {mv}")),
            None => Ok(PositionAfter {
                position,
                is_first_to_move: moves.len().is_multiple_of(2),
                legal: vec!["a".to_owned()],
                result: None,
            }),
        }
    }
}

pub(crate) fn game(name: &str) -> Conditions {
    let setup = GameSetup { name: name.to_owned(), rules: serde_json::json!({"n": 3}) };
    Conditions { game: Some(Arc::new(setup)), margin: GENEROUS, ..Conditions::default() }
}

pub(crate) fn lines(words: &[&str]) -> EngineSpec {
    EngineSpec { protocol: Protocol::Lines, options: Vec::new(), ..spec("lines", words) }
}

fn started(spec: &EngineSpec, conditions: &Conditions) -> Result<Engine, EngineFailure> {
    let mut engine = Engine::start_for(conditions, spec, &Options::new(), &guard(), &never)?;
    engine.new_game(conditions, &never)?;
    Ok(engine)
}

fn choose_within(
    engine: &mut Engine,
    limits: Limits,
    clock: Option<Clock>,
) -> Result<Choice, EngineFailure> {
    let legal = ["a", "b"].map(str::to_owned);
    let position = AnyPosition {
        opening: "o",
        position: "p",
        legal: &legal,
        board: "board\nof two lines",
        seed: 5,
        rules: &OnlyA,
    };
    let (start, to_move) = (Start::Any(position), Colour::White);
    engine.choose(&Situation { start, moves: &[], to_move, limits, clock }, &never)
}

fn choose(engine: &mut Engine) -> Result<Choice, EngineFailure> {
    choose_within(engine, Limits::default(), None)
}

/// The first move of a player that behaves like this.
fn first_move(
    words: &[&str],
    conditions: &Conditions,
) -> (Result<Choice, EngineFailure>, Vec<BreachKind>) {
    let mut engine = started(&lines(words), conditions).unwrap();
    let chosen = choose(&mut engine);
    let breaches: Vec<Breach> = engine.take_breaches();
    (chosen, breaches.iter().map(|breach| breach.kind).collect())
}

#[test]
fn a_player_that_is_well_plays() {
    let mut engine = started(&lines(&["reports", "parallel=4"]), &game("g")).unwrap();
    assert_eq!((engine.identity().name.as_str(), engine.parallel()), ("Scripted 1.0", 4));
    let side = |ms| Remaining { time: Duration::from_millis(ms), increment: Duration::ZERO };
    let clock = Clock { white: side(9_500), black: side(8_000), moves_to_go: Some(12) };
    let limits = Limits { depth: Some(3), ..Limits::default() };
    let choice = choose_within(&mut engine, limits, Some(clock)).unwrap();
    assert_eq!((choice.mv.as_str(), choice.depth, choice.nodes), ("a", Some(3), Some(100)));
    let score = Score { value: ScoreValue::Centipawns(-35), bound: Bound::Exact };
    assert_eq!((choice.score, choice.pv.as_deref()), (Some(score), Some("a b")));
    assert_eq!(choice.engine_time, Some(Duration::from_millis(500)));
    engine.end_game(&GameEnd { result: "win", termination: "row", moves: &["a".to_owned()] });
    engine.new_game(&game("g"), &never).unwrap();
    choose(&mut engine).unwrap();
    assert_eq!(engine.take_breaches(), []);
    let transcript = engine.transcript();
    for sent in [
        "> {\"spelrum\":1,\"game\":\"g\",\"rules\":{\"n\":3},\"options\":{}}",
        "\"limits\":{\"depth\":3,\"clock\":{\"seconds\":9.5,\"increment\":0.0,\"opponent\":8.0,\"moves\":12}}",
        "> {\"match\":1,\"result\":\"win\",\"termination\":\"row\",\"moves\":[\"a\"]}",
        "> {\"id\":2,\"match\":2,",
    ] {
        assert!(transcript.contains(sent), "{sent} in\n{transcript}");
    }
}

#[test]
fn a_player_is_asked_for_its_name_alone() {
    let engine = Engine::start(&lines(&["refuses"]), &Options::new(), &guard(), &never).unwrap();
    assert_eq!(engine.identity().name, "Scripted 1.0");
    assert!(!engine.suits(&game("g")) && engine.suits(&Conditions::default()));
    let failure = started(&lines(&["refuses"]), &game("g")).unwrap_err();
    let said = "only chess".to_owned();
    assert_eq!(failure.kind, FailureKind::Refused { command: "the game g".to_owned(), said });
}

#[test]
fn what_else_it_prints_is_no_answer() {
    let (chosen, breaches) = first_move(&["prints-first", "chats"], &game("g"));
    assert_eq!(chosen.unwrap().mv, "a");
    let kinds = [BreachKind::Junk, BreachKind::Garbled, BreachKind::WrongId];
    assert_eq!(breaches, kinds);
}

#[test]
fn a_second_answer_is_not_that_to_the_next_request() {
    let mut engine = started(&lines(&["twice"]), &game("g")).unwrap();
    for _ in 0..20 {
        assert_eq!(choose(&mut engine).unwrap().mv, "a");
    }
    let breaches = engine.take_breaches();
    assert!(!breaches.is_empty(), "they are noticed");
    let is_stale =
        |breach: &Breach| matches!(breach.kind, BreachKind::Unasked | BreachKind::WrongId);
    assert!(breaches.iter().all(is_stale), "{breaches:?}");
}

#[test]
fn it_may_ask_back() {
    let (chosen, breaches) = first_move(&["asks"], &game("g"));
    assert_eq!(chosen.unwrap().mv, "b");
    assert_eq!(breaches, []);
}

#[test]
fn failures_are_told_apart() {
    let kind = |words: &[&str]| first_move(words, &game("g")).0.unwrap_err().kind;
    assert_eq!(kind(&["illegal"]), FailureKind::IllegalMove("z".to_owned()));
    let FailureKind::Unreadable { said, problem } = kind(&["nonsense"]) else { panic!("it is") };
    assert_eq!([said.as_str(), &problem], ["{\"id\":1,\"move\":17}", "its `move` is not a text"]);
    for behaviour in ["too-much", "dict"] {
        let kind = kind(&[behaviour]);
        assert!(matches!(kind, FailureKind::Unreadable { .. }), "{behaviour}: {kind:?}");
    }
    assert_eq!(kind(&["resigns"]), FailureKind::NoMove("resign".to_owned()));
    assert_eq!(kind(&["dies"]), FailureKind::Crash(Exit::Code(9)));
    let FailureKind::Raised(traceback) = kind(&["raises"]) else { panic!("it raises") };
    assert!(traceback.ends_with(" ⏎ ZeroDivisionError"), "{traceback}");
    let failure = started(&lines(&["dies-at-start"]), &game("g")).unwrap_err();
    assert!(failure.diagnose(&lines(&[])).problem.contains("numpy"), "{failure:?}");
}

#[test]
fn a_player_that_raises_is_asked_again_in_the_next_game() {
    let mut engine = started(&lines(&["raises"]), &game("g")).unwrap();
    for _ in 0..3 {
        assert!(matches!(choose(&mut engine).unwrap_err().kind, FailureKind::Raised(_)));
        assert!(engine.is_usable());
        engine.new_game(&game("g"), &never).unwrap();
    }
}

#[test]
fn refused_moves_may_be_corrected() {
    let retries = |retries| Conditions { retries, ..game("g") };
    for behaviour in ["illegal-once", "corrects", "dict"] {
        let (chosen, breaches) = first_move(&[behaviour], &retries(1));
        assert_eq!(chosen.unwrap().mv, "a");
        assert_eq!(breaches, [BreachKind::Refused]);
    }
    let mut engine = started(&lines(&["illegal"]), &retries(2)).unwrap();
    let failure = choose(&mut engine).unwrap_err();
    assert_eq!(failure.kind, FailureKind::IllegalMove("z".to_owned()));
    let refused = "\"refused\":\"`z` is not a legal move here\"";
    assert_eq!(engine.transcript().matches("< {\"id\":").count(), 3);
    assert!(failure.transcript.contains("> {\"id\":3,"), "{}", failure.transcript);
    let tail = &failure.transcript;
    assert!(tail.contains("`z` is not a legal") || !tail.contains(refused), "{tail}");
}

#[test]
fn the_time_of_a_move_is_that_of_all_its_tries() {
    let conditions = Conditions { margin: Duration::ZERO, retries: 100, ..game("g") };
    let patience = Patience { stop: SHORT, ..spec("lines", &[]).patience };
    let limits = Limits { move_time: Some(SHORT), ..Limits::default() };
    for behaviour in ["asks-for-ever", "hangs", "floods"] {
        let spec = EngineSpec { patience, ..lines(&[behaviour]) };
        let mut engine = started(&spec, &conditions).unwrap();
        let kind = choose_within(&mut engine, limits, None).unwrap_err().kind;
        assert!(matches!(kind, FailureKind::Hang { .. }), "{behaviour}: {kind:?}");
        assert!(!engine.is_usable());
    }
    let spec = EngineSpec { patience: Patience { stop: GENEROUS, ..patience }, ..lines(&["late"]) };
    let mut engine = started(&spec, &conditions).unwrap();
    let kind = choose_within(&mut engine, limits, None).unwrap_err().kind;
    assert!(matches!(kind, FailureKind::OutOfTime { .. }), "{kind:?}");
    assert!(engine.is_usable(), "it is in step");
}

#[test]
fn a_player_that_does_not_flush_is_guessed() {
    let patience = Patience { startup: SHORT, ..spec("lines", &[]).patience };
    let spec = EngineSpec { patience, ..lines(&["does-not-flush"]) };
    let failure = started(&spec, &game("g")).unwrap_err();
    assert!(matches!(failure.kind, FailureKind::NoAnswer { .. }), "{failure:?}");
    let remedy = failure.diagnose(&spec).remedy;
    assert!(remedy.contains("flush"), "{remedy}");
}

/// Each wrong greeting has a remedy of its own.
#[test]
fn a_greeting_that_is_wrong_is_not_taken_for_silence() {
    let patience = Patience { startup: SHORT, ..spec("lines", &[]).patience };
    let diagnosed = |behaviour: &str, conditions: &Conditions| {
        let spec = EngineSpec { patience, ..lines(&[behaviour]) };
        let failure = started(&spec, conditions).unwrap_err();
        let diagnosis = failure.diagnose(&spec);
        [diagnosis.problem, diagnosis.remedy]
    };
    let [problem, remedy] = diagnosed("greets-badly", &game("g"));
    assert!(problem.contains("{'name': 'Scripted'}"), "{problem}");
    assert!(remedy.contains("JSON object") && !remedy.contains("flush"), "{remedy}");
    let [problem, remedy] = diagnosed("greets-otherwise", &game("g"));
    assert!(problem.contains("[\"Scripted\"]"), "{problem}");
    assert!(remedy.contains("JSON object"), "{remedy}");
    for conditions in [game("g"), Conditions::default()] {
        let [problem, remedy] = diagnosed("refuses-its-name", &conditions);
        assert!(problem.contains("no game"), "{problem}");
        assert!(remedy.contains("leave it out") && remedy.contains("options"), "{remedy}");
    }
}

#[test]
fn its_processes_end_with_it() {
    let mark = format!("lines-{}", std::process::id());
    let engine = started(&lines(&["forks", &mark]), &game("g")).unwrap();
    assert!(!processes_with(&mark).is_empty());
    engine.close();
    wait_until("all its processes are gone", || processes_with(&mark).is_empty());
}

/// A process belongs to a game, and one that died between games costs none.
#[test]
fn a_pool_starts_a_process_for_each_game() {
    let mark = format!("dies-after-{}", std::process::id());
    let spec = EngineSpec { name: "mine".to_owned(), ..lines(&["dies-after", &mark]) };
    let other = EngineSpec { name: "well".to_owned(), ..lines(&[]) };
    let file: EngineFile = [spec, other].into_iter().collect();
    let pool = Pool::new(file, guard(), 4);
    let play = |name: &str, conditions: &Conditions| {
        let mut room = pool.reserve(&[name], &never).unwrap();
        let mut engine = room.take(name, &Options::new(), conditions, &never).unwrap();
        choose(&mut engine).unwrap();
        (
            engine.transcript().contains("\"match\":2"),
            engine.transcript().contains("\"game\":\"h\""),
        )
    };
    assert_eq!(play("well", &game("g")), (false, false));
    assert_eq!(play("well", &game("g")), (true, false), "its process is used again");
    assert_eq!(play("well", &game("h")), (false, true), "another game has a process of its own");
    for _ in 0..3 {
        assert_eq!(play("mine", &game("g")), (false, false));
        wait_until("it has ended", || processes_with(&mark).is_empty());
    }
    pool.close_idle();
}
