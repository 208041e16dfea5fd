//! A worker's side: the machine that decides for a real worker, and what stands for its threads.

use std::num::NonZeroU32;
use std::time::Duration;

use spelrum_model::demands::Offer;
use spelrum_model::{CellId, DefinitionHash, GameId, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::{Report, Time};
use spelrum_scheduling::worker;
use spelrum_scheduling::worker::{Action, Batch, Caller, Event, Jitter, Machine, Settings};

use crate::desk::Result;

/// How long a worker waits for a reply at first.
const PATIENCE_MS: u64 = 10_000;

/// What a game's failure says after its result was refused.
pub(crate) const REFUSED: &str = "its result was refused";

/// What a worker says to the coordinator.
pub(crate) type Call = worker::Call<Result>;

/// A process that plays. Killed, it starts again and remembers nothing.
#[derive(Debug)]
pub(crate) struct Worker {
    pub(crate) id: WorkerId,
    pub(crate) slots: u32,
    /// What its machine has.
    pub(crate) offer: Offer,
    /// Whether it trains and verifies.
    pub(crate) trains: bool,
    /// Which start of it this is: what was meant for an earlier one is not for this one.
    pub(crate) start: u32,
    /// Until when it is down or hangs.
    pub(crate) away_until: u64,
    /// When its timer goes off.
    pub(crate) wake_at: Option<u64>,
    /// What each slot does.
    pub(crate) playing: Vec<Option<Playing>>,
    settings: Settings,
    machine: Machine<Result, ()>,
}

/// Games on a slot.
#[derive(Clone, Debug)]
pub(crate) struct Playing {
    batch: Batch<()>,
    /// The number of the game that is being played.
    number: u64,
    /// Different for each time that a game is played.
    pub(crate) playing: u64,
    pub(crate) started: u64,
    /// Games of the batch that are over, and how long they took.
    played: u64,
    took: Duration,
    /// Whether the slot is to stop after this game, and at once.
    stops: bool,
    pub(crate) is_aborted: bool,
}

impl worker::Outcome for Result {
    fn lease(&self) -> LeaseId {
        self.lease
    }

    fn bytes(&self) -> usize {
        match &self.report {
            Report::Played { .. } => 1_000,
            Report::Failed { message } => 100 + message.len(),
            Report::Disturbed | Report::Trained | Report::Verified | Report::Irregular => 1_000,
        }
    }

    fn is_failure(&self) -> bool {
        matches!(self.report, Report::Failed { .. })
    }

    fn refused(&self, _problem: &str) -> Option<Self> {
        let report = Report::Failed { message: REFUSED.into() };
        (!self.is_failure()).then(|| Self { report, ..self.clone() })
    }
}

/// The hash that stands for a cell's definition.
pub(crate) fn definition(cell: CellId) -> DefinitionHash {
    DefinitionHash::from_json(&cell.to_string())
}

/// Whether a cell's games are timed. None of a story's, whose cells are not spread over its workers.
pub(crate) const fn is_timed(cell: CellId) -> bool {
    cell.0 >= 100 && cell.0 % 3 == 1
}

/// How many of a worker's slots are quiet: of three workers one has none, and one has no others.
fn quiet_slots(id: WorkerId, slots: u32) -> u32 {
    [0, slots.div_ceil(2), slots][usize::try_from(id.0 % 3).unwrap()]
}

impl Worker {
    /// Just started.
    pub(crate) fn new(id: WorkerId, slots: u32, offer: Offer, exit_when_done: bool) -> Self {
        let settings = Settings {
            slots: NonZeroU32::new(slots).unwrap(),
            quiet_slots: quiet_slots(id, slots),
            exit_when_done,
            idle_max_ms: None,
            patience_ms: PATIENCE_MS,
            speed: None,
        };
        Self {
            id,
            slots,
            offer,
            trains: true,
            start: 0,
            away_until: 0,
            wake_at: None,
            playing: vec![None; slots as usize],
            machine: Machine::new(settings.clone()),
            settings,
        }
    }

    /// How many of its slots are quiet.
    pub(crate) fn quiet_slots(&self) -> u32 {
        quiet_slots(self.id, self.slots)
    }

    /// The same, whose machine takes so many slots for quiet.
    pub(crate) fn mistaking_quiet_slots(self, quiet_slots: u32) -> Self {
        let settings = Settings { quiet_slots, ..self.settings };
        Self { machine: Machine::new(settings.clone()), settings, ..self }
    }

    /// Killed, or at its end: starts again at some time, as somebody else or under the same name.
    pub(crate) fn start_again(&mut self, id: WorkerId, back: u64) {
        let start = self.start + 1;
        let offer = self.offer.clone();
        let fresh = Self::new(id, self.slots, offer, self.settings.exit_when_done);
        *self = Self { start, away_until: back, ..fresh };
    }

    /// Lets the machine decide.
    pub(crate) fn handle(
        &mut self,
        event: Event<Result, ()>,
        now: u64,
        jitter: u32,
    ) -> Vec<Action<Result, ()>> {
        let actions = self.machine.handle(event, Time(now), Jitter(jitter));
        self.machine.assert_consistent();
        for action in &actions {
            if let Action::Play { slot, batch } = action {
                self.judge_quiet(*slot, batch);
            }
        }
        actions
    }

    /// Timed games are on quiet slots, and beside no others.
    fn judge_quiet(&self, slot: usize, batch: &Batch<()>) {
        let quiet_slots = self.quiet_slots();
        let in_quiet = quiet_slots > 0 && is_timed(batch.range.cell);
        assert_eq!(batch.in_quiet, in_quiet);
        assert!(!in_quiet || slot < quiet_slots as usize, "slot {slot} is not quiet");
        let mut playing = self.playing.iter().flatten();
        assert!(playing.all(|game| game.batch.in_quiet == in_quiet), "timed games beside others");
    }

    /// When its timer must go off.
    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline().map(|at| at.0)
    }

    /// Who calls, to a coordinator of this epoch.
    pub(crate) const fn caller(&self, epoch: i64) -> Caller {
        Caller { worker: self.id, epoch }
    }

    /// The slot that plays this.
    pub(crate) fn slot_of(&self, playing: u64) -> Option<usize> {
        let is_wanted = |slot: &Playing| slot.playing == playing;
        self.playing.iter().position(|slot| slot.as_ref().is_some_and(is_wanted))
    }

    /// A slot is to stop. Returns what it plays, if that is to be aborted.
    pub(crate) fn stop(&mut self, slot: usize, now: bool) -> Option<u64> {
        let playing = self.playing[slot].as_mut().expect("only what plays is stopped");
        playing.stops = true;
        let is_first_time = now && !playing.is_aborted;
        playing.is_aborted |= now;
        is_first_time.then_some(playing.playing)
    }
}

