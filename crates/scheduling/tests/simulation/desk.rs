//! The coordinator's side without its network: a scheduler, its judge, and what is on disk.

use std::collections::BTreeMap;
use std::rc::Rc;

use spelrum_model::{ExperimentId, ExperimentState, GameId, LeaseId, Plan, WorkerId};
use spelrum_scheduling::course::{LedCourse, Step};
use spelrum_scheduling::scheduler::{Changes, Effect, Event, Policy, Report, Time, Verdict};
use spelrum_scheduling::stopping::Points;

use crate::course::{SEED, Toy};
use crate::judge::Judge;
use crate::mutants::{Mutant, Subject};
use crate::store::{Settled, Store};

/// Owns the scheduler as a coordinator does: events, one transaction for them, then replies.
#[derive(Debug)]
pub(crate) struct Desk {
    policy: Policy,
    mutant: Option<Mutant>,
    subject: Subject,
    judge: Judge,
    /// The open transaction. Shared with what is on disk until it changes something.
    staged: Rc<Store>,
    /// What was committed, and what the judge knew then.
    committed: (Rc<Store>, Judge),
    /// How many cells each course adds.
    courses: BTreeMap<ExperimentId, u64>,
    /// The courses under way.
    led: BTreeMap<ExperimentId, LedCourse>,
    /// Whether the scheduler's changes were stored in the open transaction.
    drained: bool,
}

/// What courses must know of their sweeps.
fn sweep() -> Plan {
    Plan { seed: SEED, ..Plan::default() }
}

/// A result as a worker sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Result {
    pub(crate) lease: LeaseId,
    pub(crate) game: GameId,
    /// Different for each time that a game is played.
    pub(crate) playing: u64,
    pub(crate) report: Report,
    /// Whether its players were disturbed.
    pub(crate) disturbed: bool,
}

/// Of one without courses under way.
impl Clone for Desk {
    fn clone(&self) -> Self {
        assert!(self.led.is_empty(), "courses cannot be cloned");
        Self {
            policy: self.policy.clone(),
            mutant: self.mutant,
            subject: self.subject.clone(),
            judge: self.judge.clone(),
            staged: Rc::clone(&self.staged),
            committed: (Rc::clone(&self.committed.0), self.committed.1.clone()),
            courses: self.courses.clone(),
            led: BTreeMap::new(),
            drained: self.drained,
        }
    }
}

impl Desk {
    /// With an empty disk. `courses` says which experiments have a course, and how many cells it adds.
    pub(crate) fn open(
        policy: Policy,
        courses: BTreeMap<ExperimentId, u64>,
        mutant: Option<Mutant>,
    ) -> Self {
        let judge = Judge::new(policy.clone());
        let staged = Rc::new(Store::default());
        let subject = Subject::restore(staged.snapshot(), policy.clone(), Time(0), mutant);
        let committed = (Rc::clone(&staged), judge.clone());
        let led = BTreeMap::new();
        Self { policy, mutant, subject, judge, staged, committed, courses, led, drained: false }
    }

    /// What is on disk.
    pub(crate) fn disk(&self) -> &Store {
        &self.committed.0
    }

    /// What the open transaction sees.
    pub(crate) fn staged(&self) -> &Store {
        &self.staged
    }

    /// Stores something in the open transaction.
    pub(crate) fn staged_mut(&mut self) -> &mut Store {
        Rc::make_mut(&mut self.staged)
    }

    /// Whether an experiment may be deleted: not while it runs or has live leases.
    pub(crate) fn may_be_deleted(&self, experiment: ExperimentId) -> bool {
        self.staged.experiments[&experiment].1 != ExperimentState::Running
            && !self.subject.holds_leases(experiment)
    }

