//! Engines that speak XBoard, and misbehave.

use std::time::{Duration, Instant};

use spelrum_external::lines::GameEnd;
use spelrum_external::uci::{Bound, Score, ScoreValue};
use spelrum_external::{
    BreachKind, Choice, Clock, Colour, Conditions, Engine, EngineFailure, EngineSpec, Exit,
    FailureKind, Limits, OptionValue, Options, Phase, Remaining, Situation, Start, xboard,
};

use crate::harness::{
    GENEROUS, SHORT, choose, conditions, guard, kind_of, limits, never, new_game, playing,
    playing_within, spec, start, start_failure,
};

fn first_move(words: &[&str]) -> Result<Choice, EngineFailure> {
    choose(&mut playing(&spec("xboard", words)), limits())
}

fn old(words: &[&str]) -> EngineSpec {
    let words: Vec<_> = ["old"].iter().chain(words).copied().collect();
    let dialect = xboard::Dialect { features: false, ..xboard::Dialect::default() };
    EngineSpec { xboard: dialect, ..spec("xboard", &words) }
}

/// White's question, or Black's after an odd number of moves.
fn ask(
    engine: &mut Engine,
    start: Start<'_>,
    moves: &[&str],
    clock: Option<Clock>,
) -> Result<Choice, EngineFailure> {
    let moves: Vec<_> = moves.iter().map(ToString::to_string).collect();
    let to_move = if moves.len().is_multiple_of(2) { Colour::White } else { Colour::Black };
    engine.choose(&Situation { start, moves: &moves, to_move, limits: limits(), clock }, &never)
}

/// What was sent to it since a line.
fn sent_after(engine: &Engine, mark: &str) -> Vec<String> {
    let transcript = engine.transcript();
    let lines = transcript.lines().filter_map(|line| line.strip_prefix("> "));
    let mut lines: Vec<_> = lines.map(str::to_owned).collect();
    let place = lines.iter().rposition(|line| line == mark).map_or(0, |place| place + 1);
    lines.split_off(place)
}

fn two_sides(ms: u64) -> Clock {
    let side = |ms| Remaining { time: Duration::from_millis(ms), increment: SHORT };
    Clock { white: side(ms), black: side(ms / 2), moves_to_go: Some(40) }
}

#[test]
fn a_move_comes_with_what_was_said_of_it() {
    let mut engine = playing(&spec("xboard", &[]));
    assert_eq!(engine.identity().name, "Scripted 1.0");
    let choice = choose(&mut engine, limits()).unwrap();
    assert_eq!((choice.mv.as_str(), choice.depth, choice.nodes), ("e2e4", Some(1), Some(20)));
    let score = Score { value: ScoreValue::Centipawns(13), bound: Bound::Exact };
    assert_eq!((choice.score, choice.pv.as_deref()), (Some(score), Some("e2e4 e7e5")));
    assert_eq!(choice.engine_time, Some(Duration::from_millis(20)));
    assert_eq!(
        sent_after(&engine, "new"),
        ["force", "hard", "easy", "post", "st 600", "sd 1", "ping 3", "go"]
    );
}

#[test]
fn a_game_goes_on_move_by_move() {
    let mut engine = playing(&spec("xboard", &[]));
    assert_eq!(ask(&mut engine, Start::Usual, &[], None).unwrap().mv, "e2e4");
    assert_eq!(ask(&mut engine, Start::Usual, &["e2e4", "e7e5"], None).unwrap().mv, "g1f3");
    assert_eq!(sent_after(&engine, "go"), ["usermove e7e5"]);
    // Other moves than those that it has: it gets the game from the start.
    assert_eq!(ask(&mut engine, Start::Usual, &["d2d4", "d7d5"], None).unwrap().mv, "e2e4");
    let sent = [
        "force",
        "hard",
        "easy",
        "post",
        "st 600",
        "sd 1",
        "ping 4",
        "usermove d2d4",
        "usermove d7d5",
        "ping 5",
        "go",
    ];
    assert_eq!(sent_after(&engine, "new"), sent);
    engine.end_game(&GameEnd { result: "loss", termination: "checkmate", moves: &[] });
    new_game(&mut engine).unwrap();
    assert_eq!(ask(&mut engine, Start::Usual, &["e2e4"], None).unwrap().mv, "e2e4");
    let transcript = engine.transcript();
    assert!(transcript.contains("> force\n> result 0-1 {checkmate}\n> new\n"), "{transcript}");
}

