//! The worker: leases games from a coordinator, plays them on its slots, and reports them.
//!
//! A state machine without a clock ([`spelrum_scheduling::worker`]), which the scheduler's
//! simulation uses as well, decides on its requests, games, stored results and reports. This crate
//! surrounds it: `slot`s are threads that play, here or in a separate process (`playing`);
//! `driving` is async, and sends the machine's messages over one `link`; the machine is between
//! them, in the `hub`. Leases survive a coordinator's restart, so that no finished game is lost by
//! it.
//!
//! The crate depends on the engine, on external engines and on the wire. It must never know sweeps, the store or the
//! scheduler's decisions: a lease and its cells are all that it plays by.
//!
//! Timed games are played on exclusive cores, as many as the machine has to give:
//!
//! ```
//! use std::num::NonZeroU32;
//!
//! use spelrum_worker::Cores;
//!
//! let slots = NonZeroU32::MIN.saturating_add(3);
//! let exclusive = Cores::here().plan(slots, None);
//! assert!(exclusive.count() <= slots.get());
//! println!("{} of {slots} slots; {}", exclusive.count(), exclusive.why_not_more());
//! ```

mod calibrating;
mod cells;
mod cores;
mod driving;
mod engines;
mod fetching;
mod following;
mod hub;
mod leased_cells;
mod link;
mod machine;
mod memory;
mod networks;
mod offered;
mod openings;
mod outage;
mod outcome;
mod panics;
mod places;
mod playing;
mod requests;
mod sharing;
mod slot;
mod syzygy;

pub use calibrating::measured_speed;
pub use cores::{Cores, ExclusiveSlots, InvalidExclusiveSlots};
pub use engines::{AtBoard, Engines, Room, capabilities, engine_options, game_setup};
pub use memory::memory_to_offer;
pub use playing::{NoWorker, PlayingCommand, PlayingProcess};
pub use syzygy::install_syzygy;

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use spelrum_answers::Machine;
use spelrum_engine::search::STACK_BYTES;
use spelrum_model::labels::Label;
use spelrum_model::speed::Speed;
use spelrum_programs::Programs;
use spelrum_proto::limits::{NAME_BYTES_MAX, SLOTS_MAX};
use spelrum_proto::{Refusal, Token, TrustError, WireError};
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use uuid::Uuid;

use calibrating::Calibrating;
use cores::Pinning;
use hub::{Hub, Reports, SlotSide};
use link::{Introduction, Link};
use offered::Offered;
use playing::Supervisor;
use sharing::Sharing;
use slot::Slot;

/// A coordinator's address.
#[derive(Clone, Debug)]
pub struct Address {
    /// The address.
    pub endpoint: Endpoint,
    /// The token for a coordinator that requires one.
    pub token: Option<Token>,
}

/// A worker's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The coordinator's address.
    pub coordinator: Address,
    /// Its other addresses: when it does not answer at one of all these, the next is tried.
    pub others: Vec<Address>,
    /// Its name for people; the host's name by default.
    pub name: Option<String>,
    /// Labels of its machine, for sweeps that require them: each name once, in the order of names.
    pub labels: Vec<Label>,
    /// Playing threads.
    pub slots: NonZeroU32,
    /// Its exclusive slots; at most as many as slots.
    pub quiet: ExclusiveSlots,
    /// Bytes of memory for all slots together: it gets no games that may take more than a slot's
    /// share. `None` for no limit.
    pub memory_bytes: Option<u64>,
    /// The place of playing.
    pub playing: Playing,
    /// The program's build.
    pub build: Build,
    /// Whether to end when the coordinator has no work left, instead of waiting.
    pub exit_when_done: bool,
    /// How long to wait for games before ending; `None` to wait without end.
    pub idle_max: Option<Duration>,
    /// Where programs that were pushed to the coordinator are kept, if this machine accepts them.
    pub programs: Option<Programs>,
    /// The speed of these slots at a game, if it was just measured ([`measured_speed`]).
    pub speed: Option<Speed>,
}

/// The place of playing.
#[derive(Clone, Debug)]
pub enum Playing {
    /// On threads of this process, with these external engines; with `None` it gets no games that need some.
    Threads(Option<Engines>),
    /// In a separate process, which is killed and restarted if a game does not end.
    Process(PlayingCommand),
}

/// The worker's program, for people; empty fields are unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// The Git commit of the build, in hexadecimal.
    pub commit: String,
    /// The build profile: `release` or `debug`.
    pub profile: String,
}

