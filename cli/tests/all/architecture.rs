//! Dependencies point one way, and the pure crates stay pure.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use spelrum_test_support::{Files, circles};

/// Which of the project's crates each one may depend on.
const MAY_DEPEND_ON: [(&str, &[&str]); 8] = [
    ("spelrum-engine", &[]),
    ("spelrum-tournament", &["spelrum-engine"]),
    ("spelrum-proto", &["spelrum-engine", "spelrum-tournament"]),
    ("spelrum-coordinator", &["spelrum-engine", "spelrum-tournament", "spelrum-proto"]),
    ("spelrum-external", &[]),
    (
        "spelrum-worker",
        &["spelrum-engine", "spelrum-tournament", "spelrum-proto", "spelrum-external"],
    ),
    (
        "spelrum",
        &[
            "spelrum-engine",
            "spelrum-tournament",
            "spelrum-proto",
            "spelrum-coordinator",
            "spelrum-external",
            "spelrum-worker",
        ],
    ),
    // For tests only: no other crate has it here.
    ("spelrum-test-support", &[]),
];

/// Every crate that a crate of ours is built from, itself left out.
fn tree(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "normal", "--prefix", "none"])
        .args(["--format", "{lib}", "--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let own = package.replace('-', "_");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(ToOwned::to_owned)
        .filter(|name| *name != own)
        .collect()
}

#[test]
fn dependencies_point_one_way() {
    let ours: BTreeMap<_, _> = MAY_DEPEND_ON.into_iter().collect();
    for (package, allowed) in &ours {
        let tree = tree(package);
        for other in ours.keys() {
            let found = tree.contains(&other.replace('-', "_"));
            assert!(
                !found || allowed.contains(other),
                "{package} depends on {other}, which it must not know"
            );
        }
    }
}

/// What only tests may order is not in what is released.
#[test]
fn the_released_program_has_no_faults_to_order() {
    let features = |package, edges| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--locked", "--edges", edges, "--prefix", "none"])
            .args(["--format", "{lib} {f}", "--package", package])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let tree = String::from_utf8(output.stdout).unwrap();
        let coordinator = tree.lines().find(|line| line.starts_with("spelrum_coordinator"));
        coordinator.expect("it is built from the coordinator").to_owned()
    };
    assert!(features("spelrum-worker", "normal,dev").contains("faults"), "its tests order some");
    assert!(features("spelrum", "normal,dev").contains("faults"), "and so do its own");
    assert!(!features("spelrum", "normal").contains("faults"));
}

#[test]
fn the_pure_crates_know_no_runtime_no_database_and_no_wire() {
    for package in ["spelrum-engine", "spelrum-tournament"] {
        let tree = tree(package);
        assert!(tree.contains("serde"), "cargo tree of {package} was not understood: {tree:?}");
        for impure in
            ["tokio", "sqlx", "sqlx_core", "rusqlite", "libsqlite3_sys", "prost", "tonic", "rand"]
        {
            assert!(!tree.contains(impure), "{package} depends on {impure}");
        }
    }
}

#[test]
fn only_the_coordinator_knows_sqlite() {
    for package in ["spelrum-proto", "spelrum-worker"] {
        let tree = tree(package);
        assert!(tree.contains("tonic"), "cargo tree of {package} was not understood: {tree:?}");
        for name in ["sqlx", "sqlx_core", "rusqlite", "libsqlite3_sys"] {
            assert!(!tree.contains(name), "{package} depends on {name}");
        }
    }
}

/// Every file uses only what lies below it: who reads one need not have read all. A folder's own file
/// hands on what the others have, and does not count.
#[test]
fn no_files_of_the_runner_use_each_other() {
    for folder in ["cli/src", "coordinator/src", "worker/src", "external/src", "proto/src"] {
        let files = Files::read(&crate::sandbox::root().join(folder), |_| None);
        let hands_on = |file: &str| {
            let name = file.rsplit('/').next();
            matches!(name, Some("mod.rs" | "lib.rs" | "main.rs"))
        };
        let mut imports = files.imports();
        imports.retain(|file, _| !hands_on(file));
        imports.values_mut().for_each(|used| used.retain(|file| !hands_on(file)));
        assert!(imports.values().any(|used| !used.is_empty()), "{folder} was not understood");
        assert_eq!(circles(&imports), [], "{folder}");
    }
}
