//! `spelrum plan`: what a sweep will show before it is played.

use serde_json::Value as Json;

use crate::sandbox::Sandbox;

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
