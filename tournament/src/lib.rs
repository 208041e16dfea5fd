//! Sweeps, cells, openings, seeds, scheduling and the statistics of matches.
//!
//! This crate is pure, like the engine below it: no async, no I/O, no clock.

mod definition;
mod game;
mod ids;
mod plan;
pub mod scheduler;
mod statistics;
mod sweep;

pub use definition::{CellDefinition, DefinitionHash, OpeningsRule};
pub use game::{DefinitionError, DerivedGame, PlayableCell};
pub use ids::{CellId, ExperimentId, GameId, GameRange, LeaseId, WorkerId};
pub use plan::{AxisValue, Plan, PlannedCell, Record};
pub use statistics::{PairCounts, ScoreInterval};
pub use sweep::{SweepError, plan_sweep};
