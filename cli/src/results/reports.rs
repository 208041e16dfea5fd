//! Reports: reads the results that they need, and writes them.

use std::io::Write;
use std::path::Path;

use spelrum_answers::{
    Comparisons, Detail, ExperimentQuestion, ExperimentSummary, OutcomeLengths, Overview, Phases,
    Ratings, Report,
};
use spelrum_report::document::LatexStyle;
use spelrum_report::experiment::{
    self, Answers, Need, Needs, Pair, ReportFormat, Shown, TableAnswer, TableStyle, check_axis,
};
use spelrum_store::Question;

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
    let answers = ask_for(source, summary, shown, format, style).await?;
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
    let answers = ask_for(source, summary, shown, ReportFormat::Html, style).await?;
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
    let overviews: [Option<Overview>; 2] = [
        unless_failed(noun, ask_about(source, first).await),
        unless_failed(noun, ask_about(source, second).await),
    ];
    Ok(pair.write(overviews.each_ref().map(Option::as_ref), format, latex, out)?)
}

/// The answers that an experiment's results are written from.
pub(super) async fn ask_for(
    source: &ResultsSource,
    summary: &ExperimentSummary,
    shown: Shown,
    format: ReportFormat,
    style: &TableStyle,
) -> Result<Answers> {
    let needs = &Needs::new(summary, shown, format, style.axis.as_deref())?;
    if let Some(axis) = &needs.axis {
        let axes = source.cells(summary, None).await?.axes;
        check_axis(summary, &axes, axis)?;
    }
    let mut answers = Answers::default();
    if let Some(detail) = needs.report {
        let report = source.report(summary, detail).await?;
        answers.add(Report { equal_within: style.equal_within, ..report });
    }
    add::<Ratings>(&mut answers, needs, source, summary).await?;
    add::<Comparisons>(&mut answers, needs, source, summary).await?;
    add::<Phases>(&mut answers, needs, source, summary).await?;
    add::<OutcomeLengths>(&mut answers, needs, source, summary).await?;
    add::<Overview>(&mut answers, needs, source, summary).await?;
    Ok(answers)
}

/// Adds an answer as far as it is needed.
async fn add<A>(
    answers: &mut Answers,
    needs: &Needs,
    source: &ResultsSource,
    summary: &ExperimentSummary,
) -> Result<()>
where
    A: TableAnswer,
    A::Question: Question + ExperimentQuestion,
{
    let answer = match needs.answer::<A>(answers.get()) {
        Need::No => None,
        Need::IfAvailable(noun) => unless_failed(noun, ask_about::<A>(source, summary).await),
        Need::Yes => Some(ask_about::<A>(source, summary).await?),
    };
    answer.into_iter().for_each(|answer| answers.add(answer));
    Ok(())
}

async fn ask_about<A>(source: &ResultsSource, summary: &ExperimentSummary) -> Result<A>
where
    A: TableAnswer,
    A::Question: Question + ExperimentQuestion,
{
    let question = A::Question::about(summary.uuid.clone());
    let answer = source.ask(&format!("{} {}", A::ACTION, summary.name), question).await?;
    answer.check()?;
    Ok(answer)
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
