//! Results for programs. Keys are only ever added.

use serde::Serialize;
use spelrum_answers as results;

use super::played_on::PlayedOn;
use super::rows::Rows;
use super::scaled::{ScaledLimits, scaled};
use super::{cells, costs, failures};

/// An experiment's results.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    pub(crate) experiment: &'a str,
    experiment_uuid: &'a str,
    game: &'a str,
    state: &'static str,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    pub(crate) axes: &'a [String],
    /// Mean score of the first mover from the opening, over all cells.
    first_mover_score: Option<f64>,
    first_mover_low: Option<f64>,
    first_mover_high: Option<f64>,
    pub(crate) cells: Rows<'a>,
    /// Cost of each player's searched moves in each cell.
    pub(crate) moves: Rows<'a>,
    /// The same by completed search depth, which is then `depth_mean`.
    pub(crate) depths: Rows<'a>,
    /// Cells with games that failed, or were lost and replayed.
    pub(crate) failures: Rows<'a>,
    /// Scaling of time limits, if there was any.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_scale: Option<ScaledLimits>,
    /// Slots on which the timed games were played, if cells are timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    played_on: Option<PlayedOn>,
}

impl<'a> From<&'a results::Report> for Report<'a> {
    fn from(report: &'a results::Report) -> Self {
        let results::Report { experiment, axes, first_mover, .. } = report;
        Self {
            experiment: &experiment.name,
            experiment_uuid: &experiment.uuid,
            game: &experiment.game,
            state: experiment.state.name(),
            games_planned: experiment.games_planned,
            games_settled: experiment.games_settled,
            games_failed: experiment.games_failed,
            axes,
            first_mover_score: first_mover.map(|score| score.score),
            first_mover_low: first_mover.map(|score| score.low),
            first_mover_high: first_mover.map(|score| score.high),
            cells: cells::rows(report),
            moves: costs::rows(report, &report.moves),
            depths: costs::rows(report, &report.depths),
            failures: failures::rows(report),
            time_scale: scaled(report),
            played_on: report.played_on.map(Into::into),
        }
    }
}
