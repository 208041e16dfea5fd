//! The old paths of what is in `crates/` now: nothing but re-exports.

pub use spelrum_model::*;
pub use spelrum_optimize as optimize;
pub use spelrum_scheduling::worker;
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

pub mod course {
    //! Courses, planned and under way.

    pub use spelrum_model::course::*;
    pub use spelrum_scheduling::course::*;
}

pub mod results {
    //! Results, as questions and answers.

    pub use spelrum_answers::*;
    pub use spelrum_model::GameEnd;
    pub use spelrum_statistics::GameTimes;
}

pub mod scheduler {
    //! The scheduler, and what it says of experiments and workers.

    pub use spelrum_model::wanted::Wanted;
    pub use spelrum_model::withheld::{Barred, Withheld};
    pub use spelrum_model::{Allocation, ExperimentState};
    pub use spelrum_scheduling::scheduler::*;
}

pub mod stopping {
    //! Stop rules, and the reader of results in number order.

    pub use spelrum_scheduling::stopping::*;
    pub use spelrum_statistics::{FIRST_CHECKPOINT, OpeningTally, Precision, StopRule, Tally};
}
