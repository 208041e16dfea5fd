//! Pentago's evaluations.

mod last_ply;
mod lines;
mod runs;

pub use lines::PentagoLines;
pub use runs::PentagoRuns;
