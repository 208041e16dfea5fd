//! The sweep file: TOML in, a [`Plan`] or an error with its place and a remedy out.
//!
//! This crate defines the language of experiments: its keys, which are data, their readers, the grid, and the
//! schema generated from the keys. It depends on the model, whose plans it makes, on statistics and optimize
//! for their settings, and on the engine for games and players. It must stay independent of the further use
//! of a plan: no scheduler, no store, no files on disk (a sweep comes with the text of the files that it
//! names).
//!
//! A sweep goes through these stages, each in its own module:
//!
//! 1. `spelrum_toml`: TOML with a place for every key and value, in the file's order;
//! 2. `file`: the keys of the file (see `keys`), checked; `players` (with `vary` and `merge`), `pairing`,
//!    `axes` (with `range`), `overrides` and `claims` (with `meant`) read its larger parts. Parts that may
//!    name an axis (`"$depth"`) stay trees. `files` holds the files that it names, and `books` the samples of
//!    large ones;
//! 3. `points`: the points of the grid, or a part of them (`sample`);
//! 4. `made`: at a point, references become the axes' values (`template`), and the resulting descriptions of
//!    a game, openings or a player are built (`resolve`), once for each combination of the values that they
//!    name;
//! 5. `grid`: all points, all pairings, cells that are equal merged, and their places in
//!    `columns`.
//!
//! Values keep their places throughout, so that a player that fails at one point of the grid is
//! reported at the value on the axis that made it fail.
//!
//! # From a text to a plan
//!
//! ```
//! use spelrum_sweep::{SweepText, plan_sweep};
//!
//! let text = r#"
//! name = "first"
//! game = "tic-tac-toe"
//! games = 20
//!
//! [axes]
//! depth = [1, 2, 3]
//!
//! [players.search]
//! algorithm = "alpha-beta"
//! depth = "$depth"
//!
//! [players.random]
//! algorithm = "random"
//! "#;
//! let plan = plan_sweep(&SweepText::new("first.toml", text))?;
//! assert_eq!((plan.cells.len(), plan.games()), (3, 60));
//!
//! let error = plan_sweep(&SweepText::new("first.toml", text.replace("games", "game_s"))).unwrap_err();
//! assert_eq!(error.line, Some(4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accuracy;
mod adjudication;
mod axes;
mod books;
mod builds;
mod claim_cells;
mod claim_keys;
mod claims;
mod columns;
mod course;
mod fields;
mod file;
mod files;
mod forms;
mod grid;
mod instances;
mod key;
mod keys;
mod limits;
mod merge;
mod misplaced;
mod overrides;
mod pairing;
mod placement;
mod player_template;
mod players;
mod points;
mod range;
mod resolve;
mod sample;
mod schema;
mod selection;
mod stop;
mod template;
mod timing;
mod vary;

use std::collections::BTreeMap;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use spelrum_model::Plan;
use spelrum_toml::{Fault, Table, line_and_column};

pub use books::{BookFault, BookHead, BookReader, BookSample};
use files::Files;
pub use schema::sweep_schema;

/// Longest text of a sweep, in bytes.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// An error in a sweep: problem, place and remedy.
#[derive(Clone, Debug, thiserror::Error, Diagnostic)]
#[error("{problem}")]
pub struct SweepError {
    /// The problem.
    pub problem: String,
    /// The remedy.
    #[help]
    pub remedy: String,
    /// The text that contains the place: the sweep's, or that of a file it names.
    #[source_code]
    pub source_text: Arc<NamedSource<String>>,
    /// The place in it.
    #[label("here")]
    pub place: Option<SourceSpan>,
    /// Line of the place, from 1.
    pub line: Option<usize>,
    /// The file that contains the place, if it is not the sweep itself.
    pub file: Option<String>,
}

/// A sweep's text, with the files that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepText {
    /// The file's name, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Texts of the files that it names, by the sweep's names for them.
    pub files: BTreeMap<String, String>,
}

