//! Searching for the best by noisy answers: numbers and formulas in, numbers and formulas out.
//!
//! The caller measures, usually by playing games, and ranks; this crate proposes what to measure next, and keeps the
//! best estimate so far. It depends on statistics for counts of pairs, and on the engine for two things that are
//! independent of games: [`Random`](spelrum_engine::Random), which draws the same numbers on every machine, and
//! [`expression`](spelrum_engine::expression), the formulas that are bred. It must stay independent of cells, sweeps
//! and players: courses, in scheduling, connect the two. It is a crate apart from statistics so that statistics needs
//! nothing from the engine.
//!
//! | module | subject |
//! |---|---|
//! | [`bisection`] | the value at which two sides are even: probabilistic bisection |
//! | [`spsa`] | settings by small steps: simultaneous perturbation |
//! | [`cmaes`] | settings by generations: covariance matrix adaptation |
//! | [`space`] | the dimensions of a search: numbers and choices |
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
