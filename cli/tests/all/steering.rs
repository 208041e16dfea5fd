//! Steering, throwing away, and what needs attention, as people meet them: on a file, and through a
//! coordinator.

use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;

use crate::sandbox::{Ran, Sandbox, Watched, tic_tac_toe, wait_until};

/// A sandbox with a finished experiment `sweep` in `sweep.db`.
fn played(games: u32) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", games));
    sandbox.run(&["run", "sweep.toml"]).expect_exit(0);
    sandbox
}

/// What a command says, without what differs between two runs.
fn masked(sandbox: &Sandbox, ran: &Ran) -> String {
    let directory = sandbox.path("").display().to_string();
    let text = format!("{}{}", ran.stdout(), ran.stderr()).replace(&directory, "[DIRECTORY]/");
    let without_pid = |line: &str| match line.split_once("process ") {
        Some((before, after)) => {
            let after = after.trim_start_matches(|character: char| character.is_ascii_digit());
            format!("{before}process [PID]{after}")
        }
        None => line.to_owned(),
    };
    text.lines().map(without_pid).collect::<Vec<_>>().join("\n")
}

/// A value of a command's JSON.
fn json(ran: &Ran) -> serde_json::Value {
    ran.expect_exit(0);
    serde_json::from_str(ran.stdout()).unwrap()
}

#[test]
fn a_file_that_no_coordinator_has_is_steered_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 20_000));
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "1"]);
    run.read_until("games in 2 cells, into sweep.db");
    wait_until("a game is settled", || {
        sandbox.sql("sweep.db", "SELECT count(*) FROM games") != "0"
    });
    // Its leases are alive when it is gone.
    run.process.kill();
    let db = ["--db", "sweep.db"];
    let steer = |words: &[&str]| sandbox.run(&[words, &db].concat());
    let state = || sandbox.sql("sweep.db", "SELECT state || priority FROM experiments");

    steer(&["pause", "sweep"]).expect_exit(0);
    assert_eq!(state(), "paused0");
    let prioritized = steer(&["priority", "sweep", "-3"]);
    assert_eq!(prioritized.stdout(), "sweep has priority -3\n");
    assert_eq!(state(), "paused-3");
    assert_eq!(json(&steer(&["resume", "sweep", "--json"]))["state"], "running");
    assert_eq!(json(&steer(&["priority", "sweep", "4", "--json"]))["priority"], 4);
    let refused = steer(&["delete", "sweep", "--yes"]);
    refused.expect_exit(3);
    insta::assert_snapshot!("delete_while_running", refused.failure());

    steer(&["pause", "sweep"]).expect_exit(0);
    // It waits until the leases of the killed run have ended.
    let deleted = json(&steer(&["delete", "sweep", "--yes", "--json"]));
    assert_eq!((&deleted["what"], &deleted["finished"]), (&"everything".into(), &true.into()));
    for table in ["experiments", "cells", "games", "moves", "lease_ranges", "removals"] {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(sandbox.sql("sweep.db", &count), "0", "{table}");
    }
    let unknown = steer(&["pause", "sweep"]);
    unknown.expect_exit(3);
    insta::assert_snapshot!("pause_of_nothing", unknown.failure());
}

#[test]
fn nothing_is_thrown_away_unasked() {
    let sandbox = played(40);
    let before = sandbox.all_games("sweep.db");
    for (command, name) in [("delete", "delete"), ("prune", "prune")] {
        let asked = sandbox.run(&[command, "sweep", "--db", "sweep.db"]);
        asked.expect_exit(2);
        insta::assert_snapshot!(format!("{name}_with_nobody_to_confirm"), asked.failure());
        let dry = sandbox.run(&[command, "sweep", "--db", "sweep.db", "--dry-run"]);
        dry.expect_exit(0);
        insta::assert_snapshot!(format!("{name}_dry_run"), dry.stdout());
        let dry = sandbox.run(&[command, "sweep", "--db", "sweep.db", "--dry-run", "--json"]);
        let dry = json(&dry);
        assert_eq!((&dry["games"], &dry["dry_run"]), (&80.into(), &true.into()));
        assert_eq!(dry["finished"], false);
        let no = sandbox.run(&[command, "sweep", "--db", "none.db", "--yes"]);
        no.expect_exit(4);
        assert!(!sandbox.path("none.db").exists(), "a database that is not there is not made");
    }
    assert_eq!(sandbox.all_games("sweep.db"), before);
}