#[test]
fn moves_in_algebraic_notation_are_the_callers_to_read() {
    let mut engine = playing(&spec("xboard", &["san"]));
    assert_eq!(ask(&mut engine, Start::Usual, &[], None).unwrap().mv, "e4");
    // Its own move is known to it, however it is written.
    assert_eq!(ask(&mut engine, Start::Usual, &["e2e4", "e7e5"], None).unwrap().mv, "Nf3");
    let moves = ["e2e4", "e7e5", "g1f3", "b8c6"];
    assert_eq!(ask(&mut engine, Start::Usual, &moves, None).unwrap().mv, "O-O");
    assert_eq!(sent_after(&engine, "go"), ["usermove e7e5", "usermove b8c6"]);
    assert_eq!(first_move(&["promotes"]).unwrap().mv, "e7e8Q");
}

#[test]
fn positions_are_set_up() {
    const FEN: &str = "4k3/8/8/8/8/8/P7/4K2R w K - 0 1";
    let mut engine = playing(&spec("xboard", &[]));
    assert_eq!(ask(&mut engine, Start::Fen(FEN), &["h1h2"], None).unwrap().mv, "e2e4");
    let sent = [&format!("setboard {FEN}"), "usermove h1h2", "ping 4", "go"];
    assert_eq!(sent_after(&engine, "ping 3"), sent);
    let mut engine = playing(&spec("xboard", &["no-setboard"]));
    assert_eq!(ask(&mut engine, Start::Fen(FEN), &[], None).unwrap().mv, "e2e4");
    let sent = ["edit", "#", "Pa2", "Ke1", "Rh1", "c", "Ke8", ".", "ping 4", "go"];
    assert_eq!(sent_after(&engine, "ping 3"), sent);
    new_game(&mut engine).unwrap();
    let no_right = FEN.replace(" K ", " - ");
    let failure = ask(&mut engine, Start::Fen(&no_right), &[], None).unwrap_err();
    let FailureKind::Unsupported(problem) = &failure.kind else { panic!("{failure}") };
    assert!(problem.starts_with("it does not know `setboard`, and `edit` cannot"), "{problem}");
    for (words, problem) in [
        (&["refuses-position"][..], "it refuses the position: `tellusererror Illegal position`"),
        (&["knows-no-setboard"], "it refuses `setboard`: `Error (unknown command): setboard "),
        (&["no-setboard", "knows-no-edit"], "it refuses `edit`: `Error (unknown command): edit`"),
    ] {
        let failure = ask(&mut playing(&spec("xboard", words)), Start::Fen(FEN), &[], None);
        let failure = failure.unwrap_err().to_string();
        assert!(failure.contains(problem), "{failure}");
    }
    let board = Start::Board { size: 8, first: Colour::Black };
    let kind = kind_of(ask(&mut playing(&spec("xboard", &[])), board, &[], None));
    assert!(matches!(kind, FailureKind::Unsupported(_)), "{kind:?}");
    let line_end =
        kind_of(ask(&mut playing(&spec("xboard", &[])), Start::Usual, &["e2e4\nquit"], None));
    assert!(matches!(line_end, FailureKind::Unsupported(_)), "{line_end:?}");
}

