//! Engines that speak GTP, each with its own dialect.

use std::time::Duration;

use spelrum_external::{
    AllowedOption, BreachKind, Choice, Clock, Colour, Conditions, Engine, EngineFailure,
    EngineSpec, Exit, FailureKind, Limits, OptionRule, OptionValue, Remaining, Situation, Start,
};

use crate::harness::{SHORT, conditions, guard, kind_of, limits, never, playing, spec, start};

fn choose(engine: &mut Engine, moves: &[&str]) -> Result<Choice, EngineFailure> {
    let moves: Vec<_> = moves.iter().map(ToString::to_string).collect();
    let to_move = if moves.len().is_multiple_of(2) { Colour::Black } else { Colour::White };
    let start = Start::Board { size: 8, first: Colour::Black };
    let situation = Situation { start, moves: &moves, to_move, limits: limits(), clock: None };
    engine.choose(&situation, &never)
}

/// The lines sent to it, without numbers.
fn sent_lines(engine: &Engine) -> Vec<String> {
    let transcript = engine.transcript();
    let lines = transcript.lines().filter_map(|line| line.strip_prefix("> "));
    lines
        .map(|line| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned())
        .collect()
}

const GREETING: [&str; 6] =
    ["list_commands", "name", "version", "boardsize 8", "clear_board", "level 1"];

#[test]
fn a_game_is_sent_move_by_move() {
    let mut engine = playing(&spec("gtp", &[]));
    assert_eq!(engine.identity().name, "Scripted 1.0");
    assert_eq!(choose(&mut engine, &[]).unwrap().mv, "D3");
    // It has its own move, in whatever case it comes back.
    assert_eq!(choose(&mut engine, &["d3", "C3"]).unwrap().mv, "C5");
    assert_eq!(choose(&mut engine, &["d3", "C3", "C5", "pass"]).unwrap().mv, "pass");
    let moves =
        ["genmove black", "play white C3", "genmove black", "play white pass", "genmove black"];
    assert_eq!(sent_lines(&engine), [&GREETING[..], &moves].concat());
    assert!(engine.take_breaches().is_empty());
}

#[test]
fn another_game_is_sent_from_the_beginning() {
    let mut engine = playing(&spec("gtp", &[]));
    choose(&mut engine, &[]).unwrap();
    choose(&mut engine, &["C4", "C3"]).unwrap();
    // Some forget their limits with their board.
    let again = ["clear_board", "level 1", "play black C4", "play white C3", "genmove black"];
    assert_eq!(sent_lines(&engine), [&GREETING[..], &["genmove black"], &again].concat());
    // And a new one with nothing of the old.
    engine.new_game(&conditions(), &never).unwrap();
    choose(&mut engine, &["F5"]).unwrap();
    let last: Vec<_> = sent_lines(&engine).into_iter().rev().take(4).collect();
    assert_eq!(last, ["genmove white", "play black F5", "level 1", "clear_board"]);
}

/// The dialects of Edax, gtp-rhino and others.
#[test]
fn dialects_are_spoken() {
    let mut edax = spec("gtp", &["old-id", "cr", "knows-little"]);
    edax.gtp.ids = false;
    let mut engine = playing(&edax);
    assert_eq!(choose(&mut engine, &[]).unwrap().mv, "D3");
    assert!(engine.transcript().contains("> genmove black\n"), "{}", engine.transcript());

    let mut rhino = spec("gtp", &["refuses-pass"]);
    let failure = choose(&mut playing(&rhino), &["pass"]).unwrap_err();
    assert_eq!(failure.to_string(), "scripted: `play black pass` was refused: syntax error");
    rhino.gtp.pass = false;
    rhino.gtp.colours = ["b".to_owned(), "w".to_owned()];
    let mut engine = playing(&rhino);
    assert_eq!(choose(&mut engine, &["pass"]).unwrap().mv, "D3");
    assert_eq!(sent_lines(&engine).last().unwrap(), "genmove w");

    let mut chats = playing(&spec("gtp", &["chats"]));
    assert_eq!(choose(&mut chats, &[]).unwrap().mv, "D3");
    let kinds: Vec<_> = chats.take_breaches().iter().map(|breach| breach.kind).collect();
    assert_eq!(kinds, [BreachKind::Junk]);
}

