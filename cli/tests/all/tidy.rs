//! House rules that neither the compiler nor clippy keeps.

use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{ImplItemFn, ItemFn, PatIdent, Signature};

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
                if !["target", ".git", ".sqlx", "generated", "vectors", "fuzz"]
                    .contains(&name.as_str())
                {
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

/// Files that go on without the program that they name, or name one that every system has.
const MAY_NAME_PROGRAMS: [&str; 3] =
    ["cli/build.rs", "cli/src/commands/allocate/slurm.rs", "cli/src/local/on_finish.rs"];

/// A test that names a program to start would fail where there is none: `Tools` asks for it beforehand.
#[test]
fn tests_ask_for_the_programs_that_they_use() {
    let mut found = offences(&[".rs"], |line| line.contains(concat!("Command::", "new(\"")));
    found.retain(|place| !MAY_NAME_PROGRAMS.iter().any(|file| place.starts_with(file)));
    assert!(found.is_empty(), "use spelrum_test_support::Tools: {found:#?}");
    // Only its own module knows where a skipped test is a failure, and how to report it.
    let mut found = offences(&[".rs"], |line| line.contains(concat!("SPELRUM_", "SKIP_NOTHING")));
    found.retain(|place| !place.starts_with("crates/test-support/src/tools.rs"));
    assert!(found.is_empty(), "use spelrum_test_support::skip: {found:#?}");
}

#[test]
fn lints_are_expected_with_a_reason_not_allowed() {
    let mut found =
        offences(&[".rs"], |line| line.trim_start().starts_with(concat!("#[", "allow(")));
    // What a derive writes cannot know what its user leaves unused.
    found.retain(|place| !place.starts_with("crates/names/src/lib.rs"));
    assert!(found.is_empty(), "{found:#?}");
}

/// Names that say nothing about what they hold: variables are nouns.
const NO_NAMES_OF_VARIABLES: [&str; 4] = ["it", "told", "that", "whatever"];

/// Names that say nothing about what a function does or returns.
const NO_NAMES_OF_FUNCTIONS: [&str; 3] = ["of", "told", "whole"];

/// The uses of such names in a file.
#[derive(Default)]
struct PoorNames(Vec<String>);

impl PoorNames {
    fn function(&mut self, signature: &Signature) {
        let name = signature.ident.to_string();
        if NO_NAMES_OF_FUNCTIONS.contains(&name.as_str()) {
            self.0.push(format!("fn {name}"));
        }
    }
}

impl<'ast> Visit<'ast> for PoorNames {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        let name = pattern.ident.to_string();
        if NO_NAMES_OF_VARIABLES.contains(&name.as_str()) {
            self.0.push(name);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.function(&function.sig);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.function(&function.sig);
        visit::visit_impl_item_fn(self, function);
    }
}

#[test]
fn names_say_what_they_hold_or_do() {
    let mut found = Vec::new();
    for path in files(&[".rs"]) {
        let mut names = PoorNames::default();
        names.visit_file(&syn::parse_file(&std::fs::read_to_string(&path).unwrap()).unwrap());
        found.extend(names.0.iter().map(|name| format!("{}: {name}", relative(&path))));
    }
    assert!(found.is_empty(), "{found:#?}");
}

/// How the statements of SQL begin, as we write them.
const STATEMENTS: [&str; 12] = [
    "SELECT",
    "INSERT INTO",
    "DELETE FROM",
    "CREATE TABLE",
    "CREATE INDEX",
    "CREATE VIEW",
    "DROP TABLE",
    "DROP VIEW",
    "BEGIN IMMEDIATE",
    "PRAGMA",
    "ATTACH",
    "VACUUM",
];

/// What else belongs to the store: the libraries, and the macros that check a query.
const LIBRARY: [&str; 7] = [
    "sqlx::",
    "rusqlite::",
    "query!(",
    "query_as!(",
    "query_scalar!(",
    "query_file!(",
    "query_unchecked!(",
];

/// Who may know SQL: the stores, their tests and what measures and checks them, and tests of the whole,
/// which look into the database as users do.
const MAY_KNOW_SQL: [&str; 9] = [
    "crates/store/src",
    "crates/journal/src",
    "crates/journal/tests",
    "crates/store/tests",
    "tools/",
    "coordinator/tests",
    "cli/tests",
    "worker/tests",
    ".ci/",
];

/// Who may ask a source of results in SQL: the command for people who write some themselves, the door
/// behind it, and what prints the answer.
const MAY_ASK_IN_SQL: [&str; 9] = [
    "cli/src/commands/sql.rs",
    "cli/src/results/query.rs",
    "crates/report/src/data/csv.rs",
    "crates/report/src/data/json.rs",
    "crates/report/src/data/parquet.rs",
    "crates/report/src/data/plotted.rs",
    "crates/report/src/data/rows.rs",
    // Its rows go the same way to files.
    "crates/report/src/games/rows.rs",
    // The page for queries.
    "crates/report/src/pages/sql.rs",
];

/// How it is asked, and what comes of it.
const ASKING_IN_SQL: [&str; 6] =
    [".query(", "query_rows(", "QueryRequest", "QueryRows", "SqlValue", "store::Table"];

/// Whether a line has one of these words, whole.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

fn knows_sql(line: &str) -> bool {
    let updates = line.split_once("UPDATE ").is_some_and(|(_, rest)| has_word(rest, "SET"));
    // What people may type is shown to them, and a placeholder for it.
    let is_shown = line.contains("spelrum sql ") || line.contains(r#"value_name = "SELECT""#);
    LIBRARY.iter().any(|word| line.contains(word))
        || !is_shown && (updates || STATEMENTS.iter().any(|statement| has_word(line, statement)))
}

#[test]
fn only_the_store_knows_sql() {
    let found = offences(&[".rs"], knows_sql);
    let (may, found): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|place| MAY_KNOW_SQL.iter().any(|path| place.starts_with(path)));
    assert!(found.is_empty(), "{found:#?}");
    let unused: Vec<_> = MAY_KNOW_SQL
        .into_iter()
        .filter(|path| !may.iter().any(|place| place.starts_with(path)))
        .collect();
    assert!(unused.is_empty(), "these know no SQL: {unused:?}");
}

#[test]
fn sql_is_told_from_words() {
    for line in [
        "    let sql = \"SELECT 1\";",
        "UPDATE games SET counted = 0",
        "sqlx::query(text)",
        "rusqlite::Connection::open(path)",
        "query!(\"PRAGMA x\")",
        "        SELECT",
    ] {
        assert!(knows_sql(line), "{line}");
    }
    for line in [
        "/// Selects the games.",
        "const SELECTED: u32 = 1;",
        "spelrum sql 'SELECT 1'",
        "UPDATE what is SETTLED",
    ] {
        assert!(!knows_sql(line), "{line}");
    }
}

/// What a part of the coordinator must not name, so that another store can take the place of SQLite's and
/// another protocol that of the wire.
struct Layer {
    /// Files and folders; the tests beside a module may name what they set up.
    places: &'static [&'static str],
    names_not: &'static [&'static str],
}

