//! Everything together: one coordinator, its clients and workers, and a network between them,
//! in simulated time.

mod coordination;
mod work;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use spelrum_model::{ExperimentId, ExperimentState, GameId, SchedulingSettings, WorkerId};
use spelrum_scheduling::scheduler::{CellState, Effect, Tasks, Verdict};
use spelrum_scheduling::worker::{Answer, CallId, Event, Failure};

use crate::course::{Toy, assert_undisturbed};
use crate::desk::{Desk, Result};
use crate::dice::Dice;
use crate::engines::{everything, has_all};
use crate::mutants::Mutant;
use crate::reference::Ends;
use crate::scenario::{Nature, Request, Scenario};
use crate::store::Settled;
use crate::worker::{Call, REFUSED, Worker};

/// How often a worker says that it lives.
const HEARTBEAT_MS: u64 = 5_000;
/// How long a turn of the coordinator may take.
const TURN_MS: u64 = 2_500;
/// Requests that the coordinator takes into one transaction.
const BATCH_MAX: usize = 8;
/// What everything must be finished in once the faults are off: a deadly game takes ten leases
/// one after another, each with the time until it expires.
const CALM_MS_MAX: u64 = 4 * 3_600_000;
const STEPS_MAX: usize = 400_000;
/// What a sick worker says of a game that fails at it.
const SICK: &str = "it is sick";

/// How often somebody looks whether anything is left that a machine can play.
const LOOK_MS: u64 = 10_000;

/// The readable course of a simulation, if anybody wants it.
pub(crate) type Trace = Option<Rc<RefCell<Vec<String>>>>;

/// What happens at a moment.
#[derive(Clone, Debug)]
enum Happening {
    /// A worker's call reaches the coordinator.
    Called { call: CallId, from: usize, start: u32, id: WorkerId, request: Call },
    /// A client's request does. It is made again until it was carried out.
    Requested(usize),
    /// The coordinator works through what has come.
    Batch,
    /// The coordinator's timer.
    Wake,
    /// The coordinator starts again.
    CoordinatorUp,
    /// A reply reaches a worker.
    Replied { call: CallId, to: usize, start: u32, reply: Reply },
    /// A worker gives up waiting for one.
    TimedOut { call: CallId, machine: usize, start: u32 },
    /// A game is over.
    Played { machine: usize, start: u32, playing: u64 },
    /// A game that nobody wants any more is over.
    Aborted { machine: usize, start: u32, playing: u64 },
    /// A worker has measured its speed, or has not been able to.
    Calibrated { machine: usize, start: u32 },
    /// A worker's timer goes off.
    Stirred { machine: usize, start: u32 },
    /// Something may befall a worker.
    Misfortune { machine: usize },
    /// A worker's machine is taken away.
    Preempted { machine: usize, start: u32 },
    /// From here on nothing goes wrong any more.
    Calm,
    /// Is all done that the machines can do? Then one comes that can do the rest.
    Look,
}

/// What the coordinator answers.
#[derive(Clone, Debug)]
enum Reply {
    Answered(Answer<()>),
    /// To a report: what became of its results, or of the first of them.
    Verdicts(Vec<(Result, Verdict)>),
    Not(Failure),
}

/// What waits at the coordinator.
#[derive(Clone, Debug)]
enum Arrived {
    Call { call: CallId, from: usize, start: u32, id: WorkerId, request: Call },
    Request(usize),
    Tick,
}