/// The modes of ending.
#[derive(Clone, Debug)]
pub struct Shutdown {
    /// Finish the games in progress, report them, hand the rest back, end.
    pub finish: CancellationToken,
    /// Stop now: abandon the games in progress, report finished ones if that works at once.
    pub now: CancellationToken,
}

/// The worker's summary at its end.
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
    /// The coordinator rejects this worker: another protocol or engine, a wrong token, or malformed
    /// messages.
    #[error("failed to work for the coordinator: {}", .0.problem)]
    Refused(Refusal),
    /// The server is not a coordinator.
    #[error("failed to work for the coordinator: what answers there is none ({0})")]
    NoCoordinator(String),
    /// The coordinator uses TLS, and the worker must too.
    #[error("failed to work for the coordinator: {}", .0.problem)]
    Trust(TrustError),
    /// The coordinator sent a malformed message.
    #[error("failed to understand the coordinator: {0}")]
    Malformed(WireError),
    /// The system could not start a thread.
    #[error("failed to start a playing thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The system could not start a process.
    #[error("failed to start the playing process: {0}")]
    Process(#[source] std::io::Error),
    /// More slots than a worker can have.
    #[error("failed to start {0} playing threads: a worker has at most {SLOTS_MAX}")]
    Slots(NonZeroU32),
}

impl WorkerError {
    /// The remedy, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Refused(refusal) => refusal.remedy.clone(),
            Self::NoCoordinator(_) => {
                "check the address; GET / on a coordinator's port says what it is".to_owned()
            }
            Self::Trust(error) => error.remedy.to_owned(),
            Self::Malformed(_) => "use a worker and a coordinator of the same release".to_owned(),
            Self::Thread(_) => "use fewer slots, or raise the limit on threads".to_owned(),
            Self::Process(_) => "raise the limits on processes and open files".to_owned(),
            Self::Slots(_) => "start several workers".to_owned(),
        }
    }
}

/// Works until it should end. An unreachable coordinator is retried with jittered backoff, without
/// end, at each of its addresses; one with another protocol, engine revision or token is an error.
///
/// # Errors
/// See [`WorkerError`].
pub fn run(
    config: Config,
    shutdown: Shutdown,
) -> impl Future<Output = Result<Summary, WorkerError>> + Send {
    // Hides the future's type: otherwise every crate that awaits it would compile the whole worker again.
    let working: Pin<Box<dyn Future<Output = _> + Send>> = Box::pin(run_unboxed(config, shutdown));
    working
}

async fn run_unboxed(config: Config, shutdown: Shutdown) -> Result<Summary, WorkerError> {
    let slots = config.slots.get();
    if slots > SLOTS_MAX {
        return Err(WorkerError::Slots(config.slots));
    }
    let quiet_slots = config.quiet.count().min(slots);
    let Config { slots, exit_when_done, idle_max, ref speed, .. } = config;
    let (hub, sides, to_do) = Hub::new(slots, quiet_slots, exit_when_done, idle_max, speed.clone());
    let hub = Arc::new(hub);
    let pinning = Arc::new(Pinning::new(config.quiet.clone()));
    let players = Players::start(&hub, (slots, sides), config.playing.clone(), &pinning)?;
    let calibrating = Arc::new(Calibrating::new(config.slots, &config.quiet, Arc::clone(&pinning)));
    // If this future is dropped, playing and measuring end with it.
    let _close = CloseOnDrop {
        hub: Arc::clone(&hub),
        players: players.clone(),
        calibrating: Arc::clone(&calibrating),
    };
    let offered = players.offered();
    if let Offered::Process(process) = &offered {
        let mut offered = process.offered();
        tokio::select! {
            // Its Hello lists the games that can be played here.
            _said = offered.wait_for(Option::is_some) => {}
            () = shutdown.finish.cancelled() => {}
        }
    }
    let link = Link::new(
        &config.coordinator,
        &config.others,
        introduction(&config, offered),
        config.programs.clone(),
        hub.following(),
    );
    let driven = tokio::select! {
        driven = driving::drive(&hub, &link, &calibrating, to_do, &shutdown) => driven,
        never = players.maintain(&hub) => match never {},
    };
    // Panics are reported separately; the rest ends with this process.
    let _ended = tokio::task::spawn_blocking(move || players.close()).await;
    driven?;
    let summary = summary(&hub);
    let Summary { acknowledged, failed, unreported } = summary;
    if unreported > 0 {
        tracing::warn!(results = unreported, "ended without reporting everything");
    }
    tracing::info!(acknowledged, failed, unreported, "the worker ends");
    Ok(summary)
}

fn summary(hub: &Hub) -> Summary {
    let (tally, unacknowledged) = hub.tally();
    Summary {
        acknowledged: tally.acknowledged,
        failed: tally.failed,
        unreported: unacknowledged as u64 + tally.refused,
    }
}

