//! Schedulers with one mistake each, to show that the simulation notices.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spelrum_model::demands::Demands;
use spelrum_model::withheld::Withheld;
use spelrum_model::{Allocation, CellId, ExperimentId, ExperimentState, GameId, WorkerId};
use spelrum_scheduling::scheduler::{
    CellState, Changes, Effect, Event, Policy, Report, Scheduler, Snapshot, Tasks, Time, Verdict,
};
use spelrum_scheduling::stopping::{Points, Prefix, Reading, Settled};
use spelrum_statistics::StopRule;

use crate::engines::everything;
use crate::labels::all_labels;
use crate::machines::best_speed;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// The durable state lacks returned ranges.
    ForgetsReturned,
    /// The durable state lacks the cells that changed.
    ForgetsCells,
    /// The durable state lacks granted leases.
    ForgetsGrants,
    /// The durable state has ended leases as live.
    ForgetsEnds,
    /// The durable state lacks attempts.
    ForgetsAttempts,
    /// A restart does not see the live leases.
    RestartsWithoutLeases,
    /// A restart does not see the attempts.
    RestartsWithoutAttempts,
    /// A restart starts to count leases anew.
    RepeatsLeaseIds,
    /// A restart gives live leases no time.
    RestartsImpatiently,
    /// Anybody may report anything.
    TrustsReporters,
    /// A second result counts as well.
    CountsAgain,
    /// Results after a cancel count.
    CountsAfterCancel,
    /// Late results do not count.
    RefusesLateResults,
    /// A heartbeat renews what it does not name.
    RenewsUnnamed,
    /// A heartbeat renews nothing.
    RenewsNothing,
    /// A heartbeat's leases are believed to be its worker's.
    DropsNothing,
    /// No lease expires.
    NeverExpires,
    /// Leases expire too soon.
    ExpiresEarly,
    /// Every lost game costs an attempt, started or not.
    ChargesUnstarted,
    /// A game that killed its worker is handed out like any other.
    NamesNothing,
    /// A coordinator that stood still takes its workers for silent.
    IgnoresGaps,
    /// Leases live from when they were asked for, however long that waited.
    ForgetsWaits,
    /// Handing back is taken for losing.
    IgnoresGiveBack,
    /// Anybody may hand back any lease.
    GivesBackForOthers,
    /// A paused experiment goes on.
    IgnoresPause,
    /// A cancelled experiment goes on.
    IgnoresCancel,
    /// Another priority of an experiment changes nothing.
    IgnoresPriority,
    /// A deleted experiment is remembered.
    RemembersDeleted,
    /// Nobody learns that an experiment is finished.
    NeverFinishes,
    /// Games are given up after too few failures.
    GivesUpEarly,
    /// Games are given up after too many losses.
    GivesUpLate,
    /// Lost games are never leased alone.
    NeverAlone,
    /// Cells that the sweep no longer names go on.
    IgnoresDrops,
    /// A restart takes all cells for named.
    RestartsWithoutDrops,
    /// Cells keep the games that they had at first.
    IgnoresGrowth,
    /// Cells that are named again stay away.
    IgnoresReturns,
    /// A cell ends where the results say so in the order in which they come (invariant 7).
    StopsByArrival,
    /// The durable state lacks where cells end.
    ForgetsStops,
    /// The durable state lacks how far stop rules have read.
    ForgetsDecided,
    /// A restart does not see the stop rules.
    RestartsWithoutRules,
    /// A restart does not see what a stop rule has not read yet.
    RestartsWithoutResults,
    /// No cell has a stop rule.
    IgnoresRules,
    /// Cells keep the stop rule that they had at first.
    KeepsRules,
    /// Players that repeat themselves are not stopped after a round.
    PlaysRepeats,
    /// Whoever moves first is taken for the first player.
    MistakesPlayers,
    /// Games are not played again.
    IgnoresReopened,
    /// An experiment is finished with its games, though more cells may come.
    IgnoresOpen,
    /// The same, from the next restart on.
    RestartsWithoutOpen,
    /// Cells are served in the grid's order, whatever the sweep says.
    IgnoresAllocation,
    /// Any number of an experiment's games is out at once.
    IgnoresGamesAtOnce,
    /// Workers are taken to have every engine.
    IgnoresEngines,
    /// Workers are taken to have every label.
    IgnoresLabels,
    /// Workers are taken to be as fast as can be.
    IgnoresSpeeds,
    /// What workers say of their speed is not remembered.
    ForgetsSpeeds,
    /// No worker is asked for its speed.
    NeverMeasures,
    /// Workers are taken to have all their CPU time.
    IgnoresQuotas,
    /// A sweep that asks for other labels changes nothing for its cells that are there.
    KeepsDemands,
    /// Workers are taken to train.
    IgnoresTrains,
    /// Games do not wait for trainings.
    IgnoresAfter,
    /// A restart does not see what cells wait for.
    RestartsWithoutAfter,
    /// Trainings are games like others.
    ForgetsTrainings,
    /// A restart does not see what engines cells need.
    RestartsWithoutEngines,
    /// Nobody is excluded.
    IgnoresExclusions,
    /// A restart does not see who is excluded.
    RestartsWithoutExclusions,
    /// Who is excluded stays so.
    IgnoresReadmissions,
    /// Whoever is quarantined is let in at once.
    IgnoresQuarantine,
    /// Whoever plays a game that has failed is taken for the one at whom it did.
    BlamesWhoPlays,
    /// Whoever played a game may verify it.
    ForgetsWhoPlayed,
    /// A restart does not see who played the games that are to be verified.
    RestartsWithoutPlayers,
    /// Workers are taken to verify.
    IgnoresVerifies,
    /// Disturbed results count, however often their games may be played again.
    CountsDisturbed,
    /// A game that was disturbed is not played again.
    LosesDisturbed,
    /// A restart does not see how often games were played again.
    RestartsWithoutReplays,
    /// Nobody learns that a cell is settled.
    SettlesInSilence,
    /// Leases do not say that their games are timed.
    ForgetsTimed,
    /// Workers play timed games on all their slots, quiet or not.
    TakesAllForQuiet,
    /// Workers play timed games as all others, though they have quiet slots.
    TakesNoneForQuiet,
    /// The coordinator replies before it commits (invariant 5).
    RepliesBeforeCommit,
    /// A coordinator that has lost the file to another replies as if it had it (invariant 5).
    RepliesUnfenced,
}

