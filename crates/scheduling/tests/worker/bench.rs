//! A machine on a bench: its slots, a coordinator that answers what it is told to, and a slow
//! account of everything that must hold.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::time::Duration;

use spelrum_model::speed::{Scaling, Speed};
use spelrum_model::{CellId, DefinitionHash, GameId, GameRange, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::Time;
use spelrum_scheduling::worker::{
    Action, Answer, Batch, Call, CallId, Caller, Event, Failure, Jitter, LeasedGames, Machine,
    Outcome, Session, Settings,
};

pub(crate) const PATIENCE_MS: u64 = 15_000;
pub(crate) const HEARTBEAT_MS: u64 = 5_000;
pub(crate) const RESULTS_MAX: usize = 100;
const REPORT_BYTES: usize = 1 << 20;
const GAME: &str = "pentago";
const SCALING: Scaling = Scaling { reference: 2_000_000, factor_max_permille: 4_000 };

/// A result that only says how large it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) lease: LeaseId,
    pub(crate) game: GameId,
    pub(crate) bytes: usize,
    pub(crate) failed: bool,
    /// Different for each.
    pub(crate) stamp: u64,
}

impl Outcome for Done {
    fn lease(&self) -> LeaseId {
        self.lease
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn is_failure(&self) -> bool {
        self.failed
    }

    fn refused(&self, _problem: &str) -> Option<Self> {
        (!self.failed).then(|| Self { bytes: 50, failed: true, ..self.clone() })
    }
}

/// A slot that plays.
#[derive(Debug)]
struct Slot {
    batch: Batch<()>,
    number: u64,
    /// The results database that it plays for.
    database: u32,
    stops: bool,
    is_aborted: bool,
}

/// Whether a cell's games are timed.
const fn is_timed(cell: CellId) -> bool {
    cell.0 % 3 == 1
}

/// The machine and what is known of it.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) machine: Machine<Done, ()>,
    pub(crate) now: u64,
    pub(crate) under_way: BTreeMap<CallId, Call<Done>>,
    slots: Vec<Option<Slot>>,
    quiet_slots: u32,
    /// Games that were begun: others, and timed ones.
    pub(crate) begun: [u64; 2],
    pub(crate) database: u32,
    /// The interval of heartbeats that Hello tells.
    pub(crate) heartbeat_ms: u64,
    last_lease: i64,
    last_stamp: u64,
    /// Leases that were granted and have arrived, with the games that nobody has begun.
    granted: BTreeMap<LeaseId, BTreeSet<GameId>>,
    dropped: BTreeSet<LeaseId>,
    pub(crate) given_back: BTreeSet<LeaseId>,
    /// Results for this database that nobody has acknowledged, by their stamps.
    pub(crate) owed: BTreeMap<u64, Done>,
    /// Leases of which a failure was refused.
    pub(crate) unspeakable: BTreeSet<LeaseId>,
    /// A report that must be said again word for word.
    again: Option<Vec<Done>>,
    pub(crate) is_ending: bool,
    pub(crate) has_ended: bool,
    /// Times at which a call of a kind was made.
    pub(crate) heartbeats: Vec<u64>,
    pub(crate) asked: usize,
    /// Most results in a report, by the next Hello.
    pub(crate) results_max: usize,
    /// The same by the last one.
    results_max_in_force: usize,
    /// Whether what is granted was lost with a worker before.
    pub(crate) grants_lost: bool,
    /// Whether time limits are scaled of timed games that are granted.
    pub(crate) scales: bool,
    /// A game whose speed an answer without games asks for.
    pub(crate) asks_for_speed: Option<String>,
    /// Whether an answer without games asks for engines.
    pub(crate) wants_engines: bool,
    /// The game that is being measured.
    pub(crate) calibrating: Option<String>,
    /// How often something was measured.
    pub(crate) calibrations: usize,
    /// Leases of such games.
    lost: BTreeSet<LeaseId>,
    /// Games that a heartbeat named that was heard.
    named: BTreeSet<GameId>,
}

