//! Changes from cell to cell, for programs. Keys are only ever added.

use serde::Serialize;
use spelrum_answers::CellDifference as Difference;
use spelrum_answers::Comparisons;
use spelrum_statistics::Interval;
use spelrum_statistics::comparisons::{Changed, Contrast, Effect, Effects};

/// All comparisons of an experiment.
#[derive(Debug, Serialize)]
pub(crate) struct Compared<'a> {
    #[serde(skip)]
    pub(crate) experiment: &'a str,
    /// The grid's axes: those of the report that are not a player's own.
    pub(crate) axes: &'a [String],
    pub(crate) gains: Vec<Gain<'a>>,
    gains_truncated: bool,
    pub(crate) effects: Vec<EffectRow<'a>>,
    pub(crate) replicates: Vec<Replicates<'a>>,
}

/// Score gained by a player between two cells that differ in one setting.
#[derive(Debug, Serialize)]
pub(crate) struct Gain<'a> {
    cell_id: i64,
    from_cell_id: i64,
    /// Values that both cells have.
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    /// An axis, or `player`.
    changed: &'a str,
    from: &'a str,
    to: &'a str,
    openings_shared: u64,
    gain: f64,
    gain_low: Option<f64>,
    gain_high: Option<f64>,
}

/// Effect of an axis over all cells of a pairing, or its interaction with another axis.
#[derive(Debug, Serialize)]
pub(crate) struct EffectRow<'a> {
    player: &'a str,
    opponent: &'a str,
    cells: u64,
    axis: Option<&'a str>,
    from: Option<&'a str>,
    to: Option<&'a str>,
    with_axis: Option<&'a str>,
    with_from: Option<&'a str>,
    with_to: Option<&'a str>,
    gain: f64,
    gain_low: Option<f64>,
    gain_high: Option<f64>,
    /// Of the pairing's model.
    residual_deviation: Option<f64>,
}

/// One cell, repeated with other seeds.
#[derive(Debug, Serialize)]
pub(crate) struct Replicates<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    opponent: &'a str,
    seeds: u64,
    score: f64,
    score_low: Option<f64>,
    score_high: Option<f64>,
    deviation: Option<f64>,
    deviation_beyond_openings: Option<f64>,
}

impl<'a> From<&'a Comparisons> for Compared<'a> {
    fn from(comparisons: &'a Comparisons) -> Self {
        let effects = |effects: &'a Effects| {
            effects.effects.iter().map(|row| effect(&comparisons.axes, effects, row))
        };
        Self {
            experiment: &comparisons.experiment.name,
            axes: &comparisons.axes,
            gains: comparisons
                .differences
                .iter()
                .map(|difference| gain(&comparisons.axes, difference))
                .collect(),
            gains_truncated: comparisons.differences_truncated,
            effects: comparisons.effects.iter().flat_map(effects).collect(),
            replicates: comparisons.replicates.iter().map(Replicates::new).collect(),
        }
    }
}

fn low(interval: Option<Interval>) -> Option<f64> {
    interval.map(|interval| interval.low)
}

fn high(interval: Option<Interval>) -> Option<f64> {
    interval.map(|interval| interval.high)
}

fn gain<'a>(axes: &'a [String], difference: &'a Difference) -> Gain<'a> {
    let (changed, from, to) = match &difference.changed {
        Changed::Axis { axis, from, to } => (axes[*axis].as_str(), from.as_str(), to.as_str()),
        Changed::Player { from } => ("player", from.as_str(), difference.player.as_str()),
    };
    let [cell_id, from_cell_id] = difference.cells.map(|cell| cell.0);
    Gain {
        cell_id,
        from_cell_id,
        axes: &difference.place,
        player: &difference.player,
        opponent: &difference.opponent,
        changed,
        from,
        to,
        openings_shared: difference.openings_shared,
        gain: difference.score,
        gain_low: low(difference.interval),
        gain_high: high(difference.interval),
    }
}

fn effect<'a>(axes: &'a [String], effects: &'a Effects, effect: &'a Effect) -> EffectRow<'a> {
    let [first, second] = [effect.contrasts.first(), effect.contrasts.get(1)];
    let axis = |contrast: Option<&Contrast>| contrast.map(|contrast| axes[contrast.axis].as_str());
    let from = |contrast: Option<&'a Contrast>| contrast.map(|contrast| contrast.from.as_str());
    let to = |contrast: Option<&'a Contrast>| contrast.map(|contrast| contrast.to.as_str());
    EffectRow {
        player: &effects.player,
        opponent: &effects.opponent,
        cells: effects.cells,
        axis: axis(first),
        from: from(first),
        to: to(first),
        with_axis: axis(second),
        with_from: from(second),
        with_to: to(second),
        gain: effect.score,
        gain_low: low(effect.interval),
        gain_high: high(effect.interval),
        residual_deviation: effects.residual,
    }
}

impl<'a> Replicates<'a> {
    fn new(replicates: &'a spelrum_answers::CellReplicates) -> Self {
        Self {
            cell_id: replicates.cell.0,
            axes: &replicates.place,
            player: &replicates.player,
            opponent: &replicates.opponent,
            seeds: replicates.seeds,
            score: replicates.score,
            score_low: low(replicates.interval),
            score_high: high(replicates.interval),
            deviation: replicates.deviation,
            deviation_beyond_openings: replicates.deviation_between,
        }
    }
}
