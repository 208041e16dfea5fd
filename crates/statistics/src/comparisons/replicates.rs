//! Replicates: cells that differ only in their seed.

use std::collections::BTreeMap;

use super::ComparedCell;
use crate::{Clustered, Interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One cell repeated with other seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replicates<Cell> {
    /// The first of the cells.
    pub cell: Cell,
    /// Their values on the axes except that of the seed.
    pub place: Vec<Option<String>>,
    /// The player's name.
    pub player: String,
    /// The opponent's name.
    pub opponent: String,
    /// The number of seeds.
    pub seeds: u64,
    /// The mean over seeds of the player's score.
    pub score: f64,
    /// Its 95% interval, from the variation of the seeds' scores, or from their own errors if these are larger; within
    /// 0..=1; `None` for one seed.
    pub interval: Option<Interval>,
    /// The standard deviation of the seeds' scores.
    pub deviation: Option<f64>,
    /// The part of it that openings do not explain: the standard deviation from seed to seed of scores over endless
    /// games. 0 if openings explain all.
    pub deviation_between: Option<f64>,
}

/// The replicated cells, in the grid's order. `seed_axes` are the axes that set the seed.
#[must_use]
pub fn replicates<Cell: Copy>(
    seed_axes: &[usize],
    cells: &[ComparedCell<Cell>],
) -> Vec<Replicates<Cell>> {
    type Key<'a> = (Vec<Option<String>>, &'a str, &'a str);
    type Group<'a, Cell> = (Vec<Option<String>>, Vec<&'a ComparedCell<Cell>>);
    let mut places: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_, Cell>> = Vec::new();
    for cell in cells {
        let mut place = cell.place.clone();
        for &axis in seed_axes {
            place[axis] = None;
        }
        let next = groups.len();
        let group = *places.entry((place.clone(), &cell.player, &cell.opponent)).or_insert(next);
        if group == next {
            groups.push((place, Vec::new()));
        }
        groups[group].1.push(cell);
    }
    let is_repeated = |group: &[&ComparedCell<Cell>]| {
        group.windows(2).any(|cells| cells[0].seed != cells[1].seed)
    };
    let groups = groups.into_iter().filter(|(_, group)| is_repeated(group));
    groups.map(|(place, group)| summarise(place, &group)).collect()
}

fn summarise<Cell: Copy>(
    place: Vec<Option<String>>,
    group: &[&ComparedCell<Cell>],
) -> Replicates<Cell> {
    let count = group.len() as f64;
    let mean = group.iter().map(|cell| cell.score.value()).sum::<f64>() / count;
    let square = |cell: &&ComparedCell<Cell>| {
        let distance = cell.score.value() - mean;
        distance * distance
    };
    let freedom = count - 1.0;
    let variance = (freedom > 0.0).then(|| group.iter().map(square).sum::<f64>() / freedom);
    let within = group.iter().map(|cell| cell.score.variance()).sum::<f64>() / count;
    // Seeds with equal scores by chance have at least the errors of their own scores.
    let over_seeds = variance
        .map(|variance| Clustered::certain(mean).with_error(variance.max(within) / count, freedom));
    Replicates {
        cell: group[0].cell,
        place,
        player: group[0].player.clone(),
        opponent: group[0].opponent.clone(),
        seeds: group.len() as u64,
        score: mean,
        interval: over_seeds
            .and_then(|mean| mean.interval())
            .map(|interval| interval.clamped(0.0, 1.0)),
        deviation: variance.map(f64::sqrt),
        deviation_between: variance.map(|variance| (variance - within).max(0.0).sqrt()),
    }
}
