//! Games that need external engines wait for a worker that has them.

use serde_json::Value;

use crate::sandbox::Sandbox;

const SWEEP: &str = r#"
name = "fishing"
game = "chess"
max_plies = 8
seed = 1
games = 2
[players.fish]
algorithm = "uci"
engine = "fish"
depth = 3
[players.random]
algorithm = "random"
[players.same]
algorithm = "minimax"
depth = 1
"#;

/// A worker without engines plays the rest, and waits; `status` says which engine is missing, and what to do.
#[test]
fn status_says_which_engines_are_missing() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let coordinator = sandbox.coordinator_with("a.db", "127.0.0.1:0", "200ms");
    let url = &*coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _worker = sandbox.worker(url, "2", &["--exit-when-done"]);
    let item = loop {
        let status = sandbox.run(&["status", "--coordinator", url, "--json"]);
        let status: Value = serde_json::from_str(status.expect_exit(0).stdout()).unwrap();
        let workers = status["workers"].as_array().unwrap();
        let mut attention = status["attention"].as_array().unwrap().iter();
        let item = attention.find(|item| item["kind"] == "missing_engines").expect("it is told");
        if let [worker] = &workers[..]
            && status["experiments"][0]["games_settled"] == 2
        {
            assert_eq!(
                (&worker["engines"], &worker["engines_total"]),
                (&Value::Array(Vec::new()), &Value::from(0))
            );
            break item.clone();
        }
    };
    assert_eq!((&item["experiment"], &item["count"]), (&Value::from("fishing"), &Value::from(2)));
    let problem = item["problem"].as_str().unwrap();
    assert!(problem.ends_with("need fish (uci), which no connected worker has"), "{problem}");
    let text = sandbox.run(&["status", "--coordinator", url]);
    let text = text.expect_exit(0).stdout().to_owned();
    assert!(text.contains(problem), "{text}");
    assert!(text.contains("spelrum worker --coordinator URL --engines FILE"), "{text}");
    assert_eq!(sandbox.sql("a.db", "SELECT state FROM experiments"), "running");
}
