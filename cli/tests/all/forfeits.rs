//! Engines that forfeit: on one machine of two, on all, and more often than a sweep allows.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::sandbox::{Sandbox, Watched, wait_until};

/// An engine that ends at its first `go`, as one does whose net is missing.
const DEAD: &str = r#"#!/bin/sh
while read -r line; do
    case "$line" in
        uci) echo "id name Dev"; echo uciok ;;
        isready) echo readyok ;;
        go*) echo "fatal: cannot read net.nnue" >&2; exit 1 ;;
        quit) exit 0 ;;
    esac
done
"#;

const PLAYER: &str =
    r#"args = ["engine", "uci", "--player", "alpha-beta", "--set", "preset=chess"]"#;

/// The program as `dev` and `base`, by a file for a healthy machine and one for a machine on which `dev` is dead.
fn sandbox(sweep: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let dead = sandbox.write("dead.sh", DEAD);
    std::fs::set_permissions(&dead, std::fs::Permissions::from_mode(0o755)).unwrap();
    let engine = |name: &str, command: &str, arguments: &str| {
        format!("[engines.{name}]\nprotocol = \"uci\"\ncommand = {command:?}\n{arguments}\n")
    };
    let ours = |name: &str| engine(name, env!("CARGO_BIN_EXE_spelrum"), PLAYER);
    sandbox.write("good.toml", &(ours("dev") + &ours("base")));
    sandbox.write("bad.toml", &(engine("dev", "./dead.sh", "") + &ours("base")));
    sandbox.write("sweep.toml", sweep);
    sandbox
}

/// `dev` searches deeper than `base`, so that it is the stronger one by far.
fn sweep(more: &str) -> String {
    format!(
        r#"
name = "match"
game = "chess"
max_plies = 60
openings = {{ kind = "random", plies = 4 }}
seed = 1
games = 400
{more}
[players.dev]
algorithm = "uci"
engine = "dev"
depth = 3
[players.base]
algorithm = "uci"
engine = "base"
depth = 1
"#
    )
}

const SPRT: &str = "stop = { sprt = { elo0 = 0, elo1 = 50 } }";

/// The machine is at fault: it is found, its results are taken out, and the test ends for the right side.
#[test]
fn a_dead_engine_on_one_of_two_machines_does_not_decide_a_test() {
    let sandbox = sandbox(&sweep(&format!("{SPRT}\nany_build = true")));
    let coordinator = sandbox.coordinator("f.db", "127.0.0.1:0");
    let url = format!("http://{}", coordinator.address());
    let worker = |name: &str, engines: &str| {
        let arguments = ["worker", "--coordinator", &url, "--slots", "1", "--name", name];
        Watched::start(&sandbox, &[&arguments[..], &["--engines", engines]].concat())
    };
    let _good = worker("good", "good.toml");
    let mut bad = worker("bad", "bad.toml");
    let status = || {
        let ran = sandbox.run(&["status", "--coordinator", &url, "--json"]);
        serde_json::from_str::<Value>(ran.expect_exit(0).stdout()).unwrap()
    };
    wait_until("both are there", || status()["workers"].as_array().unwrap().len() == 2);
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    bad.read_until("gives this worker no games");
    let attention = status()["attention"].as_array().unwrap().clone();
    let item = attention.iter().find(|item| item["kind"] == "barred").expect("it is told");
    let problem = item["problem"].as_str().unwrap();
    assert!(problem.contains("(bad on ") && problem.contains("gets no games of dev"), "{problem}");
    assert!(item["remedy"].as_str().unwrap().contains("--engine dev"), "{item}");

    sandbox.wait_until_finished(&coordinator);
    let left = "SELECT count(*) FROM games AS g JOIN workers AS w USING (worker_id)
        WHERE w.name = 'bad'";
    wait_until("its results are out", || sandbox.sql("f.db", left) == "0");
    sandbox.wait_until_finished(&coordinator);
    let ran = sandbox.run(&["report", "--coordinator", &url, "--json"]);
    let report: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
    assert_eq!(report["cells"][0]["sprt"]["verdict"], "elo1", "{}", report["cells"][0]);
    assert_eq!(report["forfeits"].as_array().unwrap().len(), 0, "{}", report["forfeits"]);
    let taken =
        sandbox.sql("f.db", "SELECT count(*) FROM uncounted_games WHERE reason = 'excluded'");
    let taken: u32 = taken.parse().unwrap();
    assert!((4..=60).contains(&taken), "{taken} games were lost before it was found");
    let said = "SELECT instr(output, 'cannot read net.nnue') > 0 FROM barred";
    assert_eq!(sandbox.sql("f.db", said), "1");

    // A coordinator that is started anew knows it, and so does a worker of the same name.
    drop(coordinator);
    drop(bad);
    let coordinator = sandbox.coordinator("f.db", "127.0.0.1:0");
    let url = format!("http://{}", coordinator.address());
    let arguments = ["worker", "--coordinator", &url, "--slots", "1", "--name", "bad"];
    let mut bad = Watched::start(&sandbox, &[&arguments[..], &["--engines", "bad.toml"]].concat());
    sandbox.write("sweep.toml", &sweep("").replace("\"match\"", "\"second\""));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    bad.read_until("gives this worker no games");
    // Also with no coordinator change its results would not count until it is let in to this engine.
    let readmitted =
        sandbox.run(&["worker", "readmit", "bad", "--engine", "dev", "--coordinator", &url]);
    let said = readmitted.expect_exit(0).stdout().to_owned();
    assert!(said.contains(" gets games of dev again\n"), "{said}");
    assert_eq!(sandbox.sql("f.db", "SELECT count(*) FROM barred"), "0");
    bad.read_until("gives this worker games again");
}

