//! Searching for the best by noisy answers: numbers and formulas in, numbers and formulas out.
//!
//! Somebody measures (plays games, usually) and ranks; this crate says what to measure next, and what is the best
//! so far. It depends on statistics for counts of pairs, and on the engine for two things that have nothing to do
//! with games: [`Random`](spelrum_engine::Random), which draws the same numbers on every machine, and
//! [`expression`](spelrum_engine::expression), the formulas that are bred. It must never know of cells, sweeps,
//! players or who measures: that is what courses are for, in scheduling.
//!
//! | module | subject |
//! |---|---|
//! | [`bisection`] | the value at which two sides are even: probabilistic bisection |
//! | [`spsa`] | settings by small steps: simultaneous perturbation |
//! | [`cmaes`] | settings by generations: covariance matrix adaptation |
//! | [`space`] | what a setting may be, as a dimension of a search |
//! | [`genetic_programming`] | formulas, bred in generations |
//!
//! # The value at which two sides are even
//!
//! ```
//! use spelrum_optimize::bisection::Bisection;
//! use spelrum_statistics::PairCounts;
//!
//! let mut search = Bisection::new([1.0, 100.0], true);
//! for step in 0..20 {
//!     let value = search.ask(step, 1);
//!     // From 20 on the first player wins, below it loses.
//!     let pairs = if value < 20.0 { [20, 0, 0, 0, 0] } else { [0, 0, 0, 0, 20] };
//!     search.tell(value, &PairCounts(pairs));
//! }
//! assert!((search.root().value - 20.0).abs() < 1.0);
//! ```

pub mod bisection;
pub mod cmaes;
mod eigen;
pub mod genetic_programming;
pub mod space;
pub mod spsa;
