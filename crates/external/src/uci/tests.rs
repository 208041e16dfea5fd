use std::time::Duration;

use proptest::prelude::*;

use crate::breach::BreachKind;
use crate::text::Line;

use super::*;

fn line(text: &str) -> Line {
    Line { text: text.to_owned(), is_cut: false }
}

/// The words of Tak programs.
fn tei() -> Words {
    let [clocks, increments] = [["wtime", "btime"], ["winc", "binc"]];
    Words {
        hello: "tei".to_owned(),
        position: "tps".to_owned(),
        clocks: clocks.map(str::to_owned),
        increments: increments.map(str::to_owned),
        moves: MoveForm::Word,
    }
}

fn searching() -> Client {
    let mut client = Client::default();
    client.begin_search();
    client
}

fn chosen(client: &mut Client, text: &str) -> Answer {
    match client.take(&line(text)) {
        Some(Event::Chosen(answer)) => answer,
        event => panic!("{text}: {event:?}"),
    }
}

#[test]
fn an_introduction_is_heard_behind_any_banner() {
    let mut client = Client::default();
    assert_eq!(client.greet(), "uci");
    for text in [
        "Stockfish 15.1 by the Stockfish developers",
        "",
        "id name  Stockfish 15.1 ",
        "id author the developers",
        "option name Debug Log File type string default",
        "option name Threads type spin default 1 min 1 max 512",
        "option name Clear Hash type button",
        "option name Style type combo default Fail High var Fail High var Solid",
        "option name Ponder type check default false",
        "option name Empty type string default <empty>",
        "option name Path type string default /a var/b min c",
        "option Hash",
    ] {
        assert_eq!(client.take(&line(text)), None, "{text}");
    }
    assert_eq!(client.take(&line("\tuciok\r")), Some(Event::Greeted));
    assert_eq!((client.name(), client.author()), ("Stockfish 15.1", "the developers"));
    let text = |default: &str| Kind::Text { default: default.to_owned() };
    assert_eq!(client.option("debug log file").unwrap().kind, text(""));
    assert_eq!(client.option("Empty").unwrap().kind, text(""));
    assert_eq!(client.option("Path").unwrap().kind, text("/a var/b min c"));
    assert_eq!(client.option("threads").unwrap().kind, Kind::Spin { default: 1, min: 1, max: 512 });
    assert_eq!(client.option("Clear Hash").unwrap().kind, Kind::Button);
    assert_eq!(client.option("Ponder").unwrap().kind, Kind::Check { default: false });
    let choices = vec!["Fail High".to_owned(), "Solid".to_owned()];
    let style = Kind::Combo { default: "Fail High".to_owned(), choices };
    assert_eq!(client.option("Style").unwrap().kind, style);
    let breaches: Vec<_> =
        client.breaches().iter().map(|breach| (breach.kind, breach.said.clone())).collect();
    assert_eq!(breaches, [(BreachKind::Garbled, "option Hash".to_owned())]);
}

/// An awaited message after other text counts only if it ends the line, and the line does not merely mention it.
#[test]
fn what_only_speaks_of_an_answer_is_none() {
    let mut client = searching();
    for text in [
        "trying d4, old bestmove e2e4, depth 7",
        "trying bestmove e2e4 ponder e7e5 again",
        "info depth 3 bestmove e2e4 is old",
        "info string bestmove e2e4",
    ] {
        assert_eq!(client.take(&line(text)), None, "{text}");
    }
    let answer =
        chosen(&mut client, "info depth 5 score cp 7 pv d2d4 d7 bestmove d2d4 ponder d7d5 ");
    assert_eq!((answer.mv.as_deref(), answer.ponder.as_deref()), (Ok("d2d4"), Some("d7d5")));
    assert_eq!((answer.report.depth, answer.report.pv.as_deref()), (Some(5), Some("d2d4 d7")));
    assert_eq!(client.breaches().get(BreachKind::Interleaved).unwrap().times, 1);
}

#[test]
fn what_is_declared_without_end_is_kept_in_bounds() {
    let mut client = Client::default();
    client.greet();
    let words = "var a ".repeat(1_000);
    for number in 0..1_000 {
        client.take(&line(&format!("option name N{number} type combo default a {words}")));
    }
    assert!((10..100).contains(&client.options().len()), "{}", client.options().len());
    assert_eq!(client.take(&line("uciok")), Some(Event::Greeted));
}

