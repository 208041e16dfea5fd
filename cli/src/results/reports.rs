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
    of: &ExperimentSummary,
    shown: Shown,
    format: ReportFormat,
    style: &TableStyle,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let needs = Needs::new(of, shown, format, style.axis.as_deref())?;
    let answers = ask(source, of, &needs).await?;
    Ok(experiment::write(of, shown, format, style, &answers, out)?)
}

/// Writes every plot of an experiment's page as a separate file, and prints the paths.
pub(crate) async fn write_figures(
    source: &ResultsSource,
    of: &ExperimentSummary,
    shown: Shown,
    style: &TableStyle,
    directory: &Path,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    let needs = Needs::new(of, shown, ReportFormat::Html, style.axis.as_deref())?;
    let answers = ask(source, of, &needs).await?;
    Ok(experiment::write_figures(of, shown, style, &answers, directory, out)?)
}

/// Writes a comparison of two experiments.
pub(crate) async fn write_pair(
    source: &ResultsSource,
    of: [&ExperimentSummary; 2],
    format: ReportFormat,
    latex: LatexStyle,
    out: &mut (dyn Write + Send),
) -> Result<()> {
    Pair::check(of)?;
    let [first, second] = of;
    let reports =
        [source.report(first, Detail::Cells).await?, source.report(second, Detail::Cells).await?];
    let pair = Pair::new(of, reports.each_ref())?;
    let what = "figures of how games were played";
    let overviews = [
        unless_failed(what, source.overview(first).await),
        unless_failed(what, source.overview(second).await),
    ];
    Ok(pair.write(overviews.each_ref().map(Option::as_ref), format, latex, out)?)
}

async fn ask(source: &ResultsSource, of: &ExperimentSummary, needs: &Needs) -> Result<Answers> {
    if let Some(axis) = &needs.axis {
        let (axes, _, _) = source.cells(of, None).await?;
        check_axis(of, &axes, axis)?;
    }
    let mut answers = Answers::default();
    if let Some(detail) = needs.report {
        answers.report = Some(source.report(of, detail).await?);
    }
    let ratings = needs.ratings(answers.report.as_ref());
    answers.ratings = ask_for(ratings, source.ratings(of)).await?;
    if needs.comparisons {
        answers.comparisons = Some(source.comparisons(of).await?);
    }
    if needs.phases {
        answers.phases = Some(check_phases(of, source.phases(of).await?)?);
    }
    answers.overview = ask_for(needs.overview, source.overview(of)).await?;
    Ok(answers)
}

async fn ask_for<T>(need: Need, question: impl Future<Output = Result<T>>) -> Result<Option<T>> {
    match need {
        Need::No => Ok(None),
        Need::IfAvailable(what) => Ok(unless_failed(what, question.await)),
        Need::Yes => question.await.map(Some),
    }
}

/// Drops a failed answer that the report can do without, with a note.
fn unless_failed<T>(what: &str, answer: Result<T>) -> Option<T> {
    answer.map(Some).unwrap_or_else(|error| {
        let message = error.message(MessageStyle::Plain).unwrap_or_default();
        let problem = message.lines().next().unwrap_or_default();
        let problem = problem.strip_prefix("error: ").unwrap_or(problem);
        notices::say(&format!("note: there are no {what} here: {problem}"));
        None
    })
}
