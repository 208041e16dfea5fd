//! Everything together: one coordinator, its clients and workers, and a network between them,
//! in simulated time.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use spelrum_tournament::scheduler::{Effect, Event, ExperimentState, Report, Verdict};
use spelrum_tournament::{GameId, GameRange, LeaseId, WorkerId};

use crate::desk::{Desk, Result};
use crate::dice::Dice;
use crate::mutants::Mutant;
use crate::scenario::{Nature, Request, Scenario};
use crate::store::{Settled, games};
use crate::worker::{Call, Playing, Worker};

/// How often a worker says that it lives.
const HEARTBEAT_MS: u64 = 5_000;
/// How long a caller waits for a reply.
const CALL_TIMEOUT_MS: u64 = 10_000;
/// Requests that the coordinator takes into one transaction.
const BATCH_MAX: usize = 8;
/// What everything must be finished in once the faults are off: a deadly game takes ten leases
/// one after another, each with the time until it expires.
const CALM_MS_MAX: u64 = 4 * 3_600_000;
const STEPS_MAX: usize = 400_000;

/// The readable course of a simulation, if anybody wants it.
pub(crate) type Trace = Option<Rc<RefCell<Vec<String>>>>;

/// What happens at a moment.
#[derive(Clone, Debug)]
enum Happening {
    /// A worker's call reaches the coordinator.
    Called { call: u64, from: usize, start: u32, id: WorkerId, what: Call },
    /// A client's request does. It is made again until it was carried out.
    Requested(usize),
    /// The coordinator works through what has come.
    Batch,
    /// The coordinator's timer.
    Wake,
    /// The coordinator starts again.
    CoordinatorUp,
    /// A reply reaches a worker.
    Replied { call: u64, to: usize, start: u32, what: Reply },
    /// A worker gives up waiting for one.
    TimedOut { call: u64, of: usize, start: u32 },
    /// It is time for a heartbeat.
    Beat { of: usize, start: u32 },
    /// A game is over.
    Played { of: usize, start: u32, playing: u64 },
    /// A worker looks what it can do.
    Stirred { of: usize, start: u32 },
    /// Something may befall a worker.
    Misfortune { of: usize },
    /// From here on nothing goes wrong any more.
    Calm,
}

/// What the coordinator answers.
#[derive(Clone, Debug)]
enum Reply {
    Granted { lease: LeaseId, ranges: Vec<GameRange> },
    Idle { retry_after_ms: u64 },
    Dropped(Vec<LeaseId>),
    Verdicts(Vec<(Result, Verdict)>),
    GivenBack,
    Unavailable,
}

/// What waits at the coordinator.
#[derive(Clone, Debug)]
enum Arrived {
    Call { call: u64, from: usize, start: u32, id: WorkerId, what: Call },
    Request(usize),
    Tick,
}

/// The world of one seed.
pub(crate) struct World {
    scenario: Scenario,
    dice: Dice,
    trace: Trace,
    now: u64,
    sequence: u64,
    agenda: BTreeMap<(u64, u64), Happening>,
    desk: Desk,
    /// Whether the coordinator runs.
    up: bool,
    inbox: VecDeque<(u64, Arrived)>,
    batch_due: bool,
    wake_at: Option<u64>,
    workers: Vec<Worker>,
    last_worker: i64,
    last_number: u64,
    calm: bool,
    /// Playings that were acknowledged as counted.
    acknowledged: BTreeMap<u64, GameId>,
    lied_about: BTreeSet<GameId>,
    /// How many events the scheduler handled.
    pub(crate) events: usize,
}

impl World {
    /// Sets the stage.
    pub(crate) fn new(seed: u64, mutant: Option<Mutant>, trace: Trace) -> Self {
        let mut dice = Dice::new(seed);
        let scenario = Scenario::draw(&mut dice);
        let workers: Vec<_> = (1..)
            .zip(&scenario.workers)
            .map(|(id, &slots)| Worker::new(WorkerId(id), slots))
            .collect();
        let mut world = Self {
            desk: Desk::open(scenario.settings.clone(), mutant),
            dice,
            trace,
            now: 0,
            sequence: 0,
            agenda: BTreeMap::new(),
            up: true,
            inbox: VecDeque::new(),
            batch_due: false,
            wake_at: None,
            last_worker: i64::try_from(workers.len()).unwrap(),
            workers,
            last_number: 0,
            calm: false,
            acknowledged: BTreeMap::new(),
            lied_about: BTreeSet::new(),
            events: 0,
            scenario,
        };
        world.note(|world| format!("{:#?}", world.scenario));
        for of in 0..world.workers.len() {
            world.begin_life(of);
            let after = world.dice.below(HEARTBEAT_MS);
            world.after(after, Happening::Misfortune { of });
        }
        for index in 0..world.scenario.requests.len() {
            let at = world.scenario.requests[index].0;
            world.after(at, Happening::Requested(index));
        }
        let calm_ms = world.scenario.calm_ms;
        world.after(calm_ms, Happening::Calm);
        world
    }

