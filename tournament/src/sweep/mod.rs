//! The sweep file: TOML in, a [`Plan`] or an error with its place and a remedy out.

use miette::{Diagnostic, NamedSource, SourceSpan};

use crate::plan::Plan;

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
    pub source_text: NamedSource<String>,
    /// The place in it.
    #[label("here")]
    pub place: Option<SourceSpan>,
    /// Line of the place, from 1.
    pub line: Option<usize>,
}

/// Reads, checks and plans a sweep. `file_name` is only for messages.
///
/// # Errors
/// See [`SweepError`]; the first error found is reported.
pub fn plan_sweep(_text: &str, _file_name: &str) -> Result<Plan, SweepError> {
    todo!("scaffold")
}
