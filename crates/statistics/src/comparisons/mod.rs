//! Comparisons between the cells of an experiment: a player's gain from one value of an axis to the next, the effect of
//! each axis over a whole grid, and the dependence of a result on its seed.
//!
//! All figures are weighted sums of cells' scores (see [`Clustered`]), so that effects of openings on several cells
//! cancel, or add up, as in the sum.
//!
//! | file | subject |
//! |---|---|
//! | `along` | curves along an axis, and where they cross one half |
//! | `differences` | between cells that differ in one respect |
//! | `effects` | of axes and of two axes together, over all cells of a pairing |
//! | `history` | builds of an engine in order, against one opponent |
//! | `replicates` | cells that differ only in their seed, or on another axis of replicates |

mod along;
#[cfg(test)]
mod coverage;
mod differences;
mod effects;
mod history;
mod replicates;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;

pub use along::{CURVES_MAX, CurveAlong, PointOfCurve, curves};
pub use differences::{Changed, DIFFERENCES_MAX, Difference, differences};
pub use effects::{Contrast, Effect, Effects, effects};
use foldhash::fast::FixedState;
pub use history::{BuildScore, Gain, History, histories};
use indexmap::IndexSet;
pub use replicates::{Replicates, over_replicates, replicated, replicates};

use crate::Clustered;

/// The data of a cell that comparisons need. `Cell` identifies it among the others.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedCell<Cell> {
    /// The cell.
    pub cell: Cell,
    /// Its values on the axes, in the axes' order; `None` on an axis that does not affect it.
    pub place: Vec<Option<String>>,
    /// The first player's name.
    pub player: String,
    /// The second player's name; never the first's.
    pub opponent: String,
    /// The seed of its openings and its players.
    pub seed: u64,
    /// The first player's score.
    pub score: Clustered,
}

/// The values of an axis that occur in cells.
struct Values<'a> {
    /// Numbers in order; words by first occurrence.
    values: IndexSet<&'a str, FixedState>,
    are_numbers: bool,
}

impl<'a> Values<'a> {
    /// Cells come in the grid's order.
    fn on<Cell>(axis: usize, cells: &[&'a ComparedCell<Cell>]) -> Self {
        let value_on_axis =
            |cell: &&'a ComparedCell<Cell>| cell.place.get(axis).and_then(Option::as_deref);
        let mut values: IndexSet<&str, FixedState> =
            cells.iter().filter_map(value_on_axis).collect();
        let number = |value: &&str| number_of(value);
        let are_numbers = values.iter().all(|value| number(value).is_some());
        if are_numbers {
            // A sample of the grid may have a greater value first.
            values.sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal));
        }
        Self { values, are_numbers }
    }

    fn len(&self) -> usize {
        self.values.len()
    }

    /// The value at a place.
    fn at(&self, place: usize) -> String {
        self.values.get_index(place).map_or_else(String::new, |&value| value.to_owned())
    }

    /// The number at a place, if the values are numbers.
    fn number(&self, place: usize) -> Option<f64> {
        number_of(self.values.get_index(place)?)
    }

    fn place(&self, value: &str) -> Option<usize> {
        self.values.get_index_of(value)
    }
}

/// A value as a number for sorting: numbers, times with their unit, and unbounded values.
fn number_of(value: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 4] = [("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4)];
    if value == "unlimited" {
        return Some(f64::INFINITY);
    }
    let plain = value.parse::<f64>().ok();
    let with_unit = || {
        let milliseconds = |(unit, factor): (&str, f64)| {
            Some(factor * value.strip_suffix(unit)?.parse::<f64>().ok()?)
        };
        UNITS.into_iter().find_map(milliseconds)
    };
    plain.or_else(with_unit).filter(|number| !number.is_nan())
}

/// The cells of each pairing, pairings in the order of their first cells.
fn by_pairing<Cell>(cells: &[ComparedCell<Cell>]) -> Vec<Vec<&ComparedCell<Cell>>> {
    let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut pairings: Vec<Vec<&ComparedCell<Cell>>> = Vec::new();
    for cell in cells {
        let next = pairings.len();
        let place = *places.entry((&cell.player, &cell.opponent)).or_insert(next);
        if place == next {
            pairings.push(Vec::new());
        }
        pairings[place].push(cell);
    }
    pairings
}
