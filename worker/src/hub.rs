//! Where the slots, which are plain threads, and the async side meet: the worker's machine, behind
//! one mutex that is held for moments.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc as threads;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand::RngExt as _;
use spelrum_tournament::scheduler::Time;
use spelrum_tournament::speed::Speed;
use spelrum_tournament::worker::{
    Action, Answer, Batch, Call, CallId, Event, Failure, Jitter, Machine, Settings, Tally,
};
use tokio::sync::{Notify, mpsc};

use crate::cells::Cell;
use crate::outcome::Finished;

/// How long one call may take at first. A transaction takes milliseconds: beyond this the
/// coordinator, or the way there, is gone or overloaded.
const PATIENCE: Duration = Duration::from_secs(15);

/// The machine and what it acts on.
#[derive(Debug)]
pub(crate) struct Hub {
    started: Instant,
    state: Mutex<State>,
    signs: Vec<Arc<Signs>>,
    /// Told when time must pass sooner than the async side was told last.
    sooner: Notify,
    /// Who this worker is for its coordinator, for the log; 0 before its Hello was answered.
    worker: AtomicI64,
}

#[derive(Debug)]
struct State {
    machine: Machine<Finished, Arc<Cell>>,
    slots: Vec<Slot>,
    /// To the async side.
    to_say: mpsc::UnboundedSender<ToDo>,
    /// When the async side lets time pass.
    wakes_at: Option<Time>,
    /// Whether nothing is done any more, whatever the machine wants.
    closed: bool,
}

#[derive(Debug)]
struct Slot {
    batches: threads::Sender<Batch<Arc<Cell>>>,
    /// The number of the game that it plays, as the machine knows it.
    told: Option<u64>,
}

/// What the async side has to do.
#[derive(Debug)]
pub(crate) enum ToDo {
    /// Call the coordinator.
    Call {
        /// The call.
        call: CallId,
        /// How long to wait for an answer.
        patience: Duration,
        /// What to say.
        what: Call<Finished>,
    },
    /// Measure how fast this machine searches a game, and tell.
    Calibrate {
        /// The game.
        game: String,
    },
    /// The worker has ended.
    End,
}

/// What a slot and the others tell each other while it plays.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    stop: AtomicU8,
    number: AtomicU64,
}

const GO_ON: u8 = 0;
const AFTER_THE_GAME: u8 = 1;
const AT_ONCE: u8 = 2;

impl Signs {
    /// Whether the slot is to play no further game.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != GO_ON
    }

    /// Whether the game in progress is not wanted any more.
    pub(crate) fn is_aborted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) == AT_ONCE
    }

    /// The slot begins the game with this number.
    pub(crate) fn begins(&self, number: u64) {
        self.number.store(number, Ordering::Relaxed);
    }

    /// The slot gets a batch, which begins with this game.
    pub(crate) fn goes_on(&self, first: u64) {
        self.stop.store(GO_ON, Ordering::Relaxed);
        self.begins(first);
    }

    pub(crate) fn stop(&self, now: bool) {
        self.stop.fetch_max(if now { AT_ONCE } else { AFTER_THE_GAME }, Ordering::Relaxed);
    }
}

/// Who hears of a slot's games.
pub(crate) trait Reports: Send + Sync {
    /// Who this worker is for its coordinator, for the log; 0 before its Hello was answered.
    fn worker(&self) -> i64;

    /// A slot has this game before it, and whether its time runs.
    fn begins(&self, _slot: usize, _number: u64, _time_runs: bool) {}

    /// Games of a slot's batch are finished.
    fn finished(&self, slot: usize, results: Vec<Finished>);

    /// A slot is done with its batch, of which it played so many games in so long.
    fn freed(&self, slot: usize, played: u64, took: Duration);
}

/// The slot's end of the hub.
#[derive(Debug)]
pub(crate) struct SlotSide {
    pub(crate) number: usize,
    pub(crate) batches: threads::Receiver<Batch<Arc<Cell>>>,
    pub(crate) signs: Arc<Signs>,
}

impl Reports for Hub {
    fn worker(&self) -> i64 {
        self.worker.load(Ordering::Relaxed)
    }

    fn finished(&self, slot: usize, results: Vec<Finished>) {
        if !results.is_empty() {
            self.tell_from_slot(Event::Finished { slot, results });
        }
    }

    fn freed(&self, slot: usize, played: u64, took: Duration) {
        self.tell_from_slot(Event::Free { slot, played, took });
    }
}