impl Mutant {
    /// All mistakes.
    pub(crate) const ALL: &[Self] = &[
        Self::ForgetsReturned,
        Self::ForgetsCells,
        Self::ForgetsGrants,
        Self::ForgetsEnds,
        Self::ForgetsAttempts,
        Self::RestartsWithoutLeases,
        Self::RestartsWithoutAttempts,
        Self::RepeatsLeaseIds,
        Self::RestartsImpatiently,
        Self::TrustsReporters,
        Self::CountsAgain,
        Self::CountsAfterCancel,
        Self::RefusesLateResults,
        Self::RenewsUnnamed,
        Self::RenewsNothing,
        Self::DropsNothing,
        Self::NeverExpires,
        Self::ExpiresEarly,
        Self::ChargesUnstarted,
        Self::NamesNothing,
        Self::IgnoresGaps,
        Self::ForgetsWaits,
        Self::IgnoresGiveBack,
        Self::GivesBackForOthers,
        Self::IgnoresPause,
        Self::IgnoresCancel,
        Self::IgnoresPriority,
        Self::RemembersDeleted,
        Self::NeverFinishes,
        Self::GivesUpEarly,
        Self::GivesUpLate,
        Self::NeverAlone,
        Self::IgnoresDrops,
        Self::RestartsWithoutDrops,
        Self::IgnoresGrowth,
        Self::IgnoresReturns,
        Self::StopsByArrival,
        Self::ForgetsStops,
        Self::ForgetsDecided,
        Self::RestartsWithoutRules,
        Self::RestartsWithoutResults,
        Self::IgnoresRules,
        Self::KeepsRules,
        Self::PlaysRepeats,
        Self::MistakesPlayers,
        Self::IgnoresReopened,
        Self::IgnoresOpen,
        Self::IgnoresAllocation,
        Self::IgnoresGamesAtOnce,
        Self::RestartsWithoutOpen,
        Self::IgnoresEngines,
        Self::IgnoresLabels,
        Self::IgnoresSpeeds,
        Self::ForgetsSpeeds,
        Self::NeverMeasures,
        Self::IgnoresQuotas,
        Self::KeepsDemands,
        Self::IgnoresTrains,
        Self::IgnoresAfter,
        Self::RestartsWithoutAfter,
        Self::ForgetsTrainings,
        Self::RestartsWithoutEngines,
        Self::IgnoresExclusions,
        Self::RestartsWithoutExclusions,
        Self::IgnoresReadmissions,
        Self::IgnoresQuarantine,
        Self::BlamesWhoPlays,
        Self::ForgetsWhoPlayed,
        Self::RestartsWithoutPlayers,
        Self::IgnoresVerifies,
        Self::CountsDisturbed,
        Self::LosesDisturbed,
        Self::RestartsWithoutReplays,
        Self::SettlesInSilence,
        Self::ForgetsTimed,
        Self::TakesAllForQuiet,
        Self::TakesNoneForQuiet,
        Self::RepliesBeforeCommit,
        Self::RepliesUnfenced,
    ];
}

