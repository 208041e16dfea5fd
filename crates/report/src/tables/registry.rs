//! All tables: what can be requested by name, and what stands on a page.

use std::any::TypeId;

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::entry::TableEntry;
use super::rows::Rows;
use super::{
    accuracy, cells, claims, colours, comparisons, costs, curves, disturbance, engines, evolution,
    failures, forfeits, history, margins, outcome_lengths, overview, phases, race, ratings,
    replicated, runs, worker_effects,
};
use crate::answers::Answers;
use crate::document::Part;
use crate::error::Result;

/// The tables, in the order of their list for users.
pub(crate) static TABLES: &[TableName] = &[
    TableName(&claims::TABLE),
    TableName(&runs::TABLE),
    TableName(&race::TABLE),
    TableName(&evolution::GENERATIONS),
    TableName(&evolution::FAMILY),
    TableName(&replicated::TABLE),
    TableName(&cells::TABLE),
    TableName(&accuracy::ACCURACY),
    TableName(&accuracy::WINS),
    TableName(&accuracy::PLIES),
    TableName(&colours::TABLE),
    TableName(&margins::TABLE),
    TableName(&costs::MOVES),
    TableName(&costs::DEPTHS),
    TableName(&engines::TABLE),
    TableName(&forfeits::TABLE),
    TableName(&disturbance::TABLE),
    TableName(&failures::TABLE),
    TableName(&ratings::RATINGS),
    TableName(&ratings::DIFFERENCES),
    TableName(&ratings::MEETINGS),
    TableName(&ratings::MISFITS),
    TableName(&ratings::CYCLES),
    TableName(&history::HISTORY),
    TableName(&comparisons::GAINS),
    TableName(&comparisons::EFFECTS),
    TableName(&curves::CROSSINGS),
    TableName(&curves::CURVES),
    TableName(&comparisons::REPLICATES),
    TableName(&phases::TIMES),
    TableName(&phases::STANDARDISED),
    TableName(&overview::LENGTHS),
    TableName(&outcome_lengths::TABLE),
    TableName(&overview::TERMINATIONS),
    TableName(&overview::WORKERS),
    TableName(&worker_effects::TABLE),
];

/// A table that can be requested by name.
#[derive(Clone, Copy)]
pub struct TableName(&'static TableEntry);

impl TableName {
    /// Returns all names, in a sentence.
    pub fn listed() -> String {
        let names: Vec<&str> = TABLES.iter().map(|table| table.0.name).collect();
        match names.split_last() {
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }

    pub(crate) const fn entry(self) -> &'static TableEntry {
        self.0
    }
}

impl ValueEnum for TableName {
    fn value_variants<'a>() -> &'a [Self] {
        TABLES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name).help(self.0.help))
    }
}

impl PartialEq for TableName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for TableName {}

impl std::fmt::Debug for TableName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.name)
    }
}

/// Whether a report of an experiment with runs shows this table by default.
pub(crate) fn is_shown_with_runs(name: &str) -> bool {
    name == claims::CELLS
        || TABLES.iter().any(|table| table.0.name == name && table.0.is_shown_with_runs)
}

/// Returns the tables that stand on the page of an answer, in its order.
fn page_tables(answer: TypeId) -> Vec<&'static TableEntry> {
    let all = TABLES.iter().map(|table| table.0);
    let (moved, mut tables): (Vec<_>, Vec<_>) = all
        .filter(|table| table.source.answer() == answer)
        .partition(|table| table.page_after.is_some());
    for table in moved {
        let before = tables.iter().position(|before| Some(before.name) == table.page_after);
        tables.insert(before.map_or(tables.len(), |before| before + 1), table);
    }
    tables
}

/// Returns the page of the answer that a table is made of: all its tables, or a sentence in their place.
pub(crate) fn page(table: &TableEntry, answers: &Answers) -> Result<Vec<Part>> {
    let mut parts = Vec::new();
    for table in page_tables(table.source.answer()) {
        parts.extend(table.source.parts(answers)?);
    }
    if parts.is_empty() {
        let words = table.source.words_if_empty(answers)?;
        parts.extend(words.map(|words| Part::Words(words.to_owned())));
    }
    Ok(parts)
}

/// Returns one table, or a sentence in its place.
pub(crate) fn only(table: &TableEntry, answers: &Answers) -> Result<Vec<Part>> {
    let mut parts = table.source.parts(answers)?;
    if parts.iter().any(|part| matches!(part, Part::Table(_))) {
        // Sentences between tables refer to the tables that follow.
        parts.retain(|part| matches!(part, Part::Table(_)));
    }
    if parts.is_empty() {
        let words = table.source.words_if_empty(answers)?.unwrap_or("there is nothing to show");
        parts.push(Part::Words(words.to_owned()));
    }
    Ok(parts)
}

/// Returns the rows at the top of JSON by their keys, as far as their answers are there.
pub(crate) fn json_rows(answers: &Answers) -> Result<Vec<(&'static str, Rows<'_>)>> {
    let tables = TABLES.iter().map(|table| table.0);
    let answered = tables.filter(|table| table.source.is_answered(answers));
    let keyed = answered.filter_map(|table| Some((table.json?, table)));
    keyed.map(|(key, table)| Ok((key, table.source.rows(answers)?))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_is_of_one_table() {
        let names: BTreeSet<&str> = TABLES.iter().map(|table| table.0.name).collect();
        assert_eq!(names.len(), TABLES.len());
        for after in TABLES.iter().filter_map(|table| table.0.page_after) {
            assert!(names.contains(after), "{after}");
        }
    }
}