/// The players' threads or process.
#[derive(Clone)]
enum Players {
    Threads(Option<Engines>),
    Process(Arc<Supervisor>),
}

impl Players {
    /// Starts them. They end when the hub is closed.
    fn start(
        hub: &Arc<Hub>,
        (slots, sides): (NonZeroU32, Vec<SlotSide>),
        playing: Playing,
        pinning: &Arc<Pinning>,
    ) -> Result<Self, WorkerError> {
        let engines = match playing {
            Playing::Threads(engines) => engines,
            Playing::Process(command) => {
                let reports = Arc::clone(hub) as Arc<dyn Reports>;
                let (pinning, following) = (Arc::clone(pinning), hub.following());
                let supervisor = Supervisor::start(command, reports, sides, pinning, following);
                return supervisor
                    .map(|supervisor| Self::Process(Arc::new(supervisor)))
                    .map_err(WorkerError::Process);
            }
        };
        let sharing = Arc::new(Sharing::new(slots));
        for side in sides {
            let SlotSide { number, batches, signs } = side;
            let reports = Arc::clone(hub) as Arc<dyn Reports>;
            let (engines, pinning) = (engines.clone(), Arc::clone(pinning));
            let sharing = Arc::clone(&sharing);
            let slot = Slot { number, signs, reports, engines, pinning, sharing };
            std::thread::Builder::new()
                .name(format!("slot {number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || slot.run(batches))
                .map_err(WorkerError::Thread)?;
        }
        Ok(Self::Threads(engines))
    }

    /// Their external engines.
    fn offered(&self) -> Offered {
        match self {
            Self::Threads(engines) => Offered::Threads(engines.clone()),
            Self::Process(supervisor) => Offered::Process(Arc::clone(supervisor)),
        }
    }

    /// Notifies the coordinator whenever the available engines change.
    async fn maintain(&self, hub: &Hub) -> Infallible {
        match self {
            Self::Threads(Some(engines)) => engines.maintain(|| hub.offers_changed()).await,
            Self::Threads(None) => std::future::pending().await,
            Self::Process(supervisor) => {
                let mut offered = supervisor.offered();
                while offered.changed().await.is_ok() {
                    hub.offers_changed();
                }
                std::future::pending().await
            }
        }
    }

    /// Ends them. Blocks until they are gone.
    fn close(&self) {
        match self {
            Self::Threads(Some(engines)) => engines.close(),
            Self::Threads(None) => {}
            Self::Process(supervisor) => supervisor.close(),
        }
    }

    /// Ends them without waiting.
    fn abandon(&self) {
        match self {
            Self::Threads(Some(engines)) => engines.abandon(),
            Self::Threads(None) => {}
            Self::Process(supervisor) => supervisor.abandon(),
        }
    }
}

/// The worker's introduction. Characters of names that the protocol forbids are left out.
fn introduction(config: &Config, offered: Offered) -> Introduction {
    let clean = |name: &str| {
        let mut clean: String = name.chars().filter(|c| !c.is_control()).collect();
        clean.truncate(clean.floor_char_boundary(NAME_BYTES_MAX));
        Some(clean).filter(|clean| !clean.is_empty())
    };
    let host = gethostname::gethostname();
    let host = clean(&host.to_string_lossy()).unwrap_or_else(|| "unknown".to_owned());
    let name = config.name.as_deref().and_then(clean).unwrap_or_else(|| host.clone());
    let text_or_empty = |text: &str| clean(text).unwrap_or_default();
    let cores = Cores::here();
    let machine = Machine {
        cpu_model: text_or_empty(&machine::cpu_model()),
        logical_cores: machine::logical_cores(),
        operating_system: text_or_empty(&machine::operating_system()),
        build_commit: text_or_empty(&config.build.commit),
        build_profile: text_or_empty(&config.build.profile),
        cores: text_or_empty(&cores.kinds()),
        quiet_slots: Some(config.quiet.count().min(config.slots.get())),
        cpu_quota: cores.quota(),
        labels: config.labels.clone(),
    };
    let (slots, memory_bytes) = (config.slots.get(), config.memory_bytes);
    Introduction { uuid: Uuid::new_v4(), name, host, slots, memory_bytes, offered, machine }
}

/// Ends the slots when the worker's future is dropped.
struct CloseOnDrop {
    hub: Arc<Hub>,
    players: Players,
    calibrating: Arc<Calibrating>,
}

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.hub.close();
        self.calibrating.end();
        self.players.abandon();
    }
}