fn forget_players(cells: &mut [CellState]) {
    for cell in cells {
        if let Tasks::Verifications { not_by } = &mut cell.tasks {
            *not_by = None;
        }
    }
}

/// A scheduler, right or with a mistake.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    scheduler: Scheduler,
    mutant: Option<Mutant>,
    /// What the mistakes need to know of live leases.
    holders: BTreeMap<spelrum_model::LeaseId, (WorkerId, Vec<spelrum_model::GameRange>)>,
    started: Time,
    /// Cells that were once not named.
    dropped: BTreeSet<CellId>,
    /// What cells asked of workers at first.
    demands: BTreeMap<CellId, Option<Arc<Demands>>>,
    /// The stop rules that cells had at first.
    rules: BTreeMap<CellId, Option<StopRule>>,
    /// For each cell with a rule, what is read of its games as they come, and how many came.
    arrived: BTreeMap<CellId, (Prefix, u64)>,
}

impl Subject {
    /// [`Scheduler::restore`].
    pub(crate) fn restore(
        mut snapshot: Snapshot,
        mut policy: Policy,
        now: Time,
        mutant: Option<Mutant>,
    ) -> Self {
        let mut from = now;
        let holders =
            snapshot.leases.iter().map(|l| (l.lease, (l.worker, l.granted.clone()))).collect();
        match mutant {
            Some(Mutant::RestartsWithoutLeases) => snapshot.leases.clear(),
            Some(Mutant::RestartsWithoutExclusions) => snapshot.excluded.clear(),
            Some(Mutant::RestartsWithoutAttempts) => snapshot.attempts.clear(),
            Some(Mutant::RepeatsLeaseIds) => {
                snapshot.last_lease = snapshot.leases.iter().map(|l| l.lease.0).max().unwrap_or(0);
            }
            Some(Mutant::RestartsImpatiently) => from = Time(now.0.saturating_sub(20_000)),
            Some(Mutant::GivesUpEarly) => policy.failures_max = 2,
            Some(Mutant::GivesUpLate) => policy.losses_alone_max = 11,
            Some(Mutant::NeverAlone) => policy.losses_until_alone = u32::MAX,
            Some(Mutant::RestartsWithoutDrops) => {
                let cells =
                    snapshot.experiments.iter_mut().flat_map(|experiment| &mut experiment.cells);
                cells.for_each(|cell| cell.in_sweep = true);
            }
            Some(Mutant::RestartsWithoutAfter) => {
                let cells =
                    snapshot.experiments.iter_mut().flat_map(|experiment| &mut experiment.cells);
                cells.for_each(|cell| cell.after = None);
            }
            Some(Mutant::RestartsWithoutPlayers) => {
                snapshot
                    .experiments
                    .iter_mut()
                    .for_each(|experiment| forget_players(&mut experiment.cells));
            }
            Some(Mutant::RestartsWithoutOpen) => {
                snapshot.experiments.iter_mut().for_each(|experiment| experiment.open = false);
            }
            Some(Mutant::RestartsWithoutEngines) => {
                let cells =
                    snapshot.experiments.iter_mut().flat_map(|experiment| &mut experiment.cells);
                cells.for_each(|cell| cell.demands = None);
            }
            Some(Mutant::RestartsWithoutRules) => {
                let cells =
                    snapshot.experiments.iter_mut().flat_map(|experiment| &mut experiment.cells);
                cells.for_each(|cell| cell.reading = None);
            }
            Some(Mutant::RestartsWithoutResults) => {
                let cells =
                    snapshot.experiments.iter_mut().flat_map(|experiment| &mut experiment.cells);
                let readings = cells.filter_map(|cell| cell.reading.as_mut());
                readings.for_each(|reading| reading.beyond.clear());
            }
            _ => {}
        }
        let scheduler = Scheduler::restore(snapshot, policy, from);
        let (dropped, demands, rules, arrived) = <_>::default();
        Self { scheduler, mutant, holders, started: now, dropped, demands, rules, arrived }
    }

