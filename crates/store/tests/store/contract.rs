//! The contract of a store: whatever is asked of SQLite and of the slow and obvious store in memory,
//! all answer the same.

mod exclusion;
pub(crate) mod rows;
mod stores;
mod verification;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use self::rows::Rows;
use self::stores::{Compared, OnCopies, OnSqlite};
use crate::twin::InMemory;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use spelrum_answers::{GamesFilter, GamesOf, GamesOrder, GamesQuestion, WhichGame};
use spelrum_engine::{Parameters, Value};
use spelrum_model::{Allocation, ExperimentState};
use spelrum_model::{
    CellId, DefinitionHash, ExperimentId, GameId, GameRange, LeaseId, Plan, PlayedGame, Record,
    Role, WorkerId,
};
use spelrum_scheduling::scheduler::{Attempts, CellProgress, Changes, LeaseEnd, LeaseState, Tasks};
use spelrum_statistics::StopRule;
use spelrum_statistics::{EloModel, Sprt};
use spelrum_store::contract::{Store, WriteTransaction};
use spelrum_store::{Refused, Removed, Removing, StoreError};

use crate::fixture::{
    add_cell, add_cell_of, alpha_beta, claim, crashed, empty_plan, engine, fish, game, genetic,
    introduction, networked, parameters, placement_of, sweep, timed, trained, with_engines,
    without_grant_times,
};

/// Something that is asked of a store, in a transaction of its own.
#[derive(Clone, Debug)]
enum Step {
    Submit { uuid: u8, name: u8, cells: Vec<(u8, u8)>, new: bool, games_only: bool },
    Hello { worker: u8 },
    Find { what: u8 },
    Steer { experiment: u8, state: ExperimentState, priority: i32 },
    Grant { worker: u8, cell: u8, first: u8, games: u8 },
    End { lease: u8, end: LeaseEnd },
    Return { cell: u8, ranges: Vec<(u8, u8)> },
    Attempts { cell: u8, number: u8, lost: u8 },
    Games { games: Vec<(u8, u8, u8, u8)> },
    Again { games: Vec<(u8, u8, u8, u8)>, after_cancel: bool },
    Failed { games: Vec<(u8, u8)>, noted: bool },
    Retry { experiment: u8 },
    Refuse { worker: u8, cell: u8, number: u8 },
    Facts { games: Vec<(u8, u8, u8, u8)> },
    Remove { experiment: u8, what: Removing },
    RemoveAll,
    Forget { after: u8, kept: u8 },
    Course { experiment: u8, ends: bool },
    Extend { experiment: u8, cells: Vec<(u8, u8)>, after: u8 },
    Tell { cell: u8 },
    ForgetWorkers { after: u8, recent: bool, spared: u8 },
    Train { worker: u8, training: u8, found: bool },
    Verify(verification::Verification),
    Exclude(exclusion::Exclusion),
    TakeOver,
}

