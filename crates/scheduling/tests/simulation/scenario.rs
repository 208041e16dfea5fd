//! What a seed stands for: the experiments, their games' nature, the workers, the faults.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spelrum_model::demands::{Demands, Offer};
use spelrum_model::placement::Placement;
use spelrum_model::{
    Allocation, CellId, ExperimentId, ExperimentState, GameId, SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::Policy;
use spelrum_scheduling::stopping::Points;
use spelrum_statistics::{EloModel, Sprt, StopRule};

use crate::dice::Dice;
use crate::engines::{draw_need, draw_offer};
use crate::labels::{draw_labels, draw_placement};
use crate::machines::draw_machine;

/// What a game does to who plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// It ends.
    Innocent,
    /// It fails every time.
    Failing,
    /// It fails every other time.
    Flaky,
    /// It kills its worker, often at once.
    Deadly,
}

/// What a client asks for.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    /// An experiment, or more of it.
    Submit {
        experiment: ExperimentId,
        settings: SchedulingSettings,
        cells: Vec<(CellId, u64)>,
        rule: Option<StopRule>,
    },
    /// Another state of it.
    Steer { experiment: ExperimentId, state: ExperimentState },
    /// Another priority.
    Prioritize { experiment: ExperimentId, priority: i32 },
    /// Its failed games are played again, and one in so many of the others.
    Reopen { experiment: ExperimentId, one_in: u64 },
    /// A worker is not believed any more, in it or everywhere.
    Exclude { experiment: ExperimentId, worker: WorkerId, everywhere: bool },
    /// A worker is believed again.
    Readmit { experiment: ExperimentId, worker: WorkerId },
    /// A few of its games are verified: of those that are there, one in so many.
    Verify { experiment: ExperimentId, one_in: u64 },
    /// Nothing of it, as soon as nobody holds its games.
    Delete { experiment: ExperimentId },
}

impl Request {
    /// Which experiment it is about.
    pub(crate) const fn experiment(&self) -> ExperimentId {
        match self {
            Self::Submit { experiment, .. }
            | Self::Steer { experiment, .. }
            | Self::Prioritize { experiment, .. }
            | Self::Reopen { experiment, .. }
            | Self::Exclude { experiment, .. }
            | Self::Readmit { experiment, .. }
            | Self::Verify { experiment, .. }
            | Self::Delete { experiment } => *experiment,
        }
    }
}

/// How likely things go wrong, in thousandths.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Faults {
    /// A message is lost.
    pub(crate) lost: u64,
    /// It comes twice.
    pub(crate) repeated: u64,
    /// It takes up to a minute.
    pub(crate) delayed: u64,
    /// The coordinator is killed, at each batch.
    pub(crate) coordinator_killed: u64,
    /// A commit fails.
    pub(crate) commit_failed: u64,
    /// The coordinator stands still for up to a minute and a half, at each batch.
    pub(crate) stalled: u64,
    /// A worker is killed, goes silent, leaves, or lies; in each five seconds.
    pub(crate) worker: u64,
    /// A call is refused, or a report answered in part.
    pub(crate) refused: u64,
    /// Workers go on with what they were told to drop.
    pub(crate) stubborn: bool,
    /// The disk is full for up to a minute, at each batch: no commit comes through.
    pub(crate) disk_full: u64,
    /// A commit is said to fail, its coordinator ends, and it is on disk after all.
    pub(crate) commit_unsure: u64,
    /// Another coordinator opens the file, at each batch; the first one has not noticed.
    pub(crate) usurped: u64,
    /// The coordinator's clock leaps forward, at each batch, and starts anywhere at each start.
    pub(crate) clock_leaps: u64,
    /// A worker is told to end and is killed before it has; in each five seconds.
    pub(crate) preempted: u64,
    /// A worker reports a record that the referee refuses, at each game.
    pub(crate) irregular: u64,
    /// A game's players are disturbed, at each game.
    pub(crate) disturbed: u64,
}

