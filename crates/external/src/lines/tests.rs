use proptest::prelude::*;

use super::*;

fn uncut_line(text: &str) -> Line {
    Line { text: text.to_owned(), is_cut: false }
}

fn request<'a>(moves: &'a [String], legal: &'a [String]) -> Request<'a> {
    Request {
        id: 0,
        match_number: 1,
        position: "p",
        opening: "o",
        moves,
        legal,
        to_move: "first",
        seed: 7,
        limits: RequestLimits::default(),
        board: ". .\n. .",
        refused: None,
    }
}

/// A player that has been asked once.
fn asked() -> Client {
    let mut client = Client::default();
    client.ask(&request(&[], &[]));
    client
}

fn kinds(client: &mut Client) -> Vec<BreachKind> {
    client.breaches().iter().map(|breach| breach.kind).collect()
}

fn decision(text: &str) -> Option<Decision> {
    match asked().take(&uncut_line(text))? {
        Event::Answered(answer) => Some(answer.decision),
        Event::Started(_) | Event::Refused(_) | Event::Garbled(_) | Event::Asked(_) => None,
    }
}

#[test]
fn the_start_line_has_game_rules_and_options() {
    let mut client = Client::default();
    let rules = serde_json::json!({"heaps": [1, 2]});
    let setup = GameSetup { name: "nim".to_owned(), rules };
    let options = Map::from_iter([("Level".to_owned(), Value::from(3))]);
    assert_eq!(
        client.start(Some(&setup), &options),
        "{\"spelrum\":1,\"game\":\"nim\",\"rules\":{\"heaps\":[1,2]},\"options\":{\"Level\":3}}\n"
    );
    let event = client.take(&uncut_line(r#"{"name":"mine","version":"1.2","parallel":0,"x":[]}"#));
    let introduction = Introduction { name: "mine 1.2".into(), author: String::new(), parallel: 1 };
    assert_eq!(event, Some(Event::Started(introduction)));
    assert_eq!(client.start(None, &Map::new()), "{\"spelrum\":1,\"options\":{}}\n");
    let event = client.take(&uncut_line(r#"{"error":"only chess"}"#));
    assert_eq!(event, Some(Event::Refused("only chess".to_owned())));
}

#[test]
fn a_request_says_all_there_is_to_say() {
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (moves, legal) = (texts(&["d"]), texts(&["a", "b"]));
    let clock = RequestClock { seconds: 9.5, increment: 0.1, opponent: 8.0, moves: Some(12) };
    let limits = RequestLimits { depth: Some(3), clock: Some(clock), ..RequestLimits::default() };
    let mut client = Client::default();
    assert_eq!(
        client.ask(&Request { limits, refused: Some("`z`"), ..request(&moves, &legal) }),
        "{\"id\":1,\"match\":1,\"refused\":\"`z`\",\"position\":\"p\",\"opening\":\"o\",\"moves\":[\"d\"],\
         \"legal\":[\"a\",\"b\"],\"to_move\":\"first\",\"seed\":7,\"limits\":{\"depth\":3,\
         \"clock\":{\"seconds\":9.5,\"increment\":0.1,\"opponent\":8.0,\"moves\":12}},\
         \"board\":\". .\\n. .\"}\n"
    );
    assert!(client.ask(&request(&[], &[])).starts_with("{\"id\":2,"));
}

#[test]
fn an_answer_needs_the_number_of_its_request() {
    assert_eq!(decision(r#" {"id":1,"move":"d"} "#), Some(Decision::Move("d".to_owned())));
    assert_eq!(decision(r#"{"id":1,"resign":true}"#), Some(Decision::Resign));
    let failed = Decision::Failed("Traceback ⏎ line 2".to_owned());
    assert_eq!(decision(r#"{"id":1,"error":"Traceback\nline 2","move":"d"}"#), Some(failed));
    for (text, kind) in [
        (r#"{"id":2,"move":"d"}"#, BreachKind::WrongId),
        (r#"{"id":-1,"move":"d"}"#, BreachKind::WrongId),
        (r#"{"id":2,"move":NaN}"#, BreachKind::WrongId),
        (r#"{"level":"info","moves":3}"#, BreachKind::Garbled),
        ("thinking", BreachKind::Junk),
        ("7", BreachKind::Junk),
        (r#"["id",1]"#, BreachKind::Junk),
    ] {
        let mut client = asked();
        assert_eq!(client.take(&uncut_line(text)), None, "{text}");
        assert_eq!(kinds(&mut client), [kind], "{text}");
    }
    let mut client = asked();
    assert_eq!(client.take(&Line { text: "thinking …".to_owned(), is_cut: true }), None);
    assert!(client.take(&uncut_line(r#"{"id":1,"move":"d"}"#)).is_some());
    assert_eq!(client.take(&uncut_line(r#"{"id":1,"move":"e"}"#)), None);
    assert_eq!(kinds(&mut client), [BreachKind::LongLine, BreachKind::Unasked]);
}

/// It counts at once, and not as no answer.
#[test]
fn an_answer_that_cannot_be_read_is_one() {
    let problem = |line: &Line| {
        let event = asked().take(line)?;
        let Event::Answered(Answer { decision: Decision::Unreadable(unreadable), .. }) = event
        else {
            panic!("{event:?}");
        };
        Some(unreadable.problem)
    };
    for (text, expected) in [
        (r#"{"id":1,"move":4}"#, "its `move` is not a text"),
        (r#"{"id":1,"move":null,"resign":false,"error":""}"#, "it has no `move`"),
        (r#"{"id":1}"#, "it has no `move`"),
        (r#"{"move":"d"}"#, "it has no `id`, which was 1"),
        (r#"{"after":["d"]}"#, "it has no `id`, which was 1"),
        (r#"{"id":"1","move":"d"}"#, "its `id` is \"1\", and not the number 1"),
        (r#"{"id":1.5,"move":"d"}"#, "its `id` is 1.5, and not the number 1"),
        (
            r#"{"id":1,"move":"d","score":NaN}"#,
            "it is not JSON: expected value at line 1 column 28 (NaN and Infinity are not JSON)",
        ),
        (
            r#"{"id":1,"move":"\ud800"}"#,
            "it is not JSON: unexpected end of hex escape at line 1 column 23",
        ),
        ("{'id': 1, 'move': 'd'}", "it is not JSON: key must be a string at line 1 column 2"),
    ] {
        assert_eq!(problem(&uncut_line(text)).as_deref(), Some(expected), "{text}");
    }
    let long = Line { text: r#"{"id":1,"move":"d","note":"xxx"#.to_owned(), is_cut: true };
    assert_eq!(problem(&long).as_deref(), Some("a line has at most 65536 bytes"));
    // One answer is enough.
    let mut client = asked();
    assert!(client.take(&uncut_line("{}x")).is_some());
    assert_eq!(client.take(&uncut_line("{}x")), None);
}

#[test]
fn a_greeting_that_cannot_be_read_ends_the_start() {
    let mut client = Client::default();
    client.start(None, &Map::new());
    assert_eq!(client.take(&uncut_line("loading ...")), None);
    let Some(Event::Garbled(Unreadable { said, .. })) = client.take(&uncut_line("{'name': 1}"))
    else {
        panic!("it is no greeting");
    };
    assert_eq!(said, "{'name': 1}");
}

#[test]
fn an_error_that_says_nothing_is_none() {
    for nothing in ["null", "false", "\"\"", "\" \""] {
        let text = format!(r#"{{"id":1,"move":"d","error":{nothing},"resign":null}}"#);
        assert_eq!(decision(&text), Some(Decision::Move("d".to_owned())), "{text}");
        let mut client = Client::default();
        client.start(None, &Map::new());
        let event = client.take(&uncut_line(&format!(r#"{{"name":null,"error":{nothing}}}"#)));
        assert!(matches!(event, Some(Event::Started(_))), "{event:?}");
    }
    let asks = r#"{"id":1,"after":["d"],"move":null,"error":null}"#;
    assert!(matches!(asked().take(&uncut_line(asks)), Some(Event::Asked(_))));
}

/// A Cyrillic е2 is not e2, and what turns the text around is seen.
#[test]
fn moves_that_look_like_others_are_told_apart() {
    let mv = decision("{\"id\":1,\"move\":\"\u{435}2\u{202e}\"}");
    assert_eq!(mv, Some(Decision::Move("\\u{435}2\\u{202e}".to_owned())));
}

#[test]
fn reports_that_cannot_be_stored_are_left_out() {
    let mut client = asked();
    let text = r#"{"id":1,"move":"d","score":-35,"depth":4,"nodes":1e3,"pv":["d",3,"e"],
                   "seconds":-1,"note":"hm","distribution":{"d":1}}"#;
    let event = client.take(&uncut_line(&text.replace('\n', " ")));
    let report = Report {
        score: Some(-35),
        depth: Some(4),
        nodes: None,
        pv: Some("d e".to_owned()),
        seconds: None,
        note: "hm".to_owned(),
        distribution: Some(serde_json::json!({"d": 1})),
    };
    let decision = Decision::Move("d".to_owned());
    assert_eq!(event, Some(Event::Answered(Answer { decision, report })));
}

#[test]
fn questions_are_answered_with_their_own_words() {
    let mut client = asked();
    let Some(Event::Asked(question)) =
        client.take(&uncut_line(r#"{"id":1,"after":["d"],"ask":[2]}"#))
    else {
        panic!("it is a question");
    };
    assert_eq!(question.moves(), Ok(vec!["d".to_owned()]));
    let position = PositionAfter {
        position: "q".to_owned(),
        is_first_to_move: false,
        legal: Vec::new(),
        result: Some("draw"),
    };
    assert_eq!(
        question.answer(&Ok(position)),
        "{\"id\":1,\"after\":[\"d\"],\"ask\":[2],\"position\":\"q\",\"to_move\":\"second\",\
         \"legal\":[],\"over\":true,\"result\":\"draw\"}\n"
    );
    let Some(Event::Asked(question)) = client.take(&uncut_line(r#"{"id":1,"after":"d"}"#)) else {
        panic!("it is a question");
    };
    let error = question.moves().unwrap_err();
    assert_eq!(
        question.answer(&Err(error)),
        "{\"id\":1,\"after\":\"d\",\"error\":\"`after` is not a list of moves\"}\n"
    );
    assert!(client.take(&uncut_line(r#"{"id":1,"move":"d"}"#)).is_some());
    assert_eq!(kinds(&mut client), []);
}

/// Lines that look like messages, with numbers other than 1.
fn near_messages() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec!["id", "move", "after", "error", "resign", "ID", "x"]);
    let value = prop_oneof![
        Just("2".to_owned()),
        Just("-1".to_owned()),
        Just("1.0".to_owned()),
        Just("\"1\"".to_owned()),
        Just("\"d\"".to_owned()),
        Just("true".to_owned()),
        Just("[\"d\"]".to_owned()),
        Just("{\"id\":1}".to_owned()),
        Just("null".to_owned()),
        Just("1e999".to_owned()),
    ];
    prop::collection::vec((key, value), 0..5).prop_map(|entries| {
        let entries: Vec<_> =
            entries.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", entries.join(","))
    })
}

proptest! {
    #[test]
    fn no_line_without_the_number_is_a_move(lines in prop::collection::vec(
        prop_oneof![any::<String>(), near_messages()], 0..20)) {
        let mut client = asked();
        let mut is_asked = true;
        for text in &lines {
            match client.take(&uncut_line(text)) {
                None => {}
                Some(Event::Answered(Answer { decision: Decision::Unreadable(_), .. })) => {
                    prop_assert!(is_asked, "{}", text);
                    is_asked = false;
                }
                Some(event) => prop_assert!(false, "{}: {:?}", text, event),
            }
        }
        let event = client.take(&uncut_line(r#"{"id":1,"move":"d"}"#));
        prop_assert_eq!(event.is_some(), is_asked);
    }

    #[test]
    fn nothing_asked_is_nothing_answered(text in prop_oneof![any::<String>(), near_messages()]) {
        prop_assert_eq!(Client::default().take(&uncut_line(&text)), None);
    }

    #[test]
    fn a_line_to_a_player_has_one_end(moves in prop::collection::vec(any::<String>(), 0..5)) {
        let text = asked().ask(&request(&moves, &moves));
        prop_assert_eq!(text.find('\n'), Some(text.len() - 1));
        let read: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read["legal"], &Value::from(moves));
    }
}
