//! The sweep file: TOML in, a [`Plan`] or an error with its place and a remedy out.
//!
//! A sweep goes through these stages, each in its own module:
//!
//! 1. [`tree`]: TOML with a place for every key and value, in the file's order;
//! 2. [`mod@file`]: the keys of the file, checked; [`players`] (with [`vary`] and [`merge`]), [`pairing`] and
//!    [`axes`] (with [`range`]) and [`overrides`] read its larger parts. Whatever may name an axis (`"$depth"`)
//!    stays a tree;
//! 3. [`points`]: the points of the grid, or a part of them ([`sample`]);
//! 4. [`made`]: at a point, references become the axes' values ([`template`]), and what is then
//!    said of a game, of openings or of a player becomes that ([`resolve`]), once for each
//!    combination of the values that it names;
//! 5. [`grid`]: all points, all pairings, cells that are equal merged, and their places in
//!    [`columns`].
//!
//! Values keep their places throughout, so that a player that fails at one point of the grid is
//! reported at the value on the axis that made it fail.

mod axes;
mod columns;
mod fault;
mod file;
mod grid;
mod made;
mod merge;
mod overrides;
mod pairing;
mod players;
mod points;
mod range;
mod resolve;
mod sample;
mod template;
mod tree;
mod vary;

use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};

use crate::plan::Plan;
use fault::Fault;

/// Longest text of a sweep, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// What is wrong with a sweep, where, and what to write instead.
#[derive(Clone, Debug, thiserror::Error, Diagnostic)]
#[error("{problem}")]
pub struct SweepError {
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    #[help]
    pub remedy: String,
    /// The file.
    #[source_code]
    pub source_text: Arc<NamedSource<String>>,
    /// The place in it.
    #[label("here")]
    pub place: Option<SourceSpan>,
    /// Line of the place, from 1.
    pub line: Option<usize>,
}

/// A sweep as it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepText {
    /// The file's name, for messages.
    pub name: String,
    /// What it says.
    pub text: String,
}

impl SweepText {
    /// A sweep in one file.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

/// Reads, checks and plans a sweep.
///
/// # Errors
/// See [`SweepError`]; the first error found is reported.
pub fn plan_sweep(sweep: &SweepText) -> Result<Plan, SweepError> {
    let SweepText { name, text } = sweep;
    plan(text).map_err(|Fault { problem, remedy, place }| SweepError {
        problem,
        remedy,
        line: place.as_ref().map(|place| line(text, place.start)),
        place: place.map(SourceSpan::from),
        source_text: Arc::new(NamedSource::new(name, text.clone())),
    })
}

fn plan(text: &str) -> Result<Plan, Fault> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Fault::nowhere(
            format!("a sweep of {} bytes is too long", text.len()),
            format!("describe it in at most {TEXT_BYTES_MAX} bytes: axes and ranges make cells"),
        ));
    }
    let file = file::read(&tree::parse(text)?)?;
    grid::plan(&file)
}

fn line(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests;
