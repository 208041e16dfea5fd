//! A cell's place on the grid, as columns of a table for people.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_answers::{CellResult, Report, RunResult};
use spelrum_model::{CellId, Role};

use crate::text::{Column, optional};

/// Returns a column for each axis of the grid. Parameters that players vary are in their names already.
pub(crate) fn axis_columns(report: &Report) -> Vec<Column> {
    report.axes.iter().filter(|axis| is_of_the_grid(axis)).map(Column::numbers).collect()
}

/// Returns a cell's values on these axes; a dash on an axis that does not apply.
pub(crate) fn places(report: &Report, values: &[Option<String>]) -> impl Iterator<Item = String> {
    let places = report.axes.iter().zip(values).filter(|(axis, _)| is_of_the_grid(axis));
    places.map(|(_, value)| optional(value.as_deref(), ToOwned::to_owned))
}

/// Returns the axes of the grid: those on which runs have places.
pub(crate) fn grid_axes(report: &Report) -> Vec<&str> {
    let is_of_grid = |axis: &&str| {
        report.runs.iter().any(|run| run.begun.axes.iter().any(|place| place.axis == **axis))
    };
    report.axes.iter().map(String::as_str).filter(is_of_grid).collect()
}

/// Returns a run's values on these axes.
pub(crate) fn run_places<'a>(run: &'a RunResult, axes: &[&str]) -> Vec<Option<&'a str>> {
    let place = |axis: &&str| {
        let place = run.begun.axes.iter().find(|place| place.axis == **axis);
        place.map(|place| place.value.text.as_str())
    };
    axes.iter().map(place).collect()
}

/// Returns the cells of a report by their ids.
pub(crate) fn cells_by_id(report: &Report) -> BTreeMap<CellId, &CellResult> {
    report.cells.iter().map(|cell| (cell.cell, cell)).collect()
}

/// Whether opponents are named: not where only two players meet, nor where players choose alone.
pub(crate) fn names_opponents(report: &Report) -> bool {
    if !report.experiment.task.is_game() {
        return false;
    }
    let pairings = report.cells.iter().map(|cell| (&cell.player, &cell.opponent));
    pairings.collect::<BTreeSet<_>>().len() > 1
}

/// Whether an axis is of the grid, and not a parameter that players vary.
pub(crate) fn is_of_the_grid(axis: &str) -> bool {
    Role::from_axis(axis).is_none()
}
