//! Deletes old leases and workers, a few at a time (invariant 9).

use std::time::{Duration, Instant};

use spelrum_model::{LeaseId, WorkerId};

use super::Dispatcher;
use spelrum_store::contract::{Store, WriteTransaction as _};
use spelrum_store::{StoreError, unix_now_us};

/// The latest leases, which are kept however they ended.
const LEASES_KEPT: u64 = 100_000;

/// How long a worker without results is kept after its last Hello, so that people can find out why it ends. A worker
/// that still calls goes later, since its leases refer to it. One that comes back later must say Hello, as after a
/// restart of the coordinator, and is a new worker then.
const WORKERS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// Time between two pieces of a round: at most a fiftieth of the time is spent on them.
const PIECES_INTERVAL: Duration = Duration::from_millis(100);

/// Time from the end of a round to the next one.
const ROUNDS_INTERVAL: Duration = Duration::from_secs(60);

/// Progress of the current round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forgetting {
    next: Piece,
    due: Instant,
    workers_kept: Duration,
}

/// A piece of a round.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// Leases after this one.
    Leases(LeaseId),
    /// Workers after this one, whose leases may be deleted by now.
    Workers(WorkerId),
}

/// Where a round begins.
const FIRST: Piece = Piece::Leases(LeaseId(0));

impl Forgetting {
    pub(super) fn new() -> Self {
        Self { next: FIRST, due: Instant::now() + PIECES_INTERVAL, workers_kept: WORKERS_KEPT }
    }

    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Deletes workers without delay.
    #[cfg(test)]
    pub(super) fn without_delay(self) -> Self {
        Self { workers_kept: Duration::ZERO, ..self }
    }
}

impl<S: Store> Dispatcher<S> {
    /// Checks the next leases or workers; returns whether more are left in this round. A failed piece is retried in the
    /// next round.
    ///
    /// # Errors
    /// If another coordinator has the database now, or the database is gone.
    pub(super) async fn forget(&mut self) -> Result<bool, StoreError> {
        let next = match self.forget_some().await {
            Err(error) if error.is_final() => return Err(error),
            Err(error) => {
                tracing::warn!("failed to forget what is old: {error}; {}", error.remedy());
                None
            }
            Ok(next) => next,
        };
        let interval = if next.is_some() { PIECES_INTERVAL } else { ROUNDS_INTERVAL };
        self.forgetting.next = next.unwrap_or(FIRST);
        self.forgetting.due = Instant::now() + interval;
        Ok(next.is_some())
    }

    /// Processes a piece; returns the next one of the round.
    async fn forget_some(&mut self) -> Result<Option<Piece>, StoreError> {
        let mut transaction = self.store.begin().await?;
        let next = match self.forgetting.next {
            Piece::Leases(after) => {
                let last = transaction.forget_leases(after, LEASES_KEPT).await?;
                Some(last.map_or(Piece::Workers(WorkerId(0)), Piece::Leases))
            }
            Piece::Workers(after) => {
                let kept_us = i64::try_from(self.forgetting.workers_kept.as_micros());
                let before = unix_now_us().saturating_sub(kept_us.unwrap_or(i64::MAX));
                let known_workers = self.roster.workers();
                transaction.forget_workers(after, before, &known_workers).await?.map(Piece::Workers)
            }
        };
        transaction.commit().await?;
        Ok(next)
    }
}
