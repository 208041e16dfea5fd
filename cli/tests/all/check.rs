//! `spelrum check`: a database that is whole says so, one that is not does not.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::sandbox::{Sandbox, tic_tac_toe};

fn played() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", &tic_tac_toe("small", 40));
    sandbox.run(&["run", "sweep.toml", "--db", "small.db"]).expect_exit(0);
    sandbox
}

#[test]
fn what_was_played_is_whole() {
    let sandbox = played();
    let before = fs::read(sandbox.path("small.db")).unwrap();
    let ran = sandbox.run(&["check", "--db", "small.db"]);
    ran.expect_exit(0);
    insta::assert_snapshot!(ran.stdout(), @r"
    file: intact, every page and every reference
    rows: 80 games match their digests; so do the 48 other tables
    rules: 80 games refereed, all valid
    sums: match the 80 settled games
    ");
    let json = sandbox.run(&["check", "--db", "small.db", "--deep", "--json"]);
    let json: Value = serde_json::from_str(json.expect_exit(0).stdout()).unwrap();
    assert_eq!(json["games"], 80);
    assert_eq!(json["games_refereed"], 80);
    assert_eq!(json["games_compared"], 80);
    assert_eq!(json["damage"], Value::Array(Vec::new()));
    assert_eq!(json["changed"], Value::Array(Vec::new()));
    assert_eq!(json["irregular"], Value::Array(Vec::new()));
    assert_eq!(json["differences"], Value::Array(Vec::new()));
    assert_eq!(fs::read(sandbox.path("small.db")).unwrap(), before, "it changes nothing");
}

#[test]
fn a_damaged_file_is_told() {
    let sandbox = played();
    let path = sandbox.path("small.db");
    let mut bytes = fs::read(&path).unwrap();
    // Pages in the middle: of 4096 bytes each.
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 8192].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let ran = sandbox.run(&["check", "--db", "small.db"]);
    ran.expect_exit(4);
    assert!(ran.stdout().starts_with("file: damaged\n  "), "{}", ran.stdout());
    assert!(ran.stdout().contains("sqlite3 FILE .dump"), "{}", ran.stdout());
    let json = sandbox.run(&["check", "--db", "small.db", "--json"]);
    let json: Value = serde_json::from_str(json.expect_exit(4).stdout()).unwrap();
    assert!(!json["damage"].as_array().unwrap().is_empty());
}

#[test]
fn what_is_not_there_is_not_made() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["check", "--db", "none.db"]);
    ran.expect_exit(4);
    assert!(!sandbox.path("none.db").exists());
}

/// A value that nothing else says anything of.
#[test]
fn a_changed_value_is_named() {
    let sandbox = played();
    let connection = rusqlite::Connection::open(sandbox.path("small.db")).unwrap();
    connection.execute("UPDATE moves SET score = 7 WHERE game_id = 5 AND ply = 2", []).unwrap();
    connection.execute("UPDATE workers SET host = 'another'", []).unwrap();
    connection.close().unwrap();
    let ran = sandbox.run(&["check", "--db", "small.db"]);
    ran.expect_exit(4);
    let said = ran.stdout();
    assert!(said.contains("rows: changed since they were written\n  workers: its rows"), "{said}");
    assert!(said.contains("\n  game 5 (number "), "{said}");
}

/// A record with the right digest that is no game.
#[test]
fn a_record_that_the_rules_do_not_allow_is_named() {
    let sandbox = played();
    let connection = rusqlite::Connection::open(sandbox.path("small.db")).unwrap();
    connection.execute_batch("DELETE FROM table_digests").unwrap();
    connection.execute("UPDATE moves SET move = 'z9' WHERE game_id = 5 AND ply = 2", []).unwrap();
    connection.close().unwrap();
    for deep in [&[][..], &["--deep"]] {
        let ran = sandbox.run(&[&["check", "--db", "small.db"], deep].concat());
        ran.expect_exit(4);
        assert!(ran.stdout().contains("refereed, and some are not valid\n  "), "{}", ran.stdout());
    }
}

/// What only reads leaves nothing beside a database that nobody has open, and also reads where nothing can be made.
#[test]
fn who_reads_leaves_nothing_behind() {
    let sandbox = played();
    let names = || -> BTreeSet<String> {
        let entries = fs::read_dir(sandbox.path("")).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    sandbox.run(&["backup", "copy.db", "--db", "small.db"]).expect_exit(0);
    let commands: [&[&str]; 9] = [
        &["check"],
        &["report", "small"],
        &["sql", "SELECT count(*) FROM games"],
        &["games", "small"],
        &["list"],
        &["status"],
        &["replay", "3"],
        &["verify", "small", "--games", "2"],
        &["export", "small", "--to", "exported.db"],
    ];
    for mode in [0o644, 0o444] {
        for db in ["small.db", "copy.db"] {
            fs::set_permissions(sandbox.path(db), fs::Permissions::from_mode(mode)).unwrap();
            for command in commands {
                let before = names();
                let _exit = sandbox.run(&[command, &["--db", db]].concat());
                let mut after = names();
                if !before.contains("exported.db") && after.remove("exported.db") {
                    fs::remove_file(sandbox.path("exported.db")).unwrap();
                }
                assert_eq!(after, before, "{command:?} of {db}");
            }
            sandbox.run(&["check", "--db", db]).expect_exit(0);
        }
    }
}
