//! The engine's files import one way: each layer uses only those above it in the list.
//!
//! Layers are roles, not folders: a game's folder holds its rules and solver, its evaluations
//! (`evaluation.rs` or `evaluation/`) and what the catalogue wants to know (`game.rs`), and the files
//! are sorted by their names.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The layers from the top down: what may be used by all that follows.
const LAYERS: &[(&str, &[&str])] = &[
    ("random numbers, parameters", &["rng.rs", "parameters.rs", "parameters/"]),
    ("positions", &["termination.rs", "position.rs", "knowledge.rs"]),
    (
        "host, limits, budget, score, solver traits",
        &[
            "host.rs",
            "clock.rs",
            "limits.rs",
            "memory.rs",
            "budget.rs",
            "score.rs",
            "stack.rs",
            "solver.rs",
        ],
    ),
    ("games with their solvers", &["games.rs", "games/*/"]),
    ("evaluations", &["evaluation.rs", "games/*/evaluation.rs", "games/*/evaluation/"]),
    ("searches", &["search/"]),
    ("catalogue", &["game.rs", "rules.rs", "games/*/game.rs", "catalogue.rs"]),
    ("notation, replay, perft", &["notation.rs", "replay.rs", "perft.rs"]),
    ("players", &["player.rs"]),
    (
        "records, seats, playing, analysing, solving",
        &["records.rs", "seat.rs", "play.rs", "referee.rs", "analyze.rs", "solve.rs"],
    ),
    ("the crate's front", &["lib.rs"]),
];

/// Macros stand at the crate's root wherever they are written.
const MACROS: &[(&str, &str)] = &[("with_game", "catalogue.rs"), ("evaluations", "game.rs")];

