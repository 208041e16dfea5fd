//! `spelrum plan`: what a sweep will show before it is played.

use serde_json::Value as Json;

use crate::sandbox::{Sandbox, wait_until};

const SWEEP: &str = r#"
name = "planned"
game = "tic-tac-toe"
seed = 1
games = 400
openings = { kind = "random", plies = 2 }

[axes]
depth = [1, 2]

[players.ab]
algorithm = "alpha-beta"
depth = "$depth"

[players.random]
algorithm = "random"

[[claims]]
text = "ab is better"
player = "ab"
score_above = 0.5
"#;

/// Without the line of the time, which is measured.
fn plan(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let mut all = vec!["plan", "sweep.toml"];
    all.extend(arguments);
    let ran = sandbox.run(&all);
    let lines = ran.expect_exit(0).stdout().lines();
    lines.filter(|line| !line.starts_with("Time: ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_plan_says_what_a_sweep_will_show() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    insta::assert_snapshot!("plan", plan(&sandbox, &[]));
    let sprt =
        SWEEP.replace("games = 400", "games = 4000\nstop = { sprt = { elo0 = 0, elo1 = 40 } }");
    sandbox.write("sweep.toml", &sprt);
    insta::assert_snapshot!("plan_sprt", plan(&sandbox, &["--drawn", "0.5"]));
    let precise = SWEEP.replace("games = 400", "games = 4000\nstop = { precision = 0.03 }");
    sandbox.write("sweep.toml", &precise);
    insta::assert_snapshot!(
        "plan_precision",
        plan(&sandbox, &["--margin", "0.1", "--power", "0.9"])
    );
}

/// Earlier results say how many games are drawn, and a lead seen there is not taken for the truth.
#[test]
fn a_plan_learns_from_earlier_results() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    sandbox.run(&["run", "sweep.toml", "--quick", "--db", "before.db"]).expect_exit(0);
    let learnt = plan(&sandbox, &["--like", "before.db"]);
    insta::assert_snapshot!("plan_like", learnt);
    let json =
        sandbox.run(&["plan", "sweep.toml", "--like", "planned", "--db", "before.db", "--json"]);
    let json: Json = serde_json::from_str(json.expect_exit(0).stdout()).unwrap();
    assert_eq!(json["like"], "planned");
    let cells = json["cells"].as_array().unwrap();
    assert!(cells.len() == 2 && cells.iter().all(|cell| cell["is_known"] == true));
    assert!(json["seconds_expected"][0].is_f64());
}

#[test]
fn a_plan_refuses_what_it_cannot_plan() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let refusals = [
        &["plan", "sweep.toml", "--margin", "0.5"][..],
        &["plan", "sweep.toml", "--margin", "nan"],
        &["plan", "sweep.toml", "--power", "1"],
        &["plan", "sweep.toml", "--drawn", "1"],
        &["plan", "sweep.toml", "--like", "nothing.db"],
    ];
    let mut text = String::new();
    for arguments in refusals {
        let ran = sandbox.run(arguments);
        assert!(!ran.0.status.success(), "{arguments:?}");
        text += &format!("{arguments:?}\n{}\n", ran.stderr());
    }
    insta::assert_snapshot!("plan_refused", text);
}

/// While it runs, games are expected that a stop rule will leave, and not the most.
#[test]
fn a_running_match_says_how_many_games_are_expected() {
    let sandbox = Sandbox::new();
    let sweep = SWEEP
        .replace("[axes]\ndepth = [1, 2]\n", "")
        .replace("tic-tac-toe", "pentago")
        .replace("plies = 2", "plies = 3")
        .replace("depth = \"$depth\"", "depth = 2")
        .replace(
            "[players.random]\nalgorithm = \"random\"",
            "[players.other]\nalgorithm = \"alpha-beta\"\ndepth = 1",
        )
        .replace("games = 400", "games = 100000\nstop = { precision = 0.02 }");
    sandbox.write("sweep.toml", &sweep);
    let coordinator = sandbox.coordinator("r.db", "127.0.0.1:0");
    let url = format!("http://{}", coordinator.address());
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let mut worker = sandbox.worker(&url, "1", &[]);
    let mut seen = Json::Null;
    wait_until("enough games are settled", || {
        let ran = sandbox.run(&["status", "--coordinator", &url, "--json"]);
        seen = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
        seen["experiments"][0]["games_settled"].as_u64().unwrap() >= 100
    });
    worker.kill();
    let expected = &seen["stops"][0]["games_expected"];
    let [games, low, high] = ["games", "low", "high"].map(|key| expected[key].as_u64().unwrap());
    assert!(low <= games && games <= high && games < 20_000, "{expected}");
    let text = sandbox.run(&["status", "--coordinator", &url]);
    let text = text.expect_exit(0).stdout().to_owned();
    assert!(text.contains("it has ended 0 of 1 cell; about "), "{text}");
}
