//! `table`: what it counts, what it keeps, and what it does with what it kept.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox};

/// Its arguments with a cache in the sandbox.
fn run(sandbox: &Sandbox, name: &str, more: &[&str]) -> Ran {
    sandbox.run(&[&["table", name, "--cache", "kept"], more].concat())
}

fn json(ran: &Ran) -> Value {
    ran.expect_exit(0);
    serde_json::from_str(ran.stdout()).unwrap()
}

/// The file names of a directory.
fn names(sandbox: &Sandbox, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(sandbox.path(directory)).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_a_person_reads() {
    let sandbox = Sandbox::new();
    for name in ["KRK", "KK", "KKR"] {
        let ran = run(&sandbox, name, &[]);
        ran.expect_exit(0);
        assert_eq!(ran.stderr(), "");
        insta::assert_snapshot!(ran.stdout());
    }
}

#[test]
fn its_json_has_the_counts_of_the_reference_data() {
    let sandbox = Sandbox::new();
    let ran = run(&sandbox, "krk", &["--json"]);
    assert_eq!(ran.stderr(), "");
    insta::assert_snapshot!(ran.stdout());
    let counts = json(&ran);
    assert_eq!(counts["sides"][0]["legal"], 175_168);
    assert_eq!(counts["sides"][1]["losses"], 201_700);
}

#[test]
fn a_table_is_made_once_and_then_read() {
    let sandbox = Sandbox::new();
    let first = json(&run(&sandbox, "KQK", &["--json"]));
    let second = json(&run(&sandbox, "kqk", &["--json"]));
    assert_eq!((&first["origin"], &second["origin"]), (&"made".into(), &"read".into()));
    assert_eq!(first["sides"], second["sides"]);
    assert_eq!(first["sha256"], second["sha256"]);
    assert_eq!(first["file"], "kept/KQK.table");
    assert_eq!(names(&sandbox, "kept"), ["KQK.table"]);
    let none = json(&sandbox.run(&["table", "KQK", "--no-cache", "--json"]));
    assert_eq!((&none["origin"], &none["file"]), (&"made".into(), &Value::Null));
    assert_eq!(none["sides"], first["sides"]);
}

#[test]
fn tables_are_kept_in_the_user_s_cache() {
    let sandbox = Sandbox::new();
    sandbox.run(&["table", "KBK"]).expect_exit(0);
    assert_eq!(names(&sandbox, ".cache/spelrum"), ["KBK.table"]);
    let mut elsewhere = sandbox.spelrum(&["table", "KNK"]);
    let ran = Ran(elsewhere.env("XDG_CACHE_HOME", sandbox.path("xdg")).output().unwrap());
    ran.expect_exit(0);
    assert_eq!(names(&sandbox, "xdg/spelrum"), ["KNK.table"]);
}

/// Cut off, changed by a bit, of another endgame, empty, something else: it is told of once, made again,
/// and whole from then on.
#[test]
fn a_damaged_table_is_told_of_and_made_again() {
    let sandbox = Sandbox::new();
    let good = json(&run(&sandbox, "KRK", &["--json"]));
    run(&sandbox, "KQK", &[]).expect_exit(0);
    let path = sandbox.path("kept/KRK.table");
    let bytes = fs::read(&path).unwrap();
    let other = fs::read(sandbox.path("kept/KQK.table")).unwrap();
    let mut changed = bytes.clone();
    changed[10_000] ^= 1;
    for damaged in [&bytes[..20_000], &changed, &other, &[], b"not a table"] {
        fs::write(&path, damaged).unwrap();
        let ran = run(&sandbox, "KRK", &["--json"]);
        let again = json(&ran);
        insta::assert_snapshot!(ran.stderr());
        assert_eq!((&again["origin"], &again["sha256"]), (&"made".into(), &good["sha256"]));
        assert_eq!(fs::read(&path).unwrap(), bytes);
        let read = run(&sandbox, "KRK", &["--json"]);
        assert_eq!((&json(&read)["origin"], read.stderr()), (&"read".into(), ""));
    }
    assert_eq!(names(&sandbox, "kept"), ["KQK.table", "KRK.table"]);
}

#[test]
fn a_cache_that_cannot_be_written_costs_only_its_keeping() {
    let sandbox = Sandbox::new();
    sandbox.write("kept", "a file");
    let ran = run(&sandbox, "KQK", &["--json"]);
    insta::assert_snapshot!(ran.stderr());
    let counts = json(&ran);
    assert_eq!((&counts["origin"], &counts["file"]), (&"made".into(), &Value::Null));
    // In the place of the file is something that is not one.
    fs::create_dir_all(sandbox.path("other/KQK.table")).unwrap();
    let ran = sandbox.run(&["table", "KQK", "--cache", "other", "--json"]);
    insta::assert_snapshot!(ran.stderr());
    assert_eq!(json(&ran)["sides"], counts["sides"]);
    assert_eq!(names(&sandbox, "other"), ["KQK.table"]);
}

/// Whoever may do anything reads it all the same.
#[test]
fn a_table_that_may_not_be_read_is_made_again() {
    let sandbox = Sandbox::new();
    let good = json(&run(&sandbox, "KQK", &["--json"]));
    let path = sandbox.path("kept/KQK.table");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let again = json(&run(&sandbox, "KQK", &["--json"]));
    assert_eq!(again["sides"], good["sides"]);
}

#[test]
fn what_is_not_an_endgame() {
    let sandbox = Sandbox::new();
    for name in ["KPPPK", "KRBNK", "KRX", "RK", "", "../KRK"] {
        let ran = run(&sandbox, name, &[]);
        ran.expect_exit(3);
        insta::assert_snapshot!(ran.failure());
    }
    sandbox.run(&["table"]).expect_exit(2);
    run(&sandbox, "KRK", &["--no-cache"]).expect_exit(2);
    assert!(!sandbox.path("kept").exists());
}