fn steps() -> impl Strategy<Value = Vec<(Step, bool)>> {
    let game = || (0_u8..3, any::<u8>(), 0_u8..12, 0_u8..4);
    let games = || prop::collection::vec(game(), 0..8);
    let step = prop_oneof![
        4 => (0_u8..12, 0_u8..3, prop::collection::vec((0_u8..9, 1_u8..9), 0..5), any::<bool>(),
            any::<bool>())
            .prop_map(|(uuid, name, cells, new, games_only)| {
                Step::Submit { uuid, name, cells, new, games_only }
            }),
        1 => (0_u8..4).prop_map(|worker| Step::Hello { worker }),
        1 => any::<u8>().prop_map(|what| Step::Find { what }),
        2 => (any::<u8>(), state(), -3..3).prop_map(|(experiment, state, priority)| {
            Step::Steer { experiment, state, priority }
        }),
        4 => (0_u8..3, any::<u8>(), 0_u8..10, 1_u8..5)
            .prop_map(|(worker, cell, first, games)| Step::Grant { worker, cell, first, games }),
        2 => (any::<u8>(), end()).prop_map(|(lease, end)| Step::End { lease, end }),
        2 => (any::<u8>(), prop::collection::vec((0_u8..3, 1_u8..3), 0..4))
            .prop_map(|(cell, ranges)| Step::Return { cell, ranges }),
        2 => (any::<u8>(), 0_u8..12, 0_u8..5)
            .prop_map(|(cell, number, lost)| Step::Attempts { cell, number, lost }),
        5 => games().prop_map(|games| Step::Games { games }),
        2 => (games(), any::<bool>())
            .prop_map(|(games, after_cancel)| Step::Again { games, after_cancel }),
        2 => (prop::collection::vec((any::<u8>(), 0_u8..12), 0..4), any::<bool>())
            .prop_map(|(games, noted)| Step::Failed { games, noted }),
        2 => any::<u8>().prop_map(|experiment| Step::Retry { experiment }),
        1 => (0_u8..3, any::<u8>(), 0_u8..12)
            .prop_map(|(worker, cell, number)| Step::Refuse { worker, cell, number }),
        3 => games().prop_map(|games| Step::Facts { games }),
        1 => (any::<u8>(), prop_oneof![Just(Removing::Everything), Just(Removing::Moves)])
            .prop_map(|(experiment, what)| Step::Remove { experiment, what }),
        1 => Just(Step::RemoveAll),
        2 => (0_u8..4, 0_u8..6).prop_map(|(after, kept)| Step::Forget { after, kept }),
        2 => (any::<u8>(), prop::bool::weighted(0.2))
            .prop_map(|(experiment, ends)| Step::Course { experiment, ends }),
        2 => (any::<u8>(), prop::collection::vec((0_u8..9, 1_u8..9), 0..3), 0_u8..4)
            .prop_map(|(experiment, cells, after)| Step::Extend { experiment, cells, after }),
        3 => any::<u8>().prop_map(|cell| Step::Tell { cell }),
        2 => (0_u8..4, prop::bool::weighted(0.8), 0_u8..5)
            .prop_map(|(after, recent, spared)| Step::ForgetWorkers { after, recent, spared }),
        3 => (0_u8..3, any::<u8>(), prop::bool::weighted(0.2))
            .prop_map(|(worker, training, found)| Step::Train { worker, training, found }),
        5 => verification::verifications().prop_map(Step::Verify),
        3 => exclusion::exclusions().prop_map(Step::Exclude),
        1 => Just(Step::TakeOver),
    ];
    // One in eight is never committed.
    prop::collection::vec((step, prop::bool::weighted(0.875)), 1..80)
}

fn state() -> impl Strategy<Value = ExperimentState> {
    prop_oneof![
        Just(ExperimentState::Running),
        Just(ExperimentState::Paused),
        Just(ExperimentState::Cancelled),
        Just(ExperimentState::Finished),
    ]
}

fn end() -> impl Strategy<Value = LeaseEnd> {
    prop_oneof![
        Just(LeaseEnd::Finished),
        Just(LeaseEnd::Expired),
        Just(LeaseEnd::GivenBack),
        Just(LeaseEnd::Cancelled),
    ]
}

/// What the test knows of what is in the stores, so that it asks for something.
#[derive(Clone, Debug, Default)]
struct Known {
    /// By what they say Hello with.
    workers: BTreeMap<u8, WorkerId>,
    experiments: BTreeMap<ExperimentId, String>,
    cells: BTreeMap<CellId, ExperimentId>,
    /// Those of them whose task is a training.
    trainings: BTreeSet<CellId>,
    /// Those of them whose task is a verification.
    verifications: BTreeSet<CellId>,
    next_number: BTreeMap<CellId, u64>,
    /// Cells that a course was told of.
    outcomes: Vec<CellId>,
    live: Vec<LeaseId>,
    last_lease: i64,
    removing: Vec<ExperimentId>,
}

impl Known {
    fn cell(&self, index: u8) -> Option<CellId> {
        let index = usize::from(index).checked_rem(self.cells.len())?;
        self.cells.keys().nth(index).copied()
    }

    fn experiment(&self, index: u8) -> Option<ExperimentId> {
        let index = usize::from(index).checked_rem(self.experiments.len())?;
        self.experiments.keys().nth(index).copied()
    }

    fn worker(&self, index: u8) -> Option<WorkerId> {
        let index = usize::from(index).checked_rem(self.workers.len())?;
        self.workers.values().nth(index).copied()
    }

