//! Pictures of game trees: what is to be drawn, and the forms in which it is.

mod dot;
mod json;
mod layout;
mod picture;
mod svg;
#[cfg(test)]
mod tests;
mod text;
mod words;

pub(crate) use dot::write_dot;
pub(crate) use json::{Asked, TreeJson};
pub(crate) use picture::{Heading, Picture, drawn_nodes};
pub(crate) use svg::write_svg;
pub(crate) use text::{write_counts, write_text};
pub(crate) use words::Words;
