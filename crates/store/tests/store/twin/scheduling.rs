//! State that the scheduler restores, and facts about reported games that it needs.

use std::collections::BTreeSet;
use std::time::Duration;

use spelrum_answers::Removing;
use spelrum_model::capabilities::GameRequest;
use spelrum_model::placement::Placement;
use spelrum_model::{Allocation, ExperimentState};
use spelrum_model::{CellId, ExperimentId, GameId, GameRange, LeaseId, WorkerId};
use spelrum_scheduling::scheduler::{
    Attempts, CellState, Changes, ExperimentSnapshot, LeaseState, Snapshot, Tasks,
};
use spelrum_scheduling::stopping;
use spelrum_scheduling::stopping::{Points, Reading, Round};
use spelrum_statistics::GameCounts;

use super::{CourseState, Lease, Settled, State, Worker};
use spelrum_store::Found;
use spelrum_store::GameFacts;
use spelrum_store::LeaseHolder;
use spelrum_store::LeasedCell;
use spelrum_store::Removed;
use spelrum_store::StoreError;
use spelrum_store::decisions::{LEASES_AT_ONCE, WORKERS_AT_ONCE};
use spelrum_store::unix_now_us;
use spelrum_store::{WorkerIntroduction, WorkerProof};

impl State {
    pub(super) fn snapshot(&self) -> Snapshot {
        let open = self.experiments.iter().filter(|(_, experiment)| !experiment.is_over());
        let live = self.leases.iter().filter(|(_, lease)| lease.end.is_none());
        Snapshot {
            experiments: open
                .map(|(&id, experiment)| ExperimentSnapshot {
                    experiment: id,
                    settings: experiment.settings.scheduling,
                    state: experiment.state,
                    open: experiment.course == Some(CourseState::Open),
                    cells: self.cell_states(id),
                })
                .collect(),
            leases: live.map(|lease| self.lease_state(lease)).collect(),
            attempts: self.open_attempts(|_| true),
            last_lease: self.last_lease,
            excluded: self.excluded(),
            barred: self.barred(),
        }
    }

    pub(super) fn lease_holders(&self) -> Vec<LeaseHolder> {
        let live = self.leases.values().filter(|lease| lease.end.is_none());
        let holding: BTreeSet<WorkerId> = live.map(|lease| lease.worker).collect();
        let mut holders: Vec<_> = self
            .workers
            .values()
            .filter(|worker| holding.contains(&worker.id))
            .map(|worker| LeaseHolder {
                worker: worker.id,
                name: worker.introduction.name.clone(),
                host: worker.introduction.host.clone(),
                slots: worker.introduction.slots,
                engine_revision: worker.introduction.engine_revision,
            })
            .collect();
        holders.sort_by_key(|holder| holder.worker);
        holders
    }

    /// An experiment's cells as scheduler states, in grid order.
    pub(super) fn cell_states(&self, experiment: ExperimentId) -> Vec<CellState> {
        let mut cells: Vec<_> =
            self.cells.iter().filter(|(_, cell)| cell.experiment == experiment).collect();
        cells.sort_by_key(|&(&id, cell)| (cell.has_games(), cell.number, id));
        let nothing = Placement::default();
        let experiment_row = self.experiments.get(&experiment);
        let (placement, game) = experiment_row.map_or((&nothing, ""), |experiment_row| {
            (&experiment_row.settings.placement, &*experiment_row.game)
        });
        let game = GameRequest::from_game_name(game);
        let state = |(&id, cell): (&CellId, &super::Cell)| CellState {
            cell: id,
            in_sweep: cell.in_sweep && !cell.superseded,
            swap_sides: cell.swap_sides,
            games: cell.games_planned,
            next_number: cell.next_number,
            returned: cell.returned.clone(),
            decided_number: cell.decided_number,
            stop_number: cell.stop_number,
            reading: self.reading(id, cell).map(Box::new),
            memory_bytes: cell.needs.memory_bytes,
            demands: cell
                .needs
                .clone()
                .demands(
                    placement,
                    &GameRequest { chess960: cell.chess960, ..game.clone() },
                    cell.timed,
                )
                .shared(&mut BTreeSet::new()),
            played: self.played(id, cell),
            after: self.trainings_before(cell),
            tasks: Tasks::Games,
            timed: cell.timed,
        };
        cells.into_iter().map(|entry| Self::as_task(entry.1, state(entry))).collect()
    }