    /// Games of cells: with external engines where these are players.
    async fn games(
        &self,
        transaction: &mut impl WriteTransaction,
        games: &[(u8, u8, u8, u8)],
    ) -> Result<Vec<(WorkerId, PlayedGame)>, StoreError> {
        let engines = engines_of_kinds();
        let mut found = Vec::new();
        for &(worker, cell, number, variety) in games {
            let Some((worker, cell)) = self.worker(worker).zip(self.cell(cell)) else { continue };
            // The referee lets no game of these pass.
            if self.trainings.contains(&cell) || self.verifications.contains(&cell) {
                continue;
            }
            let game = game(cell, number.into(), variety.into());
            let leased = transaction.leased_cells(&[cell]).await?;
            let sides = leased.first().and_then(|leased| engines.get(&leased.definition));
            found.push((
                worker,
                match sides {
                    None => game,
                    Some(sides) => {
                        // Another machine may have another program of this name, or two.
                        let program = |side: usize| match (sides[side], number % 2 == 1) {
                            (true, false) => Some(variety % 2),
                            (true, true) => Some(variety / 2 * (1 + side as u8)),
                            (false, _) => None,
                        };
                        let forfeit = (variety == 3).then_some("it went away");
                        let swaps = usize::from(number % 2 == 1);
                        let programs = [program(swaps), program(1 - swaps)];
                        crashed(with_engines(game, programs, forfeit))
                    }
                },
            ));
        }
        Ok(found)
    }
}

/// Which players are external engines, in cells that have one.
fn engines_of_kinds() -> BTreeMap<DefinitionHash, [bool; 2]> {
    let kinds = [(6, [true, false]), (7, [true, true])];
    let hash = |kind| plan_of(0, &[(kind, 1)], false).cells[0].definition_hash;
    kinds.into_iter().map(|(kind, sides)| (hash(kind), sides)).collect()
}

/// Some of a few cells: some with fixed sides, some where the clock decides, some with external engines.
fn plan_of(name: u8, cells: &[(u8, u8)], games_only: bool) -> Plan {
    let mut plan = empty_plan(["one", "two", "three"][usize::from(name % 3)]);
    plan.settings.record = match cells.len() % 2 {
        _ if games_only => Record::Games,
        0 => Record::Moves,
        _ => Record::Full,
    };
    plan.settings.scheduling.priority = i32::from(cells.len() as u8);
    plan.settings.scheduling.games_at_once = [None, Some(2), Some(u32::MAX)][cells.len() % 3];
    plan.settings.replicates = [None, Some("seed".to_owned())][cells.len() % 2].clone();
    plan.settings.monotone = vec!["depth".to_owned(); cells.len() % 3];
    plan.settings.timing.disturbed_above = [0.0, 0.4, 1.0][cells.len() % 3];
    plan.settings.forfeits_max = [None, Some(0), Some(1)][cells.len() % 3];
    plan.settings.placement = placement_of(cells.len());
    plan.settings.scheduling.allocation =
        if cells.len().is_multiple_of(2) { Allocation::Informative } else { Allocation::Grid };
    let cells: BTreeMap<u8, u8> = cells.iter().copied().collect();
    for (kind, games) in cells {
        let (depth, games) = (i64::from(kind) + 1, 2 * u64::from(games));
        let ours = [alpha_beta(depth), genetic(depth)];
        let cell = match kind {
            4 => add_cell_of(&mut plan, false, ["ab", "gm"], ours, depth, games),
            // They share a network.
            2 | 3 => {
                add_cell(&mut plan, ["net", "gm"], [networked(depth), genetic(depth)], depth, games)
            }
            8 => add_cell(&mut plan, ["ab", "fish"], [alpha_beta(2), engine("fish")], depth, games),
            5 => add_cell(&mut plan, ["ab", "timed"], [alpha_beta(2), timed(10)], depth, games),
            6 => add_cell(&mut plan, ["fish", "ab"], [fish(&[]), alpha_beta(2)], depth, games),
            // Its name is a switch of the program, and no switch of ours.
            7 => {
                let reproducible = fish(&[("reproducible", Value::Bool(true))]);
                let own = Parameters::from([("reproducible".to_owned(), Value::Bool(false))]);
                let with_option = [("options", Value::Table(own))];
                let other = Parameters::from_iter(
                    reproducible.clone().into_iter().chain(parameters(&with_option)),
                );
                add_cell(&mut plan, ["fish", "fish"], [reproducible, other], depth, games)
            }
            _ => add_cell(&mut plan, ["ab", "gm"], ours, depth, games),
        };
        cell.timed = kind >= 5 && !games_only;
    }
    // The same for each of them wherever it comes.
    for conditions in &mut plan.conditions {
        conditions.openings_count = Some(if conditions.swap_sides { 3 } else { 2 });
    }
    // Of the first cell, and of all from its other side: both change as cells come and go.
    let last = plan.cells.len();
    plan.claims = [("first", 0..1.min(last), Role::Player), ("all", 0..last, Role::Opponent)]
        .into_iter()
        .filter(|(_, cells, _)| !cells.is_empty() && name.is_multiple_of(2))
        .map(|(text, cells, player)| claim(text, cells, player))
        .collect();
    plan
}

