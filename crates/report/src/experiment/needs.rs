//! Answers that a report needs.

use std::any::TypeId;

use spelrum_answers::{Comparisons, Detail, ExperimentSummary, Overview, Phases, Ratings, Report};
use spelrum_model::Task;

use super::checks::{reject_game_tables, reject_other_than_matches};
use super::formats::{ReportFormat, Shown};
use crate::answers::TableAnswer;
use crate::error::Result;
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
    /// Strength of players, beside what is shown.
    ratings: Need,
    /// How games were played, beside what is shown.
    overview: Need,
    /// What is shown, if that is not made of results by cell.
    shown: Option<TypeId>,
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
        if format == ReportFormat::Match {
            reject_other_than_matches(experiment, shown)?;
        }
        let mut needs = match format {
            ReportFormat::Json => Self::for_everything(shown),
            ReportFormat::Text
            | ReportFormat::Markdown
            | ReportFormat::Latex
            | ReportFormat::Html
            | ReportFormat::Csv => Self::for_shown(shown),
            ReportFormat::Match => Self::for_pair(),
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
            ReportFormat::Csv => needs.ratings = Need::No,
            ReportFormat::Match | ReportFormat::Json => {}
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
        overview: Need::No,
        shown: None,
        ratings_beside_runs: false,
    };

    fn for_everything(shown: Shown) -> Self {
        Self {
            report: Some(Detail::Depths),
            ratings: Need::IfAvailable("ratings"),
            overview: Need::IfAvailable("figures of how games were played"),
            ratings_beside_runs: true,
            ..Self::for_shown(shown)
        }
    }

    fn for_shown(shown: Shown) -> Self {
        let alone = |answer| Self { shown: Some(answer), ..Self::NONE };
        let beside_ratings = |detail| Self {
            report: Some(detail),
            ratings: Need::IfAvailable("ratings"),
            ..Self::NONE
        };
        match shown {
            Shown::Usual => beside_ratings(Detail::Cells),
            Shown::WithDepths => beside_ratings(Detail::Depths),
            Shown::Ratings => alone(TypeId::of::<Ratings>()),
            Shown::Compared => alone(TypeId::of::<Comparisons>()),
            Shown::Phases => alone(TypeId::of::<Phases>()),
            Shown::Table(table) => {
                let table = table.entry();
                match table.source.answer() {
                    answer if answer == TypeId::of::<Report>() => {
                        Self { report: Some(table.detail), ..Self::NONE }
                    }
                    answer => alone(answer),
                }
            }
        }
    }

    /// Returns whether an answer is needed, other than the results by cell. Ratings beside these depend on them, because
    /// they are not worth showing where cells give the same information.
    #[must_use]
    pub fn answer<A: TableAnswer>(&self, report: Option<&Report>) -> Need {
        let answer = TypeId::of::<A>();
        if self.shown == Some(answer) {
            Need::Yes
        } else if answer == TypeId::of::<Overview>() {
            self.overview
        } else if answer == TypeId::of::<Ratings>() && self.are_ratings_worth_showing(report) {
            self.ratings
        } else {
            Need::No
        }
    }

    fn are_ratings_worth_showing(&self, report: Option<&Report>) -> bool {
        report.is_some_and(|report| {
            report.experiment.task == Task::Game
                && (self.ratings_beside_runs || report.runs.is_empty())
                && are_worth_showing(report)
        })
    }
}
