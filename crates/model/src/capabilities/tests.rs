use std::sync::Arc;

use super::*;
use crate::demands::{Demands, Offer, Unmet};
use crate::engines::{EngineIdentity, NeededEngine, OfferedEngine};

fn spin(name: &str, min: i64, max: i64) -> EngineOption {
    let kind = OptionKind::Spin { default: "1".to_owned(), min, max };
    EngineOption { name: name.to_owned(), kind }
}

fn check(name: &str) -> EngineOption {
    let kind = OptionKind::Check { default: "false".to_owned() };
    EngineOption { name: name.to_owned(), kind }
}

/// An engine that declares these, all of which a sweep may set.
fn uci(declared: Vec<EngineOption>) -> Capabilities {
    Capabilities { settable: declared.clone(), declared: Some(declared), ..Capabilities::default() }
}

fn request(options: &[(&str, &str)]) -> EngineRequest {
    EngineRequest {
        engine: "fish".to_owned(),
        protocol: Protocol::Uci,
        options: options.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
        game: GameRequest::from_game_name("chess"),
        depth: false,
        nodes: true,
        move_time_us: None,
        clock: false,
    }
}

fn gtp_request(game: &str) -> EngineRequest {
    EngineRequest {
        protocol: Protocol::Gtp,
        game: GameRequest::from_game_name(game),
        nodes: false,
        ..request(&[])
    }
}

fn problem(request: &EngineRequest, capabilities: &Capabilities) -> Option<String> {
    request.unmet_by(capabilities).map(|inability| inability.problem)
}

#[track_caller]
fn assert_problem(request: &EngineRequest, capabilities: &Capabilities, expected: &str) {
    assert_eq!(problem(request, capabilities).as_deref(), Some(expected));
}

#[test]
fn an_option_that_an_engine_lacks_is_named_with_the_nearest_first() {
    let fish = uci(vec![
        check("Ponder"),
        spin("Hash", 1, 64),
        spin("MultiPV", 1, 9),
        check("OwnBook"),
        spin("Contemptt", 0, 9),
    ]);
    let expected =
        "fish has no option `Contempt`; it has `Contemptt`, `Ponder`, `MultiPV`, `OwnBook`, 1 more";
    assert_problem(&request(&[("Contempt", "3")]), &fish, expected);
    assert_problem(
        &request(&[("A", "3")]),
        &uci(Vec::new()),
        "fish has no option `A`; it has none",
    );
    // Names are equal regardless of case.
    assert_eq!(problem(&request(&[("hash", "64"), ("PONDER", "true")]), &fish), None);
}

#[test]
fn a_value_that_an_option_does_not_take_is_named_with_what_it_takes() {
    let style = OptionKind::Combo {
        default: "Normal".to_owned(),
        choices: vec!["Normal".to_owned(), "Fail High".to_owned()],
    };
    let fish = uci(vec![
        spin("Threads", 1, 512),
        check("Ponder"),
        EngineOption { name: "Style".to_owned(), kind: style },
        EngineOption { name: "Clear Hash".to_owned(), kind: OptionKind::Button },
        EngineOption { name: "Log".to_owned(), kind: OptionKind::Text { default: String::new() } },
    ]);
    for (name, value, expected) in [
        ("Threads", "1024", "option `Threads` of fish is from 1 to 512, not 1024"),
        ("Threads", "many", "option `Threads` of fish is from 1 to 512, not `many`"),
        ("Ponder", "3", "option `Ponder` of fish is `true` or `false`, not 3"),
        ("Style", "Solid", "option `Style` of fish is one of `Normal`, `Fail High`, not `Solid`"),
        (
            "Clear Hash",
            "false",
            "option `Clear Hash` of fish is a button, which only `true` presses, not `false`",
        ),
    ] {
        assert_problem(&request(&[(name, value)]), &fish, expected);
    }
    for (name, value) in
        [("Threads", "512"), ("Ponder", "true"), ("Style", "fail high"), ("Clear Hash", "true")]
    {
        assert_eq!(problem(&request(&[(name, value)]), &fish), None, "{name}");
    }
    assert_eq!(problem(&request(&[("Log", "a b")]), &fish), None);
}

/// Options that the engine accepts but the owner of the machine does not allow.
#[test]
fn what_a_machine_does_not_allow_is_said() {
    let mut fish = uci(vec![spin("Hash", 1, 9_999), spin("Threads", 1, 8)]);
    fish.settable = vec![spin("Hash", 1, 1_024), spin("Threads", 1, 1)];
    assert_problem(
        &request(&[("Hash", "4096")]),
        &fish,
        "option `Hash` of fish is from 1 to 1024 on that machine, not 4096",
    );
    assert_problem(
        &request(&[("Threads", "8")]),
        &fish,
        "option `Threads` of fish is 1 on that machine, not 8",
    );
    fish.settable.pop();
    assert_problem(
        &request(&[("Threads", "1")]),
        &fish,
        "option `Threads` of fish may not be set by a sweep on that machine; it allows `Hash`",
    );
}

#[test]
fn chess960_needs_its_option() {
    let mut request = request(&[]);
    let plain = uci(vec![spin("Hash", 1, 64)]);
    assert_eq!(problem(&request, &plain), None);
    request.game.chess960 = true;
    assert_problem(&request, &plain, "fish does not play Chess960");
    assert_eq!(problem(&request, &uci(vec![check("UCI_Chess960")])), None);
    assert_problem(&request, &uci(vec![spin("UCI_Chess960", 0, 1)]), "fish does not play Chess960");
}

