//! Excluded workers.

use std::collections::BTreeMap;

use spelrum_answers::Removing;
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, ExperimentId, GameId, GameRange, Task, WorkerId};
use spelrum_scheduling::scheduler::CellState;
use spelrum_scheduling::stopping::Prefix;

use super::{Settled, State, Uncounted};
use spelrum_answers::{KeptResults, NamedWorker};
use spelrum_store::Retry;
use spelrum_store::StoreError;
use spelrum_store::decisions::Reason;
use spelrum_store::{Excludable, TakenOut};

/// The exclusion of a worker.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exclusion {
    pub(super) worker: WorkerId,
    from: Option<ExperimentId>,
    since_unix_us: Option<i64>,
    /// Set if the worker is excluded only from this engine's games.
    pub(super) engine: Option<Barred>,
    pub(super) is_readmitted: bool,
    pub(super) is_done: bool,
}

impl Exclusion {
    /// Excludes a worker from an engine's games until a user readmits it.
    pub(super) fn from_engine(worker: WorkerId, barred: Barred, is_done: bool) -> Self {
        let (engine, is_readmitted) = (Some(barred), false);
        Self { worker, from: None, since_unix_us: None, engine, is_readmitted, is_done }
    }

    pub(super) const fn worker(&self) -> WorkerId {
        self.worker
    }

    pub(super) const fn from(&self) -> Option<ExperimentId> {
        self.from
    }
}

impl State {
    pub(super) fn excludable(&self, which: &str, from: Option<ExperimentId>) -> Excludable {
        let id: Option<i64> = which.parse().ok();
        let id = id.filter(|id| self.workers.values().any(|worker| worker.id.0 == *id));
        let mut workers: Vec<NamedWorker> = self
            .workers
            .values()
            .filter(|worker| id.map_or(worker.introduction.name == which, |id| worker.id.0 == id))
            .map(|worker| NamedWorker {
                worker: worker.id,
                name: worker.introduction.name.clone(),
                host: worker.introduction.host.clone(),
            })
            .collect();
        workers.sort_by_key(|worker| worker.worker);
        let is_meant = |worker: WorkerId| workers.iter().any(|named| named.worker == worker);
        let mut played: BTreeMap<ExperimentId, u64> = BTreeMap::new();
        for (game, settled) in &self.games {
            let Settled::Played { worker, .. } = settled else { continue };
            let cell = &self.cells[&game.cell];
            let is_there = self.removals.get(&cell.experiment) != Some(&Removing::Everything);
            if is_meant(*worker) && is_there && from.is_none_or(|from| from == cell.experiment) {
                let counts = cell.stop_number.is_none_or(|stop| game.number < stop);
                *played.entry(cell.experiment).or_default() += u64::from(counts);
            }
        }
        let is_of_their_place = |worker: WorkerId| {
            let worker_row = self.workers.values().find(|worker_row| worker_row.id == worker);
            worker_row.is_some_and(|worker_row| {
                let introduction = &worker_row.introduction;
                workers
                    .iter()
                    .any(|named| named.name == introduction.name && named.host == introduction.host)
            })
        };
        let mut excludable = Excludable {
            goes_on: self
                .exclusions
                .iter()
                .any(|exclusion| !exclusion.is_done && is_of_their_place(exclusion.worker)),
            ..Excludable::default()
        };
        for (experiment, games) in played {
            if self.keeps_results(experiment) {
                let experiment_row = &self.experiments[&experiment];
                let (experiment, has_course) =
                    (experiment_row.name.clone(), experiment_row.course.is_some());
                excludable.kept.push(KeptResults { experiment, has_course, games });
            } else {
                excludable.games += games;
            }
        }
        Excludable { workers, ..excludable }
    }

    pub(super) fn begin_exclusion(
        &mut self,
        worker: WorkerId,
        from: Option<ExperimentId>,
        since_unix_us: Option<i64>,
    ) {
        let (engine, is_readmitted, is_done) = (None, false, false);
        let new = Exclusion { worker, from, since_unix_us, engine, is_readmitted, is_done };
        let is_same =
            |exclusion: &Exclusion| Exclusion { is_done: false, ..exclusion.clone() } == new;
        if !self.exclusions.iter().any(is_same) {
            self.exclusions.push(new);
        }
        let cells = &self.cells;
        for uncounted in
            self.uncounted.iter_mut().filter(|uncounted| uncounted.reason == Reason::Conflict)
        {
            let experiment = cells[&uncounted.game.game.cell].experiment;
            if uncounted.worker == worker
                && from.is_none_or(|from| from == experiment)
                && since_unix_us.is_none_or(|since| uncounted.game.started_unix_us >= since)
            {
                uncounted.reason = Reason::Excluded;
            }
        }
    }