#[test]
fn limits_are_said_or_refused() {
    let mut engine = start(&spec("xboard", &[])).unwrap();
    let refusal = |engine: &mut Engine, conditions: &Conditions| {
        engine.new_game(conditions, &never).unwrap_err().to_string()
    };
    let with = |limits| Conditions { limits, ..conditions() };
    let time = |ms| Limits { move_time: Some(Duration::from_millis(ms)), ..Limits::default() };
    let clock = Some(Remaining { time: GENEROUS, increment: SHORT });
    for (conditions, problem) in [
        (with(Limits { nodes: Some(9), ..limits() }), "no command for a number of nodes"),
        (with(time(999)), "whole seconds for a move"),
        (Conditions { clock, ..with(time(1_000)) }, "no command for a time for each move beside"),
        (Conditions { chess960: true, ..conditions() }, "Chess960 is not played"),
    ] {
        let refused = refusal(&mut engine, &conditions);
        assert!(refused.contains(problem), "{refused}");
        assert!(engine.is_usable());
    }
    engine.new_game(&with(time(2_900)), &never).unwrap();
    assert_eq!(sent_after(&engine, "post"), ["st 2", "ping 3"]);
    // Engines may keep a limit for ever, so another process gets the next game.
    for other in [Conditions { clock, ..with(Limits::default()) }, conditions()] {
        assert!(!engine.suits(&other));
        assert!(matches!(
            engine.new_game(&other, &never).unwrap_err().kind,
            FailureKind::Unsupported(_)
        ));
    }
    assert!(engine.suits(&with(time(1_000))));
    for word in ["sd", "st"] {
        let mut engine = start(&spec("xboard", &[&format!("knows-no-{word}")])).unwrap();
        let refused = refusal(&mut engine, &conditions());
        assert!(refused.contains(&format!("it refuses `{word}`")), "{refused}");
    }
    // What only makes it think less is no limit.
    playing(&spec("xboard", &["knows-no-easy", "knows-no-post", "knows-no-hard"]));
    let unlimited = Conditions { limits: Limits::default(), ..conditions() };
    let mut engine = start(&spec("xboard", &[])).unwrap();
    engine.new_game(&unlimited, &never).unwrap();
    let kind = kind_of(choose(&mut engine, Limits::default()));
    assert_eq!(kind, FailureKind::Unsupported("a move without any limit".to_owned()));
}

#[test]
fn a_clock_is_set_and_told_before_each_move() {
    let side = Remaining { time: Duration::from_secs(90), increment: SHORT };
    let conditions = Conditions { clock: Some(side), limits: Limits::default(), ..conditions() };
    let on_clock = |words: &[&str]| {
        let mut engine = start(&spec("xboard", words)).unwrap();
        engine.new_game(&conditions, &never).unwrap();
        ask(&mut engine, Start::Usual, &[], Some(two_sides(90_000))).unwrap();
        ask(&mut engine, Start::Usual, &["e2e4", "e7e5"], Some(two_sides(70_120))).unwrap();
        sent_after(&engine, "ping 3")
    };
    assert_eq!(
        on_clock(&[]),
        [
            "level 40 1:30 0.1",
            "ping 4",
            "time 9000",
            "otim 4500",
            "go",
            "time 7012",
            "otim 3506",
            "usermove e7e5"
        ]
    );
    assert_eq!(on_clock(&["no-time"]), ["level 40 1:30 0.1", "ping 4", "go", "usermove e7e5"]);
    let mut engine = start(&spec("xboard", &["knows-no-level"])).unwrap();
    engine.new_game(&conditions, &never).unwrap();
    let kind = kind_of(ask(&mut engine, Start::Usual, &[], Some(two_sides(60_000))));
    let FailureKind::Unsupported(problem) = kind else { panic!("{kind:?}") };
    assert!(problem.starts_with("it refuses `level`: "), "{problem}");
}

#[test]
fn engines_from_before_the_features_play_too() {
    let mut engine = playing(&old(&[]));
    assert_eq!(engine.identity().name, "");
    assert_eq!(ask(&mut engine, Start::Usual, &[], None).unwrap().mv, "e2e4");
    assert_eq!(ask(&mut engine, Start::Usual, &["e2e4", "e7e5"], None).unwrap().mv, "g1f3");
    assert_eq!(sent_after(&engine, "sd 1"), ["white", "go", "e7e5"]);
    assert_eq!(engine.take_breaches(), []);
    // What it says of its last move in another form is no answer, whenever it comes.
    new_game(&mut engine).unwrap();
    assert_eq!(ask(&mut engine, Start::Usual, &["d2d4"], None).unwrap().mv, "e2e4");
}

