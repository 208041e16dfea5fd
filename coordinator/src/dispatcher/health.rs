//! Whether the coordinator can do its work: whether its dispatcher answers, and whether what it commits
//! comes to the disk. A transaction that changes nothing commits on a full disk too, so this is found
//! out by one that writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, watch};

use super::request::{Dispatch, Request};
use spelrum_store::StoreError;

/// What was found out is believed for so long.
const FRESH: Duration = Duration::from_secs(8);

/// The same, if it was a failure: room may be made at any moment.
const FRESH_FAILURE: Duration = Duration::from_secs(1);

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A disk or a file that has failed for so long will not mend by itself: the program ends, so that a
/// supervisor can start it anew, and people see it. A full disk is waited for.
const FAILING_MAX: Duration = Duration::from_secs(60);

/// What keeps a coordinator from its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwell {
    /// What is wrong, as a sentence without an end mark.
    pub problem: String,
    /// Whether it waits for people, as on a full disk: to start it anew would change nothing.
    pub is_waiting: bool,
}

/// What was found out last, and when.
type Found = Option<(Instant, Result<(), Unwell>)>;

/// Tells whether the coordinator can do its work; cheap to clone.
#[derive(Clone)]
pub struct Health {
    dispatch: Dispatch,
    found: watch::Receiver<Found>,
    /// One asks for all. When nobody answered last, and what that means.
    asking: Arc<Mutex<Option<(Instant, Unwell)>>>,
}

impl Health {
    /// Finds out, unless that was just done.
    ///
    /// # Errors
    /// What is wrong.
    pub async fn check(&self) -> Result<(), Unwell> {
        if let Some(found) = self.found_lately() {
            return found;
        }
        let mut unanswered = self.asking.lock().await;
        if let Some(found) = self.found_lately() {
            return found;
        }
        if let Some((at, unwell)) = &*unanswered
            && at.elapsed() < FRESH_FAILURE
        {
            return Err(unwell.clone());
        }
        match tokio::time::timeout(PATIENCE, self.dispatch.probe()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(refusal)) => self
                .found_lately()
                .unwrap_or(Err(Unwell { problem: refusal.problem, is_waiting: false })),
            Err(_elapsed) => {
                let problem = format!("failed to commit anything within {} s", PATIENCE.as_secs());
                let unwell = Unwell { problem, is_waiting: false };
                *unanswered = Some((Instant::now(), unwell.clone()));
                Err(unwell)
            }
        }
    }

    fn found_lately(&self) -> Option<Result<(), Unwell>> {
        let found = self.found.borrow();
        let (at, found) = found.as_ref()?;
        let fresh = if found.is_ok() { FRESH } else { FRESH_FAILURE };
        (at.elapsed() < fresh).then(|| found.clone())
    }
}

/// The dispatcher's side of it.
#[derive(Debug)]
pub(super) struct Watch {
    found: watch::Sender<Found>,
    failing_since: Option<Instant>,
    failing_max: Duration,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self { found: watch::Sender::new(None), failing_since: None, failing_max: FAILING_MAX }
    }

    /// With another patience for a disk that fails.
    #[cfg(test)]
    pub(super) fn with_failing_max(failing_max: Duration) -> Self {
        Self { failing_max, ..Self::new() }
    }

    /// A handle for whoever wants to know.
    pub(super) fn health(&self, dispatch: Dispatch) -> Health {
        Health { dispatch, found: self.found.subscribe(), asking: Arc::default() }
    }

    /// Something was written, and committed.
    pub(super) fn wrote(&mut self) {
        self.failing_since = None;
        self.found.send_replace(Some((Instant::now(), Ok(()))));
    }

    /// A transaction has failed. Returns whether that has lasted for too long.
    pub(super) fn failed(&mut self, error: &StoreError, now: Instant) -> bool {
        let is_waiting = matches!(error, StoreError::Full);
        let is_of_the_store = error.is_of_the_disk() || error.is_final();
        let is_ours = is_waiting || matches!(error, StoreError::Busy) || is_of_the_store;
        if !is_ours {
            // It says something of the request, such as a result that nobody can store.
            return false;
        }
        let unwell = Unwell { problem: error.to_string(), is_waiting };
        self.found.send_replace(Some((now, Err(unwell))));
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
