//! The slow, obvious twin of the scheduler: it writes down where every single game is, follows
//! the same events, and says of each answer whether it was right.
//!
//! What the scheduler must do it predicts; where the scheduler has a choice, which games to lease,
//! it checks the choice against the rules.

mod cell;
mod conduct;
mod grants;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use spelrum_model::demands::Offer;
use spelrum_model::{
    CellId, ExperimentId, ExperimentState, GameId, LeaseId, SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::{
    Attempts, CellState, Changes, Effect, Event, LeaseEnd, LeaseState, Policy, Report, Tasks, Time,
    Verdict,
};
use spelrum_scheduling::stopping::Settled;

use crate::reference::Ends;
use crate::store::Store;
use cell::{Cell, Place};
use conduct::Conduct;

/// How a game may be leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Shared,
    Alone,
    Suspect,
}

#[derive(Clone, Debug)]
struct Lease {
    worker: WorkerId,
    experiment: ExperimentId,
    granted: BTreeSet<GameId>,
    /// Those of them that have left it: with a result, or failed.
    left: BTreeSet<GameId>,
    started: BTreeSet<GameId>,
    suspect: bool,
    deadline: u64,
}

/// The twin.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    policy: Policy,
    now: u64,
    /// When the coordinator last began to work through what had come.
    turn: u64,
    experiments: BTreeMap<ExperimentId, (SchedulingSettings, ExperimentState)>,
    /// Experiments to which cells may be added.
    open: BTreeSet<ExperimentId>,
    cells: BTreeMap<CellId, Rc<Cell>>,
    live: BTreeMap<LeaseId, Rc<Lease>>,
    attempts: BTreeMap<GameId, Attempts>,
    /// Games of lost leases that were not settled since, as far as that must be remembered.
    lost: BTreeSet<GameId>,
    /// Games that ever were in a lost lease.
    ever_lost: BTreeSet<GameId>,
    /// Who is excluded, from an experiment or from all.
    excluded: BTreeSet<(WorkerId, Option<ExperimentId>)>,
    conduct: Conduct,
    last_lease: LeaseId,
    /// Who asks for games.
    asking: WorkerId,
    /// What a slot of the worker that asks for games has; `None` if it does not say.
    slot_bytes: Option<u64>,
    /// And what else the worker has.
    offer: Offer,
    /// Whom it has asked for a speed, and when.
    asked: BTreeMap<WorkerId, u64>,
    /// And whether it may have a training.
    may_train: bool,
    /// Whether the worker that asks may take a verification.
    may_verify: bool,
    granted: Vec<LeaseState>,
    ended: Vec<(LeaseId, LeaseEnd)>,
    attempted: BTreeSet<GameId>,
}

impl Judge {
    /// Of a scheduler with these policy and nothing to do.
    pub(crate) fn new(policy: Policy) -> Self {
        Self {
            policy,
            now: 0,
            turn: 0,
            experiments: BTreeMap::new(),
            open: BTreeSet::new(),
            cells: BTreeMap::new(),
            live: BTreeMap::new(),
            attempts: BTreeMap::new(),
            lost: BTreeSet::new(),
            ever_lost: BTreeSet::new(),
            excluded: BTreeSet::new(),
            conduct: Conduct::default(),
            last_lease: LeaseId(0),
            asking: WorkerId(0),
            slot_bytes: None,
            offer: Offer::default(),
            asked: BTreeMap::new(),
            may_train: false,
            may_verify: false,
            granted: Vec::new(),
            ended: Vec::new(),
            attempted: BTreeSet::new(),
        }
    }

    /// The scheduler was built again: leases get a new duration, what was not durable is gone.
    pub(crate) fn restarted(&mut self, now: u64) {
        self.now = now;
        self.turn = now;
        self.lost.clear();
        self.conduct = Conduct::default();
        self.asked.clear();
        for lease in self.live.values_mut().map(Rc::make_mut) {
            lease.deadline = now + self.policy.lease_duration_ms;
            lease.started.clear();
        }
    }

