//! The worker: leases games from a coordinator, plays them on its slots, reports them.
//!
//! What it asks for, plays, keeps and says, and when, is decided by a state machine without a
//! clock ([`spelrum_tournament::worker`]), which the simulation of the scheduler runs as well. This
//! crate is what surrounds it. `slot`s are threads, which play what they are given, here or in a
//! process of their own (`playing`); `driving` is
//! async, and says over one `link` what the machine wants said; the machine is between them, in
//! the `hub`. Leases survive a coordinator's restart, so that nothing that was finished is lost by
//! one.

mod calibrating;
mod cells;
mod cores;
mod driving;
mod engines;
mod hub;
mod link;
mod machine;
mod memory;
mod networks;
mod openings;
mod outage;
mod outcome;
mod panics;
mod playing;
mod sharing;
mod slot;

pub use calibrating::measured_speed;
pub use cores::{Cores, NoQuietSlots, QuietSlots};
pub use engines::{Engines, Room, capabilities, options_of};
pub use memory::memory_to_offer;
pub use playing::{NoWorker, PlayingCommand, PlayingProcess};

use std::convert::Infallible;
use std::num::NonZeroU32;
use std::sync::Arc;

use spelrum_engine::search::STACK_BYTES;
use spelrum_proto::limits::{NAME_BYTES_MAX, SLOTS_MAX};
use spelrum_proto::{Distrust, Refusal, Token, WireError};
use spelrum_tournament::labels::Label;
use spelrum_tournament::results::Machine;
use spelrum_tournament::speed::Speed;
use tokio_util::sync::CancellationToken;
use tonic::transport::Endpoint;
use uuid::Uuid;

use calibrating::Calibrating;
use cores::Keeping;
use hub::{Hub, Reports, SlotSide};
use link::{Introduction, Link, Offered};
use playing::Supervisor;
use sharing::Sharing;
use slot::Slot;

/// What a worker needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where the coordinator is.
    pub coordinator: Endpoint,
    /// What the coordinator demands of everybody who calls it, if it does.
    pub token: Option<Token>,
    /// Its name for people; the host's name by default.
    pub name: Option<String>,
    /// What it says of its machine, for sweeps that ask for it: each name once, in the order of names.
    pub labels: Vec<Label>,
    /// Playing threads.
    pub slots: NonZeroU32,
    /// Which of these are quiet; no more than there are.
    pub quiet: QuietSlots,
    /// Bytes of memory that it offers them together: it gets no games that may take more than a
    /// slot's part. `None` is as much as they like.
    pub memory_bytes: Option<u64>,
    /// Where it plays.
    pub playing: Playing,
    /// Which program it is part of.
    pub build: Build,
    /// Whether to end when the coordinator has nothing left to do, instead of waiting for more.
    pub exit_when_done: bool,
    /// The speed of these slots at a game, if it was measured just now ([`measured_speed`]).
    pub speed: Option<Speed>,
}

/// Where a worker plays.
#[derive(Clone, Debug)]
pub enum Playing {
    /// On threads of this process, with these external engines; with `None` it gets no games that need some.
    Threads(Option<Engines>),
    /// In a process of its own, which is killed and started again where a game does not end.
    Process(PlayingCommand),
}

