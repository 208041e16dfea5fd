//! `watch`: every cell as it is settled, and an end when the experiment has one.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{ChildStdout, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::sandbox::{Process, Sandbox, Watched, tic_tac_toe, wait_until};

/// A watcher whose lines are read.
pub(crate) struct Watcher {
    process: Process,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    pub(crate) fn start(sandbox: &Sandbox, arguments: &[&str]) -> Self {
        let mut command = sandbox.spelrum(&[&["watch"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { process: Process(child), lines }
    }

    pub(crate) fn line(&mut self) -> String {
        self.lines.next().expect("there is a line").unwrap()
    }

    /// All other lines, and the exit code.
    pub(crate) fn end(mut self) -> (Vec<String>, Option<i32>) {
        let rest = self.lines.map(Result::unwrap).collect();
        (rest, self.process.wait().code())
    }
}

/// Twelve cells.
fn sweep(name: &str) -> String {
    tic_tac_toe(name, 20).replace("depth = [1, 2]", "depth = [1, 2]\nextra = [1, 2, 3, 4, 5, 6]")
        + "\n[players.alphabeta2]\nalgorithm = \"minimax\"\nnodes = \"$extra\"\ndepth = 1\n"
}

#[test]
fn every_cell_is_told_once_when_its_last_game_is_settled() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &sweep("small"));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let mut by_url = Watcher::start(&sandbox, &["--coordinator", url]);
    let mut by_file = Watcher::start(&sandbox, &["small", "--db", "c.db", "--json"]);
    let first = by_url.line();
    assert!(first.starts_with("small: 0 of "), "{first}");
    let first: Value = serde_json::from_str(&by_file.line()).unwrap();
    assert_eq!((&first["event"], &first["games_settled"]), (&"progress".into(), &0.into()));
    assert_eq!(first["seconds_left"], Value::Null);

    let mut worker = sandbox.worker(url, "2", &["--exit-when-done"]);
    let (lines, code) = by_url.end();
    let (objects, code_by_file) = by_file.end();
    assert_eq!((code, code_by_file), (Some(0), Some(0)));
    worker.wait();

    let results = "SELECT cell_id, axes, player, opponent, wins, draws, losses, score, score_low,
        score_high FROM results ORDER BY cell_id";
    let results = sandbox.run(&["sql", "--db", "c.db", "--json", results]);
    let results: Vec<Value> = serde_json::from_str(results.stdout()).unwrap();
    let (end, cells) = lines.split_last().unwrap();
    assert_eq!(cells.len(), results.len());
    let number = |value: &Value| value.as_f64().unwrap();
    let mut expected: Vec<String> = results
        .iter()
        .map(|cell| {
            let text = |key: &str| cell[key].as_str().unwrap();
            format!(
                "{}  {} against {}  {} wins {} draws {} losses  score {:.3} ({:.3}–{:.3})",
                text("axes"),
                text("player"),
                text("opponent"),
                cell["wins"],
                cell["draws"],
                cell["losses"],
                number(&cell["score"]),
                number(&cell["score_low"]),
                number(&cell["score_high"]),
            )
        })
        .collect();
    let mut cells = cells.to_vec();
    cells.sort();
    expected.sort();
    assert_eq!(cells, expected);
    let games = 20 * results.len();
    let all = format!("{games} of {games} games settled in {} cells", results.len());
    assert_eq!(*end, format!("small is finished: {all}"));

    // The same in JSON.
    let objects: Vec<Value> =
        objects.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (end, objects) = objects.split_last().unwrap();
    assert_eq!((&end["event"], &end["state"]), (&"end".into(), &"finished".into()));
    assert_eq!((&end["cells_settled"], &end["seconds_left"]), (&end["cells"], &Value::Null));
    let mut events: Vec<_> = objects.iter().filter(|object| object["event"] == "cell").collect();
    events.sort_by_key(|cell| cell["cell_id"].as_i64());
    assert_eq!(events.len(), results.len());
    for (event, result) in events.iter().zip(&results) {
        for (key, value) in result.as_object().unwrap() {
            assert_eq!(event[key], *value, "{key}");
        }
    }
}

#[test]
fn a_match_under_way_is_shown_with_its_score_and_stop_rule() {
    let sandbox = Sandbox::new();
    let sweep = tic_tac_toe("small", 20_000).replace("[1, 2]", "[2]");
    sandbox.write("sweep.toml", &format!("stop = {{ precision = 0.005 }}\n{sweep}"));
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "2"]);
    run.read_until("into small.db");
    wait_until("games are settled", || sandbox.settled("small.db") >= 100);
    run.process.kill();
    let coordinator = sandbox.coordinator("small.db", "127.0.0.1:0");
    for door in [["--db", "small.db"], ["--coordinator", &coordinator.url]] {
        let line = Watcher::start(&sandbox, &door).line();
        let (_, standing) = line.split_once("; random ").expect(&line);
        assert!(standing.contains(" % ± ") && standing.contains(" (stops at ± 0.5)"), "{line}");
        assert!(standing.contains(", Elo ") && line.contains(" of 1 cell settled; "), "{line}");
    }
}

#[test]
fn what_has_ended_is_told_at_once() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    let ran = sandbox.run(&["watch", "--db", "small.db"]);
    ran.expect_exit(0);
    assert_eq!(ran.stdout(), "small is finished: 8 of 8 games settled in 2 cells\n");
    let ran = sandbox.run(&["watch", "--db", "small.db", "--json"]);
    insta::assert_snapshot!(ran.expect_exit(0).stdout());
    sandbox.run(&["watch", "nope", "--db", "small.db"]).expect_exit(3);
}

#[test]
fn ctrl_c_ends_the_watching_and_not_the_experiment() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let url = coordinator.url.as_str();
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut watcher = Watcher::start(&sandbox, &["--coordinator", url]);
        watcher.line();
        watcher.process.signal(signal);
        assert_eq!(watcher.end().1, Some(code));
        assert_eq!(sandbox.sql("c.db", "SELECT state FROM experiments"), "running");
    }
    // One that is paused is still watched, and one that is cancelled has ended.
    sandbox.run(&["pause", "small", "--coordinator", url]).expect_exit(0);
    let mut watcher = Watcher::start(&sandbox, &["--coordinator", url]);
    let line = watcher.line();
    assert_eq!(line, "small: 0 of 8 games settled, paused, 0 of 2 cells settled");
    sandbox.run(&["cancel", "small", "--coordinator", url]).expect_exit(0);
    let (lines, code) = watcher.end();
    assert_eq!(lines, ["small is cancelled: 0 of 8 games settled in 2 cells"]);
    assert_eq!(code, Some(0));
}

#[test]
fn a_coordinator_that_is_started_anew_is_watched_on() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let (url, address) = (coordinator.url.clone(), coordinator.address().to_owned());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut watcher = Watcher::start(&sandbox, &["--coordinator", &url]);
    watcher.line();
    drop(coordinator);
    let mut said = BufReader::new(watcher.process.0.stderr.take().unwrap()).lines();
    let away = said.next().unwrap().unwrap();
    assert!(away.starts_with("the coordinator is away, looking again"), "{away}");
    let _again = sandbox.coordinator("c.db", &address);
    sandbox.worker(&url, "1", &["--exit-when-done"]).wait();
    let (lines, code) = watcher.end();
    assert_eq!((lines.len(), code), (3, Some(0)), "{lines:?}");
}
