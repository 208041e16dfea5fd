//! Every dependency is from crates.io, and under a licence that asks for no more than to be named.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseItem, ParseMode};

/// Licences that let anybody do anything with a program, as long as the licence goes with it.
const PERMISSIVE: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

const REMEDY: &str = "use another crate, or decide that this is well and change PERMISSIVE here";

/// Whether a package may be used under the licences that are listed here alone: why not, if not.
fn licence_problem(licence: Option<&str>) -> Option<String> {
    let Some(licence) = licence else { return Some("it names no licence".to_owned()) };
    // Older packages write "MIT/Apache-2.0".
    let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("its licence cannot be read: {error}")),
    };
    let is_permissive = expression.evaluate(|asked| match (&asked.license, &asked.addition) {
        (LicenseItem::Spdx { id, .. }, None) => PERMISSIVE.contains(&id.name),
        // Exceptions, and licences that somebody wrote alone.
        (LicenseItem::Spdx { .. }, Some(_)) | (LicenseItem::Other(_), _) => false,
    });
    (!is_permissive).then(|| format!("its licence is {licence}"))
}

/// What cargo says of every package that is built here; of those for other systems also, if
/// `SPELRUM_ALL_PLATFORMS` is set and `cargo fetch` has fetched them.
fn packages() -> Vec<Value> {
    let cargo = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let mut arguments = vec!["metadata", "--format-version", "1", "--locked", "--offline"];
    let version = cargo(&["--version", "--verbose"]);
    if std::env::var_os("SPELRUM_ALL_PLATFORMS").is_none() {
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        arguments.extend(["--filter-platform", host]);
    }
    let metadata: Value = serde_json::from_str(&cargo(&arguments)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn named(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    format!("{} {}", text("name"), text("version"))
}

#[test]
fn every_dependency_may_be_used_by_anybody() {
    let packages = packages();
    assert!(packages.len() > 100, "cargo metadata was not understood");
    let refused: Vec<_> = packages
        .iter()
        .filter_map(|package| {
            let problem = licence_problem(package["license"].as_str())?;
            Some(format!("{}: {problem}", named(package)))
        })
        .collect();
    assert!(refused.is_empty(), "{REMEDY}: {refused:#?}");
}

/// Also those for other systems, which are not fetched here: the lock file names them all.
#[test]
fn every_dependency_is_from_crates_io_or_from_here() {
    let lock = std::fs::read_to_string(crate::sandbox::root().join("Cargo.lock")).unwrap();
    let lock: toml::Table = toml::from_str(&lock).unwrap();
    let ours: BTreeSet<_> = packages()
        .iter()
        .filter(|package| package["source"].is_null())
        .map(|package| package["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(ours.contains("spelrum") && ours.len() < 20, "{ours:?}");
    let locked = lock["package"].as_array().unwrap();
    assert!(locked.len() > 100, "Cargo.lock was not understood");
    let strangers: Vec<_> =
        locked.iter().filter_map(|package| source_problem(package, &ours)).collect();
    assert!(strangers.is_empty(), "{strangers:#?}");
}

/// Why a package of the lock file is not one of crates.io or of ours, if it is not.
fn source_problem(package: &toml::Value, ours: &BTreeSet<String>) -> Option<String> {
    let text = |key: &str| package.get(key).and_then(toml::Value::as_str);
    let name = text("name").unwrap_or_default();
    match (text("source"), text("checksum")) {
        (Some(CRATES_IO), Some(_)) => None,
        (Some(CRATES_IO), None) => Some(format!("{name} has no checksum")),
        (Some(source), _) => Some(format!("{name} is from {source}")),
        (None, _) if ours.contains(name) => None,
        (None, _) => Some(format!("{name} is from this machine, but not of this project")),
    }
}

#[test]
fn licences_are_told_apart() {
    for good in [
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0-only OR MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR MIT",
    ] {
        assert_eq!(licence_problem(Some(good)), None, "{good}");
    }
    for bad in ["GPL-3.0-only", "MIT AND LGPL-2.1-only", "MPL-2.0", "LicenseRef-Own", "Mine"] {
        assert!(licence_problem(Some(bad)).is_some(), "{bad}");
    }
    assert!(licence_problem(None).is_some(), "a licence file alone says nothing");
}

#[test]
fn sources_are_told_apart() {
    let ours = BTreeSet::from(["spelrum".to_owned()]);
    let problem =
        |package: &str| source_problem(&package.parse::<toml::Table>().unwrap().into(), &ours);
    assert_eq!(problem("name = \"spelrum\""), None);
    let registry = format!("name = \"a\"\nsource = \"{CRATES_IO}\"");
    assert_eq!(problem(&format!("{registry}\nchecksum = \"00\"")), None);
    assert!(problem(&registry).is_some());
    assert!(problem("name = \"a\"").is_some());
    assert!(
        problem("name = \"a\"\nsource = \"git+https://example.org/a\"\nchecksum = \"00\"")
            .is_some()
    );
    assert!(
        problem("name = \"a\"\nsource = \"registry+https://example.org\"\nchecksum = \"00\"")
            .is_some()
    );
}