#[test]
fn what_is_kept_can_be_shown_and_is_no_longer_than_it_may_be() {
    let mut client = Client::default();
    client.greet();
    client.take(&line(&format!("id name X\u{1b}]0;{}", "é".repeat(1_000))));
    client.take(&line(&format!("id author {}", "y".repeat(1_000))));
    assert!(client.name().starts_with("X ]0;éé") && client.name().len() <= 200);
    assert_eq!(client.author().len(), 200);
    let mut client = searching();
    client.take(&line(&format!("info score cp 1 pv {}", "e2e4 \u{7} ".repeat(2_000))));
    let answer = chosen(&mut client, &format!("bestmove \u{1b}{}", "z".repeat(1_000)));
    let text = answer.mv.unwrap_err();
    assert!(text.starts_with(" zz") && text.len() <= 200, "{text}");
    let pv = answer.report.pv.unwrap();
    assert!(pv.len() <= 4_096 && !pv.contains(char::is_control));
    assert!(pv.split(' ').all(|word| matches!(word, "e2e4" | "")), "{pv}");
}

#[test]
fn values_are_held_against_what_was_declared() {
    let problem = |declared: &str, value: Option<&str>| {
        Declared::parse(declared).unwrap().problem_with(value)
    };
    let spin = "name Hash type spin default 16 min 1 max 1024";
    assert_eq!(problem(spin, Some("1024")), None);
    assert_eq!(problem(spin, Some("0")).unwrap(), "`0` is no whole number from 1 to 1024");
    assert_eq!(problem(spin, None).unwrap(), "it is no button, and takes a value");
    let combo = "name Style type combo default Normal var Normal var Fail High";
    assert_eq!(problem(combo, Some("fail high")), None);
    assert_eq!(problem(combo, Some("Fail")).unwrap(), "`Fail` is none of `Normal`, `Fail High`");
    assert_eq!(problem("name A type check default true", Some("true")), None);
    assert_eq!(
        problem("name A type check default true", Some("yes")).unwrap(),
        "`yes` is neither `true` nor `false`"
    );
    assert_eq!(problem("name Clear type button", None), None);
    assert_eq!(
        problem("name Clear type button", Some("true")).unwrap(),
        "it is a button, and takes no value"
    );
    assert_eq!(problem("name File type string default x", Some("")), None);
    assert_eq!(Declared::parse("name File type colour"), None);
    assert_eq!(Declared::parse("type check"), None);
}

#[test]
fn the_last_exact_score_of_the_best_line_is_kept() {
    let mut client = searching();
    for text in [
        "info depth 1 seldepth 1 multipv 1 score cp 5 nodes 20 time 1 pv e2e4",
        "info depth 9 seldepth 12 multipv 1 score cp 31 nodes 5000 nps 1000 hashfull 4 tbhits 2 \
         time 7 pv d2d4 d7d5",
        "info depth 9 multipv 2 score cp 99 nodes 5001 time 8 pv a2a3",
        "info depth 10 seldepth 14 multipv 1 score cp 60 lowerbound nodes 6000 time 9 pv c2c4",
        "info string NNUE depth 77 score cp 9",
        "info depth 10 currmove e2e4 currmovenumber 3",
        "info nodes 7000 time 11",
    ] {
        assert_eq!(client.take(&line(text)), None, "{text}");
    }
    let answer = chosen(&mut client, "bestmove d2d4 ponder d7d5");
    assert_eq!((answer.mv.as_deref(), answer.ponder.as_deref()), (Ok("d2d4"), Some("d7d5")));
    let score = Score { value: ScoreValue::Centipawns(31), bound: Bound::Exact };
    let expected = SearchInfo {
        depth: Some(9),
        seldepth: Some(12),
        score: Some(score),
        pv: Some("d2d4 d7d5".to_owned()),
        nodes: Some(7_000),
        time_ms: Some(11),
        nps: Some(1_000),
        hashfull: Some(4),
        tbhits: Some(2),
    };
    assert_eq!(answer.report, expected);
    assert!(client.breaches().take_new().is_empty());

    client.begin_search();
    client.take(&line("info depth 3 score mate -2 upperbound"));
    let answer = chosen(&mut client, "bestmove d2d4 ponder (none)");
    let score = Score { value: ScoreValue::Mate(-2), bound: Bound::Upper };
    assert_eq!((answer.report.score, answer.report.depth), (Some(score), Some(3)));
    assert_eq!(answer.ponder, None);
}

