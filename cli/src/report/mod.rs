//! The result tables: who is stronger in each cell and how sure that is, and what a move costs.

mod json;
mod text;

use spelrum_tournament::results::{Detail, ExperimentSummary};

use crate::error::Result;
use crate::output::write_json;
use crate::results::ResultsSource;

/// Prints an experiment's tables for people.
pub(crate) async fn print(
    source: &ResultsSource,
    of: &ExperimentSummary,
    detail: Detail,
) -> Result<()> {
    let report = source.report(of, detail).await?;
    text::write(&report, &mut anstream::stdout().lock())?;
    Ok(())
}

/// Prints an experiment's results as JSON, with everything.
pub(crate) async fn print_json(source: &ResultsSource, of: &ExperimentSummary) -> Result<()> {
    let report = source.report(of, Detail::Depths).await?;
    write_json(&mut anstream::stdout().lock(), &json::Report::from(&report))?;
    Ok(())
}