    /// [`Scheduler::begin_turn`].
    pub(crate) fn begin_turn(&mut self, now: Time, gap_ms: u64) {
        match self.mutant {
            Some(Mutant::IgnoresGaps) => self.scheduler.begin_turn(now, 0),
            Some(Mutant::ForgetsWaits) => self.scheduler.begin_turn(Time(0), gap_ms),
            _ => self.scheduler.begin_turn(now, gap_ms),
        }
    }

    /// [`Scheduler::take_settled`].
    pub(crate) fn take_settled(&mut self) -> BTreeSet<ExperimentId> {
        let settled = self.scheduler.take_settled();
        if self.mutant == Some(Mutant::SettlesInSilence) { BTreeSet::new() } else { settled }
    }

    /// [`Scheduler::is_settled`].
    pub(crate) fn is_settled(&self, cell: CellId) -> bool {
        self.scheduler.is_settled(cell) == Some(true)
    }

    /// [`Scheduler::is_open`].
    pub(crate) fn is_open(&self, experiment: ExperimentId) -> bool {
        self.scheduler.is_open(experiment)
    }

    /// [`Scheduler::handle`].
    pub(crate) fn handle(&mut self, mut event: Event, mut now: Time) -> Vec<Effect> {
        if let (Some(Mutant::IgnoresQuarantine), Event::LeaseWanted { worker, .. }) =
            (self.mutant, &event)
        {
            let is_quarantined = |(withheld_worker, why): &(WorkerId, Withheld)| {
                withheld_worker == worker && matches!(why, Withheld::Quarantined { .. })
            };
            if self.scheduler.withheld().iter().any(is_quarantined) {
                let _none =
                    self.scheduler.handle(Event::Readmitted { worker: *worker, engine: None }, now);
            }
        }
        match (self.mutant, &mut event) {
            (
                Some(Mutant::BlamesWhoPlays),
                Event::Reported { worker, report: Report::Played { .. }, .. },
            ) => *worker = WorkerId(worker.0 % 2 + 1),
            (Some(Mutant::TrustsReporters), Event::Reported { leased, .. }) => *leased = true,
            (
                Some(Mutant::CountsDisturbed),
                Event::Reported { report: report @ Report::Disturbed, .. },
            ) => {
                *report = Report::Played {
                    wall_us: 1_000,
                    points: Points::Half,
                    moves_hash: 0,
                    forfeit: None,
                }
            }
            // Whoever names another lease holds nothing.
            (
                Some(Mutant::LosesDisturbed),
                Event::Reported { report: Report::Disturbed, lease, .. },
            ) => *lease = spelrum_model::LeaseId(i64::MAX),
            (Some(Mutant::RenewsUnnamed), Event::Heartbeat { worker, leases, .. }) => {
                let held = self.holders.iter().filter(|(_, held)| held.0 == *worker);
                leases.extend(held.map(|held| *held.0));
            }
            (Some(Mutant::RenewsNothing), Event::Heartbeat { leases, .. }) => leases.clear(),
            (Some(Mutant::NeverExpires), _) => now = self.started,
            (Some(Mutant::ExpiresEarly), _) => now.0 += 10_000,
            (Some(Mutant::ChargesUnstarted), Event::Heartbeat { leases, playing, .. }) => {
                let held = leases.iter().filter_map(|lease| self.holders.get(lease));
                playing.extend(held.flat_map(|held| &held.1).flat_map(crate::store::games));
            }
            (Some(Mutant::IgnoresGiveBack), Event::GivenBack { .. }) => event = Event::Tick,
            (Some(Mutant::GivesBackForOthers), Event::GivenBack { worker, lease }) => {
                *worker = self.holders.get(lease).map_or(*worker, |held| held.0);
            }
            (Some(Mutant::IgnoresPause), Event::Steered { state, .. })
                if *state == ExperimentState::Paused =>
            {
                event = Event::Tick;
            }
            (Some(Mutant::IgnoresCancel), Event::Steered { state, .. })
                if *state == ExperimentState::Cancelled =>
            {
                event = Event::Tick;
            }
            (Some(Mutant::IgnoresPriority), Event::Prioritized { .. })
            | (Some(Mutant::RemembersDeleted), Event::Removed { .. }) => event = Event::Tick,
            (Some(Mutant::IgnoresExclusions), Event::Excluded { .. })
            | (Some(Mutant::IgnoresReadmissions), Event::Readmitted { .. })
            | (Some(Mutant::IgnoresReopened), Event::Reopened { .. }) => event = Event::Tick,
            (Some(Mutant::IgnoresOpen), Event::Submitted { open, .. }) => *open = false,
            (Some(Mutant::IgnoresAllocation), Event::Submitted { settings, .. }) => {
                settings.allocation = Allocation::Grid;
            }
            (Some(Mutant::IgnoresGamesAtOnce), Event::Submitted { settings, .. }) => {
                settings.games_at_once = None;
            }
            (Some(Mutant::IgnoresEngines), Event::LeaseWanted { offer, .. }) => {
                offer.engines = everything().engines;
            }
            (Some(Mutant::IgnoresLabels), Event::LeaseWanted { offer, .. }) => {
                offer.labels = all_labels();
            }
            (Some(Mutant::IgnoresSpeeds), Event::LeaseWanted { offer, .. }) => {
                offer.speeds = vec![best_speed()];
            }
            (Some(Mutant::ForgetsSpeeds), Event::LeaseWanted { offer, .. }) => offer.speeds.clear(),
            (Some(Mutant::IgnoresQuotas), Event::LeaseWanted { offer, .. }) => {
                offer.quota_period_us = None;
            }
            (Some(Mutant::KeepsDemands), Event::Submitted { cells, .. }) => {
                for cell in cells {
                    let first = self.demands.entry(cell.cell).or_insert(cell.demands.clone());
                    cell.demands.clone_from(first);
                }
            }
            (Some(Mutant::IgnoresTrains), Event::LeaseWanted { trains, .. }) => *trains = true,
            (Some(Mutant::IgnoresVerifies), Event::LeaseWanted { verifies, .. }) => {
                *verifies = true;
            }
            (Some(Mutant::ForgetsWhoPlayed), Event::Submitted { cells, .. }) => {
                forget_players(cells);
            }
            (Some(Mutant::IgnoresAfter), Event::Submitted { cells, .. }) => {
                cells.iter_mut().for_each(|cell| cell.after = None);
            }
            (Some(Mutant::ForgetsTrainings), Event::Submitted { cells, .. }) => {
                cells.iter_mut().for_each(|cell| cell.tasks = Tasks::Games);
            }
            (Some(Mutant::IgnoresRules), Event::Submitted { cells, .. }) => {
                cells.iter_mut().for_each(|cell| cell.reading = None);
            }
            (Some(Mutant::KeepsRules), Event::Submitted { cells, .. }) => {
                for cell in cells {
                    let rule = cell.reading.as_ref().and_then(|reading| reading.rule);
                    let first = *self.rules.entry(cell.cell).or_insert(rule);
                    let settled = cell.reading.take().map_or(Vec::new(), |reading| reading.beyond);
                    let reading = |rule| Reading::from_start(rule, cell.swap_sides, settled);
                    cell.reading = first.map(reading).map(Box::new);
                }
            }
            (Some(Mutant::PlaysRepeats), Event::Submitted { cells, .. }) => {
                for reading in cells.iter_mut().filter_map(|cell| cell.reading.as_mut()) {
                    reading.round = None;
                }
            }
            (Some(Mutant::StopsByArrival), Event::Submitted { cells, .. }) => {
                for cell in cells {
                    if let Some(reading) = &cell.reading {
                        let nothing =
                            Reading::from_start(reading.rule, cell.swap_sides, Vec::new());
                        self.arrived.entry(cell.cell).or_insert((nothing.into(), 0));
                    }
                }
            }
            (
                Some(Mutant::MistakesPlayers),
                Event::Reported {
                    report: Report::Played { points, .. },
                    game: GameId { number, .. },
                    ..
                },
            ) if *number % 2 == 1 => *points = points.swapped(),
            (Some(Mutant::IgnoresDrops), Event::Submitted { cells, .. }) => {
                cells.iter_mut().for_each(|cell| cell.in_sweep = true);
            }
            (Some(Mutant::IgnoresGrowth), Event::Submitted { cells, .. }) => {
                cells.retain(|cell| cell.next_number == 0 || !cell.in_sweep);
            }
            (Some(Mutant::IgnoresReturns), Event::Submitted { cells, .. }) => {
                for cell in &*cells {
                    if !cell.in_sweep {
                        self.dropped.insert(cell.cell);
                    }
                }
                cells.retain(|cell| !cell.in_sweep || !self.dropped.contains(&cell.cell));
            }
            _ => {}
        }
        let named = match &event {
            Event::Reported { lease, .. } => self.scheduler_holds(*lease),
            _ => true,
        };
        let came = match &event {
            Event::Reported { report: Report::Played { points, .. }, game, .. } => {
                Some((game.cell, *points))
            }
            _ => None,
        };
        let mut effects = self.scheduler.handle(event, now);
        for effect in &mut effects {
            match (self.mutant, effect) {
                (mutant, Effect::Grant { worker, lease, ranges, lost, .. }) => {
                    self.holders.insert(*lease, (*worker, ranges.clone()));
                    if mutant == Some(Mutant::NamesNothing) {
                        lost.clear();
                    }
                }
                (
                    Some(Mutant::StopsByArrival),
                    Effect::Verdict { verdict: Verdict::Counts, .. },
                ) => {
                    let (cell, points) = came.expect("only what was played counts");
                    if let Some((prefix, games)) = self.arrived.get_mut(&cell) {
                        prefix.tell(*games, Settled::Played(points, *games));
                        *games += 1;
                    }
                }
                (Some(Mutant::DropsNothing), Effect::Drop { leases, .. }) => leases.clear(),
                (Some(Mutant::NeverMeasures), Effect::Idle { calibrate, .. }) => *calibrate = None,
                (Some(mutant), Effect::Verdict { verdict, .. }) => {
                    *verdict = match (mutant, *verdict) {
                        (Mutant::CountsAgain, Verdict::Again)
                        | (Mutant::CountsAfterCancel, Verdict::AfterCancel) => Verdict::Counts,
                        (Mutant::RefusesLateResults, Verdict::Counts) if !named => Verdict::Again,
                        (_, verdict) => verdict,
                    };
                }
                _ => {}
            }
        }
        if self.mutant == Some(Mutant::NeverFinishes) {
            effects.retain(|effect| !matches!(effect, Effect::Finished { .. }));
        }
        effects
    }