    /// The coordinator works through what has come. For so long it could not hear anybody: no
    /// lease grows older by that.
    pub(crate) fn turned(&mut self, now: u64, gap_ms: u64) {
        self.turn = now;
        for lease in self.live.values_mut().map(Rc::make_mut) {
            lease.deadline += gap_ms;
        }
    }

    /// When a lease ends that its worker hears of now.
    fn deadline(&self) -> u64 {
        self.now.max(self.turn) + self.policy.lease_duration_ms
    }

    /// Judges the effects of an event.
    pub(crate) fn observe(&mut self, event: &Event, effects: &[Effect], now: Time) {
        self.now = self.now.max(now.0);
        let mut expected = Vec::new();
        self.expire(&mut expected);
        match event {
            Event::Submitted { experiment, settings, open, cells, .. } => {
                let stored = *self
                    .experiments
                    .entry(*experiment)
                    .and_modify(|stored| stored.0 = *settings)
                    .or_insert((*settings, ExperimentState::Running));
                if stored.1 == ExperimentState::Finished {
                    self.experiments.insert(*experiment, (*settings, ExperimentState::Running));
                    let finished = Effect::Finished { experiment: *experiment };
                    expected.retain(|effect| *effect != finished);
                }
                self.take_cells(*experiment, *open, cells);
                self.finish(*experiment, &mut expected);
            }
            Event::Extended { experiment, cells, open } => {
                if self.state(*experiment).is_some_and(|state| !is_over(state)) {
                    self.take_cells(*experiment, *open, cells);
                    self.finish(*experiment, &mut expected);
                }
            }
            Event::Steered { experiment, state } => self.steer(*experiment, *state),
            Event::Prioritized { experiment, priority } => {
                if let Some(stored) = self.experiments.get_mut(experiment)
                    && !is_over(stored.1)
                {
                    stored.0.priority = *priority;
                }
            }
            Event::Removed { experiment } => self.remove(*experiment),
            Event::Reopened { experiment, games, .. } => {
                for &game in games {
                    assert_eq!(self.place(game), Some(Place::Settled), "{game:?} is reopened");
                    self.put(game, Place::Returned);
                    self.attempted.remove(&game);
                }
                let is_open = |cell: &Rc<Cell>| cell.experiment == *experiment && !cell.is_done();
                if self.state(*experiment) == Some(ExperimentState::Finished)
                    && self.cells.values().any(is_open)
                {
                    self.experiments.get_mut(experiment).unwrap().1 = ExperimentState::Running;
                    let finished = Effect::Finished { experiment: *experiment };
                    expected.retain(|effect| *effect != finished);
                }
            }
            Event::Excluded { worker, experiment } => {
                self.excluded.insert((*worker, *experiment));
                self.take_leases(*worker, *experiment, &mut expected);
            }
            // The simulated engines forfeit nothing: `behaviour/forfeits.rs` has those that do.
            Event::Barred { .. } => {}
            Event::Readmitted { worker, engine: _ } => {
                self.excluded.retain(|(excluded, _)| excluded != worker);
                self.conduct.clean(*worker);
            }
            Event::LeaseWanted { worker, slots, memory_bytes, offer, trains, verifies, .. } => {
                let is_training = |lease: &&Lease| {
                    lease.granted.iter().any(|range| {
                        self.cells
                            .get(&range.cell)
                            .is_some_and(|cell| cell.tasks == Tasks::Trainings)
                    })
                };
                let trainings = self.leases_held_by(*worker).filter(is_training).count();
                self.heard(*worker);
                self.asking = *worker;
                self.may_verify = *verifies;
                self.may_train = *trains && trainings < *slots as usize;
                let per_slot = |offered: u64| offered / u64::from(*slots);
                self.slot_bytes = memory_bytes.map(per_slot);
                self.offer = offer.clone();
                let answer = effects.last().expect("an answer");
                match answer {
                    Effect::Grant { worker: to, lease, ranges, lost, duration_ms } => {
                        assert_eq!((to, *duration_ms), (worker, self.policy.lease_duration_ms));
                        self.judge_lost(ranges, lost);
                        self.judge_grant(*worker, *slots, *lease, ranges);
                    }
                    Effect::Idle { worker: to, retry_after_ms, all_done, withheld, calibrate } => {
                        assert_eq!(to, worker);
                        assert!(*retry_after_ms > 0);
                        match calibrate {
                            Some(game) => {
                                assert!(!all_done && withheld.is_none());
                                self.judge_calibration(*worker, *slots, game);
                            }
                            None => {
                                self.judge_idle(*worker, *slots, *all_done, withheld.as_ref());
                            }
                        }
                    }
                    effects => panic!("no answer to a worker that wants games: {effects:?}"),
                }
                expected.push(answer.clone());
            }
            Event::Heartbeat { worker, leases, playing } => {
                self.heard(*worker);
                expected.push(self.heartbeat(*worker, leases, playing));
            }
            Event::GivenBack { worker, lease } => {
                if self.live.get(lease).is_some_and(|l| l.worker == *worker) {
                    let lease = self.end(*lease, LeaseEnd::GivenBack);
                    self.finish(lease.experiment, &mut expected);
                }
            }
            Event::Reported { worker, lease, game, report, settled, leased } => {
                if *settled {
                    assert_eq!(self.place(*game), Some(Place::Settled), "invariant 5: {game:?}");
                }
                self.report(*worker, *lease, *game, report, *leased, &mut expected);
            }
            Event::Tick => {}
        }
        let effects: Vec<_> = effects.iter().map(without_message).collect();
        assert_eq!(effects, expected, "the effects of {event:?} at {}", self.now);
    }

