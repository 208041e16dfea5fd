//! Pictures of game trees: their contents and formats.

mod dot;
mod json;
mod layout;
mod picture;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod win_notation;

pub use dot::write_dot;
pub use json::{TreeJson, TreeRequest};
pub use picture::{Heading, Picture, drawn_nodes};
pub use svg::write_svg;
pub use text::{write_counts, write_text};
pub use win_notation::WinNotation;
