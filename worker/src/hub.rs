//! The hub between the slots, which are plain threads, and the async side: the worker's state
//! machine, behind one mutex that is held only briefly.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc as threads;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rand::RngExt as _;
use spelrum_model::speed::Speed;
use spelrum_scheduling::scheduler::Time;
use spelrum_scheduling::worker::{
    Action, Answer, Batch, Call, CallId, Event, Failure, Jitter, Machine, Settings, Tally,
};
use tokio::sync::{Notify, mpsc};

use crate::cells::Cell;
use crate::following::{Following, MovesSoFar};
use crate::outcome::Finished;

/// The initial timeout of one call. A transaction takes milliseconds: beyond this the coordinator,
/// or the network, is down or overloaded.
const PATIENCE: Duration = Duration::from_secs(15);

/// The state machine and its effects.
#[derive(Debug)]
pub(crate) struct Hub {
    started: Instant,
    state: Mutex<State>,
    signs: Vec<Arc<Signs>>,
    following: Arc<Following>,
    /// Notified when the next deadline is earlier than the async side knows.
    sooner: Notify,
    /// The worker's id at its coordinator, for the log; 0 before its Hello was answered.
    worker: AtomicI64,
}

#[derive(Debug)]
struct State {
    machine: Machine<Finished, Arc<Cell>>,
    slots: Vec<Slot>,
    /// To the async side.
    to_say: mpsc::UnboundedSender<ToDo>,
    /// The async side's next wake-up.
    wakes_at: Option<Time>,
    /// Whether the machine's effects are ignored.
    closed: bool,
}

#[derive(Debug)]
struct Slot {
    batches: threads::Sender<Batch<Arc<Cell>>>,
    /// The number of the game that it plays, as the machine knows it.
    reported: Option<u64>,
}

/// Tasks of the async side.
#[derive(Debug)]
pub(crate) enum ToDo {
    /// Call the coordinator.
    Call {
        /// The call.
        call: CallId,
        /// How long to wait for an answer.
        patience: Duration,
        /// The content.
        request: Call<Finished>,
    },
    /// Measure how fast this machine searches a game.
    Calibrate {
        /// The game.
        game: String,
    },
    /// The worker has ended.
    End,
}

/// Signals between a slot and the others while it plays.
#[derive(Debug, Default)]
pub(crate) struct Signs {
    stop: AtomicU8,
    number: AtomicU64,
    /// The moves of the game in progress.
    pub(crate) moves: Arc<MovesSoFar>,
}

const GO_ON: u8 = 0;
const AFTER_THE_GAME: u8 = 1;
const AT_ONCE: u8 = 2;

impl Signs {
    /// Whether the slot is to play no further game.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) != GO_ON
    }

    /// Whether the game in progress is no longer wanted.
    pub(crate) fn is_aborted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) == AT_ONCE
    }

    /// The slot begins the game with this number.
    pub(crate) fn begin_game(&self, number: u64) {
        self.number.store(number, Ordering::Relaxed);
    }

    /// The slot gets a batch, which begins with this game.
    pub(crate) fn continue_from(&self, first: u64) {
        self.stop.store(GO_ON, Ordering::Relaxed);
        self.begin_game(first);
    }

    pub(crate) fn stop(&self, now: bool) {
        self.stop.fetch_max(if now { AT_ONCE } else { AFTER_THE_GAME }, Ordering::Relaxed);
    }
}

/// Receives reports of a slot's games.
pub(crate) trait Reports: Send + Sync {
    /// The worker's id at its coordinator, for the log; 0 before its Hello was answered.
    fn worker(&self) -> i64;

    /// A slot turns to this game; `_time_runs` states whether the game's time runs.
    fn begins(&self, _slot: usize, _number: u64, _time_runs: bool) {}

    /// Games of a slot's batch are finished.
    fn finished(&self, slot: usize, results: Vec<Finished>);

    /// The slot is done with its batch, after this many games in this time.
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
            self.handle_from_slot(Event::Finished { slot, results });
        }
    }

    fn freed(&self, slot: usize, played: u64, took: Duration) {
        self.handle_from_slot(Event::Free { slot, played, took });
    }
}

