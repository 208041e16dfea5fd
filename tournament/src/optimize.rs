//! Searching for the best by noisy answers: numbers and formulas in, numbers and formulas out. What knows
//! games, cells and sweeps is [`crate::course`].

pub mod bisection;
pub mod cmaes;
mod eigen;
pub mod genetic_programming;
pub mod space;
pub mod spsa;