impl Bench {
    pub(crate) fn new(slots: u32, exit_when_done: bool) -> Self {
        Self::with_quiet(slots, 0, exit_when_done)
    }

    /// One of whose slots so many are quiet.
    pub(crate) fn with_quiet(slots: u32, quiet_slots: u32, exit_when_done: bool) -> Self {
        Self::with_settings(Settings {
            slots: NonZeroU32::new(slots).unwrap(),
            quiet_slots,
            exit_when_done,
            idle_max_ms: None,
            patience_ms: PATIENCE_MS,
            speed: None,
        })
    }

    /// One that waits for games for so long.
    pub(crate) fn with_idle_end(slots: u32, idle_max_ms: u64) -> Self {
        Self::with_settings(Settings {
            slots: NonZeroU32::new(slots).unwrap(),
            quiet_slots: 0,
            exit_when_done: false,
            idle_max_ms: Some(idle_max_ms),
            patience_ms: PATIENCE_MS,
            speed: None,
        })
    }

    fn with_settings(settings: Settings) -> Self {
        let (slots, quiet_slots) = (settings.slots.get(), settings.quiet_slots);
        let mut bench = Self {
            machine: Machine::new(settings),
            now: 0,
            under_way: BTreeMap::new(),
            slots: (0..slots).map(|_| None).collect(),
            quiet_slots,
            begun: [0; 2],
            database: 1,
            heartbeat_ms: HEARTBEAT_MS,
            last_lease: 0,
            last_stamp: 0,
            granted: BTreeMap::new(),
            dropped: BTreeSet::new(),
            given_back: BTreeSet::new(),
            owed: BTreeMap::new(),
            unspeakable: BTreeSet::new(),
            again: None,
            is_ending: false,
            has_ended: false,
            heartbeats: Vec::new(),
            asked: 0,
            results_max: RESULTS_MAX,
            results_max_in_force: RESULTS_MAX,
            grants_lost: false,
            scales: false,
            asks_for_speed: None,
            wants_engines: false,
            calibrating: None,
            calibrations: 0,
            lost: BTreeSet::new(),
            named: BTreeSet::new(),
        };
        bench.handle(Event::TimePassed);
        bench
    }

    /// Tells the machine, and judges what it does.
    pub(crate) fn handle(&mut self, event: Event<Done, ()>) {
        let actions = self.machine.handle(event, Time(self.now), Jitter(1 << 31));
        self.machine.assert_consistent();
        for action in actions {
            assert!(!self.has_ended, "nothing comes after the end");
            match action {
                Action::Call { call, patience_ms, request } => {
                    assert!((PATIENCE_MS..=8 * PATIENCE_MS).contains(&patience_ms));
                    self.judge(&request);
                    assert!(self.under_way.insert(call, request).is_none(), "calls differ");
                }
                Action::Play { slot, batch } => self.begin(slot, batch),
                Action::Calibrate { game } => {
                    assert!(!self.is_ending, "nothing is measured while ending");
                    assert!(self.slots.iter().all(Option::is_none), "beside games");
                    assert!(self.calibrating.replace(game).is_none(), "one at a time");
                }
                Action::Stop { slot, now } => {
                    let slot = self.slots[slot].as_mut().expect("only what plays is stopped");
                    slot.stops = true;
                    slot.is_aborted |= now;
                }
                Action::End => self.has_ended = true,
            }
        }
        let (results, bytes) = self.machine.unacknowledged();
        let (results_max, bytes_max) = Machine::<Done, ()>::unacknowledged_max();
        // What was begun just before the bound was reached: at most ten games of a millisecond, or
        // one, on each slot.
        let begun = 10 * self.slots.len();
        assert!(results <= results_max + begun && bytes <= bytes_max + begun * (4 << 20));
    }

