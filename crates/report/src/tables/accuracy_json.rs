//! How well players choose, for programs. Keys are only ever added.

use serde::Serialize;
use spelrum_answers::{CellAccuracy, Report};
use spelrum_statistics::choice::Estimate;

use super::axes::cells_by_id;

/// Accuracy of a player in a cell, or in its positions at one distance from the start.
#[derive(Debug, Serialize)]
pub(crate) struct Accuracy<'a> {
    cell_id: i64,
    axes: &'a [Option<String>],
    player: &'a str,
    reference: &'a str,
    /// Null: over all of the cell's positions.
    plies: Option<u32>,
    positions: u64,
    best: f64,
    best_low: Option<f64>,
    best_high: Option<f64>,
    random_best: f64,
    best_skill: f64,
    best_skill_low: Option<f64>,
    best_skill_high: Option<f64>,
    rank: f64,
    rank_low: Option<f64>,
    rank_high: Option<f64>,
    random_rank: f64,
    rank_skill: f64,
    rank_skill_low: Option<f64>,
    rank_skill_high: Option<f64>,
    loss: f64,
    loss_low: Option<f64>,
    loss_high: Option<f64>,
    random_loss: f64,
    loss_skill: f64,
    loss_skill_low: Option<f64>,
    loss_skill_high: Option<f64>,
    /// Null, like all that follow, if the reference does not state the winner, or no position was won that a move
    /// could give away.
    winnable: Option<u64>,
    keeps_win: Option<f64>,
    keeps_win_low: Option<f64>,
    keeps_win_high: Option<f64>,
    random_keeps_win: Option<f64>,
    keeps_win_skill: Option<f64>,
    keeps_win_skill_low: Option<f64>,
    keeps_win_skill_high: Option<f64>,
}

impl Accuracy<'_> {
    /// Whether it covers all positions of its cell.
    pub(crate) const fn covers_all_plies(&self) -> bool {
        self.plies.is_none()
    }
}

/// All of a report.
pub(crate) fn accuracy(report: &Report) -> Vec<Accuracy<'_>> {
    let cells = cells_by_id(report);
    let low = |estimate: Estimate| estimate.interval.map(|bounds| bounds.low);
    let high = |estimate: Estimate| estimate.interval.map(|bounds| bounds.high);
    report
        .accuracy
        .iter()
        .filter_map(|CellAccuracy { cell, reference, plies, accuracy }| {
            let cell = cells.get(cell)?;
            let wins = accuracy.wins;
            let [kept, kept_skill] = [wins.map(|wins| wins.share), wins.map(|wins| wins.skill)];
            Some(Accuracy {
                cell_id: cell.cell.0,
                axes: &cell.axes,
                player: &cell.player,
                reference,
                plies: *plies,
                positions: accuracy.positions,
                best: accuracy.best.value,
                best_low: low(accuracy.best),
                best_high: high(accuracy.best),
                random_best: accuracy.random_best,
                best_skill: accuracy.best_skill.value,
                best_skill_low: low(accuracy.best_skill),
                best_skill_high: high(accuracy.best_skill),
                rank: accuracy.rank.value,
                rank_low: low(accuracy.rank),
                rank_high: high(accuracy.rank),
                random_rank: accuracy.random_rank,
                rank_skill: accuracy.rank_skill.value,
                rank_skill_low: low(accuracy.rank_skill),
                rank_skill_high: high(accuracy.rank_skill),
                loss: accuracy.loss.value,
                loss_low: low(accuracy.loss),
                loss_high: high(accuracy.loss),
                random_loss: accuracy.random_loss,
                loss_skill: accuracy.loss_skill.value,
                loss_skill_low: low(accuracy.loss_skill),
                loss_skill_high: high(accuracy.loss_skill),
                winnable: wins.map(|wins| wins.positions),
                keeps_win: kept.map(|estimate| estimate.value),
                keeps_win_low: kept.and_then(low),
                keeps_win_high: kept.and_then(high),
                random_keeps_win: wins.map(|wins| wins.random),
                keeps_win_skill: kept_skill.map(|estimate| estimate.value),
                keeps_win_skill_low: kept_skill.and_then(low),
                keeps_win_skill_high: kept_skill.and_then(high),
            })
        })
        .collect()
}
