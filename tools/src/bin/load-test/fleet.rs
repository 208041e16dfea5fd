//! A simulated fleet: many workers that make the calls of real ones, each on its own connection, and take time
//! over games without using the CPU.
//!
//! For load tests of a coordinator. The games are real, since the coordinator checks every record: randomly moving
//! players play them at almost no cost.

use std::sync::Arc;
use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::task::JoinSet;

use crate::shared::{Fleet, Shared};
use crate::tally::Measured;
use crate::worker::Worker;

/// Open files of this process beside a connection for each worker.
const OTHER_FILES: u64 = 128;

/// A working fleet.
pub(crate) struct Working {
    shared: Arc<Shared>,
    workers: JoinSet<()>,
    joining: Option<Joining>,
}

/// Workers that have not been started yet.
struct Joining {
    next: u32,
    since: Instant,
}

impl Working {
    /// Starts a fleet: its workers join one after the other, by [`Self::join_more`].
    pub(crate) fn start(fleet: Fleet) -> Self {
        Self {
            shared: Arc::new(Shared::new(fleet)),
            workers: JoinSet::new(),
            joining: Some(Joining { next: 0, since: Instant::now() }),
        }
    }

    /// Starts the workers that are due to join; returns whether all have been started.
    pub(crate) fn join_more(&mut self) -> bool {
        let fleet = &self.shared.fleet;
        if let Some(joining) = &mut self.joining {
            let due = joining.since.elapsed().as_secs_f64() * f64::from(fleet.joins_per_second);
            let due = (due as u32).saturating_add(1).min(fleet.workers);
            while joining.next < due {
                let worker = Worker::new(joining.next, Arc::clone(&self.shared));
                self.workers.spawn(worker.live());
                joining.next += 1;
            }
            if joining.next == fleet.workers {
                self.joining = None;
            }
        }
        self.joining.is_none() && self.shared.tally.joined() >= u64::from(fleet.workers)
    }

    /// The number of workers welcomed by the coordinator.
    pub(crate) fn joined(&self) -> u64 {
        self.shared.tally.joined()
    }

    /// Discards measurements so far, such as those while workers joined.
    pub(crate) fn measure_from_now(&self) {
        self.shared.tally.begin();
    }

    /// The measurements so far.
    pub(crate) fn measured(&self) -> Measured {
        self.shared.tally.measured()
    }

    /// The reason why a worker gave up, if one did: then all do.
    pub(crate) fn gave_up(&self) -> Option<String> {
        self.shared.tally.gave_up()
    }

    /// Has all workers hand back their leases, and end.
    pub(crate) async fn end(mut self) {
        self.shared.stop.cancel();
        while self.workers.join_next().await.is_some() {}
    }
}

/// How many of the wanted workers can have a connection, after raising the limit of open files as far as possible.
pub(crate) fn connections_max(wanted: u32) -> u32 {
    let needed = u64::from(wanted) + OTHER_FILES;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let mut allowed = current.unwrap_or(u64::MAX);
    if allowed < needed {
        let raised = needed.min(maximum.unwrap_or(u64::MAX));
        if setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }).is_ok() {
            allowed = raised;
        }
    }
    u32::try_from(allowed.saturating_sub(OTHER_FILES)).unwrap_or(u32::MAX).min(wanted)
}
