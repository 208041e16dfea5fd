//! Decides on actions: which games a slot gets, and which call is made.

use spelrum_model::speed::ScaledTime;

use super::api::{Action, Batch, Call, CallId, Caller, Outcome, Settings};
use super::games::Taken;
use super::lane::{Lane, Manner};
use super::machine::{Kind, Machine, Playing, UnderWay};
use super::outbox::{BRIMMING, FULL};
use super::phase::Phase;
use super::turns::Waiting;
use crate::scheduler::Time;

/// Most definitions fetched at once.
const FETCHES_MAX: usize = 8;

/// Most leases given back in one call.
const GIVE_BACK_MAX: usize = 4_096;

impl<R: Outcome, C: Clone> Machine<R, C> {
    /// Takes all possible actions. Sends a heartbeat only if asked to: then the games being played are known.
    pub(super) fn decide(&mut self, may_send_heartbeat: bool, actions: &mut Vec<Action<R, C>>) {
        if self.asks_when_empty && self.leases.is_empty() {
            // The coordinator may have waited for these games only, and have no work left now.
            self.asks_when_empty = false;
            self.idle_until = None;
        }
        self.hand_out(actions);
        self.end_when_idle(actions);
        self.advance(actions);
        if self.phase == Phase::Ended {
            return;
        }
        let Some(session) = &self.session else {
            if self.wants_to_call() && self.hello.is_open(self.now) {
                let patience_ms = self.hello.begin(self.now, self.settings.patience_ms);
                self.call(Kind::Hello, patience_ms, Call::Hello, actions);
            }
            return;
        };
        let (caller, results_max) = (session.caller, session.report_results_max);
        self.send_report(caller, results_max, actions);
        self.send_get_cell(actions);
        self.send_give_back(caller, actions);
        self.send_lease_or_heartbeat(caller, may_send_heartbeat, actions);
    }

    /// Starts waiting games on idle slots, or has the machine's speed measured.
    fn hand_out(&mut self, actions: &mut Vec<Action<R, C>>) {
        let are_idle = self.idle_slots.len() == self.slots.len();
        if self.speeds.is_wanted() {
            self.calibrate(are_idle, actions);
            return;
        }
        let waiting = Waiting { timed: self.games.wait(true), untimed: self.games.wait(false) };
        let turn = self.turns.next(waiting, are_idle, self.now);
        while let Some(timed) = turn
            && let Some(&slot) = self.idle_slots.first()
            && (slot as u64) < self.slots_for(timed)
            && self.phase == Phase::Working
            && !self.outbox.has(BRIMMING)
        {
            let scaled = match self.scaled(timed) {
                Ok(scaled) => scaled,
                Err(game) => {
                    // Otherwise the measurement failed, and is retried.
                    if self.speeds.want(game, self.now) {
                        self.calibrate(self.idle_slots.len() == self.slots.len(), actions);
                    }
                    break;
                }
            };
            let slots = self.slots_for(timed);
            let Some(taken) = self.games.take(timed, slots, &self.cells) else { break };
            let Taken { batch, definition, name_before_play } = taken;
            let Batch { lease, cell, range, game_timeout, in_quiet, scaled: _ } = batch;
            let cell = cell.cell;
            let batch = Batch { lease, cell, range, game_timeout, in_quiet, scaled };
            self.idle_slots.remove(&slot);
            self.leases.change(lease, |held| {
                held.waiting -= range.count;
                held.playing += range.count;
            });
            self.slots[slot] = Some(Playing {
                lease,
                generation: self.generation,
                definition,
                range,
                number: range.first,
                unfinished: range.count,
                names_all: name_before_play,
                in_quiet,
            });
            if name_before_play {
                self.withheld.keep(slot, batch);
                self.beats.game_waits(self.now);
            } else {
                self.beats.game_starts(self.cells.game_time(definition), self.now);
                actions.push(Action::Play { slot, batch });
            }
        }
    }