    fn judge(&mut self, request: &Call<Done>) {
        let is_pending = |matches_request: &dyn Fn(&Call<Done>) -> bool| {
            self.under_way.values().any(matches_request)
        };
        match request {
            Call::Hello => assert!(!is_pending(&|request| matches!(request, Call::Hello))),
            Call::Lease { .. } => {
                assert!(!self.is_ending, "nothing is asked for while ending");
                let is_conflicting = |request: &Call<Done>| {
                    matches!(request, Call::Lease { .. } | Call::Heartbeat { .. })
                };
                assert!(!is_pending(&is_conflicting), "a Lease beside another, or a Heartbeat");
                self.asked += 1;
            }
            Call::Heartbeat { leases, playing, .. } => {
                let is_conflicting = |request: &Call<Done>| {
                    matches!(request, Call::Lease { .. } | Call::Heartbeat { .. })
                };
                assert!(!is_pending(&is_conflicting), "a Heartbeat beside another, or a Lease");
                self.judge_heartbeat(leases, playing);
                self.heartbeats.push(self.now);
            }
            Call::Report { results, .. } => {
                assert!(!is_pending(&|request| matches!(request, Call::Report { .. })));
                assert!((1..=self.results_max_in_force).contains(&results.len()), "invariant 9");
                let bytes: usize = results.iter().map(Outcome::bytes).sum();
                assert!(results.len() == 1 || bytes <= REPORT_BYTES);
                if let Some(mut again) = self.again.take() {
                    // A coordinator that was started anew may want less at once.
                    again.truncate(self.results_max_in_force);
                    assert_eq!(again, **results, "word for word");
                }
                for result in results.iter() {
                    let owed = self.owed.get(&result.stamp).expect("it is owed");
                    assert!(owed == result || result.failed && owed.game == result.game);
                }
            }
            Call::GiveBack { leases, .. } => {
                assert!(!is_pending(&|request| matches!(request, Call::GiveBack { .. })));
                for lease in leases {
                    assert!(self.granted.contains_key(lease), "lease {lease} is ours");
                    // While it is not pressed for time, everything of it is told before.
                    let is_of_it = |done: &&Done| done.lease == *lease;
                    let owes = self.owed.values().find(is_of_it);
                    assert!(self.is_ending || owes.is_none(), "{owes:?}");
                    self.given_back.insert(*lease);
                }
            }
            Call::GetCell(_) => {}
        }
    }

    fn judge_heartbeat(&self, leases: &[LeaseId], playing: &[GameId]) {
        for lease in leases {
            let is_over = self.dropped.contains(lease) || self.given_back.contains(lease);
            assert!(self.granted.contains_key(lease) && !is_over, "lease {lease} is ours");
        }
        let here = self.slots.iter().flatten().filter(|slot| slot.database == self.database);
        let games: Vec<_> = here
            .clone()
            .map(|slot| GameId { cell: slot.batch.range.cell, number: slot.number })
            .collect();
        let waits = |game: &&GameId| !games.contains(game);
        for waiting in playing.iter().filter(waits) {
            let mut unbegun = self.granted.iter().filter(|(_, games)| games.contains(waiting));
            let mut begun = self.slots.iter().flatten().filter(|slot| {
                let GameRange { cell, .. } = slot.batch.range;
                cell == waiting.cell
                    && (slot.number..slot.batch.range.end()).contains(&waiting.number)
            });
            let is_lost = unbegun.any(|(lease, _)| self.lost.contains(lease))
                || begun.any(|slot| self.lost.contains(&slot.batch.lease));
            assert!(is_lost, "{waiting:?} waits");
        }
        assert!(games.iter().all(|game| playing.contains(game)), "{games:?} in {playing:?}");
        assert!(playing.len() <= 16 * self.slots.len());
        for slot in here.filter(|slot| !slot.is_aborted) {
            assert!(leases.contains(&slot.batch.lease), "a lease whose games are played");
        }
        for done in self.owed.values().filter(|done| !self.dropped.contains(&done.lease)) {
            let is_named = leases.contains(&done.lease) || self.given_back.contains(&done.lease);
            // One that ends may have lost its patience with the coordinator.
            assert!(is_named || self.is_ending, "a lease with results that nobody knows");
        }
    }