    fn take_cells(&mut self, experiment: ExperimentId, open: bool, cells: &[CellState]) {
        self.open.remove(&experiment);
        self.open.extend(open.then_some(experiment));
        for state in cells {
            let new = Cell {
                experiment,
                in_sweep: true,
                places: Vec::new(),
                settled: Vec::new(),
                ends: Ends { rule: None, round: None },
                decision: (0, None),
                memory_bytes: state.memory_bytes,
                demands: state.demands.clone(),
                after: state.after.iter().flat_map(|after| after.iter().copied()).collect(),
                tasks: state.tasks,
            };
            let cell = self.cells.entry(state.cell).or_insert(Rc::new(new));
            let cell = Rc::make_mut(cell);
            let rule = state.reading.as_ref().and_then(|reading| reading.rule);
            cell.ends = Ends::new(state.cell, rule);
            cell.in_sweep = state.in_sweep;
            cell.demands.clone_from(&state.demands);
            let games = usize::try_from(state.games).unwrap();
            let mut cut = cell.places.iter().skip(games);
            assert!(cut.all(|&place| place == Place::Never), "{} is cut", state.cell);
            cell.places.resize(games, Place::Never);
            cell.settled.resize(games, None);
            cell.decide();
        }
    }

    /// Judges what is to be committed: courses were told of every cell that they could be told of.
    pub(crate) fn committing(&self, store: &Store) {
        for experiment in &store.open {
            let goes_on = self.state(*experiment).is_some_and(|state| !is_over(state));
            let unreported = store.courses[experiment].iter().find(|cell| cell.outcome.is_none());
            let Some(unreported) = unreported.filter(|_| goes_on) else { continue };
            assert!(!self.cells[&unreported.cell].is_done(), "{} is not told", unreported.cell);
        }
    }

    /// Judges what is to be made durable, and then all that is: it must be what the twin knows.
    pub(crate) fn drained(&mut self, changes: &Changes, store: &Store) {
        assert_eq!(changes.granted, std::mem::take(&mut self.granted), "leases granted");
        assert_eq!(changes.ended, std::mem::take(&mut self.ended), "leases ended");
        let attempted = std::mem::take(&mut self.attempted);
        let changed: BTreeSet<_> = changes.attempts.iter().map(|a| a.game).collect();
        assert_eq!(changed, attempted, "attempts that changed");
        self.compare(store);
        let cells = &self.cells;
        let experiments = &self.experiments;
        self.conduct.retain(|game| {
            let experiment = cells.get(&game.cell).map(|cell| cell.experiment);
            let state = experiment.and_then(|experiment| experiments.get(&experiment));
            state.is_some_and(|state| !is_over(state.1))
        });
    }

