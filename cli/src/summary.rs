//! Experiments and workers at a glance: what `list`, `status` and the steering commands print.

use serde::Serialize;
use spelrum_tournament::results::{ExperimentSummary, WorkerSummary};

use crate::output::{Column, TextTable, count, duration_us, percent};

/// An experiment in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Experiment<'a> {
    experiment_uuid: &'a str,
    name: &'a str,
    game: &'a str,
    state: &'a str,
    priority: i32,
    cells: u64,
    games_planned: u64,
    games_settled: u64,
    games_failed: u64,
    submitted_unix_us: i64,
}

impl<'a> From<&'a ExperimentSummary> for Experiment<'a> {
    fn from(experiment: &'a ExperimentSummary) -> Self {
        Self {
            experiment_uuid: &experiment.uuid,
            name: &experiment.name,
            game: &experiment.game,
            state: experiment.state.name(),
            priority: experiment.priority,
            cells: experiment.cells,
            games_planned: experiment.games_planned,
            games_settled: experiment.games_settled,
            games_failed: experiment.games_failed,
            submitted_unix_us: experiment.submitted_unix_us,
        }
    }
}

/// A worker in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Worker<'a> {
    worker_id: i64,
    name: &'a str,
    host: &'a str,
    slots: u32,
    engine_revision: u32,
    silent_ms: u64,
    leased_games: u64,
    playing_games: u64,
    reported_games: u64,
}

impl<'a> From<&'a WorkerSummary> for Worker<'a> {
    fn from(worker: &'a WorkerSummary) -> Self {
        Self {
            worker_id: worker.worker.0,
            name: &worker.name,
            host: &worker.host,
            slots: worker.slots,
            engine_revision: worker.engine_revision,
            silent_ms: worker.silent_ms,
            leased_games: worker.leased_games,
            playing_games: worker.playing_games,
            reported_games: worker.reported_games,
        }
    }
}

/// Experiments for people.
pub(crate) fn experiments_table(experiments: &[ExperimentSummary]) -> TextTable {
    let mut table = TextTable::new(&[
        Column::words("experiment"),
        Column::words("game"),
        Column::words("state"),
        Column::numbers("cells"),
        Column::numbers("games"),
        Column::numbers("settled"),
        Column::numbers("done"),
        Column::numbers("failed"),
    ]);
    for experiment in experiments {
        table.row([
            experiment.name.clone(),
            experiment.game.clone(),
            experiment.state.name().to_owned(),
            count(experiment.cells),
            count(experiment.games_planned),
            count(experiment.games_settled),
            done(experiment),
            count(experiment.games_failed),
        ]);
    }
    table
}

/// The settled share of an experiment's games, never rounded up to all of them.
pub(crate) fn done(experiment: &ExperimentSummary) -> String {
    let (settled, planned) = (experiment.games_settled, experiment.games_planned.max(1));
    let share = settled as f64 / planned as f64;
    if settled < planned { percent(share.min(0.999)) } else { percent(1.0) }
}

/// Workers for people.
pub(crate) fn workers_table(workers: &[WorkerSummary]) -> TextTable {
    let mut table = TextTable::new(&[
        Column::words("worker"),
        Column::words("host"),
        Column::numbers("slots"),
        Column::numbers("playing"),
        Column::numbers("leased"),
        Column::numbers("reported"),
        Column::numbers("last heard of"),
    ]);
    for worker in workers {
        table.row([
            worker.name.clone(),
            worker.host.clone(),
            count(worker.slots.into()),
            count(worker.playing_games),
            count(worker.leased_games),
            count(worker.reported_games),
            format!("{} ago", duration_us(worker.silent_ms as f64 * 1e3)),
        ]);
    }
    table
}
