//! The definition of one table: its names, the answer it is made of, and its two forms.

use std::any::TypeId;

use spelrum_answers::{Detail, ExperimentSummary};

use super::rows::Rows;
use crate::answers::{Answers, TableAnswer};
use crate::document::{Part, TitledTable};
use crate::error::Result;

/// A table. Everything that needs a list of tables reads it from [`TABLES`](super::registry::TABLES).
pub(crate) struct TableEntry {
    /// The word that requests it.
    pub(crate) name: &'static str,
    /// Its contents, in a few words.
    pub(crate) help: &'static str,
    /// The answer that it is made of, and both its forms: a [`View`].
    pub(crate) source: &'static dyn Source,
    /// How much it needs of a report.
    pub(crate) detail: Detail,
    /// Whether accuracy experiments have it, too.
    pub(crate) has_choices: bool,
    /// Whether a report of an experiment with runs shows it by default.
    pub(crate) is_shown_with_runs: bool,
    /// The key of its rows at the top of JSON; `None` where JSON has them elsewhere, or not.
    pub(crate) json: Option<&'static str>,
    /// The table that precedes it on a page; otherwise that is the one before it in the list.
    pub(crate) page_after: Option<&'static str>,
}

/// Both forms of a table.
pub(crate) struct View<A: 'static> {
    /// Its part of a page, for people; empty where it has nothing to show.
    pub(crate) parts: fn(&A) -> Vec<Part>,
    /// Its rows, for programs.
    pub(crate) rows: for<'a> fn(&'a A) -> Rows<'a>,
}

/// A [`View`] of an answer of whatever type.
pub(crate) trait Source: Sync {
    /// The type of the answer. Tables of the same answer stand on one page.
    fn answer(&self) -> TypeId;

    /// Whether the answer is there.
    fn is_answered(&self, answers: &Answers) -> bool;

    /// Returns the table's rows.
    fn rows<'a>(&self, answers: &'a Answers) -> Result<Rows<'a>>;

    /// Returns the table's part of a page.
    fn parts(&self, answers: &Answers) -> Result<Vec<Part>>;

    /// Returns the experiment of the answer.
    fn experiment<'a>(&self, answers: &'a Answers) -> Result<&'a ExperimentSummary>;

    /// Returns the sentence in place of the tables of an empty answer.
    fn words_if_empty(&self, answers: &Answers) -> Result<Option<&'static str>>;
}

impl<A: TableAnswer> Source for View<A> {
    fn answer(&self) -> TypeId {
        TypeId::of::<A>()
    }

    fn is_answered(&self, answers: &Answers) -> bool {
        answers.get::<A>().is_some()
    }

    fn rows<'a>(&self, answers: &'a Answers) -> Result<Rows<'a>> {
        Ok((self.rows)(answers.require()?))
    }

    fn parts(&self, answers: &Answers) -> Result<Vec<Part>> {
        Ok((self.parts)(answers.require()?))
    }

    fn experiment<'a>(&self, answers: &'a Answers) -> Result<&'a ExperimentSummary> {
        Ok(answers.require::<A>()?.experiment())
    }

    fn words_if_empty(&self, answers: &Answers) -> Result<Option<&'static str>> {
        Ok(answers.require::<A>()?.words_if_empty())
    }
}

impl TableEntry {
    pub(crate) const fn new(
        name: &'static str,
        help: &'static str,
        source: &'static dyn Source,
    ) -> Self {
        let (detail, has_choices, is_shown_with_runs) = (Detail::Cells, false, false);
        let (json, page_after) = (None, None);
        Self { name, help, source, detail, has_choices, is_shown_with_runs, json, page_after }
    }

    pub(crate) const fn with_depths(self) -> Self {
        Self { detail: Detail::Depths, ..self }
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
}

/// Returns tables as parts of a page.
pub(crate) fn parts(tables: impl IntoIterator<Item = TitledTable>) -> Vec<Part> {
    tables.into_iter().map(Part::Table).collect()
}