impl Hub {
    /// The hub, the slots' ends, and the tasks for the async side.
    pub(crate) fn new(
        slots: NonZeroU32,
        quiet_slots: u32,
        exit_when_done: bool,
        idle_max: Option<Duration>,
        speed: Option<Speed>,
    ) -> (Self, Vec<SlotSide>, mpsc::UnboundedReceiver<ToDo>) {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (idle_max_ms, patience_ms) = (idle_max.map(ms), ms(PATIENCE));
        let settings =
            Settings { slots, quiet_slots, exit_when_done, idle_max_ms, patience_ms, speed };
        let machine = Machine::new(settings);
        let (to_say, to_do) = mpsc::unbounded_channel();
        let mut state = State { machine, slots: Vec::new(), to_say, wakes_at: None, closed: false };
        let mut signs = Vec::new();
        let mut sides = Vec::new();
        for number in 0..slots.get() as usize {
            let (sender, batches) = threads::channel();
            state.slots.push(Slot { batches: sender, reported: None });
            signs.push(Arc::<Signs>::default());
            sides.push(SlotSide { number, batches, signs: Arc::clone(&signs[number]) });
        }
        let state = Mutex::new(state);
        let (sooner, worker) = (Notify::new(), AtomicI64::new(0));
        let moves = signs.iter().map(|signs| Arc::clone(&signs.moves)).collect();
        let following = Arc::new(Following::new(moves));
        let hub = Self { started: Instant::now(), state, signs, following, sooner, worker };
        (hub, sides, to_do)
    }

    fn handle_from_slot(&self, event: Event<Finished, Arc<Cell>>) {
        let mut state = self.state();
        self.handle(&mut state, event);
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
    pub(crate) fn advance_time(&self) {
        self.handle_with_games(Event::TimePassed);
    }

    /// A call has a result.
    pub(crate) fn handle_answer(&self, call: CallId, answer: Result<Answer<Arc<Cell>>, Failure>) {
        if let Ok(Answer::Hello(session)) = &answer {
            self.worker.store(session.caller.worker.0, Ordering::Relaxed);
        }
        self.handle_with_games(Event::Answered { call, answer });
    }

    /// A measurement has a result, or failed.
    pub(crate) fn handle_speed(&self, game: String, speed: Option<Speed>) {
        self.handle_with_games(Event::Calibrated { game, speed });
    }

    /// The worker's offer has changed.
    pub(crate) fn offers_changed(&self) {
        self.handle_with_games(Event::Changed);
    }

    /// The worker is to finish.
    pub(crate) fn finish(&self) {
        self.handle_with_games(Event::Finish);
    }

    /// The worker is to end now.
    pub(crate) fn end_now(&self) {
        self.handle_with_games(Event::EndNow);
    }

    /// Updates the games in progress, then handles an event.
    fn handle_with_games(&self, event: Event<Finished, Arc<Cell>>) {
        let mut state = self.state();
        if state.closed {
            return;
        }
        for (slot, signs) in self.signs.iter().enumerate() {
            let number = signs.number.load(Ordering::Relaxed);
            let reported = &mut state.slots[slot].reported;
            if reported.is_some_and(|reported| reported != number) {
                *reported = Some(number);
                self.handle(&mut state, Event::Started { slot, number });
            }
        }
        self.handle(&mut state, event);
    }

    /// The time by which [`Hub::advance_time`] must be called.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let mut state = self.state();
        state.wakes_at = state.machine.next_deadline();
        state.wakes_at.map(|at| self.started + Duration::from_millis(at.0))
    }

    /// Waits until the deadline is earlier than the last result of [`Hub::next_deadline`].
    pub(crate) async fn earlier_deadline(&self) {
        self.sooner.notified().await;
    }

    /// The games that people follow.
    pub(crate) fn following(&self) -> Arc<Following> {
        Arc::clone(&self.following)
    }

    /// Whether the worker wants no more games.
    pub(crate) fn is_ending(&self) -> bool {
        self.state().machine.is_ending()
    }

    /// The worker's summary, and the number of unacknowledged results.
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

    /// Passes an event to the machine and carries out its effects, none of which blocks.
    fn handle(&self, state: &mut State, event: Event<Finished, Arc<Cell>>) {
        if state.closed {
            return;
        }
        if let Event::Free { slot, .. } = event {
            state.slots[slot].reported = None;
        }
        let now = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let jitter = Jitter(rand::rng().random());
        for action in state.machine.handle(event, Time(now), jitter) {
            let to_do = match action {
                Action::Play { slot, batch } => {
                    let first = batch.range.first;
                    self.signs[slot].continue_from(first);
                    state.slots[slot].reported = Some(first);
                    // A missing thread has panicked, and the game with it.
                    let _gone = state.slots[slot].batches.send(batch);
                    continue;
                }
                Action::Stop { slot, now } => {
                    self.signs[slot].stop(now);
                    continue;
                }
                Action::Call { call, patience_ms, request } => {
                    ToDo::Call { call, patience: Duration::from_millis(patience_ms), request }
                }
                Action::Calibrate { game } => ToDo::Calibrate { game },
                Action::End => ToDo::End,
            };
            // The receiver is gone if the worker's future was dropped.
            let _dropped = state.to_say.send(to_do);
        }
    }

    /// A panic elsewhere leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
