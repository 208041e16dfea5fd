//! A cell's place on the grid, as columns of a table for people.

use std::collections::BTreeSet;

use spelrum_answers::Report;
use spelrum_model::Role;

use crate::text::{Column, optional};

/// A column for each axis of the grid. What players vary is in their names already.
pub(crate) fn axis_columns(report: &Report) -> Vec<Column> {
    report.axes.iter().filter(|axis| is_of_the_grid(axis)).map(Column::numbers).collect()
}

/// A cell's values on these axes; a dash on an axis that does not touch it.
pub(crate) fn places(report: &Report, values: &[Option<String>]) -> impl Iterator<Item = String> {
    let places = report.axes.iter().zip(values).filter(|(axis, _)| is_of_the_grid(axis));
    places.map(|(_, value)| optional(value.as_deref(), ToOwned::to_owned))
}

/// The axes of the grid: those that runs have places on.
pub(crate) fn grid_axes(report: &Report) -> Vec<&str> {
    let is_of_grid = |axis: &&str| {
        report.runs.iter().any(|run| run.begun.axes.iter().any(|place| place.axis == **axis))
    };
    report.axes.iter().map(String::as_str).filter(is_of_grid).collect()
}

/// Where only two players meet, it goes without saying whom each has met; who chooses alone meets nobody.
pub(crate) fn names_opponents(report: &Report) -> bool {
    if !report.experiment.task.is_game() {
        return false;
    }
    let pairings = report.cells.iter().map(|cell| (&cell.player, &cell.opponent));
    pairings.collect::<BTreeSet<_>>().len() > 1
}

fn is_of_the_grid(axis: &str) -> bool {
    Role::of_axis(axis).is_none()
}
