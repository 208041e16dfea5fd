//! `spelrum engine uci`: our players for external engines.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use spelrum_engine::games::Chess;
use spelrum_engine::{Rules, legal_moves};

/// Says lines, each after what it waits for has been said, and gives all that was said.
fn conversation(arguments: &[&str], lines: &[(&str, &str)]) -> Vec<String> {
    let mut engine = Command::new(env!("CARGO_BIN_EXE_spelrum"))
        .args(["engine", "uci"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = engine.stdin.take().unwrap();
    let mut output = BufReader::new(engine.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut said: Vec<String> = Vec::new();
    for (line, awaited) in lines {
        writeln!(input, "{line}").unwrap();
        let mut has_come = awaited.is_empty();
        while !has_come {
            said.push(output.next().unwrap());
            has_come = said.last().unwrap().starts_with(awaited);
        }
    }
    drop(input);
    said.extend(output);
    assert!(engine.wait().unwrap().success());
    said
}

fn best_moves(said: &[String]) -> Vec<&str> {
    let moves = said.iter().filter_map(|line| line.strip_prefix("bestmove "));
    moves.map(|line| line.split(' ').next().unwrap()).collect()
}

#[test]
fn a_player_introduces_itself_with_its_parameters() {
    let said = conversation(&["--player", "alpha-beta", "--depth", "3"], &[("uci", "uciok")]);
    assert!(said[0].starts_with("id name Spelrum "), "{}", said[0]);
    assert!(
        said.iter().any(|line| line.starts_with("option name depth type spin default 3 min 0"))
    );
    assert!(said.contains(&"option name move_time type string default unlimited".to_owned()));
    assert!(said.contains(&"option name UCI_Chess960 type check default false".to_owned()));
}

#[test]
fn a_player_finds_a_mate_and_says_so() {
    let fool = "position startpos moves f2f3 e7e5 g2g4";
    let said = conversation(
        &["--player", "alpha-beta"],
        &[
            ("setoption name depth value 2\nisready", "readyok"),
            (fool, ""),
            ("go depth 2", "bestmove"),
        ],
    );
    assert_eq!(best_moves(&said), ["d8h4"]);
    assert!(said.iter().any(|line| line.contains("score mate 1")), "{said:?}");
}

#[test]
fn every_player_stops_when_it_is_told_to() {
    for player in
        [&["alpha-beta"][..], &["mcts"], &["genetic-minimax", "--depth", "3"], &["random"]]
    {
        let said = conversation(
            &[&["--player"], player].concat(),
            &[
                ("ucinewgame\nposition startpos moves e2e4\ngo infinite\nisready", "readyok"),
                ("stop", "bestmove"),
                ("go movetime 50", ""),
                ("isready", "readyok"),
                ("quit", ""),
            ],
        );
        let rules = Rules::usual::<Chess>();
        let position = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        let legal = legal_moves(&rules, position).unwrap();
        let moves = best_moves(&said);
        assert!(
            !moves.is_empty()
                && moves.iter().all(|mv| legal.iter().any(|candidate| candidate == mv)),
            "{said:?}"
        );
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let said = conversation(
        &["--player", "minimax"],
        &[
            ("position startpos moves e2e5\ngo depth 1", "bestmove (none)"),
            ("position fen nowhere\ngo depth 1", "bestmove (none)"),
            ("setoption name evaluation value x", "info string"),
            ("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo depth 1", "bestmove"),
        ],
    );
    assert!(said[0].starts_with("info string `e2e5` is not legal in "), "{}", said[0]);
    assert!(said[2].starts_with("info string "), "{}", said[2]);
    assert!(said.contains(&"info string there is no option `evaluation`".to_owned()), "{said:?}");
    assert_eq!(best_moves(&said), ["(none)", "(none)", "(none)"]);
}

#[test]
fn chess960_is_an_option() {
    let said = conversation(
        &["--player", "alpha-beta"],
        &[
            ("setoption name UCI_Chess960 value true", ""),
            ("position fen 4k3/8/8/8/8/8/8/R3K2R w HA - 0 1 moves e1h1\ngo depth 1", "bestmove"),
        ],
    );
    assert!(!said.iter().any(|line| line.starts_with("info string")), "{said:?}");
}
