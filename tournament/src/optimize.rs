//! Searching for the best by noisy answers: numbers in, numbers out. What knows games, cells and sweeps is
//! [`crate::course`].

pub mod bisection;
pub mod cmaes;
mod eigen;
pub mod space;
pub mod spsa;
