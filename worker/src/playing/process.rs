//! The playing process's side.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::num::NonZeroU32;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc as threads};
use std::time::Duration;

use spelrum_engine::search::STACK_BYTES;
use spelrum_model::engines::FailedBuild;
use spelrum_model::{
    CellId, GameRange, LeaseId, ListedPositions, OpeningsCache, TrainingDefinition,
};
use spelrum_proto::engines::{failed_build_to_wire, offer_to_wire};
use spelrum_proto::{speeds, v1};
use spelrum_scheduling::worker::Batch;
use tokio::sync::mpsc;

use super::ledger::{Ledger, Note};
use super::wire::{self, CellSent, News, Offers, Order, Play, Said, What};
use crate::cells::{self, Cell};
use crate::cores::{ExclusiveSlots, Pinning};
use crate::engines::{Engines, EnginesNow};
use crate::hub::{Reports, Signs};
use crate::networks::Supplied;
use crate::outcome::Finished;
use crate::panics;
use crate::sharing::Sharing;
use crate::slot::Slot;

/// A process that plays for the worker that started it.
#[derive(Debug)]
pub struct PlayingProcess {
    orders: mpsc::UnboundedReceiver<What>,
    outlet: Arc<Outlet>,
}

/// The standard streams do not come from a worker.
#[derive(Debug, thiserror::Error)]
#[error("its standard streams are not those that a worker gives its playing process")]
pub struct NoWorker(#[source] io::Error);

impl PlayingProcess {
    /// Uses this process's standard input and output as [`crate::PlayingCommand`] set them. From here on it
    /// ends immediately when its worker ends.
    ///
    /// # Errors
    /// If they were not set so.
    pub fn from_standard_streams() -> Result<Self, NoWorker> {
        let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
        let socket = socket.and_then(|socket| {
            // Another kind of file is an error.
            socket.peer_addr()?;
            Ok(socket)
        });
        let socket = socket.map_err(NoWorker)?;
        let file = io::stdout().as_fd().try_clone_to_owned().map(File::from).map_err(NoWorker)?;
        let (ledger, sequence) = (Ledger::from_file(file), AtomicU64::new(0));
        let mut from = socket.try_clone().map_err(NoWorker)?;
        let outlet =
            Outlet { socket: Mutex::new(socket), ledger, sequence, worker: AtomicI64::new(0) };
        let (sender, orders) = mpsc::unbounded_channel();
        let hear = move || {
            while let Ok(Some(Order { what: Some(order) })) = wire::read(&mut from) {
                // At an orderly end, orders are no longer followed.
                let _ending = sender.send(order);
            }
            std::process::exit(0);
        };
        std::thread::Builder::new().name("orders".to_owned()).spawn(hear).map_err(NoWorker)?;
        Ok(Self { orders, outlet: Arc::new(outlet) })
    }

    /// Plays the worker's orders on this many slots, until it should end.
    ///
    /// # Errors
    /// If the system cannot start threads.
    pub async fn play(
        self,
        slots: NonZeroU32,
        quiet: ExclusiveSlots,
        engines: Option<Engines>,
    ) -> io::Result<()> {
        let Self { orders, outlet } = self;
        let openings = Arc::<OpeningsCache>::default();
        let places = (Arc::new(Pinning::new(quiet)), Arc::new(Sharing::new(slots)));
        let slots = (0..slots.get() as usize)
            .map(|number| Chair::start(number, &outlet, engines.as_ref(), &openings, &places))
            .collect::<io::Result<Vec<_>>>()?;
        let now = || engines.as_ref().map(Engines::now).unwrap_or_default();
        let tell = || {
            let EnginesNow { offered, built } = now();
            let engines = offered.into_iter().map(offer_to_wire).collect();
            let failed = built.failed.into_iter().map(failed_build_to_wire).collect();
            let (built, accepted) = (built.engines, built.accepted);
            outlet.send(News::Offers(Offers { engines, built, failed, accepted }));
        };
        tell();
        let changes = async {
            match &engines {
                Some(engines) => engines.maintain(tell).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = follow_orders(orders, (&slots, engines.as_ref()), &outlet, &openings) => {}
            never = changes => match never {},
        }
        if let Some(engines) = engines {
            // Panics are reported separately; the rest ends with this process.
            let _ended = tokio::task::spawn_blocking(move || engines.close()).await;
        }
        Ok(())
    }
}

/// Follows the worker's orders until the order to end.
async fn follow_orders(
    mut orders: mpsc::UnboundedReceiver<What>,
    (slots, engines): (&[Chair], Option<&Engines>),
    outlet: &Outlet,
    openings: &OpeningsCache,
) {
    let mut cells = BTreeMap::new();
    while let Some(order) = orders.recv().await {
        match order {
            What::Cell(mut sent) => {
                let listed = listed_positions(&mut sent, openings);
                let cell = OnceLock::new();
                cells.insert(sent.key, Arc::new(Definition { sent, listed, cell }));
            }
            What::Forget(key) => drop(cells.remove(&key)),
            What::Play(play) => {
                outlet.worker.store(play.worker_id, Ordering::Relaxed);
                let slot = &slots[play.slot as usize];
                slot.signs.continue_from(play.first_number);
                let definition = Arc::clone(&cells[&play.cell_key]);
                // A missing thread has panicked outside a game: this process is of no more use.
                if slot.tasks.send((play, definition)).is_err() {
                    return;
                }
            }
            What::Stop(stop) => slots[stop.slot as usize].signs.stop(stop.now),
            What::Build(wire::Builds { engines: names }) => {
                engines.into_iter().for_each(|engines| engines.want_builds(names.clone()));
            }
            What::Unfetched(v1::FailedBuild { engine, problem }) => {
                let failed = FailedBuild { engine, problem };
                engines.into_iter().for_each(|engines| engines.record_unfetched(failed.clone()));
            }
            What::TellMoves(slot) => {
                let game = slots[slot as usize].signs.moves.published();
                outlet.send(News::Moves(wire::Moves { slot, game }));
            }
            What::End(wire::End {}) => return,
        }
    }
}

/// A slot's state for the orders.
struct Chair {
    signs: Arc<Signs>,
    tasks: threads::Sender<(Play, Arc<Definition>)>,
}

impl Chair {
    /// Starts a slot.
    fn start(
        number: usize,
        outlet: &Arc<Outlet>,
        engines: Option<&Engines>,
        openings: &Arc<OpeningsCache>,
        (pinning, sharing): &(Arc<Pinning>, Arc<Sharing>),
    ) -> io::Result<Self> {
        let signs = Arc::<Signs>::default();
        let reports = Arc::clone(outlet) as Arc<dyn Reports>;
        let (engines, pinning) = (engines.cloned(), Arc::clone(pinning));
        let (sharing, own_signs) = (Arc::clone(sharing), Arc::clone(&signs));
        let slot = Slot { number, signs: own_signs, reports, engines, pinning, sharing };
        let (sender, tasks) = threads::channel::<(Play, Arc<Definition>)>();
        let openings = Arc::clone(openings);
        let play = move || {
            panics::silence_on_this_thread();
            for (play, definition) in tasks {
                let range = GameRange {
                    cell: CellId(play.cell_id),
                    first: play.first_number,
                    count: play.count,
                };
                slot.play(&Batch {
                    lease: LeaseId(play.lease_id),
                    cell: definition.cell(&openings),
                    range,
                    game_timeout: play.game_timeout_ms.map(Duration::from_millis),
                    in_quiet: play.in_quiet,
                    scaled: play.scaled.and_then(|scaled| speeds::scaled(scaled).ok()),
                });
            }
        };
        std::thread::Builder::new()
            .name(format!("slot {number}"))
            .stack_size(STACK_BYTES)
            .spawn(play)?;
        Ok(Self { signs, tasks: sender })
    }
}

/// A cell, parsed by the first slot that plays it.
struct Definition {
    sent: CellSent,
    /// The positions that are separate from it: later cells may share them.
    listed: Option<Arc<ListedPositions>>,
    cell: OnceLock<Arc<Cell>>,
}

impl Definition {
    fn cell(&self, openings: &OpeningsCache) -> Arc<Cell> {
        let read = || catch_unwind(AssertUnwindSafe(|| read(self, openings)));
        let read = || read().unwrap_or_else(|_| Err("reading its definition panicked".to_owned()));
        Arc::clone(self.cell.get_or_init(|| Arc::new(read())))
    }
}

/// The positions that are separate from a cell's definition, if any.
fn listed_positions(sent: &mut CellSent, openings: &OpeningsCache) -> Option<Arc<ListedPositions>> {
    let hash = <[u8; 32]>::try_from(&*sent.openings_hash).ok()?;
    let json = std::mem::take(&mut sent.openings_json);
    let read = || ListedPositions::from_json(&json).map(|listed| openings.supply(listed));
    openings.listed(hash).or_else(read)
}

fn read(Definition { sent, listed, .. }: &Definition, openings: &OpeningsCache) -> Cell {
    let json = sent.definition_json.clone();
    let mut cell = match listed {
        Some(listed) => cells::from_split(json, listed, openings)?.0,
        None => cells::from_definition(json, openings)?,
    };
    if let Some(networks) = cell.networks() {
        for network in &sent.networks {
            let training = TrainingDefinition::from_json(&network.training_json);
            let training = training.map_err(|error| error.to_string())?;
            let supplied = Supplied::new(training, network.bytes.clone());
            networks.push(Arc::new(supplied.map_err(|error| error.to_string())?));
        }
    }
    Ok(cell)
}

/// Sends the slots' reports to the worker.
#[derive(Debug)]
struct Outlet {
    socket: Mutex<UnixStream>,
    ledger: Ledger,
    /// The sequence number of the last note of any slot.
    sequence: AtomicU64,
    worker: AtomicI64,
}

impl Outlet {
    fn send(&self, news: News) {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        // If the worker is gone, this process ends at once.
        let _gone = wire::write(&mut *socket, &Said { news: Some(news) });
    }
}

impl Reports for Outlet {
    fn worker(&self) -> i64 {
        self.worker.load(Ordering::Relaxed)
    }

    fn begins(&self, slot: usize, number: u64, time_runs: bool) {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        // Without a note the game is not supervised, but it is played.
        let _unseen = self.ledger.note(slot, Note { number, sequence, time_runs });
    }

    fn finished(&self, slot: usize, results: Vec<Finished>) {
        use spelrum_scheduling::worker::Outcome as _;

        let slot = u32::try_from(slot).unwrap_or(u32::MAX);
        let mut bytes = 0;
        let mut some = Vec::new();
        for finished in results {
            if bytes + finished.bytes() > wire::RESULTS_BYTES_MAX && !some.is_empty() {
                let results = std::mem::take(&mut some);
                self.send(News::Finished(wire::Finished { slot, results }));
                bytes = 0;
            }
            bytes += finished.bytes();
            some.push(finished.result);
        }
        if !some.is_empty() {
            self.send(News::Finished(wire::Finished { slot, results: some }));
        }
    }

    fn freed(&self, slot: usize, played: u64, took: Duration) {
        let slot = u32::try_from(slot).unwrap_or(u32::MAX);
        let took_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.send(News::Freed(wire::Freed { slot, played, took_ns }));
    }
}
