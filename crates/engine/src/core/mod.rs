//! Building blocks of games, evaluations, searches and play: positions and rules as data, parameters, limits
//! and the budget, scores, random numbers, and the traits that games implement.
//!
//! Independent of any particular game, evaluation or search.

pub(crate) mod bits;
pub(crate) mod book;
pub(crate) mod budget;
pub(crate) mod cells;
pub mod expression;
pub(crate) mod external;
pub(crate) mod host;
pub(crate) mod knowledge;
pub(crate) mod limits;
pub(crate) mod memory;
pub(crate) mod nearest;
pub(crate) mod parameters;
pub(crate) mod position;
pub(crate) mod problem;
pub(crate) mod rng;
pub(crate) mod rules;
pub(crate) mod score;
pub(crate) mod sketch;
pub(crate) mod solver;
pub(crate) mod stack;
pub(crate) mod termination;
pub(crate) mod time_management;
pub(crate) mod wide;
