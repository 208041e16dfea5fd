//! House rules that neither the compiler nor clippy keeps.

use std::path::{Path, PathBuf};

/// A file has one subject: what is longer has two, or says here why not.
const LINES_MAX: usize = 700;

/// Words that say that something is unfinished; written apart, so as not to find themselves.
const UNFINISHED: [&str; 6] = [
    concat!("to", "do!"),
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("unimplemented", "!"),
    concat!("sca", "ffold"),
];

/// Every file of ours with one of these endings.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut directories = vec![crate::sandbox::root().to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", ".git", ".sqlx", "vectors", "fuzz"].contains(&name.as_str()) {
                    directories.push(path);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    assert!(!found.is_empty(), "the project has files ending in {endings:?}");
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(crate::sandbox::root()).unwrap().display().to_string()
}

/// The places where a line breaks a rule.
fn offences(endings: &[&str], broken: impl Fn(&str) -> bool) -> Vec<String> {
    let mut offences = Vec::new();
    for path in files(endings) {
        let text = std::fs::read_to_string(&path).unwrap();
        for (index, line) in text.lines().enumerate() {
            if broken(line) {
                offences.push(format!("{}:{}: {line}", relative(&path), index + 1));
            }
        }
    }
    offences
}

#[test]
fn files_have_one_subject() {
    let long: Vec<_> = files(&[".rs"])
        .into_iter()
        .map(|path| (std::fs::read_to_string(&path).unwrap().lines().count(), relative(&path)))
        .filter(|(lines, _)| *lines > LINES_MAX)
        .collect();
    assert!(long.is_empty(), "longer than {LINES_MAX} lines: {long:?}");
}

#[test]
fn every_module_says_what_it_is_for() {
    let silent: Vec<_> = files(&[".rs"])
        .into_iter()
        // Tests beside a module have its subject.
        .filter(|path| path.file_name().unwrap() != "tests.rs")
        .filter(|path| !std::fs::read_to_string(path).unwrap().starts_with("//!"))
        .map(|path| relative(&path))
        .collect();
    assert!(silent.is_empty(), "no `//!` in the first line of {silent:?}");
}

#[test]
fn nothing_is_left_unfinished() {
    let found = offences(&[".rs", ".toml", ".proto", ".sql"], |line| {
        UNFINISHED.iter().any(|word| line.contains(word))
    });
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn tests_neither_sleep_nor_are_skipped() {
    let words = [concat!("thread::", "sleep"), concat!("#[", "ignore")];
    let found = offences(&[".rs"], |line| words.iter().any(|word| line.contains(word)));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn lints_are_expected_with_a_reason_not_allowed() {
    let found = offences(&[".rs"], |line| line.trim_start().starts_with(concat!("#[", "allow(")));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn only_the_store_knows_sql() {
    // The store, its tests and benches, and what checks its queries.
    let may = ["coordinator/src/store", "coordinator/tests", "coordinator/benches", ".ci/"];
    let found = offences(&[".rs"], |line| line.contains(concat!("sql", "x::")));
    let found: Vec<_> =
        found.into_iter().filter(|place| !may.iter().any(|path| place.starts_with(path))).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn lines_of_text_end_without_spaces() {
    let found = offences(&[".rs", ".toml", ".proto", ".sql"], |line| line.ends_with([' ', '\t']));
    assert!(found.is_empty(), "{found:#?}");
}
