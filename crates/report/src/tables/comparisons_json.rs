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
    pub(crate) effects: Vec<EffectOf<'a>>,
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
pub(crate) struct EffectOf<'a> {
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
    fn from(told: &'a Comparisons) -> Self {
        let effects = |of: &'a Effects| of.effects.iter().map(|it| effect(&told.axes, of, it));
        Self {
            experiment: &told.experiment.name,
            axes: &told.axes,
            gains: told.differences.iter().map(|it| gain(&told.axes, it)).collect(),
            gains_truncated: told.differences_truncated,
            effects: told.effects.iter().flat_map(effects).collect(),
            replicates: told.replicates.iter().map(Replicates::of).collect(),
        }
    }
}

fn low(interval: Option<Interval>) -> Option<f64> {
    interval.map(|interval| interval.low)
}

fn high(interval: Option<Interval>) -> Option<f64> {
    interval.map(|interval| interval.high)
}

fn gain<'a>(axes: &'a [String], it: &'a Difference) -> Gain<'a> {
    let (changed, from, to) = match &it.changed {
        Changed::Axis { axis, from, to } => (axes[*axis].as_str(), from.as_str(), to.as_str()),
        Changed::Player { from } => ("player", from.as_str(), it.player.as_str()),
    };
    let [cell_id, from_cell_id] = it.cells.map(|cell| cell.0);
    Gain {
        cell_id,
        from_cell_id,
        axes: &it.place,
        player: &it.player,
        opponent: &it.opponent,
        changed,
        from,
        to,
        openings_shared: it.openings_shared,
        gain: it.score,
        gain_low: low(it.interval),
        gain_high: high(it.interval),
    }
}

fn effect<'a>(axes: &'a [String], of: &'a Effects, it: &'a Effect) -> EffectOf<'a> {
    let [first, second] = [it.of.first(), it.of.get(1)];
    let axis = |contrast: Option<&Contrast>| contrast.map(|it| axes[it.axis].as_str());
    let from = |contrast: Option<&'a Contrast>| contrast.map(|it| it.from.as_str());
    let to = |contrast: Option<&'a Contrast>| contrast.map(|it| it.to.as_str());
    EffectOf {
        player: &of.player,
        opponent: &of.opponent,
        cells: of.cells,
        axis: axis(first),
        from: from(first),
        to: to(first),
        with_axis: axis(second),
        with_from: from(second),
        with_to: to(second),
        gain: it.score,
        gain_low: low(it.interval),
        gain_high: high(it.interval),
        residual_deviation: of.residual,
    }
}

impl<'a> Replicates<'a> {
    fn of(it: &'a spelrum_answers::CellReplicates) -> Self {
        Self {
            cell_id: it.cell.0,
            axes: &it.place,
            player: &it.player,
            opponent: &it.opponent,
            seeds: it.seeds,
            score: it.score,
            score_low: low(it.interval),
            score_high: high(it.interval),
            deviation: it.deviation,
            deviation_beyond_openings: it.deviation_between,
        }
    }
}
