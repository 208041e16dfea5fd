//! The status: experiments, workers, and what needs attention.

use std::cmp::Reverse;
use std::sync::Arc;

use spelrum_answers as results;
use spelrum_answers::{GetStatus, LargestCell, Status, WorkerSummary};
use spelrum_model::CellId;
use spelrum_proto::Refusal;
use spelrum_store::Question as _;

use super::questions::unanswered;
use super::{Answers, Api, Reply};
use crate::dispatcher::Workforce;
use crate::services::{millis, reading_failed};

/// Workers in one answer (invariant 9).
const WORKERS_MAX: usize = 1_000;

/// Engines of the workers in one answer, likewise.
const ENGINES_MAX: usize = 2_000;

/// Failed builds of a worker in one answer, likewise.
const FAILED_MAX: usize = 8;

impl Answers<GetStatus> for Api {
    async fn answer(&self, question: GetStatus) -> Result<Reply<Status>, Refusal> {
        // What the database knows, and to it what only the coordinator does.
        let mut status = question.answer(&self.readers).await.map_err(unanswered)?;
        let (experiments, attention) = (&status.experiments, &mut status.attention);
        let Workforce { mut workers, largest, wanted, verifying: _, offers, withheld } =
            self.dispatch.workers().await?;
        let workers_total = workers.len() as u64;
        results::add_withheld(&mut workers, &withheld);
        let missing =
            results::missing_engines(experiments, &wanted, &workers, self.heartbeat_interval);
        let unplaced =
            results::unplaced(experiments, &wanted, &workers, &offers, self.heartbeat_interval);
        let cells = largest.iter().map(|row| row.1).chain(missing.iter().map(|row| row.cell));
        let cells = cells.chain(unplaced.iter().map(|row| row.cell));
        let cells: Vec<CellId> = cells.collect();
        let cells = self.readers.cells_named(&cells).await.map_err(reading_failed)?;
        let named = |(_, cell, memory_bytes)| {
            let cell = cells.iter().find(|named| named.cell == cell)?.clone();
            Some(LargestCell { cell, memory_bytes })
        };
        let largest: Vec<LargestCell> = largest.into_iter().filter_map(named).collect();
        let workforce = results::Workforce {
            workers: &workers,
            largest: &largest,
            heartbeat_interval: self.heartbeat_interval,
        };
        results::attention_of_silent(&workers, self.heartbeat_interval, attention);
        results::attention_of_workers(experiments, workforce, attention);
        results::attention_of_withheld(&workers, &withheld, attention);
        results::attention_of_builds(&workers, &wanted, self.heartbeat_interval, attention);
        results::attention_of_engines(experiments, &missing, &cells, attention);
        results::attention_of_placement(experiments, &unplaced, &cells, attention);
        keep_busiest(&mut workers);
        keep_first_engines(&mut workers);
        status.coordinator = Some(results::CoordinatorStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            epoch: self.epoch,
            uptime_ms: millis(self.clock.elapsed()),
            workers,
            workers_total,
        });
        Ok(Reply::Small(status))
    }
}

/// Cuts a list of workers to the size of an answer: keeps those that hold the most games, then those heard from most
/// recently.
fn keep_busiest(workers: &mut Vec<WorkerSummary>) {
    if workers.len() > WORKERS_MAX {
        workers.sort_by_key(|worker| (Reverse(worker.leased_games), worker.silent_ms));
        workers.truncate(WORKERS_MAX);
        workers.sort_by_key(|worker| worker.worker);
    }
}

/// Cuts the workers' engines to the size of an answer: at most the same number for each worker, and a few of the builds
/// that failed there.
fn keep_first_engines(workers: &mut [WorkerSummary]) {
    for worker in workers.iter_mut().filter(|worker| worker.built.failed.len() > FAILED_MAX) {
        Arc::make_mut(&mut worker.built).failed.truncate(FAILED_MAX);
    }
    let engines_total: usize = workers.iter().map(|worker| worker.engines.len()).sum();
    if engines_total > ENGINES_MAX {
        let each = ENGINES_MAX / workers.len();
        for worker in workers {
            let engines = &worker.engines[..worker.engines.len().min(each)];
            worker.engines = engines.into();
        }
    }
}