#[test]
fn best_moves_are_heard_however_they_are_said() {
    for (text, mv) in [
        ("bestmove e2e4", Ok("e2e4")),
        ("bestmove e2e4\r", Ok("e2e4")),
        ("   bestmove\te7e8q  ponder a1a2", Ok("e7e8q")),
        ("bestmove E7E8Q", Ok("e7e8q")),
        ("info depth 3 scobestmove e2e4", Err("")),
        ("thinking... bestmove e2e4", Ok("e2e4")),
        ("bestmove (none)", Err("(none)")),
        ("bestmove 0000", Err("0000")),
        ("bestmove NULL", Err("NULL")),
        ("bestmove", Err("bestmove")),
        ("bestmove e2-e4", Err("e2-e4")),
        ("bestmove e9e4", Err("e9e4")),
    ] {
        let mut client = searching();
        let answer = client.take(&line(text));
        if mv == Err("") {
            assert_eq!(answer, None, "{text}");
            continue;
        }
        let Some(Event::Chosen(answer)) = answer else { panic!("{text}: {answer:?}") };
        assert_eq!(answer.mv.as_deref().map_err(String::as_str), mv, "{text}");
    }
}

/// Over UGI a move is any word, in its own case, except one that stands for none.
#[test]
fn moves_of_other_games_are_words() {
    for (text, mv, ponder) in [
        ("bestmove d3", Ok("d3"), None),
        (" bestmove\tA1-2r  ponder b2-1l\r", Ok("A1-2r"), Some("b2-1l")),
        ("bestmove pass ponder (none)", Ok("pass"), None),
        ("bestmove d3 with a reason", Ok("d3"), None),
        ("info depth 3 score cp 5 pv d3 c5 bestmove d3", Ok("d3"), None),
        ("bestmove (none)", Err("(none)"), None),
        ("bestmove None", Err("None"), None),
        ("bestmove resign", Err("resign"), None),
        ("bestmove é", Err("é"), None),
        ("bestmove", Err("bestmove"), None),
    ] {
        let mut client = Client::new(Words::ugi());
        client.begin_search();
        for junk in ["I look for a bestmove now", "info string bestmove d3", "bestmoves d3"] {
            assert_eq!(client.take(&line(junk)), None, "{junk}");
        }
        let answer = chosen(&mut client, text);
        let chosen = answer.mv.as_deref().map_err(String::as_str);
        assert_eq!((chosen, answer.ponder.as_deref()), (mv, ponder), "{text}");
    }
}

#[test]
fn a_greeting_has_the_words_of_its_protocol() {
    for (words, hello, ok) in
        [(Words::uci(), "uci", "uciok"), (Words::ugi(), "ugi", "ugiok"), (tei(), "tei", "teiok")]
    {
        let mut client = Client::new(words.clone());
        assert_eq!(client.greet(), hello);
        for other in ["uciok", "ugiok", "teiok", "ok", "readyok"] {
            let event = client.take(&line(other));
            assert_eq!(event.is_some(), other == ok, "{other}");
            client.greet();
        }
        assert_eq!(client.take(&line(&format!("log: ready {ok}"))), Some(Event::Greeted));
        assert_eq!(words.new_game(), format!("{hello}newgame"));
    }
}

#[test]
fn commands_have_the_words_of_their_protocol() {
    let go = Go {
        white_time_ms: Some(1),
        black_time_ms: Some(2),
        white_increment_ms: Some(3),
        black_increment_ms: Some(4),
        moves_to_go: Some(5),
        ..Go::default()
    };
    let (start, moves) = (Start::Fen("x5/x5 1 1".to_owned()), vec!["a1".to_owned()]);
    let position = Command::Position { start, moves };
    let lines = |words: &Words| {
        [Command::Uci, Command::NewGame, position.clone(), Command::Go(go.clone())]
            .map(|command| command.to_line(words))
    };
    assert_eq!(
        lines(&Words::ugi()),
        [
            "ugi",
            "uginewgame",
            "position fen x5/x5 1 1 moves a1",
            "go p1time 1 p2time 2 p1inc 3 p2inc 4 movestogo 5",
        ]
    );
    assert_eq!(
        lines(&tei()),
        [
            "tei",
            "teinewgame",
            "position tps x5/x5 1 1 moves a1",
            "go wtime 1 btime 2 winc 3 binc 4 movestogo 5",
        ]
    );
    let parsed =
        |text: &str| Command::parse(text, &tei()).unwrap().map_err(|error| error.to_string());
    assert_eq!(parsed("uci"), Err("there is no command `uci`".to_owned()));
    assert_eq!(parsed("position fen x"), Err("`position` needs `startpos` or `tps`".to_owned()));
    assert_eq!(parsed("go p1time 5"), Ok(Command::Go(Go::default())));
}