    /// [`Scheduler::next_deadline`].
    pub(crate) fn next_deadline(&self) -> Option<Time> {
        self.scheduler.next_deadline()
    }

    /// [`Scheduler::holds_leases`].
    pub(crate) fn holds_leases(&self, experiment: ExperimentId) -> bool {
        self.scheduler.holds_leases(experiment)
    }

    /// [`Scheduler::take_changes`].
    pub(crate) fn take_changes(&mut self) -> Changes {
        let mut changes = self.scheduler.take_changes();
        for (lease, _) in &changes.ended {
            self.holders.remove(lease);
        }
        match self.mutant {
            Some(Mutant::ForgetsReturned) => {
                changes.cells.iter_mut().for_each(|cell| cell.returned.clear());
            }
            Some(Mutant::ForgetsCells) => changes.cells.clear(),
            Some(Mutant::StopsByArrival) => {
                for cell in &mut changes.cells {
                    let stop =
                        self.arrived.get(&cell.cell).and_then(|arrived| arrived.0.stop_number());
                    cell.stop_number = stop.or(cell.stop_number);
                }
            }
            Some(Mutant::ForgetsStops) => {
                changes.cells.iter_mut().for_each(|cell| cell.stop_number = None);
            }
            Some(Mutant::ForgetsDecided) => {
                changes.cells.iter_mut().for_each(|cell| cell.decided_number = 0);
            }
            Some(Mutant::ForgetsGrants) => changes.granted.clear(),
            Some(Mutant::ForgetsEnds) => changes.ended.clear(),
            Some(Mutant::ForgetsAttempts) => changes.attempts.clear(),
            _ => {}
        }
        changes
    }

    /// [`Scheduler::assert_consistent`].
    pub(crate) fn assert_consistent(&self) {
        self.scheduler.assert_consistent();
    }

    fn scheduler_holds(&self, lease: spelrum_model::LeaseId) -> bool {
        self.holders.contains_key(&lease)
    }
}
