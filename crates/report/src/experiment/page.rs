//! Tables for people, and plots of their contents.

use clap::ValueEnum as _;
use spelrum_answers::{ExperimentSummary, date_time};
use spelrum_model::Task;

use super::formats::Shown;
use super::needs::Answers;
use crate::document::{Document, Part, TitledTable};
use crate::error::Result;
use crate::figures;
use crate::plot::Figure;
use crate::tables::ratings::{self, Meetings};
use crate::tables::{
    TableName, claims, comparisons, disturbance, engines, evolution, forfeits, overview, phases,
    runs, text, worker_effects,
};

/// Tables that an experiment with runs shows by default.
const SHOWN_OF_RUNS: [&str; 6] = [
    runs::RUNS,
    evolution::EVOLUTION,
    engines::ENGINES,
    forfeits::FORFEITS,
    disturbance::DISTURBED,
    text::FAILURES,
];

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
        Ok(match shown {
            Shown::Ratings => {
                let ratings = answers.ratings()?;
                let parts = ratings::parts(ratings, Meetings::All);
                let figures = figures::rating_figures(ratings);
                Self::from_parts(&ratings.experiment, parts, figures)
            }
            Shown::Table(name @ (TableName::Ratings | TableName::Meetings)) => {
                let ratings = answers.ratings()?;
                let parts = only(name, ratings::parts(ratings, Meetings::AskedFor));
                Self::from_parts(&ratings.experiment, parts, Vec::new())
            }
            Shown::Table(TableName::Differences) => {
                let ratings = answers.ratings()?;
                Self::from_parts(&ratings.experiment, ratings::differences(ratings), Vec::new())
            }
            Shown::Compared => {
                let compared = answers.comparisons()?;
                Self::from_parts(&compared.experiment, comparisons::parts(compared), Vec::new())
            }
            Shown::Table(
                name @ (TableName::Gains | TableName::Effects | TableName::Replicates),
            ) => {
                let compared = answers.comparisons()?;
                let parts = only(name, comparisons::parts(compared));
                Self::from_parts(&compared.experiment, parts, Vec::new())
            }
            Shown::Phases => {
                let times = answers.phases()?;
                Self::from_parts(&times.experiment, phases::parts(times), Vec::new())
            }
            Shown::Table(name @ (TableName::Phases | TableName::Standardised)) => {
                let times = answers.phases()?;
                let parts = only(name, phases::parts(times));
                Self::from_parts(&times.experiment, parts, Vec::new())
            }
            Shown::Table(
                name @ (TableName::Lengths
                | TableName::Terminations
                | TableName::Workers
                | TableName::WorkerEffects),
            ) => {
                let played = answers.overview()?;
                let parts = only(name, overview::parts(played));
                Self::from_parts(&played.experiment, parts, Vec::new())
            }
            Shown::Usual
            | Shown::WithDepths
            | Shown::Table(
                TableName::Claims
                | TableName::Runs
                | TableName::Evolution
                | TableName::Family
                | TableName::Cells
                | TableName::Colours
                | TableName::Margins
                | TableName::Accuracy
                | TableName::Wins
                | TableName::Plies
                | TableName::Moves
                | TableName::Depths
                | TableName::Engines
                | TableName::Forfeits
                | TableName::Disturbed
                | TableName::Failures,
            ) => Self::from_cells(shown, answers, axis)?,
        })
    }

    fn from_cells(shown: Shown, answers: &Answers, axis: Option<&str>) -> Result<Self> {
        let report = answers.report()?;
        let mut figures = figures::report_figures(report, axis);
        let mut parts = claims::parts(report);
        parts.extend(text::parts(report));
        if let Shown::Table(name) = shown {
            parts = only(name, parts);
            figures.clear();
        } else if !report.runs.is_empty() {
            // There are as many cells as steps, and one line states their purpose.
            let is_shown = |table: &TitledTable| SHOWN_OF_RUNS.contains(&table.name);
            parts.retain(|part| matches!(part, Part::Table(table) if is_shown(table)));
            figures = evolution::figure(report).into_iter().collect();
        } else if let Some(ratings) = &answers.ratings {
            parts.extend(ratings::parts(ratings, Meetings::IfTheyFit));
            figures.extend(figures::rating_figures(ratings));
        }
        let page = Self::from_parts(&report.experiment, parts, figures);
        let (question, engine_revision) = (report.description.clone(), report.engine_revision);
        Ok(Self { question, engine_revision, ..page })
    }

    /// Adds warnings about differences between workers, if everything is shown.
    pub(super) fn warn_of_workers(&mut self, shown: Shown, answers: &Answers) {
        if is_whole(shown) {
            let warnings = answers.overview.iter().flat_map(worker_effects::warnings);
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
    ) {
        let Some(played) = answers.overview.as_ref().filter(|_| is_whole(shown)) else { return };
        let parts = overview::parts(played);
        match experiment.task {
            Task::Game => {
                self.document.parts.push(Part::Heading("How the games were played".to_owned()));
                self.document.parts.extend(parts);
                self.figures.extend(figures::overview_figures(played, axis));
            }
            // Every choice is one move long.
            Task::Choice => self.document.parts.extend(only(TableName::Workers, parts)),
        }
    }
}

fn is_whole(shown: Shown) -> bool {
    matches!(shown, Shown::Usual | Shown::WithDepths)
}

/// Returns the tables with this name, or the sentence in their place.
fn only(name: TableName, mut parts: Vec<Part>) -> Vec<Part> {
    let asked = name.to_possible_value();
    let is_asked = |table: &TitledTable| {
        // The cells of claims belong to them.
        asked.as_ref().is_some_and(|name| name.get_name() == table.name)
            || (name == TableName::Claims && table.name == claims::CELLS)
    };
    // Sentences between tables refer to the tables that follow.
    let has_tables = parts.iter().any(|part| matches!(part, Part::Table(_)));
    parts.retain(|part| match part {
        Part::Table(table) => is_asked(table),
        Part::Words(_) => !has_tables,
        Part::Heading(_) => false,
    });
    if parts.is_empty() {
        parts.push(Part::Words("there is nothing to show".to_owned()));
    }
    parts
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