    pub(super) fn readmit(&mut self, workers: &[WorkerId], engine: Option<&str>) -> Vec<WorkerId> {
        let place = |worker: WorkerId| {
            let worker_row = self.workers.values().find(|worker_row| worker_row.id == worker)?;
            Some((worker_row.introduction.name.clone(), worker_row.introduction.host.clone()))
        };
        let places: Vec<_> = workers.iter().filter_map(|&worker| place(worker)).collect();
        let is_meant = |worker| place(worker).is_some_and(|place| places.contains(&place));
        let are_meant: Vec<bool> =
            self.exclusions.iter().map(|exclusion| is_meant(exclusion.worker)).collect();
        let mut readmitted = Vec::new();
        for (exclusion, is_meant) in self.exclusions.iter_mut().zip(are_meant) {
            let its = exclusion.engine.as_ref().map(|engine| &*engine.engine);
            let is_of_engine = engine.is_none() || its == engine;
            if is_meant && is_of_engine && !exclusion.is_readmitted {
                exclusion.is_readmitted = true;
                readmitted.push(exclusion.worker);
            }
        }
        readmitted.sort_unstable();
        readmitted.dedup();
        readmitted
    }

    pub(super) fn inherit_exclusions(&mut self, worker: WorkerId) -> Vec<Option<ExperimentId>> {
        let Some(worker_row) = self.workers.values().find(|worker_row| worker_row.id == worker)
        else {
            return Vec::new();
        };
        let place = |worker_row: &super::Worker| {
            (worker_row.introduction.name.clone(), worker_row.introduction.host.clone())
        };
        let has_leases = self.leases.values().any(|lease| lease.worker == worker);
        let is_like = |other: WorkerId| {
            let other = self.workers.values().find(|worker_row| worker_row.id == other);
            other.is_some_and(|other| place(other) == place(worker_row))
        };
        let is_open =
            |exclusion: &&Exclusion| !exclusion.is_readmitted && exclusion.engine.is_none();
        let open = || self.exclusions.iter().filter(is_open);
        let of_others =
            open().filter(|exclusion| exclusion.worker != worker && is_like(exclusion.worker));
        let mut inherited: Vec<Option<ExperimentId>> =
            of_others.map(|exclusion| exclusion.from).collect();
        inherited.retain(|from| {
            !has_leases
                && !open().any(|exclusion| exclusion.worker == worker && exclusion.from == *from)
        });
        inherited.sort_unstable();
        inherited.dedup();
        self.exclusions.extend(inherited.iter().map(|&from| Exclusion {
            worker,
            from,
            since_unix_us: None,
            engine: None,
            is_readmitted: false,
            is_done: true,
        }));
        inherited
    }

    pub(super) fn excluded(&self) -> Vec<(WorkerId, Option<ExperimentId>)> {
        let open = self
            .exclusions
            .iter()
            .filter(|exclusion| !exclusion.is_readmitted && exclusion.engine.is_none());
        let mut excluded: Vec<_> =
            open.map(|exclusion| (exclusion.worker, exclusion.from)).collect();
        excluded.sort_unstable();
        excluded.dedup();
        excluded
    }

    pub(super) fn is_excluded(&self, worker: WorkerId, cell: CellId) -> bool {
        let experiment = self.cells.get(&cell).map(|cell| cell.experiment);
        self.excluded()
            .iter()
            .any(|&(excluded, from)| excluded == worker && (from.is_none() || from == experiment))
            || self.is_barred(worker, cell)
    }

    /// Whether a worker has an exclusion that continues, or that no earlier start of the worker has.
    pub(super) fn is_excluded_first(&self, worker: WorkerId) -> bool {
        let place = |worker: WorkerId| {
            let worker_row = self.workers.values().find(|worker_row| worker_row.id == worker)?;
            Some((&worker_row.introduction.name, &worker_row.introduction.host))
        };
        let is_first = |first: &Exclusion| {
            !self.exclusions.iter().any(|exclusion| {
                exclusion.worker < worker
                    && place(exclusion.worker) == place(worker)
                    && exclusion.from == first.from
                    && exclusion.engine.as_ref().map(|engine| &engine.engine)
                        == first.engine.as_ref().map(|engine| &engine.engine)
                    && !exclusion.is_readmitted
            })
        };
        let mut exclusions = self.exclusions.iter().filter(|exclusion| exclusion.worker == worker);
        exclusions
            .any(|exclusion| !exclusion.is_done || !exclusion.is_readmitted && is_first(exclusion))
    }

