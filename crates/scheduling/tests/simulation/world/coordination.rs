//! The coordinator: one transaction for what has come, then the replies; and how it is killed.

use spelrum_model::demands::Offer;
use spelrum_model::speed::Speed;
use spelrum_model::{ExperimentState, GameRange, WorkerId};
use spelrum_scheduling::scheduler::{Effect, Event};
use spelrum_scheduling::worker::{Answer, CallId, Caller, Failure, LeasedGames, Session};

use super::{Arrived, BATCH_MAX, HEARTBEAT_MS, Happening, Reply, TURN_MS, World};
use crate::mutants::Mutant;
use crate::scenario::Request;
use crate::store::Settled;
use crate::worker::{Call, Worker, definition, is_timed};

/// Most results in a report.
const RESULTS_MAX: usize = 3;

impl World {
    pub(super) fn arrive(&mut self, arrived: Arrived) {
        if !self.up {
            // Who calls is told so, or hears nothing.
            if let Arrived::Call { call, from, start, .. } = arrived
                && self.dice.chance(500)
            {
                let away = Failure::Away { retry_after_ms: None };
                self.reply((call, from, start, Reply::Not(away)));
            }
            return;
        }
        self.inbox.push_back((self.clock(), arrived));
        if !self.batch_due {
            self.batch_due = true;
            // Now and then the disk is slow.
            let slow = !self.calm && self.dice.chance(5);
            let after = if slow { self.dice.below(40_000) } else { self.dice.below(20) };
            self.after(after, Happening::Batch);
            self.behind_since.get_or_insert(self.now);
            if self.misfortunate(self.scenario.faults.stalled) {
                self.note(|_| "coordinator stands still".into());
                self.stopped_until = self.now + self.dice.below(90_000);
            }
        }
    }

    /// For how long it could hear nobody, as it notices itself.
    fn gap_ms(&mut self) -> u64 {
        let took_ms = self.behind_since.take().map_or(0, |since| self.now - since);
        if took_ms > 2 * TURN_MS { took_ms - TURN_MS } else { 0 }
    }

    /// One transaction for what has come, then the replies (invariant 5).
    pub(super) fn batch(&mut self) {
        self.batch_due = false;
        if !self.up {
            return;
        }
        self.disturb();
        let gap_ms = self.gap_ms();
        self.desk.begin_turn(self.clock(), gap_ms);
        let mut replies = Vec::new();
        let count = self.inbox.len().min(BATCH_MAX);
        for (at, arrived) in self.inbox.drain(..count).collect::<Vec<_>>() {
            match arrived {
                Arrived::Call { call, from, start, id, request }
                    if self.ghost.is_some() && self.mischief.chance(500) =>
                {
                    let reply = self.ask_ghost(from, id, request, at);
                    self.reply((call, from, start, reply));
                }
                Arrived::Call { call, from, start, id, request } => {
                    let reply = self.answer(from, id, request, at);
                    replies.push((call, from, start, reply));
                }
                Arrived::Request(index) => self.carry_out(index, at),
                Arrived::Tick => {
                    self.event(Event::Tick, at);
                }
            }
        }
        self.desk.lead(self.clock());
        let hasty = self.desk.is_mutant(Mutant::RepliesBeforeCommit);
        if hasty {
            replies.drain(..).for_each(|reply| self.reply(reply));
        }
        let faults = self.scenario.faults;
        if self.misfortunate(faults.coordinator_killed) {
            self.kill_coordinator("before its commit");
        } else if self.misfortunate(faults.commit_failed)
            || (self.now < self.full_until && !self.calm)
        {
            self.note(|_| "commit fails".into());
            self.desk.restart(self.clock());
            for (call, to, start, _) in replies {
                let away = Failure::Away { retry_after_ms: Some(500) };
                self.reply((call, to, start, Reply::Not(away)));
            }
        } else if self.mischievous(faults.commit_unsure) {
            // What the disk has taken though it said that it had not is found by the next start.
            self.desk.commit();
            for (call, to, start, _) in replies {
                let away = Failure::Away { retry_after_ms: None };
                self.reply((call, to, start, Reply::Not(away)));
            }
            self.kill_coordinator("by a commit that was said to fail");
        } else {
            self.desk.commit();
            if self.misfortunate(faults.coordinator_killed) {
                self.kill_coordinator("after its commit");
            } else {
                replies.into_iter().for_each(|reply| self.reply(reply));
            }
        }
        if !self.inbox.is_empty() && !self.batch_due {
            self.batch_due = true;
            self.after(1, Happening::Batch);
        }
        self.set_timer();
    }

