use proptest::prelude::*;

use super::edit::edit_commands;
use super::feature::{parse_features, parse_option};
use super::*;
use crate::breach::BreachKind;
use crate::text::Line;
use crate::uci::{Bound, Declared, Kind, Score, ScoreValue};

fn line(text: &str) -> Line {
    Line { text: text.to_owned(), is_cut: false }
}

/// A client that has heard these features.
fn client(features: &str) -> Client {
    let mut client = Client::default();
    client.greet();
    let text = format!("feature {features} done=1");
    assert_eq!(client.take(&line(&text)), Some(Event::Greeted));
    client
}

#[test]
fn features_are_read_in_all_forms() {
    assert_eq!(
        parse_features(r#" myname="A 1.0" ping=1  san = 0 variants="normal,nocastle" done=1"#),
        [
            ("myname", "A 1.0"),
            ("ping", "1"),
            ("san", "0"),
            ("variants", "normal,nocastle"),
            ("done", "1")
        ]
    );
    assert_eq!(parse_features("junk ping=1 x"), [("ping", "1")]);
    assert_eq!(parse_features(r#"myname="endless"#), [("myname", "endless")]);
    assert_eq!(parse_features("="), [("", "")]);
    assert_eq!(parse_features(""), []);
}

#[test]
fn features_are_accepted_if_they_are_kept() {
    let mut client = Client::default();
    assert_eq!(client.greet(), "xboard\nprotover 2\n");
    let features =
        r#"feature ping=1 setboard=1 usermove=1 san=1 colors=0 time=0 wings=1 myname="A"#;
    assert_eq!(client.take(&line(features)), Some(Event::Declared));
    assert_eq!(
        client.take_replies(),
        "accepted ping\naccepted setboard\naccepted usermove\nrejected san\naccepted colors\naccepted time\n\
         rejected wings\naccepted myname\n"
    );
    assert!(client.has_features() && !client.is_slow());
    assert_eq!(client.take(&line("feature done=0")), Some(Event::Declared));
    assert!(client.is_slow());
    assert_eq!(client.take(&line("feature done=1")), Some(Event::Greeted));
    let Features { ping, setboard, usermove, time, colors, reuse, ref name, .. } =
        *client.features();
    assert!(ping && setboard && usermove && reuse && !time && !colors);
    assert_eq!(name, "A");
    // Later features are answered too.
    assert_eq!(client.take(&line("feature reuse=0")), None);
    assert!(!client.features().reuse);
}

#[test]
fn options_are_those_of_the_engine() {
    let declared = |name: &str, kind| Some(Declared { name: name.to_owned(), kind });
    for (text, expected) in [
        ("Resign -check 0", declared("Resign", Kind::Check { default: false })),
        ("Re-search -check 1", declared("Re-search", Kind::Check { default: true })),
        ("A - B -spin 5 0 9", declared("A - B", Kind::Spin { default: 5, min: 0, max: 9 })),
        ("S -slider -3 -9 9", declared("S", Kind::Spin { default: -3, min: -9, max: 9 })),
        (
            "Style -combo Solid /// *Normal /// Wild one",
            declared(
                "Style",
                Kind::Combo {
                    default: "Normal".to_owned(),
                    choices: ["Solid", "Normal", "Wild one"].map(str::to_owned).into(),
                },
            ),
        ),
        ("Clear -button", declared("Clear", Kind::Button)),
        ("Book -file /a b.bin", declared("Book", Kind::Text { default: "/a b.bin".to_owned() })),
        ("Text -string", declared("Text", Kind::Text { default: String::new() })),
        ("None -knob 3", None),
        ("-check 1", None),
        ("", None),
    ] {
        assert_eq!(parse_option(text), expected, "{text}");
    }
    let client = client(r#"option="Book -check 1" option="Clear -button" memory=1 smp=1"#);
    let commands: Vec<_> = client
        .options()
        .iter()
        .zip([Some("false"), None, Some("64"), Some("1")])
        .map(|(option, value)| client.set_option(option, value))
        .collect();
    assert_eq!(commands, ["option Book=0", "option Clear", "memory 64", "cores 1"]);
}

#[test]
fn thinking_is_read_as_engines_print_it() {
    let score = |value, bound| Score { value, bound };
    let exact = |value| score(ScoreValue::Centipawns(value), Bound::Exact);
    for (text, depth, expected, time_ms, nodes, seldepth, pv) in [
        ("  9 156 1084 48000 Nf3 Nc6", 9, exact(156), 10_840, 48_000, None, "Nf3 Nc6"),
        (" 2.     14    0       38   d1d2  e8e7 ", 2, exact(14), 0, 38, None, "d1d2  e8e7"),
        ("3+ +10 1 519 Nc6", 3, exact(10), 1_000, 519, None, "Nc6"),
        ("  0      0     0        0  (e7-e5, book1)", 0, exact(0), 0, 0, None, "(e7-e5, book1)"),
        ("2 -42 0 142 1. ... e5 2. d4", 2, exact(-42), 0, 142, None, "1. ... e5 2. d4"),
        ("5 1 2 3 17 900 4\te2e4", 5, exact(1), 20, 3, Some(17), "e2e4"),
        ("5 1 2 3 4\te2e4", 5, exact(1), 20, 3, None, "e2e4"),
        ("5 1 2 3 e2e4 ?", 5, score(ScoreValue::Centipawns(1), Bound::Upper), 20, 3, None, "e2e4"),
        ("5 1 2 3 e2e4!", 5, score(ScoreValue::Centipawns(1), Bound::Lower), 20, 3, None, "e2e4"),
        ("5 100003 2 3", 5, score(ScoreValue::Mate(3), Bound::Exact), 20, 3, None, ""),
        ("5 -100003 2 3", 5, score(ScoreValue::Mate(-3), Bound::Exact), 20, 3, None, ""),
        ("5 200000 2 3", 5, exact(200_000), 20, 3, None, ""),
    ] {
        let expected = Thinking { depth, score: expected, time_ms, nodes, seldepth, pv };
        assert_eq!(Thinking::parse(text), Some(expected), "{text}");
    }
    for text in
        ["", "1", "1 2 3", "1. e4 e5 2", "e2e4", "5?? 1 2 3", "1 2 3 -4", "99999999999 1 2 3"]
    {
        assert_eq!(Thinking::parse(text), None, "{text}");
    }
}

#[test]
fn moves_are_heard_in_all_forms() {
    for (text, mv) in [
        ("move e2e4", "e2e4"),
        ("  move   Nf3 \r", "Nf3"),
        ("My move is: e2e4", "e2e4"),
        ("My move is : O-O", "O-O"),
        ("White (1) : My move is: e2e4", "e2e4"),
        ("1. ... e7e5", "e7e5"),
        ("12... e8=Q", "e8=Q"),
    ] {
        let mut client = Client::default();
        client.begin_search();
        assert_eq!(client.take(&line(text)), Some(Event::Chosen(mv.to_owned())), "{text}");
        // Some say it twice.
        assert_eq!(client.take(&line(&format!("move {mv}"))), None);
        assert!(client.breaches().get(BreachKind::Unasked).is_none(), "{text}");
        assert_eq!(client.take(&line("move a2a3")), None);
        assert!(client.breaches().get(BreachKind::Unasked).is_some(), "{text}");
    }
    // Lines of an engine with features are its thoughts.
    let mut modern = client("ping=1");
    modern.begin_search();
    assert_eq!(modern.take(&line("1. ... e7e5")), None);
    for text in [
        "1 13 0 20 e2e4",
        "# move a1a1",
        "telluser move a1a1",
        "offer draw",
        "    Nf3 Nc6",
        "Hint: e2e4",
    ] {
        assert_eq!(modern.take(&line(text)), None, "{text}");
    }
    assert_eq!(modern.take(&line("move")), Some(Event::Chosen(String::new())));
}

#[test]
fn what_an_engine_says_instead_of_moving_is_told_apart() {
    let heard = |text: &str| {
        let mut client = client("ping=1");
        client.send_move("e7e5");
        client.begin_search();
        client.take(&line(text))
    };
    let claim = |text: &str| Some(Event::Claimed(text.to_owned()));
    for text in ["resign", "0-1 {White resigns}", "1/2-1/2 {Draw by repetition}"] {
        assert_eq!(heard(text), claim(text), "{text}");
    }
    for text in [
        "Illegal move: e7e5",
        "Illegal move (not possible): e7e5",
        "Invalid move: e7e5",
        "Error (unknown command): e7e5",
    ] {
        assert_eq!(heard(text), Some(Event::Refused(text.to_owned())), "{text}");
    }
    assert_eq!(heard("Error (unknown command): easy"), None);
    let mut client = client("ping=1");
    assert_eq!(client.take(&line("1-0 {Black resigns}")), None);
    assert_eq!(client.take(&line("Error (unknown command): easy")), None);
    assert_eq!(client.take(&line("Error (unknown command): sd")), None);
    let error = ("sd".to_owned(), "Error (unknown command): sd".to_owned());
    assert_eq!(client.take_error(&["st", "sd"]), Some(error));
    assert_eq!(client.take_error(&["st", "sd"]), None);
}

#[test]
fn the_last_pong_counts() {
    let mut client = client("ping=1");
    assert_eq!(client.ping().as_deref(), Some("ping 1\n"));
    assert_eq!(client.take(&line("pong 1")), Some(Event::Ready));
    assert_eq!(client.ping().as_deref(), Some("ping 2\n"));
    for text in ["pong 1", "pong", "pong x", "pong 3"] {
        assert_eq!(client.take(&line(text)), None, "{text}");
    }
    assert_eq!(client.take(&line("pong 2")), Some(Event::Ready));
    client.begin_search();
    // Some answer twice.
    assert_eq!(client.take(&line("pong 2")), None);
    assert_eq!(client.await_move_again(), "ping 3\n");
    assert_eq!(client.take(&line("pong 3")), Some(Event::Ready));
    assert_eq!(Client::default().ping(), None);
}

#[test]
fn positions_are_set_up_piece_by_piece() {
    assert_eq!(
        edit_commands("4k3/8/8/8/8/8/P7/4K2R b K - 3 7").unwrap(),
        "a2a3\nedit\n#\nPa2\nKe1\nRh1\nc\nKe8\n.\n"
    );
    assert!(edit_commands("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1").is_some());
    for fen in [
        // No right where one is implied, one that is not, and a capture in passing.
        "4k3/8/8/8/8/8/P7/4K2R b - - 3 7",
        "4k3/8/8/8/8/8/P7/3K3R b K - 3 7",
        "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1",
        "4k3/8/8/8/8/8/P7/4K3 x - - 0 1",
        "4k3/8/8/8/8/8/4K3 w - - 0 1",
        "4k3/9/8/8/8/8/8/4K3 w - - 0 1",
        "4k2x/8/8/8/8/8/8/4K3 w - - 0 1",
        "8",
        "",
    ] {
        assert_eq!(edit_commands(fen), None, "{fen}");
    }
}

#[test]
fn an_engine_that_never_stops_declaring_is_kept_in_bounds() {
    let mut client = Client::default();
    client.greet();
    for number in 0..200_000 {
        client.take(&line(&format!("feature option=\"{number} -check 0\" x=1")));
    }
    assert!(client.take_replies().len() < 100_000 && client.options().len() < 40_000);
}

proptest! {
    #[test]
    fn nothing_that_is_said_makes_it_panic(
        texts in proptest::collection::vec(
            prop_oneof![
                any::<Vec<u8>>().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                "(feature|pong|move|Error|Illegal move|1-0|[0-9]{1,3}) ?[a-z0-9=\"(:.é-]{0,12}",
            ],
            0..20,
        ),
        awaited in 0..4_u8,
    ) {
        let mut client = Client::default();
        match awaited {
            0 => _ = client.greet(),
            1 => client.begin_search(),
            2 => _ = client.await_move_again(),
            _ => {}
        }
        for text in &texts {
            client.take(&line(text));
        }
        client.take_report();
        client.begin_search();
        prop_assert_eq!(client.take(&line("move e2e4")), Some(Event::Chosen("e2e4".to_owned())));
    }

    #[test]
    fn no_position_makes_it_panic(fen in "[kqrbnpKQRBNP1-9x/]{0,40} [wbx]? ?[KQkq-]{0,4} [a-h1-8-]{0,3}") {
        if let Some(text) = edit_commands(&fen) {
            prop_assert!(text.ends_with(".\n"), "{text}");
        }
    }
}