    /// Lets everything happen until nothing is left to do, and checks the end.
    pub(crate) fn run(&mut self) {
        let mut steps = 0;
        while !self.done() {
            let ((at, _), happening) = self.agenda.pop_first().expect("liveness: nothing happens");
            self.now = at;
            self.step(happening);
            steps += 1;
            assert!(steps < STEPS_MAX, "liveness: not finished after {steps} steps");
            assert!(
                at < self.scenario.calm_ms + CALM_MS_MAX,
                "liveness: not finished in time after the faults ended"
            );
        }
        self.check_end();
    }

    fn step(&mut self, happening: Happening) {
        match happening {
            Happening::Called { call, from, start, id, what } => {
                self.arrive(Arrived::Call { call, from, start, id, what });
            }
            Happening::Requested(index) => {
                if !self.desk.disk().requests.contains(&index) {
                    self.arrive(Arrived::Request(index));
                    self.after(2_000, Happening::Requested(index));
                }
            }
            Happening::Batch => self.batch(),
            Happening::Wake => {
                self.wake_at = None;
                self.arrive(Arrived::Tick);
            }
            Happening::CoordinatorUp => {
                if !self.up {
                    self.note(|_| "coordinator starts".into());
                    self.up = true;
                    self.desk.restart(self.now);
                    self.set_timer();
                }
            }
            Happening::Replied { call, to, start, what } => {
                if self.is_there(to, start, || Happening::Replied {
                    call,
                    to,
                    start,
                    what: what.clone(),
                }) {
                    self.replied(call, to, what);
                    self.stir(to);
                }
            }
            Happening::TimedOut { call, of, start } => {
                if self.is_there(of, start, || Happening::TimedOut { call, of, start }) {
                    let worker = &mut self.workers[of];
                    worker.asking = worker.asking.filter(|&asking| asking != call);
                    worker.reporting = worker.reporting.filter(|&reporting| reporting != call);
                    self.stir(of);
                }
            }
            Happening::Beat { of, start } => {
                if self.is_there(of, start, || Happening::Beat { of, start }) {
                    let call = self.workers[of].heartbeat();
                    self.call(of, call);
                    self.after(HEARTBEAT_MS, Happening::Beat { of, start });
                }
            }
            Happening::Played { of, start, playing } => {
                if self.is_there(of, start, || Happening::Played { of, start, playing }) {
                    self.played(of, playing);
                    self.stir(of);
                }
            }
            Happening::Stirred { of, start } => {
                if self.is_there(of, start, || Happening::Stirred { of, start }) {
                    self.stir(of);
                }
            }
            Happening::Misfortune { of } => self.misfortune(of),
            Happening::Calm => {
                self.note(|_| "the faults end".into());
                self.calm = true;
                self.scenario.faults.stubborn = false;
                if !self.up {
                    self.step(Happening::CoordinatorUp);
                }
                for worker in &mut self.workers {
                    worker.away_until = worker.away_until.min(self.now + 60_000);
                }
            }
        }
    }

    // The coordinator.

    fn arrive(&mut self, what: Arrived) {
        if !self.up {
            return;
        }
        self.inbox.push_back((self.now, what));
        if !self.batch_due {
            self.batch_due = true;
            // Now and then the disk is slow.
            let slow = !self.calm && self.dice.chance(5);
            let after = if slow { self.dice.below(40_000) } else { self.dice.below(20) };
            self.after(after, Happening::Batch);
        }
    }

