//! The worker: leases games from a coordinator, plays them on its slots, reports them.
//!
//! Small actors around two shared things. The `pool` has leases and games to play; `leasing`
//! fills it, `slot`s (threads) take from it, `heartbeat` names what it holds. The `outbox`
//! has results; slots fill it, `reporting` empties it. All of them speak through one `link`,
//! which says Hello, tries again and meets restarted coordinators on their behalf. Leases survive
//! a coordinator's restart, so that nothing that was finished is lost by one.

mod backoff;
mod cells;
mod heartbeat;
mod leasing;
mod link;
mod memory;
mod outbox;
mod panics;
mod pool;
mod reporting;
mod slot;

pub use memory::memory_to_offer;

use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use spelrum_engine::search::STACK_BYTES;
use spelrum_proto::limits::{LEASES_MAX, NAME_BYTES_MAX, SLOTS_MAX};
use spelrum_proto::{Refusal, Token, WireError, v1};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use uuid::Uuid;

use cells::Cells;
use heartbeat::Heartbeats;
use leasing::Leasing;
use link::{CallError, Introduction, Link};
use outbox::Outbox;
use pool::Pool;
use reporting::{Reporting, Tally};
use slot::{Playing, Slot};

/// A worker that was told to finish, and has, tries for so long to report to a coordinator that
/// is away.
const LAST_REPORT_PATIENCE: Duration = Duration::from_secs(60);

/// How long giving leases back may take.
const GIVE_BACK_PATIENCE: Duration = Duration::from_secs(5);

/// A worker that was told to end now tries for so long to report what is finished.
const NOW_PATIENCE: Duration = Duration::from_secs(2);

/// What a worker needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the coordinator is.
    pub coordinator: Endpoint,
    /// What the coordinator demands of everybody who calls it, if it does.
    pub token: Option<Token>,
    /// Its name for people; the host's name by default.
    pub name: Option<String>,
    /// Playing threads.
    pub slots: NonZeroU32,
    /// Bytes of memory that it offers them together: it gets no games that may take more than a
    /// slot's part. `None` is as much as they like.
    pub memory_bytes: Option<u64>,
    /// Whether to end when the coordinator has nothing left to do, instead of waiting for more.
    pub exit_when_done: bool,
}

/// How a worker is told to end.
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Finish the games in progress, report them, hand the rest back, end.
    pub finish: CancellationToken,
    /// Stop now: abandon the games in progress, report what is finished if that works at once.
    pub now: CancellationToken,
}

/// What a worker did, once it has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Results the coordinator acknowledged, failures among them.
    pub acknowledged: u64,
    /// Games that could not be played, of these.
    pub failed: u64,
    /// Finished games that could not be reported before the end. They will be played again.
    pub unreported: u64,
}

/// Why a worker had to give up.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The coordinator does not want this worker: another protocol or engine, a wrong token, or
    /// messages that it does not understand.
    #[error("failed to work for the coordinator: {}", .0.problem)]
    Refused(Refusal),
    /// What answers is not a coordinator.
    #[error("failed to work for the coordinator: what answers there is none ({0})")]
    NoCoordinator(String),
    /// The coordinator sent a message that makes no sense.
    #[error("failed to understand the coordinator: {0}")]
    Malformed(WireError),
    /// The system gave no thread to play on.
    #[error("failed to start a playing thread: {0}")]
    Thread(#[source] std::io::Error),
    /// More slots than a worker can have.
    #[error("failed to start {0} playing threads: a worker has at most {SLOTS_MAX}")]
    Slots(NonZeroU32),
}

impl WorkerError {
    /// What to do about it, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.remedy.clone(),
            Self::NoCoordinator(_) => {
                "check the address; GET / on a coordinator's port says what it is".to_owned()
            }
            Self::Malformed(_) => "use a worker and a coordinator of the same release".to_owned(),
            Self::Thread(_) => "use fewer slots, or raise the limit on threads".to_owned(),
            Self::Slots(_) => "start several workers".to_owned(),
        }
    }
}