    /// The results of a cell's games, if its experiment's allocation needs them.
    fn played(&self, id: CellId, cell: &super::Cell) -> GameCounts {
        let mut played = GameCounts::default();
        if self.experiments[&cell.experiment].settings.scheduling.allocation
            == Allocation::Informative
        {
            for (_, game) in self.counted_of(id) {
                played.0[cell.half_points(game)] += 1;
            }
        }
        played
    }

    /// Results read of a cell so far, and the next ones to read; `None` for a cell that simply plays all its games.
    fn reading(&self, id: CellId, cell: &super::Cell) -> Option<Reading> {
        let of_unit = if cell.swap_sides { 2 } else { 1 };
        let mut round = cell.openings_count.filter(|_| cell.repeats).and_then(Round::new);
        let is_several =
            round.as_ref().is_some_and(|round| round.units() * of_unit < cell.games_planned);
        if cell.rule.is_none() && !is_several {
            return None;
        }
        let nothing = Reading::from_start(cell.rule, cell.swap_sides, Vec::new());
        let Reading { mut tally, mut openings, .. } = nothing.with_openings(cell.openings_count);
        let settled = self.settled_of(id).map(|(game, settled)| {
            let (points, moves_hash) = match settled {
                Settled::Failed { .. } => return (game.number, stopping::Settled::Failed),
                Settled::Played { game, .. } => {
                    (Points::from(game.record.outcome), game.moves_hash)
                }
            };
            let is_first_players = !cell.swap_sides || game.number % 2 == 0;
            let points = if is_first_players { points } else { points.swapped() };
            (game.number, stopping::Settled::Played(points, moves_hash))
        });
        let (below, mut beyond): (Vec<_>, Vec<_>) =
            settled.partition(|&(number, _)| number < cell.decided_number);
        for unit in below.chunk_by(|a, b| a.0 / of_unit == b.0 / of_unit) {
            let mut half_points = Vec::new();
            for &(number, settled) in unit {
                let stopping::Settled::Played(points, moves_hash) = settled else { continue };
                half_points.push(points.half_points());
                if let Some(round) = &mut round {
                    round.note(number, of_unit, moves_hash);
                }
            }
            if half_points.len() as u64 == of_unit {
                let sum = half_points.iter().sum::<usize>();
                tally.add(sum);
                if let Some(openings) = &mut openings {
                    openings.add(unit[0].0 / of_unit, 1, sum as u64);
                }
            }
        }
        let decided_number = cell.decided_number;
        if cell.stop_number == Some(decided_number) && !is_several {
            beyond.clear();
        }
        Some(Reading { rule: cell.rule, decided_number, tally, openings, round, beyond })
    }

    fn lease_state(&self, entry: (&LeaseId, &Lease)) -> LeaseState {
        let (&lease, lease_row) = entry;
        let granted = lease_row.granted.clone();
        let mut state =
            LeaseState { lease, worker: lease_row.worker, granted, outstanding: Vec::new() };
        for range in &state.granted {
            for number in range.first..range.end() {
                if self.is_settled(&GameId { cell: range.cell, number }) {
                    continue;
                }
                match state.outstanding.last_mut() {
                    Some(last)
                        if last.cell == range.cell
                            && last.end() == number
                            && last.first >= range.first =>
                    {
                        last.count += 1;
                    }
                    _ => state.outstanding.push(GameRange {
                        cell: range.cell,
                        first: number,
                        count: 1,
                    }),
                }
            }
        }
        state
    }

    /// Attempts of unsettled games in experiments that are not over.
    pub(super) fn open_attempts(&self, is_meant: impl Fn(ExperimentId) -> bool) -> Vec<Attempts> {
        let is_open = |attempts: &&Attempts| {
            let Some(cell) = self.cells.get(&attempts.game.cell) else { return false };
            let open = self
                .experiments
                .get(&cell.experiment)
                .is_some_and(|experiment| !experiment.is_over());
            open && is_meant(cell.experiment) && !self.is_settled(&attempts.game)
        };
        let mut open: Vec<Attempts> = self.attempts.values().filter(is_open).copied().collect();
        // A failure that was noted but not charged has no attempts, yet must be listed.
        for &game in self.messages.keys().filter(|game| !self.attempts.contains_key(game)) {
            let none = Attempts { game, lost: 0, lost_alone: 0, failed: 0 };
            open.extend(Some(&none).filter(is_open));
        }
        open.sort_by_key(|attempts| attempts.game);
        open
    }

