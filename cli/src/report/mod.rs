//! The result tables: who is stronger in each cell and how sure that is, and what a move costs; and how
//! strong all players are on one scale.

mod json;
mod ratings;
mod ratings_json;
mod text;

use ratings::Meetings;
use serde::Serialize;
use spelrum_tournament::results::{Detail, ExperimentSummary, Ratings, Report};

use crate::error::{CliError, MessageStyle, Result};
use crate::exit::Exit;
use crate::output::write_json;
use crate::results::ResultsSource;
use crate::voice;

/// Prints an experiment's tables for people.
pub(crate) async fn print(
    source: &ResultsSource,
    of: &ExperimentSummary,
    detail: Detail,
) -> Result<()> {
    let report = source.report(of, detail).await?;
    text::write(&report, &mut anstream::stdout().lock())?;
    if let Some(ratings) = ratings_worth_showing(source, of, &report).await {
        ratings::write(&ratings, Meetings::IfTheyFit, &mut anstream::stdout().lock())?;
    }
    Ok(())
}

/// Prints an experiment's ratings for people.
pub(crate) async fn print_ratings(source: &ResultsSource, of: &ExperimentSummary) -> Result<()> {
    let ratings = asked_for(source, of).await?;
    let out = &mut anstream::stdout().lock();
    text::heading(&ratings.experiment, out)?;
    ratings::write(&ratings, Meetings::All, out)?;
    Ok(())
}

/// Whether ratings are a part of what is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithRatings {
    /// Where they say what the cells do not.
    IfWorthShowing,
    /// At all points of the grid.
    Always,
}

/// Prints an experiment's results as JSON, with everything.
pub(crate) async fn print_json(
    source: &ResultsSource,
    of: &ExperimentSummary,
    with: WithRatings,
) -> Result<()> {
    #[derive(Serialize)]
    struct Everything<'a> {
        #[serde(flatten)]
        report: json::Report<'a>,
        ratings: Option<Vec<ratings_json::Group<'a>>>,
    }
    let report = source.report(of, Detail::Depths).await?;
    let ratings = match with {
        WithRatings::IfWorthShowing => ratings_worth_showing(source, of, &report).await,
        WithRatings::Always => Some(asked_for(source, of).await?),
    };
    let everything = Everything {
        report: json::Report::from(&report),
        ratings: ratings.as_ref().map(ratings_json::groups),
    };
    write_json(&mut anstream::stdout().lock(), &everything)?;
    Ok(())
}

/// The ratings of who met whom in a report, if they say what the cells do not. Nobody has asked for them: where
/// there are none, the report is there all the same.
async fn ratings_worth_showing(
    source: &ResultsSource,
    of: &ExperimentSummary,
    report: &Report,
) -> Option<Ratings> {
    if !ratings::are_worth_showing(report) {
        return None;
    }
    match source.ratings(of).await {
        Ok(ratings) => ratings,
        Err(error) => {
            let message = error.message(MessageStyle::Plain).unwrap_or_default();
            let problem = message.lines().next().unwrap_or_default();
            let problem = problem.strip_prefix("error: ").unwrap_or(problem);
            voice::say(&format!("note: there are no ratings here: {problem}"));
            None
        }
    }
}

async fn asked_for(source: &ResultsSource, of: &ExperimentSummary) -> Result<Ratings> {
    source.ratings(of).await?.ok_or_else(|| {
        CliError::new(Exit::Input, format!("rate the players of {}", of.name))
            .because("the coordinator is of an earlier release, which has no ratings")
            .help("update it, or read its database: spelrum report --ratings --db FILE")
    })
}
