//! Reports: reads the results that they need, and writes them.

use std::io::Write;
use std::path::Path;

use spelrum_answers::{Detail, ExperimentSummary};
use spelrum_report::document::LatexStyle;
use spelrum_report::experiment::{
    self, Answers, Need, Needs, Pair, ReportFormat, Shown, TableStyle, check_axis, check_phases,
};

use super::source::ResultsSource;
use crate::error::{MessageStyle, Result};
use crate::terminal::notices;

/// Writes an experiment's results.
pub(crate) async fn write_report(
    source: &ResultsSource,
    summary: &ExperimentSummary,
    shown: Shown,
    format: ReportFormat,
    style: &TableStyle,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let needs = Needs::new(summary, shown, format, style.axis.as_deref())?;
    let answers = ask(source, summary, &needs).await?;
    Ok(experiment::write(summary, shown, format, style, &answers, out)?)
}

/// Writes every plot of an experiment's page as a separate file, and prints the paths.
pub(crate) async fn write_figures(
    source: &ResultsSource,
    summary: &ExperimentSummary,
    shown: Shown,
    style: &TableStyle,
    directory: &Path,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let needs = Needs::new(summary, shown, ReportFormat::Html, style.axis.as_deref())?;
    let answers = ask(source, summary, &needs).await?;
    Ok(experiment::write_figures(summary, shown, style, &answers, directory, out)?)
}

/// Writes a comparison of two experiments.
pub(crate) async fn write_pair(
    source: &ResultsSource,
    summaries: [&ExperimentSummary; 2],
    format: ReportFormat,
    latex: LatexStyle,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    Pair::check(summaries)?;
    let [first, second] = summaries;
    let reports =
        [source.report(first, Detail::Cells).await?, source.report(second, Detail::Cells).await?];
    let pair = Pair::new(summaries, reports.each_ref())?;
    let noun = "figures of how games were played";
    let overviews = [
        unless_failed(noun, source.overview(first).await),
        unless_failed(noun, source.overview(second).await),
    ];
    Ok(pair.write(overviews.each_ref().map(Option::as_ref), format, latex, out)?)
}

async fn ask(
    source: &ResultsSource,
    summary: &ExperimentSummary,
    needs: &Needs,
) -> Result<Answers> {
    if let Some(axis) = &needs.axis {
        let axes = source.cells(summary, None).await?.axes;
        check_axis(summary, &axes, axis)?;
    }
    let mut answers = Answers::default();
    if let Some(detail) = needs.report {
        answers.report = Some(source.report(summary, detail).await?);
    }
    let ratings = needs.ratings(answers.report.as_ref());
    answers.ratings = ask_for(ratings, source.ratings(summary)).await?;
    if needs.comparisons {
        answers.comparisons = Some(source.comparisons(summary).await?);
    }
    if needs.phases {
        answers.phases = Some(check_phases(summary, source.phases(summary).await?)?);
    }
    answers.overview = ask_for(needs.overview, source.overview(summary)).await?;
    Ok(answers)
}

async fn ask_for<T>(need: Need, question: impl Future<Output = Result<T>>) -> Result<Option<T>> {
    match need {
        Need::No => Ok(None),
        Need::IfAvailable(noun) => Ok(unless_failed(noun, question.await)),
        Need::Yes => question.await.map(Some),
    }
}

/// Drops a failed answer that the report can do without, with a note.
fn unless_failed<T>(noun: &str, answer: Result<T>) -> Option<T> {
    answer.map(Some).unwrap_or_else(|error| {
        let message = error.message(MessageStyle::Plain).unwrap_or_default();
        let problem = message.lines().next().unwrap_or_default();
        let problem = problem.strip_prefix("error: ").unwrap_or(problem);
        notices::notify(&format!("note: could not compute {noun}: {problem}"));
        None
    })
}