/// A file that a sweep names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// The sweep's spelling: a path relative to the sweep.
    pub name: String,
    /// The place where the sweep names it.
    pub place: SourceSpan,
}

impl SweepText {
    /// A sweep in one file.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), files: BTreeMap::new() }
    }

    /// The files that it names: callers read these too, and put them into [`SweepText::files`]. Empty if the
    /// text is not a sweep, which planning reports.
    #[must_use]
    pub fn named_files(&self) -> Vec<NamedFile> {
        let named = parse(&self.text).map(|root| files::named(&root)).unwrap_or_default();
        let file = |(name, place)| NamedFile { name, place: SourceSpan::from(place) };
        named.into_iter().map(file).collect()
    }

    /// An error at a place of its text, for callers that find problems beyond planning.
    #[must_use]
    pub fn error_at(
        &self,
        place: SourceSpan,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> SweepError {
        let place = place.offset()..place.offset() + place.len();
        self.error(Fault::at(&place, problem, remedy), None)
    }

    fn error(&self, fault: Fault, files: Option<&Files>) -> SweepError {
        let Fault { problem, remedy, place } = fault;
        let in_file = files.zip(place.as_ref()).and_then(|(files, place)| files.locate(place));
        let file = in_file.as_ref().map(|(name, ..)| (*name).to_owned());
        let (name, text, place) = match in_file {
            Some((name, text, place)) => (name, text, Some(place)),
            None => (&*self.name, &*self.text, place),
        };
        SweepError {
            problem,
            remedy,
            line: place.as_ref().map(|place| line_and_column(text, place.start).0),
            place: place.map(SourceSpan::from),
            source_text: Arc::new(NamedSource::new(name, text.to_owned())),
            file,
        }
    }
}

/// Reads, checks and plans a sweep.
///
/// # Errors
/// See [`SweepError`]; the first error found is reported.
pub fn plan_sweep(sweep: &SweepText) -> Result<Plan, SweepError> {
    let unread = |fault| sweep.error(fault, None);
    let files = Arc::new(Files::new(sweep).map_err(unread)?);
    plan_with(sweep, &files).map_err(|fault| sweep.error(fault, Some(&files)))
}

/// The sample that a sweep takes of a large book, with the book's name, if the text of its file lacks it.
/// Samples are found one after the other: add each to the text before calling again.
#[must_use]
pub fn missing_sample(sweep: &SweepText) -> Option<(String, BookSample)> {
    let files = Arc::new(Files::new(sweep).ok()?);
    plan_with(sweep, &files).err()?;
    files.missing()
}

fn plan_with(sweep: &SweepText, files: &Arc<Files>) -> Result<Plan, Fault> {
    let root = parse(&sweep.text)?;
    file::read(&root, Arc::clone(files))
        .and_then(|file| grid::plan(&file, instances::OPENINGS_COST_MAX))
        .map_err(|fault| misplaced::explain_misplaced(fault, &root))
}

/// The keys of a sweep, in the order of its reference.
pub fn sweep_keys() -> impl Iterator<Item = &'static str> {
    key::names(keys::SWEEP)
}

/// Checks that an experiment may have this name.
///
/// # Errors
/// If the name is not allowed; the error states the allowed form.
pub fn check_experiment_name(name: &str) -> Result<(), SweepError> {
    fields::check_name("an experiment", name, &(0..0))
        .map_err(|fault| SweepText::default().error(Fault { place: None, ..fault }, None))
}

fn parse(text: &str) -> Result<Table, Fault> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Fault::without_place(
            format!("a sweep of {} bytes is too long", text.len()),
            format!("describe it in at most {TEXT_BYTES_MAX} bytes: axes and ranges make cells"),
        ));
    }
    spelrum_toml::parse(
        text,
        "a sweep has lines such as `games = 100`, texts in \"quotes\", headers such as `[players.alphabeta]`, and \
         every key once",
    )
}

#[cfg(test)]
mod tests;
