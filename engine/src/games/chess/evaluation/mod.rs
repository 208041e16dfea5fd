//! Chess's evaluations. Whoever has the move has what the same position with the colours exchanged
//! would give them.

mod features;
mod material;
mod phased;
mod positional;
mod tables;

pub use material::ChessMaterial;
pub use positional::ChessPositional;
