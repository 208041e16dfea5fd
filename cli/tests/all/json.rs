//! `--json` on everything that prints facts: these keys stay.

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, tic_tac_toe};

/// What differs from run to run and machine to machine.
const MASKED: [&str; 30] = [
    "_us_mean",
    "_us_median",
    "_us_p90",
    "_us_p95",
    "_us_p99",
    "_us_game_mean",
    "_us_game_mean_low",
    "_us_game_mean_high",
    "_us_ratio",
    "_us_ratio_low",
    "_us_ratio_high",
    "wall_us",
    "cpu_us",
    "unix_us",
    "uuid",
    "seconds",
    "slots",
    "bytes",
    "uptime_ms",
    "worker",
    "host",
    "cpu_model",
    "logical_cores",
    "operating_system",
    "build_commit",
    "build_profile",
    "cores",
    "quiet_slots",
    "cpu_quota",
    "cpu_quota_period_us",
];

/// The JSON, masked, as it was printed.
fn masked(ran: &Ran) -> String {
    ran.expect_exit(0);
    let _valid: Value = serde_json::from_str(ran.stdout()).unwrap();
    let mask = |line: &str| match line.split_once("\": ") {
        Some((key, value)) if MASKED.iter().any(|masked| key.ends_with(masked)) => {
            format!("{key}\": [MASKED]{}", if value.ends_with(',') { "," } else { "" })
        }
        _ => line.to_owned(),
    };
    ran.stdout().lines().map(|line| mask(line) + "\n").collect()
}

#[test]
fn keys_are_stable() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 4));
    let dry = sandbox.run(&["submit", "sweep.toml", "--dry-run", "--json"]);
    insta::assert_snapshot!("submit_dry_run", masked(&dry));
    let run = sandbox.run(&["run", "sweep.toml", "--json"]);
    insta::assert_snapshot!("run", masked(&run));
    let report = sandbox.run(&["report", "--db", "small.db", "--json"]);
    assert_eq!(report.stdout(), run.stdout());
    let list = sandbox.run(&["list", "--db", "small.db", "--json"]);
    insta::assert_snapshot!("list", masked(&list));

    let coordinator = sandbox.coordinator("c.db", "127.0.0.1:0");
    let submit = ["submit", "sweep.toml", "--coordinator", &coordinator.url, "--json"];
    insta::assert_snapshot!("submit", masked(&sandbox.run(&submit)));
    let perft = ["perft", "pentago", "--depth", "1", "--json"];
    insta::assert_snapshot!("perft", masked(&sandbox.run(&perft)));
    let analyze = ["analyze", "pentago", "--player", "alpha-beta", "--depth", "1", "--json"];
    insta::assert_snapshot!("analyze", masked(&sandbox.run(&analyze)));
    let board = "bwbwb.wbwbwbwbwbwbbwbwbwbwbwbwb.w.ww";
    let solve = ["solve", "pentago", "--position", board, "--json"];
    insta::assert_snapshot!("solve", masked(&sandbox.run(&solve)));
}
