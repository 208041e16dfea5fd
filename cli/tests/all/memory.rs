//! Memory that the system refuses, and games that may need more than there is.

use serde_json::Value;
use spelrum_test_support::Tools;

use crate::external_engines;
use crate::sandbox::{Ran, Sandbox};

/// Runs the program where it cannot have more than so many kibibytes of addresses.
fn run_limited(tools: Tools, sandbox: &Sandbox, kibibytes: u32, arguments: &[&str]) -> Ran {
    let free = sandbox.spelrum(arguments);
    let mut limited = tools.command("sh");
    limited
        .args(["-c", &format!("ulimit -v {kibibytes} && exec \"$@\""), "sh"])
        .arg(free.get_program())
        .args(free.get_args())
        .current_dir(free.get_current_dir().unwrap());
    for (name, value) in free.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    Ran(limited.output().unwrap())
}

/// A sweep of two games in which one player asks for this.
fn sweep(player: &str) -> String {
    format!(
        "name = \"large\"\ngame = \"tic-tac-toe\"\nseed = 1\ngames = 2\n\
         [players.small]\nalgorithm = \"random\"\n[players.large]\n{player}\n"
    )
}

const LARGE: &[(&str, &str)] = &[
    ("algorithm = \"alpha-beta\"\ndepth = 3\ntable = true\ntable_mib = 65_536", "table_mib"),
    ("algorithm = \"mcts\"\nsimulations = 9\nmax_tree_nodes = 268_435_456", "max_tree_nodes"),
    (
        "algorithm = \"genetic-minimax\"\ndepth = 3\ngenerations = 2\n\
         max_tree_nodes = 268_435_456",
        "max_tree_nodes",
    ),
];

/// A draw with 18 empty cells, for which Pentago's solver asks for half a gibibyte.
#[test]
fn a_position_whose_solver_gets_no_memory_has_no_answer() {
    let Some(tools) = Tools::find(&["sh"]) else { return };
    let position = "..w...wb.w....bb...b..ww..wwbwbbbbw.";
    let solve = ["solve", "pentago", "--position", position];
    let ran = run_limited(tools, &Sandbox::new(), 500_000, &solve);
    ran.expect_exit(3);
    let message = ran.stderr();
    assert!(message.contains("the system refused"), "{message}");
    assert!(message.contains("use a machine with more memory"), "{message}");
    assert_eq!(ran.stdout(), "");
}

/// A player that does not get its memory fails its games, which say what to do, and the program
/// goes on.
#[test]
fn a_refused_allocation_fails_the_game_and_not_the_program() {
    let Some(tools) = Tools::find(&["sh"]) else { return };
    for &(player, parameter) in LARGE {
        let sandbox = Sandbox::new();
        sandbox.write("sweep.toml", &sweep(player));
        let ran =
            run_limited(tools, &sandbox, 4_000_000, &["run", "sweep.toml", "--memory", "1000GiB"]);
        ran.expect_exit(7);
        let failed = "SELECT count(*) FROM games WHERE failure LIKE '%smaller%'";
        assert_eq!(sandbox.sql("large.db", failed), "2", "{player}");
        let message = sandbox.sql("large.db", "SELECT failure FROM games LIMIT 1");
        assert!(message.contains("the system refused"), "{message}");
        assert!(message.contains(&format!("make `{parameter}` smaller")), "{message}");
    }
}

#[test]
fn a_refused_allocation_ends_an_analysis_with_what_to_do() {
    let Some(tools) = Tools::find(&["sh"]) else { return };
    let sandbox = Sandbox::new();
    let player = ["--player", "mcts", "--set", "simulations=9"];
    let tree = ["--set", "max_tree_nodes=268435456"];
    let ran = run_limited(
        tools,
        &sandbox,
        4_000_000,
        &[&["analyze", "tic-tac-toe"][..], &player[..], &tree[..]].concat(),
    );
    ran.expect_exit(3);
    assert!(ran.stderr().contains("help: make `max_tree_nodes` smaller"), "{}", ran.stderr());
}

