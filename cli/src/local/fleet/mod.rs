//! A simulated fleet: many workers that speak the protocol as real ones do, each on a connection of its own,
//! and take their time over games without spending it.
//!
//! What a coordinator bears is measured with it. Its games are real, since no record is believed: they are
//! played where they cost next to nothing, by players who move by chance.

mod tally;
mod worker;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spelrum_model::{DefinitionHash, OpeningsCache, PlayableCell};
use spelrum_proto::Token;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;

pub(crate) use tally::{Call, Measured};

use tally::Tally;
use worker::Worker;

/// Open files of this process beside a connection for each worker.
const OTHER_FILES: u64 = 128;

/// What is simulated.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    /// The coordinator, and the token that its workers bring.
    pub(crate) coordinator: Endpoint,
    pub(crate) token: Option<Token>,
    /// How many workers there are, each with one slot.
    pub(crate) workers: u32,
    /// How long each takes over a game.
    pub(crate) game_time: Duration,
    /// How many connect in a second.
    pub(crate) joins_per_second: u32,
}

/// What all workers share.
struct Shared {
    fleet: Fleet,
    tally: Tally,
    openings: OpeningsCache,
    /// Each is read once, however many fetch it.
    cells: Mutex<BTreeMap<DefinitionHash, Arc<PlayableCell>>>,
    stop: CancellationToken,
}

/// A fleet that works.
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

impl Fleet {
    /// Sets the fleet going: its workers join one after the other, as [`Working::join_more`] lets them.
    pub(crate) fn start(self) -> Working {
        let shared = Shared {
            fleet: self,
            tally: Tally::default(),
            openings: OpeningsCache::default(),
            cells: Mutex::default(),
            stop: CancellationToken::new(),
        };
        Working {
            shared: Arc::new(shared),
            workers: JoinSet::new(),
            joining: Some(Joining { next: 0, since: Instant::now() }),
        }
    }
}

impl Working {
    /// Starts those workers whose time to join has come; whether all are there.
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

    /// How many workers the coordinator has welcomed.
    pub(crate) fn joined(&self) -> u64 {
        self.shared.tally.joined()
    }

    /// Forgets what was measured, such as while workers joined.
    pub(crate) fn measure_from_now(&self) {
        self.shared.tally.begin();
    }

    /// What was measured so far.
    pub(crate) fn measured(&self) -> Measured {
        self.shared.tally.measured()
    }

    /// Why a worker gave up, if one did: then all do.
    pub(crate) fn gave_up(&self) -> Option<String> {
        self.shared.tally.gave_up()
    }

    /// Lets all workers hand back what they hold, and end.
    pub(crate) async fn end(mut self) {
        self.shared.stop.cancel();
        while self.workers.join_next().await.is_some() {}
    }
}

impl Shared {
    fn cell(&self, hash: DefinitionHash) -> Option<Arc<PlayableCell>> {
        let cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        cells.get(&hash).cloned()
    }

    /// Reads a cell's definition, unless somebody else has.
    fn read(&self, hash: DefinitionHash, json: &str) -> Result<Arc<PlayableCell>, String> {
        let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cells.get(&hash) {
            return Ok(Arc::clone(known));
        }
        let cell =
            PlayableCell::from_json(json, &self.openings).map_err(|error| error.to_string())?;
        if cell.has_engines() || cell.has_time_limit() {
            return Err("its games take real time: a fleet plays sweeps without external engines \
                        and time limits"
                .to_owned());
        }
        let cell = Arc::new(cell);
        cells.insert(hash, Arc::clone(&cell));
        Ok(cell)
    }
}

/// How many workers can have a connection, of so many that are wanted: the limit of open files is raised as far
/// as the system lets us.
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