/// The world of one seed.
pub(crate) struct World {
    scenario: Scenario,
    dice: Dice,
    /// For the faults of [`Scenario::draw_mischief`].
    mischief: Dice,
    /// For whether a game fails at a sick worker.
    sickness: Dice,
    trace: Trace,
    now: u64,
    /// By how much the coordinator's clock is ahead.
    ahead_ms: u64,
    /// Until when the disk is full.
    full_until: u64,
    sequence: u64,
    agenda: BTreeMap<(u64, u64), Happening>,
    desk: Desk,
    /// A coordinator that has lost the file to another and has not noticed, and its epoch.
    ghost: Option<(Desk, i64)>,
    /// Whether the coordinator runs.
    up: bool,
    /// Which run of it this is, as far as it tells.
    epoch: i64,
    inbox: VecDeque<(u64, Arrived)>,
    batch_due: bool,
    /// Until when the coordinator stands still.
    stopped_until: u64,
    /// Since when it has not worked through what came, if it should have.
    behind_since: Option<u64>,
    wake_at: Option<u64>,
    workers: Vec<Worker>,
    last_worker: i64,
    last_number: u64,
    calm: bool,
    /// When everything must be finished that can be.
    finished_by: u64,
    /// Playings that were acknowledged as counted.
    acknowledged: BTreeMap<u64, GameId>,
    lied_about: BTreeSet<GameId>,
    /// Games of which a report was refused.
    refused: BTreeSet<GameId>,
    /// Who was sick, and who may have said of a game that it failed though it need not.
    sick: BTreeSet<WorkerId>,
    untrue: BTreeSet<WorkerId>,
    /// How often a worker was quarantined.
    pub(crate) quarantined: usize,
    /// How many events the scheduler handled.
    pub(crate) events: usize,
    /// How many cells their stop rule ended.
    pub(crate) stopped: usize,
    /// Whether games were left for a machine that came with what they ask for.
    pub(crate) waited: bool,
    /// How many experiments their course brought to an end.
    pub(crate) led: usize,
    /// How many verifications have a verdict, or were given up.
    pub(crate) verified: usize,
}

impl World {
    /// Sets the stage.
    pub(crate) fn new(seed: u64, mutant: Option<Mutant>, trace: Trace) -> Self {
        let mut dice = Dice::new(seed);
        let scenario = Scenario::draw(&mut dice);
        Self::from_scenario(scenario, dice, mutant, trace)
    }

    /// One in which only the coordinator stands still now and then.
    pub(crate) fn with_stalls(seed: u64, mutant: Option<Mutant>) -> Self {
        let mut dice = Dice::new(seed);
        let scenario = Scenario::draw_with_stalls(&mut dice);
        Self::from_scenario(scenario, dice, mutant, None)
    }

    /// One of 256 slots and cells with stop rules.
    pub(crate) fn with_many_slots(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let scenario = Scenario::draw_with_many_slots(&mut dice);
        Self::from_scenario(scenario, dice, None, None)
    }

    fn from_scenario(scenario: Scenario, dice: Dice, mutant: Option<Mutant>, trace: Trace) -> Self {
        let workers: Vec<_> = (1..)
            .zip(scenario.workers.iter().zip(&scenario.offers))
            .map(|(id, (&slots, offer))| {
                let offer = offer.clone();
                let mut worker = Worker::new(WorkerId(id), slots, offer, scenario.workers_exit);
                worker.trains = !scenario.untrained.contains(&WorkerId(id));
                match mutant {
                    Some(Mutant::TakesAllForQuiet) => worker.mistaking_quiet_slots(slots),
                    Some(Mutant::TakesNoneForQuiet) => worker.mistaking_quiet_slots(0),
                    _ => worker,
                }
            })
            .collect();
        let mut desk = Desk::open(scenario.policy.clone(), scenario.courses.clone(), mutant);
        desk.staged_mut().demands.clone_from(&scenario.demands);
        desk.staged_mut().after.clone_from(&scenario.after);
        desk.staged_mut().trainings.clone_from(&scenario.trainings);
        desk.commit();
        let mut world = Self {
            desk,
            finished_by: scenario.calm_ms + CALM_MS_MAX,
            waited: false,
            ghost: None,
            sickness: Dice::new(scenario.calm_ms.rotate_left(7)),
            mischief: Dice::new(!scenario.calm_ms.rotate_left(29)),
            dice,
            trace,
            now: 0,
            ahead_ms: 0,
            full_until: 0,
            sequence: 0,
            agenda: BTreeMap::new(),
            up: true,
            epoch: 1,
            inbox: VecDeque::new(),
            batch_due: false,
            stopped_until: 0,
            behind_since: None,
            wake_at: None,
            last_worker: i64::try_from(workers.len()).unwrap(),
            workers,
            last_number: 0,
            calm: false,
            acknowledged: BTreeMap::new(),
            lied_about: BTreeSet::new(),
            refused: BTreeSet::new(),
            sick: (1..)
                .zip(0..scenario.workers.len())
                .filter(|(_, machine)| scenario.sick.contains(machine))
                .map(|(id, _)| WorkerId(id))
                .collect(),
            untrue: BTreeSet::new(),
            quarantined: 0,
            events: 0,
            stopped: 0,
            led: 0,
            verified: 0,
            scenario,
        };
        world.note(|world| format!("{:#?}", world.scenario));
        for machine in 0..world.workers.len() {
            world.begin_life(machine);
            let after = world.dice.below(HEARTBEAT_MS);
            world.after(after, Happening::Misfortune { machine });
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
            assert!(at < self.finished_by, "liveness: not finished in time after the faults ended");
        }
        self.check_end();
    }

