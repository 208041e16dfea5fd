//! Workers that get no games, or few: the effect of conduct, exclusions and forfeits on leases.

use std::collections::BTreeSet;

use spelrum_model::demands::Offer;
use spelrum_model::withheld::{Barred, Withheld};
use spelrum_model::{CellId, ExperimentId, GameId, WorkerId};

use super::api::Effect;
use super::cells::Cell;
use super::forfeits::{EngineGame, Record};
use super::machine::Scheduler;

impl Scheduler {
    /// Records a played game, and reviews the workers at which it failed before.
    pub(super) fn played_well(
        &mut self,
        game: GameId,
        played: WorkerId,
        effects: &mut Vec<Effect>,
    ) {
        for worker in self.conduct.played(game, played) {
            if let Some([faults, games]) = self.conduct.quarantine(worker, played, self.now) {
                effects.push(Effect::Quarantined { worker, faults, games });
                self.take_leases(worker, None, effects);
            }
        }
    }

    /// Whether a game of an experiment has failed at a worker and waits for another one that is there.
    pub(super) fn is_left_to_others(
        &self,
        game: GameId,
        worker: WorkerId,
        experiment: ExperimentId,
    ) -> bool {
        let excluded = |worker| self.exclusions.has(worker, experiment);
        // Verifications are not reserved: who else could take one is unknown.
        !self.cells.get(&game.cell).is_some_and(Cell::is_verification)
            && self.conduct.is_left_to_others(game, worker, self.now, &self.policy, excluded)
    }

    /// Whether a worker gets no new games of an experiment, since too many that failed at it wait for other
    /// workers.
    pub(super) fn waits_for_others(&self, worker: WorkerId, experiment: ExperimentId) -> bool {
        let is_its =
            |game: &GameId| self.cells.get(&game.cell).map(Cell::experiment) == Some(experiment);
        self.conduct.fails_in_a_row(worker)
            && self
                .conduct
                .failed_at(worker)
                .filter(is_its)
                .any(|game| self.is_left_to_others(game, worker, experiment))
    }

    /// Workers that get no games at all, with the reasons.
    #[must_use]
    pub fn withheld(&self) -> Vec<(WorkerId, Withheld)> {
        let excluded = self.exclusions.everywhere().map(|worker| (worker, Withheld::Excluded));
        let with_reason = |worker| Some((worker, self.conduct.withheld(worker, self.now)?));
        let quarantined = self.conduct.quarantined(self.now).filter_map(with_reason);
        let barred = self.forfeits.barred();
        let barred = barred.map(|(worker, barred)| (worker, Withheld::Barred(barred.clone())));
        excluded.chain(quarantined).chain(barred).collect()
    }
}

impl Scheduler {
    /// Ends a worker's leases, and gives it no more.
    pub(super) fn excluded(
        &mut self,
        worker: WorkerId,
        from: Option<ExperimentId>,
        effects: &mut Vec<Effect>,
    ) {
        self.exclusions.excluded.insert((worker, from));
        self.take_leases(worker, from, effects);
    }

    /// Whether a worker's result of a game does not count because of an exclusion. For an experiment that is
    /// over, and maybe forgotten, the store has that exclusion.
    pub(super) fn is_excluded(&self, worker: WorkerId, game: GameId) -> bool {
        if self.is_barred_from(worker, game.cell) {
            return true;
        }
        let experiment = self.cells.get(&game.cell).map(Cell::experiment);
        let going_on = experiment.filter(|&experiment| !self.is_over(experiment));
        going_on.map_or_else(
            || self.exclusions.is_everywhere(worker),
            |experiment| self.exclusions.has(worker, experiment),
        )
    }
}

impl Scheduler {
    /// The part of a worker's offer that counts: without engines from which it is barred or paused.
    pub(super) fn allowed_offer(&mut self, worker: WorkerId, mut offer: Offer) -> Offer {
        self.forfeits.has(worker, &offer);
        let withheld = |engine: &str| {
            self.forfeits.is_barred(worker, engine) || self.is_paused_for(worker, engine)
        };
        if offer.engines.iter().any(|engine| withheld(&engine.engine)) {
            let allowed = offer.engines.iter().filter(|engine| !withheld(&engine.engine)).cloned();
            offer.engines = allowed.collect();
        }
        offer
    }