#[test]
fn breaches_are_noted_once_for_each_kind() {
    let mut client = searching();
    for text in [
        "hello",
        "world",
        "info depth x score cp 3",
        "info score",
        "readyok",
        "thinking bestmove E2E4",
        "bestmove e2e4",
    ] {
        client.take(&line(text));
    }
    client.take(&Line { text: "info string x".to_owned(), is_cut: true });
    let kinds: Vec<_> = client
        .breaches()
        .iter()
        .map(|breach| (breach.kind, breach.said.as_str(), breach.times))
        .collect();
    assert_eq!(
        kinds,
        [
            (BreachKind::Junk, "hello", 2),
            (BreachKind::Interleaved, "thinking bestmove E2E4", 1),
            (BreachKind::LongLine, "info string x", 1),
            (BreachKind::Garbled, "info depth x score cp 3", 2),
            (BreachKind::UpperCase, "thinking bestmove E2E4", 1),
            (BreachKind::Unasked, "readyok", 2),
        ]
    );
}

#[test]
fn commands_are_read_with_what_was_wrong() {
    let problem =
        |text: &str| Command::parse(text, &Words::uci()).unwrap().unwrap_err().to_string();
    assert_eq!(Command::parse("  \t", &Words::uci()), None);
    assert_eq!(problem("joho debug on"), "there is no command `joho`");
    assert_eq!(problem("debug"), "`debug` needs `on` or `off`");
    assert_eq!(problem("setoption Hash"), "`setoption` needs `name` and the name of an option");
    assert_eq!(
        problem("setoption name value 3"),
        "`setoption` needs `name` and the name of an option"
    );
    assert_eq!(problem("position"), "`position` needs `startpos` or `fen`");
    assert_eq!(problem("position fen"), "`position` needs a position after `fen`");
    assert_eq!(problem("position startpos e2e4"), "`position` needs `moves` before moves");
    assert_eq!(problem("go depth"), "`go` needs a whole number after each limit");
    let go = Go { white_time_ms: Some(0), depth: Some(3), ..Go::default() };
    let parsed = Command::parse("go wtime -5 depth 3 perft", &Words::uci());
    assert_eq!(parsed, Some(Ok(Command::Go(go))));
    assert_eq!(whole_ms(Duration::from_micros(1_999)), 1);
}

/// A server's actions for these lines, as words; `!` answers the running search.
fn served(lines: &[&str]) -> Vec<String> {
    let options = ["name Hash type spin default 16 min 1 max 64", "name Clear type button"];
    let options = options.iter().map(|text| Declared::parse(text).unwrap()).collect();
    let words = Words::uci();
    let mut server = Server::new(words.clone(), "Us 1".to_owned(), "we".to_owned(), options);
    let mut done = Vec::new();
    for text in lines {
        let actions = match *text {
            "!" => server.searched(Some("e2e4"), Some("e7e5")),
            "!none" => server.searched(None, None),
            text => server.take(text),
        };
        done.extend(actions.into_iter().map(|action| match action {
            Action::Say(line) => line,
            Action::SayReady => "* SayReady".to_owned(),
            Action::Set(Setting { name, value }) => format!("* {name} = {value:?}"),
            Action::Search { start, moves, go } => {
                let position = Command::Position { start, moves }.to_line(&words);
                format!("* {position} / {}", go.to_line(&words))
            }
            Action::NewGame | Action::Stop | Action::PonderHit | Action::Quit => {
                format!("* {action:?}")
            }
        }));
    }
    done
}

