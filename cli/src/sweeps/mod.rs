//! Sweeps on their way to a coordinator: their files, changes from the command line, and the preview of a submit.

mod book_file;
mod edit;
pub(crate) mod engine_builds;
pub(crate) mod file;
pub(crate) mod found_players;
pub(crate) mod imports;
pub(crate) mod match_files;
pub(crate) mod match_options;
pub(crate) mod match_words;
pub(crate) mod preview;