/// What a step is answered: text, so that the answers of two stores can be compared.
fn text<T: Debug>(answer: &Result<T, StoreError>) -> String {
    format!("{answer:?}")
}

/// Takes a step, and learns from it if it is committed.
async fn take<S: Store>(
    store: &mut S,
    known: &mut Known,
    step: &Step,
    commit: bool,
) -> Result<String, StoreError> {
    let mut learnt = known.clone();
    let mut transaction = store.begin().await?;
    let answer = match step {
        Step::Submit { uuid, name, cells, new, games_only } => {
            let plan = plan_of(*name, cells, *games_only);
            let sprt = Sprt::new(0.0, 20.0, 0.05, 0.05, EloModel::Logistic);
            let stop = match uuid % 4 {
                3 => sprt.map(StopRule::Sprt),
                part => StopRule::from_precision(f64::from(part) / 10.0),
            };
            let plan = Plan { stop, ..plan };
            let (uuid, toml) = (format!("uuid {uuid}"), format!("{plan:?}"));
            let sweep = spelrum_store::Sweep {
                new_experiment: *new,
                fills: None,
                ..sweep(&uuid, &toml, &plan)
            };
            let submitted = transaction.submit(sweep).await;
            // A repeated submit finds what it began also while that is being removed.
            if let Ok(submitted) = &submitted
                && !known.removing.contains(&submitted.experiment)
            {
                let experiment = submitted.experiment;
                learnt.experiments.insert(experiment, submitted.uuid.clone());
                for cell in &submitted.cells {
                    learnt.cells.insert(cell.cell, experiment);
                    learnt.trainings.extend((cell.tasks == Tasks::Trainings).then_some(cell.cell));
                }
            }
            text(&submitted)
        }
        Step::Hello { worker } => {
            let id = hello(&mut transaction, *worker).await;
            learnt.workers.extend(id.iter().map(|id| (*worker, *id)));
            text(&id)
        }
        Step::Find { what } => {
            let mut all = vec!["one".to_owned(), "two".to_owned(), "three".to_owned()];
            all.extend(known.experiments.values().cloned());
            let found = transaction.experiment(&all[usize::from(*what) % all.len()]).await;
            let cells: Vec<CellId> = known.cells.keys().copied().collect();
            format!("{} {}", text(&found), text(&transaction.leased_cells(&cells).await))
        }
        Step::Steer { experiment, state, priority } => {
            // What is being removed stays cancelled.
            match known.experiment(*experiment).filter(|id| !known.removing.contains(id)) {
                Some(experiment) => {
                    transaction.set_state(experiment, *state).await?;
                    text(&transaction.set_priority(experiment, *priority).await)
                }
                None => String::new(),
            }
        }
        Step::Grant { worker, cell, first, games } => {
            match known.worker(*worker).zip(known.cell(*cell)) {
                Some((worker, cell)) => {
                    learnt.last_lease += 1;
                    let lease = LeaseId(learnt.last_lease);
                    // A training has one task, and a verification.
                    let has_one =
                        known.trainings.contains(&cell) || known.verifications.contains(&cell);
                    let (first, count) = if has_one { (0, 1) } else { (*first, *games) };
                    let range = GameRange { cell, first: first.into(), count: count.into() };
                    let next = learnt.next_number.entry(cell).or_default();
                    *next = range.end().max(*next);
                    learnt.live.push(lease);
                    let granted = LeaseState {
                        lease,
                        worker,
                        granted: vec![range],
                        outstanding: vec![range],
                    };
                    let cells = vec![cell_state(cell, *next, Vec::new())];
                    let changes = Changes { granted: vec![granted], cells, ..Changes::default() };
                    text(&transaction.apply(&changes).await)
                }
                None => String::new(),
            }
        }
        Step::End { lease, end } => {
            let index = usize::from(*lease).checked_rem(known.live.len());
            match index.map(|index| learnt.live.remove(index)) {
                Some(lease) => {
                    let changes = Changes { ended: vec![(lease, *end)], ..Changes::default() };
                    text(&transaction.apply(&changes).await)
                }
                None => String::new(),
            }
        }
        Step::Return { cell, ranges } => match known.cell(*cell) {
            Some(cell) => {
                let (mut first, mut returned) = (0, Vec::new());
                for &(gap, count) in ranges {
                    first += u64::from(gap) + 1;
                    returned.push(GameRange { cell, first, count: count.into() });
                    first += u64::from(count);
                }
                let next = known.next_number.get(&cell).copied().unwrap_or(0);
                // Wherever that is said to be, the store takes it.
                let stop_number = (ranges.len() % 2 == 1).then_some(4);
                let cells = vec![CellProgress { stop_number, ..cell_state(cell, next, returned) }];
                text(&transaction.apply(&Changes { cells, ..Changes::default() }).await)
            }
            None => String::new(),
        },
        Step::Attempts { cell, number, lost } => match known.cell(*cell) {
            Some(cell) => {
                let game = GameId { cell, number: (*number).into() };
                let lost = u32::from(*lost);
                let attempts = vec![Attempts { game, lost, lost_alone: lost / 2, failed: 1 }];
                text(&transaction.apply(&Changes { attempts, ..Changes::default() }).await)
            }
            None => String::new(),
        },
        Step::Games { games } => {
            let games = known.games(&mut transaction, games).await?;
            text(&transaction.store_games(&games).await)
        }
        Step::Again { games, after_cancel } => {
            let games = known.games(&mut transaction, games).await?;
            text(&transaction.store_uncounted(&games, *after_cancel).await)
        }
        Step::Failed { games, noted } => {
            let failed = |&(cell, number): &(u8, u8)| {
                Some((GameId { cell: known.cell(cell)?, number: number.into() }, "no".to_owned()))
            };
            let games: Vec<_> = games.iter().filter_map(failed).collect();
            if *noted {
                // One row for each game: what is noted last of it stays.
                let games: BTreeMap<_, _> = games.into_iter().collect();
                text(&transaction.note_failures(&games.into_iter().collect::<Vec<_>>()).await)
            } else {
                text(&transaction.settle_failed(&games).await)
            }
        }
        Step::Train { worker, training, found } => {
            let trainings: Vec<CellId> =
                known.cells.keys().filter(|cell| known.trainings.contains(cell)).copied().collect();
            let index = usize::from(*training).checked_rem(trainings.len());
            match known.worker(*worker).zip(index) {
                Some((worker, index)) => {
                    let mut training = trained(trainings[index]);
                    training.trained = training.trained.filter(|_| !*found);
                    text(&transaction.store_trainings(&[(worker, training)]).await)
                }
                None => String::new(),
            }
        }
        Step::Retry { experiment } => match known.experiment(*experiment) {
            Some(experiment) => text(&transaction.retry_failed(experiment).await),
            None => String::new(),
        },
        Step::Refuse { worker, cell, number } => {
            match known.worker(*worker).zip(known.cell(*cell)) {
                Some((worker, cell)) => {
                    let refused = Refused {
                        worker,
                        lease: LeaseId(1),
                        game: GameId { cell, number: (*number).into() },
                        record: vec![1, 2],
                        problem: "no".to_owned(),
                    };
                    text(&transaction.keep_refused(&[refused.clone(), refused]).await)
                }
                None => String::new(),
            }
        }
        Step::Facts { games } => {
            let asked = |&(worker, cell, number, lease): &(u8, u8, u8, u8)| {
                let lease = LeaseId((known.last_lease - i64::from(lease)).max(1));
                let game = GameId { cell: known.cell(cell)?, number: number.into() };
                Some((known.worker(worker)?, lease, game))
            };
            let games: Vec<_> = games.iter().filter_map(asked).collect();
            text(&transaction.facts(&games).await.map(without_grant_times))
        }
        Step::Remove { experiment, what } => match known.experiment(*experiment) {
            Some(experiment)
                if !known.removing.contains(&experiment)
                    && !learnt.live.iter().any(|_| *what == Removing::Everything) =>
            {
                if *what == Removing::Everything {
                    learnt.removing.push(experiment);
                    learnt.experiments.remove(&experiment);
                    learnt.cells.retain(|_, cell_experiment| *cell_experiment != experiment);
                }
                text(&transaction.begin_removal(experiment, *what, 7).await)
            }
            _ => String::new(),
        },
        Step::RemoveAll => {
            while transaction.remove_some().await? == Removed::Some {}
            learnt.removing.clear();
            String::new()
        }
        Step::Forget { after, kept } => {
            text(&transaction.forget_leases(LeaseId((*after).into()), (*kept).into()).await)
        }
        Step::Course { experiment, ends } => match known.experiment(*experiment) {
            Some(experiment) if *ends => text(&transaction.end_course(experiment).await),
            Some(experiment) => text(&transaction.open_course(experiment).await),
            None => String::new(),
        },
        Step::Extend { experiment, cells, after } => match known.experiment(*experiment) {
            Some(experiment) => {
                let plan = plan_of(0, cells, false);
                let added = transaction.add_cells(experiment, &plan, u64::from(*after)).await;
                for cell in added.iter().flatten().flatten() {
                    learnt.cells.insert(cell.cell, experiment);
                    learnt.trainings.extend((cell.tasks == Tasks::Trainings).then_some(cell.cell));
                }
                text(&added)
            }
            None => String::new(),
        },
        Step::Tell { cell } => match known.cell(*cell).filter(|id| !known.outcomes.contains(id)) {
            Some(cell) => {
                learnt.outcomes.push(cell);
                text(&transaction.tell(cell).await)
            }
            None => String::new(),
        },
        Step::ForgetWorkers { after, recent, spared } => {
            // When they said Hello is not the same in both stores.
            let before = if *recent { i64::MAX } else { 0 };
            let spared = known.workers.values().filter(|id| id.0 % 4 == i64::from(*spared));
            let spared: BTreeSet<WorkerId> = spared.copied().collect();
            let after = WorkerId((*after).into());
            let mut answers = vec![text(&transaction.forget_workers(after, before, &spared).await)];
            // Who is there still has its id, and who is not has another.
            for &worker in known.workers.keys() {
                let id = hello(&mut transaction, worker).await;
                learnt.workers.extend(id.iter().map(|id| (worker, *id)));
                answers.push(text(&id));
            }
            answers.join(" ")
        }
        Step::Verify(asked) => {
            verification::ask(&mut transaction, known, &mut learnt, asked).await?
        }
        Step::Exclude(asked) => exclusion::ask(&mut transaction, known, asked).await?,
        Step::TakeOver => String::new(),
    };
    if commit {
        transaction.commit().await?;
        *known = learnt;
        if matches!(step, Step::RemoveAll) {
            while store.shrink().await? {}
        }
    } else {
        drop(transaction);
    }
    Ok(answer)
}