    fn begin(&mut self, slot: usize, batch: Batch<()>) {
        assert!(!self.is_ending, "no game is begun while ending");
        assert!(self.calibrating.is_none(), "no game is begun while something is measured");
        assert!(!self.dropped.contains(&batch.lease), "a game that nobody wants");
        if self.lost.contains(&batch.lease) {
            for number in batch.range.first..batch.range.end() {
                let game = GameId { cell: batch.range.cell, number };
                assert!(self.named.contains(&game), "{game:?} is played before it is named");
            }
        }
        let unbegun = self.granted.get_mut(&batch.lease).expect("its lease is held");
        for number in batch.range.first..batch.range.end() {
            assert!(unbegun.remove(&GameId { cell: batch.range.cell, number }), "begun twice");
        }
        self.judge_quiet(slot, &batch);
        assert_eq!(batch.scaled.is_some(), self.scales && is_timed(batch.range.cell));
        let number = batch.range.first;
        let database = self.database;
        let playing = Slot { batch, number, database, stops: false, is_aborted: false };
        assert!(self.slots[slot].replace(playing).is_none(), "a slot plays one batch at a time");
    }

    /// Timed games are on quiet slots, and beside no others.
    fn judge_quiet(&mut self, slot: usize, batch: &Batch<()>) {
        let in_quiet = self.quiet_slots > 0 && is_timed(batch.range.cell);
        assert_eq!(batch.in_quiet, in_quiet);
        assert!(!in_quiet || slot < self.quiet_slots as usize, "slot {slot} is not quiet");
        let mut playing = self.slots.iter().flatten();
        assert!(playing.all(|slot| slot.batch.in_quiet == in_quiet), "timed games beside others");
        self.begun[usize::from(in_quiet)] += batch.range.count;
    }

    // What the world does.

    /// A game ends on a slot, if one plays there: with a result of so many bytes. Those of cells
    /// with even numbers are short, whatever is said, so that batches have several.
    pub(crate) fn play(&mut self, slot: usize, bytes: usize, took: Duration) {
        let Some(playing) = &mut self.slots[slot] else { return };
        let is_short = playing.batch.range.cell.0 % 2 == 0;
        let took = if is_short { Duration::from_millis(1) } else { took };
        let game = GameId { cell: playing.batch.range.cell, number: playing.number };
        // One that is aborted may end before it notices.
        if !playing.is_aborted || bytes.is_multiple_of(2) {
            self.last_stamp += 1;
            let (lease, stamp) = (playing.batch.lease, self.last_stamp);
            let done = Done { lease, game, bytes, failed: false, stamp };
            if playing.database == self.database {
                self.owed.insert(stamp, done.clone());
            }
            playing.number += 1;
            self.handle(Event::Finished { slot, results: vec![done] });
        }
        let Some(playing) = &self.slots[slot] else { return };
        if playing.stops || playing.number == playing.batch.range.end() {
            let GameRange { cell, first, .. } = playing.batch.range;
            let played = playing.number - first;
            let unbegun = playing.number..playing.batch.range.end();
            if playing.database == self.database
                && let Some(games) = self.granted.get_mut(&playing.batch.lease)
            {
                games.extend(unbegun.map(|number| GameId { cell, number }));
            }
            self.slots[slot] = None;
            let took = took * u32::try_from(played).unwrap();
            self.handle(Event::Free { slot, played, took });
        } else {
            let number = playing.number;
            self.handle(Event::Started { slot, number });
        }
    }

    /// What is being measured comes to something, if it can be.
    pub(crate) fn calibrate(&mut self, nodes_per_second: Option<u64>) {
        let Some(game) = self.calibrating.take() else { return };
        self.calibrations += 1;
        let speed = nodes_per_second.map(|nodes_per_second| Speed {
            game: game.clone(),
            nodes_per_second,
            noise_permille: 10,
            slots: 1,
            age_ms: 0,
        });
        self.handle(Event::Calibrated { game, speed });
    }

    /// Whether a slot plays.
    pub(crate) fn plays(&self, slot: usize) -> bool {
        self.slots[slot].is_some()
    }

