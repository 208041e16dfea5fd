//! Sweeps whose players do not swap sides, from the file to the report.

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Who moves first wins from these heaps, unless it moves at random.
const FIXED: &str = r#"
name = "fixed"
game = { name = "nim", heaps = [1, 2] }
games = 7
swap_sides = false
openings = { kind = "random", plies = 1 }

[players.random]
algorithm = "random"

[players.deep]
algorithm = "alpha-beta"
depth = 3
"#;

#[test]
fn fixed_sides_are_played_and_reported_by_games() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", FIXED);
    let dry = sandbox.run(&["run", "sweep.toml", "--dry-run"]);
    dry.expect_exit(0);
    assert!(dry.stdout().contains("for 7 games a cell"), "{}", dry.stdout());
    sandbox.run(&["run", "sweep.toml", "--slots", "1"]).expect_exit(0);
    let first = "SELECT group_concat(DISTINCT first_player) || count(*) FROM slowest_games";
    assert_eq!(sandbox.sql("fixed.db", first), "random7");
    // An opening after one ply has the second side to move.
    let sides = "SELECT group_concat(DISTINCT first_side) FROM games";
    assert_eq!(sandbox.sql("fixed.db", sides), "second");

    let report = sandbox.run(&["report", "--db", "fixed.db"]);
    let score = "Score: the player's points per game; the player moves first in every game.";
    assert!(report.stdout().contains(score), "{}", report.stdout());
    let report = sandbox.run(&["report", "--db", "fixed.db", "--json"]);
    let report: Value = serde_json::from_str(report.stdout()).unwrap();
    let cell = &report["cells"][0];
    assert_eq!((&cell["swap_sides"], &cell["games"]), (&false.into(), &7.into()));
    assert_eq!(cell["pairs"], serde_json::json!([0, 0, 0, 0, 0]));
    let points = cell["wins"].as_f64().unwrap() + cell["draws"].as_f64().unwrap() / 2.0;
    assert!((cell["score"].as_f64().unwrap() - points / 7.0).abs() < 1e-12, "{cell}");

    let again = ["replay", "1", "2", "7", "--db", "fixed.db"];
    let shown = sandbox.run(&again);
    shown.expect_exit(0);
    let heading = "random moves first (with the second side), deep second, from ";
    assert!(shown.stdout().contains(heading), "{}", shown.stdout());
    let json = sandbox.run(&[&again[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(json.stdout()).unwrap();
    let game = &json["games"][0];
    assert_eq!((&game["first_side"], &game["check"]), (&"second".into(), &"same".into()));

    // One more game than before: no pair to complete.
    sandbox.write("sweep.toml", &FIXED.replace("games = 7", "games = 8"));
    let more = sandbox.run(&["run", "sweep.toml"]);
    more.expect_exit(0);
    assert_eq!(sandbox.sql("fixed.db", "SELECT count(*) FROM games"), "8");
    // Swapped sides are another cell.
    let swapped = FIXED.replace("games = 7", "games = 8").replace("= false", "= true");
    sandbox.write("sweep.toml", &swapped);
    let refused = sandbox.run(&["run", "sweep.toml"]);
    refused.expect_exit(3);
    assert!(refused.failure().contains("swapped sides"), "{}", refused.failure());
}