/// All of it.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) policy: Policy,
    pub(crate) faults: Faults,
    /// When the faults end.
    pub(crate) calm_ms: u64,
    /// The playing threads of each worker.
    pub(crate) workers: Vec<u32>,
    /// What each worker's machine has.
    pub(crate) offers: Vec<Offer>,
    /// What games of these cells ask of their worker; those of others ask nothing.
    pub(crate) demands: BTreeMap<CellId, Arc<Demands>>,
    /// What the sweeps ask of workers: of each experiment what its first submit says, its second, and so on; the last of
    /// them for all that follow.
    pub(crate) placements: BTreeMap<ExperimentId, Vec<Placement>>,
    /// Cells that are trainings, and the cells that wait for them.
    pub(crate) trainings: BTreeSet<CellId>,
    pub(crate) after: BTreeMap<CellId, Arc<[CellId]>>,
    /// Workers that neither train nor verify.
    pub(crate) untrained: BTreeSet<WorkerId>,
    /// Whether workers end when nothing is left to do; they start again.
    pub(crate) workers_exit: bool,
    /// Whether a coordinator that was started anew wants a Hello from everybody.
    pub(crate) epochs: bool,
    /// Workers, by their places, at which most games fail. The first is well.
    pub(crate) sick: BTreeSet<usize>,
    /// What clients ask for, and when.
    pub(crate) requests: Vec<(u64, Request)>,
    /// Games that are not innocent.
    pub(crate) natures: BTreeMap<GameId, Nature>,
    /// Experiments that have a course, and how many cells it adds.
    pub(crate) courses: BTreeMap<ExperimentId, u64>,
    /// The usual time of a game, by cell.
    pub(crate) game_ms: BTreeMap<CellId, u64>,
}

/// The usual time of a verification.
const VERIFICATION_MS: u64 = 500;

/// None of 0%.
fn precision(percent: u32) -> Option<StopRule> {
    StopRule::from_precision(f64::from(percent) / 100.0)
}

/// Wide enough that some cells have their answer after few pairs.
fn test(dice: &mut Dice) -> Option<StopRule> {
    let (elo0, elo1) = dice.pick(&[(-100.0, 100.0), (0.0, 100.0), (-150.0, 0.0)]);
    Sprt::new(elo0, elo1, 0.1, 0.1, dice.pick(&EloModel::ALL)).map(StopRule::Sprt)
}

impl Scenario {
    /// Draws one.
    pub(crate) fn draw(dice: &mut Dice) -> Self {
        let policy = Policy {
            batch_ms: dice.pick(&[200, 1_000, 4_000]),
            games_per_lease_max: dice.pick(&[2, 4, 10, 64]),
            ranges_per_lease_max: usize::try_from(dice.pick(&[1, 2, 8])).unwrap(),
            ..Policy::default()
        };
        let mut level = |worst: u64| if dice.chance(500) { dice.below(worst) } else { 0 };
        let faults = Faults {
            lost: level(200),
            repeated: level(200),
            delayed: level(150),
            coordinator_killed: level(30),
            commit_failed: level(50),
            stalled: level(30),
            worker: level(400),
            refused: level(50),
            stubborn: level(2) == 1,
            ..Faults::default()
        };
        let calm_ms = dice.between(30_000, 240_000);
        let workers: Vec<u32> = (0..dice.between(1, 4)).map(|_| dice.pick(&[1, 1, 2, 4])).collect();
        let mut scenario = Self {
            policy,
            faults,
            calm_ms,
            offers: vec![Offer::default(); workers.len()],
            demands: BTreeMap::new(),
            placements: BTreeMap::new(),
            trainings: BTreeSet::new(),
            after: BTreeMap::new(),
            untrained: BTreeSet::new(),
            sick: BTreeSet::new(),
            workers,
            workers_exit: dice.chance(300),
            epochs: dice.chance(500),
            requests: Vec::new(),
            natures: BTreeMap::new(),
            courses: BTreeMap::new(),
            game_ms: BTreeMap::new(),
        };
        for experiment in 1..=dice.pick(&[1, 1, 2, 3]) {
            scenario.draw_experiment(ExperimentId(experiment), dice);
        }
        scenario.draw_engines();
        scenario.draw_placements();
        scenario.draw_trainings();
        scenario.draw_mischief();
        scenario.draw_exclusions();
        scenario.draw_sick();
        scenario.draw_verifications();
        scenario
    }