    /// A call comes to nothing.
    pub(crate) fn fail(&mut self, call: CallId, failure: Failure) {
        let Some(request) = self.under_way.remove(&call) else { return };
        match (&request, &failure) {
            (Call::Report { results, .. }, Failure::Refused { .. }) => {
                if let [result] = results.as_slice()
                    && result.failed
                    && self.owed.remove(&result.stamp).is_some()
                {
                    self.unspeakable.insert(result.lease);
                }
            }
            // As good as one that is heard.
            (Call::Heartbeat { playing, caller, .. }, Failure::Refused { .. }) => {
                self.heard(*caller, playing);
            }
            (Call::Report { results, caller }, _) if self.is_current(*caller) => {
                self.again = Some(results.to_vec());
            }
            _ => {}
        }
        self.handle(Event::Answered { call, answer: Err(failure) });
    }

    /// A call is answered: a Lease with a grant of so many games, if any.
    pub(crate) fn answer(&mut self, call: CallId, games: u64) {
        let Some(request) = self.under_way.remove(&call) else { return };
        let answer = match &request {
            Call::Hello => {
                self.results_max_in_force = self.results_max;
                Answer::Hello(self.session())
            }
            Call::Lease { caller, .. } if games > 0 => {
                self.last_lease += 1;
                let lease = LeaseId(self.last_lease);
                let cell = CellId(self.last_lease % 5);
                let name_before_play = self.grants_lost;
                if name_before_play && self.is_current(*caller) {
                    self.lost.insert(lease);
                    self.named.retain(|game| game.cell != cell);
                }
                let range = GameRange { cell, first: 0, count: games };
                if self.is_current(*caller) {
                    let numbers = (0..games).map(|number| GameId { cell, number });
                    self.granted.insert(lease, numbers.collect());
                }
                let definition = DefinitionHash::from_json(&cell.to_string());
                let (game_timeout, timed) = (None, is_timed(cell));
                let scaling = (timed && self.scales).then_some(SCALING);
                let games = vec![LeasedGames {
                    range,
                    definition,
                    game_timeout,
                    name_before_play,
                    timed,
                    scaling,
                }];
                Answer::Granted { lease, games }
            }
            Call::Lease { .. } => {
                let calibrate = self.asks_for_speed.clone();
                let is_obtaining = self.wants_engines;
                Answer::Idle { retry_after_ms: 500, all_done: true, calibrate, is_obtaining }
            }
            Call::Heartbeat { playing, caller, .. } => {
                self.heard(*caller, playing);
                Answer::Drop { leases: Vec::new(), is_followed: false }
            }
            Call::Report { results, caller } => {
                if self.is_current(*caller) {
                    self.acknowledged(results);
                }
                Answer::Acknowledged { results: results.len() }
            }
            Call::GiveBack { .. } => Answer::GivenBack,
            Call::GetCell(_) => Answer::Cell { cell: (), keep: true, game: Some(GAME) },
        };
        self.handle(Event::Answered { call, answer: Ok(answer) });
    }

    /// A heartbeat is heard.
    fn heard(&mut self, caller: Caller, playing: &[GameId]) {
        if self.is_current(caller) {
            self.named.extend(playing);
        }
    }

    fn acknowledged(&mut self, results: &[Done]) {
        self.owed.retain(|stamp, _| results.iter().all(|done| done.stamp != *stamp));
    }

    /// A report is answered in part.
    pub(crate) fn answer_in_part(&mut self, call: CallId, count: usize) {
        let Some(Call::Report { results, caller }) = self.under_way.get(&call).cloned() else {
            return;
        };
        self.under_way.remove(&call);
        let count = count % (results.len() + 1);
        if self.is_current(caller) {
            self.acknowledged(&results[..count]);
            let rest = results[count..].to_vec();
            self.again = Some(rest).filter(|rest| !rest.is_empty());
        }
        let answer = Ok(Answer::Acknowledged { results: count });
        self.handle(Event::Answered { call, answer });
    }