/// If the list was cut, absence proves nothing.
#[test]
fn what_was_not_reported_is_not_held_against_an_engine() {
    let mut request = request(&[("Contempt", "3")]);
    request.game.chess960 = true;
    let cut = Capabilities { is_cut: true, ..uci(vec![spin("Hash", 1, 64)]) };
    assert_eq!(problem(&request, &cut), None);
    let unknown = OfferedEngine {
        engine: "fish".to_owned(),
        protocol: Protocol::Uci,
        at_once: 1,
        identity: EngineIdentity { name: String::new(), author: String::new(), sha256: [0; 32] },
        capabilities: None,
        build: [0; 32],
    };
    let need = NeededEngine {
        engine: "fish".to_owned(),
        protocol: Protocol::Uci,
        version: None,
        sha256: None,
        build: None,
    };
    let demands = Demands { engines: vec![need], requests: vec![request], ..Demands::default() };
    let offer = |engine: OfferedEngine| Offer { engines: [engine].into(), ..Offer::default() };
    assert_eq!(demands.unmet_by(&offer(unknown.clone())), None);
    let capabilities = Some(Arc::new(uci(Vec::new())));
    let told_engine = OfferedEngine { capabilities, ..unknown };
    assert_eq!(demands.unmet_by(&offer(told_engine)), Some(Unmet::Engines));
}

#[test]
fn boards_commands_and_limits_of_gtp_are_held_against_it() {
    let knows = ["clear_board", "play", "genmove"].map(str::to_owned);
    let limits = GtpLimits { depth: true, seconds: true, ..GtpLimits::default() };
    let gtp = GtpCapabilities {
        commands: knows.to_vec(),
        board_sizes: vec![(6, false), (8, true)],
        limits,
    };
    let with_gtp =
        |gtp: GtpCapabilities| Capabilities { gtp: Some(gtp), ..Capabilities::default() };
    let engine = with_gtp(gtp.clone());
    assert_eq!(problem(&gtp_request("othello"), &engine), None);
    let expected = "fish does not take a board of size 6, which pentago has";
    assert_problem(&gtp_request("pentago"), &engine, expected);
    let othello = || gtp_request("othello");
    let nodes = EngineRequest { nodes: true, ..othello() };
    let expected =
        "fish has no command for a number of nodes: no line of its `gtp.limits` has `{nodes}`";
    assert_problem(&nodes, &engine, expected);
    assert_eq!(problem(&EngineRequest { depth: true, ..othello() }, &engine), None);
    let time = |us| EngineRequest { move_time_us: Some(us), ..othello() };
    assert_eq!(problem(&time(1_000_000), &engine), None);
    let expected = "fish has no command for a time of less than a second: no line of its `gtp.limits` has \
                    `{milliseconds}`";
    assert_problem(&time(999_999), &engine, expected);
    let expected = "fish has no command for a clock: it does not know `time_settings`";
    assert_problem(&EngineRequest { clock: true, ..othello() }, &engine, expected);
    let no_genmove = GtpCapabilities { commands: knows[..2].to_vec(), ..gtp.clone() };
    let expected = "fish does not know the GTP command `genmove`";
    assert_problem(&othello(), &with_gtp(no_genmove), expected);
    // An engine that does not list its commands may have all of them.
    let silent = GtpCapabilities { commands: Vec::new(), ..gtp };
    assert_eq!(problem(&othello(), &with_gtp(silent)), None);
}

#[test]
fn a_request_stands_in_parameters() {
    let json = r#"{"algorithm":"uci","clock":"1m","depth":3,"engine":"fish","move_time_us":5,
        "options":{"Hash":16,"Ponder":false,"Style":"Solid"}}"#;
    let parameters: Parameters = serde_json::from_str(json).unwrap();
    let given = Parameters::from([("chess960".to_owned(), Value::Bool(true))]);
    let rules = Rules::from_parameters("chess", &given).unwrap();
    let game = GameRequest::from_rules(&rules);
    assert!(game.chess960 && game.board_size.is_none());
    let options = [("Hash", "16"), ("Ponder", "false"), ("Style", "Solid")];
    let expected = EngineRequest {
        game: game.clone(),
        depth: true,
        nodes: false,
        move_time_us: Some(5),
        clock: true,
        ..request(&options)
    };
    assert_eq!(EngineRequest::from_parameters(&parameters, game.clone()), Some(expected));
    let ours = Parameters::from([("algorithm".to_owned(), Value::Text("random".to_owned()))]);
    assert_eq!(EngineRequest::from_parameters(&ours, game), None);
}

#[test]
fn what_is_offered_has_a_bound() {
    let long = "x".repeat(100);
    let mut options: Vec<_> = (0..1_000).map(|id| check(&format!("{id}{long}"))).collect();
    options.push(check("UCI_Chess960"));
    let all = uci(options);
    assert!(!all.is_within_bounds());
    let kept = all.within_bounds();
    assert!(kept.is_cut && kept.is_within_bounds());
    // Half of the room is for the settable options.
    let mut request = request(&[]);
    request.game.chess960 = true;
    assert_eq!(problem(&request, &kept), None);
}