    /// Draws who is excluded, from what and for how long. By its own dice, too.
    fn draw_exclusions(&mut self) {
        let mut dice = Dice::new(self.calm_ms.rotate_left(41));
        if dice.chance(500) {
            return;
        }
        for _ in 0..dice.between(1, 3) {
            let after = usize::try_from(dice.below(self.requests.len() as u64)).unwrap();
            let experiment = self.requests[after].1.experiment();
            let at = self.requests[after].0 + dice.below(self.calm_ms / 2);
            let worker =
                WorkerId(i64::try_from(dice.between(1, self.workers.len() as u64)).unwrap());
            let everywhere = dice.chance(500);
            let exclude = Request::Exclude { experiment, worker, everywhere };
            self.requests.insert(after + 1, (at, exclude));
            // The first one does what no other can.
            if worker == WorkerId(1) || self.has_demands() || dice.chance(500) {
                let at = at + dice.between(1_000, 60_000);
                self.requests.insert(after + 2, (at, Request::Readmit { experiment, worker }));
            }
        }
    }

    /// Draws when some games are verified. By its own dice, too.
    fn draw_verifications(&mut self) {
        let mut dice = Dice::new(self.calm_ms.rotate_left(11));
        if dice.chance(600) {
            return;
        }
        for _ in 0..dice.between(1, 3) {
            let after = usize::try_from(dice.below(self.requests.len() as u64)).unwrap();
            let experiment = self.requests[after].1.experiment();
            let at = self.requests[after].0 + dice.below(self.calm_ms);
            let verify = Request::Verify { experiment, one_in: dice.between(1, 4) };
            self.requests.insert(after + 1, (at, verify));
        }
    }

    /// Draws which workers are sick. By its own dice, too.
    fn draw_sick(&mut self) {
        let mut dice = Dice::new(self.calm_ms.rotate_left(53));
        if dice.chance(700) {
            return;
        }
        self.sick = (1..self.workers.len()).filter(|_| dice.chance(600)).collect();
    }

    /// Draws what goes wrong with disk, clock, file and machines. By its own dice, too.
    fn draw_mischief(&mut self) {
        let mut dice = Dice::new(self.calm_ms.rotate_left(29));
        if dice.chance(500) {
            return;
        }
        let mut level = |worst: u64| if dice.chance(500) { dice.below(worst) } else { 0 };
        self.faults = Faults {
            disk_full: level(10),
            commit_unsure: level(20),
            usurped: level(50),
            clock_leaps: level(30),
            preempted: level(200),
            irregular: level(100),
            disturbed: level(500),
            ..self.faults
        };
    }

    /// Draws trainings, which cells wait for them, and who does not train. By its own dice, too.
    fn draw_trainings(&mut self) {
        let mut dice = Dice::new(self.calm_ms.rotate_left(17));
        if dice.chance(500) {
            return;
        }
        let experiments: BTreeSet<ExperimentId> =
            self.requests.iter().map(|(_, request)| request.experiment()).collect();
        for experiment in experiments {
            // A course decides by games alone, and a rule reads nothing else.
            let has_rule = |(_, request): &(u64, Request)| {
                request.experiment() == experiment
                    && matches!(request, Request::Submit { rule: Some(_), .. })
            };
            if self.courses.contains_key(&experiment) || self.requests.iter().any(has_rule) {
                continue;
            }
            let trainings: Vec<CellId> = (0..i64::try_from(dice.below(4)).unwrap())
                .map(|index| CellId(experiment.0 * 100 + dice.pick(&[60, 90]) + index))
                .collect();
            for (_, request) in &mut self.requests {
                let Request::Submit { experiment: submitted, cells, .. } = request else {
                    continue;
                };
                if *submitted != experiment {
                    continue;
                }
                for &(cell, _) in cells.iter() {
                    let waits = trainings.iter().copied().filter(|_| dice.chance(400));
                    let waits: Arc<[CellId]> = waits.collect();
                    if !waits.is_empty() {
                        self.after.entry(cell).or_insert(waits);
                    }
                }
                // Those of which nothing waits may be left out.
                cells.extend(trainings.iter().map(|&cell| (cell, 1)));
            }
            for cell in trainings {
                self.trainings.insert(cell);
                self.game_ms.insert(cell, dice.pick(&[20, 1_000, 8_000, 20_000]));
                if dice.chance(150) {
                    let nature = dice.pick(&[Nature::Failing, Nature::Flaky, Nature::Deadly]);
                    self.natures.insert(GameId { cell, number: 0 }, nature);
                }
            }
        }
        for id in 2..=self.workers.len() {
            if dice.chance(300) {
                self.untrained.insert(WorkerId(i64::try_from(id).unwrap()));
            }
        }
    }

