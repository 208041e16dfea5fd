//! Dependencies point one way, and the pure crates stay pure.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use spelrum_test_support::{Files, circles};

/// Which of the project's crates each one may depend on.
const MAY_DEPEND_ON: [(&str, &[&str]); 16] = [
    ("spelrum-engine", &[]),
    ("spelrum-statistics", &[]),
    ("spelrum-optimize", &["spelrum-engine", "spelrum-statistics"]),
    ("spelrum-model", &["spelrum-engine", "spelrum-statistics", "spelrum-optimize"]),
    (
        "spelrum-sweep",
        &["spelrum-engine", "spelrum-statistics", "spelrum-optimize", "spelrum-model"],
    ),
    (
        "spelrum-scheduling",
        &["spelrum-engine", "spelrum-statistics", "spelrum-optimize", "spelrum-model"],
    ),
    (
        "spelrum-answers",
        &["spelrum-engine", "spelrum-statistics", "spelrum-optimize", "spelrum-model"],
    ),
    (
        "spelrum-tournament",
        &[
            "spelrum-engine",
            "spelrum-statistics",
            "spelrum-optimize",
            "spelrum-model",
            "spelrum-sweep",
            "spelrum-scheduling",
            "spelrum-answers",
        ],
    ),
    (
        "spelrum-proto",
        &[
            "spelrum-engine",
            "spelrum-statistics",
            "spelrum-optimize",
            "spelrum-model",
            "spelrum-sweep",
            "spelrum-scheduling",
            "spelrum-answers",
            "spelrum-tournament",
        ],
    ),
    ("spelrum-store", &["spelrum-engine", "spelrum-statistics", "spelrum-optimize", "spelrum-model", "spelrum-sweep", "spelrum-scheduling", "spelrum-answers", "spelrum-tournament"]),
    (
        "spelrum-coordinator",
        &[
            "spelrum-engine",
            "spelrum-statistics",
            "spelrum-optimize",
            "spelrum-model",
            "spelrum-sweep",
            "spelrum-scheduling",
            "spelrum-answers",
            "spelrum-tournament",
            "spelrum-proto",
            "spelrum-store",
        ],
    ),
    ("spelrum-external", &[]),
    ("spelrum-report", &["spelrum-engine", "spelrum-statistics", "spelrum-optimize", "spelrum-model", "spelrum-sweep", "spelrum-scheduling", "spelrum-answers", "spelrum-tournament"]),
    (
        "spelrum-worker",
        &[
            "spelrum-engine",
            "spelrum-statistics",
            "spelrum-optimize",
            "spelrum-model",
            "spelrum-sweep",
            "spelrum-scheduling",
            "spelrum-answers",
            "spelrum-tournament",
            "spelrum-proto",
            "spelrum-external",
        ],
    ),
    (
        "spelrum",
        &[
            "spelrum-engine",
            "spelrum-statistics",
            "spelrum-optimize",
            "spelrum-model",
            "spelrum-sweep",
            "spelrum-scheduling",
            "spelrum-answers",
            "spelrum-tournament",
            "spelrum-proto",
            "spelrum-store",
            "spelrum-coordinator",
            "spelrum-external",
            "spelrum-report",
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
        ["spelrum_coordinator ", "spelrum_store "].map(|name| {
            let line = tree.lines().find(|line| line.starts_with(name));
            line.unwrap_or_else(|| panic!("{package} is not built from {name}")).contains("faults")
        })
    };
    assert_eq!(features("spelrum-worker", "normal,dev"), [true; 2], "its tests order some");
    assert_eq!(features("spelrum", "normal,dev"), [true; 2], "and so do its own");
    assert_eq!(features("spelrum", "normal"), [false; 2]);
}

#[test]
fn the_pure_crates_know_no_runtime_no_database_and_no_wire() {
    for package in [
        "spelrum-engine",
        "spelrum-statistics",
        "spelrum-optimize",
        "spelrum-model",
        "spelrum-sweep",
        "spelrum-scheduling",
        "spelrum-answers",
        "spelrum-tournament",
    ] {
        let tree = tree(package);
        assert!(tree.contains("serde"), "cargo tree of {package} was not understood: {tree:?}");
        for impure in
            ["tokio", "sqlx", "sqlx_core", "rusqlite", "libsqlite3_sys", "prost", "tonic", "rand"]
        {
            assert!(!tree.contains(impure), "{package} depends on {impure}");
        }
    }
}

/// Reports are written for whoever has the answers, wherever they come from.
#[test]
fn reports_are_independent_of_runtime_database_and_wire() {
    let tree = tree("spelrum-report");
    assert!(tree.contains("serde"), "cargo tree was not understood: {tree:?}");
    for other in ["tokio", "sqlx", "sqlx_core", "rusqlite", "libsqlite3_sys", "prost", "tonic"] {
        assert!(!tree.contains(other), "spelrum-report depends on {other}");
    }
}

#[test]
fn only_the_store_and_what_uses_it_know_sqlite() {
    for package in ["spelrum-proto", "spelrum-worker"] {
        let tree = tree(package);
        assert!(tree.contains("tonic"), "cargo tree of {package} was not understood: {tree:?}");
        for name in ["sqlx", "sqlx_core", "rusqlite", "libsqlite3_sys"] {
            assert!(!tree.contains(name), "{package} depends on {name}");
        }
    }
}

/// Where the crates' files are, with the files of the macros that a crate exports.
const SOURCES: [(&str, &[(&str, &str)]); 15] = [
    ("engine/src", &[("with_game", "catalogue.rs"), ("evaluations", "games/game.rs")]),
    ("crates/statistics/src", &[]),
    ("crates/optimize/src", &[]),
    ("crates/model/src", &[]),
    ("crates/sweep/src", &[]),
    ("crates/scheduling/src", &[]),
    ("crates/answers/src", &[]),
    ("proto/src", &[]),
    ("external/src", &[]),
    ("crates/store/src", &[]),
    ("crates/report/src", &[]),
    ("coordinator/src", &[]),
    ("worker/src", &[]),
    ("cli/src", &[]),
    ("test-support/src", &[]),
];

/// Modules that are written in several files, which use each other.
const MODULES_IN_PARTS: [(&str, &[&str]); 1] = [
    // The last ply of a search evaluates all moves at once: for two evaluations, by what they know of lines.
    ("engine/src/games/pentago/evaluation", &["last_ply.rs", "lines.rs", "runs.rs"]),
];

fn is_in_parts(folder: &str, pair: &(String, String)) -> bool {
    let (one, other) = pair;
    MODULES_IN_PARTS.iter().any(|(module, parts)| {
        let part = |file: &String| {
            let path = format!("{folder}/{file}");
            path.strip_prefix(module).is_some_and(|rest| parts.contains(&rest.trim_matches('/')))
        };
        part(one) && part(other)
    })
}

/// Every file uses only what lies below it: to read one file, a reader need not have read all.
#[test]
fn no_files_use_each_other() {
    for (folder, macros) in SOURCES {
        let imports = Files::read(&crate::sandbox::root().join(folder), macros).imports();
        assert!(imports.values().any(|used| !used.is_empty()), "{folder} was not understood");
        let mut circles = circles(&imports);
        circles.retain(|pair| !is_in_parts(folder, pair));
        assert_eq!(circles, [], "{folder}");
    }
}

/// The test above sees imports in all their forms.
#[test]
fn imports_are_found_whatever_their_form() {
    let imports = |folder: &str| Files::read(&crate::sandbox::root().join(folder), &[]).imports();
    for (folder, file, import) in [
        // Handed on by the crate's root; from a sibling; from a folder's own file.
        ("crates/statistics/src", "choice.rs", "counts.rs"),
        ("crates/model/src", "course/planned.rs", "course/note.rs"),
        ("crates/model/src", "claims/restate.rs", "claims/mod.rs"),
    ] {
        let imports = imports(folder);
        assert!(imports[file].contains(import), "{file}: {:?}", imports[file]);
    }
}
