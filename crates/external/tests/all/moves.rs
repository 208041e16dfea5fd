//! Moves: regular, late, and missing.

use std::cell::Cell;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use spelrum_external::uci::{Bound, Score, ScoreValue};
use spelrum_external::{
    BreachKind, Clock, Colour, Exit, FailureKind, Limits, Phase, Remaining, Situation, Start,
};

use crate::harness::{
    GENEROUS, PROGRAM, SHORT, choose, conditions, first_move, kind_of, limits, never, new_game,
    playing, playing_within, processes_with, spec, start, wait_until,
};

#[test]
fn a_move_comes_with_what_was_said_of_it() {
    let choice = first_move(&[]).unwrap();
    assert_eq!((choice.mv.as_str(), choice.ponder.as_deref()), ("e2e4", Some("e7e5")));
    assert_eq!((choice.depth, choice.seldepth, choice.nodes), (Some(1), Some(2), Some(20)));
    let score = Score { value: ScoreValue::Centipawns(13), bound: Bound::Exact };
    assert_eq!((choice.score, choice.pv.as_deref()), (Some(score), Some("e2e4 e7e5")));
    assert_eq!(choice.engine_time, Some(Duration::from_millis(3)));
    assert!(choice.wall < GENEROUS);
}

#[test]
fn moves_are_parsed_in_all_forms() {
    for words in [
        &["leading-spaces"][..],
        &["cr"],
        &["upper-case"],
        &["interleaved"],
        &["floods"],
        &["long-line"],
        &["garbage", "megabytes", "cr", "leading-spaces"],
    ] {
        assert_eq!(first_move(words).unwrap().mv, "e2e4", "{words:?}");
    }
}

#[test]
fn what_is_no_move_is_said() {
    for (word, text) in [("none", "(none)"), ("null", "0000"), ("empty", "bestmove")] {
        let mut engine = playing(&spec("uci", &[word]));
        let failure = choose(&mut engine, limits()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoMove(text.to_owned()));
        assert!(failure.transcript.contains("< bestmove"), "{}", failure.transcript);
        // The next game is another chance.
        assert!(engine.is_usable());
        new_game(&mut engine).unwrap();
    }
}

#[test]
fn the_caller_reports_illegal_moves() {
    let mut engine = playing(&spec("uci", &["illegal"]));
    let mv = choose(&mut engine, limits()).unwrap().mv;
    let failure = engine.illegal(&mv);
    assert_eq!(failure.to_string(), "scripted: an illegal move: `e2e5`");
    assert!(failure.transcript.ends_with("< bestmove e2e5\n"), "{}", failure.transcript);
}

#[test]
fn a_second_answer_is_not_the_next_one() {
    let mut engine = playing(&spec("uci", &["twice"]));
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "e2e4");
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "g1f3");
    let kinds: Vec<_> = engine.take_breaches().iter().map(|breach| breach.kind).collect();
    assert_eq!(kinds, [BreachKind::Unasked]);
}

#[test]
fn a_second_answer_after_the_next_question_is_not_its_answer_for_ever() {
    let mut engine = playing(&spec("uci", &["twice-later"]));
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "a2a3");
    // That is not known yet; the next answer reveals it.
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "h2h4");
    for mv in ["c2c3", "d2d3", "e2e3"] {
        assert_eq!(choose(&mut engine, limits()).unwrap().mv, mv);
    }
}

/// A time that is over before the engine has even been scheduled.
fn no_time() -> Limits {
    Limits { move_time: Some(Duration::from_millis(1)), ..Limits::default() }
}

#[test]
fn a_late_move_is_reported_with_its_delay() {
    let mut engine = playing_within(&spec("uci", &["late"]), SHORT);
    let kind = kind_of(choose(&mut engine, no_time()));
    let FailureKind::OutOfTime { allowed, took } = kind else { panic!("{kind:?}") };
    assert_eq!(allowed, SHORT + Duration::from_millis(1));
    assert!(took > allowed, "{took:?}");
    // It has answered, and is asked again.
    assert!(engine.is_usable());
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "g1f3");
}

#[test]
fn the_margin_forgives() {
    // As late as the other, and within the margin.
    let mut engine = playing(&spec("uci", &["late"]));
    assert_eq!(choose(&mut engine, no_time()).unwrap().mv, "e2e4");
}