/// The program is at fault: it loses, and that is said wherever the result is.
#[test]
fn a_program_that_dies_everywhere_loses_and_is_named() {
    let sandbox = sandbox(&sweep("").replace("games = 400", "games = 6"));
    let run = ["run", "sweep.toml", "--db", "f.db", "--engines", "bad.toml"];
    let ran = sandbox.run(&run);
    ran.expect_exit(0);
    assert!(ran.stderr().contains("6 of 6 games settled"), "{}", ran.stderr());
    assert!(ran.stderr().contains("6 forfeits (dev)"), "{}", ran.stderr());
    let warning = "warning: dev forfeited 6 of 6 games: 6 crashes";
    assert!(ran.stderr().contains(warning), "{}", ran.stderr());
    assert!(ran.stdout().contains("Warning: forfeits decided 6 of 6 games of dev"));
    assert!(ran.stdout().contains("\nForfeits\n"), "{}", ran.stdout());
    let csv = sandbox.run(&["report", "--db", "f.db", "--table", "forfeits", "--format", "csv"]);
    let csv = csv.expect_exit(0).stdout().to_owned();
    let expected = [
        "experiment,player,games,forfeits,crash,time_forfeit,stall,illegal_move,share",
        "match,dev,6,6,6,0,0,0,1.0",
    ];
    assert_eq!(csv.lines().collect::<Vec<_>>(), expected);
    let status = sandbox.run(&["status", "--db", "f.db"]);
    assert!(status.expect_exit(0).stdout().contains("dev forfeited 6 of 6 games: 6 crashes"));
    let watched = sandbox.run(&["watch", "--db", "f.db"]);
    assert!(watched.expect_exit(0).stdout().contains("6 forfeits (dev)"));
}

/// As the sweep says: it is paused, says why, and goes on when it is run again.
#[test]
fn forfeits_stop_an_experiment_that_says_so() {
    let stop = "forfeits = \"stop\"\nforfeits_max = 2\nany_build = true";
    let sandbox = sandbox(&sweep(stop).replace("games = 400", "games = 160"));
    let run = ["run", "sweep.toml", "--db", "f.db", "--engines", "bad.toml", "--slots", "1"];
    let ran = sandbox.run(&run);
    ran.expect_exit(7);
    assert!(ran.stderr().contains("paused, since dev forfeited "), "{}", ran.stderr());
    assert!(ran.stderr().contains("go on with: spelrum run sweep.toml"), "{}", ran.stderr());
    let settled = || sandbox.sql("f.db", "SELECT count(*) FROM games").parse::<u32>().unwrap();
    let first = settled();
    assert!((3..160).contains(&first), "{first}");
    let status = sandbox.run(&["status", "--db", "f.db"]);
    let status = status.expect_exit(0).stdout();
    assert!(status.contains("it is paused, since dev forfeited "), "{status}");
    assert!(status.contains("spelrum resume match"), "{status}");

    // It goes on for as many again; with a machine that has what is missing to the end.
    sandbox.run(&run).expect_exit(7);
    assert!(settled() > first);
    let good = run.map(|word| if word == "bad.toml" { "good.toml" } else { word });
    sandbox.run(&good).expect_exit(0);
    assert_eq!(settled(), 160);
}
