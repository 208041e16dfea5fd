//! Answers that a report needs.

use spelrum_answers::{Detail, ExperimentSummary, Report};
use spelrum_model::Task;

use super::checks::reject_game_tables;
use super::formats::{ReportFormat, Shown};
use crate::error::Result;
use crate::tables::entry::Source;
use crate::tables::ratings::are_worth_showing;

/// Whether an answer is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The answer is not used.
    No,
    /// The answer is shown if it can be computed. The words complete "there are no … here".
    IfAvailable(&'static str),
    /// The report fails without the answer.
    Yes,
}

/// Answers that a report needs, in the best order to request them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// An axis whose name must be checked with [`check_axis`](super::check_axis).
    pub axis: Option<String>,
    /// The results by cell.
    pub report: Option<Detail>,
    /// Strength of players; see [`Needs::ratings`].
    ratings: Need,
    /// The differences between cells.
    pub comparisons: bool,
    /// The times of moves by phase, to be checked with [`check_phases`](super::check_phases).
    pub phases: bool,
    /// How games were played.
    pub overview: Need,
    /// Whether ratings are shown beside runs too.
    ratings_beside_runs: bool,
}

/// Comparing workers takes long in larger experiments, where text shows it only on request.
const COMPARED_GAMES_MAX: u64 = 100_000;

impl Needs {
    /// Returns the answers that a report in this format needs, with plots along `axis` where the format has plots.
    ///
    /// # Errors
    /// If the experiment has no such results.
    pub fn new(
        experiment: &ExperimentSummary,
        shown: Shown,
        format: ReportFormat,
        axis: Option<&str>,
    ) -> Result<Self> {
        if experiment.task == Task::Choice {
            reject_game_tables(experiment, shown)?;
        }
        let mut needs = match format {
            ReportFormat::Json => Self::for_everything(shown),
            ReportFormat::Text
            | ReportFormat::Markdown
            | ReportFormat::Latex
            | ReportFormat::Html
            | ReportFormat::Csv => Self::for_shown(shown),
        };
        let is_whole = matches!(shown, Shown::Usual | Shown::WithDepths);
        let settled = experiment.games_settled;
        match format {
            ReportFormat::Text | ReportFormat::Markdown | ReportFormat::Latex => {
                if is_whole && (1..=COMPARED_GAMES_MAX).contains(&settled) {
                    needs.overview = Need::IfAvailable("figures of who played");
                }
            }
            ReportFormat::Html => {
                needs.axis = axis.map(ToOwned::to_owned);
                if is_whole && settled > 0 {
                    needs.overview = Need::IfAvailable("figures of how games were played");
                }
            }
            ReportFormat::Csv => needs.ratings = needs.ratings.only_if_required(),
            ReportFormat::Json => {}
        }
        Ok(needs)
    }

    /// Returns the results of cells only, as a report of two experiments needs them for each.
    #[must_use]
    pub fn for_pair() -> Self {
        Self { report: Some(Detail::Cells), ..Self::NONE }
    }

    const NONE: Self = Self {
        axis: None,
        report: None,
        ratings: Need::No,
        comparisons: false,
        phases: false,
        overview: Need::No,
        ratings_beside_runs: false,
    };

    fn for_everything(shown: Shown) -> Self {
        Self {
            report: Some(Detail::Depths),
            ratings: match shown {
                Shown::Ratings => Need::Yes,
                Shown::Usual
                | Shown::WithDepths
                | Shown::Compared
                | Shown::Phases
                | Shown::Table(_) => Need::IfAvailable("ratings"),
            },
            comparisons: shown == Shown::Compared,
            phases: shown == Shown::Phases,
            overview: Need::IfAvailable("figures of how games were played"),
            ratings_beside_runs: true,
            axis: None,
        }
    }

    fn for_shown(shown: Shown) -> Self {
        match shown {
            Shown::Usual => Self {
                report: Some(Detail::Cells),
                ratings: Need::IfAvailable("ratings"),
                ..Self::NONE
            },
            Shown::WithDepths => Self {
                report: Some(Detail::Depths),
                ratings: Need::IfAvailable("ratings"),
                ..Self::NONE
            },
            Shown::Ratings => Self { ratings: Need::Yes, ..Self::NONE },
            Shown::Compared => Self { comparisons: true, ..Self::NONE },
            Shown::Phases => Self { phases: true, ..Self::NONE },
            Shown::Table(table) => Self::for_table(&table.entry().source),
        }
    }

    fn for_table(source: &Source) -> Self {
        match source {
            Source::Cells(_) => Self { report: Some(Detail::Cells), ..Self::NONE },
            Source::Depths(_) => Self { report: Some(Detail::Depths), ..Self::NONE },
            Source::Ratings(_) => Self { ratings: Need::Yes, ..Self::NONE },
            Source::Comparisons(_) => Self { comparisons: true, ..Self::NONE },
            Source::Phases(_) => Self { phases: true, ..Self::NONE },
            Source::Overview(_) => Self { overview: Need::Yes, ..Self::NONE },
        }
    }

    /// Returns whether ratings are needed beside these results. They are requested last, because they are not worth
    /// showing where cells give the same information.
    #[must_use]
    pub fn ratings(&self, report: Option<&Report>) -> Need {
        let is_worth_showing = report.is_some_and(|report| {
            report.experiment.task == Task::Game
                && (self.ratings_beside_runs || report.runs.is_empty())
                && are_worth_showing(report)
        });
        if is_worth_showing { self.ratings } else { self.ratings.only_if_required() }
    }
}

impl Need {
    fn only_if_required(self) -> Self {
        match self {
            Self::No | Self::IfAvailable(_) => Self::No,
            Self::Yes => Self::Yes,
        }
    }
}