    /// Draws which cells need engines, and which machines have them. By its own dice, so that the other
    /// seeds tell the same stories as before there were engines.
    fn draw_engines(&mut self) {
        let mut dice = Dice::new(!self.calm_ms);
        if dice.chance(600) {
            return;
        }
        for &cell in self.game_ms.keys() {
            if dice.chance(400) {
                self.demands.insert(cell, Arc::new(draw_need(&mut dice)));
            }
        }
        for offer in &mut self.offers {
            *offer = draw_offer(&mut dice);
        }
    }

    /// Draws which labels and speeds sweeps ask for, and which machines have them. By its own dice, too.
    fn draw_placements(&mut self) {
        let mut dice = Dice::new(self.calm_ms.rotate_left(47));
        if dice.chance(600) {
            return;
        }
        let experiments: BTreeSet<ExperimentId> =
            self.requests.iter().map(|(_, request)| request.experiment()).collect();
        for experiment in experiments {
            // What takes a course is what it was at first.
            let most = if self.courses.contains_key(&experiment) { 1 } else { 3 };
            let placements = (0..dice.between(1, most)).map(|_| draw_placement(&mut dice));
            self.placements.insert(experiment, placements.collect());
        }
        for offer in &mut self.offers {
            offer.labels = draw_labels(&mut dice);
            draw_machine(&mut dice, offer);
        }
    }

    /// What the sweep asks of workers that this request submits.
    pub(crate) fn placement(&self, request: usize) -> Placement {
        let experiment = self.requests[request].1.experiment();
        let is_submit = |(_, request): &&(u64, Request)| {
            request.experiment() == experiment && matches!(request, Request::Submit { .. })
        };
        let before = self.requests[..request].iter().filter(is_submit).count();
        let Some(placements) = self.placements.get(&experiment) else {
            return Placement::default();
        };
        placements[before.min(placements.len() - 1)].clone()
    }

    /// Whether there may be games that none of the machines can play.
    pub(crate) fn has_demands(&self) -> bool {
        !self.demands.is_empty() || !self.placements.is_empty()
    }

    /// Draws one in which everything goes right, except that the coordinator stands still often.
    pub(crate) fn draw_with_stalls(dice: &mut Dice) -> Self {
        let mut scenario = Self::draw(dice);
        scenario.faults = Faults { stalled: 150, ..Faults::default() };
        scenario.natures.clear();
        scenario.sick.clear();
        scenario
    }