    /// Whether a worker pauses with an engine, since it has failed there at once, and another worker may do
    /// better.
    fn is_paused_for(&self, worker: WorkerId, engine: &str) -> bool {
        let record = self.forfeits.records.get(&(worker, engine.to_owned()));
        record.is_some_and(|record| self.now < record.paused_until)
            && self.forfeits.records.iter().any(|((player, name), record)| {
                name == engine
                    && *player != worker
                    && record.failed_in_a_row == 0
                    && !self.forfeits.is_barred(*player, engine)
                    && self.conduct.is_recent(*player, self.now, &self.policy)
            })
    }

    /// Most games of an experiment that a worker gets at once: few with an engine that has not completed a
    /// game there, and a pair with one that has just failed.
    pub(super) fn games_on_trial(
        &self,
        worker: WorkerId,
        slots: u64,
        experiment: ExperimentId,
    ) -> Option<u64> {
        let demands = self.experiments.get(&experiment)?.with_work.demands();
        let engines = demands.flat_map(|demands| &demands.engines);
        let records = engines
            .filter_map(|needed| self.forfeits.records.get(&(worker, needed.engine.clone())));
        let limits = records.filter_map(|record| match record {
            Record { failed_in_a_row: 1.., .. } => Some(2),
            Record { has_played: false, .. } => Some(slots.max(2)),
            Record { has_played: true, .. } => None,
        });
        limits.min()
    }

    /// Records a game's result, and reviews the workers if an engine forfeits much.
    pub(super) fn played_with_engines(&mut self, game: &EngineGame<'_>, effects: &mut Vec<Effect>) {
        let demands = self.cells.get(&game.cell).and_then(Cell::demands).cloned();
        let Some(demands) = demands.filter(|demands| !demands.engines.is_empty()) else { return };
        let engines: BTreeSet<&str> =
            demands.engines.iter().map(|needed| &*needed.engine).collect();
        self.forfeits.note(game, &engines, self.now);
        if let Some((engine, _)) = game.forfeit
            && self.is_paused_for(game.worker, engine)
        {
            self.end_leases_with(game.worker, engine, effects);
        }
        for engine in engines {
            for worker in self.forfeits.suspected(engine) {
                if let Some(barred) = self.forfeits.evidence(worker, engine) {
                    effects.push(Effect::Barred { worker, barred: barred.clone() });
                    self.bar(worker, barred, effects);
                }
            }
        }
    }

    /// Bars a worker from an engine.
    pub(super) fn bar(&mut self, worker: WorkerId, barred: Barred, effects: &mut Vec<Effect>) {
        let engine = barred.engine.clone();
        self.forfeits.forget_counts(worker, |its| its == engine);
        self.forfeits.barred.insert((worker, engine.clone()), barred);
        self.end_leases_with(worker, &engine, effects);
    }

    /// Ends a worker's leases with games of an engine, at no cost to these.
    fn end_leases_with(&mut self, worker: WorkerId, engine: &str, effects: &mut Vec<Effect>) {
        let needs = |cell: CellId| {
            let demands = self.cells.get(&cell).and_then(Cell::demands);
            demands
                .is_some_and(|demands| demands.engines.iter().any(|needed| needed.engine == engine))
        };
        let leases = self
            .leases
            .ids_held_by(worker, |lease| lease.granted.iter().any(|range| needs(range.cell)));
        self.end_leases(leases, effects);
    }

    /// Whether a worker is barred from an engine of a cell.
    pub(super) fn is_barred_from(&self, worker: WorkerId, cell: CellId) -> bool {
        let demands = self.cells.get(&cell).and_then(Cell::demands);
        self.forfeits.bars(worker, demands.map(AsRef::as_ref))
    }

    /// Why a worker gets no games of an engine that games wait for.
    pub(super) fn withheld_engine(&self, worker: WorkerId) -> Option<Withheld> {
        let mut bars = self.forfeits.barred().filter(|(owner, _)| *owner == worker);
        bars.find(|(_, barred)| self.is_waited_for(&barred.engine))
            .map(|(_, barred)| Withheld::Barred(barred.clone()))
    }

    fn is_waited_for(&self, engine: &str) -> bool {
        let mut demands =
            self.with_waiting().flat_map(|(_, experiment)| self.waiting_demands(experiment));
        demands.any(|demands| demands.engines.iter().any(|needed| needed.engine == engine))
    }
}
