//! The definition of one table: its names, the answer it is made of, and its two forms.

use spelrum_answers::{Comparisons, ExperimentSummary, Overview, Phases, Ratings, Report};

use super::rows::Rows;
use crate::answers::Answers;
use crate::document::{Part, TitledTable};
use crate::error::Result;

/// A table. Everything that needs a list of tables reads it from [`TABLES`](super::registry::TABLES).
pub(crate) struct TableEntry {
    /// The word that requests it.
    pub(crate) name: &'static str,
    /// Its contents, in a few words.
    pub(crate) help: &'static str,
    pub(crate) source: Source,
    /// Whether accuracy experiments have it, too.
    pub(crate) has_choices: bool,
    /// Whether a report of an experiment with runs shows it by default.
    pub(crate) is_shown_with_runs: bool,
    /// The key of its rows at the top of JSON; `None` where JSON has them elsewhere, or not.
    pub(crate) json: Option<&'static str>,
    /// The table that precedes it on a page; otherwise that is the one before it in the list.
    pub(crate) page_after: Option<&'static str>,
}

/// The answer that a table is made of.
pub(crate) enum Source {
    Cells(View<Report>),
    /// Results that include the costs of moves by depth.
    Depths(View<Report>),
    Ratings(View<Ratings>),
    Comparisons(View<Comparisons>),
    Phases(View<Phases>),
    Overview(View<Overview>),
}

/// Both forms of a table.
pub(crate) struct View<A: 'static> {
    /// Its part of a page, for people; empty where it has nothing to show.
    pub(crate) parts: fn(&A) -> Vec<Part>,
    /// Its rows, for programs.
    pub(crate) rows: for<'a> fn(&'a A) -> Rows<'a>,
}

impl TableEntry {
    pub(crate) const fn new(name: &'static str, help: &'static str, source: Source) -> Self {
        let (has_choices, is_shown_with_runs, json, page_after) = (false, false, None, None);
        Self { name, help, source, has_choices, is_shown_with_runs, json, page_after }
    }

    pub(crate) const fn with_choices(self) -> Self {
        Self { has_choices: true, ..self }
    }

    pub(crate) const fn shown_with_runs(self) -> Self {
        Self { is_shown_with_runs: true, ..self }
    }

    pub(crate) const fn in_json(self, key: &'static str) -> Self {
        Self { json: Some(key), ..self }
    }

    pub(crate) const fn on_page_after(self, name: &'static str) -> Self {
        Self { page_after: Some(name), ..self }
    }

    /// Returns its rows.
    pub(crate) fn rows<'a>(&self, answers: &'a Answers) -> Result<Rows<'a>> {
        Ok(match &self.source {
            Source::Cells(view) | Source::Depths(view) => (view.rows)(answers.report()?),
            Source::Ratings(view) => (view.rows)(answers.ratings()?),
            Source::Comparisons(view) => (view.rows)(answers.comparisons()?),
            Source::Phases(view) => (view.rows)(answers.phases()?),
            Source::Overview(view) => (view.rows)(answers.overview()?),
        })
    }

    /// Returns its part of a page.
    pub(crate) fn parts(&self, answers: &Answers) -> Result<Vec<Part>> {
        Ok(match &self.source {
            Source::Cells(view) | Source::Depths(view) => (view.parts)(answers.report()?),
            Source::Ratings(view) => (view.parts)(answers.ratings()?),
            Source::Comparisons(view) => (view.parts)(answers.comparisons()?),
            Source::Phases(view) => (view.parts)(answers.phases()?),
            Source::Overview(view) => (view.parts)(answers.overview()?),
        })
    }
}

impl Source {
    /// Whether tables of both stand on one page.
    pub(crate) fn is_on_page_of(&self, other: &Self) -> bool {
        let page = |source: &Self| match source {
            Self::Cells(_) | Self::Depths(_) => 0,
            Self::Ratings(_) => 1,
            Self::Comparisons(_) => 2,
            Self::Phases(_) => 3,
            Self::Overview(_) => 4,
        };
        page(self) == page(other)
    }

    /// Whether the answer is there.
    pub(crate) const fn is_answered(&self, answers: &Answers) -> bool {
        match self {
            Self::Cells(_) | Self::Depths(_) => answers.report.is_some(),
            Self::Ratings(_) => answers.ratings.is_some(),
            Self::Comparisons(_) => answers.comparisons.is_some(),
            Self::Phases(_) => answers.phases.is_some(),
            Self::Overview(_) => answers.overview.is_some(),
        }
    }

    /// Returns the experiment of the answer.
    pub(crate) fn experiment<'a>(&self, answers: &'a Answers) -> Result<&'a ExperimentSummary> {
        Ok(match self {
            Self::Cells(_) | Self::Depths(_) => &answers.report()?.experiment,
            Self::Ratings(_) => &answers.ratings()?.experiment,
            Self::Comparisons(_) => &answers.comparisons()?.experiment,
            Self::Phases(_) => &answers.phases()?.experiment,
            Self::Overview(_) => &answers.overview()?.experiment,
        })
    }

    /// Returns the sentence in place of the tables of an empty answer.
    pub(crate) fn words_if_empty(&self, answers: &Answers) -> Result<Option<&'static str>> {
        let (is_empty, words) = match self {
            Self::Cells(_) | Self::Depths(_) => {
                let report = answers.report()?;
                (report.cells.is_empty() && report.runs.is_empty(), "no cells")
            }
            Self::Ratings(_) => (answers.ratings()?.groups.is_empty(), "no players"),
            Self::Comparisons(_) => {
                let Comparisons { differences, effects, replicates, .. } = answers.comparisons()?;
                (
                    differences.is_empty() && effects.is_empty() && replicates.is_empty(),
                    "There is nothing to compare: no two cells with games differ in exactly one setting.",
                )
            }
            Self::Phases(_) => (answers.phases()?.cells.is_empty(), "no searched moves"),
            Self::Overview(_) => {
                let Overview { cells, workers, .. } = answers.overview()?;
                (cells.is_empty() && workers.is_empty(), "no games")
            }
        };
        Ok(is_empty.then_some(words))
    }
}

/// Returns tables as parts of a page.
pub(crate) fn parts(tables: impl IntoIterator<Item = TitledTable>) -> Vec<Part> {
    tables.into_iter().map(Part::Table).collect()
}