#[test]
fn features_that_do_not_come_end_the_start() {
    for (words, awaited) in [
        (&["mute"][..], "feature"),
        (&["old"], "feature"),
        (&["deaf"], "feature"),
        (&["never-done"], "feature done=1"),
    ] {
        let mut spec = spec("xboard", words);
        spec.patience.startup = SHORT * 10;
        let failure = start_failure(&spec);
        let FailureKind::NoAnswer { asked, awaited: missing, .. } = &failure.kind else {
            panic!("{failure}")
        };
        assert_eq!((asked.as_str(), missing.as_str()), ("protover 2", awaited), "{words:?}");
        let remedy = failure.diagnose(&spec).remedy;
        assert!(remedy.contains("xboard = { features = false }"), "{remedy}");
    }
    let mut endless = spec("xboard", &["endless-features"]);
    endless.patience.startup = SHORT * 10;
    let begun = Instant::now();
    // What it declared by then counts; it answers nothing.
    let failure = start_failure(&endless);
    assert!(matches!(failure.kind, FailureKind::NoAnswer { .. }), "{failure}");
    assert!(begun.elapsed() < GENEROUS);
    for words in [&["slow"][..], &["no-done"]] {
        assert_eq!(first_move(words).unwrap().mv, "e2e4", "{words:?}");
    }
}

#[test]
fn options_are_set_by_its_own_commands() {
    let mut set = spec("xboard", &[]);
    set.set = Options::from([
        ("style".to_owned(), OptionValue::Text("normal".to_owned())),
        ("Book".to_owned(), OptionValue::Flag(false)),
    ]);
    set.xboard.setup = vec!["book off".to_owned()];
    let options = Options::from([("Hash".to_owned(), OptionValue::Number(64))]);
    let engine = Engine::start(&set, &options, &guard(), &never).unwrap();
    assert_eq!(
        sent_after(&engine, "ping 1"),
        ["cores 1", "memory 64", "option Style=normal", "option Book=0", "book off", "ping 2"]
    );
    let names: Vec<_> = engine.declared().unwrap().iter().map(|option| &option.name).collect();
    assert_eq!(names, ["Hash", "Threads", "Style", "Book"]);
    set.set = Options::from([("Bok".to_owned(), OptionValue::Flag(false))]);
    let failure = start_failure(&set);
    assert_eq!(failure.to_string(), "scripted: option `Bok`: the engine has none of this name");
    let mut refusing = spec("xboard", &["knows-no-book"]);
    refusing.xboard.setup = vec!["book off".to_owned()];
    let failure = start_failure(&refusing);
    assert_eq!(
        failure.to_string(),
        "scripted: `book` was refused: Error (unknown command): book off"
    );
    assert_eq!(failure.diagnose(&refusing).remedy, "change `xboard.setup` in the engines file");
}

#[test]
fn moves_are_heard_behind_everything_else() {
    for words in [
        &["floods"][..],
        &["long-line"],
        &["cr"],
        &["claims-and-moves"],
        &["claims-and-moves", "no-ping"],
        &["offers-draw"],
        &["two-pongs"],
        &["no-ping", "no-done"],
    ] {
        assert_eq!(first_move(words).unwrap().mv, "e2e4", "{words:?}");
    }
}

#[test]
fn what_is_no_move_is_said() {
    for (word, text) in [
        ("none", ""),
        ("resigns", "resign"),
        ("resigns-by-result", "resign"),
        ("claims", "1/2-1/2 {Draw by repetition}"),
    ] {
        let mut engine = playing(&spec("xboard", &[word]));
        let failure = choose(&mut engine, limits()).unwrap_err();
        assert_eq!(failure.kind, FailureKind::NoMove(text.to_owned()), "{word}");
        assert!(engine.is_usable(), "{word}");
        new_game(&mut engine).unwrap();
    }
    // Without a sign of life, a claim is known to be no move only at the end of the time.
    let mut silent = spec("xboard", &["claims", "no-ping"]);
    (silent.patience.unbounded_move, silent.patience.stop) = (SHORT, SHORT);
    let kind = kind_of(choose(&mut playing(&silent), limits()));
    assert_eq!(kind, FailureKind::NoMove("1/2-1/2 {Draw by repetition}".to_owned()));
    let mut engine = playing(&spec("xboard", &["illegal"]));
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "e2e5");
    for moves in [&["e2e4"][..], &["e2e4", "e7e5"]] {
        let mut engine = playing(&spec("xboard", &["refuses-moves"]));
        let refused = ask(&mut engine, Start::Usual, moves, None).unwrap_err();
        assert!(
            matches!(&refused.kind, FailureKind::Refused { said, .. } if said.starts_with("Illegal move: ")),
            "{refused}"
        );
        assert!(!engine.is_usable());
    }
}

