//! The workers: they play, report, ask for more, and come to grief.

use spelrum_tournament::scheduler::{Report, Verdict};
use spelrum_tournament::{GameId, LeaseId, WorkerId};

use super::{HEARTBEAT_MS, Happening, Reply, World};
use crate::desk::Result;
use crate::scenario::Nature;
use crate::store::games;
use crate::worker::{Call, Playing};

impl World {
    pub(super) fn begin_life(&mut self, of: usize) {
        let start = self.workers[of].start;
        let away = self.workers[of].away_until.saturating_sub(self.now);
        self.after(away + 1, Happening::Stirred { of, start });
        let beat = self.dice.below(HEARTBEAT_MS);
        self.after(away + 1 + beat, Happening::Beat { of, start });
    }

    /// Whether this start of the worker still lives. If it hangs, it comes later.
    pub(super) fn is_there(
        &mut self,
        of: usize,
        start: u32,
        later: impl FnOnce() -> Happening,
    ) -> bool {
        let worker = &self.workers[of];
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

    /// A worker does what it can: plays, reports, asks for more.
    pub(super) fn stir(&mut self, of: usize) {
        while let Some((lease, game)) = self.workers[of].next_game() {
            let playing = self.next_number();
            let started = self.now;
            self.workers[of].playing.push(Playing { lease, game, playing, started });
            let usual_ms = self.scenario.game_ms[&game.cell];
            let ms = match self.scenario.nature(game) {
                // Long enough to be reported as started.
                Nature::Deadly => self.dice.between(2 * HEARTBEAT_MS, 3 * HEARTBEAT_MS),
                _ => self.dice.between(usual_ms / 2, 2 * usual_ms),
            };
            let start = self.workers[of].start;
            self.after(ms, Happening::Played { of, start, playing });
        }
        if let Some(call) = self.workers[of].report() {
            self.workers[of].reporting = Some(self.call(of, call));
        }
        if self.workers[of].wants_games(self.now) {
            let slots = self.workers[of].slots;
            self.workers[of].asking = Some(self.call(of, Call::Lease { slots }));
        }
    }

    pub(super) fn played(&mut self, of: usize, playing: u64) {
        let games = &mut self.workers[of].playing;
        let Some(index) = games.iter().position(|p| p.playing == playing) else { return };
        let Playing { lease, game, started, .. } = games.remove(index);
        let nature = self.scenario.nature(game);
        if nature == Nature::Deadly {
            self.kill_worker(of, "by its game");
            return;
        }
        let fails = nature == Nature::Failing || (nature == Nature::Flaky && self.dice.chance(500));
        let what = if fails {
            Report::Failed { message: "it broke".into() }
        } else {
            Report::Played { wall_us: (self.now - started) * 1_000 }
        };
        self.workers[of].results.push_back(Result { lease, game, playing, what });
    }

    pub(super) fn replied(&mut self, call: u64, to: usize, what: Reply) {
        let stubborn = self.scenario.faults.stubborn;
        let worker = &mut self.workers[to];
        match what {
            Reply::Granted { lease, ranges } => {
                // A late reply to a call that was given up is nobody's: the lease will expire.
                if worker.asking == Some(call) {
                    worker.asking = None;
                    worker.leases.insert(lease, ranges.iter().flat_map(games).collect());
                }
            }
            Reply::Idle { retry_after_ms } => {
                if worker.asking == Some(call) {
                    worker.asking = None;
                    self.ask_later(to, retry_after_ms);
                }
            }
            Reply::Dropped(leases) => {
                if !stubborn {
                    leases.iter().for_each(|&lease| worker.drop_lease(lease));
                }
            }
            Reply::Verdicts(verdicts) => {
                if worker.reporting == Some(call) {
                    worker.reporting = None;
                }
                for (result, verdict) in verdicts {
                    self.workers[to].results.retain(|r| r.playing != result.playing);
                    self.acknowledge(&result, verdict);
                }
            }
            Reply::GivenBack => {}
            Reply::Unavailable => {
                if worker.asking == Some(call) {
                    worker.asking = None;
                    self.ask_later(to, 500);
                } else if worker.reporting == Some(call) {
                    worker.reporting = None;
                }
            }
        }
    }

    pub(super) fn ask_later(&mut self, of: usize, after: u64) {
        let start = self.workers[of].start;
        self.workers[of].ask_at = self.now + after;
        self.after(after, Happening::Stirred { of, start });
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
            Verdict::Noted | Verdict::AfterCancel | Verdict::Rejected => {}
        }
    }

    pub(super) fn kill_worker(&mut self, of: usize, how: &str) {
        self.note(|world| format!("worker {} is killed {how}", world.workers[of].id));
        let id = if self.dice.chance(700) {
            self.last_worker += 1;
            WorkerId(self.last_worker)
        } else {
            self.workers[of].id
        };
        let back = self.now + self.dice.between(100, if self.calm { 5_000 } else { 60_000 });
        self.workers[of].kill(id, back);
        self.begin_life(of);
    }

    pub(super) fn misfortune(&mut self, of: usize) {
        if self.calm {
            return;
        }
        self.after(HEARTBEAT_MS, Happening::Misfortune { of });
        if self.workers[of].away_until > self.now || !self.misfortunate(self.scenario.faults.worker)
        {
            return;
        }
        match self.dice.below(4) {
            0 => self.kill_worker(of, "by chance"),
            1 => {
                self.note(|world| format!("worker {} hangs", world.workers[of].id));
                self.workers[of].away_until = self.now + self.dice.below(90_000);
            }
            2 => {
                self.note(|world| format!("worker {} leaves", world.workers[of].id));
                let calls = self.workers[of].leave();
                for call in calls {
                    self.call(of, call);
                }
                let back = self.dice.below(20_000);
                self.ask_later(of, back);
            }
            _ => self.lie(of),
        }
    }

    /// A worker names a lease or a game that is none of its own.
    pub(super) fn lie(&mut self, of: usize) {
        // One of the latest leases, which may well be live, or one that was never given.
        let disk = self.desk.disk();
        // Those of a deleted experiment have no games any more.
        let leases = disk.leases.values().map(|(lease, _)| lease);
        let latest: Vec<_> = leases.rev().filter(|it| !it.granted.is_empty()).take(8).collect();
        if latest.is_empty() {
            return;
        }
        let none = LeaseId(disk.last_lease().0 + 1);
        let lease = self.dice.pick(&latest);
        let range = self.dice.pick(&lease.granted);
        let lease = if self.dice.chance(100) { none } else { lease.lease };
        let number = range.first + self.dice.below(range.count + 1);
        let game = GameId { cell: range.cell, number };
        let call = match self.dice.below(3) {
            0 => {
                self.last_number += 1;
                self.lied_about.insert(game);
                let what = match self.dice.below(2) {
                    0 => Report::Played { wall_us: u64::MAX },
                    _ => Report::Failed { message: "a lie".into() },
                };
                let playing = self.last_number;
                Call::Report { results: vec![Result { lease, game, playing, what }] }
            }
            1 => Call::Heartbeat { leases: vec![lease], playing: vec![game] },
            _ => Call::GiveBack { lease },
        };
        self.note(|world| format!("worker {} lies", world.workers[of].id));
        self.call(of, call);
    }
}
