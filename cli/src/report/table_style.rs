//! Choices for how tables and plots look: columns, axis, sizes.

use spelrum_tournament::Role;
use spelrum_tournament::results::ExperimentSummary;

use crate::error::{CliError, Result};
use crate::exit::Exit;
use crate::output::{Document, LatexStyle, PlotSize};
use crate::results::ResultsSource;

/// How tables and plots are laid out.
#[derive(Clone, Debug, Default)]
pub(crate) struct TableStyle {
    /// Columns that are shown, by their headings; all without it.
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) latex: LatexStyle,
    /// The axis that plots go along, where they can.
    pub(crate) axis: Option<String>,
    /// Size of plots in files of their own.
    pub(crate) plot_size: Option<PlotSize>,
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

/// Refuses an axis that the sweep lacks.
pub(super) async fn check_axis(
    source: &ResultsSource,
    of: &ExperimentSummary,
    axis: &str,
) -> Result<()> {
    let (axes, _, _) = source.cells(of, None).await?;
    let names = axes.iter().map(|it| Role::of_axis(it).map_or(&**it, |(_, parameter)| parameter));
    let names: Vec<&str> = names.collect();
    if names.contains(&axis) {
        return Ok(());
    }
    Err(CliError::new(Exit::Input, "choose an axis")
        .because(format!("{} has no axis `{axis}`", of.name))
        .help(match &names[..] {
            [] => "it has no axes: leave --axis out".to_owned(),
            names => format!("its axes are {}", names.join(", ")),
        }))
}