    fn draw_experiment(&mut self, experiment: ExperimentId, dice: &mut Dice) {
        let priority = i32::try_from(dice.below(2)).unwrap();
        let cell = |index| CellId(experiment.0 * 100 + index);
        // The first checkpoint is after 25 pairs.
        let has_rules = dice.chance(300);
        let pairs = if has_rules { (20, 60) } else { (1, 8) };
        let draw_cell = |index, dice: &mut Dice| (cell(index), 2 * dice.between(pairs.0, pairs.1));
        let draw_rule = |dice: &mut Dice| {
            let percent = if has_rules { dice.pick(&[0, 6, 9, 12, 15, 18, 24, 100]) } else { 0 };
            if percent == 100 { test(dice) } else { precision(percent) }
        };
        let count = i64::try_from(dice.between(1, if has_rules { 2 } else { 4 })).unwrap();
        let mut cells: Vec<_> = (0..count).map(|index| draw_cell(index, dice)).collect();
        let mut at = dice.below(self.calm_ms / 2);
        // Its own dice, so that the seeds tell the same stories as before there was a choice.
        let mut of_allocation = Dice::new(at ^ experiment.0.cast_unsigned());
        let choices = [Allocation::Grid, Allocation::Grid, Allocation::Informative];
        let mut of_bound = Dice::new(!at ^ experiment.0.cast_unsigned());
        let mut settings = SchedulingSettings { priority, ..SchedulingSettings::default() };
        let mut submit = |cells, rule| {
            settings.allocation = of_allocation.pick(&choices);
            settings.games_at_once = of_bound.pick(&[None, None, None, Some(2), Some(3), Some(7)]);
            Request::Submit { experiment, settings, cells, rule }
        };
        self.requests.push((at, submit(cells.clone(), draw_rule(dice))));

        // Every cell there ever is, with the most games that it gets.
        let mut ever: BTreeMap<CellId, u64> = cells.iter().copied().collect();
        let course = if !has_rules && dice.chance(300) { dice.between(1, 8) } else { 0 };
        if course > 0 {
            self.courses.insert(experiment, course);
            // As many games as a cell of a course may get.
            ever.extend(
                (count..)
                    .map(cell)
                    .zip(std::iter::repeat(8))
                    .take(usize::try_from(course).unwrap()),
            );
        }
        // Whose course goes on is not changed by another sweep.
        let changes = if course > 0 { 0 } else { dice.pick(&[0, 0, 1, 2, 4]) };
        for _ in 0..changes {
            at += dice.below(self.calm_ms / 4);
            if dice.chance(500) {
                let index = i64::try_from(ever.len()).unwrap();
                cells.push(draw_cell(index, dice));
            }
            for (_, games) in &mut cells {
                *games = match dice.below(4) {
                    0 => *games + 2 * dice.between(1, 4),
                    1 => 2,
                    _ => *games,
                };
            }
            if cells.len() > 1 && dice.chance(500) {
                let dropped = usize::try_from(dice.below(cells.len() as u64)).unwrap();
                cells.remove(dropped);
            }
            let away = ever.keys().copied().find(|&id| cells.iter().all(|cell| cell.0 != id));
            if let Some(back) = away.filter(|_| dice.chance(300)) {
                cells.push((back, 2 * dice.between(pairs.0, pairs.1)));
            }
            for &(cell, games) in &cells {
                let most = ever.entry(cell).or_default();
                *most = games.max(*most);
            }
            self.requests.push((at, submit(cells.clone(), draw_rule(dice))));
        }
        for _ in 0..dice.pick(&[0, 0, 1, 2]) {
            let at = at + dice.below(self.calm_ms / 2);
            let one_in = dice.pick(&[3, 20, u64::MAX]);
            self.requests.push((at, Request::Reopen { experiment, one_in }));
        }
        let steer = |state| Request::Steer { experiment, state };
        if dice.chance(300) {
            at += dice.below(self.calm_ms / 4);
            self.requests.push((at, steer(ExperimentState::Paused)));
            self.requests.push((at + dice.between(1_000, 60_000), steer(ExperimentState::Running)));
        }
        if dice.chance(300) {
            let priority = i32::try_from(dice.below(3)).unwrap();
            let at = at + dice.below(self.calm_ms / 2);
            self.requests.push((at, Request::Prioritize { experiment, priority }));
        }
        if dice.chance(150) {
            at += dice.below(self.calm_ms / 2);
            self.requests.push((at, steer(ExperimentState::Cancelled)));
        }
        if dice.chance(200) {
            at += dice.below(self.calm_ms / 2);
            self.requests.push((at, steer(ExperimentState::Paused)));
            self.requests.push((at + 1, Request::Delete { experiment }));
            // Another one, which gets the ids that have become free.
            if dice.chance(700) {
                let again = submit(cells.clone(), draw_rule(dice));
                self.requests.push((at + dice.below(60_000), again));
            }
        }

        let odd_ones = dice.pick(&[0, 0, 30, 200]);
        for (cell, games) in ever {
            self.game_ms.insert(cell, dice.pick(&[3, 20, 200, 1_000, 8_000]));
            for number in 0..games {
                if dice.chance(odd_ones) {
                    let nature = dice.pick(&[
                        Nature::Failing,
                        Nature::Failing,
                        Nature::Flaky,
                        Nature::Deadly,
                    ]);
                    self.natures.insert(GameId { cell, number }, nature);
                }
            }
        }
    }

