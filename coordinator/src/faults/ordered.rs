//! The faults that a test has ordered.

mod end;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use spelrum_model::GameId;
use tokio::sync::{Mutex, OwnedMutexGuard};

use spelrum_store::{Readers, StoreError};

use end::{End, Point};

/// The faults to come: none, unless a test holds a clone.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    failing_commits: Arc<AtomicU32>,
    disk_fails: Arc<AtomicBool>,
    /// One more than the number of the poisonous game; 0 without one.
    poison: Arc<AtomicU64>,
    /// Held while commits wait.
    slow_disk: Arc<Mutex<()>>,
    /// Whether a commit is waiting.
    stalled: Arc<AtomicBool>,
    /// By how much the places for connections are reduced.
    connections_missing: Arc<AtomicUsize>,
    /// The bound of queries, in milliseconds; 0 for the usual one.
    query_ms: Arc<AtomicU64>,
    /// Where the process ends.
    end: Arc<End>,
}

impl Faults {
    /// The faults that the environment orders: where this process ends ([`End::from_environment`]).
    pub(crate) fn from_environment() -> Self {
        Self { end: Arc::new(End::from_environment()), ..Self::default() }
    }

    /// Makes the next commits fail as on a full disk, this many of them.
    pub fn fail_commits(&self, commits: u32) {
        self.failing_commits.store(commits, Ordering::SeqCst);
    }

    /// Makes every commit fail as on a failing disk, until reset.
    pub fn break_disk(&self, fails: bool) {
        self.disk_fails.store(fails, Ordering::SeqCst);
    }

    /// Number of commits that have still to fail.
    #[must_use]
    pub fn failing_commits(&self) -> u32 {
        self.failing_commits.load(Ordering::SeqCst)
    }

    /// Makes every transaction fail that has a result of a game with this number.
    pub fn poison(&self, number: u64) {
        self.poison.store(number + 1, Ordering::SeqCst);
    }

    /// Makes commits wait, as for a slow disk, until the guard is dropped.
    pub async fn stall_commits(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.slow_disk).lock_owned().await
    }

    /// Whether a commit has reached the slow disk.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::SeqCst)
    }

    /// Limits the places for connections, from the next start on.
    pub fn limit_connections(&self, connections: usize) {
        self.connections_missing.store(usize::MAX - connections, Ordering::SeqCst);
    }

    pub(crate) fn connections_max(&self) -> usize {
        usize::MAX - self.connections_missing.load(Ordering::SeqCst)
    }

    /// Limits the time of queries, from the next start on.
    pub fn limit_queries(&self, most: Duration) {
        let milliseconds = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
        self.query_ms.store(milliseconds, Ordering::SeqCst);
    }

    pub(crate) fn with_query_limit(&self, readers: Readers) -> Readers {
        match self.query_ms.load(Ordering::SeqCst) {
            0 => readers,
            most => readers.with_query_time_max(Duration::from_millis(most)),
        }
    }

    pub(crate) async fn at_commit(&self) -> Result<(), StoreError> {
        if self.slow_disk.try_lock().is_err() {
            self.stalled.store(true, Ordering::SeqCst);
            drop(self.slow_disk.lock().await);
            self.stalled.store(false, Ordering::SeqCst);
        }
        if self.disk_fails.load(Ordering::SeqCst) {
            return Err(StoreError::broken_disk());
        }
        let failing = &self.failing_commits;
        let ordered = failing
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |commits| commits.checked_sub(1));
        if ordered.is_ok() {
            return Err(StoreError::Full);
        }
        self.end.reached(Point::BeforeCommit);
        Ok(())
    }

    /// Reached when a transaction is on disk, before any answer.
    pub(crate) fn after_commit(&self) {
        self.end.reached(Point::AfterCommit);
    }

    /// Reached when one answer of a transaction is sent, and the others are not.
    pub(crate) fn amid_answers(&self) {
        self.end.reached(Point::AmidAnswers);
    }

    pub(crate) fn at_result(&self, game: GameId) -> Result<(), StoreError> {
        if self.poison.load(Ordering::SeqCst) == game.number + 1 {
            let problem = "a test has poisoned it".to_owned();
            let (cell_id, number) = (game.cell.0, game.number);
            return Err(StoreError::InvalidGame { cell_id, number, problem });
        }
        Ok(())
    }
}
