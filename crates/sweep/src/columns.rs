//! A cell's place as reports and SQL show it: columns for the axes of the grid, and `player.depth` and
//! `opponent.depth` for the varied parameters of its two players.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_model::{AxisValue, PlannedAxis, Role};
use spelrum_toml::Fault;

use crate::axes::{Axis, COLUMNS_MAX, Column, axis_value};
use crate::player_template::Variant;
use crate::players::Players;

/// Refuses players that vary more parameters than reports have columns for.
pub(super) fn check_varied(axes: &[Axis], players: &Players) -> Result<(), Fault> {
    let columns: usize =
        axes.iter().enumerate().map(|(index, axis)| axis.columns(index).len()).sum();
    let mut keys = BTreeSet::new();
    for varied in players.templates.iter().flat_map(|template| &template.varied) {
        keys.insert(&varied.key);
        if columns + 2 * keys.len() > COLUMNS_MAX {
            return Err(Fault::at(
                &varied.key_place,
                "the axes, and what players vary, are too many columns",
                format!("have at most {COLUMNS_MAX}; what players vary counts twice"),
            ));
        }
    }
    Ok(())
}

/// The columns of the axes.
pub(super) struct AxisColumns {
    planned: Vec<PlannedAxis>,
    /// For each column its axis, and for each value of the axis the column's value.
    places: Vec<(usize, Vec<Option<usize>>)>,
}

/// The axis columns of a cell, as bits.
pub(super) type ColumnSet = u64;

impl AxisColumns {
    pub(super) fn new(axes: &[Axis]) -> Self {
        let columns = axes.iter().enumerate().flat_map(|(index, axis)| axis.columns(index));
        let (planned, places) = columns.map(planned).unzip();
        Self { planned, places }
    }

    /// All of them.
    pub(super) fn all(&self) -> ColumnSet {
        (0..self.planned.len()).fold(0, |set, column| set | 1 << column)
    }

    /// The columns of a set on which two points agree.
    pub(super) fn common(&self, set: ColumnSet, a: &[u32], b: &[u32]) -> ColumnSet {
        (0..self.planned.len())
            .filter(|&column| self.value(column, a) != self.value(column, b))
            .fold(set, |set, column| set & !(1 << column))
    }

    fn value(&self, column: usize, point: &[u32]) -> Option<usize> {
        let (axis, values) = &self.places[column];
        values[point[*axis] as usize]
    }

    /// A point's place on a set of columns.
    pub(super) fn place(
        &self,
        set: ColumnSet,
        point: &[u32],
    ) -> impl Iterator<Item = (usize, usize)> {
        (0..self.planned.len())
            .filter(move |column| set >> column & 1 == 1)
            .filter_map(move |column| Some((column, self.value(column, point)?)))
    }

    pub(super) fn len(&self) -> usize {
        self.planned.len()
    }

    pub(super) fn into_planned(self) -> Vec<PlannedAxis> {
        self.planned
    }
}

/// The columns of varied parameters, for a cell's first player and for its second.
pub(super) struct VariedColumns {
    planned: Vec<PlannedAxis>,
    /// For each role, for each variant: its place.
    places: [Vec<Vec<(usize, usize)>>; 2],
}

impl VariedColumns {
    /// The columns of cells with these pairs of variants. `before` columns precede them.
    pub(super) fn new(
        players: &Players,
        pairs: impl Iterator<Item = (usize, usize)>,
        before: usize,
    ) -> Self {
        let mut plays = [vec![false; players.variants.len()], vec![false; players.variants.len()]];
        for (first, second) in pairs {
            plays[0][first] = true;
            plays[1][second] = true;
        }
        let mut planned = Vec::new();
        let places =
            [(Role::Player, &plays[0]), (Role::Opponent, &plays[1])].map(|(role, plays)| {
                let mut columns = BTreeMap::new();
                let place = |(index, variant): (usize, &Variant)| {
                    if !plays[index] {
                        return Vec::new();
                    }
                    let varied = &players.templates[variant.template].varied;
                    let place = varied.iter().zip(&variant.values).map(|(varied, &value)| {
                        let column = *columns.entry(varied.key.as_str()).or_insert_with(|| {
                            let name = role.axis(&varied.key);
                            planned.push(PlannedAxis { name, values: Vec::new() });
                            planned.len() - 1
                        });
                        let value = axis_value(&varied.values[value]);
                        (before + column, place_of(&mut planned[column].values, value))
                    });
                    place.collect()
                };
                players.variants.iter().enumerate().map(place).collect()
            });
        Self { planned, places }
    }

    /// The place of cells of these two variants.
    pub(super) fn place(
        &self,
        (first, second): (usize, usize),
    ) -> impl Iterator<Item = (usize, usize)> {
        let [player, opponent] = &self.places;
        player[first].iter().chain(&opponent[second]).copied()
    }

    pub(super) fn into_planned(self) -> Vec<PlannedAxis> {
        self.planned
    }
}

fn place_of(values: &mut Vec<AxisValue>, value: AxisValue) -> usize {
    values.iter().position(|listed| *listed == value).unwrap_or_else(|| {
        values.push(value);
        values.len() - 1
    })
}

/// A column with its distinct values, and the index of its value at each value of its axis.
fn planned(column: Column) -> (PlannedAxis, (usize, Vec<Option<usize>>)) {
    let mut values = Vec::new();
    let mut numbers = BTreeMap::new();
    let place = |value: Option<AxisValue>| {
        let value = value?;
        let key = (value.text.clone(), value.number.is_some());
        Some(*numbers.entry(key).or_insert_with(|| {
            values.push(value);
            values.len() - 1
        }))
    };
    let places = column.values.into_iter().map(place).collect();
    (PlannedAxis { name: column.name, values }, (column.axis, places))
}
