//! Tables for people, and plots of their contents.

use std::any::TypeId;

use spelrum_answers::{Comparisons, ExperimentSummary, Ratings, Report, date_time};
use spelrum_model::Task;

use super::formats::Shown;
use crate::answers::Answers;
use crate::document::{Document, Part};
use crate::error::Result;
use crate::figures;
use crate::plot::Figure;
use crate::tables::entry::TableEntry;
use crate::tables::ratings::{self, Meetings};
use crate::tables::{
    accuracy, cells, comparisons, costs, evolution, overview, phases, registry, replicated, text,
    worker_effects,
};

/// Tables for people, and plots of their contents.
pub(super) struct Page {
    pub(super) document: Document,
    pub(super) figures: Vec<Figure>,
    /// The experiment's question and its engine revision, where these came with the tables.
    pub(super) question: String,
    pub(super) engine_revision: Option<u32>,
}

impl Page {
    fn from_parts(experiment: &ExperimentSummary, parts: Vec<Part>, figures: Vec<Figure>) -> Self {
        let document = text::document(experiment, parts);
        Self { document, figures, question: String::new(), engine_revision: None }
    }

    /// Creates the page, with plots along this axis.
    pub(super) fn new(shown: Shown, answers: &Answers, axis: Option<&str>) -> Result<Self> {
        match shown {
            Shown::Usual | Shown::WithDepths => Self::from_cells(answers, axis),
            Shown::Ratings => {
                let ratings: &Ratings = answers.require()?;
                let parts = ratings::parts(ratings, Meetings::All);
                let figures = figures::rating_figures(ratings);
                Ok(Self::from_parts(&ratings.experiment, parts, figures))
            }
            Shown::Compared | Shown::Phases => {
                let table = first_table(Task::Game, shown);
                let parts = registry::page(table, answers)?;
                let compared = answers.get::<Comparisons>().filter(|_| shown == Shown::Compared);
                let figures = compared
                    .map(|compared| figures::compared_figures(compared, axis))
                    .unwrap_or_default();
                Ok(Self::from_parts(table.source.experiment(answers)?, parts, figures))
            }
            Shown::Table(name) => {
                let table = name.entry();
                let parts = registry::only(table, answers)?;
                let page = Self::from_parts(table.source.experiment(answers)?, parts, Vec::new());
                Ok(match answers.get() {
                    Some(report) if is_of_report(table) => page.with_question(report),
                    _ => page,
                })
            }
        }
    }

    fn from_cells(answers: &Answers, axis: Option<&str>) -> Result<Self> {
        let report: &Report = answers.require()?;
        let mut parts = registry::page(&cells::TABLE, answers)?;
        if replicated::are_shown(report) {
            let is_of_single_cells =
                |part: &Part| matches!(part, Part::Table(table) if table.name == cells::TABLE.name);
            parts.retain(|part| !is_of_single_cells(part));
        }
        let mut figures = figures::report_figures(report, axis);
        if !report.runs.is_empty() {
            // There are as many cells as steps, and one line states their purpose.
            parts.retain(
                |part| matches!(part, Part::Table(table) if registry::is_shown_with_runs(table.name)),
            );
            figures = evolution::figure(report).into_iter().collect();
        } else if let Some(ratings) = answers.get() {
            parts.extend(ratings::parts(ratings, Meetings::IfTheyFit));
            figures.extend(figures::rating_figures(ratings));
        }
        Ok(Self::from_parts(&report.experiment, parts, figures).with_question(report))
    }

    fn with_question(self, report: &Report) -> Self {
        let (question, engine_revision) = (report.description.clone(), report.engine_revision);
        Self { question, engine_revision, ..self }
    }

    /// Adds warnings about differences between workers, if everything is shown.
    pub(super) fn warn_of_workers(&mut self, shown: Shown, answers: &Answers) {
        if is_whole(shown) {
            let warnings = answers.get().into_iter().flat_map(worker_effects::warnings);
            self.document.parts.extend(warnings.map(Part::Words));
        }
    }

    /// Adds how the games were played, if everything is shown.
    pub(super) fn add_overview(
        &mut self,
        experiment: &ExperimentSummary,
        shown: Shown,
        answers: &Answers,
        axis: Option<&str>,
    ) -> Result<()> {
        let Some(played) = answers.get().filter(|_| is_whole(shown)) else {
            return Ok(());
        };
        match experiment.task {
            Task::Game => {
                self.document.parts.push(Part::Heading("How the games were played".to_owned()));
                self.document.parts.extend(registry::page(&overview::LENGTHS, answers)?);
                self.figures.extend(figures::overview_figures(played, axis));
            }
            // Every choice is one move long.
            Task::Choice => {
                self.document.parts.extend(registry::only(&overview::WORKERS, answers)?);
            }
        }
        Ok(())
    }
}

/// Returns the shown table, or the first of several.
pub(super) fn first_table(task: Task, shown: Shown) -> &'static TableEntry {
    match shown {
        Shown::Usual if task == Task::Choice => &accuracy::ACCURACY,
        Shown::Usual => &cells::TABLE,
        Shown::WithDepths => &costs::DEPTHS,
        Shown::Ratings => &ratings::RATINGS,
        Shown::Compared => &comparisons::GAINS,
        Shown::Phases => &phases::TIMES,
        Shown::Table(name) => name.entry(),
    }
}

/// Whether the table is made of the results by cell.
fn is_of_report(table: &TableEntry) -> bool {
    table.source.answer() == TypeId::of::<Report>()
}

fn is_whole(shown: Shown) -> bool {
    matches!(shown, Shown::Usual | Shown::WithDepths)
}

/// Facts that identify an experiment and the report.
pub(super) fn facts(
    experiment: &ExperimentSummary,
    engine_revision: Option<u32>,
) -> impl Iterator<Item = (&'static str, String)> {
    let page_by = concat!("spelrum ", env!("CARGO_PKG_VERSION")).to_owned();
    [
        ("experiment", experiment.uuid.clone()),
        ("submitted", date_time(experiment.submitted_unix_us)),
    ]
    .into_iter()
    .chain(engine_revision.map(|revision| ("engine revision", revision.to_string())))
    .chain([("page by", page_by)])
}
