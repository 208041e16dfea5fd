//! Players: built-in ones from the command line, a person at the terminal, external engines, and built-in players as
//! engines.

pub(crate) mod built_in;
pub(crate) mod engine_check;
pub(crate) mod engines_file;
pub(crate) mod gtp;
pub(crate) mod lines;
pub(crate) mod position;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod uci;
