//! Dependencies point one way, and the pure crates stay pure.

use std::collections::BTreeSet;
use std::process::Command;

use spelrum_test_support::{Files, cycles};

/// The project's crates, and those that each names in its manifest.
const DEPENDENCIES: [(&str, &[&str]); 20] = [
    ("names", &[]),
    ("engine", &["names"]),
    ("statistics", &["names"]),
    ("toml", &[]),
    ("programs", &[]),
    ("syzygy", &[]),
    ("external", &["programs", "toml"]),
    ("optimize", &["engine", "names", "statistics"]),
    ("model", &["engine", "names", "optimize", "statistics"]),
    ("sweep", &["engine", "model", "optimize", "statistics", "toml"]),
    ("scheduling", &["engine", "model", "optimize", "statistics"]),
    ("answers", &["engine", "model", "names", "optimize", "statistics"]),
    ("proto", &["answers", "engine", "model", "names"]),
    ("report", &["answers", "engine", "model", "statistics"]),
    ("store", &["answers", "engine", "model", "names", "scheduling", "statistics", "sweep"]),
    ("journal", &["store"]),
    (
        "coordinator",
        &[
            "answers",
            "engine",
            "model",
            "names",
            "programs",
            "proto",
            "report",
            "scheduling",
            "store",
            "sweep",
            "toml",
        ],
    ),
    (
        "worker",
        &["answers", "engine", "external", "model", "programs", "proto", "scheduling", "syzygy"],
    ),
    (
        "tools",
        &[
            "answers",
            "engine",
            "journal",
            "model",
            "names",
            "proto",
            "report",
            "scheduling",
            "store",
        ],
    ),
    // For tests only: no other crate has it here.
    ("test-support", &[]),
];

/// Every crate that a crate of ours is built from, itself left out.
fn tree(package: &str) -> BTreeSet<String> {
    built_from(package, "normal", &[])
}

/// The crates that a crate's manifest names, or with no depth given all that it is built from.
fn built_from(package: &str, edges: &str, depth: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", edges, "--prefix", "none"])
        .args(["--format", "{lib}", "--package", package])
        .args(depth)
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
    for (package, listed) in DEPENDENCIES {
        let direct = built_from(&format!("spelrum-{package}"), "normal", &["--depth", "1"]);
        let ours: Vec<_> = direct.iter().filter_map(|name| name.strip_prefix("spelrum_")).collect();
        assert_eq!(ours, listed, "the crates that {package} depends on");
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
const SOURCES: [(&str, &[(&str, &str)]); 19] = [
    ("crates/engine/src", &[("with_game", "catalogue.rs"), ("evaluations", "games/game.rs")]),
    ("crates/statistics/src", &[]),
    ("crates/optimize/src", &[]),
    ("crates/model/src", &[]),
    ("crates/toml/src", &[]),
    ("crates/syzygy/src", &[]),
    ("crates/sweep/src", &[]),
    ("crates/scheduling/src", &[]),
    ("crates/answers/src", &[]),
    ("proto/src", &[]),
    ("crates/external/src", &[]),
    ("crates/store/src", &[]),
    ("crates/journal/src", &[]),
    ("crates/report/src", &[]),
    ("coordinator/src", &[]),
    ("worker/src", &[]),
    ("cli/src", &[]),
    ("tools/src/bin/load-test", &[]),
    ("crates/test-support/src", &[]),
];

/// Modules that are written in several files, which use each other.
const MODULES_IN_PARTS: [(&str, &[&str]); 1] = [
    // The last ply of a search evaluates all moves at once: for two evaluations, by what they know of lines.
    ("crates/engine/src/games/pentago/evaluation", &["last_ply.rs", "lines.rs", "runs.rs"]),
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
        let mut cycles = cycles(&imports);
        cycles.retain(|pair| !is_in_parts(folder, pair));
        assert_eq!(cycles, [], "{folder}");
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
