//! Results: the settled one of each game, and those kept beside it.

use spelrum_engine::{ENGINE_REVISION, EndedBy, Remarks, SearchDetails};
use spelrum_model::repeat::{SettledMove, SettledResult, SettledSearches, compare};
use spelrum_model::{CellId, ExperimentId, GameId, GameRange, PlayedGame, Record, WorkerId};

use super::verifications::Verdict;
use super::{Settled, State, Uncounted};
use spelrum_store::Refused;
use spelrum_store::Retry;
use spelrum_store::StoreError;
use spelrum_store::decisions::OF_WORKER_MAX;
use spelrum_store::decisions::Reason;

impl State {
    /// Checks games before any of them is stored.
    pub(super) fn check(&self, games: &[(WorkerId, PlayedGame)]) -> Result<(), StoreError> {
        for (_, game) in games {
            let GameId { cell, number } = game.game;
            let invalid = |problem| StoreError::InvalidGame { cell_id: cell.0, number, problem };
            game.check().map_err(invalid)?;
            if !self.cells.contains_key(&cell) {
                return Err(invalid("there is no such cell".to_owned()));
            }
        }
        Ok(())
    }

    pub(super) fn settle(&mut self, worker: WorkerId, game: &PlayedGame) {
        if self.games.contains_key(&game.game) {
            self.keep_uncounted(worker, game, false);
            return;
        }
        let experiment =
            self.cells.get(&game.game.cell).and_then(|cell| self.experiments.get(&cell.experiment));
        let record = experiment.map_or(Record::Games, |experiment| experiment.settings.record);
        let has_moves = record != Record::Games;
        self.last_game += 1;
        let key = game.game;
        let (id, mut game) = (self.last_game, game.clone());
        if record != Record::Full {
            for mv in &mut game.record.moves {
                mv.remarks = mv.remarks.take().and_then(|mut remarks| {
                    remarks.details = SearchDetails::default();
                    (*remarks != Remarks::default()).then_some(remarks)
                });
            }
        }
        let settled = Settled::Played { id, worker, game, has_moves };
        self.games.insert(key, settled);
    }

    pub(super) fn settle_failed(&mut self, game: GameId, message: &str) {
        if self.settle_failed_training(game) || self.settle_verification(game, Verdict::NotPlayed) {
            return;
        }
        if self.cells.contains_key(&game.cell) && !self.games.contains_key(&game) {
            self.last_game += 1;
            let (id, message) = (self.last_game, message.to_owned());
            self.games.insert(game, Settled::Failed { id, message });
        }
    }

    /// Takes back the results of failed games.
    pub(super) fn retry_failed(&mut self, id: ExperimentId) -> Result<Retry, StoreError> {
        let Some(experiment) = self.experiments.get(&id) else {
            return Err(StoreError::Missing { what: "an experiment" });
        };
        if experiment.course.is_some() {
            return Err(StoreError::HasCourse { name: experiment.name.clone() });
        }
        if experiment.engine_revision != ENGINE_REVISION {
            let (name, revision) = (experiment.name.clone(), experiment.engine_revision);
            return Err(StoreError::OtherEngine { name, revision });
        }
        let settings = experiment.settings.scheduling;
        let named = |game: &GameId| {
            self.cells.get(&game.cell).is_some_and(|cell| {
                cell.experiment == id
                    && cell.in_sweep
                    && !cell.superseded
                    && cell.stop_number.is_none_or(|stop| game.number < stop)
            })
        };
        let failed = |(game, settled): (&GameId, &Settled)| {
            (matches!(settled, Settled::Failed { .. }) && named(game)).then_some(*game)
        };
        let mut games: Vec<GameId> = self.games.iter().filter_map(failed).collect();
        games.extend(self.retry_trainings(id));
        games.sort_unstable();
        if games.is_empty() {
            return Ok(Retry::default());
        }
        for &game in &games {
            self.games.remove(&game);
            self.attempts.remove(&game);
            self.messages.remove(&game);
            if let Some(cell) = self.cells.get_mut(&game.cell) {
                if cell.returned.iter().all(|range| range.first != game.number) {
                    cell.returned.push(GameRange { cell: game.cell, first: game.number, count: 1 });
                    cell.returned.sort_by_key(|range| range.first);
                }
                cell.decided_number = 0;
            }
        }
        let (cells, attempts) =
            (self.cell_states(id), self.open_attempts(|experiment| experiment == id));
        Ok(Retry { games, cells, attempts, settings })
    }

    pub(super) fn keep_uncounted(
        &mut self,
        worker: WorkerId,
        game: &PlayedGame,
        after_cancel: bool,
    ) {
        let reason = if self.is_excluded(worker, game.game.cell) {
            Reason::Excluded
        } else if after_cancel {
            Reason::AfterCancel
        } else {
            compare(self.settled_result(game.game).as_ref(), game).into()
        };
        self.uncounted.push(Uncounted { reason, worker, lease: None, game: game.clone() });
    }

    /// The stored part of a game's settled result, unless the game finally failed.
    fn settled_result(&self, id: GameId) -> Option<SettledResult> {
        let Some(Settled::Played { game, has_moves, .. }) = self.games.get(&id) else {
            return None;
        };
        let record = &game.record;
        let moves = record.moves.iter().map(|mv| SettledMove {
            mv: mv.mv.clone(),
            depth: mv.search.depth,
            nodes: mv.search.nodes,
            score: mv.search.score,
        });
        let searched = record.moves.iter().filter(|mv| mv.search.ended_by != EndedBy::OnlyMove);
        Some(SettledResult {
            is_deterministic: self.cells.get(&id.cell).is_some_and(|cell| cell.is_deterministic),
            engine_revision: game.engine_revision,
            opening: game.opening.clone(),
            first_side: record.first_side,
            outcome: record.outcome,
            margin: record.margin,
            termination: record.termination.name().to_owned(),
            plies: record.moves.len() as u64,
            moves_hash: game.moves_hash,
            searches: if *has_moves && !record.moves.is_empty() {
                SettledSearches::Moves(moves.collect())
            } else {
                SettledSearches::Nodes(searched.map(|mv| mv.search.nodes).sum())
            },
        })
    }

    pub(super) fn forget_moves(&mut self, is_its: impl Fn(CellId) -> bool) {
        for (id, settled) in &mut self.games {
            if let Settled::Played { has_moves, .. } = settled
                && is_its(id.cell)
            {
                *has_moves = false;
            }
        }
    }

    /// Keeps a refused result, unless it is known already or its worker has too many; returns whether it is new.
    pub(super) fn keep_refused(&mut self, refused: &Refused) -> bool {
        let key = |refused: &Refused| (refused.lease, refused.game);
        let of_worker = self.refused.iter().filter(|kept| kept.worker == refused.worker).count();
        let is_new = of_worker < OF_WORKER_MAX as usize
            && !self.refused.iter().any(|kept| key(kept) == key(refused));
        if is_new {
            self.refused.push(refused.clone());
        }
        is_new
    }
}