#[test]
fn a_server_introduces_itself_and_plays() {
    let lines = [
        "uci",
        "setoption name hash value 32",
        "setoption name clear",
        "isready",
        "ucinewgame",
        "position startpos moves e2e4 e7e5",
        "go movetime 100",
        "isready",
        "!",
        "position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1",
        "go depth 2",
        "stop",
        "!none",
        "stop",
        "quit",
    ];
    assert_eq!(
        served(&lines),
        [
            "id name Us 1",
            "id author we",
            "option name Hash type spin default 16 min 1 max 64",
            "option name Clear type button",
            "uciok",
            "* Hash = Some(\"32\")",
            "* Clear = None",
            "* SayReady",
            "* NewGame",
            "* position startpos moves e2e4 e7e5 / go movetime 100",
            "readyok",
            "bestmove e2e4 ponder e7e5",
            "* position fen 8/8/8/8/8/8/8/K1k5 w - - 0 1 / go depth 2",
            "* Stop",
            "bestmove (none)",
            "* Quit",
        ]
    );
}

#[test]
fn a_server_holds_its_answer_back_where_it_must() {
    let held = ["go infinite", "!", "isready", "stop"];
    let answer = "bestmove e2e4 ponder e7e5";
    let search = "* position startpos / go infinite";
    assert_eq!(served(&held), [search, "readyok", answer]);
    let pondered = ["go ponder wtime 5", "ponderhit", "!"];
    let search = "* position startpos / go ponder wtime 5";
    assert_eq!(served(&pondered), [search, "* PonderHit", answer]);
    assert_eq!(
        served(&["!", "ponderhit", "stop", "", "xyzzy"]),
        ["info string there is no command `xyzzy`"]
    );
}

#[test]
fn a_server_says_what_it_does_not_do() {
    let lines = [
        "setoption name Hash value 65",
        "setoption name Threads value 2",
        "position nowhere",
        "go infinite",
        "position startpos",
        "go depth 1",
        "setoption name Hash value 1",
        "ucinewgame",
    ];
    let wait = |command: &str| {
        format!("info string `{command}` has to wait for the end of the search; send `stop` first")
    };
    assert_eq!(
        served(&lines),
        [
            "info string option `Hash`: `65` is no whole number from 1 to 64".to_owned(),
            "info string there is no option `Threads`".to_owned(),
            "info string `position` needs `startpos` or `fen`".to_owned(),
            "* position startpos / go infinite".to_owned(),
            wait("position"),
            wait("go"),
            wait("setoption"),
            wait("ucinewgame"),
        ]
    );
}

/// Text that has blanks inside and none around, without words of the protocol.
fn free_text() -> impl Strategy<Value = String> {
    "[A-Z0-9_/.é]{1,8}( {1,2}[A-Z0-9_]{1,6}){0,2}"
}

fn a_move() -> impl Strategy<Value = String> {
    "[a-h][1-8][a-h][1-8][qrbn]?"
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        any::<bool>().prop_map(|default| Kind::Check { default }),
        any::<[i64; 3]>().prop_map(|[default, min, max]| Kind::Spin { default, min, max }),
        (free_text(), proptest::collection::vec(free_text(), 0..4))
            .prop_map(|(default, choices)| Kind::Combo { default, choices }),
        Just(Kind::Button),
        prop_oneof![Just(String::new()), free_text()].prop_map(|default| Kind::Text { default }),
    ]
}

fn score() -> impl Strategy<Value = Score> {
    let value = prop_oneof![
        any::<i64>().prop_map(ScoreValue::Centipawns),
        any::<i64>().prop_map(ScoreValue::Mate),
    ];
    let bound = prop_oneof![Just(Bound::Exact), Just(Bound::Lower), Just(Bound::Upper)];
    (value, bound).prop_map(|(value, bound)| Score { value, bound })
}

type Numbers = (Option<u32>, Option<u32>, Option<u64>, Option<u64>, Option<u64>, Option<u32>);

fn commands() -> impl Strategy<Value = Command> {
    let moves = || proptest::collection::vec(a_move(), 0..5);
    let start = prop_oneof![
        Just(Start::Usual),
        "[a-zA-Z1-8/]{3,20} [wb] [KQkq-]{1,4} - [0-9] [0-9]".prop_map(Start::Fen),
    ];
    let go = (moves(), any::<[bool; 2]>(), any::<[Option<u32>; 5]>(), any::<[Option<u32>; 4]>())
        .prop_map(|(search_moves, [ponder, infinite], times, numbers)| {
            let [white, black, white_increment, black_increment, move_time] =
                times.map(|ms| ms.map(u64::from));
            let [moves_to_go, depth, nodes, mate] = numbers;
            Go {
                search_moves,
                ponder,
                white_time_ms: white,
                black_time_ms: black,
                white_increment_ms: white_increment,
                black_increment_ms: black_increment,
                moves_to_go,
                depth,
                nodes: nodes.map(u64::from),
                mate,
                move_time_ms: move_time,
                infinite,
            }
        });
    prop_oneof![
        Just(Command::Uci),
        any::<bool>().prop_map(Command::Debug),
        Just(Command::IsReady),
        (free_text(), proptest::option::of(prop_oneof![Just(String::new()), free_text()]))
            .prop_map(|(name, value)| Command::SetOption { name, value }),
        Just(Command::NewGame),
        (start, moves()).prop_map(|(start, moves)| Command::Position { start, moves }),
        go.prop_map(Command::Go),
        Just(Command::Stop),
        Just(Command::PonderHit),
        Just(Command::Quit),
    ]
}