    /// When a tick is due.
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.subject.next_deadline()
    }

    /// The coordinator works through what has come, after it stood still for so long.
    pub(crate) fn begin_turn(&mut self, now: u64, gap_ms: u64) {
        self.subject.begin_turn(Time(now), gap_ms);
        self.judge.turned(now, gap_ms);
    }

    /// One event that is not a report.
    pub(crate) fn handle(&mut self, event: Event, now: u64) -> Vec<Effect> {
        self.drive(event, None, 0, now)
    }

    /// A report. The facts are read from what is on disk, or from the open transaction: either
    /// must do, unless something was deleted in it or the scheduler's changes were stored: it has then
    /// forgotten what is over.
    pub(crate) fn report(
        &mut self,
        worker: WorkerId,
        result: &Result,
        fresh: bool,
        now: u64,
    ) -> Vec<Effect> {
        let deleted = self.staged.deletions != self.disk().deletions;
        let store = if fresh || deleted || self.drained { &self.staged } else { self.disk() };
        let (settled, leased) = store.facts(worker, result.lease, result.game);
        let Result { lease, game, playing, report, disturbed } = result.clone();
        // As the owner looks it up: with what it has kept in this transaction.
        let report = match report {
            Report::Played { .. } if self.staged.plays_again(lease, game, disturbed) => {
                Report::Disturbed
            }
            unchanged => unchanged,
        };
        let event = Event::Reported { worker, lease, game, report, settled, leased };
        let played = match &event {
            Event::Reported { report: Report::Played { points, .. }, .. } => {
                Some((playing, *points))
            }
            Event::Reported { report: Report::Trained | Report::Verified, .. } => {
                Some((playing, Points::Half))
            }
            _ => None,
        };
        self.drive(event, played, playing, now)
    }

    /// `disturbed_playing` is the one that is kept if it does not count.
    fn drive(
        &mut self,
        event: Event,
        playing: Option<(u64, Points)>,
        disturbed_playing: u64,
        now: u64,
    ) -> Vec<Effect> {
        let effects = self.subject.handle(event.clone(), Time(now));
        self.judge.observe(&event, &effects, Time(now));
        for effect in &effects {
            match effect {
                Effect::Verdict { game, verdict: Verdict::Counts } => {
                    let (playing, points) = playing.expect("a report of a game");
                    self.staged_mut().settle(*game, Settled::Played(playing, points));
                    if let Event::Reported { worker, .. } = &event {
                        self.staged_mut().played_by(*game, *worker);
                    }
                }
                Effect::Verdict { game, verdict: Verdict::Disturbed } => {
                    let Event::Reported { lease, .. } = &event else { panic!("no report") };
                    self.staged_mut().keep_disturbed(*game, *lease, disturbed_playing);
                }
                Effect::SettleFailed { game, message } => {
                    self.staged_mut().settle(*game, Settled::Failed(message.clone()));
                }
                Effect::Finished { experiment } => {
                    let entry = self.staged_mut().experiments.get_mut(experiment).expect("stored");
                    entry.1 = ExperimentState::Finished;
                }
                Effect::Verdict { .. }
                | Effect::Grant { .. }
                | Effect::Idle { .. }
                | Effect::Quarantined { .. }
                | Effect::Barred { .. }
                | Effect::Drop { .. } => {}
            }
        }
        effects
    }

    /// An experiment is submitted; it may have a course.
    pub(crate) fn submitted(&mut self, event: Event, experiment: ExperimentId, now: u64) {
        self.handle(event, now);
        let subject = &self.subject;
        self.led.retain(|&experiment, _| subject.is_open(experiment));
        if let Some(cells) = self.staged.courses.get(&experiment)
            && self.subject.is_open(experiment)
            && !self.led.contains_key(&experiment)
        {
            let cells = cells.iter().map(|cell| cell.cell).collect();
            let course = Box::new(Toy::new(self.courses[&experiment]));
            self.led.insert(experiment, LedCourse::begin(course, &sweep(), cells));
            self.lead_one(experiment, now);
        }
    }

    /// A worker is excluded: what it played of experiments that go on is played again, unless a course has
    /// decided by it.
    pub(crate) fn exclude(&mut self, worker: WorkerId, experiment: Option<ExperimentId>, now: u64) {
        let event = self.staged_mut().exclude(worker, experiment);
        self.handle(event, now);
        let all: Vec<ExperimentId> = self.staged.experiments.keys().copied().collect();
        for id in all.into_iter().filter(|id| experiment.is_none_or(|excluded| excluded == *id)) {
            let goes_on = matches!(
                self.staged.experiments[&id].1,
                ExperimentState::Running | ExperimentState::Paused
            );
            if goes_on && !self.has_course(id) {
                self.drain();
                let players = self.staged.players.clone();
                let is_its = |game, result: &Settled| {
                    matches!(result, Settled::Played(..)) && players.get(&game) == Some(&worker)
                };
                let event = self.staged_mut().reopen(id, is_its);
                self.handle(event, now);
            }
        }
    }

    /// Which experiments have a course.
    pub(crate) fn has_course(&self, experiment: ExperimentId) -> bool {
        self.courses.contains_key(&experiment)
    }

    /// Lets courses decide by what was settled.
    pub(crate) fn lead(&mut self, now: u64) {
        loop {
            let news = self.subject.take_settled();
            if news.is_empty() {
                return;
            }
            news.into_iter().for_each(|experiment| self.lead_one(experiment, now));
        }
    }

    fn lead_one(&mut self, experiment: ExperimentId, now: u64) {
        let Some(mut led) = self.led.remove(&experiment) else { return };
        while self.subject.is_open(experiment) {
            let subject = &self.subject;
            let (cells, open) = match led.next(|cell| subject.is_settled(cell)) {
                Step::Wait => {
                    self.led.insert(experiment, led);
                    return;
                }
                Step::Tell(cell) => {
                    led.tell(&self.staged_mut().report_cell(experiment, cell));
                    continue;
                }
                Step::Add(plan) => {
                    let states = self.staged_mut().extend(experiment, &plan);
                    led.added(states.iter().map(|state| state.cell));
                    (states, true)
                }
                Step::Close(fault) => {
                    assert_eq!(fault, None, "the course of {experiment}");
                    self.staged_mut().open.remove(&experiment);
                    (Vec::new(), false)
                }
            };
            self.handle(Event::Extended { experiment, cells, open }, now);
        }
    }

    /// Ends the transaction: from here on it is on disk.
    pub(crate) fn commit(&mut self) {
        self.drain();
        self.judge.committing(&self.staged);
        self.drained = false;
        self.committed = (Rc::clone(&self.staged), self.judge.clone());
    }

    /// Stores in the open transaction what the scheduler must find again: whoever changes what is
    /// stored of cells does it to their latest state.
    pub(crate) fn drain(&mut self) {
        self.subject.assert_consistent();
        let changes = self.subject.take_changes();
        if changes != Changes::default() {
            self.staged_mut().apply(&changes);
        }
        self.judge.drained(&changes, &self.staged);
        self.drained = true;
    }

    /// Builds the scheduler again from the disk; what was not committed never happened.
    pub(crate) fn restart(&mut self, now: u64) {
        self.drained = false;
        let (store, judge) = &self.committed;
        self.staged = Rc::clone(store);
        self.judge = judge.clone();
        self.judge.restarted(now);
        if self.is_mutant(Mutant::RestartsWithoutReplays) {
            self.staged_mut().forget_disturbed();
        }
        let snapshot = self.staged.snapshot();
        self.subject = Subject::restore(snapshot, self.policy.clone(), Time(now), self.mutant);
        let restored = |&experiment: &ExperimentId| {
            let course = Box::new(Toy::new(self.courses[&experiment]));
            let cells = self.staged.courses[&experiment].clone();
            (experiment, LedCourse::restore(course, &sweep(), cells))
        };
        self.led = self.staged.open.iter().map(restored).collect();
    }

    /// Another coordinator opens the file and takes this one's place; returns this one.
    pub(crate) fn usurp(&mut self, now: u64) -> Self {
        let mut successor = Self::open(self.policy.clone(), self.courses.clone(), self.mutant);
        successor.committed = (Rc::clone(&self.committed.0), self.committed.1.clone());
        successor.restart(now);
        std::mem::replace(self, successor)
    }

    /// Whether the open transaction changes anything. Without a change, it is over.
    pub(crate) fn must_write(&mut self) -> bool {
        self.drain();
        self.drained = false;
        !Rc::ptr_eq(&self.staged, &self.committed.0)
    }

    /// Whether this coordinator makes the mistake.
    pub(crate) fn is_mutant(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }
}
