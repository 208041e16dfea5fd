//! How fast a machine is, and time limits that are scaled by it.

use serde_json::Value;
use spelrum_engine::Rules;

use crate::sandbox::Sandbox;

/// The text with each figure replaced, and what stands before it.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let figure = |word: &&str| word.bytes().any(|byte| byte.is_ascii_digit());
        // A rule is as wide as its figures.
        let is_rule = |word: &&str| word.starts_with('─');
        let words = words.iter().map(|word| match word {
            word if figure(word) => "N",
            word if is_rule(word) => "─",
            word => *word,
        });
        masked.push_str(&words.collect::<Vec<_>>().join(" "));
        masked.push('\n');
    }
    masked
}

#[test]
fn speed_measures_a_game_or_all() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["speed", "nim", "--slots", "2", "--quiet-slots", "0"]);
    insta::assert_snapshot!("speed", masked(ran.expect_exit(0).stdout()));
    let ran = sandbox.run(&["speed", "--slots", "1", "--quiet-slots", "0", "--json"]);
    let json: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
    let speeds = json["speeds"].as_array().unwrap();
    let games: Vec<_> = speeds.iter().map(|row| row["game"].as_str().unwrap()).collect();
    let expected: Vec<_> = Rules::games().iter().map(|game| game.name).collect();
    assert_eq!(games, expected);
    for speed in speeds {
        assert!(speed["nodes_per_second"].as_u64().unwrap() > 0 && speed["slots"] == 1, "{speed}");
        assert!(speed["noise"].as_f64().unwrap() >= 0.0, "{speed}");
    }
    let ran = sandbox.run(&["speed", "draughts"]);
    assert!(ran.expect_exit(3).stderr().contains("there is no game `draughts`"));
    let ran = sandbox.run(&["speed", "nim", "--slots", "1", "--quiet-slots", "5"]);
    assert!(ran.expect_exit(3).stderr().contains("keep 5 slots quiet"));
}

/// Limits of games are scaled by what their worker measured, also over a network and in a process of its own.
#[test]
fn limits_are_scaled_by_the_worker() {
    let sandbox = Sandbox::new();
    let sweep = |name: &str, reference: u64| {
        format!(
            "name = \"{name}\"\ngame = \"pentago\"\ngames = 4\nmax_plies = 6\n\
             timing = {{ reference_speed = {reference}, factor_max = 3 }}\n\
             [players.quick]\nalgorithm = \"alpha-beta\"\niterative = true\nmove_time = \"2ms\"\n\
             [players.shallow]\nalgorithm = \"alpha-beta\"\ndepth = 1\n"
        )
    };
    // No machine is as fast as the one, or as slow as the other.
    sandbox.write("fast.toml", &sweep("fast", 1_000_000_000_000));
    sandbox.write("slow.toml", &sweep("slow", 1));
    let report = sandbox.run(&["run", "fast.toml", "--db", "fast.db"]);
    let report = report.expect_exit(0).stdout().to_owned();
    let said =
        "Time limits are scaled to 1,000,000,000,000 nodes a second: 3.00 to 3.00 times as long.";
    assert!(report.contains(said), "{report}");
    assert!(report.contains("Warning: in 4 of 4 games the factor was at the bound"), "{report}");
    let json = sandbox.run(&["report", "--db", "fast.db", "--json"]);
    let json: Value = serde_json::from_str(json.expect_exit(0).stdout()).unwrap();
    assert_eq!(json["time_scale"]["games_at_bound"], 4);
    assert_eq!(json["time_scale"]["factor_least"], 3.0);

    let coordinator = sandbox.coordinator("slow.db", "127.0.0.1:0");
    let url = &coordinator.url;
    sandbox.run(&["submit", "slow.toml", "--coordinator", url]).expect_exit(0);
    sandbox
        .run(&["worker", "--coordinator", url, "--slots", "2", "--exit-when-done"])
        .expect_exit(0);
    let ask = |sql: &str| {
        let ran = sandbox.run(&["sql", "--db", "slow.db", "--csv", sql]);
        ran.expect_exit(0).stdout().lines().skip(1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(
        ask("SELECT count(*), min(time_factor), max(time_factor) FROM games"),
        "4,0.334,0.334"
    );
    assert_eq!(
        ask(
            "SELECT count(*) FROM games AS g JOIN worker_speeds AS s ON s.nodes_per_second = g.speed"
        ),
        "4"
    );
    assert_eq!(ask("SELECT DISTINCT move_time_us, limit_us FROM limited_moves"), "2000,668");
    sandbox.run(&["check", "--db", "slow.db"]).expect_exit(0);
}
