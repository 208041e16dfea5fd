//! Removals, carried out between the batches, a piece at a time, so that no batch waits for long.

use std::time::{Duration, Instant};

use super::{Dispatcher, FAILED_RETRY_AFTER, UPKEEP_INTERVAL};
use spelrum_store::contract::{Store, WriteTransaction as _};
use spelrum_store::{Removed, StoreError};

/// A piece begins no further step after this time.
const PIECE_TIME_MAX: Duration = Duration::from_millis(5);

/// When the next piece of the removals is due.
#[derive(Debug)]
pub(super) struct Removals {
    stage: Stage,
    /// When idle: the next piece is due then.
    idle_due: Instant,
    /// When busy: at most half of the time is for removals.
    fair_due: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing is being removed.
    Nothing,
    /// Rows are being removed.
    Rows,
    /// No rows are left; the file has to shrink.
    Pages,
    /// The free pages are at the file's end, where only a complete checkpoint cuts them off.
    End,
}

impl Removals {
    /// At startup, with or without unfinished removals.
    pub(super) fn new(any: bool) -> Self {
        let now = Instant::now();
        let stage = if any { Stage::Rows } else { Stage::Nothing };
        Self { stage, idle_due: now, fair_due: now }
    }

    /// Notes a new removal.
    pub(super) fn begin(&mut self) {
        self.stage = Stage::Rows;
    }

    /// When the next piece is due, if the dispatcher is idle.
    pub(super) fn due(&self) -> Option<Instant> {
        (self.stage != Stage::Nothing).then_some(self.idle_due)
    }

    /// Whether the next piece is due although the dispatcher is busy.
    pub(super) fn has_its_turn(&self) -> bool {
        self.stage != Stage::Nothing && Instant::now() >= self.fair_due
    }
}

impl<S: Store> Dispatcher<S> {
    /// Removes the next piece.
    ///
    /// # Errors
    /// If another coordinator has the database now, or the database is gone.
    pub(super) async fn remove(&mut self) -> Result<(), StoreError> {
        let started = Instant::now();
        let done = match self.removals.stage {
            Stage::Nothing => return Ok(()),
            Stage::Rows => self.remove_rows().await,
            Stage::Pages => shrink(&mut self.store).await,
            Stage::End => cut(&mut self.store).await,
        };
        let ended = Instant::now();
        self.removals.idle_due = ended;
        self.removals.fair_due = ended + (ended - started);
        match done {
            Ok(stage) => {
                if stage == Stage::End && self.removals.stage == Stage::End {
                    // A reader still needs the log.
                    self.removals.idle_due = ended + UPKEEP_INTERVAL;
                    self.removals.fair_due = self.removals.idle_due;
                }
                self.removals.stage = stage;
            }
            Err(error) if error.is_final() => return Err(error),
            Err(error) => {
                tracing::error!("failed to go on with a removal: {error}; {}", error.remedy());
                self.removals.idle_due = ended + FAILED_RETRY_AFTER;
                self.removals.fair_due = self.removals.idle_due;
            }
        }
        self.maintain_store().await
    }

    /// Removes rows in one transaction.
    async fn remove_rows(&mut self) -> Result<Stage, StoreError> {
        let started = Instant::now();
        let mut transaction = self.store.begin().await?;
        let mut steps = 0;
        let stage = loop {
            if transaction.remove_some().await? == Removed::Nothing {
                break Stage::Pages;
            }
            steps += 1;
            if started.elapsed() >= PIECE_TIME_MAX {
                break Stage::Rows;
            }
        };
        self.faults.at_commit().await?;
        transaction.commit().await?;
        self.faults.after_commit();
        tracing::debug!(steps, took = ?started.elapsed(), "removed");
        Ok(stage)
    }
}

/// Shrinks the file a little.
async fn shrink(store: &mut impl Store) -> Result<Stage, StoreError> {
    Ok(if store.shrink().await? { Stage::Pages } else { Stage::End })
}

/// Cuts the free pages off the file, if no reader needs the log.
async fn cut(store: &mut impl Store) -> Result<Stage, StoreError> {
    Ok(if store.upkeep().await? { Stage::Nothing } else { Stage::End })
}