/// Works until told to end. A coordinator that cannot be reached is tried again with jittered
/// backoff, for ever; one of another protocol, engine revision or token is an error.
///
/// # Errors
/// See [`WorkerError`].
pub async fn run(config: Config, shutdown: Shutdown) -> Result<Summary, WorkerError> {
    let slots = config.slots.get();
    if slots > SLOTS_MAX {
        return Err(WorkerError::Slots(config.slots));
    }
    let pool = Arc::new(Pool::new(config.slots));
    let outbox = Arc::new(Outbox::new());
    // Whatever becomes of this future, playing ends with it.
    let _abort = AbortOnDrop(Arc::clone(&pool));
    let (threads, playing) = start_slots(slots, &pool, &outbox)?;
    let on_other_database = {
        let (pool, outbox) = (Arc::clone(&pool), Arc::clone(&outbox));
        Box::new(move |generation| {
            outbox.restart(generation);
            pool.restart(generation);
        })
    };
    let introduction = introduction(config.name, slots, config.memory_bytes);
    let link =
        Link::new(config.coordinator, config.token.as_ref(), introduction, on_other_database);
    let worker = Worker {
        link,
        pool,
        outbox,
        cells: Cells::new(),
        tally: Tally::default(),
        lease_or_heartbeat: Mutex::new(()),
        playing,
        slots,
        exit_when_done: config.exit_when_done,
        threads: Mutex::new(threads),
    };
    worker.work_until(&shutdown).await?;
    let summary = worker.summary();
    let Summary { acknowledged, failed, unreported } = summary;
    tracing::info!(acknowledged, failed, unreported, "the worker ends");
    Ok(summary)
}

/// The worker's parts.
struct Worker {
    link: Link,
    pool: Arc<Pool>,
    outbox: Arc<Outbox>,
    cells: Cells,
    tally: Tally,
    lease_or_heartbeat: Mutex<()>,
    playing: Vec<Arc<Playing>>,
    slots: u32,
    exit_when_done: bool,
    /// Closed when the last slot's thread has ended.
    threads: Mutex<mpsc::Receiver<()>>,
}

impl Worker {
    /// [Works](Self::work), but plays no game to its end and has little patience from the moment
    /// that it is told to end now.
    async fn work_until(&self, shutdown: &Shutdown) -> Result<(), WorkerError> {
        let finish = shutdown.finish.child_token();
        let mut working = pin!(self.work(&finish));
        tokio::select! {
            worked = &mut working => return worked,
            () = shutdown.now.cancelled() => {}
        }
        self.pool.abort();
        finish.cancel();
        // A Lease that is under way has its answer first: what it grants must be given back.
        tokio::time::timeout(NOW_PATIENCE, working).await.unwrap_or_else(|_elapsed| {
            let results = self.outbox.len();
            tracing::warn!(results, "ended without reporting or giving back everything");
            Ok(())
        })
    }

    /// Leases, plays and reports until `finish` or until there is nothing left to do; then lets
    /// games in progress end, reports them and gives the rest back.
    async fn work(&self, finish: &CancellationToken) -> Result<(), WorkerError> {
        let Self { link, pool, outbox, cells, lease_or_heartbeat, tally, playing, .. } = self;
        let leasing = Leasing {
            link,
            pool,
            outbox,
            cells,
            lease_or_heartbeat,
            slots: self.slots,
            exit_when_done: self.exit_when_done,
        };
        let reporting = Reporting { link, pool, outbox, tally };
        let heartbeats = Heartbeats { link, pool, playing, lease_or_heartbeat };

        let play_until_done = async {
            leasing.run(finish).await?;
            pool.close();
            self.threads_ended().await;
            outbox.close();
            if outbox.len() > 0 {
                tokio::time::sleep(LAST_REPORT_PATIENCE).await;
                tracing::warn!(results = outbox.len(), "gave up: the coordinator is away");
            }
            Ok(())
        };
        let worked = tokio::select! {
            // Reporting ends when the outbox is closed and empty.
            reported = reporting.run() => reported,
            gave_up = play_until_done => gave_up,
            failed = heartbeats.run() => failed,
        };
        match worked {
            Ok(()) => {
                if tokio::time::timeout(GIVE_BACK_PATIENCE, self.give_back()).await.is_err() {
                    tracing::warn!("could not give leases back: they end by themselves");
                }
                Ok(())
            }
            Err(CallError::Fatal(error)) => Err(error),
            Err(CallError::Refused(refusal)) => Err(WorkerError::Refused(refusal)),
        }
    }