    /// A heartbeat is answered: some of the leases are no longer ours.
    pub(crate) fn drop_some(&mut self, call: CallId, selector: u32) {
        let Some(Call::Heartbeat { leases, caller, playing }) = self.under_way.get(&call).cloned()
        else {
            return;
        };
        self.heard(caller, &playing);
        self.under_way.remove(&call);
        let is_chosen = |lease: &LeaseId| (selector >> (lease.0 % 32)) & 1 == 1;
        let dropped: Vec<_> = leases.into_iter().filter(is_chosen).collect();
        if self.is_current(caller) {
            self.dropped.extend(&dropped);
        }
        self.handle(Event::Answered {
            call,
            answer: Ok(Answer::Drop { leases: dropped, is_followed: false }),
        });
    }

    /// Another results database is behind the address from now on, which a call finds out.
    pub(crate) fn change_database(&mut self) {
        let is_hello = |request: &Call<Done>| matches!(request, Call::Hello);
        if let (None, Some(call)) = (self.pending_call(is_hello), self.pending_call(|_| true)) {
            self.fail(call, Failure::SayHello);
        }
        let Some(call) = self.pending_call(is_hello) else { return };
        self.database += 1;
        self.granted.clear();
        self.dropped.clear();
        self.owed.clear();
        self.given_back.clear();
        self.unspeakable.clear();
        self.lost.clear();
        self.named.clear();
        self.again = None;
        self.answer(call, 0);
    }

    /// Time passes until the machine wants something, or for so long.
    pub(crate) fn wait(&mut self, ms: u64) {
        let until = self.now + ms;
        let mut at_once = 0;
        while let Some(Time(at)) = self.machine.next_deadline().filter(|at| at.0 <= until) {
            at_once = if at > self.now { 0 } else { at_once + 1 };
            assert!(at_once < 3, "time stands still");
            self.now = self.now.max(at);
            self.handle(Event::TimePassed);
        }
        self.now = until;
    }

    /// Everything goes well from now on: answers come at once, games end, nothing new is granted.
    /// Returns whether nothing is held any more, nor forgotten, before so much time has passed.
    pub(crate) fn calms_down(&mut self, ms: u64) -> bool {
        let until = self.now + ms;
        while self.now < until {
            if self.has_ended {
                return true;
            }
            while let Some((&call, _)) = self.under_way.first_key_value() {
                self.answer(call, 0);
            }
            self.calibrate(Some(1_000_000));
            for slot in 0..self.slots.len() {
                self.play(slot, 100, Duration::from_millis(50));
            }
            let is_idle = self.slots.iter().all(Option::is_none) && self.under_way.is_empty();
            // What is to be given back is not held any more, but not said yet either.
            let has_nothing = self.machine.leases().is_empty()
                && self.owed.is_empty()
                && self.forgotten_lease().is_none();
            if is_idle && has_nothing && !self.is_ending {
                return true;
            }
            self.wait(50);
        }
        false
    }

    /// A lease that the coordinator knows, that has games without a result, and that was neither
    /// dropped nor given back: its games would wait until it expires, or for ever.
    pub(crate) fn forgotten_lease(&self) -> Option<LeaseId> {
        let has_games =
            |lease: &LeaseId| !self.granted[lease].is_empty() || self.unspeakable.contains(lease);
        let is_over =
            |lease: &LeaseId| self.dropped.contains(lease) || self.given_back.contains(lease);
        self.granted.keys().copied().find(|lease| has_games(lease) && !is_over(lease))
    }

    fn session(&self) -> Session {
        Session {
            caller: Caller { worker: WorkerId(1), epoch: self.database.into() },
            database: self.database.to_string(),
            heartbeat_interval_ms: self.heartbeat_ms,
            report_results_max: self.results_max,
        }
    }

    fn is_current(&self, caller: Caller) -> bool {
        caller.epoch == i64::from(self.database)
    }

    /// The call of a kind that is under way.
    pub(crate) fn pending_call(
        &self,
        matches_request: impl Fn(&Call<Done>) -> bool,
    ) -> Option<CallId> {
        self.under_way.iter().find(|(_, request)| matches_request(request)).map(|(&call, _)| call)
    }
}
