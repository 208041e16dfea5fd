//! The worker's state and how events change it. `deciding` chooses the actions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spelrum_model::speed::Speed;
use spelrum_model::{DefinitionHash, GameId, GameRange, LeaseId};

use super::api::{
    Action, Answer, CallId, Event, Failure, Jitter, LeasedGames, Outcome, Session, Settings, Tally,
};
use super::beats::Beats;
use super::cells::Cells;
use super::games::Games;
use super::lane::{Lane, Manner};
use super::leases::Leases;
use super::outbox::{Outbox, Refused};
use super::phase::Phase;
use super::speeds::Speeds;
use super::turns::Turns;
use super::withheld::Withheld;
use crate::scheduler::Time;

/// Minimum delay before the next request for games, whatever the coordinator says.
const RETRY_AFTER_MS_MIN: u64 = 10;

/// Delay before the next request for games after a refusal that a retry may not mend.
const REFUSED_RETRY_AFTER_MS: u64 = 5_000;

/// A worker; see the [module](super). `R` is a finished game, `C` a cell that is ready to be played.
#[derive(Clone, Debug)]
pub struct Machine<R, C> {
    pub(super) settings: Settings,
    pub(super) phase: Phase,
    pub(super) session: Option<Session>,
    /// Counts Hellos.
    pub(super) hellos: u64,
    /// The latest results database.
    database: Option<String>,
    /// Counts results databases: held games belong to one of them.
    pub(super) generation: u64,
    pub(super) slots: Vec<Option<Playing>>,
    pub(super) idle_slots: BTreeSet<usize>,
    /// Whether timed or untimed games are played.
    pub(super) turns: Turns,
    pub(super) withheld: Withheld<C>,
    pub(super) leases: Leases,
    pub(super) games: Games<Named<C>>,
    pub(super) cells: Cells<Named<C>>,
    pub(super) speeds: Speeds,
    pub(super) outbox: Outbox<R>,
    pub(super) beats: Beats,
    pub(super) tally: Tally,
    /// Calls under way.
    pub(super) calls: BTreeMap<CallId, UnderWay>,
    pub(super) last_call: u64,
    pub(super) hello: Lane,
    pub(super) lease: Lane,
    pub(super) heartbeat: Lane,
    pub(super) report: Lane,
    pub(super) give_back: Lane,
    pub(super) get_cell: BTreeMap<DefinitionHash, Lane>,
    /// No requests for games before this time: there were none, or they were refused.
    pub(super) idle_until: Option<Time>,
    pub(super) refused_until: Option<Time>,
    /// Since when it has had no games and nothing to report, and obtained no engine.
    pub(super) idle_since: Option<Time>,
    /// Whether it was obtaining engines when the coordinator had no games for it.
    pub(super) is_obtaining: bool,
    /// Whether running out of leases is a reason to ask sooner.
    pub(super) asks_when_empty: bool,
    /// Whether the last of Lease and Heartbeat was a Heartbeat: they take turns.
    pub(super) lease_is_next: bool,
    /// The time of the latest event.
    pub(super) now: Time,
    /// Whether a heartbeat may be due that the latest event could not send.
    pub(super) may_owe_heartbeat: bool,
}

/// A cell that is ready, with its game if its time limits may be scaled.
#[derive(Clone, Debug)]
pub(super) struct Named<C> {
    pub(super) cell: C,
    pub(super) game: Option<&'static str>,
}

/// A batch on a slot.
#[derive(Clone, Debug)]
pub(super) struct Playing {
    pub(super) lease: LeaseId,
    /// Its results database.
    pub(super) generation: u64,
    pub(super) definition: DefinitionHash,
    pub(super) range: GameRange,
    /// Number of the game being played.
    pub(super) number: u64,
    /// Number of unfinished games.
    pub(super) unfinished: u64,
    /// Whether heartbeats name all unfinished games, not only the one being played.
    pub(super) names_all: bool,
    /// Whether it is played on an exclusive slot.
    pub(super) in_quiet: bool,
}

/// A call that is under way.
#[derive(Clone, Debug)]
pub(super) struct UnderWay {
    pub(super) kind: Kind,
    /// The Hello before it.
    pub(super) hello: u64,
    /// The coordinator's results database at the time.
    pub(super) generation: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hello,
    Lease,
    Heartbeat,
    Report,
    GiveBack {
        /// Number of leases named.
        leases: usize,
    },
    GetCell(DefinitionHash),
}

