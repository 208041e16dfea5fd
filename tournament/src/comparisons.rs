//! Comparisons between the cells of an experiment: those of statistics, with [`CellId`] for a cell.

use crate::CellId;

pub use spelrum_statistics::comparisons::*;

/// A cell with games, as far as comparisons ask.
pub type ComparedCell = spelrum_statistics::comparisons::ComparedCell<CellId>;

/// A difference between two cells that differ in one thing.
pub type Difference = spelrum_statistics::comparisons::Difference<CellId>;

/// A cell, done again with other seeds.
pub type Replicates = spelrum_statistics::comparisons::Replicates<CellId>;
