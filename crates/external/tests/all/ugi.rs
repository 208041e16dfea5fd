//! Engines that speak UGI, or the same in other words, and misbehave.

use std::time::Duration;

use spelrum_external::uci::Words;
use spelrum_external::{
    Choice, Clock, Colour, Diagnosis, Engine, EngineFailure, EngineSpec, FailureKind, Limits,
    OptionValue, Options, Remaining, Situation, Start, diagnose_protocol,
};

use crate::harness::{
    GENEROUS, SHORT, choose, guard, kind_of, limits, never, new_game, playing, spec, start_failure,
};

/// The program of a game in the words of Tak.
fn tei(words: &[&str]) -> EngineSpec {
    let words: Vec<_> = ["hello=tei"].iter().chain(words).copied().collect();
    let names = |names: [&str; 2]| names.map(str::to_owned);
    let ugi = Words {
        hello: "tei".to_owned(),
        position: "tps".to_owned(),
        clocks: names(["wtime", "btime"]),
        increments: names(["winc", "binc"]),
        ..Words::ugi()
    };
    EngineSpec { ugi, ..spec("ugi", &words) }
}

fn first_move(words: &[&str]) -> Result<Choice, EngineFailure> {
    choose(&mut playing(&spec("ugi", words)), limits())
}

/// All that it was sent.
fn sent(engine: &Engine) -> Vec<String> {
    let transcript = engine.transcript();
    transcript.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect()
}

#[test]
fn a_game_is_played_in_the_words_of_its_protocol() {
    let ugi = [
        "ugi",
        "setoption name Hash value 64",
        "isready",
        "uginewgame",
        "isready",
        "position startpos moves d3 c5",
        "go depth 1",
        "position fen 3,4,5/w moves a1 pass",
        "go p1time 60000 p2time 30000 p1inc 100 p2inc 50 movestogo 40",
    ];
    let in_tei = ugi.map(|line| match line {
        "ugi" => "tei".to_owned(),
        "uginewgame" => "teinewgame".to_owned(),
        line => line.replace(" fen ", " tps ").replace("p1", "w").replace("p2", "b"),
    });
    for (spec, lines) in [(spec("ugi", &[]), ugi.map(str::to_owned)), (tei(&[]), in_tei)] {
        let options = Options::from([("Hash".to_owned(), OptionValue::Number(64))]);
        let mut engine = Engine::start(&spec, &options, &guard(), &never).unwrap();
        assert_eq!((engine.identity().name.as_str(), engine.threads()), ("Scripted 1.0", Some(1)));
        new_game(&mut engine).unwrap();
        let moves = |moves: [&str; 2]| moves.map(str::to_owned);
        let (to_move, clock) = (Colour::White, None);
        let (start, played) = (Start::Usual, moves(["d3", "c5"]));
        let situation = Situation { start, moves: &played, to_move, limits: limits(), clock };
        let choice = engine.choose(&situation, &never).unwrap();
        assert_eq!((choice.mv.as_str(), choice.ponder.as_deref()), ("e2e4", Some("e7e5")));
        assert_eq!((choice.depth, choice.nodes), (Some(1), Some(20)));
        let side = |s, ms| Remaining {
            time: Duration::from_secs(s),
            increment: Duration::from_millis(ms),
        };
        let clock =
            Some(Clock { white: side(60, 100), black: side(30, 50), moves_to_go: Some(40) });
        let (start, played) = (Start::Fen("3,4,5/w"), moves(["a1", "pass"]));
        let limits = Limits::default();
        let situation = Situation { start, moves: &played, to_move, limits, clock };
        assert_eq!(engine.choose(&situation, &never).unwrap().mv, "g1f3");
        assert_eq!(sent(&engine), lines);
        assert_eq!(engine.take_breaches(), []);
    }
}

#[test]
fn a_move_is_the_first_word_as_it_is_written() {
    for (answer, mv) in [
        ("bestmove D3", "D3"),
        ("bestmove pass", "pass"),
        ("bestmove a1-2r for these reasons", "a1-2r"),
        ("thinking bestmove d3\nbestmove c5 ponder d6", "c5"),
    ] {
        assert_eq!(first_move(&[&format!("answers={answer}")]).unwrap().mv, mv, "{answer}");
    }
    for (answer, said) in [
        ("bestmove (none)", "(none)"),
        ("bestmove none", "none"),
        ("bestmove 0000", "0000"),
        ("bestmove resign", "resign"),
        ("bestmove", "bestmove"),
    ] {
        let kind = kind_of(first_move(&[&format!("answers={answer}")]));
        assert_eq!(kind, FailureKind::NoMove(said.to_owned()), "{answer}");
        assert_eq!(kind.to_string(), format!("no move: it said `{said}`"));
    }
}

/// The problem and the remedy of an engine that does not start.
fn diagnosed(spec: &EngineSpec) -> [String; 2] {
    let spec = EngineSpec {
        patience: spelrum_external::Patience { startup: SHORT * 5, ..spec.patience },
        ..spec.clone()
    };
    let failure = start_failure(&spec);
    let another = diagnose_protocol(&spec, &guard(), GENEROUS.min(Duration::from_secs(5)), &never);
    let Diagnosis { problem, remedy } = another.unwrap_or_else(|| failure.diagnose(&spec));
    [problem, remedy]
}

#[test]
fn an_engine_with_another_greeting_is_told_in_a_sentence() {
    let [problem, remedy] = diagnosed(&spec("ugi", &["says-uciok"]));
    assert_eq!(problem, "it speaks UCI, and the engines file says UGI");
    assert!(remedy.contains("write ugi = { hello = \"uci\" }"), "{remedy}");
    let [problem, remedy] = diagnosed(&EngineSpec { ugi: Words::ugi(), ..tei(&[]) });
    assert_eq!(problem, "it answers `tei`, and Spelrum greets it by `ugi`");
    assert_eq!(remedy, "write ugi = { hello = \"tei\" } in the engines file");
    let [problem, remedy] = diagnosed(&spec("ugi", &["no-uciok"]));
    assert!(problem.starts_with("no `ugiok` within 500 ms after `ugi`; it printed `"), "{problem}");
    assert!(
        remedy.starts_with("if it is greeted by another word, write such as ugi = "),
        "{remedy}"
    );
    let [problem, _] = diagnosed(&tei(&["silent"]));
    assert_eq!(problem, "it printed nothing: no `teiok` within 500 ms after `tei`");
    let mut uci = spec("uci", &["hello=ugi"]);
    uci.ugi = Words::ugi();
    let [problem, remedy] = diagnosed(&uci);
    assert_eq!(problem, "it speaks UGI, and the engines file says UCI");
    assert_eq!(remedy, "write protocol = \"ugi\" there");
    let mut no_chess = spec("ugi", &["hello=uci"]);
    no_chess.ugi.hello = "uci".to_owned();
    assert_eq!(choose(&mut playing(&no_chess), limits()).unwrap().mv, "e2e4");
}