    pub(super) fn experiment(&self, which: &str) -> Option<Found> {
        let named = self.experiments.iter().filter(|(id, experiment_row)| {
            (experiment_row.uuid == which || experiment_row.name == which)
                && self.removals.get(id) != Some(&Removing::Everything)
        });
        let best = named.max_by_key(|(id, experiment_row)| {
            (experiment_row.uuid == which, !experiment_row.is_over(), **id)
        });
        best.map(|(&experiment, experiment_row)| Found {
            experiment,
            uuid: experiment_row.uuid.clone(),
            state: experiment_row.state,
        })
    }

    pub(super) fn leased_cell(&self, id: CellId) -> Result<LeasedCell, StoreError> {
        let cell = self.cells.get(&id);
        let experiment = cell.and_then(|cell| self.experiments.get(&cell.experiment));
        match (cell, experiment) {
            (Some(cell), Some(experiment)) => Ok(LeasedCell {
                definition: cell.hash,
                game_timeout: experiment
                    .settings
                    .game_timeout_us
                    .filter(|_| !cell.is_training)
                    .map(Duration::from_micros),
                timed: cell.timed,
                scaling: experiment
                    .settings
                    .timing
                    .scaling
                    .filter(|_| cell.timed && cell.has_time_limit()),
            }),
            _ => Err(StoreError::Missing { what: "a cell" }),
        }
    }

    pub(super) fn facts(&self, (worker, lease, game): (WorkerId, LeaseId, GameId)) -> GameFacts {
        let held = self.leases.get(&lease).is_some_and(|lease_row| {
            lease_row.worker == worker && lease_row.granted.iter().any(|range| range.contains(game))
        });
        let removed = self
            .cells
            .get(&game.cell)
            .is_none_or(|cell| self.removals.get(&cell.experiment) == Some(&Removing::Everything));
        let timed = self.timed(game.cell);
        let replays = timed.is_some_and(|timed| timed.timing.replays_max > 0);
        let kept = || self.kept_disturbed(game).filter(|_| replays);
        GameFacts {
            settled: self.games.contains_key(&game),
            leased: held && !removed,
            timed,
            disturbed: kept().count() as u64,
            is_kept: kept().any(|kept| kept == Some(lease)),
            granted_unix_us: self
                .leases
                .get(&lease)
                .filter(|_| held && !removed)
                .map(|lease_row| lease_row.granted_unix_us),
        }
    }

    pub(super) fn apply(&mut self, changes: &Changes) {
        let Changes { cells, granted, ended, attempts } = changes;
        for state in cells {
            if let Some(cell) = self.cells.get_mut(&state.cell) {
                cell.next_number = state.next_number;
                cell.returned.clone_from(&state.returned);
                cell.decided_number = state.decided_number;
                cell.stop_number = state.stop_number;
            }
        }
        for state in granted {
            let LeaseState { lease, worker, granted, .. } = state.clone();
            self.last_lease = self.last_lease.max(lease.0);
            let granted_unix_us = unix_now_us();
            self.leases.insert(lease, Lease { worker, granted, granted_unix_us, end: None });
        }
        for (lease, end) in ended {
            if let Some(lease) = self.leases.get_mut(lease) {
                lease.end = Some(*end);
            }
        }
        self.attempts.extend(attempts.iter().map(|attempts| (attempts.game, *attempts)));
    }

    pub(super) fn forget_leases(&mut self, after: LeaseId, kept: u64) -> Option<LeaseId> {
        let bound = self.last_lease.saturating_sub(i64::try_from(kept).unwrap_or(i64::MAX));
        let looked_at: Vec<LeaseId> = self
            .leases
            .keys()
            .filter(|lease| **lease > after && lease.0 <= bound)
            .take(LEASES_AT_ONCE as usize)
            .copied()
            .collect();
        for lease in &looked_at {
            let lease_row = &self.leases[lease];
            let is_open = |cell: &CellId| {
                let experiment = self.experiments.get(&self.cells[cell].experiment);
                experiment.is_some_and(|experiment| !experiment.is_over())
            };
            let has_unsettled = |range: &GameRange| {
                let mut numbers = range.first..range.end();
                numbers.any(|number| !self.is_settled(&GameId { cell: range.cell, number }))
            };
            let is_over = lease_row.end.is_some()
                && !lease_row
                    .granted
                    .iter()
                    .any(|range| is_open(&range.cell) && has_unsettled(range));
            if is_over {
                self.leases.remove(lease);
            }
        }
        looked_at.last().copied()
    }

