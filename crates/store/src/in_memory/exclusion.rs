//! Excluded workers.

use std::collections::BTreeMap;

use spelrum_answers::Removing;
use spelrum_engine::ENGINE_REVISION;
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, ExperimentId, GameId, GameRange, Task, WorkerId};
use spelrum_scheduling::scheduler::CellState;
use spelrum_scheduling::stopping::Prefix;

use super::{Settled, State, Uncounted};
use crate::error::StoreError;
use crate::write::exclusion::{Excludable, KeptResults, TakenOut};
use crate::write::retry::Retry;
use crate::write::uncounted_games::Reason;
use crate::write::workers::NamedWorker;

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
        let id = id.filter(|id| self.workers.values().any(|it| it.id.0 == *id));
        let mut workers: Vec<NamedWorker> = self
            .workers
            .values()
            .filter(|it| id.map_or(it.introduction.name == which, |id| it.id.0 == id))
            .map(|it| NamedWorker {
                worker: it.id,
                name: it.introduction.name.clone(),
                host: it.introduction.host.clone(),
            })
            .collect();
        workers.sort_by_key(|it| it.worker);
        let is_meant = |worker: WorkerId| workers.iter().any(|it| it.worker == worker);
        let mut played: BTreeMap<ExperimentId, u64> = BTreeMap::new();
        for (game, settled) in &self.games {
            let Settled::Played { worker, .. } = settled else { continue };
            let cell = &self.cells[&game.cell];
            let is_there = self.removals.get(&cell.experiment) != Some(&Removing::Everything);
            if is_meant(*worker) && is_there && from.is_none_or(|it| it == cell.experiment) {
                let counts = cell.stop_number.is_none_or(|stop| game.number < stop);
                *played.entry(cell.experiment).or_default() += u64::from(counts);
            }
        }
        let is_of_their_place = |worker: WorkerId| {
            let own = self.workers.values().find(|it| it.id == worker);
            own.is_some_and(|own| {
                let own = &own.introduction;
                workers.iter().any(|it| it.name == own.name && it.host == own.host)
            })
        };
        let mut excludable = Excludable {
            goes_on: self.exclusions.iter().any(|it| !it.is_done && is_of_their_place(it.worker)),
            ..Excludable::default()
        };
        for (experiment, games) in played {
            if self.keeps_results(experiment) {
                let it = &self.experiments[&experiment];
                let (experiment, has_course) = (it.name.clone(), it.course.is_some());
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
        let is_same = |it: &Exclusion| Exclusion { is_done: false, ..it.clone() } == new;
        if !self.exclusions.iter().any(is_same) {
            self.exclusions.push(new);
        }
        let cells = &self.cells;
        for it in self.uncounted.iter_mut().filter(|it| it.reason == Reason::Conflict) {
            let experiment = cells[&it.game.game.cell].experiment;
            if it.worker == worker
                && from.is_none_or(|from| from == experiment)
                && since_unix_us.is_none_or(|since| it.game.started_unix_us >= since)
            {
                it.reason = Reason::Excluded;
            }
        }
    }

    pub(super) fn readmit(&mut self, workers: &[WorkerId], engine: Option<&str>) -> Vec<WorkerId> {
        let place = |worker: WorkerId| {
            let of = self.workers.values().find(|it| it.id == worker)?;
            Some((of.introduction.name.clone(), of.introduction.host.clone()))
        };
        let places: Vec<_> = workers.iter().filter_map(|&worker| place(worker)).collect();
        let is_meant = |worker| place(worker).is_some_and(|it| places.contains(&it));
        let meant: Vec<bool> = self.exclusions.iter().map(|it| is_meant(it.worker)).collect();
        let mut readmitted = Vec::new();
        for (exclusion, is_meant) in self.exclusions.iter_mut().zip(meant) {
            let its = exclusion.engine.as_ref().map(|it| &*it.engine);
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
        let Some(own) = self.workers.values().find(|it| it.id == worker) else {
            return Vec::new();
        };
        let place =
            |of: &super::Worker| (of.introduction.name.clone(), of.introduction.host.clone());
        let has_leases = self.leases.values().any(|lease| lease.worker == worker);
        let is_like = |other: WorkerId| {
            let other = self.workers.values().find(|it| it.id == other);
            other.is_some_and(|other| place(other) == place(own))
        };
        let is_open = |it: &&Exclusion| !it.is_readmitted && it.engine.is_none();
        let open = || self.exclusions.iter().filter(is_open);
        let of_others = open().filter(|it| it.worker != worker && is_like(it.worker));
        let mut inherited: Vec<Option<ExperimentId>> = of_others.map(|it| it.from).collect();
        inherited.retain(|from| {
            !has_leases && !open().any(|it| it.worker == worker && it.from == *from)
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
        let open = self.exclusions.iter().filter(|it| !it.is_readmitted && it.engine.is_none());
        let mut excluded: Vec<_> = open.map(|it| (it.worker, it.from)).collect();
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
            let it = self.workers.values().find(|it| it.id == worker)?;
            Some((&it.introduction.name, &it.introduction.host))
        };
        let is_first = |own: &Exclusion| {
            !self.exclusions.iter().any(|it| {
                it.worker < worker
                    && place(it.worker) == place(worker)
                    && it.from == own.from
                    && it.engine.as_ref().map(|it| &it.engine)
                        == own.engine.as_ref().map(|it| &it.engine)
                    && !it.is_readmitted
            })
        };
        let mut own = self.exclusions.iter().filter(|it| it.worker == worker);
        own.any(|it| !it.is_done || !it.is_readmitted && is_first(it))
    }

    /// Discards all results of an exclusion.
    pub(super) fn exclude_some(&mut self) -> Option<Vec<TakenOut>> {
        let index = self.exclusions.iter().position(|it| !it.is_done)?;
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
            for it in self.uncounted.iter_mut().filter(|it| it.game.game == id) {
                if it.reason == Reason::Conflict {
                    it.reason = Reason::Repeat;
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

    fn taken_out(&mut self, of: ExperimentId, id: CellId, games: Vec<GameId>) -> TakenOut {
        let find = |state: &Self| {
            let states = state.cell_states(of);
            states.into_iter().find(|it| it.cell == id).map(|it| (it.reading, it.played))
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
        let experiment = &self.experiments[&of];
        TakenOut {
            experiment: of,
            state: experiment.state,
            is_of_this_engine: experiment.engine_revision == ENGINE_REVISION,
            cell: id,
            games,
            reading,
            played,
        }
    }

    pub(super) fn whole(&self, id: ExperimentId) -> Result<Retry, StoreError> {
        let Some(experiment) = self.experiments.get(&id) else {
            return Err(StoreError::Missing { what: "an experiment" });
        };
        let cells: Vec<CellState> = self.cell_states(id);
        Ok(Retry {
            games: Vec::new(),
            cells,
            attempts: self.open_attempts(|of| of == id),
            priority: experiment.priority,
            allocation: experiment.allocation,
        })
    }

    /// Whether an experiment keeps the results of excluded workers.
    fn keeps_results(&self, experiment: ExperimentId) -> bool {
        let it = &self.experiments[&experiment];
        it.course.is_some() || it.task == Task::Choice
    }
}
