//! `spelrum check`: a database that is whole says so, one that is not does not.

use std::fs;

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
    file: whole, every page and every reference
    sums: those of the 80 settled games
    ");
    let json = sandbox.run(&["check", "--db", "small.db", "--json"]);
    let json: Value = serde_json::from_str(json.expect_exit(0).stdout()).unwrap();
    assert_eq!(json["games"], 80);
    assert_eq!(json["damage"], Value::Array(Vec::new()));
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
    assert!(ran.stdout().contains(".recover"), "{}", ran.stdout());
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
