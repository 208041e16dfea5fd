//! The chess engine communication protocol (CECP), which XBoard and WinBoard speak: the runner's side, as pure parsers
//! and a state machine over lines.
//!
//! Mann and Muller, *Chess Engine Communication Protocol*, version 2 (2009), comes with XBoard as `engine-intf.html`.

mod client;
mod edit;
mod feature;
mod thinking;

pub use client::{Client, Event};
pub use edit::edit_commands;
pub use feature::Features;
pub use thinking::Thinking;

#[cfg(test)]
mod tests;

/// An engine's deviations from the protocol, and its own commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Whether it answers `protover 2` with its features. Engines of before 1999 have none.
    pub features: bool,
    /// Commands sent after its start.
    pub setup: Vec<String>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { features: true, setup: Vec::new() }
    }
}
