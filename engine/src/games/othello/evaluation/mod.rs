//! Othello's evaluations.

mod discs;
mod mobility;
mod squares;

pub use discs::OthelloDiscs;
pub use mobility::OthelloMobility;
pub use squares::OthelloSquares;
