//! The engine's files import one way: each layer uses only those above it in the list.
//!
//! Layers are roles, not folders: a game's folder holds its rules and solver, its evaluations
//! (`evaluation.rs` or `evaluation/`) and its description for the catalogue (`game.rs`), and the files are
//! sorted by their names.

use std::path::Path;

use spelrum_test_support::Files;

/// The layers from the top down: each may use all those before it.
const LAYERS: &[(&str, &[&str])] = &[
    (
        "random numbers, problems, formulas, parameters",
        &[
            "core/mod.rs",
            "core/rng.rs",
            "core/bits.rs",
            "core/cells.rs",
            "core/wide.rs",
            "core/nearest.rs",
            "core/problem.rs",
            "core/expression/",
            "core/parameters/",
        ],
    ),
    (
        "positions",
        &[
            "core/termination.rs",
            "core/position.rs",
            "core/book.rs",
            "core/knowledge.rs",
            "core/sketch.rs",
        ],
    ),
    (
        "host, limits, budget, score, endings by scores, solver traits",
        &[
            "core/host.rs",
            "core/limits.rs",
            "core/memory.rs",
            "core/budget.rs",
            "core/score.rs",
            "core/stack.rs",
            "core/solver.rs",
            "core/external.rs",
            "core/time_management.rs",
            "play/clock.rs",
            "play/adjudication.rs",
        ],
    ),
    (
        "games with their solvers",
        &["games/mod.rs", "games/grid.rs", "games/rectangle.rs", "games/*/"],
    ),
    ("tables of endgames", &["tables/"]),
    ("evaluations", &["evaluation/", "network/", "games/*/evaluation.rs", "games/*/evaluation/"]),
    ("searches", &["search/"]),
    ("catalogue", &["games/game.rs", "core/rules.rs", "games/*/game.rs", "catalogue.rs"]),
    (
        "notation, replay, perft, trees",
        &[
            "play/mod.rs",
            "play/notation.rs",
            "play/replay.rs",
            "play/perft.rs",
            "play/text_game.rs",
            "play/tree/",
        ],
    ),
    ("players", &["play/common.rs", "play/player.rs"]),
    (
        "records, seats, playing, analysing, solving, values of moves, speed",
        &[
            "play/records.rs",
            "play/seat.rs",
            "play/arbiter.rs",
            "play/referee.rs",
            "play/analyze.rs",
            "play/solve.rs",
            "play/move_values.rs",
            "play/speed.rs",
        ],
    ),
    ("the crate's front", &["lib.rs"]),
];

/// Exported macros are at the crate's root wherever they are written.
const MACROS: &[(&str, &str)] = &[("with_game", "catalogue.rs"), ("evaluations", "games/game.rs")];

#[test]
fn each_layer_uses_only_those_above_it() {
    let files = files();
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

/// The test is effective: it would find an import in the wrong direction.
#[test]
fn imports_are_found_whatever_their_form() {
    let files = files();
    let imports = files.imports();
    for (file, import) in [
        ("play/arbiter.rs", "catalogue.rs"),
        ("games/nim/game.rs", "games/game.rs"),
        ("games/nim/game.rs", "games/nim/mod.rs"),
        ("search/alpha_beta/node.rs", "core/knowledge.rs"),
        ("search/alpha_beta/ranking.rs", "search/alpha_beta/ordering.rs"),
        ("games/pentago/evaluation/runs.rs", "games/pentago/patterns.rs"),
        ("core/parameters/settings.rs", "core/parameters/mod.rs"),
    ] {
        assert!(imports[file].contains(import), "{file} uses {import}: {:?}", imports[file]);
    }
}

/// The last matching row: more specific names are further down.
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

fn files() -> Files {
    Files::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), MACROS)
}
