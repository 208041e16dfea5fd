//! Disturbed games: the kept results of replayed ones.

use serde_json::Value;
use spelrum_model::disturbance::{TimedCell, is_lost_time_known};
use spelrum_model::{CellId, GameId, LeaseId, PlayedGame, WorkerId};

use super::{State, Uncounted};
use spelrum_store::decisions::Reason;

impl State {
    /// Timing data of a cell's games, if they are timed.
    pub(super) fn timed(&self, id: CellId) -> Option<TimedCell> {
        let cell = self.cells.get(&id).filter(|cell| cell.timed)?;
        let timing = self.experiments.get(&cell.experiment)?.settings.timing;
        let known = cell.players.each_ref().map(|json| {
            let parameters: Value = serde_json::from_str(json).unwrap_or_default();
            parameters["algorithm"].as_str().is_some_and(is_lost_time_known)
        });
        Some(TimedCell { timing, known, swap_sides: cell.swap_sides })
    }

    /// The leases of a game's kept disturbed results.
    pub(super) fn kept_disturbed(&self, id: GameId) -> impl Iterator<Item = Option<LeaseId>> {
        let its = move |uncounted: &&Uncounted| {
            uncounted.reason == Reason::Disturbed && uncounted.game.game == id
        };
        self.uncounted.iter().filter(its).map(|uncounted| uncounted.lease)
    }

    pub(super) fn keep_disturbed(&mut self, worker: WorkerId, lease: LeaseId, game: &PlayedGame) {
        if self.kept_disturbed(game.game).all(|kept| kept != Some(lease)) {
            let (reason, lease, game) = (Reason::Disturbed, Some(lease), game.clone());
            self.uncounted.push(Uncounted { reason, worker, lease, game });
        }
    }
}
