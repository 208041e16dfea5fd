//! Style of tables and plots: columns, axis, sizes.

use crate::document::{Document, LatexStyle};
use crate::error::{Error, Kind, Result};
use crate::plot::PlotSize;

/// Style of tables and plots.
#[derive(Clone, Debug, Default)]
pub struct TableStyle {
    /// Headings of the columns to show; `None` for all.
    pub columns: Option<Vec<String>>,
    /// Style of LaTeX tables.
    pub latex: LatexStyle,
    /// The margin within which players are called equal; `None`: none are.
    pub equal_within: Option<f64>,
    /// Axis of plots, where possible.
    pub axis: Option<String>,
    /// Size of plots in separate files.
    pub plot_size: Option<PlotSize>,
}

impl TableStyle {
    /// Keeps the chosen columns of a document's tables.
    pub(super) fn apply(&self, document: &mut Document) -> Result<()> {
        let Some(names) = &self.columns else { return Ok(()) };
        document.choose_columns(names).map_err(|headings| no_such_column(names, &headings))
    }
}

/// The error for a column that the table lacks.
pub(super) fn no_such_column(names: &[String], headings: &[String]) -> Error {
    let is_missing =
        |name: &&String| !headings.iter().any(|heading| heading.eq_ignore_ascii_case(name));
    let missing = names.iter().find(is_missing).map_or("", String::as_str);
    Error::new(Kind::Input, "choose columns")
        .because(format!("the table has no column `{missing}`"))
        .help(format!("take some of: {}", headings.join(", ")))
}
