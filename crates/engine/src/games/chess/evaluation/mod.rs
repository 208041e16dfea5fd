//! Chess's evaluations. Each is equal for a position and its mirror image with the colours
//! exchanged, for the side to move.

mod features;
mod material;
mod phased;
mod positional;
mod tables;

pub use material::ChessMaterial;
pub use positional::ChessPositional;