const LAYERS: [Layer; 3] = [
    // Messages are read into types of the tournament before they are stored.
    Layer {
        places: &["crates/store/src/", "crates/journal/src/"],
        names_not: &["v1", "spelrum_proto", "prost", "tonic"],
    },
    // What it asks is in the contract; the rest of the store is data.
    Layer {
        places: &["coordinator/src/dispatcher/"],
        names_not: &["Writer", "Readers", "Transaction", "Checkpointer", "sqlite", "sqlx"],
    },
    Layer {
        places: &["crates/store/src/contract.rs", "crates/store/tests/store/twin/"],
        names_not: &["sqlx", "Writer", "Readers"],
    },
];

impl Layer {
    fn is_broken_by(&self, line: &str) -> bool {
        let is_code = !line.trim_start().starts_with("//");
        is_code && self.names_not.iter().any(|name| has_word(line, name))
    }
}

#[test]
fn each_layer_names_only_what_it_may_know() {
    let files: Vec<_> = files(&[".rs"]).iter().map(|path| relative(path)).collect();
    for layer in &LAYERS {
        for place in layer.places {
            assert!(files.iter().any(|file| file.starts_with(place)), "there is no {place}");
        }
        let mut found = offences(&[".rs"], |line| layer.is_broken_by(line));
        found.retain(|offence| {
            let file = offence.split(':').next().unwrap_or_default();
            !file.ends_with("/tests.rs") && layer.places.iter().any(|place| file.starts_with(place))
        });
        assert!(found.is_empty(), "not of {:?}: {found:#?}", layer.places);
    }
}

#[test]
fn names_of_other_layers_are_told_from_words() {
    let [store, dispatcher, contract] = &LAYERS;
    for (layer, line) in [
        (store, "use spelrum_proto::v1;"),
        (store, "    fn of(game: &v1::Game) -> Self {"),
        (store, "    let bytes = prost::Message::encode_to_vec(&game);"),
        (store, "    Err(tonic::Status::internal(text))"),
        (dispatcher, "use crate::store::{Found, Writer};"),
        (dispatcher, "    transaction: crate::store::Transaction<'_>,"),
        (dispatcher, "    Sql(#[from] sqlx::Error),"),
        (contract, "    ) -> impl Future<Output = Result<(), sqlx::Error>>;"),
    ] {
        assert!(layer.is_broken_by(line), "{line}");
    }
    for (layer, line) in [
        (store, "    // As in the protocol: spelrum.v1.Game."),
        (store, "    let v12 = 12;"),
        (dispatcher, "impl<T: WriteTransaction> Batch<'_, T> {"),
        (dispatcher, "    transaction.commit().await?;"),
        (contract, "//! SQLite's is behind sqlx."),
    ] {
        assert!(!layer.is_broken_by(line), "{line}");
    }
}

/// Everything else asks questions that have types: a viewer needs to know no table.
#[test]
fn the_program_sends_no_sql_but_what_people_wrote() {
    let found: std::collections::BTreeSet<String> =
        offences(&[".rs"], |line| ASKING_IN_SQL.iter().any(|word| line.contains(word)))
            .iter()
            .filter(|place| {
                ["cli/src/", "crates/report/"].iter().any(|prefix| place.starts_with(prefix))
            })
            .filter_map(|place| place.split(':').next())
            .map(ToOwned::to_owned)
            .collect();
    assert!(found.iter().eq(MAY_ASK_IN_SQL), "{found:?}");
}

#[test]
fn lines_of_text_end_without_spaces() {
    let found = offences(&[".rs", ".toml", ".proto", ".sql"], |line| line.ends_with([' ', '\t']));
    assert!(found.is_empty(), "{found:#?}");
}

/// Whoever cites a version cites the one that was used.
#[test]
fn the_citation_is_of_this_version() {
    let citation = std::fs::read_to_string(crate::sandbox::root().join("CITATION.cff")).unwrap();
    let value = |key: &str| {
        let line = citation.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")));
        line.map(|value| value.trim_matches('"').to_owned())
    };
    assert_eq!(value("cff-version").as_deref(), Some("1.2.0"));
    assert_eq!(value("version").as_deref(), Some(env!("CARGO_PKG_VERSION")));
    // What the format demands beside.
    assert!(value("message").is_some() && value("title").is_some());
    assert!(citation.contains("\nauthors:\n  - name: "), "{citation}");
}