    /// Scaling of the next games' time limits, if any; or the game whose speed must be measured for it.
    fn scaled(&self, timed: bool) -> Result<Option<ScaledTime>, &'static str> {
        let Some((cell, scaling)) = self.games.next_scaled(timed) else { return Ok(None) };
        let Some(game) = cell.game else { return Ok(None) };
        self.speeds.scaled(game, scaling, self.now).map(Some).ok_or(game)
    }

    /// Starts a wanted measurement once no slot plays.
    fn calibrate(&mut self, are_idle: bool, actions: &mut Vec<Action<R, C>>) {
        if self.phase == Phase::Working
            && are_idle
            && let Some(game) = self.speeds.begin()
        {
            actions.push(Action::Calibrate { game });
        }
    }

    /// Number of slots for timed (or untimed) games: the first ones.
    fn slots_for(&self, timed: bool) -> u64 {
        let Settings { slots, quiet_slots, .. } = self.settings;
        u64::from(if timed { quiet_slots.min(slots.get()) } else { slots.get() })
    }

    /// Whether there is a call to make that needs a Hello before it.
    fn wants_to_call(&self) -> bool {
        !self.is_ending()
            || self.outbox.load().results > 0
            || !self.leases.is_empty()
            || !self.leases.giving_back().is_empty()
    }

    fn call(
        &mut self,
        kind: Kind,
        patience_ms: u64,
        request: Call<R>,
        actions: &mut Vec<Action<R, C>>,
    ) {
        self.last_call += 1;
        let call = CallId(self.last_call);
        let under_way = UnderWay { kind, hello: self.hellos, generation: self.generation };
        self.calls.insert(call, under_way);
        actions.push(Action::Call { call, patience_ms, request });
    }

    fn send_report(&mut self, caller: Caller, results_max: usize, actions: &mut Vec<Action<R, C>>) {
        let hurry = self.is_playing_over() || self.is_starving();
        if self.report.is_open(self.now)
            && self.outbox.is_due(results_max, hurry, self.now)
            && let Some(results) = self.outbox.report(results_max, self.now)
        {
            let patience_ms = self.report.begin(self.now, self.settings.patience_ms);
            self.call(Kind::Report, patience_ms, Call::Report { caller, results }, actions);
        }
    }

    /// Whether there are no games here, and the coordinator had none last time: a course may wait for the
    /// unreported results, or leases that hold them may keep other workers waiting.
    fn is_starving(&self) -> bool {
        self.idle_until.is_some_and(|until| until > self.now)
            && self.idle_slots.len() == self.slots.len()
            && self.games.is_empty()
    }

    fn send_get_cell(&mut self, actions: &mut Vec<Action<R, C>>) {
        let places = FETCHES_MAX.saturating_sub(self.get_cell.len());
        let new = self.games.wanted().filter(|definition| !self.get_cell.contains_key(definition));
        let new: Vec<_> = new.take(places).collect();
        for definition in new {
            self.get_cell.insert(definition, Lane::new(Manner::Patient));
        }
        let fetched: Vec<_> = self.get_cell.keys().copied().collect();
        for definition in fetched {
            if !self.games.is_wanted(definition) {
                continue;
            }
            let Some(lane) = self.get_cell.get_mut(&definition) else { continue };
            if lane.is_open(self.now) {
                let patience_ms = lane.begin(self.now, self.settings.patience_ms);
                self.call(
                    Kind::GetCell(definition),
                    patience_ms,
                    Call::GetCell(definition),
                    actions,
                );
            }
        }
    }

    fn send_give_back(&mut self, caller: Caller, actions: &mut Vec<Action<R, C>>) {
        let leases = self.leases.giving_back();
        let leases: Vec<_> = leases.iter().copied().take(GIVE_BACK_MAX).collect();
        if !leases.is_empty() && self.give_back.is_open(self.now) {
            let patience_ms = self.give_back.begin(self.now, self.settings.patience_ms);
            let kind = Kind::GiveBack { leases: leases.len() };
            self.call(kind, patience_ms, Call::GiveBack { caller, leases }, actions);
        }
    }

    /// Only one of the two at a time: a heartbeat must not miss a lease whose grant is still travelling
    /// (docs/protocol.md).
    fn send_lease_or_heartbeat(
        &mut self,
        caller: Caller,
        may_send_heartbeat: bool,
        actions: &mut Vec<Action<R, C>>,
    ) {
        if self.lease.is_under_way() || self.heartbeat.is_under_way() {
            return;
        }
        let beats = may_send_heartbeat
            && self.heartbeat.is_open(self.now)
            && self.beats.due_at().is_some_and(|at| at <= self.now);
        let wants_lease = self.wants_lease();
        let patience_ms = self.settings.patience_ms;
        if beats && !(wants_lease && self.lease_is_next) {
            let patience_ms = self.heartbeat.begin(self.now, patience_ms);
            self.beats.sent(self.now);
            self.withheld.named();
            self.lease_is_next = true;
            let (leases, playing) = (self.leases(), self.playing());
            let request = Call::Heartbeat { caller, leases, playing };
            self.call(Kind::Heartbeat, patience_ms, request, actions);
        } else if wants_lease {
            let patience_ms = self.lease.begin(self.now, patience_ms);
            self.lease_is_next = false;
            let speeds = self.speeds.reported(self.now);
            self.call(Kind::Lease, patience_ms, Call::Lease { caller, speeds }, actions);
        }
    }

    /// Whether to request games.
    fn wants_lease(&self) -> bool {
        let is_over = |wait: Option<Time>| wait.is_none_or(|until| until <= self.now);
        self.phase == Phase::Working
            && self.lease.is_open(self.now)
            && is_over(self.idle_until)
            && is_over(self.refused_until)
            && !self.outbox.has(FULL)
            // Granted games would lie idle until the measurement is done.
            && !self.speeds.is_wanted()
            && self.games.are_few([self.slots_for(false), self.slots_for(true)], &self.cells)
    }

    /// When to send [`Event::TimePassed`](super::Event::TimePassed), unless another event comes before: at
    /// once, if it is not after the latest event. `None` if time changes nothing.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        if self.phase == Phase::Ended {
            return None;
        }
        let lanes = [&self.hello, &self.lease, &self.heartbeat, &self.report, &self.give_back];
        let lanes = lanes.into_iter().chain(self.get_cell.values());
        let deadlines = [
            self.idle_until,
            self.refused_until,
            self.idle_ends_at(),
            self.ends_at(),
            self.outbox.due_at(),
        ];
        // Actions due at the latest event were taken, or wait for something other than time.
        let later = lanes
            .filter_map(Lane::opens_at)
            .chain(deadlines.into_iter().flatten())
            .chain(self.speeds.retry_at())
            .chain(self.beats.due_at())
            .filter(|&at| at > self.now)
            .min();
        let owed = self.beats.due_at().filter(|_| self.may_owe_heartbeat && !self.is_alone_busy());
        match (later, owed) {
            (Some(later), Some(owed)) => Some(later.min(owed)),
            (later, owed) => later.or(owed),
        }
    }

    /// Whether no heartbeat can be sent before an answer comes, or a wait is over.
    fn is_alone_busy(&self) -> bool {
        self.session.is_none()
            || self.lease.is_under_way()
            || self.heartbeat.is_under_way()
            || !self.heartbeat.is_open(self.now)
    }
}