    /// What may befall the coordinator's disk, clock and file before a batch.
    fn disturb(&mut self) {
        let faults = self.scenario.faults;
        if self.mischievous(faults.disk_full) {
            self.note(|_| "the disk is full".into());
            self.full_until = self.now + self.mischief.below(60_000);
        }
        if self.mischievous(faults.clock_leaps) {
            self.note(|_| "the coordinator's clock leaps".into());
            self.ahead_ms += self.mischief.below(120_000);
        }
        if self.ghost.is_none() && self.mischievous(faults.usurped) {
            self.note(|_| "another coordinator opens the file".into());
            let ghost = self.desk.usurp(self.clock());
            self.ghost = Some((ghost, self.epoch));
            self.epoch += i64::from(self.scenario.epochs);
        }
    }

    /// A call comes to a coordinator that has lost the file. It answers what needs no transaction;
    /// at the first that does, it is refused, and ends.
    fn ask_ghost(&mut self, from: usize, id: WorkerId, request: Call, at: u64) -> Reply {
        let Some((mut ghost, mut epoch)) = self.ghost.take() else {
            return Reply::Not(Failure::Away { retry_after_ms: None });
        };
        self.note(|_| "  asked of a coordinator that has lost the file".into());
        std::mem::swap(&mut self.desk, &mut ghost);
        std::mem::swap(&mut self.epoch, &mut epoch);
        self.desk.begin_turn(at, 0);
        let reply = self.answer(from, id, request, at);
        let writes = self.desk.must_write();
        std::mem::swap(&mut self.desk, &mut ghost);
        std::mem::swap(&mut self.epoch, &mut epoch);
        if !writes {
            self.ghost = Some((ghost, epoch));
        } else if !self.desk.is_mutant(Mutant::RepliesUnfenced) {
            self.note(|_| "  its commit is refused, and it ends".into());
            return Reply::Not(Failure::Away { retry_after_ms: None });
        }
        reply
    }

    pub(super) fn event(&mut self, event: Event, at: u64) -> Vec<Effect> {
        self.events += 1;
        let effects = self.desk.handle(event.clone(), at);
        self.note(|_| format!("  {event:?} -> {effects:?}"));
        effects
    }

    pub(super) fn answer(&mut self, from: usize, id: WorkerId, request: Call, at: u64) -> Reply {
        let caller = match &request {
            Call::Hello | Call::GetCell(_) => None,
            Call::Lease { caller, .. }
            | Call::Heartbeat { caller, .. }
            | Call::Report { caller, .. }
            | Call::GiveBack { caller, .. } => Some(*caller),
        };
        if caller.is_some_and(|caller| caller.epoch != self.epoch) {
            return Reply::Not(Failure::SayHello);
        }
        if !matches!(request, Call::Hello) && self.misfortunate(self.scenario.faults.refused) {
            return self.refuse(&request);
        }
        match request {
            Call::Hello => Reply::Answered(Answer::Hello(Session {
                caller: Caller { worker: id, epoch: self.epoch },
                database: "the only one".into(),
                heartbeat_interval_ms: HEARTBEAT_MS,
                report_results_max: RESULTS_MAX,
            })),
            Call::Lease { speeds, .. } => self.lease(id, from, speeds, at),
            Call::Heartbeat { leases, playing, .. } => {
                match self.event(Event::Heartbeat { worker: id, leases, playing }, at).pop() {
                    Some(Effect::Drop { leases, .. }) => {
                        Reply::Answered(Answer::Drop { leases, is_followed: false })
                    }
                    effect => panic!("{effect:?} is not an answer"),
                }
            }
            Call::GiveBack { leases, .. } => {
                for lease in leases {
                    self.event(Event::GivenBack { worker: id, lease }, at);
                }
                Reply::Answered(Answer::GivenBack)
            }
            Call::Report { results, .. } => {
                let fresh = self.dice.chance(500);
                let mut verdicts = Vec::new();
                for result in results.iter() {
                    self.events += 1;
                    let effects = self.desk.report(id, result, fresh, at);
                    self.note(|_| format!("  {id}: {result:?} -> {effects:?}"));
                    self.look_at_quarantined(&effects);
                    let verdict = effects.iter().rev().find_map(|effect| match effect {
                        Effect::Verdict { verdict, .. } => Some(*verdict),
                        _ => None,
                    });
                    verdicts.push((result.clone(), verdict.expect("a verdict")));
                }
                if self.misfortunate(self.scenario.faults.refused) {
                    // Some are left unanswered.
                    verdicts.truncate(usize::try_from(self.dice.below(3)).unwrap());
                }
                Reply::Verdicts(verdicts)
            }
            Call::GetCell(_) => {
                let keep = self.dice.chance(900);
                Reply::Answered(Answer::Cell { cell: (), keep, game: None })
            }
        }
    }