#[test]
fn a_database_in_use_is_steered_through_its_coordinator() {
    let sandbox = played(40);
    let coordinator = sandbox.coordinator("sweep.db", "127.0.0.1:0");
    // By the file, too: the lock beside it says where its coordinator listens.
    let dry = sandbox.run(&["prune", "sweep", "--db", "sweep.db", "--dry-run"]);
    dry.expect_exit(0);
    assert!(dry.stdout().starts_with("pruning sweep would free"), "{}", dry.stdout());
    std::fs::write(sandbox.path("sweep.db-lock"), "process 1").unwrap();
    for arguments in [&["pause", "sweep"][..], &["delete", "sweep", "--yes"]] {
        let held = sandbox.run(&[arguments, &["--db", "sweep.db"]].concat());
        held.expect_exit(6);
        insta::assert_snapshot!(
            format!("{}_of_a_held_file", arguments[0]),
            masked(&sandbox, &held)
        );
    }
    let url = ["--coordinator", &coordinator.url];
    let pruned = sandbox.run(&[&["prune", "sweep", "--yes"], &url[..]].concat());
    pruned.expect_exit(0);
    insta::assert_snapshot!("prune_through_a_coordinator", pruned.stdout());
    wait_until("everything is removed", || {
        sandbox.sql("sweep.db", "SELECT count(*) FROM removals") == "0"
    });
    assert_eq!(sandbox.sql("sweep.db", "SELECT count(*) FROM moves"), "0");
    let deleted = sandbox.run(&[&["delete", "sweep", "--yes", "--json"], &url[..]].concat());
    assert_eq!(json(&deleted)["finished"], false);
    let list = sandbox.run(&["list", "--coordinator", &coordinator.url, "--json"]);
    assert_eq!(json(&list), serde_json::json!([]));
}

/// Reports stay as they were, the file becomes smaller, and playing goes on without moves.
#[test]
fn a_pruned_experiment_reports_the_same() {
    let sandbox = played(1_000);
    let report = |json: &[&str]| {
        let ran = sandbox.run(&[&["report", "--db", "sweep.db"], json].concat());
        ran.expect_exit(0);
        ran.stdout().to_owned()
    };
    let (text, as_json) = (report(&[]), report(&["--json"]));
    let size = || std::fs::metadata(sandbox.path("sweep.db")).unwrap().len();
    let full = size();
    let pruned = sandbox.run(&["prune", "sweep", "--db", "sweep.db", "--yes"]);
    pruned.expect_exit(0);
    assert!(pruned.stdout().starts_with("pruned sweep: "), "{}", pruned.stdout());
    assert_eq!((report(&[]), report(&["--json"])), (text, as_json));
    // The searches of each game by depth stay, so that it can leave the statistics again: of games as
    // short as these that is much.
    assert!(size() < full * 8 / 10, "{full} {}", size());
    assert_eq!(sandbox.sql("sweep.db", "SELECT count(*) FROM moves"), "0");
    let again = sandbox.run(&["prune", "sweep", "--db", "sweep.db"]);
    again.expect_exit(0);
    assert_eq!(again.stdout(), "sweep has no moves: nothing to prune\n");
}

/// SIGKILL in the middle, and the next coordinator goes on with it.
#[test]
fn a_killed_removal_is_finished_by_the_next_coordinator() {
    for command in ["delete", "prune"] {
        let sandbox = played(3_000);
        sandbox.write("stays.toml", &tic_tac_toe("stays", 20));
        sandbox.run(&["run", "stays.toml", "--db", "sweep.db"]).expect_exit(0);
        let done = "SELECT coalesce(sum(games_done), -1) FROM removals";
        for _ in 0..2 {
            let removing = [command, "sweep", "--db", "sweep.db", "--yes"];
            let mut process = sandbox.start(&removing);
            while process.0.try_wait().unwrap().is_none() {
                let done: i64 = sandbox.sql("sweep.db", done).parse().unwrap();
                if done > 0 {
                    break;
                }
            }
            // On a machine with other work it may be through before it was seen to have begun.
            if process.0.try_wait().unwrap().is_none() {
                process.signal(Signal::KILL);
                process.wait();
            }
        }
        let coordinator = sandbox.coordinator("sweep.db", "127.0.0.1:0");
        wait_until("everything is removed", || sandbox.sql("sweep.db", done) == "-1");
        drop(coordinator);
        let games = sandbox.sql("sweep.db", "SELECT count(*) FROM games");
        let experiments = sandbox.sql(
            "sweep.db",
            "SELECT group_concat(name, '+') FROM (SELECT name FROM experiments ORDER BY name)",
        );
        let expected = if command == "delete" { ("40", "stays") } else { ("6040", "stays+sweep") };
        assert_eq!((&*games, &*experiments), expected);
        let moves = "SELECT count(DISTINCT game_id) FROM moves";
        assert_eq!(sandbox.sql("sweep.db", moves), "40");
    }
}

