//! Othello's evaluations, and features for formulas.

mod discs;
mod features;
mod mobility;
mod squares;

pub use discs::OthelloDiscs;
pub use mobility::OthelloMobility;
pub use squares::OthelloSquares;
