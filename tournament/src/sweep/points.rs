//! The points of the grid.

use super::axes::{Axis, POINTS_MAX};
use super::fault::Fault;
use super::file::SweepFile;

/// Most cells of a sweep, before equal ones are merged (invariant 9).
pub(super) const CELLS_MAX: usize = POINTS_MAX;

/// The points at which cells are made, in the order of the grid: the last axis runs fastest.
#[derive(Debug)]
pub(super) struct Points {
    axes: usize,
    count: usize,
    /// Point after point: which value of each axis.
    values: Vec<u32>,
}

impl Points {
    /// All points, unless they make too many cells.
    pub(super) fn of(file: &SweepFile) -> Result<Self, Fault> {
        let axes = &file.axes;
        let pairings = file.pairing.pairs.len();
        let count = axes.iter().try_fold(1, |points: usize, axis| {
            let points = points.checked_mul(axis.values.len())?;
            (points.checked_mul(pairings)? <= CELLS_MAX).then_some(points)
        });
        let Some(count) = count.filter(|points| points * pairings <= CELLS_MAX) else {
            let sizes: Vec<String> =
                axes.iter().map(|axis| format!("{} {}", axis.values.len(), axis.name)).collect();
            let largest = axes.iter().max_by_key(|axis| axis.values.len());
            let place = largest.map_or(&file.games_place, |axis| &axis.place);
            let grid = sizes.join(" × ");
            return Err(Fault::at(
                place,
                format!("{grid} × {pairings} pairings are more than {CELLS_MAX} cells"),
                "sweep fewer values, axes or pairings at a time",
            ));
        };
        Ok(Self { axes: axes.len(), count, values: grid(axes, count) })
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// A point by its number: which value of each axis.
    pub(super) fn at(&self, number: usize) -> &[u32] {
        &self.values[number * self.axes..(number + 1) * self.axes]
    }
}

/// All `count` points of these axes.
fn grid(axes: &[Axis], count: usize) -> Vec<u32> {
    let mut values = Vec::with_capacity(count * axes.len());
    let mut point = vec![0; axes.len()];
    for _ in 0..count {
        values.extend_from_slice(&point);
        for (value, axis) in point.iter_mut().zip(axes).rev() {
            *value += 1;
            if (*value as usize) < axis.values.len() {
                break;
            }
            *value = 0;
        }
    }
    values
}