#[test]
fn set_up_options_and_limits_have_commands_of_their_own() {
    let mut set = spec("gtp", &[]);
    set.gtp.setup = vec!["komi 0".to_owned()];
    set.gtp.limits = vec!["level {depth}".to_owned(), "time_settings {seconds} 0 0".to_owned()];
    set.options = vec![AllowedOption {
        name: "strength".into(),
        rule: OptionRule::Between { min: 1, max: 9 },
        command: Some("level {value}".into()),
    }];
    let options = [("strength".to_owned(), OptionValue::Number(4))].into();
    let mut engine = Engine::start(&set, &options, &guard(), &never).unwrap();
    engine.new_game(&conditions(), &never).unwrap();
    assert_eq!(
        sent_lines(&engine)[3..],
        ["komi 0", "level 4", "boardsize 8", "clear_board", "level 1"]
    );
    set.gtp.setup = vec!["undo 3".to_owned()];
    let failure = start(&set).unwrap_err();
    assert_eq!(failure.to_string(), "scripted: `undo 3` was refused: unknown command");
}

#[test]
fn clocks_are_sent() {
    let mut engine = start(&spec("gtp", &[])).unwrap();
    let side = Remaining { time: Duration::from_secs(600), increment: Duration::ZERO };
    let clock = Clock { white: side, black: side, moves_to_go: None };
    let limits = Limits::default();
    let conditions = Conditions { board_size: None, limits, clock: Some(side), ..conditions() };
    engine.new_game(&conditions, &never).unwrap();
    let start = Start::Board { size: 8, first: Colour::Black };
    let to_move = Colour::Black;
    let situation = Situation { start, moves: &[], to_move, limits, clock: Some(clock) };
    engine.choose(&situation, &never).unwrap();
    assert_eq!(
        sent_lines(&engine)[3..],
        ["clear_board", "time_settings 600 0 0", "time_left black 600 0", "genmove black"]
    );
}

#[test]
fn what_is_no_move_is_said() {
    let failure = |words: &[&str]| kind_of(choose(&mut playing(&spec("gtp", words)), &["C4"]));
    assert_eq!(failure(&["resigns"]), FailureKind::NoMove("resign".to_owned()));
    let refused = |command: &str, answer: &str| FailureKind::Refused {
        command: command.to_owned(),
        said: answer.to_owned(),
    };
    assert_eq!(failure(&["refuses-genmove"]), refused("genmove white", "cannot move"));
    assert_eq!(failure(&["refuses-play"]), refused("play black C4", "illegal move"));
    assert_eq!(failure(&["dies-in-search"]), FailureKind::Crash(Exit::Code(9)));
}

#[test]
fn an_engine_that_does_not_answer_is_killed() {
    let mut hangs = spec("gtp", &["hangs"]);
    (hangs.patience.unbounded_move, hangs.patience.stop) = (SHORT, SHORT);
    let mut engine = playing(&hangs);
    let kind = kind_of(choose(&mut engine, &[]));
    assert!(matches!(kind, FailureKind::Hang { allowed, .. } if allowed == SHORT), "{kind:?}");
    assert!(!engine.is_usable());
}

#[test]
fn a_move_is_a_word_and_no_command() {
    let mut engine = playing(&spec("gtp", &[]));
    let failure = choose(&mut engine, &["D3\nloadsgf /etc/passwd"]).unwrap_err();
    let message = "scripted: cannot send `D3 loadsgf /etc/passwd`: not a valid move";
    assert_eq!(failure.to_string(), message);
    assert_eq!(sent_lines(&engine), GREETING);
    assert!(engine.is_usable());
}

/// A limit must not be dropped silently while it is recorded as one.
#[test]
fn a_limit_that_cannot_be_sent_is_reported() {
    let mut engine = playing(&spec("gtp", &["refuses-time"]));
    let limits = Limits { nodes: Some(1_000), ..limits() };
    let failure = engine.new_game(&Conditions { limits, ..conditions() }, &never).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "scripted: it has no command for a number of nodes: no line of `gtp.limits` has `{nodes}`"
    );
    // Its list of commands comes from the engine itself, and is not always true.
    let limits = Limits { move_time: Some(Duration::from_secs(3)), ..crate::harness::limits() };
    let failure = engine.new_game(&Conditions { limits, ..conditions() }, &never).unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Unsupported(_)), "{failure}");
    assert!(engine.is_usable());
    engine.new_game(&conditions(), &never).unwrap();
}