    fn compare(&self, store: &Store) {
        assert_eq!(store.experiments, self.experiments, "experiments on disk");
        let live = store.leases.iter().filter(|(_, (_, end))| end.is_none()).map(|(id, _)| id);
        assert!(live.eq(self.live.keys()), "live leases on disk");
        assert_eq!(store.excluded, self.excluded, "who is excluded on disk");
        for (&id, cell) in &self.cells {
            let over = self.state(cell.experiment).is_none_or(is_over);
            let stored = &store.cells[&id].1;
            let decision = (stored.decided_number, stored.stop_number);
            assert!(over || decision == cell.decision, "{id} is decided to {decision:?}: {cell:?}");
            let settled = |number| store.games.contains_key(&GameId { cell: id, number });
            for (number, &place) in (0..).zip(&cell.places) {
                let returned = stored
                    .returned
                    .iter()
                    .any(|range| (range.first..range.end()).contains(&number));
                let never = number >= stored.next_number;
                assert_eq!(settled(number), place == Place::Settled, "{id}:{number} is {place:?}");
                if !over {
                    assert_eq!(returned, place == Place::Returned, "{id}:{number} is {place:?}");
                    assert_eq!(never, place == Place::Never, "{id}:{number} is {place:?}");
                }
            }
        }
        for (game, attempts) in &self.attempts {
            assert_eq!(store.attempts.get(game), Some(attempts), "attempts on disk");
        }
    }

    fn expire(&mut self, expected: &mut Vec<Effect>) {
        loop {
            let due = |(id, lease): (&LeaseId, &Rc<Lease>)| (lease.deadline, *id);
            let Some((deadline, id)) = self.live.iter().map(due).min() else { return };
            if deadline > self.now {
                return;
            }
            let lease = self.end(id, LeaseEnd::Expired);
            let lost = lease.granted.difference(&lease.left).copied();
            let lost = lost.filter(|&game| self.place(game) == Some(Place::Returned));
            let lost: Vec<_> = lost.collect();
            self.lost.extend(&lost);
            self.ever_lost.extend(lost);
            for &game in &lease.started {
                let alone = lease.granted.len() == 1;
                self.attempt(game, |a| {
                    a.lost += 1;
                    a.lost_alone += u32::from(alone);
                });
            }
            for &game in &lease.started {
                self.give_up_if_hopeless(game, expected);
            }
            self.finish(lease.experiment, expected);
        }
    }

    fn steer(&mut self, experiment: ExperimentId, state: ExperimentState) {
        if self.state(experiment).is_none_or(is_over) {
            return;
        }
        self.experiments.get_mut(&experiment).unwrap().1 = state;
        if state == ExperimentState::Cancelled {
            let its = |(id, lease): (&LeaseId, &Rc<Lease>)| {
                (lease.experiment == experiment).then_some(*id)
            };
            for id in self.live.iter().filter_map(its).collect::<Vec<_>>() {
                self.end(id, LeaseEnd::Cancelled);
            }
            self.forget_lost(experiment);
        }
    }

    /// Of what is over, nothing but what is durable need be remembered.
    fn forget_lost(&mut self, experiment: ExperimentId) {
        self.lost.retain(|game| self.cells[&game.cell].experiment != experiment);
    }

    fn remove(&mut self, experiment: ExperimentId) {
        self.excluded.retain(|(_, from)| *from != Some(experiment));
        assert!(self.live.values().all(|lease| lease.experiment != experiment), "it has leases");
        self.experiments.remove(&experiment);
        self.open.remove(&experiment);
        self.forget_lost(experiment);
        self.cells.retain(|_, cell| cell.experiment != experiment);
        self.attempts.retain(|game, _| self.cells.contains_key(&game.cell));
        self.attempted.retain(|game| self.cells.contains_key(&game.cell));
    }

