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
pub(super) fn table(
    experiment: &ExperimentSummary,
    shown: Shown,
    answers: &Answers,
) -> Result<Rows> {
    let rows = match shown {
        Shown::Usual if experiment.task == Task::Choice => {
            csv::accuracy_rows(answers.report()?, true)
        }
        Shown::Table(TableName::Accuracy | TableName::Wins) => {
            csv::accuracy_rows(answers.report()?, true)
        }
        Shown::Table(TableName::Plies) => csv::accuracy_rows(answers.report()?, false),
        Shown::Usual | Shown::Table(TableName::Cells) => cell_rows(answers, ReportRows::Cells)?,
        Shown::Table(TableName::Moves) => cell_rows(answers, ReportRows::Moves)?,
        Shown::WithDepths | Shown::Table(TableName::Depths) => {
            cell_rows(answers, ReportRows::Depths)?
        }
        Shown::Table(TableName::Failures) => cell_rows(answers, ReportRows::Failures)?,
        Shown::Table(TableName::Colours) => csv::colour_rows(answers.report()?),
        Shown::Table(TableName::Margins) => csv::margin_rows(answers.report()?),
        Shown::Table(TableName::Claims) => csv::claim_rows(answers.report()?),
        Shown::Table(TableName::Runs) => csv::run_rows(answers.report()?),
        Shown::Table(TableName::Evolution) => csv::generation_rows(answers.report()?),
        Shown::Table(TableName::Family) => csv::family_rows(answers.report()?),
        Shown::Table(name @ (TableName::Engines | TableName::Forfeits)) => {
            csv::engine_or_forfeit_rows(answers.report()?, name)
        }
        Shown::Table(TableName::Disturbed) => csv::disturbed_rows(answers.report()?),
        Shown::Ratings | Shown::Table(TableName::Ratings) => {
            rating_rows(experiment, answers, GroupRows::Players)?
        }
        Shown::Table(TableName::Differences) => {
            rating_rows(experiment, answers, GroupRows::Differences)?
        }
        Shown::Table(TableName::Meetings) => rating_rows(experiment, answers, GroupRows::Meetings)?,
        Shown::Compared | Shown::Table(TableName::Gains) => {
            comparison_rows(answers, ComparedRows::Gains)?
        }
        Shown::Table(TableName::Effects) => comparison_rows(answers, ComparedRows::Effects)?,
        Shown::Table(TableName::Replicates) => comparison_rows(answers, ComparedRows::Replicates)?,
        Shown::Phases | Shown::Table(TableName::Phases) => phase_rows(answers, PhaseRows::Times)?,
        Shown::Table(TableName::Standardised) => phase_rows(answers, PhaseRows::Standardised)?,
        Shown::Table(TableName::Lengths) => overview_rows(answers, OverviewRows::Lengths)?,
        Shown::Table(TableName::Terminations) => {
            overview_rows(answers, OverviewRows::Terminations)?
        }
        Shown::Table(TableName::Workers) => overview_rows(answers, OverviewRows::Workers)?,
        Shown::Table(TableName::WorkerEffects) => {
            overview_rows(answers, OverviewRows::WorkerEffects)?
        }
    };
    Ok(rows.map_err(io::Error::from)?)
}

type RowsResult = Result<Rows, serde_json::Error>;

fn cell_rows(answers: &Answers, rows: ReportRows) -> Result<RowsResult> {
    Ok(csv::report_rows(&json::Report::from(answers.report()?), rows))
}

fn rating_rows(
    experiment: &ExperimentSummary,
    answers: &Answers,
    rows: GroupRows,
) -> Result<RowsResult> {
    Ok(csv::rating_rows(&experiment.name, &ratings_json::groups(answers.ratings()?), rows))
}

fn comparison_rows(answers: &Answers, rows: ComparedRows) -> Result<RowsResult> {
    Ok(csv::comparison_rows(&Compared::from(answers.comparisons()?), rows))
}

fn phase_rows(answers: &Answers, rows: PhaseRows) -> Result<RowsResult> {
    Ok(csv::phase_rows(&phases::Phases::from(answers.phases()?), rows))
}

fn overview_rows(answers: &Answers, rows: OverviewRows) -> Result<RowsResult> {
    Ok(csv::overview_rows(&overview::Overview::from(answers.overview()?), rows))
}