    async fn threads_ended(&self) {
        // Nothing is ever sent: this ends when the last slot has dropped its end.
        let _none = self.threads.lock().await.recv().await;
    }

    /// Hands back what is unfinished of leases.
    async fn give_back(&self) {
        let held = self.pool.held();
        if held.is_empty() {
            return;
        }
        tracing::info!(leases = held.len(), "giving back what is unfinished");
        for held in held.chunks(LEASES_MAX) {
            let given_back = self
                .link
                .call("GiveBack", move |mut client, session| async move {
                    let request = v1::GiveBackRequest {
                        worker_id: session.worker_id,
                        coordinator_epoch: session.coordinator_epoch,
                        lease_ids: held.iter().map(|lease| lease.0).collect(),
                    };
                    client.give_back(request).await
                })
                .await;
            match given_back {
                Ok(v1::GiveBackResponse {}) => self.pool.drop_leases(held.iter().copied()),
                Err(error) => {
                    tracing::warn!(?error, "could not give leases back: they end by themselves");
                    return;
                }
            }
        }
    }

    fn summary(&self) -> Summary {
        Summary {
            acknowledged: self.tally.acknowledged.load(Ordering::Relaxed),
            failed: self.tally.failed.load(Ordering::Relaxed),
            unreported: self.outbox.len() as u64,
        }
    }
}

/// Starts the slots' threads. The channel closes when the last of them has ended.
fn start_slots(
    slots: u32,
    pool: &Arc<Pool>,
    outbox: &Arc<Outbox>,
) -> Result<(mpsc::Receiver<()>, Vec<Arc<Playing>>), WorkerError> {
    let (alive, threads) = mpsc::channel(1);
    let mut all_playing = Vec::new();
    for number in 0..slots {
        let playing = Arc::new(Playing::default());
        let slot = Slot {
            pool: Arc::clone(pool),
            outbox: Arc::clone(outbox),
            playing: Arc::clone(&playing),
        };
        let alive = alive.clone();
        std::thread::Builder::new()
            .name(format!("slot {number}"))
            .stack_size(STACK_BYTES)
            .spawn(move || {
                slot.run();
                drop(alive);
            })
            .map_err(WorkerError::Thread)?;
        all_playing.push(playing);
    }
    Ok((threads, all_playing))
}

/// How this worker introduces itself. Names come from people and machines: what the protocol does
/// not allow in them is left out.
fn introduction(name: Option<String>, slots: u32, memory_bytes: Option<u64>) -> Introduction {
    let clean = |name: &str| {
        let mut clean: String = name.chars().filter(|it| !it.is_control()).collect();
        clean.truncate(clean.floor_char_boundary(NAME_BYTES_MAX));
        Some(clean).filter(|clean| !clean.is_empty())
    };
    let host = gethostname::gethostname();
    let host = clean(&host.to_string_lossy()).unwrap_or_else(|| "unknown".to_owned());
    let name = name.as_deref().and_then(clean).unwrap_or_else(|| host.clone());
    Introduction { uuid: Uuid::new_v4(), name, host, slots, memory_bytes }
}

/// Ends the slots when the worker's future is dropped.
struct AbortOnDrop(Arc<Pool>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
