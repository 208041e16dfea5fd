//! The points at which cells are made: the whole grid, or a sample of it.

use spelrum_toml::Fault;

use crate::axes::Axis;
use crate::file::SweepFile;
use crate::limits::POINTS_MAX;
use crate::sample::{Sample, product};

/// Most cells of a sweep, before equal ones are merged (invariant 9).
pub(super) const CELLS_MAX: usize = POINTS_MAX;

/// Points in the order of the grid: the last axis runs fastest.
#[derive(Debug)]
pub(super) struct Points {
    axes: usize,
    count: usize,
    /// The index of each axis's value, point after point.
    values: Vec<u32>,
}

impl Points {
    /// The points of a sweep with this seed, unless they make too many cells.
    pub(super) fn new(file: &SweepFile, seed: u64) -> Result<Self, Fault> {
        let axes = &file.axes;
        let count = count(file)?;
        let values = match &file.sample {
            None => grid(axes, count),
            Some(sample) => sampled(sample, seed, axes),
        };
        Ok(Self { axes: axes.len(), count, values })
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// A point by its number: the index of each axis's value.
    pub(super) fn at(&self, number: usize) -> &[u32] {
        &self.values[number * self.axes..(number + 1) * self.axes]
    }
}

fn count(file: &SweepFile) -> Result<usize, Fault> {
    let axes = &file.axes;
    let pairings = file.pairing.pairs.len();
    let unsampled =
        |axis: &usize| file.sample.as_ref().is_none_or(|sample| !sample.axes.contains(axis));
    let sampled = file.sample.as_ref().map(|sample| sample.points);
    let sizes: Vec<usize> = sampled
        .into_iter()
        .chain((0..axes.len()).filter(unsampled).map(|axis| axes[axis].values.len()))
        .collect();
    let count = product(&sizes).and_then(|points| usize::try_from(points).ok());
    if let Some(count) = count
        && count.checked_mul(pairings).is_some_and(|cells| cells <= CELLS_MAX)
    {
        return Ok(count);
    }
    let names = (0..axes.len()).filter(unsampled).map(|axis| axes[axis].name.as_str());
    let names = sampled.map(|_| "points").into_iter().chain(names);
    let sizes: Vec<String> =
        sizes.iter().zip(names).map(|(size, name)| format!("{size} {name}")).collect();
    let largest = axes.iter().max_by_key(|axis| axis.values.len());
    let place = match &file.sample {
        Some(sample) => &sample.place,
        None => largest.map_or(&file.games_place, |axis| &axis.place),
    };
    Err(Fault::at(
        place,
        format!("{} × {pairings} pairings are more than {CELLS_MAX} cells", sizes.join(" × ")),
        match &file.sample {
            Some(_) => "take fewer points, thin more axes, or pair fewer players",
            None => {
                "sweep fewer values, axes or pairings at a time, or take a part of the grid: \
                 sample = { method = \"latin-hypercube\", points = 64 }"
            }
        },
    ))
}

/// All `count` points of these axes.
fn grid(axes: &[Axis], count: usize) -> Vec<u32> {
    let mut values = Vec::with_capacity(count * axes.len());
    let mut point = vec![0; axes.len()];
    for _ in 0..count {
        values.extend_from_slice(&point);
        advance(&mut point, axes, |_| true);
    }
    values
}

/// The sample's points, each with all combinations of the axes that it does not thin.
fn sampled(sample: &Sample, seed: u64, axes: &[Axis]) -> Vec<u32> {
    let mut points = Vec::new();
    for drawn in sample.draw(seed, axes) {
        let mut point = vec![0; axes.len()];
        for (&axis, value) in sample.axes.iter().zip(drawn) {
            point[axis] = value;
        }
        loop {
            points.push(point.clone());
            if !advance(&mut point, axes, |axis| !sample.axes.contains(&axis)) {
                break;
            }
        }
    }
    points.sort_unstable();
    points.concat()
}

/// Advances to the next combination of the moving axes; returns whether there was one.
fn advance(point: &mut [u32], axes: &[Axis], moves: impl Fn(usize) -> bool) -> bool {
    for axis in (0..axes.len()).rev().filter(|&axis| moves(axis)) {
        point[axis] += 1;
        if (point[axis] as usize) < axes[axis].values.len() {
            return true;
        }
        point[axis] = 0;
    }
    false
}