#[test]
fn a_second_answer_is_not_the_next_one() {
    let mut engine = playing(&spec("xboard", &["twice"]));
    for moves in [&[][..], &["e2e4", "e7e5"], &["e2e4", "e7e5", "e2e4", "a7a6"]] {
        assert_eq!(ask(&mut engine, Start::Usual, moves, None).unwrap().mv, "e2e4");
    }
    let kinds: Vec<_> = engine.take_breaches().iter().map(|breach| breach.kind).collect();
    assert_eq!(kinds, [BreachKind::Unasked]);
}

/// A time that is over before the engine has answered.
fn no_time() -> Limits {
    Limits { move_time: Some(Duration::from_millis(1)), ..Limits::default() }
}

#[test]
fn late_moves_and_none_end_as_over_uci() {
    for word in ["late", "after-stop"] {
        let mut engine = playing_within(&spec("xboard", &[word]), SHORT);
        let kind = kind_of(choose(&mut engine, no_time()));
        assert!(matches!(kind, FailureKind::OutOfTime { .. }), "{word}: {kind:?}");
        assert!(engine.transcript().contains("> ?\n"));
        // It has answered, and is asked again from the start of the game.
        assert!(engine.is_usable());
    }
    let mut engine = playing_within(&spec("xboard", &["late"]), SHORT);
    kind_of(choose(&mut engine, no_time()));
    assert_eq!(choose(&mut engine, limits()).unwrap().mv, "e2e4");
    for word in ["ignores-stop", "thinks-for-ever"] {
        let mut deaf = spec("xboard", &[word]);
        deaf.patience.stop = SHORT;
        let mut engine = playing_within(&deaf, SHORT);
        let kind = kind_of(choose(&mut engine, no_time()));
        assert!(matches!(kind, FailureKind::Hang { .. }), "{word}: {kind:?}");
        assert!(!engine.is_usable());
    }
    for word in ["no-pong", "wrong-pong"] {
        let mut mute = spec("xboard", &[word]);
        mute.patience.ready = SHORT;
        let mut engine = start(&mute).unwrap();
        let failure = new_game(&mut engine).unwrap_err();
        let FailureKind::NoAnswer { asked, awaited, .. } = &failure.kind else {
            panic!("{failure}")
        };
        assert_eq!((asked.as_str(), awaited.as_str()), ("ping 3", "pong"), "{word}");
        assert!(!engine.is_usable());
    }
}

#[test]
fn crashes_are_reported_with_their_exits() {
    let failure = first_move(&["dies-in-search"]).unwrap_err();
    assert_eq!((&failure.kind, failure.during), (&FailureKind::Crash(Exit::Code(7)), Phase::Move));
    let mut engine = playing(&spec("xboard", &["dies-between-games"]));
    let failure = new_game(&mut engine).unwrap_err();
    let kind = FailureKind::Crash(Exit::Code(5));
    assert_eq!((&failure.kind, failure.during), (&kind, Phase::NewGame));
    let mut engine = playing(&spec("xboard", &["dies-idle"]));
    choose(&mut engine, limits()).unwrap();
    assert!(new_game(&mut engine).is_err());
}

#[test]
fn a_process_of_one_game_plays_one() {
    let mut engine = playing(&spec("xboard", &["one-game"]));
    choose(&mut engine, limits()).unwrap();
    assert!(!engine.suits(&conditions()));
    let kind = new_game(&mut engine).unwrap_err().kind;
    assert!(matches!(kind, FailureKind::Unsupported(_)), "{kind:?}");
}