    pub(super) fn introduce(&mut self, worker: &WorkerIntroduction) -> WorkerId {
        let WorkerIntroduction { uuid, .. } = worker;
        let known = self.workers.get(uuid);
        let secret_sha256 = known.and_then(|known| known.secret_sha256);
        let id = known.map(|known| known.id).unwrap_or_else(|| {
            self.last_worker += 1;
            WorkerId(self.last_worker)
        });
        let introduction = worker.clone();
        let last_hello_unix_us = unix_now_us();
        let worker = Worker { id, introduction, secret_sha256, last_hello_unix_us };
        self.workers.insert(uuid.clone(), worker);
        id
    }

    pub(super) fn worker_proof(&self, uuid: &str) -> Option<WorkerProof> {
        let Worker { introduction, secret_sha256, .. } = self.workers.get(uuid)?;
        let credential = introduction.credential.clone();
        Some(WorkerProof { secret_sha256: *secret_sha256, credential })
    }

    pub(super) fn keep_worker_secret(&mut self, worker: WorkerId, sha256: [u8; 32]) {
        if let Some(known) = self.workers.values_mut().find(|known| known.id == worker) {
            known.secret_sha256 = Some(sha256);
        }
    }

    pub(super) fn forget_workers(
        &mut self,
        after: WorkerId,
        before_unix_us: i64,
        known: &BTreeSet<WorkerId>,
    ) -> Option<WorkerId> {
        let mut looked_at: Vec<Worker> =
            self.workers.values().filter(|worker| worker.id > after).cloned().collect();
        looked_at.sort_by_key(|worker| worker.id);
        looked_at.truncate(WORKERS_AT_ONCE as usize);
        for worker in &looked_at {
            let id = worker.id;
            let has_game = |settled: &Settled| match settled {
                Settled::Played { worker, .. } => *worker == id,
                Settled::Failed { .. } => false,
            };
            let has_trace = self.leases.values().any(|lease| lease.worker == id)
                || self.games.values().any(has_game)
                || self.uncounted.iter().any(|uncounted| uncounted.worker == id)
                || self.refused.iter().any(|refused| refused.worker == id)
                || self.is_excluded_first(id)
                || self.has_trained(id)
                || self.has_verified(id);
            if worker.last_hello_unix_us < before_unix_us && !known.contains(&id) && !has_trace {
                self.exclusions.retain(|exclusion| exclusion.worker() != id);
                self.workers.retain(|_, worker| worker.id != id);
            }
        }
        looked_at.last().map(|worker| worker.id)
    }

    pub(super) fn begin_removal(&mut self, experiment: ExperimentId, what: Removing) {
        let Some(experiment_row) = self.experiments.get_mut(&experiment) else { return };
        match what {
            Removing::Everything => {
                experiment_row.uuid = format!("removed {experiment}");
                experiment_row.name.clear();
                experiment_row.state = ExperimentState::Cancelled;
            }
            Removing::Moves => {
                experiment_row.settings.record = spelrum_model::Record::Games;
                experiment_row.is_pruned = true;
            }
        }
        self.removals.insert(experiment, what);
    }

    /// Carries out a whole removal.
    pub(super) fn remove_some(&mut self) -> Removed {
        let Some((experiment, what)) = self.removals.pop_first() else { return Removed::Nothing };
        let cells: Vec<CellId> = self
            .cells
            .iter()
            .filter(|(_, cell)| cell.experiment == experiment)
            .map(|(&id, _)| id)
            .collect();
        let is_its = |cell: CellId| cells.contains(&cell);
        match what {
            Removing::Moves => self.forget_moves(is_its),
            Removing::Everything => {
                self.games.retain(|game, _| !is_its(game.cell));
                self.uncounted.retain(|uncounted| !is_its(uncounted.game.game.cell));
                self.refused.retain(|refused| !is_its(refused.game.cell));
                self.attempts.retain(|game, _| !is_its(game.cell));
                self.messages.retain(|game, _| !is_its(game.cell));
                self.leases
                    .retain(|_, lease| !lease.granted.iter().any(|range| is_its(range.cell)));
                self.cells.retain(|&cell, _| !cells.contains(&cell));
                self.exclusions.retain(|exclusion| exclusion.from() != Some(experiment));
                self.experiments.remove(&experiment);
            }
        }
        Removed::Some
    }
}
