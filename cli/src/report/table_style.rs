//! Choices for how tables look: columns, and for LaTeX their size.

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::output::{Document, LatexStyle};

/// How tables are laid out.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableStyle {
    /// Columns that are shown, by their headings; all without it.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) latex: LatexStyle,
}

impl TableStyle {
    /// Keeps the chosen columns of a document's tables.
    pub(super) fn apply(&self, document: &mut Document) -> Result<()> {
        let Some(names) = &self.columns else { return Ok(()) };
        document.choose_columns(names).map_err(|headings| no_such_column(names, &headings))
    }
}

/// The error for a column that the table lacks.
pub(super) fn no_such_column(names: &[String], headings: &[String]) -> CliError {
    let is_missing =
        |name: &&String| !headings.iter().any(|heading| heading.eq_ignore_ascii_case(name));
    let missing = names.iter().find(is_missing).map_or("", String::as_str);
    CliError::new(Exit::Input, "choose columns")
        .because(format!("the table has no column `{missing}`"))
        .help(format!("take some of: {}", headings.join(", ")))
}