/// Which program a worker is part of, for people; empty is not to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// The Git commit that was checked out where it was built, in hexadecimal.
    pub commit: String,
    /// How it was compiled: `release` or `debug`.
    pub profile: String,
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
    /// The worker must call it another way: the coordinator speaks TLS.
    #[error("failed to work for the coordinator: {}", .0.problem)]
    Distrust(Distrust),
    /// The coordinator sent a message that makes no sense.
    #[error("failed to understand the coordinator: {0}")]
    Malformed(WireError),
    /// The system gave no thread to play on.
    #[error("failed to start a playing thread: {0}")]
    Thread(#[source] std::io::Error),
    /// The system started no process to play in.
    #[error("failed to start the playing process: {0}")]
    Process(#[source] std::io::Error),
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
            Self::Distrust(distrust) => distrust.remedy.to_owned(),
            Self::Malformed(_) => "use a worker and a coordinator of the same release".to_owned(),
            Self::Thread(_) => "use fewer slots, or raise the limit on threads".to_owned(),
            Self::Process(_) => "raise the limits on processes and open files".to_owned(),
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
    let quiet_slots = config.quiet.count().min(slots);
    let Config { slots, exit_when_done, ref speed, .. } = config;
    let (hub, sides, to_do) = Hub::new(slots, quiet_slots, exit_when_done, speed.clone());
    let hub = Arc::new(hub);
    let keeping = Arc::new(Keeping::new(config.quiet.clone()));
    let players = Players::start(&hub, (slots, sides), config.playing.clone(), &keeping)?;
    let calibrating = Arc::new(Calibrating::new(config.slots, &config.quiet, Arc::clone(&keeping)));
    // Whatever becomes of this future, playing and measuring end with it.
    let _close = CloseOnDrop {
        hub: Arc::clone(&hub),
        players: players.clone(),
        calibrating: Arc::clone(&calibrating),
    };
    let offered = players.offered();
    if let Offered::Process(offered) = &offered {
        let mut offered = offered.clone();
        tokio::select! {
            // Its Hello tells the coordinator which games can be played here.
            _said = offered.wait_for(Option::is_some) => {}
            () = shutdown.finish.cancelled() => {}
        }
    }
    let link = Link::new(
        config.coordinator.clone(),
        config.token.as_ref(),
        introduction(&config, offered),
    );
    let driven = tokio::select! {
        driven = driving::drive(&hub, &link, &calibrating, to_do, &shutdown) => driven,
        never = players.look_after(&hub) => match never {},
    };
    // A panic in it would be told by itself; whatever is left ends with this process.
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

/// Who plays.
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
        keeping: &Arc<Keeping>,
    ) -> Result<Self, WorkerError> {
        let engines = match playing {
            Playing::Threads(engines) => engines,
            Playing::Process(command) => {
                let reports = Arc::clone(hub) as Arc<dyn Reports>;
                let supervisor = Supervisor::start(command, reports, sides, Arc::clone(keeping));
                return supervisor
                    .map(|it| Self::Process(Arc::new(it)))
                    .map_err(WorkerError::Process);
            }
        };
        let sharing = Arc::new(Sharing::new(slots));
        for side in sides {
            let SlotSide { number, batches, signs } = side;
            let reports = Arc::clone(hub) as Arc<dyn Reports>;
            let (engines, keeping) = (engines.clone(), Arc::clone(keeping));
            let sharing = Arc::clone(&sharing);
            let slot = Slot { number, signs, reports, engines, keeping, sharing };
            std::thread::Builder::new()
                .name(format!("slot {number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || slot.run(batches))
                .map_err(WorkerError::Thread)?;
        }
        Ok(Self::Threads(engines))
    }

    /// The external engines that they have.
    fn offered(&self) -> Offered {
        match self {
            Self::Threads(engines) => Offered::Threads(engines.clone()),
            Self::Process(supervisor) => Offered::Process(supervisor.offered()),
        }
    }

    /// Tells the coordinator whenever other engines can play here than before.
    async fn look_after(&self, hub: &Hub) -> Infallible {
        match self {
            Self::Threads(Some(engines)) => engines.look_after(|| hub.changed()).await,
            Self::Threads(None) => std::future::pending().await,
            Self::Process(supervisor) => {
                let mut offered = supervisor.offered();
                while offered.changed().await.is_ok() {
                    hub.changed();
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

    /// Ends them, and waits for nothing.
    fn abandon(&self) {
        match self {
            Self::Threads(Some(engines)) => engines.abandon(),
            Self::Threads(None) => {}
            Self::Process(supervisor) => supervisor.abandon(),
        }
    }
}

/// How this worker introduces itself. Names come from people and machines: what the protocol does
/// not allow in them is left out.
fn introduction(config: &Config, offered: Offered) -> Introduction {
    let clean = |name: &str| {
        let mut clean: String = name.chars().filter(|it| !it.is_control()).collect();
        clean.truncate(clean.floor_char_boundary(NAME_BYTES_MAX));
        Some(clean).filter(|clean| !clean.is_empty())
    };
    let host = gethostname::gethostname();
    let host = clean(&host.to_string_lossy()).unwrap_or_else(|| "unknown".to_owned());
    let name = config.name.as_deref().and_then(clean).unwrap_or_else(|| host.clone());
    let said = |text: &str| clean(text).unwrap_or_default();
    let cores = Cores::here();
    let machine = Machine {
        cpu_model: said(&machine::cpu_model()),
        logical_cores: machine::logical_cores(),
        operating_system: said(&machine::operating_system()),
        build_commit: said(&config.build.commit),
        build_profile: said(&config.build.profile),
        cores: said(&cores.kinds()),
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
