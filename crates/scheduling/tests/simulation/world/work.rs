//! The workers: their machines decide, their slots play, and they come to grief.

use std::sync::Arc;

use spelrum_model::{GameId, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::{Report, Verdict};
use spelrum_scheduling::stopping::Points;
use spelrum_scheduling::worker::{Action, Answer, CallId, Event};

use super::{HEARTBEAT_MS, Happening, Reply, SICK, World};
use crate::desk::Result;
use crate::engines::draw_offer;
use crate::machines::GAME;
use crate::reference::moves_hash;
use crate::scenario::Nature;
use crate::worker::{Call, Playing};

/// What no machine calls by: for what a worker says behind its machine's back.
const NO_CALL: CallId = CallId(u64::MAX);

impl World {
    pub(super) fn begin_life(&mut self, machine: usize) {
        let start = self.workers[machine].start;
        let away = self.workers[machine].away_until.saturating_sub(self.now);
        self.after(away + 1, Happening::Stirred { machine, start });
    }

    /// Whether this start of the worker still lives. If it hangs, it comes later.
    pub(super) fn is_there(
        &mut self,
        machine: usize,
        start: u32,
        later: impl FnOnce() -> Happening,
    ) -> bool {
        let worker = &self.workers[machine];
        if worker.start != start {
            return false;
        }
        if worker.away_until > self.now {
            let after = worker.away_until - self.now;
            self.after(after, later());
            return false;
        }
        true
    }

    /// Lets a worker's machine decide, and does what it wants.
    pub(super) fn notify_worker(&mut self, machine: usize, event: Event<Result, ()>) {
        let jitter = u32::try_from(self.dice.below(1 << 32)).unwrap();
        let start = self.workers[machine].start;
        for action in self.workers[machine].handle(event, self.now, jitter) {
            match action {
                Action::Call { call, patience_ms, request } => {
                    self.call(machine, call, patience_ms, request)
                }
                Action::Play { slot, batch } => {
                    let playing = Playing::new(batch, self.next_number(), self.now);
                    let taken = self.workers[machine].playing[slot].replace(playing);
                    assert!(taken.is_none(), "a slot plays one game at a time");
                    self.begin_game(machine, slot);
                }
                Action::Calibrate { game } => {
                    assert_eq!(game, GAME);
                    self.after(500, Happening::Calibrated { machine, start });
                }
                Action::Stop { slot, now } => {
                    if let Some(playing) = self.workers[machine].stop(slot, now) {
                        let after = self.dice.between(1, 30);
                        self.after(after, Happening::Aborted { machine, start, playing });
                    }
                }
                Action::End => {
                    self.note(|world| format!("worker {} ends", world.workers[machine].id));
                    let back = self.now + self.dice.below(20_000);
                    let id = self.next_life(machine);
                    self.workers[machine].start_again(id, back);
                    if self.scenario.sick.contains(&machine) {
                        self.sick.insert(id);
                    }
                    self.begin_life(machine);
                    return;
                }
            }
        }
        let worker = &mut self.workers[machine];
        if let Some(at) = worker.next_deadline().map(|at| at.max(self.now))
            && worker.wake_at.is_none_or(|wake_at| at < wake_at)
        {
            worker.wake_at = Some(at);
            self.after(at - self.now, Happening::Stirred { machine, start });
        }
    }

    /// Its timer has gone off.
    pub(super) fn stir(&mut self, machine: usize) {
        let worker = &mut self.workers[machine];
        worker.wake_at = worker.wake_at.filter(|&wake_at| wake_at > self.now);
        self.notify_worker(machine, Event::TimePassed);
    }

    fn begin_game(&mut self, machine: usize, slot: usize) {
        let worker = &self.workers[machine];
        let Some(now_played) = &worker.playing[slot] else { return };
        let (game, playing, start) = (now_played.game(), now_played.playing, worker.start);
        let (least_ms, most_ms) = self.scenario.takes_ms(game);
        let ms = match self.scenario.nature(game) {
            // Some are over before a heartbeat could name them.
            Nature::Deadly if self.dice.chance(500) => self.dice.below(10),
            Nature::Deadly => self.dice.below(3 * HEARTBEAT_MS),
            _ => self.dice.between(least_ms, most_ms),
        };
        self.after(ms, Happening::Played { machine, start, playing });
    }

    pub(super) fn played(&mut self, machine: usize, playing: u64) {
        let Some(slot) = self.workers[machine].slot_of(playing) else { return };
        let Some(over) = self.workers[machine].playing[slot].clone() else { return };
        if over.is_aborted {
            return;
        }
        let game = over.game();
        let nature = self.scenario.nature(game);
        if nature == Nature::Deadly {
            self.kill_worker(machine, "by its game");
            return;
        }
        let fails = nature == Nature::Failing || (nature == Nature::Flaky && self.dice.chance(500));
        let is_sick = self.scenario.sick.contains(&machine)
            && !self.scenario.trainings.contains(&game.cell)
            && self.sickness.chance(900);
        let report = if is_sick {
            Report::Failed { message: SICK.into() }
        } else if fails {
            Report::Failed { message: "it broke".into() }
        } else if self.mischievous(self.scenario.faults.irregular) {
            Report::Irregular
        } else if self.scenario.trainings.contains(&game.cell) {
            Report::Trained
        } else if self.desk.disk().is_verification(game.cell) {
            Report::Verified
        } else {
            let wall_us = (self.now - over.started) * 1_000;
            let moves_hash = moves_hash(game.cell, game.number);
            Report::Played {
                wall_us,
                points: self.scenario.points(game),
                moves_hash,
                forfeit: None,
            }
        };
        let disturbed = self.mischievous(self.scenario.faults.disturbed);
        let result = Result { disturbed, ..over.result(report) };
        self.notify_worker(machine, Event::Finished { slot, results: vec![result] });
        let (next, now) = (self.next_number(), self.now);
        let Some(over) = &mut self.workers[machine].playing[slot] else { return };
        if over.goes_on(next, now) && !over.is_aborted {
            let number = over.game().number;
            self.notify_worker(machine, Event::Started { slot, number });
            self.begin_game(machine, slot);
        } else {
            self.free(machine, slot);
        }
    }

    /// A game was aborted.
    pub(super) fn aborted(&mut self, machine: usize, playing: u64) {
        if let Some(slot) = self.workers[machine].slot_of(playing) {
            self.free(machine, slot);
        }
    }

    fn free(&mut self, machine: usize, slot: usize) {
        if let Some(playing) = self.workers[machine].playing[slot].take() {
            self.notify_worker(machine, playing.free(slot));
        }
    }

    pub(super) fn replied(&mut self, call: CallId, to: usize, reply: Reply) {
        let answer = match reply {
            Reply::Answered(Answer::Drop { is_followed, .. }) if self.scenario.faults.stubborn => {
                Ok(Answer::Drop { leases: Vec::new(), is_followed })
            }
            Reply::Answered(answer) => Ok(answer),
            Reply::Verdicts(verdicts) => {
                let results = verdicts.len();
                for (result, verdict) in verdicts {
                    self.acknowledge(&result, verdict);
                }
                Ok(Answer::Acknowledged { results })
            }
            Reply::Not(failure) => Err(failure),
        };
        self.notify_worker(to, Event::Answered { call, answer });
    }

    /// Invariant 5: what a worker is told is on disk.
    pub(super) fn acknowledge(&mut self, result: &Result, verdict: Verdict) {
        let disk = self.desk.disk();
        match verdict {
            Verdict::Counts => {
                assert!(disk.has_kept(result.game, result.playing), "invariant 5: {result:?}");
                self.acknowledged.insert(result.playing, result.game);
            }
            Verdict::Again => assert!(disk.has_kept_any(result.game), "invariant 5: {result:?}"),
            Verdict::Disturbed => {
                let mut ever = disk.disturbed_ever.iter();
                assert!(
                    ever.any(|disturbed| (disturbed.0, disturbed.1) == (result.game, result.lease)),
                    "invariant 5: {result:?}"
                );
            }
            Verdict::Noted
            | Verdict::AfterCancel
            | Verdict::Excluded
            | Verdict::Refused
            | Verdict::Rejected => {}
        }
    }

    /// A worker's machine has measured how fast it is, if nothing went wrong.
    pub(super) fn calibrated(&mut self, machine: usize) {
        let is_measured = self.calm || self.dice.chance(900);
        let speed = self.workers[machine].offer.speeds.first().filter(|_| is_measured).cloned();
        self.notify_worker(machine, Event::Calibrated { game: GAME.to_owned(), speed });
    }

    pub(super) fn kill_worker(&mut self, machine: usize, how: &str) {
        self.note(|world| format!("worker {} is killed {how}", world.workers[machine].id));
        let id = self.next_life(machine);
        let back = self.now + self.dice.between(100, if self.calm { 5_000 } else { 60_000 });
        self.workers[machine].start_again(id, back);
        if self.scenario.sick.contains(&machine) {
            self.sick.insert(id);
        }
        if !self.calm && !self.scenario.demands.is_empty() && self.dice.chance(300) {
            // Somebody has changed its engines file.
            self.workers[machine].offer.engines = draw_offer(&mut self.dice).engines;
        }
        self.begin_life(machine);
    }

    /// As whom a worker starts again.
    fn next_life(&mut self, machine: usize) -> WorkerId {
        if self.dice.chance(700) {
            self.last_worker += 1;
            WorkerId(self.last_worker)
        } else {
            self.workers[machine].id
        }
    }

    pub(super) fn misfortune(&mut self, machine: usize) {
        if self.calm {
            return;
        }
        self.after(HEARTBEAT_MS, Happening::Misfortune { machine });
        if self.workers[machine].away_until <= self.now
            && self.mischievous(self.scenario.faults.preempted)
        {
            self.note(|world| format!("worker {} is preempted", world.workers[machine].id));
            let (start, after) = (self.workers[machine].start, self.mischief.below(10_000));
            self.after(after, Happening::Preempted { machine, start });
            self.notify_worker(machine, Event::Finish);
            return;
        }
        if self.workers[machine].away_until > self.now
            || !self.misfortunate(self.scenario.faults.worker)
        {
            return;
        }
        match self.dice.below(5) {
            0 => self.kill_worker(machine, "by chance"),
            1 => {
                self.note(|world| format!("worker {} hangs", world.workers[machine].id));
                self.workers[machine].away_until = self.now + self.dice.below(90_000);
            }
            2 => {
                self.note(|world| format!("worker {} is told to end", world.workers[machine].id));
                let event = if self.dice.chance(500) { Event::Finish } else { Event::EndNow };
                self.notify_worker(machine, event);
            }
            3 => self.notify_worker(machine, Event::Changed),
            _ => self.lie(machine),
        }
    }

    /// A worker names a lease or a game that is none of its own.
    pub(super) fn lie(&mut self, machine: usize) {
        // One of the latest leases, which may well be live, or one that was never given.
        let disk = self.desk.disk();
        // Those of a deleted experiment have no games any more.
        let leases = disk.leases.values().map(|(lease, _)| lease);
        let latest: Vec<_> =
            leases.rev().filter(|lease| !lease.granted.is_empty()).take(8).collect();
        if latest.is_empty() {
            return;
        }
        let none = LeaseId(disk.last_lease().0 + 1);
        let lease = self.dice.pick(&latest);
        let range = self.dice.pick(&lease.granted);
        let lease = if self.dice.chance(100) { none } else { lease.lease };
        let number = range.first + self.dice.below(range.count + 1);
        let game = GameId { cell: range.cell, number };
        let caller = self.workers[machine].caller(self.epoch);
        let call = match self.dice.below(3) {
            0 => {
                self.last_number += 1;
                self.lied_about.insert(game);
                self.untrue.insert(caller.worker);
                let report = match self.dice.below(3) {
                    // The referee tells trainings from games.
                    0 if self.scenario.trainings.contains(&game.cell) => Report::Trained,
                    0 if self.desk.disk().is_verification(game.cell) => Report::Verified,
                    0 => {
                        let points = self.dice.pick(&[Points::Zero, Points::Half, Points::One]);
                        let moves_hash = moves_hash(game.cell, game.number);
                        Report::Played { wall_us: u64::MAX, points, moves_hash, forfeit: None }
                    }
                    1 => Report::Irregular,
                    _ => Report::Failed { message: "a lie".into() },
                };
                let playing = self.last_number;
                let results =
                    Arc::new(vec![Result { lease, game, playing, report, disturbed: false }]);
                Call::Report { caller, results }
            }
            1 => Call::Heartbeat { caller, leases: vec![lease], playing: vec![game] },
            _ => Call::GiveBack { caller, leases: vec![lease] },
        };
        self.note(|world| format!("worker {} lies", world.workers[machine].id));
        self.send_call(machine, NO_CALL, call);
    }
}