    fn lease(&mut self, worker: WorkerId, from: usize, speeds: Vec<Speed>, at: u64) -> Reply {
        let Worker { slots, ref offer, trains, .. } = self.workers[from];
        // What a machine can do it knows only once it has measured it.
        let offer = Offer { speeds, ..offer.clone() };
        let (memory_bytes, verifies) = (None, trains);
        let quiet_slots = self.workers[from].quiet_slots();
        let wanted = Event::LeaseWanted {
            worker,
            slots,
            quiet_slots,
            memory_bytes,
            offer,
            trains,
            verifies,
        };
        Reply::Answered(match self.event(wanted, at).pop() {
            Some(Effect::Grant { lease, ranges, lost, .. }) => {
                let leased = |range: GameRange| LeasedGames {
                    range,
                    definition: definition(range.cell),
                    game_timeout: None,
                    name_before_play: lost.contains(&range),
                    timed: is_timed(range.cell) && !self.desk.is_mutant(Mutant::ForgetsTimed),
                    scaling: None,
                };
                Answer::Granted { lease, games: ranges.into_iter().map(leased).collect() }
            }
            Some(Effect::Idle { retry_after_ms, all_done, calibrate, .. }) => {
                Answer::Idle { retry_after_ms, all_done, calibrate, is_obtaining: false }
            }
            effect => panic!("{effect:?} is not an answer"),
        })
    }

    /// Something in here broke, and would again.
    fn refuse(&mut self, request: &Call) -> Reply {
        if let Call::Report { caller, results } = request {
            self.untrue.insert(caller.worker);
            self.refused.extend(results.iter().map(|result| result.game));
        }
        self.note(|_| format!("  refused: {request:?}"));
        Reply::Not(Failure::Refused { problem: "it broke in here".into() })
    }

    /// Carries a client's request out, once. Those for one experiment come in their order: whoever
    /// pauses and resumes waits for the answer in between.
    pub(super) fn carry_out(&mut self, index: usize, at: u64) {
        let requests = &self.scenario.requests;
        let experiment = requests[index].1.experiment();
        let staged = self.desk.staged();
        let done = |index: &usize| staged.requests.contains(index);
        let its_turn = (0..index)
            .filter(|&earlier| requests[earlier].1.experiment() == experiment)
            .all(|earlier| done(&earlier));
        if done(&index) || !its_turn {
            return;
        }
        let is_delete = matches!(requests[index].1, Request::Delete { .. });
        if is_delete && !self.desk.may_be_deleted(experiment) {
            return; // Refused. The client tries again.
        }
        let state = staged.experiments.get(&experiment).map(|experiment| experiment.1);
        self.desk.drain();
        let has_course = self.desk.has_course(experiment);
        let placement = self.scenario.placement(index);
        let staged = self.desk.staged_mut();
        let event = match &requests[index].1 {
            Request::Submit { .. } if state == Some(ExperimentState::Cancelled) => Event::Tick,
            Request::Submit { settings, cells, rule, .. } => {
                if has_course && !staged.experiments.contains_key(&experiment) {
                    staged.begin_course(experiment, cells);
                }
                staged.placements.insert(experiment, placement);
                staged.submit(experiment, *settings, cells, *rule)
            }
            Request::Reopen { one_in, .. }
                if matches!(state, Some(ExperimentState::Running | ExperimentState::Paused)) =>
            {
                staged.reopen(experiment, |game, result| {
                    matches!(result, Settled::Failed(_)) || game.number % one_in == one_in / 2
                })
            }
            Request::Reopen { .. } => Event::Tick,
            Request::Steer { state, .. } => staged.steer(experiment, *state),
            Request::Prioritize { priority, .. } => staged.prioritize(experiment, *priority),
            Request::Exclude { .. } | Request::Readmit { .. } if state.is_none() => Event::Tick,
            Request::Exclude { worker, everywhere, .. } => {
                let (worker, from) = (*worker, (!everywhere).then_some(experiment));
                staged.requests.push(index);
                self.note(|_| format!("  {worker} is excluded from {from:?}"));
                self.desk.exclude(worker, from, at);
                return;
            }
            Request::Readmit { worker, .. } => staged.readmit(*worker),
            Request::Verify { one_in, .. } => staged.verify(experiment, *one_in),
            Request::Delete { .. } => staged.delete(experiment),
        };
        staged.requests.push(index);
        self.note(|_| format!("  {event:?}"));
        self.events += 1;
        self.desk.submitted(event, experiment, at);
    }

    pub(super) fn kill_coordinator(&mut self, when: &str) {
        self.note(|_| format!("coordinator is killed {when}"));
        self.up = false;
        self.behind_since = None;
        self.inbox.clear();
        let back = self.dice.below(60_000);
        self.after(back, Happening::CoordinatorUp);
    }

    pub(super) fn set_timer(&mut self) {
        let Some(deadline) = self.desk.next_deadline() else { return };
        let at = deadline.0.saturating_sub(self.ahead_ms).max(self.now + 1);
        if self.wake_at.is_none_or(|wake_at| at < wake_at) {
            self.wake_at = Some(at);
            self.after(at - self.now, Happening::Wake);
        }
    }

    pub(super) fn reply(&mut self, (call, to, start, reply): (CallId, usize, u32, Reply)) {
        self.send(|| Happening::Replied { call, to, start, reply: reply.clone() });
    }
}