/// `run` plays as many games at once as there is memory for; where that is none, it says so instead
/// of waiting for ever.
#[test]
fn run_refuses_what_it_has_no_memory_for() {
    let sandbox = Sandbox::new();
    let player = "algorithm = \"alpha-beta\"\ndepth = 3\ntable = true\ntable_mib = 30";
    sandbox.write("sweep.toml", &sweep(player));
    let refused = sandbox.run(&["run", "sweep.toml", "--memory", "31MiB"]);
    refused.expect_exit(3);
    let said = "a game may need 32.0 MiB of memory";
    assert!(refused.stderr().contains(said), "{}", refused.stderr());
    let refused = sandbox.run(&["run", "sweep.toml", "--memory", "63MiB", "--slots", "2"]);
    refused.expect_exit(3);
    assert!(refused.stderr().contains("use --slots 1"), "{}", refused.stderr());
    sandbox.run(&["run", "sweep.toml", "--memory", "64MiB", "--slots", "2"]).expect_exit(0);
    // What is settled needs none.
    sandbox.run(&["run", "sweep.toml", "--memory", "31MiB"]).expect_exit(0);
}

/// The hash tables of external engines count, whether the sweep sets their size, the engines file, or neither.
#[test]
fn run_counts_the_hash_tables_of_engines() {
    let Some(sandbox) = external_engines::sandbox(&["late"]) else { return };
    let file = sandbox.path("engines.toml");
    let engines = std::fs::read_to_string(&file).unwrap();
    let run = |options: &str, memory: &str| {
        let player =
            external_engines::external_player("a", "late", &format!("depth = 1\n{options}"));
        sandbox.write(
            "sweep.toml",
            &external_engines::sweep(2, &format!("{player}{}", external_engines::RANDOM)),
        );
        external_engines::run(&sandbox, &["--memory", memory])
    };
    for (options, set, mib) in [
        ("options = { Hash = 64 }", "", 64),
        // What the engine declares.
        ("", "", 16),
        ("", "set = { Hash = 32 }\n", 32),
    ] {
        std::fs::write(&file, format!("{engines}{set}")).unwrap();
        let refused = run(options, &format!("{}MiB", mib + 1));
        refused.expect_exit(3);
        // Each player has a MiB besides.
        let said = format!("a game may need {}.0 MiB of memory", mib + 2);
        assert!(refused.stderr().contains(&said), "{mib}: {}", refused.stderr());
        assert!(refused.stderr().contains("Hash of an engine"), "{}", refused.stderr());
    }
}

/// A worker gets no games that are too large for it, which `status` says; one that has the memory
/// plays them, and the coordinator knows after a restart, too.
#[test]
fn games_wait_for_a_worker_that_can_hold_them() {
    let sandbox = Sandbox::new();
    let player = "algorithm = \"alpha-beta\"\ndepth = 3\ntable = true\ntable_mib = 30";
    sandbox.write("sweep.toml", &sweep(player));
    let coordinator = sandbox.coordinator_with("a.db", "127.0.0.1:0", "200ms");
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &coordinator.url]).expect_exit(0);
    drop(coordinator);
    let coordinator = sandbox.coordinator_with("a.db", "127.0.0.1:0", "200ms");
    let url = &*coordinator.url;
    let _small = sandbox.worker(url, "2", &["--memory", "63MiB"]);
    let problem = loop {
        let status = sandbox.run(&["status", "--coordinator", url, "--json"]);
        let status: Value = serde_json::from_str(status.expect_exit(0).stdout()).unwrap();
        let mut attention = status["attention"].as_array().unwrap().iter();
        if let Some(item) = attention.find(|item| item["kind"] == "too_large") {
            break item["problem"].as_str().unwrap().to_owned();
        }
    };
    assert!(problem.contains("may take 32 MiB of memory"), "{problem}");
    assert_eq!(sandbox.sql("a.db", "SELECT count(*) FROM leases"), "0");
    let mut large = sandbox.worker(url, "2", &["--memory", "64MiB", "--exit-when-done"]);
    assert_eq!(large.wait().code(), Some(0));
    assert_eq!(sandbox.sql("a.db", "SELECT state FROM experiments"), "finished");
}
