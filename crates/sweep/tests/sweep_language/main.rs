//! The language as its users meet it: `docs/sweeps.md` is complete and its examples are planned, the
//! schema agrees with the planner, and no text at all makes planning fail other than by an error.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fuzz;
mod reference;
mod schema;

use std::path::Path;

/// A file of the project.
fn project_file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The example sweeps, with their names.
fn example_sweeps() -> Vec<(String, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sweeps");
    let mut sweeps: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    sweeps.sort();
    assert!(sweeps.len() >= 5, "{} sweeps", sweeps.len());
    sweeps
}