#[test]
fn a_limit_of_an_earlier_game_is_not_left_in_force() {
    let mut engine = playing(&spec("gtp", &[]));
    let limits = Limits { depth: Some(2), ..limits() };
    engine.new_game(&Conditions { limits, ..conditions() }, &never).unwrap();
    let unlimited = Conditions { limits: Limits::default(), ..conditions() };
    assert!(!engine.suits(&unlimited));
    assert_eq!(
        engine.new_game(&unlimited, &never).unwrap_err().to_string(),
        "scripted: the setting `level {depth}` of an earlier game cannot be reset"
    );
}

/// Time for processing a move is on the engine's clock.
#[test]
fn thinking_before_it_is_asked_is_thinking() {
    let mut thinks = spec("gtp", &["thinks-in-play"]);
    thinks.patience.unbounded_move = SHORT;
    let mut engine = playing(&thinks);
    let kind = kind_of(choose(&mut engine, &["C4"]));
    let FailureKind::OutOfTime { allowed, took } = kind else { panic!("{kind:?}") };
    assert!(allowed == SHORT && took > allowed, "{took:?}");
    // And the wait is one, however many moves are sent.
    thinks.patience.ready = crate::harness::LONGER;
    let mut engine = playing(&thinks);
    let kind = kind_of(choose(&mut engine, &["C4"; 100]));
    assert!(matches!(kind, FailureKind::NoAnswer { .. }), "{kind:?}");
}

#[test]
fn a_greeting_that_looks_like_an_answer_puts_nothing_out_of_step() {
    let mut greets = spec("gtp", &["greets"]);
    greets.gtp.ids = false;
    let mut engine = playing(&greets);
    assert_eq!(engine.identity().name, "Scripted 1.0");
    assert_eq!(choose(&mut engine, &["C4"]).unwrap().mv, "D3");
}

/// An engine that fails before a game has lost none, and one that fails during a game has lost it.
#[test]
fn whether_a_game_is_lost_is_a_question_of_when() {
    let mut hangs = spec("gtp", &["hangs-in-play"]);
    let mut engine = playing(&hangs);
    hangs.patience.ready = SHORT;
    let mut impatient = start(&hangs).unwrap();
    let failure = choose(&mut impatient, &["C4"]).unwrap_err();
    assert!(matches!(failure.kind, FailureKind::NoAnswer { .. }), "{failure}");
    assert!(!failure.is_startup_failure());
    assert_eq!(choose(&mut engine, &[]).unwrap().mv, "D3");
    let mut set = spec("gtp", &[]);
    set.gtp.setup = vec!["undo 3".to_owned()];
    let failure = start(&set).unwrap_err();
    assert!(matches!(failure.kind, FailureKind::Refused { .. }), "{failure}");
    assert!(failure.is_startup_failure());
}

#[test]
fn a_board_that_it_does_not_have_is_said() {
    let mut engine = start(&spec("gtp", &[])).unwrap();
    let large = Conditions { board_size: Some(19), ..conditions() };
    let failure = engine.new_game(&large, &never).unwrap_err();
    assert_eq!(failure.to_string(), "scripted: `boardsize 19` was refused: unacceptable size");
}

#[test]
fn chess_is_not_asked_of_it() {
    let mut engine = playing(&spec("gtp", &[]));
    let failure = crate::harness::choose(&mut engine, limits()).unwrap_err();
    assert_eq!(failure.to_string(), "scripted: GTP cannot transmit chess positions");
    assert!(engine.is_usable());
}

#[test]
fn a_program_that_does_not_speak_it_is_given_up() {
    // It waits for UCI.
    let mut mismatched: EngineSpec = spec("gtp", &[]);
    mismatched.args = vec!["uci".to_owned()];
    mismatched.patience.startup = SHORT;
    let failure = start(&mismatched).unwrap_err();
    assert_eq!(failure.to_string(), "scripted: no `= or ?` within 100 ms after `list_commands`");
}
