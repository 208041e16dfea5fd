//! Workers barred from an engine's games, and experiments paused for forfeits.

use std::collections::BTreeMap;

use spelrum_answers::ForfeitKind;
use spelrum_engine::Outcome;
use spelrum_model::ExperimentState;
use spelrum_model::engines::NeededEngine;
use spelrum_model::withheld::Barred;
use spelrum_model::{CellId, ExperimentId, GameId, WorkerId};

use super::exclusion::Exclusion;
use super::{Cell, Settled, State};
use spelrum_store::StoppedForForfeits;

impl Cell {
    /// The engines of its players.
    fn engines(&self) -> [Option<String>; 2] {
        self.players.each_ref().map(|json| {
            let parameters = serde_json::from_str(json).unwrap_or_default();
            NeededEngine::from_parameters(&parameters).map(|engine| engine.engine)
        })
    }
}

impl State {
    pub(super) fn bar(&mut self, worker: WorkerId, barred: &Barred) {
        let is_there = self
            .barred()
            .iter()
            .any(|(other, its)| *other == worker && its.engine == barred.engine);
        if !is_there {
            self.exclusions.push(Exclusion::from_engine(worker, barred.clone(), false));
        }
    }

    pub(super) fn inherit_bars(&mut self, worker: WorkerId) -> Vec<Barred> {
        let place = |worker: WorkerId| {
            let worker_row = self.workers.values().find(|worker_row| worker_row.id == worker)?;
            Some((worker_row.introduction.name.clone(), worker_row.introduction.host.clone()))
        };
        if self.leases.values().any(|lease| lease.worker == worker) {
            return Vec::new();
        }
        let barred = self.barred();
        let has = |engine: &str| {
            barred.iter().any(|(other, its)| *other == worker && its.engine == engine)
        };
        let mut inherited: BTreeMap<String, Barred> = BTreeMap::new();
        for (other, its) in &barred {
            if *other != worker && place(*other) == place(worker) && !has(&its.engine) {
                inherited.entry(its.engine.clone()).or_insert_with(|| its.clone());
            }
        }
        let inherited: Vec<Barred> = inherited.into_values().collect();
        let new = inherited
            .iter()
            .map(|exclusion| Exclusion::from_engine(worker, exclusion.clone(), true));
        self.exclusions.extend(new);
        inherited
    }

    pub(super) fn barred(&self) -> Vec<(WorkerId, Barred)> {
        let open = self.exclusions.iter().filter(|exclusion| !exclusion.is_readmitted);
        let mut barred: Vec<_> = open
            .filter_map(|exclusion| Some((exclusion.worker, exclusion.engine.clone()?)))
            .collect();
        barred.sort_by(|(a, one), (b, other)| (a, &one.engine).cmp(&(b, &other.engine)));
        barred
    }

    pub(super) fn is_barred(&self, worker: WorkerId, cell: CellId) -> bool {
        let barred = self.barred();
        let mut its = barred.iter().filter(|(other, _)| *other == worker);
        its.any(|(_, exclusion)| self.plays_with(cell, &exclusion.engine))
    }

    pub(super) fn plays_with(&self, cell: CellId, engine: &str) -> bool {
        let engines = self.cells.get(&cell).map(Cell::engines).unwrap_or_default();
        engines.iter().flatten().any(|its| its == engine)
    }

    /// Whether an experiment's results from a worker barred from an engine are discarded.
    pub(super) fn is_taken_from(
        &self,
        experiment: ExperimentId,
        worker: WorkerId,
        engine: &str,
    ) -> bool {
        let is_forfeit = |(game, settled): (&GameId, &Settled)| match settled {
            Settled::Played { worker: by, game: played, .. } => {
                *by == worker
                    && self.cells[&game.cell].experiment == experiment
                    && ForfeitKind::from_termination(played.record.termination).is_some()
                    && self.plays_with(game.cell, engine)
            }
            Settled::Failed { .. } => false,
        };
        !self.experiments[&experiment].is_over() || self.games.iter().any(is_forfeit)
    }

    pub(super) fn engines_of_sides(&self, game: GameId) -> [Option<String>; 2] {
        let Some(cell) = self.cells.get(&game.cell) else { return [None, None] };
        let [first, second] = cell.engines();
        match cell.first_player_moves_first(game.number) {
            true => [first, second],
            false => [second, first],
        }
    }

    pub(super) fn stop_for_forfeits(&mut self, cells: &[CellId]) -> Vec<StoppedForForfeits> {
        let mut experiments: Vec<ExperimentId> =
            cells.iter().filter_map(|cell| Some(self.cells.get(cell)?.experiment)).collect();
        experiments.sort_unstable();
        experiments.dedup();
        let stopped: Vec<_> = experiments
            .into_iter()
            .filter_map(|experiment| self.too_many_forfeits(experiment))
            .collect();
        for stop in &stopped {
            if let Some(experiment) = self.experiments.get_mut(&stop.experiment) {
                experiment.state = ExperimentState::Paused;
                experiment.stopped_for = Some(stop.player.clone());
            }
        }
        stopped
    }

    fn too_many_forfeits(&self, id: ExperimentId) -> Option<StoppedForForfeits> {
        let experiment = self.experiments.get(&id)?;
        let forfeits_max = experiment.settings.forfeits_max?;
        if experiment.state != ExperimentState::Running {
            return None;
        }
        let mut players: BTreeMap<&str, u64> = BTreeMap::new();
        for (cell, cell_row) in self.cells_of(id) {
            for (game_id, game) in self.counted_of(cell) {
                if ForfeitKind::from_termination(game.record.termination).is_some()
                    && game_id > experiment.forfeits_after
                {
                    let moves_first = cell_row.first_player_moves_first(game.game.number);
                    let lost_first = game.record.outcome != Outcome::Win;
                    let player = usize::from(lost_first != moves_first);
                    *players.entry(&cell_row.player_names[player]).or_default() += 1;
                }
            }
        }
        // On a tie, the first by name.
        let most = players.into_iter().rev().max_by_key(|(_, forfeits)| *forfeits);
        let (player, forfeits) = most.filter(|(_, forfeits)| *forfeits > forfeits_max)?;
        Some(StoppedForForfeits {
            experiment: id,
            name: experiment.name.clone(),
            player: player.to_owned(),
            forfeits,
            forfeits_max,
        })
    }
}
