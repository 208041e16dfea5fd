//! Replicates: cells that differ only in their seed, or on an axis that a sweep names for it.

use std::collections::BTreeMap;

use super::ComparedCell;
use crate::{Clustered, Estimate, Interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The score of equal players.
const EVEN: f64 = 0.5;

/// One cell repeated, with other seeds or other players that a seed makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Replicates<Cell> {
    /// The first of the cells.
    pub cell: Cell,
    /// Their values on the axes except that of the replicates.
    pub place: Vec<Option<String>>,
    /// The player's name.
    pub player: String,
    /// The opponent's name.
    pub opponent: String,
    /// The number of seeds, or of other replicates.
    pub seeds: u64,
    /// The mean over seeds of the player's score.
    pub score: f64,
    /// Its 95% interval, from the variation of the seeds' scores, or from their own errors if these are larger, and from
    /// the openings that they have in common; within 0..=1; `None` for one seed.
    pub interval: Option<Interval>,
    /// The probability of a mean so far from one half, or farther, between equal players: at most 5% exactly if the interval
    /// excludes one half.
    pub p_value: Option<f64>,
    /// The standard deviation of the seeds' scores.
    pub deviation: Option<f64>,
    /// The part of it that openings do not explain: the standard deviation from seed to seed of scores over endless
    /// games. 0 if openings explain all.
    pub deviation_between: Option<f64>,
}

/// The cells that seeds repeat, in the grid's order. `seed_axes` are the axes that set the seed.
#[must_use]
pub fn replicates<Cell: Copy>(
    seed_axes: &[usize],
    cells: &[ComparedCell<Cell>],
) -> Vec<Replicates<Cell>> {
    let is_repeated = |group: &[&ComparedCell<Cell>]| {
        group.windows(2).any(|cells| cells[0].seed != cells[1].seed)
    };
    let groups = groups(seed_axes, cells).into_iter().filter(|(_, group)| is_repeated(group));
    groups.map(|(place, group)| summarise(place, &group)).collect()
}

/// All cells, grouped by their values on the axes other than these, in the grid's order. A cell that none of these
/// affects is a group of its own, with its own interval.
#[must_use]
pub fn replicated<Cell: Copy>(
    axes: &[usize],
    cells: &[ComparedCell<Cell>],
) -> Vec<Replicates<Cell>> {
    let summary = |(place, group): Group<'_, Cell>| {
        let mut summary = summarise(place, &group);
        if let [alone] = group[..]
            && axes.iter().all(|&axis| alone.place[axis].is_none())
        {
            summary.interval = alone.score.interval().map(|interval| interval.clamped(0.0, 1.0));
            summary.p_value = alone.score.p_value(EVEN);
        }
        summary
    };
    groups(axes, cells).into_iter().map(summary).collect()
}

/// A place without the axes of the replicates, and its cells.
type Group<'a, Cell> = (Vec<Option<String>>, Vec<&'a ComparedCell<Cell>>);

fn groups<'a, Cell>(axes: &[usize], cells: &'a [ComparedCell<Cell>]) -> Vec<Group<'a, Cell>> {
    type Key<'a> = (Vec<Option<String>>, &'a str, &'a str);
    let mut places: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_, Cell>> = Vec::new();
    for cell in cells {
        let mut place = cell.place.clone();
        for &axis in axes {
            place[axis] = None;
        }
        let next = groups.len();
        let group = *places.entry((place.clone(), &cell.player, &cell.opponent)).or_insert(next);
        if group == next {
            groups.push((place, Vec::new()));
        }
        groups[group].1.push(cell);
    }
    groups
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
    let scores: Vec<&Clustered> = group.iter().map(|cell| &cell.score).collect();
    let own = own_variance(&scores)[0];
    let over_replicates = over_replicates(&scores).map(|Estimate { value, variance, freedom }| {
        Clustered::certain(value).with_error(variance, freedom)
    });
    Replicates {
        cell: group[0].cell,
        place,
        player: group[0].player.clone(),
        opponent: group[0].opponent.clone(),
        seeds: group.len() as u64,
        score: mean,
        interval: over_replicates
            .as_ref()
            .and_then(Clustered::interval)
            .map(|interval| interval.clamped(0.0, 1.0)),
        p_value: over_replicates.and_then(|mean| mean.p_value(EVEN)),
        deviation: variance.map(f64::sqrt),
        deviation_between: variance.map(|variance| (variance - own).max(0.0).sqrt()),
    }
}

/// The mean over replicates of these scores, or of differences of scores, as an estimate of the mean over infinitely many
/// replicates. `None` for fewer than two.
#[must_use]
pub fn over_replicates(scores: &[&Clustered]) -> Option<Estimate> {
    let count = scores.len() as f64;
    if count < 2.0 {
        return None;
    }
    let mean = scores.iter().map(|score| score.value()).sum::<f64>() / count;
    let square = |score: &&Clustered| {
        let distance = score.value() - mean;
        distance * distance
    };
    let freedom = count - 1.0;
    let variance = scores.iter().map(square).sum::<f64>() / freedom;
    let [own, shared] = own_variance(scores);
    // Replicates with equal scores by chance have at least the errors of their own scores.
    let between = variance.max(own) / count;
    let openings = scores.iter().map(|score| score.freedom()).fold(f64::INFINITY, f64::min);
    let freedom = freedom_of_sum([(between, freedom), (shared, openings.max(1.0))]);
    Some(Estimate { value: mean, variance: between + shared, freedom })
}

/// The mean variance of the errors of replicates' own scores, without what all share; and that.
fn own_variance(scores: &[&Clustered]) -> [f64; 2] {
    let count = scores.len() as f64;
    let within = scores.iter().map(|score| score.variance()).sum::<f64>() / count;
    let shared = if count > 1.0 { shared(scores, within) } else { 0.0 };
    [(within - shared).max(0.0), shared]
}

/// The variance that the openings which replicates have in common add to all their scores alike. Scores spread around
/// their mean do not show it, and more replicates do not reduce it. 0 where each replicate has openings of its own.
fn shared(scores: &[&Clustered], within: f64) -> f64 {
    let count = scores.len() as f64;
    let terms: Vec<_> = scores.iter().map(|score| (1.0 / count, *score)).collect();
    let excess = Clustered::sum(&terms).variance() - within / count;
    (excess * count / (count - 1.0)).clamp(0.0, within)
}

/// The degrees of freedom of a sum of variances with these degrees (Satterthwaite 1946).
fn freedom_of_sum(variances: [(f64, f64); 2]) -> f64 {
    let sum: f64 = variances.iter().map(|(variance, _)| variance).sum();
    let parts = variances.iter().map(|(variance, freedom)| variance * variance / freedom);
    let freedom = sum * sum / parts.sum::<f64>();
    if freedom.is_finite() { freedom } else { variances[0].1 }
}