fn words() -> impl Strategy<Value = Words> {
    prop_oneof![Just(Words::uci()), Just(Words::ugi()), Just(tei())]
}

proptest! {
    #[test]
    fn commands_are_read_as_they_are_written(command in commands(), words in words()) {
        let text = command.to_line(&words);
        prop_assert_eq!(Command::parse(&text, &words), Some(Ok(command)), "{}", text);
    }

    #[test]
    fn options_are_read_as_they_are_written(name in free_text(), kind in kind()) {
        let declared = Declared { name, kind };
        let text = Message::Option(declared.clone()).to_string();
        prop_assert_eq!(Message::parse(&text, &Words::uci()), Some(Message::Option(declared)), "{}", text);
    }

    #[test]
    fn searches_are_read_as_they_are_written(
        (depth, seldepth, time_ms, nodes, nps, multipv) in any::<Numbers>(),
        score in proptest::option::of(score()),
        (hashfull, tbhits) in any::<(Option<u32>, Option<u64>)>(),
        pv in proptest::collection::vec(a_move(), 0..6),
        string in proptest::option::of(free_text()),
    ) {
        let pv = pv.join(" ");
        let info = Info {
            depth,
            seldepth,
            time_ms,
            nodes,
            nps,
            multipv,
            score,
            hashfull,
            tbhits,
            pv: (!pv.is_empty()).then_some(pv.as_str()),
            string: string.as_deref(),
            is_garbled: false,
        };
        let text = Message::Info(info).to_string();
        prop_assert_eq!(Message::parse(&text, &Words::uci()), Some(Message::Info(info)), "{}", text);
    }

    #[test]
    fn moves_are_read_as_they_are_written(
        mv in a_move(),
        ponder in proptest::option::of(a_move()),
    ) {
        let best = BestMove { mv: &mv, ponder: ponder.as_deref() };
        let text = best.to_string();
        prop_assert_eq!(Message::parse(&text, &Words::uci()), Some(Message::BestMove(best)), "{}", text);
    }

    #[test]
    fn nothing_that_is_said_makes_a_client_or_a_server_panic(
        lines in proptest::collection::vec(
            prop_oneof![
                any::<Vec<u8>>().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                "(id|option|info|bestmove|uciok|readyok|go|position|setoption|stop)( (name|type|\
                 spin|combo|var|default|score|cp|mate|pv|string|depth|ponder|fen|moves|value|-?[0-9]{1,20}|\
                 [a-h][1-8][a-h][1-8])){0,8}",
            ],
            0..12,
        ),
        phase in 0..4,
        words in words(),
    ) {
        let mut client = Client::new(words.clone());
        match phase {
            0 => { client.greet(); }
            1 => { client.ask_ready(); }
            2 => client.begin_search(),
            _ => {}
        }
        let mut server = Server::new(words, String::new(), String::new(), Vec::new());
        for text in &lines {
            client.take(&line(text));
            for action in server.take(text) {
                if let Action::Say(line) = action {
                    prop_assert!(!line.contains(['\n', '\r']));
                }
            }
        }
    }

    /// Whatever is printed in between, an answer that comes alone on its line is recognised.
    #[test]
    fn answers_are_heard_among_anything(
        noise in proptest::collection::vec("[ -~]{0,40}", 0..6),
        mv in a_move(),
    ) {
        let mut client = searching();
        for text in noise.iter().filter(|text| !text.contains("bestmove")) {
            prop_assert_eq!(client.take(&line(text)), None);
        }
        let answer = chosen(&mut client, &format!("  bestmove {mv}\r"));
        prop_assert_eq!(answer.mv, Ok(mv));
    }
}