/// What a plain `run` plays is steered from another terminal, by the file's owner alone; and one that goes on
/// with what was paused says so.
#[test]
fn a_run_is_steered_from_another_terminal() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("sweep", 50_000));
    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "1"]);
    run.read_until("games in 2 cells, into sweep.db");
    let lock = sandbox.path("sweep.db-lock");
    assert_eq!(std::fs::metadata(&lock).unwrap().permissions().mode() & 0o777, 0o600);
    let steer = |words: &[&str]| sandbox.run(&[words, &["--db", "sweep.db"]].concat());
    assert_eq!(json(&steer(&["pause", "sweep", "--json"]))["state"], "paused");
    run.process.signal(Signal::INT);
    assert_eq!(run.end(), Some(130));
    assert!(!lock.exists());

    let mut run = Watched::start(&sandbox, &["run", "sweep.toml", "--slots", "1"]);
    run.read_until("sweep was paused, and goes on");
    run.read_until("resuming sweep");
    assert_eq!(json(&steer(&["priority", "sweep", "3", "--json"]))["priority"], 3);
    assert_eq!(json(&steer(&["cancel", "sweep", "--json"]))["state"], "cancelled");
    assert_eq!(run.end(), Some(0));
}

/// Whoever says it again finishes it: nothing says that there is nothing to do, or that there is no such
/// experiment.
#[test]
fn a_killed_removal_is_finished_by_saying_it_again() {
    for (command, done) in [("delete", "deleted"), ("prune", "pruned")] {
        let begun = "SELECT coalesce(sum(games_done), -1) FROM removals";
        // On a busy machine the kill may come after the end.
        let killed = (0..5).find_map(|_| {
            let sandbox = played(3_000);
            let full = std::fs::metadata(sandbox.path("sweep.db")).unwrap().len();
            let mut process = sandbox.start(&[command, "sweep", "--db", "sweep.db", "--yes"]);
            let games_done = || sandbox.sql("sweep.db", begun).parse::<i64>().unwrap();
            wait_until("it has begun", || {
                games_done() > 0 || process.0.try_wait().unwrap().is_some()
            });
            process.kill();
            (games_done() > 0).then_some((sandbox, full))
        });
        let (sandbox, full) = killed.unwrap();
        let dry = sandbox.run(&[command, "sweep", "--db", "sweep.db", "--dry-run"]);
        dry.expect_exit(0);
        assert!(dry.stdout().contains("sweep was begun before"), "{}", dry.stdout());
        let again = sandbox.run(&[command, "sweep", "--db", "sweep.db"]);
        again.expect_exit(0);
        let said = format!("{done} sweep: this was begun before, and interrupted after");
        assert!(again.stdout().starts_with(&said), "{}", again.stdout());
        assert_eq!(sandbox.sql("sweep.db", "SELECT count(*) FROM moves"), "0");
        assert_eq!(sandbox.sql("sweep.db", begun), "-1");
        let left = std::fs::metadata(sandbox.path("sweep.db")).unwrap().len();
        assert!(left < full * 9 / 10, "{full} {left}");
    }
}