    /// Draws one of 256 slots, which play a few large cells with stop rules.
    pub(crate) fn draw_with_many_slots(dice: &mut Dice) -> Self {
        let mut scenario = Self::draw(dice);
        scenario.workers = vec![64; 4];
        scenario.offers = vec![Offer::default(); 4];
        scenario.demands.clear();
        scenario.placements.clear();
        scenario.trainings.clear();
        scenario.after.clear();
        scenario.requests.clear();
        scenario.natures.clear();
        scenario.courses.clear();
        let experiment = ExperimentId(1);
        let cells: Vec<_> = (100..103).map(|id| (CellId(id), 2 * dice.between(100, 400))).collect();
        for at in [1, 20_000] {
            let percent = dice.pick(&[4, 6, 9, 100]);
            let rule = if percent == 100 { test(dice) } else { precision(percent) };
            let cells = cells.clone();
            let settings = SchedulingSettings::default();
            let submit = Request::Submit { experiment, settings, cells, rule };
            scenario.requests.push((at, submit));
        }
        for (cell, games) in cells {
            scenario.game_ms.insert(cell, dice.pick(&[200, 1_000, 4_000]));
            for number in 0..games {
                if dice.chance(5) {
                    scenario.natures.insert(GameId { cell, number }, Nature::Failing);
                }
            }
        }
        scenario
    }

    /// What the player gets who moves first in a game: always the same.
    pub(crate) fn points(&self, game: GameId) -> Points {
        if self.trainings.contains(&game.cell) {
            return Points::Half;
        }
        let mut dice = Dice::new(game.cell.0.cast_unsigned() << 32 | game.number);
        let strength = game.cell.0.cast_unsigned() % 7 * 100 + 100;
        let first_is_first = game.number.is_multiple_of(2);
        if dice.chance(200) {
            Points::Half
        } else if dice.chance(strength) == first_is_first {
            Points::One
        } else {
            Points::Zero
        }
    }

    /// How long it takes, at least and at most: wins are short, and draws are long.
    pub(crate) fn takes_ms(&self, game: GameId) -> (u64, u64) {
        let usual = self.game_ms.get(&game.cell).copied().unwrap_or(VERIFICATION_MS);
        match self.points(game) {
            Points::One => (usual / 4, usual / 2),
            Points::Half => (2 * usual, 4 * usual),
            Points::Zero => (usual, 2 * usual),
        }
    }

    /// What a game does to who plays it.
    pub(crate) fn nature(&self, game: GameId) -> Nature {
        self.natures.get(&game).copied().unwrap_or(Nature::Innocent)
    }

    /// The cells that an experiment's sweep names in the end, how many games it gives each, and their
    /// stop rule.
    pub(crate) fn planned(
        &self,
        wanted: ExperimentId,
    ) -> (BTreeMap<CellId, u64>, Option<StopRule>) {
        let mut planned = BTreeMap::new();
        let mut last = None;
        for (_, request) in &self.requests {
            match request {
                Request::Submit { experiment, cells, rule, .. } if *experiment == wanted => {
                    planned = cells.iter().copied().collect();
                    last = *rule;
                }
                Request::Delete { experiment } if *experiment == wanted => planned.clear(),
                _ => {}
            }
        }
        (planned, last)
    }
}