impl<R: Outcome, C: Clone> Machine<R, C> {
    /// A new worker without a session. Its first event is [`TimePassed`](Event::TimePassed).
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let slots = settings.slots.get() as usize;
        let speeds = Speeds::with_speed(settings.speed.clone());
        Self {
            settings,
            phase: Phase::Working,
            session: None,
            hellos: 0,
            database: None,
            generation: 0,
            slots: vec![None; slots],
            idle_slots: (0..slots).collect(),
            turns: Turns::default(),
            withheld: Withheld::new(),
            leases: Leases::default(),
            games: Games::new(),
            cells: Cells::new(),
            speeds,
            outbox: Outbox::new(),
            beats: Beats::default(),
            tally: Tally::default(),
            calls: BTreeMap::new(),
            last_call: 0,
            hello: Lane::new(Manner::Patient),
            lease: Lane::new(Manner::Reluctant),
            heartbeat: Lane::new(Manner::Regular),
            report: Lane::new(Manner::Patient),
            give_back: Lane::new(Manner::Patient),
            get_cell: BTreeMap::new(),
            idle_until: None,
            refused_until: None,
            idle_since: None,
            is_obtaining: false,
            asks_when_empty: false,
            lease_is_next: false,
            now: Time(0),
            may_owe_heartbeat: false,
        }
    }

    /// Handles an event and returns the actions. Time never goes back.
    pub fn handle(&mut self, event: Event<R, C>, now: Time, jitter: Jitter) -> Vec<Action<R, C>> {
        let mut actions = Vec::new();
        if self.phase == Phase::Ended {
            return actions;
        }
        self.now = self.now.max(now);
        let may_send_heartbeat = matches!(event, Event::TimePassed | Event::Answered { .. });
        match event {
            Event::TimePassed => {}
            Event::Answered { call, answer } => self.answered(call, answer, jitter, &mut actions),
            Event::Started { slot, number } => self.started(slot, number),
            Event::Finished { slot, results } => self.finished(slot, results),
            Event::Free { slot, played, took } => self.freed(slot, played, took),
            Event::Calibrated { game, speed } => self.calibrated(game, speed),
            Event::Changed => self.session = None,
            Event::Finish => self.finish(&mut actions),
            Event::EndNow => self.end_now(&mut actions),
        }
        self.may_owe_heartbeat = !may_send_heartbeat;
        self.decide(may_send_heartbeat, &mut actions);
        actions
    }

    /// The leases that are held.
    #[must_use]
    pub fn leases(&self) -> Vec<LeaseId> {
        self.leases.ids()
    }

    /// Whether the worker is ending: by request, or because nothing is left to do.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.phase != Phase::Working
    }

    /// Whether the worker has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// Totals so far.
    #[must_use]
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// Number and bytes of unacknowledged results.
    #[must_use]
    pub const fn unacknowledged(&self) -> (usize, usize) {
        let load = self.outbox.load();
        (load.results, load.bytes)
    }

    // Slots.

    fn started(&mut self, slot: usize, number: u64) {
        if let Some(Some(playing)) = self.slots.get_mut(slot) {
            playing.number = number;
        }
    }

    fn finished(&mut self, slot: usize, results: Vec<R>) {
        let Some(Some(playing)) = self.slots.get_mut(slot) else { return };
        if playing.generation != self.generation {
            return;
        }
        let count = playing.unfinished.min(results.len() as u64);
        playing.unfinished -= count;
        self.leases.change(playing.lease, |held| {
            held.playing -= count;
            held.unacknowledged += count;
        });
        for result in results {
            self.outbox.push(result, self.now);
        }
    }

    fn freed(&mut self, slot: usize, played: u64, took: Duration) {
        if let Some(playing) = self.vacate(slot) {
            self.cells.measured(playing.definition, played, took);
        }
    }

    /// Frees a slot; the rest of its batch is given up.
    fn vacate(&mut self, slot: usize) -> Option<Playing> {
        let playing = self.slots.get_mut(slot).and_then(Option::take)?;
        self.idle_slots.insert(slot);
        if playing.generation == self.generation {
            self.leases.change(playing.lease, |held| {
                held.playing -= playing.unfinished;
                held.given_up += playing.unfinished;
            });
        }
        Some(playing)
    }

    /// Records a measurement. A measured speed is reported with a request for games at once, since the
    /// coordinator's games may wait for it.
    fn calibrated(&mut self, game: String, speed: Option<Speed>) {
        if speed.is_some() {
            self.idle_until = None;
        }
        self.speeds.measured(game, speed, self.now);
    }

    /// Stops the slots that play such games, or wait to.
    pub(super) fn stop(
        &mut self,
        now: bool,
        is_stopped: impl Fn(&Playing) -> bool,
        actions: &mut Vec<Action<R, C>>,
    ) {
        for slot in 0..self.slots.len() {
            if !self.slots[slot].as_ref().is_some_and(&is_stopped) {
                continue;
            }
            if self.withheld.take(slot).is_some() {
                self.vacate(slot);
            } else {
                actions.push(Action::Stop { slot, now });
            }
        }
    }

    /// A heartbeat has arrived: the games it named may be played.
    fn heartbeat_acknowledged(&mut self, actions: &mut Vec<Action<R, C>>) {
        let acknowledged = self.withheld.acknowledge();
        actions.extend(acknowledged.map(|(slot, batch)| Action::Play { slot, batch }));
    }

    // Answers.

    fn answered(
        &mut self,
        call: CallId,
        answer: Result<Answer<C>, Failure>,
        jitter: Jitter,
        actions: &mut Vec<Action<R, C>>,
    ) {
        let Some(under_way) = self.calls.remove(&call) else { return };
        let UnderWay { kind, hello, generation } = under_way;
        let answer = match (answer, kind) {
            (Ok(Answer::Hello(session)), Kind::Hello) => {
                self.hello.answered();
                self.meet(session, actions);
                return;
            }
            (Ok(Answer::Granted { lease, games }), Kind::Lease) => {
                self.lease.answered();
                if generation == self.generation {
                    self.granted(lease, games);
                }
                return;
            }
            (
                Ok(Answer::Idle { retry_after_ms, all_done, calibrate, is_obtaining }),
                Kind::Lease,
            ) => {
                self.lease.answered();
                self.is_obtaining = is_obtaining;
                if let Some(game) = calibrate {
                    self.speeds.want(&game, self.now);
                }
                self.idle(retry_after_ms, all_done, jitter, actions);
                return;
            }
            (Ok(Answer::Drop { leases, is_followed }), Kind::Heartbeat) => {
                self.heartbeat.answered();
                if is_followed {
                    self.beats.game_is_followed(self.now);
                }
                if generation == self.generation {
                    self.drop_leases(&leases, actions);
                }
                self.heartbeat_acknowledged(actions);
                return;
            }
            (Ok(Answer::Acknowledged { results }), Kind::Report) if results > 0 => {
                self.report.answered();
                if generation == self.generation {
                    self.acknowledged(results);
                }
                return;
            }
            (Ok(Answer::GivenBack), Kind::GiveBack { leases }) => {
                self.give_back.answered();
                if generation == self.generation {
                    self.leases.given_back(leases);
                }
                return;
            }
            (Ok(Answer::Cell { cell, keep, game }), Kind::GetCell(definition)) => {
                let cell = Named { cell, game };
                self.get_cell.remove(&definition);
                self.games.arrived(definition, &cell);
                if keep {
                    self.cells.keep(definition, cell);
                }
                return;
            }
            (Err(failure), _) => failure,
            // An answer to another kind of call.
            (Ok(_), _) => Failure::Away { retry_after_ms: None },
        };
        self.unanswered(kind, hello, generation, &answer, jitter, actions);
    }

    fn unanswered(
        &mut self,
        kind: Kind,
        hello: u64,
        generation: u64,
        failure: &Failure,
        jitter: Jitter,
        actions: &mut Vec<Action<R, C>>,
    ) {
        match (kind, failure) {
            // Treated as heard: the games it named must not wait for ever.
            (Kind::Heartbeat, Failure::Refused { .. }) => self.heartbeat_acknowledged(actions),
            (Kind::Heartbeat, _) => self.withheld.mark_unanswered(),
            // Without the coordinator's word it is not known whether games still wait for engines.
            (Kind::Hello | Kind::Lease, _) => self.is_obtaining = false,
            _ => {}
        }
        match failure {
            Failure::Unwanted => return self.end(actions),
            // A refused Hello means that the worker is refused.
            Failure::Refused { .. } if kind == Kind::Hello => return self.end(actions),
            Failure::Refused { problem } => {
                return self.refused(kind, generation, problem, jitter);
            }
            Failure::SayHello if hello == self.hellos => self.session = None,
            Failure::SayHello | Failure::Elsewhere | Failure::Away { .. } | Failure::TimedOut => {}
        }
        if kind == Kind::Heartbeat {
            self.beats.mark_unanswered(self.now);
        }
        let now = self.now;
        if let Some(lane) = self.lane(kind) {
            lane.failed(failure, now, jitter);
        }
        self.forget_unwanted_cells();
    }

    fn refused(&mut self, kind: Kind, generation: u64, problem: &str, jitter: Jitter) {
        if let Some(lane) = self.lane(kind) {
            lane.answered();
        }
        let is_current = generation == self.generation;
        match kind {
            // A refused heartbeat counts as heard: the next comes at its time.
            Kind::Hello | Kind::Heartbeat => {}
            Kind::Lease => self.wait_after_refusal(jitter),
            Kind::Report if is_current => {
                if let Some(Refused::GivenUp(lease)) = self.outbox.refused(problem) {
                    self.tally.refused += 1;
                    self.leases.change(lease, |held| {
                        held.unacknowledged -= 1;
                        held.given_up += 1;
                    });
                    self.wait_after_refusal(jitter);
                }
            }
            Kind::GiveBack { leases } if is_current => {
                // They end by themselves.
                self.leases.given_back(leases);
            }
            Kind::GetCell(definition) => {
                self.get_cell.remove(&definition);
                if is_current {
                    for (lease, games) in self.games.take_arriving(definition) {
                        self.leases.change(lease, |held| {
                            held.waiting -= games.range.count;
                            held.given_up += games.range.count;
                        });
                    }
                    self.wait_after_refusal(jitter);
                }
            }
            Kind::Report | Kind::GiveBack { .. } => {}
        }
    }

    /// Games given up may be granted again at once: this prevents an endless loop.
    fn wait_after_refusal(&mut self, jitter: Jitter) {
        self.refused_until = Some(Time(self.now.0 + jitter.longer(REFUSED_RETRY_AFTER_MS)));
    }

    fn lane(&mut self, kind: Kind) -> Option<&mut Lane> {
        match kind {
            Kind::Hello => Some(&mut self.hello),
            Kind::Lease => Some(&mut self.lease),
            Kind::Heartbeat => Some(&mut self.heartbeat),
            Kind::Report => Some(&mut self.report),
            Kind::GiveBack { .. } => Some(&mut self.give_back),
            Kind::GetCell(definition) => self.get_cell.get_mut(&definition),
        }
    }

    fn meet(&mut self, session: Session, actions: &mut Vec<Action<R, C>>) {
        let before = self.database.replace(session.database.clone());
        if before.is_some_and(|before| before != session.database) {
            // Held games mean nothing in this database: its ids mean other games.
            let generation = self.generation;
            self.stop(true, |playing| playing.generation == generation, actions);
            self.generation += 1;
            self.leases.clear();
            self.games.clear();
            self.outbox.clear();
            self.forget_unwanted_cells();
            self.idle_until = None;
        }
        self.hellos += 1;
        self.beats.set_interval(session.heartbeat_interval_ms, self.now);
        self.session = Some(session);
    }

    fn granted(&mut self, lease: LeaseId, games: Vec<LeasedGames>) {
        self.idle_until = None;
        self.is_obtaining = false;
        self.leases.hold(lease, games.iter().map(|games| games.range.count).sum());
        if self.is_ending() {
            self.leases.give_up_waiting();
            return;
        }
        for games in games {
            let cell = self.cells.get(games.definition);
            // Without exclusive slots all games are alike.
            let timed = games.timed && self.settings.quiet_slots > 0;
            self.games.add(lease, LeasedGames { timed, ..games }, cell);
        }
    }

    fn idle(
        &mut self,
        retry_after_ms: u64,
        all_done: bool,
        jitter: Jitter,
        actions: &mut Vec<Action<R, C>>,
    ) {
        if all_done && self.settings.exit_when_done && self.leases.is_empty() {
            self.finish(actions);
        }
        let wait_ms = jitter.longer(retry_after_ms.max(RETRY_AFTER_MS_MIN));
        self.idle_until = Some(Time(self.now.0.saturating_add(wait_ms)));
        self.asks_when_empty = !self.leases.is_empty();
    }

    fn drop_leases(&mut self, leases: &[LeaseId], actions: &mut Vec<Action<R, C>>) {
        for &lease in leases {
            if self.leases.get(lease).is_none() {
                continue;
            }
            self.leases.drop(lease);
            self.games.drop(lease);
            let generation = self.generation;
            let is_of_it =
                |playing: &Playing| playing.lease == lease && playing.generation == generation;
            self.stop(true, is_of_it, actions);
        }
        self.forget_unwanted_cells();
    }

    fn acknowledged(&mut self, results: usize) {
        for result in self.outbox.acknowledged(results) {
            self.tally.acknowledged += 1;
            self.tally.failed += u64::from(result.is_failure());
            // A late result's lease may have ended.
            self.leases.change(result.lease(), |held| held.unacknowledged -= 1);
        }
    }

    /// Stops fetching cells that are no longer needed.
    pub(super) fn forget_unwanted_cells(&mut self) {
        let games = &self.games;
        self.get_cell
            .retain(|&definition, lane| lane.is_under_way() || games.is_wanted(definition));
    }

    /// The games being played, and those that a slot may begin without another heartbeat.
    pub(super) fn playing(&self) -> Vec<GameId> {
        let playing = self.slots.iter().flatten();
        let playing = playing.filter(|playing| playing.generation == self.generation);
        playing
            .flat_map(|playing| {
                let Playing { range, number, names_all, .. } = playing;
                let end = if *names_all { range.end() } else { number + 1 };
                (*number..end).map(|number| GameId { cell: range.cell, number })
            })
            .collect()
    }
}