#[test]
fn an_engine_that_needs_to_be_stopped_is_late() {
    let mut engine = playing_within(&spec("uci", &["after-stop"]), SHORT);
    let kind = kind_of(choose(&mut engine, no_time()));
    assert!(matches!(kind, FailureKind::OutOfTime { .. }), "{kind:?}");
    assert!(engine.transcript().contains("> stop\n"));
    assert!(engine.is_usable());
}

#[test]
fn an_engine_that_ignores_stop_is_killed() {
    for word in ["ignores-stop", "info-for-ever"] {
        let mut deaf = spec("uci", &[word]);
        deaf.patience.stop = SHORT;
        let mut engine = playing_within(&deaf, SHORT);
        let failure = choose(&mut engine, no_time()).unwrap_err();
        let FailureKind::Hang { allowed, waited } = failure.kind else { panic!("{failure:?}") };
        assert_eq!(allowed, SHORT + Duration::from_millis(1), "{word}");
        assert!(waited >= SHORT * 2, "{word}: {waited:?}");
        // Its last output or, before it has searched, the last before that.
        let heard = ["< info depth 1", "< readyok"].map(|line| failure.transcript.contains(line));
        assert!(heard.contains(&true), "{}", failure.transcript);
        assert!(!engine.is_usable());
        assert_eq!(kind_of(choose(&mut engine, limits())), FailureKind::Gone);
    }
}

#[test]
fn a_limit_longer_than_clocks_count_is_as_good_as_any() {
    let limits = Limits { move_time: Some(Duration::MAX), ..Limits::default() };
    assert_eq!(choose(&mut playing(&spec("uci", &[])), limits).unwrap().mv, "e2e4");
}

/// Moves by depth or nodes alone end too.
#[test]
fn a_move_without_a_time_limit_has_a_cap() {
    let mut endless = spec("uci", &["ignores-stop"]);
    (endless.patience.unbounded_move, endless.patience.stop) = (SHORT, SHORT);
    let mut engine = playing(&endless);
    let kind = kind_of(choose(&mut engine, limits()));
    assert!(matches!(kind, FailureKind::Hang { allowed, .. } if allowed == SHORT), "{kind:?}");
}

#[test]
fn the_clock_of_the_side_to_move_is_what_counts() {
    let mut slow = spec("uci", &["ignores-stop"]);
    slow.patience.stop = SHORT;
    let mut engine = playing_within(&slow, SHORT);
    let side = |ms| Remaining { time: Duration::from_millis(ms), increment: SHORT };
    let clock = Clock { white: side(600_000), black: side(50), moves_to_go: Some(3) };
    let situation = Situation {
        start: Start::Usual,
        moves: &["e2e4".to_owned()],
        to_move: Colour::Black,
        limits: Limits::default(),
        clock: Some(clock),
    };
    let failure = engine.choose(&situation, &never).unwrap_err();
    let allowed = SHORT + Duration::from_millis(50);
    assert!(
        matches!(failure.kind, FailureKind::Hang { allowed: was, .. } if was == allowed),
        "{failure}"
    );
    let conversation = "> position startpos moves e2e4\n\
                > go wtime 600000 btime 50 winc 100 binc 100 movestogo 3\n";
    assert!(failure.transcript.contains(conversation), "{}", failure.transcript);
}

#[test]
fn a_crash_is_reported_with_its_exit() {
    let failure = first_move(&["dies-in-search"]).unwrap_err();
    assert_eq!((&failure.kind, failure.during), (&FailureKind::Crash(Exit::Code(7)), Phase::Move));
    assert!(!failure.is_startup_failure());
    assert!(failure.transcript.contains("! terminate called\n"), "{}", failure.transcript);
    let failure = first_move(&["exits-in-search-with-255"]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Crash(Exit::Code(255)));
    let failure = first_move(&["aborts-in-search"]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Crash(Exit::Signal(6)));
}

#[test]
fn a_crash_between_games_is_none_in_a_game() {
    let mut engine = playing(&spec("uci", &["dies-between-games"]));
    let failure = new_game(&mut engine).unwrap_err();
    let kind = FailureKind::Crash(Exit::Code(5));
    assert_eq!((&failure.kind, failure.during), (&kind, Phase::NewGame));
    // No game is lost by it.
    assert!(failure.is_startup_failure());
}

#[test]
fn an_unwanted_search_is_given_up() {
    for word in ["ignores-stop", "info-for-ever"] {
        let mut engine = playing(&spec("uci", &[word]));
        let asked = Cell::new(0);
        let aborted = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let (start, to_move) = (Start::Usual, Colour::White);
        let situation = Situation { start, moves: &[], to_move, limits: limits(), clock: None };
        let failure = engine.choose(&situation, &aborted).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Aborted, "{word}");
        assert!(!engine.is_usable());
    }
}

