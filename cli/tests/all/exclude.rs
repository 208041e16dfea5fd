//! `spelrum worker exclude` and `readmit`: a worker's games are played by others, as people meet it.

use serde_json::Value;

use crate::sandbox::{Sandbox, Watched, tic_tac_toe, wait_until};

#[test]
fn a_file_is_played_again_without_the_worker() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20));
    sandbox.run(&["run", "sweep.toml", "--db", "e.db"]).expect_exit(0);
    let before = sandbox.all_games("e.db");
    let db = ["--db", "e.db"];
    let exclude =
        |more: &[&str]| sandbox.run(&[&["worker", "exclude", "1"], &db[..], more].concat());
    let games = || sandbox.sql("e.db", "SELECT count(*) FROM games");

    let dry = exclude(&["--dry-run"]);
    dry.expect_exit(0);
    assert!(dry.stdout().ends_with("excluding would discard 40 results\n"), "{}", dry.stdout());
    // Nobody is there to confirm it.
    let unconfirmed = exclude(&[]);
    unconfirmed.expect_exit(2);
    assert!(unconfirmed.stderr().contains("add --yes"), "{}", unconfirmed.stderr());
    let since = exclude(&["--since", "1ms", "--yes"]);
    since.expect_exit(0);
    let unknown = sandbox.run(&["worker", "exclude", "nobody", "--db", "e.db", "--yes"]);
    unknown.expect_exit(3);
    let elsewhere = exclude(&["--experiment", "nothing", "--yes"]);
    elsewhere.expect_exit(3);
    assert_eq!(games(), "40", "none of these has taken anything out");

    let excluded = exclude(&["--yes", "--json"]);
    excluded.expect_exit(0);
    let excluded: Value = serde_json::from_str(excluded.stdout()).unwrap();
    assert_eq!((&excluded["games"], &excluded["finished"]), (&40.into(), &true.into()));
    assert_eq!(excluded["workers"][0]["worker_id"], 1);
    assert_eq!(games(), "0");
    let uncounted = "SELECT reason || ' ' || count(*) FROM uncounted_games GROUP BY reason";
    assert_eq!(sandbox.sql("e.db", uncounted), "excluded 40");
    sandbox.run(&["check", "--db", "e.db"]).expect_exit(0);

    // The same machine is not believed, until somebody says so.
    let readmitted = sandbox.run(&["worker", "readmit", "1", "--db", "e.db"]);
    readmitted.expect_exit(0);
    assert_eq!(readmitted.stdout(), "worker 1 gets games again\n");
    let again = sandbox.run(&["worker", "readmit", "1", "--db", "e.db"]);
    assert_eq!(again.stdout(), "1 is not excluded\n");
    sandbox.run(&["run", "sweep.toml", "--db", "e.db"]).expect_exit(0);
    assert_eq!(sandbox.all_games("e.db"), before, "the same games, by others");
    sandbox.run(&["check", "--db", "e.db"]).expect_exit(0);
}

/// What a file brings of an excluded worker does not count either.
#[test]
fn results_do_not_come_back_by_a_file() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20));
    sandbox.run(&["run", "sweep.toml", "--db", "e.db"]).expect_exit(0);
    sandbox.run(&["export", "sweep", "--db", "e.db", "--output", "whole.db"]).expect_exit(0);
    sandbox.run(&["prune", "sweep", "--db", "e.db", "--yes"]).expect_exit(0);
    sandbox.run(&["export", "sweep", "--db", "e.db", "--output", "bare.db"]).expect_exit(0);
    sandbox.run(&["worker", "exclude", "1", "--db", "e.db", "--yes"]).expect_exit(0);
    for (file, later_us) in [("whole.db", 1), ("bare.db", 2)] {
        let import = || {
            let ran = sandbox.run(&["import", file, "--db", "e.db", "--json"]);
            let came: Value = serde_json::from_str(ran.expect_exit(0).stdout()).unwrap();
            let came = &came["experiments"][0];
            ["games", "known", "uncounted"].map(|key| came[key].as_u64().unwrap())
        };
        assert_eq!(import(), [0, 40, 0], "{file}: they are kept already");
        let other = "UPDATE games SET started_unix_us = started_unix_us + ?";
        let connection = rusqlite::Connection::open(sandbox.path(file)).unwrap();
        connection.execute(other, [later_us]).unwrap();
        drop(connection);
        assert_eq!(import(), [0, 0, 40], "{file}: others of the same worker");
        assert_eq!(sandbox.sql("e.db", "SELECT count(*) FROM games"), "0", "{file}");
    }
    let uncounted = "SELECT reason || ' ' || count(*) FROM uncounted_games GROUP BY reason";
    assert_eq!(sandbox.sql("e.db", uncounted), "excluded 120");
    sandbox.run(&["check", "--db", "e.db"]).expect_exit(0);
    sandbox.run(&["worker", "readmit", "1", "--db", "e.db"]).expect_exit(0);
    sandbox.run(&["run", "sweep.toml", "--db", "e.db"]).expect_exit(0);
    sandbox.run(&["check", "--db", "e.db"]).expect_exit(0);
}

/// The worker says why it gets nothing, and so does the status.
#[test]
fn a_worker_is_told_why_it_gets_no_games() {
    let sandbox = Sandbox::new();
    let coordinator = sandbox.coordinator("e.db", "127.0.0.1:0");
    let url = format!("http://{}", coordinator.address());
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 200));
    sandbox.run(&["submit", "sweep.toml", "--coordinator", &url]).expect_exit(0);
    let worker = ["worker", "--coordinator", &url, "--slots", "1", "--name", "bad"];
    let mut worker = Watched::start(&sandbox, &worker);
    wait_until("some games are settled", || sandbox.settled("e.db") > 0);
    sandbox.run(&["worker", "exclude", "bad", "--coordinator", &url, "--yes"]).expect_exit(0);
    worker.read_until("gives this worker no games");
    let status = sandbox.run(&["status", "--coordinator", &url]);
    status.expect_exit(0);
    assert!(status.stdout().contains("is excluded and gets no games"), "{}", status.stdout());
    wait_until("all is taken out", || sandbox.sql("e.db", "SELECT count(*) FROM games") == "0");
    sandbox.run(&["worker", "readmit", "bad", "--coordinator", &url]).expect_exit(0);
    worker.read_until("gives this worker games again");
    sandbox.wait_until_finished(&coordinator);
}
