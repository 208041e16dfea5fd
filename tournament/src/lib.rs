//! Sweeps, cells, openings, seeds, scheduling, results and the statistics of matches.
//!
//! This crate is pure, like the engine below it: no async, no I/O, no clock.

mod apart;
pub mod bounds;
pub mod builds;
pub mod capabilities;
pub mod change;
pub mod claims;
pub mod comparisons;
mod conditions;
pub mod course;
mod definition;
pub mod demands;
mod difference;
pub mod disturbance;
pub mod engines;
mod game;
mod ids;
pub mod labels;
pub mod names;
mod openings;
pub mod placement;
mod plan;
mod played;
pub mod repeat;
pub mod results;
pub mod scheduler;
mod seeds;
pub mod speed;
pub mod stopping;
mod sweep;
mod training;
mod verification;
pub mod worker;

pub use apart::{Apart, ListedPositions};
pub use conditions::{Conditions, OpeningsRule, Task, ToMove};
pub use definition::{CellDefinition, DefinitionHash, DefinitionJson, HashError};
pub use difference::{Difference, DifferentField, Recorded};
pub use game::{DefinitionError, DerivedGame, PlayableCell};
pub use ids::{CellId, ExperimentId, GameId, GameRange, LeaseId, WorkerId};
pub use openings::{OPENING_PLIES_MAX, Openings, OpeningsCache, OpeningsError};
pub use plan::{
    AxisValue, MergedPairing, Plan, PlannedAxis, PlannedCell, PlannedPlayer, Record, RepeatedGames,
    Role, SkippedEntries,
};
pub use played::PlayedGame;
pub use spelrum_optimize as optimize;
use spelrum_statistics as statistics;
pub use spelrum_statistics::{
    BetweenWorkers, Clustered, Confidence, EloModel, GameCounts, Interval, MarginSums,
    OpeningCounts, OpeningKey, OpeningSpread, OpeningSum, OverGames, PairCounts, PlayerTimeSums,
    SPRT_ELO_MAX, SPRT_ERROR_MAX, ScoreInterval, ScoreTest, Sprt, Strength, TimeSums, Verdict,
    WorkerEffect, WorkerSum, choice, elo_of_score, forecast, ratings, score_of_elo,
};
pub use sweep::{
    BookFault, BookHead, BookReader, BookSample, NamedFile, SweepError, SweepText,
    check_experiment_name, did_you_mean, missing_sample, plan_sweep, sweep_keys, sweep_schema,
};
pub use training::{FinishedTraining, TrainedNetwork, TrainingDefinition};
pub use verification::{
    PlayableVerification, PlayedVerification, VerificationDefinition, draw, stops,
};
