//! Disturbed games: which games are disturbed, the kept results of replayed ones, and counts.

use serde_json::Value;
use spelrum_answers::DisturbedGames;
use spelrum_model::disturbance::{TimedCell, is_cpu_time_known};
use spelrum_model::{CellId, GameId, LeaseId, PlayedGame, WorkerId};

use super::{Cell, Settled, State, Uncounted};
use spelrum_store::decisions::Reason;

impl State {
    /// Timing data of a cell's games, if they are timed.
    pub(super) fn timed(&self, id: CellId) -> Option<TimedCell> {
        let cell = self.cells.get(&id).filter(|cell| cell.timed)?;
        let timing = self.experiments.get(&cell.experiment)?.settings.timing;
        let known = cell.players.each_ref().map(|json| {
            let parameters: Value = serde_json::from_str(json).unwrap_or_default();
            parameters["algorithm"].as_str().is_some_and(is_cpu_time_known)
        });
        Some(TimedCell { timing, known, swap_sides: cell.swap_sides })
    }

    /// Whether a player of a timed game lost so much time to other processes that the sweep calls the game disturbed.
    pub(super) fn is_disturbed(&self, game: &PlayedGame) -> bool {
        self.timed(game.game.cell).is_some_and(|timed| {
            let share = timed.robbed_share(game.game.number, &game.record.moves);
            share.is_some_and(|share| timed.disturbs(share))
        })
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

    /// Counted and replayed disturbed games of these cells.
    pub(super) fn disturbed_of(&self, cells: &[(CellId, &Cell)]) -> Vec<DisturbedGames> {
        let half_points = |cell: &Cell, game: &PlayedGame| cell.half_points(game) as i64;
        let disturbed = cells.iter().map(|&(cell, cell_row)| {
            let stop = cell_row.stop_number.unwrap_or(u64::MAX);
            let mut found = DisturbedGames { cell, games: 0, replayed: 0, half_points_before: 0 };
            for (game, settled) in self.settled_of(cell).filter(|(game, _)| game.number < stop) {
                let Settled::Played { game: counted, is_disturbed, .. } = settled else { continue };
                found.games += u64::from(*is_disturbed);
                let mut kept =
                    self.uncounted.iter().filter(|uncounted| uncounted.reason == Reason::Disturbed);
                if let Some(first) = kept.find(|uncounted| uncounted.game.game == *game) {
                    found.replayed += 1;

                    found.half_points_before +=
                        half_points(cell_row, &first.game) - half_points(cell_row, counted);
                }
            }
            found
        });
        let mut found: Vec<_> =
            disturbed.filter(|disturbed| disturbed.games + disturbed.replayed > 0).collect();
        found.sort_by_key(|disturbed| disturbed.cell);
        found
    }
}
