//! Sweeps, cells, openings, seeds, scheduling, results and the statistics of matches.
//!
//! This crate is pure, like the engine below it: no async, no I/O, no clock.

pub mod claims {
    //! Claims, stated and judged.

    pub use spelrum_model::claims::*;
    pub use spelrum_statistics::claims::*;
}
pub mod comparisons {
    //! Comparisons between the cells of an experiment.

    pub use spelrum_answers::{CellDifference as Difference, CellReplicates as Replicates};
    pub use spelrum_statistics::comparisons::{
        Changed, Contrast, DIFFERENCES_MAX, Effect, Effects, differences, effects, replicates,
    };
}
pub mod course;
pub mod results {
    //! Results, as questions and answers.

    pub use spelrum_answers::*;
    pub use spelrum_model::GameEnd;
    pub use spelrum_statistics::GameTimes;
}
pub mod scheduler;
pub mod stopping;
pub mod worker;

pub use spelrum_model::*;
pub use spelrum_optimize as optimize;
pub use spelrum_statistics::{
    BetweenWorkers, Clustered, Confidence, EloModel, GameCounts, Interval, MarginSums,
    OpeningCounts, OpeningKey, OpeningSpread, OpeningSum, OverGames, PairCounts, PlayerTimeSums,
    SPRT_ELO_MAX, SPRT_ERROR_MAX, ScoreInterval, ScoreTest, Sprt, Strength, TimeSums, Verdict,
    WorkerEffect, WorkerSum, choice, elo_of_score, forecast, ratings, score_of_elo,
};
pub use spelrum_sweep::{
    BookFault, BookHead, BookReader, BookSample, NamedFile, SweepError, SweepText,
    check_experiment_name, did_you_mean, missing_sample, plan_sweep, sweep_keys, sweep_schema,
};
