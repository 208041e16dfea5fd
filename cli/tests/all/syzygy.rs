//! Games that end by Syzygy tables are played by the machines that have them.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::{Sandbox, root};

/// White wins after each of its moves.
const SWEEP: &str = r#"
name = "ended"
game = "chess"
seed = 1
games = 4
max_plies = 20
openings = { kind = "listed", positions = ["7k/8/8/8/8/8/8/KR6 w - - 0 1", "7k/8/8/8/8/8/8/KQ6 w - - 3 9"] }
adjudication = { syzygy = 3 }
[players.random]
algorithm = "random"
[players.same]
algorithm = "minimax"
depth = 1
"#;

const ENDS: &str = "SELECT termination, outcome, plies, count(*) FROM games GROUP BY 1, 2, 3";

fn tables() -> PathBuf {
    root().join("crates/syzygy/tests/tables")
}

fn engines_file(folder: &str) -> String {
    format!("[syzygy]\npath = \"{folder}\"\n")
}

/// Who has no tables gets no such game, and `status` says for what the games wait.
#[test]
fn games_wait_for_a_worker_with_the_tables() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    sandbox.write("engines.toml", &engines_file(tables().to_str().unwrap()));
    let coordinator = sandbox.coordinator_with("a.db", "127.0.0.1:0", "200ms");
    let url = &*coordinator.url;
    sandbox.run(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let _other = sandbox.worker(url, "1", &["--name", "other"]);
    let item = loop {
        let status = sandbox.run(&["status", "--coordinator", url, "--json"]);
        let status: Value = serde_json::from_str(status.expect_exit(0).stdout()).unwrap();
        let mut attention = status["attention"].as_array().unwrap().iter();
        if let Some(item) = attention.find(|item| item["kind"] == "unplaced") {
            break item.clone();
        }
    };
    let problem = item["problem"].as_str().unwrap();
    assert!(
        problem.ends_with(
            "for workers that have all Syzygy tables of up to 3 pieces, and no connected worker is one"
        ),
        "{problem}"
    );
    assert!(item["remedy"].as_str().unwrap().contains("[syzygy] path"), "{item}");
    let able = ["--engines", "engines.toml", "--name", "able"];
    let _able = sandbox.worker(url, "1", &able);
    while sandbox.sql("a.db", "SELECT state FROM experiments") != "finished" {}
    assert_eq!(sandbox.sql("a.db", ENDS), "syzygy,win,1,4");
    let statement =
        "SELECT DISTINCT w.name, w.labels_json FROM games AS g JOIN workers AS w USING (worker_id)";
    assert_eq!(sandbox.sql("a.db", statement), r#"able,"{""syzygy"":""3""}""#);
}

/// A machine without tables can look at what was played with them.
#[test]
fn run_plays_with_tables_and_refuses_without() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let run = |more: &[&str]| sandbox.run(&[&["run", "sweep.toml", "--db", "a.db"], more].concat());
    let without = run(&[]);
    let error = without.expect_exit(3).stderr();
    assert!(error.contains("workers that have all Syzygy tables of up to 3 pieces"), "{error}");
    assert!(error.contains("[syzygy] path") && error.contains("--listen"), "{error}");
    let by_hand = run(&["--label", "syzygy=7"]);
    assert!(by_hand.expect_exit(2).stderr().contains("[syzygy] path"));

    fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.write("engines.toml", &engines_file("empty"));
    let empty = run(&["--engines", "engines.toml"]);
    let error = empty.expect_exit(3).stderr();
    assert!(error.contains("there are no .rtbw and .rtbz files in "), "{error}");
    sandbox.write("engines.toml", &engines_file("absent"));
    let absent = run(&["--engines", "engines.toml"]);
    assert!(absent.expect_exit(3).stderr().contains("cannot list "));

    sandbox.write("engines.toml", &engines_file(tables().to_str().unwrap()));
    let with = run(&["--engines", "engines.toml"]);
    let said = with.expect_exit(0).stderr();
    assert!(said.contains("5 .rtbw and 5 .rtbz of 5 with 3 pieces"), "{said}");
    assert!(said.contains("games end by those of up to 3 pieces; KQQvK.rtbw is missing"), "{said}");
    assert_eq!(sandbox.sql("a.db", ENDS), "syzygy,win,1,4");
    sandbox.run(&["replay", "1", "--db", "a.db"]).expect_exit(0);
    sandbox.run(&["verify", "--db", "a.db"]).expect_exit(0);
}

/// Each damaged file is reported once, and the games that need it go on.
#[test]
fn games_go_on_where_a_file_is_damaged() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    fs::create_dir(sandbox.path("copies")).unwrap();
    for entry in tables().read_dir().unwrap() {
        let path = entry.unwrap().path();
        let copy = sandbox.path("copies").join(path.file_name().unwrap());
        fs::copy(path, copy).unwrap();
    }
    let rook = sandbox.path("copies/KRvK.rtbw");
    fs::write(&rook, &fs::read(&rook).unwrap()[..100]).unwrap();
    sandbox.write("engines.toml", &engines_file("copies"));
    let run = sandbox.run(&["run", "sweep.toml", "--db", "a.db", "--engines", "engines.toml"]);
    let said = run.expect_exit(0).stderr();
    assert_eq!(said.matches("KRvK.rtbw is damaged").count(), 1, "{said}");
    let ended = sandbox.sql("a.db", "SELECT count(*), sum(termination = 'syzygy') FROM games");
    assert_eq!(ended, "4,2");
}

#[test]
fn a_match_takes_the_words_of_other_runners() {
    let sandbox = Sandbox::new();
    let folder = tables();
    let folder = folder.to_str().unwrap();
    let players =
        ["-engine", "algorithm=random", "name=a", "-engine", "algorithm=random", "name=b"];
    let write = |more: &[&str]| {
        let words = [&["match"], &players[..], &["-games", "4", "-tb", folder], more].concat();
        sandbox.run(&[&words[..], &["--write", "match.toml"]].concat()).expect_exit(0);
        let sweep = fs::read_to_string(sandbox.path("match.toml")).unwrap();
        fs::remove_file(sandbox.path("match.toml")).unwrap();
        sweep
    };
    let said = write(&["-tbpieces", "6", "-tbignore50", "-tbadjudicate", "WIN_LOSS"]);
    let rule =
        "[adjudication]\nsyzygy = { pieces = 6, fifty_moves = false, results = \"win_loss\" }\n";
    assert!(said.contains(rule), "{said}");
    fs::remove_file(sandbox.path("match.engines.toml")).unwrap();
    let found = write(&[]);
    assert!(found.contains("[adjudication]\nsyzygy = { pieces = 3 }\n"), "{found}");
    let engines = fs::read_to_string(sandbox.path("match.engines.toml")).unwrap();
    assert!(engines.starts_with(&format!("[syzygy]\npath = [\"{folder}\"]\n")), "{engines}");
    let lacking = ["-games", "4", "-tb", folder, "-tbpieces", "6"];
    let refused = sandbox.run(&[&["match"], &players[..], &lacking].concat());
    let error = refused.expect_exit(3).stderr();
    assert!(error.contains("all Syzygy tables of up to 6 pieces"), "{error}");
}