/// Games that take longer than they may fail; they are played again when somebody says so, or by another
/// game_timeout, and nothing is left of the failures then.
#[test]
fn failed_games_are_played_again() {
    let sandbox = Sandbox::new();
    let sweep = "name = \"slow\"
game = \"tic-tac-toe\"
games = 4
game_timeout = \"1ms\"

[players.random]
algorithm = \"random\"

[players.minimax]
algorithm = \"minimax\"
depth = 9
";
    sandbox.write("slow.toml", sweep);
    let run = |more: &[&str]| sandbox.run(&[&["run", "slow.toml"], more].concat());
    let failed = "SELECT count(*) || ' ' || min(game_id) FROM games WHERE failure IS NOT NULL";
    run(&[]).expect_exit(7);
    assert_eq!(sandbox.sql("slow.db", failed), "4 1");

    let retry = sandbox.run(&["retry", "slow", "--db", "slow.db"]);
    retry.expect_exit(0);
    assert_eq!(retry.stdout(), "4 failed games of slow will be replayed\n");
    let state = "SELECT state || ' ' || (SELECT count(*) FROM games) FROM experiments";
    assert_eq!(sandbox.sql("slow.db", state), "running 0");
    sandbox.run(&["check", "--db", "slow.db"]).expect_exit(0);
    run(&[]).expect_exit(7);
    assert_eq!(sandbox.sql("slow.db", failed), "4 5", "ids do not come again");

    // The same while a coordinator has it, and with an experiment that goes on.
    let coordinator = sandbox.coordinator_with("slow.db", "127.0.0.1:0", "200ms");
    let url = coordinator.url.as_str();
    let submit = |more: &[&str]| {
        let ran = sandbox.run(&[&["submit", "slow.toml", "--coordinator", url], more].concat());
        ran.expect_exit(0);
        format!("{}{}", ran.stdout(), ran.stderr())
    };
    submit(&["--set", "games=8"]);
    let mut worker = sandbox.worker(url, "1", &["--exit-when-done"]);
    assert_eq!(worker.wait().code(), Some(0));
    assert_eq!(sandbox.sql("slow.db", failed), "8 5");
    let retry = sandbox.run(&["retry", "slow", "--coordinator", url, "--json"]);
    assert_eq!(json(&retry)["games_failed"], 0);
    let nothing = sandbox.run(&["retry", "slow", "--coordinator", url]);
    assert_eq!(nothing.stdout(), "slow has no failed games\n");
    let mut worker = sandbox.worker(url, "1", &["--exit-when-done"]);
    assert_eq!(worker.wait().code(), Some(0));
    assert!(sandbox.sql("slow.db", failed).starts_with("8 "));
    let said = submit(&["--set", "games=8", "--set", "game_timeout=1h"]);
    assert!(said.contains("again     games that failed"), "{said}");
    let mut worker = sandbox.worker(url, "1", &["--exit-when-done"]);
    assert_eq!(worker.wait().code(), Some(0));
    drop(coordinator);
    let played = "SELECT count(*) || ' ' || sum(counted) FROM games";
    assert_eq!(sandbox.sql("slow.db", played), "8 8");
    assert_eq!(sandbox.sql("slow.db", "SELECT count(*) FROM attempts"), "0");
    sandbox.run(&["check", "--db", "slow.db"]).expect_exit(0);

    sandbox.run(&["retry", "nobody", "--db", "slow.db"]).expect_exit(3);
}

#[test]
fn status_of_a_file_says_what_needs_somebody() {
    let sandbox = played(40);
    let status = sandbox.run(&["status", "--db", "sweep.db"]);
    status.expect_exit(0);
    insta::assert_snapshot!("status_of_a_file", status.stdout());

    sandbox.write("more.toml", &tic_tac_toe("more", 40));
    let coordinator = sandbox.coordinator("sweep.db", "127.0.0.1:0");
    let url = ["--coordinator", &coordinator.url];
    sandbox.run(&[&["submit", "more.toml"], &url[..]].concat()).expect_exit(0);
    let status = sandbox.run(&[&["status"], &url[..]].concat());
    status.expect_exit(0);
    let (heading, rest) = status.stdout().split_once('\n').unwrap();
    assert!(
        heading.starts_with("coordinator ") && heading.ends_with("start number 2"),
        "{heading}"
    );
    insta::assert_snapshot!("status_of_a_coordinator", rest);

    sandbox.run(&[&["pause", "more"], &url[..]].concat()).expect_exit(0);
    let status = sandbox.run(&["status", "more", "--db", "sweep.db"]);
    status.expect_exit(0);
    insta::assert_snapshot!("status_of_a_paused_experiment", status.stdout());
    let status = json(&sandbox.run(&["status", "more", "--db", "sweep.db", "--json"]));
    assert_eq!(status["workers"], serde_json::Value::Null);
    assert_eq!(
        status["attention"],
        serde_json::json!([{
            "kind": "paused",
            "experiment": "more",
            "count": 80,
            "problem": "it is paused, with 80 games to play",
            "remedy": "resume it: spelrum resume more",
        }])
    );
    let unknown = sandbox.run(&["status", "nothing", "--db", "sweep.db"]);
    unknown.expect_exit(3);
    insta::assert_snapshot!("status_of_nothing", unknown.failure());
}