    /// Discards all results of an exclusion.
    pub(super) fn exclude_some(&mut self) -> Option<Vec<TakenOut>> {
        let index = self.exclusions.iter().position(|exclusion| !exclusion.is_done)?;
        self.exclusions[index].is_done = true;
        let exclusion = self.exclusions[index].clone();
        let mut by_cell: BTreeMap<(ExperimentId, CellId), Vec<GameId>> = BTreeMap::new();
        for (game, settled) in &self.games {
            let Settled::Played { worker, game: played, .. } = settled else { continue };
            let experiment = self.cells[&game.cell].experiment;
            if *worker == exclusion.worker
                && exclusion.from.is_none_or(|from| from == experiment)
                && exclusion.since_unix_us.is_none_or(|since| played.started_unix_us >= since)
                && !self.keeps_results(experiment)
                && exclusion.engine.as_ref().is_none_or(|barred| {
                    self.plays_with(game.cell, &barred.engine)
                        && self.is_taken_from(experiment, *worker, &barred.engine)
                })
                && self.removals.get(&experiment) != Some(&Removing::Everything)
            {
                by_cell.entry((experiment, game.cell)).or_default().push(*game);
            }
        }
        let taken = by_cell.into_iter().map(|((experiment, cell), games)| {
            for game in &games {
                self.take_out(*game);
            }
            self.taken_out(experiment, cell, games)
        });
        Some(taken.collect())
    }

    fn take_out(&mut self, id: GameId) {
        if let Some(Settled::Played { worker, game, .. }) = self.games.remove(&id) {
            for uncounted in self.uncounted.iter_mut().filter(|uncounted| uncounted.game.game == id)
            {
                if uncounted.reason == Reason::Conflict {
                    uncounted.reason = Reason::Repeat;
                }
            }
            self.uncounted.push(Uncounted { reason: Reason::Excluded, worker, lease: None, game });
        }
        self.attempts.remove(&id);
        self.messages.remove(&id);
        if let Some(cell) = self.cells.get_mut(&id.cell)
            && cell.returned.iter().all(|range| range.first != id.number)
        {
            cell.returned.push(GameRange { cell: id.cell, first: id.number, count: 1 });
            cell.returned.sort_by_key(|range| range.first);
        }
    }

    fn taken_out(
        &mut self,
        experiment_id: ExperimentId,
        id: CellId,
        games: Vec<GameId>,
    ) -> TakenOut {
        let find = |state: &Self| {
            let states = state.cell_states(experiment_id);
            states
                .into_iter()
                .find(|state| state.cell == id)
                .map(|state| (state.reading, state.played))
        };
        if let Some(cell) = self.cells.get_mut(&id) {
            cell.decided_number = 0;
        }
        let (reading, played) = find(self).unwrap_or_default();
        if let Some((cell, reading)) = self.cells.get_mut(&id).zip(reading.as_deref()) {
            let prefix = Prefix::from(reading.clone());
            cell.decided_number = prefix.decided_number();
            cell.stop_number = prefix.stop_number();
        }
        let played = find(self).map_or(played, |(_, played)| played);
        let experiment = &self.experiments[&experiment_id];
        TakenOut {
            experiment: experiment_id,
            state: experiment.state,
            is_of_this_engine: experiment.engine_revision == ENGINE_REVISION,
            cell: id,
            games,
            reading,
            played,
        }
    }

    pub(super) fn reload_experiment(&self, id: ExperimentId) -> Result<Retry, StoreError> {
        let Some(experiment) = self.experiments.get(&id) else {
            return Err(StoreError::Missing { what: "an experiment" });
        };
        let cells: Vec<CellState> = self.cell_states(id);
        Ok(Retry {
            games: Vec::new(),
            cells,
            attempts: self.open_attempts(|experiment| experiment == id),
            settings: experiment.settings.scheduling,
        })
    }

    /// Whether an experiment keeps the results of excluded workers.
    fn keeps_results(&self, experiment: ExperimentId) -> bool {
        let experiment_row = &self.experiments[&experiment];
        experiment_row.course.is_some() || experiment_row.task == Task::Choice
    }
}