impl Playing {
    /// A slot begins a batch.
    pub(crate) const fn new(batch: Batch<()>, playing: u64, started: u64) -> Self {
        Self {
            number: batch.range.first,
            batch,
            playing,
            started,
            played: 0,
            took: Duration::ZERO,
            stops: false,
            is_aborted: false,
        }
    }

    /// The game that is being played.
    pub(crate) const fn game(&self) -> GameId {
        GameId { cell: self.batch.range.cell, number: self.number }
    }

    /// The result of the game that is over.
    pub(crate) fn result(&self, report: Report) -> Result {
        let (lease, game, playing) = (self.batch.lease, self.game(), self.playing);
        Result { lease, game, playing, report, disturbed: false }
    }

    /// A game is over. Whether the next one of the batch begins, then as `playing`.
    pub(crate) fn goes_on(&mut self, playing: u64, now: u64) -> bool {
        self.played += 1;
        self.took += Duration::from_millis(now - self.started);
        self.number += 1;
        self.playing = playing;
        self.started = now;
        !self.stops && self.number < self.batch.range.end()
    }

    /// What the machine is told when a slot is done with this.
    pub(crate) const fn free(&self, slot: usize) -> Event<Result, ()> {
        Event::Free { slot, played: self.played, took: self.took }
    }
}
