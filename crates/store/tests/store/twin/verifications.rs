//! Verifications in the in-memory store.

use spelrum_model::{
    CellId, ExperimentId, GameId, PlayedVerification, VerificationDefinition, WorkerId,
};
use spelrum_scheduling::scheduler::CellState;

use super::{Cell, Settled, State};
use spelrum_store::{Deviation, ToVerify};

/// The subject of a cell's one task.
#[derive(Clone, Debug)]
pub(super) struct Verification {
    game: GameId,
    /// The id of the verified result.
    game_id: i64,
    pub(super) played_by: Option<WorkerId>,
    pub(super) verdict: Option<Verdict>,
}

#[derive(Clone, Debug)]
pub(super) enum Verdict {
    /// The worker that replayed the game.
    Played(WorkerId),
    /// The game could not be replayed.
    NotPlayed,
}

impl Cell {
    /// Whether the cell's tasks are games.
    pub(super) fn has_games(&self) -> bool {
        !self.is_training && self.verifies.is_none()
    }
}

impl State {
    /// Whether the game still has this result.
    fn has_result(&self, game: GameId, game_id: i64) -> bool {
        match self.games.get(&game) {
            Some(Settled::Played { id, .. } | Settled::Failed { id, .. }) => *id == game_id,
            None => false,
        }
    }

    pub(super) fn order_verifications(
        &mut self,
        experiment: ExperimentId,
        games: &[ToVerify],
    ) -> Vec<CellState> {
        let mut ordered = Vec::new();
        for game in games {
            let of_game = |verification: &&Verification| verification.game == game.game;
            let its =
                || self.cells.values().filter_map(|cell| cell.verifies.as_ref()).filter(of_game);
            let waits = its().any(|other| other.game_id == game.game_id && other.verdict.is_none());
            let before = u32::try_from(its().count()).unwrap_or(u32::MAX);
            if waits || !self.has_result(game.game, game.game_id) {
                continue;
            }
            let Some(verified) = self.cells.get(&game.game.cell).cloned() else { continue };
            let definition_json = VerificationDefinition::json_of(
                &verified.definition_json,
                game.game.number,
                &game.stops,
                before,
            );
            let (hash, _) = game.named(before);
            self.last_cell += 1;
            let id = CellId(self.last_cell);
            let verification = Verification {
                game: game.game,
                game_id: game.game_id,
                played_by: game.played_by,
                verdict: None,
            };
            let cell = Cell {
                experiment,
                number: 0,
                hash,
                definition_json,
                swap_sides: false,
                // Replays count nodes and use no clock.
                timed: false,
                games_planned: 1,
                in_sweep: false,
                superseded: false,
                next_number: 0,
                returned: Vec::new(),
                rule: None,
                decided_number: 0,
                stop_number: None,
                asked_after: None,
                outcome: None,
                verifies: Some(verification),
                ..verified
            };
            self.cells.insert(id, cell);
            ordered.push(id);
        }
        let states = self.cell_states(experiment);
        states.into_iter().filter(|state| ordered.contains(&state.cell)).collect()
    }

    pub(super) fn store_verifications(
        &mut self,
        verifications: &[(WorkerId, PlayedVerification)],
    ) -> Vec<Deviation> {
        let mut deviations = Vec::new();
        for (worker, PlayedVerification { played, difference }) in verifications {
            let found = self.cells.get(&played.game.cell).and_then(|cell| cell.verifies.clone());
            let Some(verification) = found.filter(|verification| verification.verdict.is_none())
            else {
                continue;
            };
            let is_there = self.has_result(verification.game, verification.game_id);
            if let Some(difference) = difference.as_ref().filter(|_| is_there) {
                deviations.push(Deviation {
                    game: verification.game,
                    played_by: verification.played_by,
                    verified_by: *worker,
                    ply: difference.ply,
                });
            }
            self.settle_verification(played.game, Verdict::Played(*worker));
        }
        deviations
    }

    /// Gives a verification task its verdict, if it has none; returns whether the task is a verification.
    pub(super) fn settle_verification(&mut self, task: GameId, verdict: Verdict) -> bool {
        let cell = self.cells.get_mut(&task.cell);
        let Some(verification) = cell.and_then(|cell| cell.verifies.as_mut()) else {
            return false;
        };
        verification.verdict.get_or_insert(verdict);
        true
    }

    /// Whether a verification names a worker.
    pub(super) fn has_verified(&self, id: WorkerId) -> bool {
        let is_by = |verification: &Verification| {
            verification.played_by == Some(id)
                || matches!(verification.verdict, Some(Verdict::Played(worker)) if worker == id)
        };
        self.cells.values().filter_map(|cell| cell.verifies.as_ref()).any(is_by)
    }
}
