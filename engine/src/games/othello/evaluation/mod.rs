//! Othello's evaluations, and what formulas may count.

mod discs;
mod features;
mod mobility;
mod squares;

pub use discs::OthelloDiscs;
pub use mobility::OthelloMobility;
pub use squares::OthelloSquares;
