//! An experiment's results in every format: which player is stronger in each cell and with what confidence, the cost
//! of a move, and the strength of all players on one scale.
//!
//! A caller fetches the answers that [`Needs`] names, from any source, and passes the [`Answers`] to [`write()`].

mod checks;
mod everything;
mod formats;
mod needs;
mod page;
mod pair;
#[cfg(test)]
mod pins;
mod style;

use std::io::{BufWriter, Write};
use std::path::Path;

use maud::Markup;
use spelrum_answers::ExperimentSummary;

pub use checks::check_axis;
pub use formats::{ReportFormat, Shown};
pub use needs::{Need, Needs};
use page::{Page, facts, first_table};
pub use pair::Pair;
pub use style::TableStyle;
use style::no_such_column;

pub use crate::answers::{Answers, TableAnswer};
use crate::data::write_csv;
use crate::document::Part;
use crate::error::{Error, Kind, Result};
use crate::match_block;
use crate::plot::{plot_files, write_plots};
use crate::tables::accuracy;

/// Text of a page without data to plot.
const NOTHING_PLAYED: &str = "No game has been played yet, so that there is nothing to plot.";

/// Writes an experiment's results.
///
/// # Errors
/// If the output cannot be written, the style names a column that is absent, or an answer is missing.
pub fn write(
    experiment: &ExperimentSummary,
    shown: Shown,
    format: ReportFormat,
    style: &TableStyle,
    answers: &Answers,
    out: &mut dyn Write,
) -> Result<()> {
    let mut out = BufWriter::new(out);
    match format {
        ReportFormat::Text | ReportFormat::Markdown | ReportFormat::Latex => {
            let mut page = Page::new(shown, answers, None)?;
            page.warn_of_workers(shown, answers);
            let mut document = page.document;
            if format == ReportFormat::Text {
                accuracy::shorten(&mut document.parts);
            }
            style.apply(&mut document)?;
            match format {
                ReportFormat::Markdown => document.write_markdown(&mut out)?,
                ReportFormat::Latex => document.write_latex(style.latex, &mut out)?,
                ReportFormat::Text
                | ReportFormat::Html
                | ReportFormat::Csv
                | ReportFormat::Match
                | ReportFormat::Json => document.write_text(&mut out)?,
            }
        }
        ReportFormat::Html => {
            let page = html_page(experiment, shown, answers, style.axis.as_deref())?;
            let Page { mut document, figures, question, engine_revision } = page;
            style.apply(&mut document)?;
            document.write_html(
                &question,
                facts(experiment, engine_revision),
                &figures,
                &mut out,
            )?;
        }
        ReportFormat::Csv => {
            let mut rows =
                first_table(experiment.task, shown).source.rows(answers)?.csv(&experiment.name);
            if let Some(names) = &style.columns {
                rows.choose_columns(names).map_err(|headings| no_such_column(names, &headings))?;
            }
            write_csv(&mut out, &rows.headings, &rows.rows)?;
        }
        ReportFormat::Match => match_block::write(answers.require()?, &mut out)?,
        ReportFormat::Json => everything::write(answers, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

/// The tables and plots of an experiment for a browser, along this axis.
fn html_page(
    experiment: &ExperimentSummary,
    shown: Shown,
    answers: &Answers,
    axis: Option<&str>,
) -> Result<Page> {
    let mut page = Page::new(shown, answers, axis)?;
    page.add_overview(experiment, shown, answers, axis)?;
    if experiment.games_settled == 0 {
        page.document.parts.insert(0, Part::Words(NOTHING_PLAYED.to_owned()));
    }
    Ok(page)
}

/// The contents of the usual HTML report, for a page that has more. `cell_games` is the address of the games of a cell,
/// without the cell's id at its end.
pub(crate) fn report_markup(
    experiment: &ExperimentSummary,
    answers: &Answers,
    cell_games: Option<&str>,
) -> Result<Markup> {
    let page = html_page(experiment, Shown::Usual, answers, None)?;
    let Page { document, figures, question, engine_revision } = page;
    let facts = facts(experiment, engine_revision);
    Ok(document.html_contents(&question, facts, &figures, cell_games)?)
}

/// Writes every plot of an experiment's page as a separate file, and prints the paths.
///
/// # Errors
/// If there is nothing to plot, or the files cannot be written.
pub fn write_figures(
    experiment: &ExperimentSummary,
    shown: Shown,
    style: &TableStyle,
    answers: &Answers,
    directory: &Path,
    out: &mut dyn Write,
) -> Result<()> {
    let axis = style.axis.as_deref();
    let mut page = Page::new(shown, answers, axis)?;
    page.add_overview(experiment, shown, answers, axis)?;
    let about = format!(
        "{} ({}), by spelrum {}.",
        experiment.name,
        experiment.uuid,
        env!("CARGO_PKG_VERSION")
    );
    // All are drawn before the first is written.
    let files = plot_files(&page.figures, style.plot_size, &about)?;
    if files.is_empty() {
        return Err(Error::new(Kind::Input, format!("draw figures of {}", experiment.name))
            .because(match experiment.games_settled {
                0 => "no game has been played yet, so that there is nothing to plot",
                _ => "there is nothing to plot in what is shown",
            })
            .help("see what there is: spelrum report"));
    }
    write_plots(&files, directory, out)
}
