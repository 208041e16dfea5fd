//! Sweeps on their way to a coordinator: their file and the files that it names, changes from the command line, and
//! the preview of what a submit would change.

mod book_file;
mod edit;
pub(crate) mod engine_builds;
pub(crate) mod file;
pub(crate) mod found_players;
pub(crate) mod preview;