impl Hub {
    /// The hub, what its slots get, and what the async side gets.
    pub(crate) fn new(
        slots: NonZeroU32,
        quiet_slots: u32,
        exit_when_done: bool,
        speed: Option<Speed>,
    ) -> (Self, Vec<SlotSide>, mpsc::UnboundedReceiver<ToDo>) {
        let patience_ms = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
        let settings = Settings { slots, quiet_slots, exit_when_done, patience_ms, speed };
        let machine = Machine::new(settings);
        let (to_say, to_do) = mpsc::unbounded_channel();
        let mut state = State { machine, slots: Vec::new(), to_say, wakes_at: None, closed: false };
        let mut signs = Vec::new();
        let mut sides = Vec::new();
        for number in 0..slots.get() as usize {
            let (sender, batches) = threads::channel();
            state.slots.push(Slot { batches: sender, told: None });
            signs.push(Arc::<Signs>::default());
            sides.push(SlotSide { number, batches, signs: Arc::clone(&signs[number]) });
        }
        let state = Mutex::new(state);
        let (sooner, worker) = (Notify::new(), AtomicI64::new(0));
        let hub = Self { started: Instant::now(), state, signs, sooner, worker };
        (hub, sides, to_do)
    }

    fn tell_from_slot(&self, event: Event<Finished, Arc<Cell>>) {
        let mut state = self.state();
        self.tell(&mut state, event);
        let deadline = state.machine.next_deadline();
        let is_sooner = match (deadline, state.wakes_at) {
            (Some(deadline), Some(wakes_at)) => deadline < wakes_at,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_sooner {
            state.wakes_at = deadline;
            drop(state);
            self.sooner.notify_one();
        }
    }

    // From the async side.

    /// Time has passed.
    pub(crate) fn time_passed(&self) {
        self.tell_with_games(Event::TimePassed);
    }

    /// A call has come to something.
    pub(crate) fn answered(&self, call: CallId, answer: Result<Answer<Arc<Cell>>, Failure>) {
        if let Ok(Answer::Hello(session)) = &answer {
            self.worker.store(session.caller.worker.0, Ordering::Relaxed);
        }
        self.tell_with_games(Event::Answered { call, answer });
    }

    /// A measurement has come to something, or to nothing.
    pub(crate) fn calibrated(&self, game: String, speed: Option<Speed>) {
        self.tell_with_games(Event::Calibrated { game, speed });
    }

    /// What the worker offers has changed.
    pub(crate) fn changed(&self) {
        self.tell_with_games(Event::Changed);
    }

    /// The worker is told to finish.
    pub(crate) fn finish(&self) {
        self.tell_with_games(Event::Finish);
    }

    /// The worker is told to end now.
    pub(crate) fn end_now(&self) {
        self.tell_with_games(Event::EndNow);
    }

    /// Tells the machine which games are played, and then of an event.
    fn tell_with_games(&self, event: Event<Finished, Arc<Cell>>) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        for (slot, signs) in self.signs.iter().enumerate() {
            let number = signs.number.load(Ordering::Relaxed);
            let told = &mut state.slots[slot].told;
            if told.is_some_and(|told| told != number) {
                *told = Some(number);
                self.tell(&mut state, Event::Started { slot, number });
            }
        }
        self.tell(&mut state, event);
    }

    /// When time must pass at the latest.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let mut state = self.state();
        state.wakes_at = state.machine.next_deadline();
        state.wakes_at.map(|at| self.started + Duration::from_millis(at.0))
    }

    /// Waits until time must pass sooner than [`Hub::next_deadline`] said.
    pub(crate) async fn sooner(&self) {
        self.sooner.notified().await;
    }

    /// Whether the worker wants no more games.
    pub(crate) fn is_ending(&self) -> bool {
        self.state().machine.is_ending()
    }

    /// What the worker did, and how many results are not acknowledged.
    pub(crate) fn tally(&self) -> (Tally, usize) {
        let state = self.state();
        (state.machine.tally(), state.machine.unacknowledged().0)
    }

    /// Ends the slots' threads, and the games in progress.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.slots.clear();
        self.signs.iter().for_each(|signs| signs.stop(true));
    }

    /// Tells the machine, and does what it wants. Whatever waits is not done here.
    fn tell(&self, state: &mut State, event: Event<Finished, Arc<Cell>>) {
        if state.closed {
            return;
        }
        if let Event::Free { slot, .. } = event {
            state.slots[slot].told = None;
        }
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let jitter = Jitter(rand::rng().random());
        for action in state.machine.handle(event, Time(now), jitter) {
            let to_do = match action {
                Action::Play { slot, batch } => {
                    let first = batch.range.first;
                    self.signs[slot].goes_on(first);
                    state.slots[slot].told = Some(first);
                    // A thread that is gone has panicked, and the game with it.
                    let _gone = state.slots[slot].batches.send(batch);
                    continue;
                }
                Action::Stop { slot, now } => {
                    self.signs[slot].stop(now);
                    continue;
                }
                Action::Call { call, patience_ms, what } => {
                    ToDo::Call { call, patience: Duration::from_millis(patience_ms), what }
                }
                Action::Calibrate { game } => ToDo::Calibrate { game },
                Action::End => ToDo::End,
            };
            // Nobody listens any more when the worker's future was dropped.
            let _dropped = state.to_say.send(to_do);
        }
    }

    /// A panic elsewhere leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
