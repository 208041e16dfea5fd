//! The coordinator's health: whether its dispatcher answers, and whether its commits reach the disk. A transaction that
//! changes nothing commits on a full disk too, so the check writes something.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, watch};

use super::request::{Dispatch, Request};
use spelrum_store::StoreError;

/// How long a good result is cached.
const FRESH: Duration = Duration::from_secs(8);

/// How long a failure is cached: the disk may get free space at any moment.
const FRESH_FAILURE: Duration = Duration::from_secs(1);

/// Time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A disk or a file that has failed for this long will not recover by itself: the program ends, so that a supervisor
/// can restart it and people notice. A full disk is waited for.
const FAILING_MAX: Duration = Duration::from_secs(60);

/// What keeps a coordinator from its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwell {
    /// What is wrong, as a sentence without an end mark.
    pub problem: String,
    /// Whether the coordinator waits for people, as on a full disk: a restart would change nothing.
    pub is_waiting: bool,
}

/// The latest result, and its time.
type Latest = Option<(Instant, Result<(), Unwell>)>;

/// Reports whether the coordinator can do its work; cheap to clone.
#[derive(Clone)]
pub struct Health {
    dispatch: Dispatch,
    latest: watch::Receiver<Latest>,
    /// Held by the one check that runs for all. The time of the last unanswered check, and its meaning.
    asking: Arc<Mutex<Option<(Instant, Unwell)>>>,
}

impl Health {
    /// Checks, unless a recent result is cached.
    ///
    /// # Errors
    /// What is wrong.
    pub async fn check(&self) -> Result<(), Unwell> {
        if let Some(answer) = self.recent_result() {
            return answer;
        }
        let mut unanswered = self.asking.lock().await;
        if let Some(answer) = self.recent_result() {
            return answer;
        }
        if let Some((at, unwell)) = &*unanswered
            && at.elapsed() < FRESH_FAILURE
        {
            return Err(unwell.clone());
        }
        match tokio::time::timeout(PATIENCE, self.dispatch.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(refusal)) => self
                .recent_result()
                .unwrap_or(Err(Unwell { problem: refusal.problem, is_waiting: false })),
            Err(_elapsed) => {
                let problem = format!("failed to commit anything within {} s", PATIENCE.as_secs());
                let unwell = Unwell { problem, is_waiting: false };
                *unanswered = Some((Instant::now(), unwell.clone()));
                Err(unwell)
            }
        }
    }

    fn recent_result(&self) -> Option<Result<(), Unwell>> {
        let answer = self.latest.borrow();
        let (at, answer) = answer.as_ref()?;
        let fresh = if answer.is_ok() { FRESH } else { FRESH_FAILURE };
        (at.elapsed() < fresh).then(|| answer.clone())
    }
}

/// The dispatcher's part of the health check.
#[derive(Debug)]
pub(super) struct Watch {
    latest: watch::Sender<Latest>,
    failing_since: Option<Instant>,
    failing_max: Duration,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { latest: watch::Sender::new(None), failing_since: None, failing_max: FAILING_MAX }
    }

    /// With a different patience for a failing disk.
    #[cfg(test)]
    pub(super) fn with_failing_max(failing_max: Duration) -> Self {
        Self { failing_max, ..Self::new() }
    }

    /// A handle for checking the health.
    pub(super) fn health(&self, dispatch: Dispatch) -> Health {
        Health { dispatch, latest: self.latest.subscribe(), asking: Arc::default() }
    }

    /// Records a committed write.
    pub(super) fn record_write(&mut self) {
        self.failing_since = None;
        self.latest.send_replace(Some((Instant::now(), Ok(()))));
    }

    /// Records a failed transaction. Returns whether the failures have lasted too long.
    pub(super) fn record_failure(&mut self, error: &StoreError, now: Instant) -> bool {
        let is_waiting = matches!(error, StoreError::Full);
        let is_of_the_store = error.is_of_the_disk() || error.is_final();
        let is_ours = is_waiting || matches!(error, StoreError::Busy) || is_of_the_store;
        if !is_ours {
            // The fault is in the request, such as a result that cannot be stored.
            return false;
        }
        let unwell = Unwell { problem: error.to_string(), is_waiting };
        self.latest.send_replace(Some((now, Err(unwell))));
        if !error.is_of_the_disk() {
            return false;
        }
        let since = *self.failing_since.get_or_insert(now);
        now.duration_since(since) >= self.failing_max
    }
}

impl Dispatch {
    /// Writes something, and commits it.
    async fn probe(&self) -> Result<(), spelrum_proto::Refusal> {
        self.ask(|reply| Request::Probe { reply }).await
    }
}