    fn heartbeat(&mut self, worker: WorkerId, leases: &[LeaseId], playing: &[GameId]) -> Effect {
        let deadline = self.deadline();
        let mut ended = Vec::new();
        for id in leases {
            match self.live.get_mut(id).map(Rc::make_mut) {
                Some(lease) if lease.worker == worker => {
                    lease.deadline = lease.deadline.max(deadline);
                }
                _ => ended.push(*id),
            }
        }
        for &game in playing {
            if let Some(Place::Leased(id)) = self.place(game) {
                let lease = Rc::make_mut(self.live.get_mut(&id).unwrap());
                if lease.worker == worker {
                    lease.started.insert(game);
                }
            }
        }
        Effect::Drop { worker, leases: ended }
    }

    fn report(
        &mut self,
        worker: WorkerId,
        lease: LeaseId,
        game: GameId,
        report: &Report,
        leased: bool,
        expected: &mut Vec<Effect>,
    ) {
        let place = self.place(game);
        let over = self
            .cells
            .get(&game.cell)
            .and_then(|cell| self.state(cell.experiment))
            .is_some_and(is_over);
        let verdict = match (leased, place, report) {
            (false, _, _) => Verdict::Rejected,
            (true, _, Report::Irregular) => Verdict::Refused,
            (true, _, _) if self.is_excluded_from(worker, game) => Verdict::Excluded,
            (true, Some(Place::Settled), _) => Verdict::Again,
            (true, _, _) if over => Verdict::AfterCancel,
            (true, None | Some(Place::Never), _) => panic!("{game:?} cannot have been leased"),
            (true, Some(_), Report::Played { .. } | Report::Trained | Report::Verified) => {
                Verdict::Counts
            }
            (true, Some(_), Report::Disturbed) => Verdict::Disturbed,
            (true, Some(_), Report::Failed { .. }) => Verdict::Noted,
        };
        expected.push(Effect::Verdict { game, verdict });
        if let (Verdict::Counts, Report::Played { points, moves_hash, .. }) = (verdict, report) {
            let points = if game.number.is_multiple_of(2) { *points } else { points.swapped() };
            self.played(game, worker, expected);
            self.settle(game, Settled::Played(points, *moves_hash), expected);
        }
        if (verdict, report) == (Verdict::Counts, &Report::Verified) {
            self.played(game, worker, expected);
        }
        if verdict == Verdict::Counts && matches!(report, Report::Trained | Report::Verified) {
            self.settle(game, Settled::Failed, expected);
        }
        let held = place == Some(Place::Leased(lease))
            && self.live.get(&lease).is_some_and(|l| l.worker == worker);
        if matches!(verdict, Verdict::Noted | Verdict::Refused | Verdict::Disturbed) && held {
            if verdict == Verdict::Noted {
                self.attempt(game, |a| a.failed += 1);
                self.failed_at(game, worker);
            }
            self.put(game, Place::Returned);
            self.leave(lease, game);
            self.give_up_if_hopeless(game, expected);
            self.finish(self.cells[&game.cell].experiment, expected);
        }
    }

    fn give_up_if_hopeless(&mut self, game: GameId, expected: &mut Vec<Effect>) {
        let hopeless = |a: &Attempts| a.failed >= 3 || a.lost_alone >= 10;
        if self.attempts.get(&game).is_some_and(hopeless) {
            expected.push(Effect::SettleFailed { game, message: String::new() });
            self.settle(game, Settled::Failed, expected);
        }
    }

    fn settle(&mut self, game: GameId, settled: Settled, expected: &mut Vec<Effect>) {
        let place = self.place(game);
        self.put(game, Place::Settled);
        let cell = Rc::make_mut(self.cells.get_mut(&game.cell).unwrap());
        cell.settled[usize::try_from(game.number).unwrap()] = Some(settled);
        cell.decide();
        self.attempts.remove(&game);
        self.lost.remove(&game);
        self.is_settled_now(game);
        if let Some(Place::Leased(lease)) = place {
            self.leave(lease, game);
        }
        self.finish(self.cells[&game.cell].experiment, expected);
    }

    fn finish(&mut self, experiment: ExperimentId, expected: &mut Vec<Effect>) {
        let mut its = self.cells.values().filter(|cell| cell.experiment == experiment);
        let goes_on = self.state(experiment).is_some_and(|state| !is_over(state));
        if goes_on && !self.open.contains(&experiment) && its.all(|cell| cell.is_done()) {
            self.experiments.get_mut(&experiment).unwrap().1 = ExperimentState::Finished;
            self.forget_lost(experiment);
            expected.push(Effect::Finished { experiment });
        }
    }

