//! Questions about experiments, changes of them, and the answers, as types, with the arithmetic over an answer.
//!
//! A store makes answers, a coordinator's JSON API carries them and reports show them; the three share these types and
//! nothing else. So a file, a coordinator on another machine and a database in memory give identical answers. Each
//! [`Call`] has its path in the API and the type of its answer.
//!
//! The crate depends on the model, on statistics, and on the engine's and optimize's types in definitions and notes.
//! It must stay independent of the source of an answer and of its presentation: no SQL, no messages, no tables or
//! pages, no scheduler. Like all pure crates it has no I/O and no clock: time is a parameter.
//!
//! | file | subject |
//! |---|---|
//! | `call` | calls of the coordinator's API: how they are sent |
//! | `questions` | what can be asked about experiments, and where |
//! | `changes`, `verifications` | what a coordinator can be asked to do |
//! | `summary` | experiments and workers at a glance |
//! | `report`, `cell_result`, `places` | results of every cell, and the cost of a move |
//! | `runs` | findings of experiments that depend on their own results |
//! | `analysis` | single positions, searched for a person |
//! | `accuracy` | how well players choose, compared with a reference |
//! | `openings` | results of cells by opening |
//! | `outcome_lengths` | how long won, drawn and lost games are |
//! | `phases` | time per move in each phase of the game |
//! | `times` | quantiles of times, and overrun time limits |
//! | `ratings`, `scale_fit` | strength of players on one scale, and whether it fits |
//! | `comparisons` | changes from cell to cell |
//! | `side_by_side` | two experiments beside each other |
//! | `cells` | pages of cells, and the cells settled since a moment |
//! | `progress`, `pace` | progress and pace of an experiment |
//! | `games` | settled games, in lists and complete |
//! | `under_way` | games that are being played, and their moves so far |
//! | `engines` | which external engines played |
//! | `dates` | moments as text |
//! | `derived` | figures that are written with answers, though they follow from them |
//! | `queue` | games that wait for workers, by what they need |
//! | `query`, `sql_value` | users' own queries, and the values of their results |
//! | `overview`, `machine` | how games were played, and the machines behind results |
//! | `status`, `attention`, `findings`, `missing_engines`, `unplaced`, `removal` | problems that need attention |
//!
//! # Pace of an experiment
//!
//! ```
//! use std::time::Duration;
//!
//! use spelrum_answers::Pace;
//!
//! let mut pace = Pace::default();
//! // At each moment: games settled so far, and their total duration, in microseconds.
//! pace.record(Duration::ZERO, 0, 0.0);
//! pace.record(Duration::from_secs(10), 500, 40e6);
//! assert_eq!(pace.games_per_second(), Some(50.0));
//! ```

mod accuracy;
mod analysis;
mod attention;
mod call;
mod cell_result;
mod cells;
mod changes;
mod checked;
mod claimed_means;
mod claims;
mod colours;
mod comparisons;
mod costs;
mod dates;
mod derived;
mod engines;
mod evolution;
mod expected_games;
mod findings;
mod forfeits;
mod games;
mod machine;
mod missing_engines;
mod openings;
mod outcome_lengths;
mod overview;
mod pace;
mod phases;
mod places;
mod planned;
mod playing_time;
mod progress;
mod query;
mod questions;
mod queue;
mod rated_leads;
mod ratings;
mod removal;
mod report;
mod runs;
mod scale_fit;
mod side_by_side;
mod silent;
mod sql_value;
mod stated;
mod status;
mod summary;
mod times;
mod under_way;
mod unplaced;
mod verdicts;
mod verifications;
mod worker_effects;

