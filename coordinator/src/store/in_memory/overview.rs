//! How games were played, game by game.

use std::collections::BTreeMap;

use spelrum_tournament::results::{CellGames, Lengths, Overview, WorkerShare};
use spelrum_tournament::{ExperimentId, PlayedGame, WorkerId};

use super::{Settled, State};
use crate::store::WorkerIntroduction;

impl State {
    pub(super) fn overview(&self, id: ExperimentId) -> Overview {
        let it = &self.experiments[&id];
        let places = self.places(id);
        let mut cells = Vec::new();
        for (cell, its) in self.cells_of(id) {
            let [player, opponent] = its.player_names.clone();
            let mut games = CellGames {
                cell,
                axes: places.of(cell),
                player,
                opponent,
                lengths: Lengths::default(),
                terminations: BTreeMap::new(),
            };
            for (_, game) in self.counted_of(cell) {
                games.add(plies(game), game.record.termination.name(), 1);
            }
            if games.lengths.games() > 0 {
                cells.push(games);
            }
        }
        let (experiment, workers) = (self.summary(id, it), self.shares(id));
        Overview { experiment, axes: places.into_axes(), workers, cells }
    }

    /// Who played games that count, also of cells that the sweep no longer names.
    fn shares(&self, id: ExperimentId) -> Vec<WorkerShare> {
        let mut shares: BTreeMap<WorkerId, WorkerShare> = BTreeMap::new();
        for (game, settled) in &self.games {
            let Settled::Played { worker, game: played, .. } = settled else { continue };
            let cell = &self.cells[&game.cell];
            if cell.experiment != id || cell.stop_number.is_some_and(|stop| game.number >= stop) {
                continue;
            }
            let Some(known) = self.workers.values().find(|it| it.id == *worker) else { continue };
            let share =
                shares.entry(*worker).or_insert_with(|| share(*worker, &known.introduction));
            share.games += 1;
            share.plies += u64::from(plies(played));
            share.wall_us += played.record.wall_us as f64;
        }
        shares.into_values().collect()
    }
}

fn plies(game: &PlayedGame) -> u32 {
    u32::try_from(game.record.moves.len()).unwrap_or(u32::MAX)
}

/// Of who has played nothing yet.
fn share(worker: WorkerId, introduction: &WorkerIntroduction) -> WorkerShare {
    let WorkerIntroduction { name, host, slots, engine_revision, version, machine, .. } =
        introduction.clone();
    WorkerShare {
        worker,
        name,
        host,
        slots,
        engine_revision,
        version,
        machine,
        games: 0,
        plies: 0,
        wall_us: 0.0,
    }
}