    fn leave(&mut self, id: LeaseId, game: GameId) {
        let lease = Rc::make_mut(self.live.get_mut(&id).unwrap());
        lease.left.insert(game);
        lease.started.remove(&game);
        if lease.left == lease.granted {
            self.end(id, LeaseEnd::Finished);
        }
    }

    /// Nothing is left of what a worker holds, of one experiment or of all.
    fn take_leases(
        &mut self,
        worker: WorkerId,
        experiment: Option<ExperimentId>,
        expected: &mut Vec<Effect>,
    ) {
        let selected = |(id, lease): (&LeaseId, &Rc<Lease>)| {
            let is_selected = experiment.is_none_or(|experiment| experiment == lease.experiment);
            (lease.worker == worker && is_selected).then_some(*id)
        };
        for id in self.live.iter().filter_map(selected).collect::<Vec<_>>() {
            let lease = self.end(id, LeaseEnd::Cancelled);
            self.finish(lease.experiment, expected);
        }
    }

    fn end(&mut self, id: LeaseId, why: LeaseEnd) -> Rc<Lease> {
        self.ended.push((id, why));
        let lease = self.live.remove(&id).unwrap();
        for &game in &lease.granted {
            if self.place(game) == Some(Place::Leased(id)) {
                self.put(game, Place::Returned);
            }
        }
        lease
    }

    fn is_excluded(&self, worker: WorkerId, experiment: ExperimentId) -> bool {
        [None, Some(experiment)].iter().any(|from| self.excluded.contains(&(worker, *from)))
    }

    /// Whether a worker's result of a game does not count for that.
    fn is_excluded_from(&self, worker: WorkerId, game: GameId) -> bool {
        let experiment = self.cells.get(&game.cell).map(|cell| cell.experiment);
        // Of what is over, only the store knows.
        let experiment =
            experiment.filter(|experiment| !self.state(*experiment).is_none_or(is_over));
        self.excluded.contains(&(worker, None))
            || experiment.is_some_and(|experiment| self.is_excluded(worker, experiment))
    }

    fn attempt(&mut self, game: GameId, change: impl FnOnce(&mut Attempts)) {
        let none = Attempts { game, lost: 0, lost_alone: 0, failed: 0 };
        change(self.attempts.entry(game).or_insert(none));
        self.attempted.insert(game);
    }

    fn leases_held_by(&self, worker: WorkerId) -> impl Iterator<Item = &Lease> {
        self.live.values().map(Rc::as_ref).filter(move |lease| lease.worker == worker)
    }

    fn state(&self, experiment: ExperimentId) -> Option<ExperimentState> {
        self.experiments.get(&experiment).map(|stored| stored.1)
    }

    fn place(&self, game: GameId) -> Option<Place> {
        self.cells.get(&game.cell)?.places.get(usize::try_from(game.number).ok()?).copied()
    }

    fn put(&mut self, game: GameId, place: Place) {
        let number = usize::try_from(game.number).unwrap();
        let cell = Rc::make_mut(self.cells.get_mut(&game.cell).unwrap());
        cell.places[number] = place;
        if cell.settled[number].is_some() && place != Place::Settled {
            cell.settled[number] = None;
            cell.decide();
        }
    }
}

/// Leases that a worker may hold at a time (invariant 9).
const fn leases_max(slots: u32) -> usize {
    2 * slots as usize + 8
}

const fn is_over(state: ExperimentState) -> bool {
    matches!(state, ExperimentState::Finished | ExperimentState::Cancelled)
}

/// The message of a failed game is for people; there must be one.
fn without_message(effect: &Effect) -> Effect {
    match effect {
        Effect::SettleFailed { game, message } => {
            assert!(!message.is_empty(), "no message for {game:?}");
            Effect::SettleFailed { game: *game, message: String::new() }
        }
        unchanged => unchanged.clone(),
    }
}
