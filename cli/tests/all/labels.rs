//! Sweeps that ask for labels, or for fast machines, are played by the workers that are so.

use serde_json::Value;

use crate::sandbox::Sandbox;

const SWEEP: &str = r#"
name = "placed"
game = "tic-tac-toe"
seed = 1
games = 4
[placement]
require = ["site=lab2"]
[players.random]
algorithm = "random"
[players.same]
algorithm = "minimax"
depth = 1
"#;

/// Who lacks it waits, and `status` says what for, until one comes that has it.
#[test]
fn a_sweep_waits_for_a_worker_that_has_its_label() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let coordinator = sandbox.coordinator_with("a.db", "127.0.0.1:0", "200ms");
    let url = &*coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _other = sandbox.worker(url, "1", &["--label", "site=lab1", "--name", "other"]);
    let item = loop {
        let status = sandbox.run(&["status", "--coordinator", url, "--json"]);
        let status: Value = serde_json::from_str(status.expect_exit(0).stdout()).unwrap();
        let mut attention = status["attention"].as_array().unwrap().iter();
        if let Some(item) = attention.find(|item| item["kind"] == "unplaced") {
            assert_eq!(status["workers"][0]["labels"]["site"], "lab1");
            break item.clone();
        }
    };
    let problem = item["problem"].as_str().unwrap();
    assert!(problem.contains("the label site=lab2, which no connected worker has"), "{problem}");
    assert!(item["remedy"].as_str().unwrap().contains("--label site=lab2"), "{item}");
    let text = sandbox.run(&["status", "--coordinator", url]);
    assert!(text.expect_exit(0).stdout().contains("other: site=lab1"));

    let _able =
        sandbox.worker(url, "1", &["--label", "site=lab2", "--label", "gpu", "--name", "able"]);
    while sandbox.sql("a.db", "SELECT state FROM experiments") != "finished" {}
    let statement =
        "SELECT DISTINCT w.name, w.labels_json FROM games AS g JOIN workers AS w USING (worker_id)";
    assert_eq!(sandbox.sql("a.db", statement), r#"able,"{""gpu"":"""",""site"":""lab2""}""#);
}

/// Nobody else would come.
#[test]
fn run_refuses_what_its_machine_may_not_play() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let refused = sandbox.run(&["run", "sweep.toml", "--db", "a.db", "--label", "site=lab1"]);
    let error = refused.expect_exit(3).stderr();
    assert!(error.contains("the label site=lab2") && error.contains("--listen"), "{error}");
    sandbox.run(&["run", "sweep.toml", "--db", "a.db", "--label", "site=lab2"]).expect_exit(0);
}

#[test]
fn a_label_that_is_none_is_refused() {
    let sandbox = Sandbox::new();
    let worker = |labels: &[&str]| {
        let words = ["worker", "--coordinator", "http://127.0.0.1:1", "--exit-when-done"];
        let flags = labels.iter().flat_map(|label| ["--label", label]);
        let words: Vec<&str> = words.into_iter().chain(flags).collect();
        sandbox.run(&words).expect_exit(2).stderr().to_owned()
    };
    assert!(worker(&["site lab2"]).contains("letters, digits"));
    assert!(worker(&["=lab2"]).contains("no name"));
    let twice = worker(&["site=a", "site=b"]);
    assert!(twice.contains("two labels have the same name: site=a and site=b"), "{twice}");
}

/// A timed sweep that asks this of its workers.
fn timed(placement: &str) -> String {
    format!(
        "name = \"fast\"\ngame = \"tic-tac-toe\"\nseed = 1\ngames = 4\nplacement = {{ {placement} }}\n\
         [players.random]\nalgorithm = \"random\"\n[players.quick]\nalgorithm = \"alpha-beta\"\ndepth = 1\n\
         move_time = \"1s\"\n"
    )
}

/// Nobody measures that is not asked: the coordinator asks where games wait for a speed.
#[test]
fn games_for_fast_machines_are_played_once_the_speed_is_measured() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &timed("speed_min = 1, noise_max = 1"));
    let coordinator = sandbox.coordinator_with("a.db", "127.0.0.1:0", "200ms");
    let url = &*coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _worker = sandbox.worker(url, "1", &[]);
    while sandbox.sql("a.db", "SELECT state FROM experiments") != "finished" {}
    let statement = "SELECT DISTINCT game, nodes_per_second > 0 FROM worker_speeds";
    assert_eq!(sandbox.sql("a.db", statement), "tic-tac-toe,1");
}

/// `run` measures before it begins: nobody else would come.
#[test]
fn run_refuses_games_for_faster_machines() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &timed("speed_min = 1_000_000_000_000"));
    let refused = sandbox.run(&["run", "sweep.toml", "--db", "a.db"]);
    let error = refused.expect_exit(3).stderr();
    assert!(error.contains("at least 1000000000000 nodes of tic-tac-toe a second"), "{error}");
    assert!(error.contains("spelrum speed tic-tac-toe") && error.contains("speed_min"), "{error}");
    sandbox.write("sweep.toml", &timed("speed_min = 1"));
    sandbox.run(&["run", "sweep.toml", "--db", "a.db"]).expect_exit(0);
}