async fn hello(
    transaction: &mut impl WriteTransaction,
    worker: u8,
) -> Result<WorkerId, StoreError> {
    transaction.introduce(&introduction(&format!("worker {worker}"))).await
}

fn cell_state(cell: CellId, next_number: u64, returned: Vec<GameRange>) -> CellProgress {
    CellProgress { cell, next_number, returned, decided_number: 0, stop_number: None }
}

/// All that a scheduler is told when it starts.
async fn everything<S: Store>(store: &mut S) -> String {
    let snapshot = store.snapshot().await;
    let others = store.unfinished_of_other_revisions(0).await;
    let courses = store.open_courses().await;
    let removing = store.is_removing().await;
    format!("{} {} {} {}", text(&snapshot), text(&others), text(&courses), text(&removing))
}

/// The rows from which all other answers are summed, without wall-clock times.
async fn seen<R: Rows>(reading: &R, known: &Known) -> Vec<String> {
    let mut seen = Vec::new();
    let mut after = None;
    loop {
        let mut page = reading.experiments(after, 2).await.unwrap();
        page.experiments.iter_mut().for_each(|experiment| experiment.submitted_unix_us = 0);
        seen.push(format!("{page:?}"));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    for &experiment in known.experiments.keys() {
        for order in [GamesOrder::Newest, GamesOrder::Number, GamesOrder::Settled] {
            let question = |of, filter| GamesQuestion { scope: of, filter, order };
            let all = question(GamesOf::Experiment(experiment), GamesFilter::All);
            let mut after = None;
            loop {
                let page = reading.games(all, after, 3).await.unwrap();
                seen.push(format!("{page:?}"));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            for filter in [GamesFilter::Uncounted, GamesFilter::Failed] {
                let some = question(GamesOf::Experiment(experiment), filter);
                seen.push(format!("{:?}", reading.games(some, None, 4).await.unwrap()));
            }
        }
    }
    for &cell in known.cells.keys() {
        let newest = GamesQuestion {
            scope: GamesOf::Cell(cell),
            filter: GamesFilter::All,
            order: GamesOrder::Newest,
        };
        seen.push(format!("{:?}", reading.games(newest, None, 2).await.unwrap()));
        for number in [0, 1, 11] {
            let which = WhichGame::InCell(GameId { cell, number });
            seen.push(format!("{:?}", reading.game(which).await.unwrap()));
        }
        seen.push(format!("{:?}", reading.definition_of(cell).await.unwrap()));
    }
    for id in [1, 7] {
        seen.push(format!("{:?}", reading.game(WhichGame::Id(id)).await.unwrap()));
    }
    seen
}

/// Compares all answers of a store with those of the one in memory.
async fn compare<S: Compared>(
    mut compared: S,
    steps: Vec<(Step, bool)>,
) -> Result<(), TestCaseError> {
    let mut memory = InMemory::new();
    let (mut known, mut of_memory) = (Known::default(), Known::default());
    for (taken, (step, commit)) in steps.into_iter().enumerate() {
        if matches!(step, Step::TakeOver) {
            // Whoever was replaced writes nothing more; what was committed is there.
            let mut old = std::mem::take(&mut memory);
            memory = old.take_over();
            refuses(&mut old).await?;
            let term = compared.store().term();
            compared = compared.take_over().await?;
            prop_assert!(compared.store().term() > term);
        }
        let theirs = take(&mut memory, &mut of_memory, &step, commit).await;
        let ours = take(compared.store(), &mut known, &step, commit).await;
        prop_assert_eq!(text(&ours), text(&theirs), "{:?}", step);
        let (ours, theirs) = (everything(compared.store()).await, everything(&mut memory).await);
        prop_assert_eq!(ours, theirs, "after {:?}", step);
        // Many questions: not after every step.
        if taken % 8 == 7 {
            let (ours, theirs) = (compared.seen(&known).await, seen(&memory, &of_memory).await);
            prop_assert_eq!(ours, theirs, "seen after {:?}", step);
        }
    }
    prop_assert_eq!(compared.seen(&known).await, seen(&memory, &of_memory).await);
    let theirs: Vec<String> = memory
        .uncounted()
        .into_iter()
        .map(|(game, reason)| format!("{} {} {reason}", game.cell, game.number))
        .collect();
    prop_assert_eq!(compared.uncounted().await, theirs);
    take(compared.store(), &mut known, &Step::RemoveAll, true).await.unwrap();
    compared.end().await
}

/// A store that was taken over writes nothing more.
async fn refuses(old: &mut impl Store) -> Result<(), TestCaseError> {
    let refused = take(old, &mut Known::default(), &Step::RemoveAll, true).await;
    prop_assert!(matches!(refused, Err(StoreError::TakenOver { .. })), "{refused:?}");
    Ok(())
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stores_answer_alike(steps in steps()) {
        block_on(async { compare(OnSqlite::open().await, steps).await })?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn copies_of_a_shared_database_answer_alike(steps in steps()) {
        block_on(async { compare(OnCopies::open().await, steps).await })?;
    }
}