#[test]
fn an_engine_that_does_not_read_is_not_waited_for_by_writing() {
    let mut deaf = spec("uci", &["stops-reading"]);
    (deaf.patience.unbounded_move, deaf.patience.stop) = (SHORT, SHORT);
    let mut engine = playing(&deaf);
    // More than a pipe holds, several times.
    let moves = vec!["e2e4".to_owned(); 100_000];
    let (start, to_move) = (Start::Usual, Colour::White);
    let situation = Situation { start, moves: &moves, to_move, limits: limits(), clock: None };
    let failure = engine.choose(&situation, &never).unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Hang { .. }), "{failure}");
    assert!(!engine.is_usable());
}

#[test]
fn chess960_is_turned_on_where_it_is_asked_for() {
    let mut engine = start(&spec("uci", &[])).unwrap();
    let mut conditions = conditions();
    for is_on in [false, true, true, false] {
        conditions.chess960 = is_on;
        engine.new_game(&conditions, &never).unwrap();
    }
    let transcript = engine.transcript();
    let sent_lines: Vec<_> = transcript
        .lines()
        .filter_map(|line| line.strip_prefix("> "))
        .filter(|line| !line.starts_with("isready"))
        .collect();
    assert_eq!(
        sent_lines,
        [
            "uci",
            "ucinewgame",
            "setoption name UCI_Chess960 value true",
            "ucinewgame",
            "ucinewgame",
            "setoption name UCI_Chess960 value false",
            "ucinewgame",
        ]
    );
}

/// The processor time of each thread of a scripted engine that burns some.
#[cfg(target_os = "linux")]
const BURNT: Duration = Duration::from_millis(200);

#[cfg(target_os = "linux")]
#[test]
fn a_move_has_the_processor_time_of_its_engine() {
    let used = |words: &[&str]| first_move(words).unwrap().cpu.unwrap();
    assert!(used(&["burns"]) >= BURNT);
    assert!(used(&["burns-in-two-threads"]) >= 2 * BURNT);
    // A second by the clock on the wall.
    assert!(used(&["late"]) < BURNT);
    let mut script = spec("uci", &[]);
    script.command = "/bin/sh".into();
    script.args = vec!["-c".to_owned(), format!("{PROGRAM} uci burns; exit 3")];
    let wrapped = choose(&mut playing(&script), limits()).unwrap().cpu.unwrap();
    assert!(wrapped >= BURNT, "an engine that a script starts: {wrapped:?}");
}

/// The system shows the processor time of an engine that is still busy only later.
#[cfg(target_os = "linux")]
#[test]
fn processor_time_after_an_answer_belongs_to_the_next_move_of_the_game() {
    let mut engine = playing(&spec("uci", &["burns-afterwards", "burns-for-games"]));
    let mut used = || choose(&mut engine, limits()).unwrap().cpu.unwrap();
    assert!(used() < BURNT, "a game's beginning belongs to no move");
    // Long enough for most of it, on most machines.
    std::thread::park_timeout(3 * BURNT);
    assert!(used() >= BURNT / 2, "a little may have been read with the answer");
    new_game(&mut engine).unwrap();
    assert!(choose(&mut engine, limits()).unwrap().cpu.unwrap() < BURNT, "nor does the last game");
}

/// The orphans among them are gone at once, since the guard reaps them.
#[cfg(target_os = "linux")]
#[test]
fn processes_that_end_take_only_their_own_processor_time_along() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().to_string_lossy().into_owned();
    let mut engine = playing(&spec("uci", &["forks", "burns", &mark]));
    wait_until("its processes run", || processes_with(&mark).len() >= 5);
    assert!(choose(&mut engine, limits()).unwrap().cpu.unwrap() >= BURNT);
    let ours = processes_with(&mark);
    for (helper, _) in processes_with("linger").into_iter().filter(|helper| ours.contains(helper)) {
        kill_process(Pid::from_raw(helper).unwrap(), Signal::KILL).unwrap();
    }
    wait_until("they have ended", || processes_with(&mark).len() == 2);
    for _ in 0..2 {
        assert!(choose(&mut engine, limits()).unwrap().cpu.unwrap() >= BURNT);
        new_game(&mut engine).unwrap();
    }
}