    fn step(&mut self, happening: Happening) {
        let for_coordinator = matches!(
            happening,
            Happening::Called { .. } | Happening::Requested(_) | Happening::Batch | Happening::Wake
        );
        if for_coordinator && self.now < self.stopped_until {
            self.after(self.stopped_until - self.now, happening);
            return;
        }
        match happening {
            Happening::Called { call, from, start, id, request } => {
                self.arrive(Arrived::Call { call, from, start, id, request });
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
                    self.epoch += i64::from(self.scenario.epochs);
                    if self.scenario.faults.clock_leaps > 0 {
                        self.ahead_ms = self.mischief.below(120_000);
                    }
                    self.desk.restart(self.clock());
                    self.set_timer();
                }
            }
            Happening::Replied { call, to, start, reply } => {
                if self.is_there(to, start, || Happening::Replied {
                    call,
                    to,
                    start,
                    reply: reply.clone(),
                }) {
                    self.replied(call, to, reply);
                }
            }
            Happening::TimedOut { call, machine, start } => {
                if self.is_there(machine, start, || Happening::TimedOut { call, machine, start }) {
                    self.notify_worker(
                        machine,
                        Event::Answered { call, answer: Err(Failure::TimedOut) },
                    );
                }
            }
            Happening::Played { machine, start, playing } => {
                if self.is_there(machine, start, || Happening::Played { machine, start, playing }) {
                    self.played(machine, playing);
                }
            }
            Happening::Aborted { machine, start, playing } => {
                if self.is_there(machine, start, || Happening::Aborted { machine, start, playing })
                {
                    self.aborted(machine, playing);
                }
            }
            Happening::Calibrated { machine, start } => {
                if self.is_there(machine, start, || Happening::Calibrated { machine, start }) {
                    self.calibrated(machine);
                }
            }
            Happening::Stirred { machine, start } => {
                if self.is_there(machine, start, || Happening::Stirred { machine, start }) {
                    self.stir(machine);
                }
            }
            Happening::Misfortune { machine } => self.misfortune(machine),
            Happening::Preempted { machine, start } => {
                if self.is_there(machine, start, || Happening::Preempted { machine, start }) {
                    self.kill_worker(machine, "with its machine");
                }
            }
            Happening::Calm => {
                self.note(|_| "the faults end".into());
                self.calm = true;
                self.scenario.faults.stubborn = false;
                self.stopped_until = self.now;
                self.ghost = None;
                if !self.up {
                    self.step(Happening::CoordinatorUp);
                }
                for worker in &mut self.workers {
                    worker.away_until = worker.away_until.min(self.now + 60_000);
                }
                let verifies =
                    |(_, request): &(u64, Request)| matches!(request, Request::Verify { .. });
                if self.scenario.has_demands() || self.scenario.requests.iter().any(verifies) {
                    self.after(LOOK_MS, Happening::Look);
                }
            }
            Happening::Look => self.look(),
        }
    }

    /// Whether some game has lost an attempt.
    pub(crate) fn has_charged(&self) -> bool {
        !self.desk.disk().attempts.is_empty()
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

    fn call(&mut self, machine: usize, call: CallId, patience_ms: u64, request: Call) {
        self.send_call(machine, call, request);
        let start = self.workers[machine].start;
        self.after(patience_ms, Happening::TimedOut { call, machine, start });
    }

    fn send_call(&mut self, machine: usize, call: CallId, request: Call) {
        let Worker { start, id, .. } = self.workers[machine];
        self.send(|| Happening::Called {
            call,
            from: machine,
            start,
            id,
            request: request.clone(),
        });
    }

    /// A worker that is well is never quarantined: whatever failed at it fails at others too.
    fn look_at_quarantined(&mut self, effects: &[Effect]) {
        // Those fail at one and not at another.
        let flaky =
            self.scenario.natures.values().filter(|nature| **nature == Nature::Flaky).count();
        for effect in effects {
            if let Effect::Quarantined { worker, .. } = effect {
                self.quarantined += 1;
                let may_be = self.sick.contains(worker) || self.untrue.contains(worker);
                assert!(may_be || flaky >= 10, "{worker} is well, and quarantined");
            }
        }
    }

    // The end.

    fn done(&self) -> bool {
        let over = |&(_, state): &(SchedulingSettings, ExperimentState)| {
            matches!(state, ExperimentState::Finished | ExperimentState::Cancelled)
        };
        let disk = self.desk.disk();
        self.calm
            && disk.requests.len() == self.scenario.requests.len()
            && disk.experiments.values().all(over)
    }

    /// What every machine that is there lacks the engines, the labels or the speed for, or nobody else could verify, is all that stays, and it
    /// stays; then a machine comes that can do it all.
    fn look(&mut self) {
        let disk = self.desk.disk();
        let is_live = disk.leases.values().any(|(_, end)| end.is_none());
        let is_left = |(experiment, cell): &&(ExperimentId, CellState)| {
            let end = cell.stop_number.unwrap_or(cell.games);
            let is_open = |number| !disk.games.contains_key(&GameId { cell: cell.cell, number });
            let state = disk.experiments[experiment].1;
            state == ExperimentState::Running && cell.in_sweep && (0..end).any(is_open)
        };
        let mut left = disk.cells.values().filter(is_left);
        let can = |worker: &Worker, experiment: ExperimentId, cell: &CellState| {
            let has_all = cell.demands.as_ref().is_none_or(|all| has_all(all, &worker.offer));
            let may_verify = disk.verified.get(&cell.cell).is_none_or(|&player| {
                let excluded =
                    [None, Some(experiment)].map(|from| disk.excluded.contains(&(worker.id, from)));
                worker.trains && worker.id != player && excluded == [false; 2]
            });
            let may_train = cell.tasks != Tasks::Trainings || worker.trains;
            let mut after = cell.after.iter().flat_map(|after| after.iter());
            let waits = after.any(|id| disk.cells.get(id).is_some_and(|cell| is_left(&cell)));
            has_all && may_verify && may_train && !waits
        };
        let nobody_can = |&(experiment, ref cell): &(ExperimentId, CellState)| {
            !self.workers.iter().any(|worker| can(worker, experiment, cell))
        };
        let is_stuck = left.next().is_some_and(|first| nobody_can(first) && left.all(nobody_can));
        self.after(LOOK_MS, Happening::Look);
        if is_live || !is_stuck || !self.is_all_asked() {
            return;
        }
        self.note(|_| "a machine comes that can do what is left".into());
        self.waited = true;
        self.finished_by = self.now + CALM_MS_MAX;
        self.last_worker += 1;
        let id = WorkerId(self.last_worker);
        self.workers.push(Worker::new(id, 2, everything(), self.scenario.workers_exit));
        self.begin_life(self.workers.len() - 1);
    }

    /// Whether nothing more will be asked for while what there is stays as it is: an experiment that runs is not
    /// deleted, and what comes after that waits for it.
    fn is_all_asked(&self) -> bool {
        let mut waiting = BTreeSet::new();
        (0..).zip(&self.scenario.requests).all(|(index, (_, request))| {
            let is_done = self.desk.disk().requests.contains(&index);
            let waits = matches!(request, Request::Delete { .. });
            is_done
                || waiting.contains(&request.experiment())
                || (waits && waiting.insert(request.experiment()))
        })
    }

    /// Exactly the planned games are settled, each as its nature wants.
    fn check_end(&mut self) {
        let disk = self.desk.disk();
        for (&experiment, &(_, state)) in &disk.experiments {
            if state != ExperimentState::Finished {
                continue;
            }
            let (mut planned, rule) = self.scenario.planned(experiment);
            for stored in disk.courses.get(&experiment).into_iter().flatten() {
                planned.extend(stored.added.as_ref().map(|(_, new)| (stored.cell, new.games)));
            }
            if let Some(cells) = disk.courses.get(&experiment) {
                let added = cells.iter().filter(|cell| cell.added.is_some()).count() as u64;
                assert_eq!(added, self.scenario.courses[&experiment], "cells of {experiment}");
                assert_undisturbed(Toy::new(added), cells);
                self.led += 1;
            }
            for (_, cell) in disk.cells.values().filter(|cell| cell.0 == experiment) {
                let id = cell.cell;
                if disk.is_verification(id) {
                    let settled_count = disk.games.keys().filter(|game| game.cell == id).count();
                    assert_eq!(settled_count, 1, "{id} has no verdict");
                    self.verified += 1;
                    continue;
                }
                assert_eq!(cell.in_sweep, planned.contains_key(&id), "cell {id} in the sweep");
                let numbers = disk.games.keys().filter(|game| game.cell == id);
                let settled = numbers.clone().count() as u64;
                if let Some(&games) = planned.get(&id) {
                    // A cell that was made smaller ends with what was leased before.
                    assert!(cell.games == games || cell.games == cell.next_number, "cell {id}");
                    let settled_game = |number| disk.settled_game(GameId { cell: id, number });
                    let settled_games: Vec<_> = (0..cell.games).map(settled_game).collect();
                    let (decided_number, stop_number) = Ends::new(id, rule).decide(&settled_games);
                    assert_eq!(cell.stop_number, stop_number, "invariant 7: cell {id}");
                    assert_eq!(cell.decided_number, decided_number, "invariant 7: cell {id}");
                    // What lies beyond a stop may be settled or not, and does not count.
                    let end = usize::try_from(stop_number.unwrap_or(cell.games)).unwrap();
                    assert!(settled_games[..end].iter().all(Option::is_some), "games of cell {id}");
                    assert!(stop_number.is_some() || settled == cell.games, "games of cell {id}");
                    self.stopped += usize::from(stop_number.is_some());
                }
                assert!(numbers.clone().all(|game| game.number < cell.games), "games of cell {id}");
            }
        }
        for (&game, result) in &disk.games {
            if let Settled::Played(_, points) = result
                && !disk.is_verification(game.cell)
            {
                let lied = self.lied_about.contains(&game);
                assert!(lied || *points == self.scenario.points(game), "{game:?}: {result:?}");
            }
            let hopeless = disk.attempts.get(&game).is_some_and(|a| a.lost_alone >= 10);
            match (self.scenario.nature(game), result) {
                (Nature::Innocent | Nature::Flaky, Settled::Played(..)) => {}
                (Nature::Failing | Nature::Flaky, Settled::Failed(message)) => {
                    let is_known_message = message == "it broke" || message == SICK;
                    let refused = message == REFUSED && self.refused.contains(&game);
                    let lied = self.lied_about.contains(&game);
                    assert!(is_known_message || refused || lied || hopeless, "{game:?}: {message}");
                }
                // It may come to no other in time.
                (_, Settled::Failed(message)) if message == SICK => {}
                (_, Settled::Failed(_)) if hopeless => {}
                (_, Settled::Failed(message))
                    if message == REFUSED && self.refused.contains(&game) => {}
                // Who holds a game may lie about it.
                _ if self.lied_about.contains(&game) => {}
                (nature, result) => panic!("{game:?} is {nature:?}, and yet {result:?}"),
            }
        }
        for (playing, game) in &self.acknowledged {
            assert!(disk.has_kept(*game, *playing), "invariant 5: {game:?}");
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

    /// A fault of [`Scenario::draw_mischief`]. Those that cannot happen draw nothing.
    fn mischievous(&mut self, per_mille: u64) -> bool {
        !self.calm && per_mille > 0 && self.mischief.chance(per_mille)
    }

    /// What the coordinator's clock says.
    const fn clock(&self) -> u64 {
        self.now + self.ahead_ms
    }

    fn note(&self, describe: impl FnOnce(&Self) -> String) {
        if let Some(trace) = &self.trace {
            trace.borrow_mut().push(format!("{:>9} ms  {}", self.now, describe(self)));
        }
    }
}
