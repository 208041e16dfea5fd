//! Pentago's evaluations.

mod features;
mod last_ply;
mod lines;
mod runs;

pub use lines::PentagoLines;
pub use runs::PentagoRuns;
