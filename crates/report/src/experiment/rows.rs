//! One table of an experiment for programs.

use std::io;

use spelrum_answers::ExperimentSummary;
use spelrum_model::Task;

use super::formats::Shown;
use super::needs::Answers;
use crate::error::Result;
use crate::tables::comparisons_json::Compared;
use crate::tables::csv::{self, ComparedRows, OverviewRows, PhaseRows, ReportRows, Rows};
use crate::tables::ratings_json::{self, GroupRows};
use crate::tables::{TableName, json, overview, phases};

/// Returns the rows of the shown table, or of the first of several.
pub(super) fn table(of: &ExperimentSummary, shown: Shown, answers: &Answers) -> Result<Rows> {
    let rows = match shown {
        Shown::Usual if of.task == Task::Choice => csv::of_accuracy(answers.report()?, true),
        Shown::Table(TableName::Accuracy | TableName::Wins) => {
            csv::of_accuracy(answers.report()?, true)
        }
        Shown::Table(TableName::Plies) => csv::of_accuracy(answers.report()?, false),
        Shown::Usual | Shown::Table(TableName::Cells) => of_cells(answers, ReportRows::Cells)?,
        Shown::Table(TableName::Moves) => of_cells(answers, ReportRows::Moves)?,
        Shown::WithDepths | Shown::Table(TableName::Depths) => {
            of_cells(answers, ReportRows::Depths)?
        }
        Shown::Table(TableName::Failures) => of_cells(answers, ReportRows::Failures)?,
        Shown::Table(TableName::Colours) => csv::of_colours(answers.report()?),
        Shown::Table(TableName::Margins) => csv::of_margins(answers.report()?),
        Shown::Table(TableName::Claims) => csv::of_claims(answers.report()?),
        Shown::Table(TableName::Runs) => csv::of_runs(answers.report()?),
        Shown::Table(TableName::Evolution) => csv::of_generations(answers.report()?),
        Shown::Table(TableName::Family) => csv::of_families(answers.report()?),
        Shown::Table(name @ (TableName::Engines | TableName::Forfeits)) => {
            csv::of_engines_or_forfeits(answers.report()?, name)
        }
        Shown::Table(TableName::Disturbed) => csv::of_disturbed(answers.report()?),
        Shown::Ratings | Shown::Table(TableName::Ratings) => {
            of_ratings(of, answers, GroupRows::Players)?
        }
        Shown::Table(TableName::Differences) => of_ratings(of, answers, GroupRows::Differences)?,
        Shown::Table(TableName::Meetings) => of_ratings(of, answers, GroupRows::Meetings)?,
        Shown::Compared | Shown::Table(TableName::Gains) => {
            of_comparisons(answers, ComparedRows::Gains)?
        }
        Shown::Table(TableName::Effects) => of_comparisons(answers, ComparedRows::Effects)?,
        Shown::Table(TableName::Replicates) => of_comparisons(answers, ComparedRows::Replicates)?,
        Shown::Phases | Shown::Table(TableName::Phases) => of_phases(answers, PhaseRows::Times)?,
        Shown::Table(TableName::Standardised) => of_phases(answers, PhaseRows::Standardised)?,
        Shown::Table(TableName::Lengths) => of_overview(answers, OverviewRows::Lengths)?,
        Shown::Table(TableName::Terminations) => of_overview(answers, OverviewRows::Terminations)?,
        Shown::Table(TableName::Workers) => of_overview(answers, OverviewRows::Workers)?,
        Shown::Table(TableName::WorkerEffects) => {
            of_overview(answers, OverviewRows::WorkerEffects)?
        }
    };
    Ok(rows.map_err(io::Error::from)?)
}

type Written = Result<Rows, serde_json::Error>;

fn of_cells(answers: &Answers, which: ReportRows) -> Result<Written> {
    Ok(csv::of_report(&json::Report::from(answers.report()?), which))
}

fn of_ratings(of: &ExperimentSummary, answers: &Answers, which: GroupRows) -> Result<Written> {
    Ok(csv::of_ratings(&of.name, &ratings_json::groups(answers.ratings()?), which))
}

fn of_comparisons(answers: &Answers, which: ComparedRows) -> Result<Written> {
    Ok(csv::of_comparisons(&Compared::from(answers.comparisons()?), which))
}

fn of_phases(answers: &Answers, which: PhaseRows) -> Result<Written> {
    Ok(csv::of_phases(&phases::Phases::from(answers.phases()?), which))
}

fn of_overview(answers: &Answers, which: OverviewRows) -> Result<Written> {
    Ok(csv::of_overview(&overview::Overview::from(answers.overview()?), which))
}
