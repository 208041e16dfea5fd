//! Statistics of matches: intervals and tests of scores, strength in Elo, ratings, stop rules and forecasts.
//!
//! This crate is useful by itself, to any program with counts of wins, draws and losses. It depends on no other crate
//! of the project, and must stay independent of games, players, sweeps, workers and databases: numbers go in, and
//! numbers come out. Like all pure crates it has no I/O, no clock and no random numbers. Functions that differ
//! between platforms come from `libm`, so results are identical on every machine.
//!
//! The two games of a pair share an opening, so their results are not independent: the pair is the unit of every
//! variance. With fixed sides there are no pairs, and the unit is the game. If openings repeat, the unit is the opening
//! ([`OpeningSpread`]). No figure is ever NaN.
//!
//! Reports show [`ScoreInterval`]: its coverage holds also for few, equal or lopsided units, and [`Confidence`]
//! restates it in Elo and as a probability. [`Strength`] has the figures that match runners print, for comparison with
//! theirs.
//!
//! | module | subject |
//! |---|---|
//! | `counts`, `interval`, `elo`, `strength` | scores of pairs and games, with intervals, tests and Elo |
//! | `time_uniform` | intervals of scores that hold at every look at a running match |
//! | `clustered`, `openings`, `student` | scores over openings: clustered errors |
//! | `estimate` | tests of a figure by its variance |
//! | `sprt`, `stop_rule`, `tally` | when a match has been played enough |
//! | `margins`, `per_game`, `ratio` | margins and times per game |
//! | `between_workers`, `two_rates` | whether it matters which worker played |
//! | [`choice`] | the quality of single moves beside random ones |
//! | [`claims`] | hypotheses judged together: Holm's procedure, simultaneous bands |
//! | [`comparisons`] | differences between cells, effects of axes, replicates |
//! | [`curves`] | a score over an axis, and where it crosses one half |
//! | [`ratings`] | players on one scale: Bradley and Terry, Davidson |
//! | [`forecast`] | the time that the remaining games will take |
//! | [`planning`] | what a match will show before it is played: widths, power, the course of stop rules |
//! | [`racing`] | who is first of many players, at a stated error rate |
//!
//! # A match as an interval
//!
//! ```
//! use spelrum_statistics::PairCounts;
//!
//! // 40 pairs by the first player's points: 0, ½, 1, 1½, 2.
//! let pairs = PairCounts([2, 5, 14, 12, 7]);
//! let interval = pairs.interval();
//! assert_eq!((interval.score * 1000.0).round(), 606.0);
//! assert!(interval.low > 0.5, "the first player is stronger");
//! ```

mod between_workers;
pub mod choice;
pub mod claims;
mod clustered;
pub mod comparisons;
mod counts;
#[cfg(test)]
mod coverage_rounds;
pub mod curves;
mod elo;
mod estimate;
pub mod forecast;
mod interval;
mod margins;
mod moments;
mod openings;
mod per_game;
pub mod planning;
pub mod racing;
pub mod ratings;
mod ratio;
mod root;
mod sprt;
mod stop_rule;
mod strength;
mod student;
mod tally;
mod time_uniform;
mod two_rates;

pub use between_workers::{BetweenWorkers, WorkerEffect, WorkerSum};
#[cfg(test)]
pub(crate) use clustered::student_quantile_95;
pub use clustered::{Clustered, Interval, OpeningKey, OpeningSum};
pub use counts::{GameCounts, PairCounts};
pub use elo::{elo_of_score, score_of_elo};
pub use estimate::Estimate;
pub use interval::{Confidence, ScoreInterval, ScoreTest};
pub use margins::MarginSums;
pub use openings::{OpeningCounts, OpeningSpread};
pub use per_game::{GameTimes, OverGames, PlayerTimeSums, TimeSums};
pub use sprt::{EloModel, SPRT_ELO_MAX, SPRT_ERROR_MAX, Sprt, Verdict};
pub use stop_rule::{FIRST_CHECKPOINT, Precision, StopRule};
pub use strength::Strength;
pub use tally::{OpeningTally, Tally};
pub use time_uniform::ScoreSequence;
pub use two_rates::{Stratum, evidence_of_two_rates};

#[cfg(test)]
mod tests;
