//! `sample`: a part of the grid, identical for identical sweeps.
//!
//! The draw is a function of the sweep's seed (its sample key, see [`spelrum_model::seeds`]), the method, the
//! number of points and the number of values of each thinned axis, in the file's order; so it is part of the
//! recorded data.
//!
//! - `random` draws a value of each axis, attempt after attempt, and keeps new points. So a larger sample has
//!   all points of a smaller one.
//! - `latin-hypercube` gives each value of an axis floor or ceil(points / values) of the points
//!   (McKay, Beckman and Conover 1979, for axes of few values). It starts from points that are
//!   balanced and distinct by construction, and shuffles one axis after the other, leaving out
//!   swaps that would make two points equal.

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use indexmap::IndexSet;
use serde_json::json;
use spelrum_engine::Random;
use spelrum_model::seeds;
use spelrum_toml::{Fault, Node, Span, Table, did_you_mean};

use crate::axes::Axis;
use crate::fields::texts;
use crate::key::{self, Key, Keys, Own, Whole, Word};
use crate::limits::POINTS_MAX;

/// Thins the grid.
#[derive(Debug)]
pub(super) struct Sample {
    method: Method,
    /// Number of points that the thinned axes keep together.
    pub(super) points: usize,
    /// The place of that number.
    pub(super) place: Span,
    /// The thinned axes, ascending; the others stay whole.
    pub(super) axes: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Method {
    LatinHypercube,
    Random,
}

const EXAMPLE: &str = "sample = { method = \"latin-hypercube\", points = 64 }";

/// Reads `sample`.
pub(super) fn read(node: &Node, axes: &[Axis]) -> Result<Sample, Fault> {
    let table = node.table("`sample`", EXAMPLE)?;
    key::check(table, "`sample`", SAMPLE)?;
    let (method, points) = (METHOD.read(table)?, POINTS.read(table)?);
    let place = POINTS.place(table, &node.place);
    if axes.is_empty() {
        let problem = "there are no axes, so there is no grid to take a sample of";
        return Err(Fault::at(&node.place, problem, "add axes, or remove `sample`"));
    }
    let thinned = thinned(table, axes)?;
    let sizes: Vec<usize> = thinned.iter().map(|&axis| axes[axis].values.len()).collect();
    let Some(grid) = product(&sizes) else {
        return Err(Fault::at(
            &node.place,
            "the grid has more than 2^128 points",
            "sweep fewer axes, or thin fewer of them",
        ));
    };
    if points as u128 > grid {
        return Err(Fault::at(
            place,
            format!("{points} points are more than the grid's {grid}"),
            match grid {
                1 => "remove `sample`".to_owned(),
                _ => format!("take fewer than {grid}, or remove `sample`"),
            },
        ));
    }
    Ok(Sample { method, points, place: place.clone(), axes: thinned })
}

/// The named axes, or all of them.
fn thinned(table: &Table, axes: &[Axis]) -> Result<Vec<usize>, Fault> {
    let Some(entry) = table.get("axes") else { return Ok((0..axes.len()).collect()) };
    let mut thinned = BTreeSet::new();
    for (name, place) in texts(&entry.value, "`axes` of the sample", "axes = [\"depth\"]")? {
        let Some(axis) = axes.iter().position(|axis| axis.name == name) else {
            return Err(Fault::at(
                place,
                format!("there is no axis `{name}`"),
                did_you_mean(name, "axes", axes.iter().map(|axis| axis.name.as_str())),
            ));
        };
        if !thinned.insert(axis) {
            let problem = format!("the sample names the axis `{name}` twice");
            return Err(Fault::at(place, problem, "remove one of them"));
        }
    }
    if thinned.is_empty() {
        return Err(Fault::at(
            &entry.value.place,
            "the sample thins no axis",
            "name an axis, or leave `axes` out to thin all of them",
        ));
    }
    Ok(thinned.into_iter().collect())
}

impl Sample {
    /// The points that the thinned axes keep together, each its value of each of them, in the order of the
    /// grid.
    pub(super) fn draw(&self, seed: u64, axes: &[Axis]) -> Vec<Vec<u32>> {
        let sizes: Vec<usize> = self.axes.iter().map(|&axis| axes[axis].values.len()).collect();
        let random = Random::from_key(seeds::sample_key(seed));
        let mut points = match self.method {
            Method::LatinHypercube => latin_hypercube(&sizes, self.points, random),
            Method::Random => random_points(&sizes, self.points, random),
        };
        points.sort_unstable();
        points
    }
}

/// The first `count` distinct points of a sequence of draws. The grid has at least as many.
fn random_points(sizes: &[usize], count: usize, mut random: Random) -> Vec<Vec<u32>> {
    let mut seen = BTreeSet::new();
    while seen.len() < count {
        seen.insert(sizes.iter().map(|&size| random.below(size as u32)).collect::<Vec<u32>>());
    }
    seen.into_iter().collect()
}

/// Distinct points in which each value of an axis is as frequent as every other, or once more.
/// The grid has at least as many.
fn latin_hypercube(sizes: &[usize], count: usize, mut random: Random) -> Vec<Vec<u32>> {
    let mut points = balanced(sizes, count);
    for (axis, &size) in sizes.iter().enumerate() {
        let mut values: Vec<u32> = (0..size as u32).collect();
        random.shuffle(&mut values);
        for point in &mut points {
            point[axis] = values[point[axis] as usize];
        }
    }
    let mut rows = Rows::new(points, sizes);
    for axis in 0..sizes.len() {
        for last in (1..count).rev() {
            let other = random.below(last as u32 + 1) as usize;
            rows.swap_unless_equal(axis, last, other);
        }
    }
    rows.points
}

/// The first points of an order of the whole grid whose every beginning is balanced.
///
/// The first axis runs through its values over and over. So does each later one, but it skips one
/// value whenever it would meet the combinations of the axes before it in the same way again:
/// after the least common multiple of their number and its own.
fn balanced(sizes: &[usize], count: usize) -> Vec<Vec<u32>> {
    let mut points = vec![Vec::with_capacity(sizes.len()); count];
    let mut combinations: u128 = 1;
    for &size in sizes {
        let size = size as u128;
        let meeting = combinations / gcd(combinations, size) * size;
        combinations *= size;
        for (number, point) in (0..).zip(&mut points) {
            let number: u128 = number;
            let within = number % combinations;
            let value = (within + within / meeting) % size;
            point.push(value as u32);
        }
    }
    points
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Number of points of a grid of these sizes, if fewer than 2^128.
pub(super) fn product(sizes: &[usize]) -> Option<u128> {
    sizes.iter().try_fold(1, |product: u128, &size| product.checked_mul(size as u128))
}

/// Points that stay distinct.
struct Rows {
    points: Vec<Vec<u32>>,
    /// Increase of a point's number in the grid per value of each axis.
    strides: Vec<u128>,
    /// The numbers of the points.
    numbers: Vec<u128>,
    /// The same, to look them up. Nothing depends on their order.
    taken: IndexSet<u128, FixedState>,
}

impl Rows {
    fn new(points: Vec<Vec<u32>>, sizes: &[usize]) -> Self {
        let mut strides = vec![1; sizes.len()];
        for axis in (1..sizes.len()).rev() {
            strides[axis - 1] = strides[axis] * sizes[axis] as u128;
        }
        let number = |point: &Vec<u32>| {
            point.iter().zip(&strides).map(|(&value, stride)| u128::from(value) * stride).sum()
        };
        let numbers: Vec<u128> = points.iter().map(number).collect();
        let taken = numbers.iter().copied().collect();
        Self { points, strides, numbers, taken }
    }

    /// Exchanges two points' values on an axis, unless one of them would be equal to a third.
    fn swap_unless_equal(&mut self, axis: usize, first: usize, second: usize) {
        let values = [self.points[first][axis], self.points[second][axis]];
        if values[0] == values[1] {
            return;
        }
        let stride = self.strides[axis];
        let [from, to] = values.map(|value| u128::from(value) * stride);
        let before = [self.numbers[first], self.numbers[second]];
        let after = [before[0] - from + to, before[1] - to + from];
        if after.iter().any(|number| !before.contains(number) && self.taken.contains(number)) {
            return;
        }
        for number in before {
            self.taken.swap_remove(&number);
        }
        self.taken.extend(after);
        [self.numbers[first], self.numbers[second]] = after;
        [self.points[first][axis], self.points[second][axis]] = [values[1], values[0]];
    }
}

const METHOD: Key<Word<Method>> = Key::new(
    "method",
    "Method",
    "`\"latin-hypercube\"`: every value of every axis is used equally often, give or take one. \
     `\"random\"`: any points; more of them later keep the earlier ones.",
    Word {
        words: &[("latin-hypercube", Method::LatinHypercube), ("random", Method::Random)],
        first_by_default: false,
    },
)
.required();

const POINTS: Key<Whole<usize>> = Key::new(
    "points",
    "Points",
    "How many points of the grid are played.",
    Whole { min: 1, max: Some(POINTS_MAX), default: None },
)
.required()
.example("64");

/// The keys of `sample`.
pub(super) const SAMPLE: Keys = &[
    &METHOD,
    &POINTS,
    &Key::new(
        "axes",
        "Sampled axes",
        "Only these axes are sampled, at every combination of the others.",
        Own(|| json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })),
    )
    .by_default("all"),
];