#[test]
fn each_layer_uses_only_those_above_it() {
    let files = Files::read();
    let mut wrong = Vec::new();
    for (file, imports) in files.imports() {
        let own = layer(&file);
        for import in imports {
            let other = layer(&import);
            if other > own {
                let names = [own, other].map(|layer| LAYERS[layer].0);
                wrong.push(format!("{file} ({}) uses {import} ({})", names[0], names[1]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that use each other lie in one folder, as a module and its parts do.
#[test]
fn no_circle_leaves_its_folder() {
    let imports = Files::read().imports();
    let reached = |from: &String| {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&String> = imports[from].iter().collect();
        while let Some(file) = next.pop() {
            if reached.insert(file.clone()) {
                next.extend(&imports[file]);
            }
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        imports.keys().map(|file| (file, reached(file))).collect();
    for (file, others) in &reached {
        for other in others.iter().filter(|other| reached[*other].contains(*file)) {
            assert_eq!(folder(file), folder(other), "{file} and {other} use each other");
        }
    }
}

/// The folder of a module's parts: a module's own file, beside the folder or in it, belongs there.
fn folder(file: &str) -> String {
    let stem = file.strip_suffix(".rs").unwrap();
    let top: Vec<&str> = stem.split('/').collect();
    match top.as_slice() {
        ["games", game, ..] => format!("games/{game}"),
        ["search", search, _, ..] => format!("search/{search}"),
        ["search", "mod" | "algorithm" | "root"] => "search".to_owned(),
        [first, ..] => (*first).to_owned(),
        [] => unreachable!("every file has a name"),
    }
}

/// The test sees what it is about: an import that goes the wrong way would be found.
#[test]
fn imports_are_found_whatever_their_form() {
    let files = Files::read();
    let imports = files.imports();
    for (file, import) in [
        ("play.rs", "catalogue.rs"),
        ("games/nim/game.rs", "game.rs"),
        ("games/nim/game.rs", "games/nim/mod.rs"),
        ("search/alpha_beta/node.rs", "knowledge.rs"),
        ("search/alpha_beta/node.rs", "search/alpha_beta/ordering.rs"),
        ("games/pentago/evaluation/runs.rs", "games/pentago/patterns.rs"),
        ("parameters/settings.rs", "parameters.rs"),
    ] {
        assert!(imports[file].contains(import), "{file} uses {import}: {:?}", imports[file]);
    }
}

/// The last row that fits: the more particular names stand further down.
fn layer(file: &str) -> usize {
    let fits = |pattern: &str| match pattern.split_once('*') {
        None => file == pattern || (pattern.ends_with('/') && file.starts_with(pattern)),
        Some((before, after)) => file.strip_prefix(before).is_some_and(|rest| {
            rest.split_once('/').is_some_and(|(_, rest)| {
                let after = &after[1..];
                rest == after
                    || after.is_empty()
                    || (after.ends_with('/') && rest.starts_with(after))
            })
        }),
    };
    let rows = LAYERS.iter().enumerate();
    let found = rows.filter(|(_, (_, patterns))| patterns.iter().any(|pattern| fits(pattern)));
    found.map(|(layer, _)| layer).max().unwrap_or_else(|| panic!("{file} is in no layer"))
}

/// The sources without tests and comments, by their paths from `src`.
struct Files(BTreeMap<String, String>);

impl Files {
    fn read() -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut files = BTreeMap::new();
        let mut folders = vec![source.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path: PathBuf = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|it| it == "rs")
                    && !path.ends_with("tests.rs")
                {
                    let name = path.strip_prefix(&source).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, code(&fs::read_to_string(&path).unwrap()));
                }
            }
        }
        Self(files)
    }

    /// Which files each file uses, by the paths in its code.
    fn imports(&self) -> BTreeMap<String, BTreeSet<String>> {
        let of = |file: &String, code: &String| {
            let paths = paths(code).into_iter().filter_map(|path| self.resolve(file, &path));
            paths.filter(|import| import != file).collect()
        };
        self.0.iter().map(|(file, code)| (file.clone(), of(file, code))).collect()
    }

    /// The file that a path from `crate` or `super` leads into.
    fn resolve(&self, file: &str, path: &[String]) -> Option<String> {
        let mut module: Vec<String> = match path[0].as_str() {
            "crate" => Vec::new(),
            _ => self.module_of(file),
        };
        for (index, segment) in path.iter().enumerate() {
            match segment.as_str() {
                "crate" if index == 0 => {}
                "super" => _ = module.pop(),
                name => {
                    module.push(name.to_owned());
                    if self.file_of(&module).is_none() {
                        module.pop();
                        break;
                    }
                }
            }
        }
        if module.is_empty() && path[0] == "super" {
            // A module that is written within its file.
            return None;
        }
        if module.is_empty() {
            let item = path.last()?;
            let found = MACROS.iter().find(|(name, _)| name == item);
            let (_, file) = found.unwrap_or_else(|| panic!("{file} uses {item} of the root"));
            return Some((*file).to_owned());
        }
        self.file_of(&module)
    }

    fn module_of(&self, file: &str) -> Vec<String> {
        let stem = file.strip_suffix(".rs").unwrap();
        stem.split('/').filter(|part| *part != "mod").map(str::to_owned).collect()
    }

    fn file_of(&self, module: &[String]) -> Option<String> {
        let path = module.join("/");
        [format!("{path}.rs"), format!("{path}/mod.rs")]
            .into_iter()
            .find(|file| self.0.contains_key(file))
    }
}

/// Without comments, texts and the tests at the end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Every path that begins with `crate` or `super`; one for each name in braces.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for start in ["crate::", "super::"] {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            // `$crate` is of who calls the macro; `super::super` is found at its beginning.
            if before.is_some_and(|it| it == '$' || it == ':' || it == '_' || it.is_alphanumeric())
            {
                continue;
            }
            expand(&code[at..], &mut Vec::new(), &mut found);
        }
    }
    found
}

/// Reads a path and what stands in its braces; returns how much was read.
fn expand(text: &str, prefix: &mut Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let mut at = 0;
    let depth = prefix.len();
    loop {
        let name_length = text[at..]
            .find(|it: char| !it.is_alphanumeric() && it != '_')
            .unwrap_or(text.len() - at);
        prefix.push(text[at..at + name_length].to_owned());
        at += name_length;
        if !text[at..].starts_with("::") {
            break;
        }
        at += 2;
        if text[at..].starts_with('{') {
            at += 1;
            loop {
                at += text[at..].find(|it: char| !it.is_whitespace() && it != ',').unwrap();
                if text[at..].starts_with('}') {
                    prefix.truncate(depth);
                    return at + 1;
                }
                at += expand(&text[at..], &mut prefix.clone(), found);
            }
        }
    }
    if prefix.last().is_some_and(|name| !name.is_empty()) {
        found.push(prefix.clone());
    }
    prefix.truncate(depth);
    at.max(1)
}