pub use accuracy::{CellAccuracy, Stratum, reference_text, says_who_wins};
pub use analysis::{
    ANALYSES_PATH, ANALYZED_LINE_PLIES_MAX, ANALYZED_MOVES_MAX, AnalyzePosition, AnalyzedPosition,
    PositionAnalysis, PositionEnding, StoredPlayer,
};
pub use attention::{Attention, AttentionKind};
pub use call::{Call, ExperimentQuestion, Method};
pub use cell_result::{
    CellMargin, CellResult, CellStop, CellStrength, IntervalKind, SprtOutcome, SprtStanding,
    Stronger,
};
pub use cells::{CellCursor, CellsPage, SettledCells};
pub use changes::{
    Action, ExcludeWorkers, ExcludedWorkers, Exclusion, KeptResults, PlanSweep, Removable,
    RemoveExperiment, RemovedExperiment, SteerExperiment, SteeredExperiment, SubmitSweep,
    SubmittedSweep, SweepPlan,
};
pub use claimed_means::{add_estimates_of_scores, group_over_replicates, mean_over_replicates};
pub use claims::{ClaimAnswer, WhyExploratory};
pub use colours::{ColourResult, first_mover};
pub use comparisons::{
    CellCurve, CellDifference, CellHistory, CellReplicates, CellsToCompare, Comparisons,
    Replicated, is_of_axis,
};
pub use costs::CostRow;
pub use dates::date_time;
pub use engines::{EnginesUsed, MIXED_CELLS_MAX, MixedCell, UsedEngine};
pub use evolution::{ELITE, Evolution, FAMILY_MAX, Relative};
pub use expected_games::{CellsSeen, ExpectedGames, OpenCell};
pub use findings::{
    ConflictParty, Conflicts, DeviatingGames, FailedGames, Findings, LargestCell, LostGames,
    MostFailed, NamedCell, NamedParty, OtherEngine, RefusedResults, Workforce, add_withheld,
    attention_of_results, attention_of_withheld, attention_of_workers, workers_here,
};
pub use forfeits::{
    FORFEITS_WARNED_OF, ForfeitKind, ForfeitedGames, PlayerForfeits, forfeits_by_player,
};
pub use games::{
    DefinitionDamage, FoundGame, GameCursor, GameResult, GameSummary, GamesFilter, GamesOf,
    GamesOrder, GamesPage, GamesQuestion, MissingGame, Played, SettledGame, WhichGame, WholeGame,
    WholeGames,
};
pub use machine::{CpuQuota, Machine};
pub use missing_engines::{
    MissingEngines, attention_of_builds, attention_of_engines, inability_of_all, missing_engines,
};
pub use openings::{MoverCounts, OpeningCursor, OpeningResults, OpeningSums, OpeningsPage};
pub use outcome_lengths::{CellOutcomeLengths, GetOutcomeLengths, OutcomeLengths};
pub use overview::{CellGames, Lengths, Overview, WorkerShare};
pub use pace::Pace;
pub use phases::{
    CellPhases, PhaseCounter, PhaseMoves, PhaseSums, PhaseTimes, PhaseUnit, Phases,
    StandardisedTimes,
};
pub use places::{Opponents, Places, places_text};
pub use planned::{Assumptions, Figures, PlannedCellFigures, PlannedSweep, planned};
pub use playing_time::{Calibration, NotTimed, PlayingSlots, PlayingTime, playing_time};
pub use progress::Progress;
pub use query::{QUERY_PATH, QueryEnd, QueryHead, RunQuery};
pub use questions::{
    BROWSER_LINKS_PATH, BrowserLink, EVENTS_PATH, EXPORT_PATH, ExportExperiments, FollowEvents,
    GAMES_PATH, GetCellGame, GetComparisons, GetExperiment, GetGame, GetOpenapi, GetOverview,
    GetPhases, GetProgress, GetRatings, GetReport, GetRuns, GetStatus, ListCellGames, ListCells,
    ListExperiments, ListGames, ListSettledCells, ListWholeCellGames, ListWholeGames,
    MakeBrowserLink, PAGE_ITEMS_DEFAULT, PAGE_ITEMS_MAX, StreamGames,
};
pub use queue::{GetQueue, QUEUED_GROUPS_MAX, Queue, QueuedGames};
pub use ratings::{
    Clusters, GamesToRate, Meeting, RATED_DIFFERENCES_MAX, RATED_GAMES_MAX, RATED_PLAYERS_MAX,
    RatedGroup, RatedPlayer, Ratings, RatingsLimit,
};
pub use removal::{Removal, Removing};
pub use report::{
    CellFailures, Costs, CpuTimes, DISTURBED_WARNED_OF, Detail, DisturbedGames, MoveCost, PlayedOn,
    ReplayedGames, Report, Scaled, ScaledGames,
};
pub use runs::{RunResult, runs_of};
pub use scale_fit::{CyclicRating, ScaleDeparture, ScaleFit};
pub use side_by_side::{MatchedCells, MatchedMoves, SideBySide};
pub use silent::attention_of_silent;
pub use sql_value::SqlValue;
pub use stated::{MeanOverReplicates, RatedLead, StatedCell, StatedClaim};
pub use status::{ClaimOf, CoordinatorStatus, Status, StopsOf};
pub use summary::{ExperimentSummary, ExperimentsPage, NamedWorker, WorkerConduct, WorkerSummary};
pub use times::{
    CostedPlayer, MoveTimes, OVERRUN_TOLERANCE, OVERRUNS_WARNED_OF, Overruns, bucket_from_us,
    time_bucket,
};
pub use under_way::{
    FollowGame, FollowedGame, GameUnderWay, GamesUnderWay, ListGamesUnderWay, MoveSoFar,
    UNDER_WAY_MAX,
};
pub use unplaced::{Unplaced, attention_of_placement, bound, lacking_text, syzygy_text, unplaced};
pub use verdicts::AdjustedVerdicts;
pub use verifications::{
    DifferentGame, GetVerifications, OrderVerifications, OrderedVerifications, Verdict,
    VerificationCount, Verifications, VerificationsStanding, VerifiedPair, WaitingVerifications,
};
pub use worker_effects::{
    ComparedGame, ComparedMoves, ComparedRow, Measure, NamedStart, P_VALUE_WARNED_OF,
    WorkerEffects, are_compared, compared_games, worker_effects,
};