    /// One transaction for what has come, then the replies (invariant 5).
    fn batch(&mut self) {
        self.batch_due = false;
        if !self.up {
            return;
        }
        let mut replies = Vec::new();
        let count = self.inbox.len().min(BATCH_MAX);
        for (at, arrived) in self.inbox.drain(..count).collect::<Vec<_>>() {
            match arrived {
                Arrived::Call { call, from, start, id, what } => {
                    let reply = self.answer(id, what, at);
                    replies.push((call, from, start, reply));
                }
                Arrived::Request(index) => self.carry_out(index, at),
                Arrived::Tick => {
                    self.event(Event::Tick, at);
                }
            }
        }
        let hasty = self.desk.is(Mutant::RepliesBeforeCommit);
        if hasty {
            replies.drain(..).for_each(|reply| self.reply(reply));
        }
        let faults = self.scenario.faults;
        if self.misfortunate(faults.coordinator_killed) {
            self.kill_coordinator("before its commit");
        } else if self.misfortunate(faults.commit_failed) {
            self.note(|_| "commit fails".into());
            self.desk.restart(self.now);
            for (call, to, start, _) in replies {
                self.reply((call, to, start, Reply::Unavailable));
            }
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

    fn event(&mut self, event: Event, at: u64) -> Vec<Effect> {
        self.events += 1;
        let effects = self.desk.handle(event.clone(), at);
        self.note(|_| format!("  {event:?} -> {effects:?}"));
        effects
    }

    fn answer(&mut self, id: WorkerId, what: Call, at: u64) -> Reply {
        match what {
            Call::Lease { slots } => {
                match self.event(Event::LeaseWanted { worker: id, slots }, at).pop() {
                    Some(Effect::Grant { lease, ranges, .. }) => Reply::Granted { lease, ranges },
                    Some(Effect::Idle { retry_after_ms, .. }) => Reply::Idle { retry_after_ms },
                    other => panic!("{other:?} is no answer"),
                }
            }
            Call::Heartbeat { leases, playing } => {
                match self.event(Event::Heartbeat { worker: id, leases, playing }, at).pop() {
                    Some(Effect::Drop { leases, .. }) => Reply::Dropped(leases),
                    other => panic!("{other:?} is no answer"),
                }
            }
            Call::GiveBack { lease } => {
                self.event(Event::GivenBack { worker: id, lease }, at);
                Reply::GivenBack
            }
            Call::Report { results } => {
                let fresh = self.dice.chance(500);
                let mut verdicts = Vec::new();
                for result in results {
                    self.events += 1;
                    let effects = self.desk.report(id, &result, fresh, at);
                    self.note(|_| format!("  {id}: {result:?} -> {effects:?}"));
                    let verdict = effects.iter().rev().find_map(|effect| match effect {
                        Effect::Verdict { verdict, .. } => Some(*verdict),
                        _ => None,
                    });
                    verdicts.push((result, verdict.expect("a verdict")));
                }
                Reply::Verdicts(verdicts)
            }
        }
    }

    /// Carries a client's request out, once. Those for one experiment come in their order: whoever
    /// pauses and resumes waits for the answer in between.
    fn carry_out(&mut self, index: usize, at: u64) {
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
        let state = staged.experiments.get(&experiment).map(|experiment| experiment.1);
        let staged = self.desk.staged_mut();
        let event = match &requests[index].1 {
            Request::Submit { .. } if state == Some(ExperimentState::Cancelled) => Event::Tick,
            Request::Submit { priority, cells, .. } => staged.submit(experiment, *priority, cells),
            Request::Steer { state, .. } => staged.steer(experiment, *state),
        };
        staged.requests.push(index);
        self.event(event, at);
    }

    fn kill_coordinator(&mut self, when: &str) {
        self.note(|_| format!("coordinator is killed {when}"));
        self.up = false;
        self.inbox.clear();
        let back = self.dice.below(60_000);
        self.after(back, Happening::CoordinatorUp);
    }

    fn set_timer(&mut self) {
        let Some(deadline) = self.desk.next_deadline() else { return };
        let at = deadline.0.max(self.now + 1);
        if self.wake_at.is_none_or(|wake_at| at < wake_at) {
            self.wake_at = Some(at);
            self.after(at - self.now, Happening::Wake);
        }
    }

    fn reply(&mut self, (call, to, start, what): (u64, usize, u32, Reply)) {
        self.send(|| Happening::Replied { call, to, start, what: what.clone() });
    }

    // The network.

    /// Sends a message, which may be lost, late, or come twice.
    fn send(&mut self, message: impl Fn() -> Happening) {
        let faults = self.scenario.faults;
        let copies = 1 + usize::from(self.misfortunate(faults.repeated));
        for _ in 0..copies {
            if self.misfortunate(faults.lost) {
                self.note(|_| format!("lost: {:?}", message()));
                continue;
            }
            let late = self.misfortunate(faults.delayed);
            let after = if late { self.dice.below(60_000) } else { self.dice.between(1, 30) };
            self.after(after, message());
        }
    }

    fn call(&mut self, of: usize, what: Call) -> u64 {
        let call = self.next_number();
        let Worker { start, id, .. } = self.workers[of];
        self.send(|| Happening::Called { call, from: of, start, id, what: what.clone() });
        self.after(CALL_TIMEOUT_MS, Happening::TimedOut { call, of, start });
        call
    }

    // The workers.

    fn begin_life(&mut self, of: usize) {
        let start = self.workers[of].start;
        let away = self.workers[of].away_until.saturating_sub(self.now);
        self.after(away + 1, Happening::Stirred { of, start });
        let beat = self.dice.below(HEARTBEAT_MS);
        self.after(away + 1 + beat, Happening::Beat { of, start });
    }

    /// Whether this start of the worker still lives. If it hangs, it comes later.
    fn is_there(&mut self, of: usize, start: u32, later: impl FnOnce() -> Happening) -> bool {
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
    fn stir(&mut self, of: usize) {
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

    fn played(&mut self, of: usize, playing: u64) {
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

    fn replied(&mut self, call: u64, to: usize, what: Reply) {
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

    fn ask_later(&mut self, of: usize, after: u64) {
        let start = self.workers[of].start;
        self.workers[of].ask_at = self.now + after;
        self.after(after, Happening::Stirred { of, start });
    }

    /// Invariant 5: what a worker is told is on disk.
    fn acknowledge(&mut self, result: &Result, verdict: Verdict) {
        let stored = self.desk.disk().games.get(&result.game);
        match verdict {
            Verdict::Counts => {
                let counted = Settled::Played(result.playing);
                assert_eq!(stored, Some(&counted), "invariant 5: {result:?}");
                self.acknowledged.insert(result.playing, result.game);
            }
            Verdict::Again => assert!(stored.is_some(), "invariant 5: {result:?}"),
            Verdict::Noted | Verdict::AfterCancel | Verdict::Rejected => {}
        }
    }

    fn kill_worker(&mut self, of: usize, how: &str) {
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

    fn misfortune(&mut self, of: usize) {
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
    fn lie(&mut self, of: usize) {
        // One of the latest leases, which may well be live, or one that was never given.
        let disk = self.desk.disk();
        let latest: Vec<_> = disk.leases.values().rev().take(8).map(|(lease, _)| lease).collect();
        let Some(first) = latest.first() else { return };
        let none = LeaseId(first.lease.0 + 1);
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

    // The end.

    fn done(&self) -> bool {
        let over = |&(_, state): &(i32, ExperimentState)| {
            matches!(state, ExperimentState::Finished | ExperimentState::Cancelled)
        };
        let disk = self.desk.disk();
        self.calm
            && disk.requests.len() == self.scenario.requests.len()
            && disk.experiments.values().all(over)
    }

    /// Exactly the planned games are settled, each as its nature wants.
    fn check_end(&self) {
        let disk = self.desk.disk();
        for (&experiment, &(_, state)) in &disk.experiments {
            for (cell, games) in self.scenario.planned(experiment) {
                let settled = disk.games.keys().filter(|game| game.cell == cell).count() as u64;
                if state == ExperimentState::Finished {
                    assert_eq!(settled, games, "games of cell {cell}");
                }
            }
        }
        for (&game, result) in &disk.games {
            let hopeless = disk.attempts.get(&game).is_some_and(|a| a.lost_alone >= 10);
            match (self.scenario.nature(game), result) {
                (Nature::Innocent | Nature::Flaky, Settled::Played(_)) => {}
                (Nature::Failing | Nature::Flaky, Settled::Failed(message)) => {
                    assert!(message == "it broke" || hopeless, "{game:?}: {message}");
                }
                (_, Settled::Failed(_)) if hopeless => {}
                // Who holds a game may lie about it.
                _ if self.lied_about.contains(&game) => {}
                (nature, result) => panic!("{game:?} is {nature:?}, and yet {result:?}"),
            }
        }
        for (playing, game) in &self.acknowledged {
            assert_eq!(disk.games.get(game), Some(&Settled::Played(*playing)), "invariant 5");
        }
    }

    // Time and chance.

    fn after(&mut self, ms: u64, happening: Happening) {
        self.sequence += 1;
        self.agenda.insert((self.now + ms, self.sequence), happening);
    }

    const fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn misfortunate(&mut self, per_mille: u64) -> bool {
        !self.calm && self.dice.chance(per_mille)
    }

    fn note(&self, what: impl FnOnce(&Self) -> String) {
        if let Some(trace) = &self.trace {
            trace.borrow_mut().push(format!("{:>9} ms  {}", self.now, what(self)));
        }
    }
}
