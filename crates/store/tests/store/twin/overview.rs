//! How games were played, game by game.

use std::collections::BTreeMap;

use spelrum_answers::{
    CellGames, ComparedGame, ComparedMoves, CostedPlayer, Lengths, Overview, WorkerEffects,
    WorkerShare, compared_games, worker_effects,
};
use spelrum_engine::{EndedBy, Outcome};
use spelrum_model::{ExperimentId, PlayedGame, WorkerId};

use super::{Settled, State};
use spelrum_store::WorkerIntroduction;

impl State {
    pub(super) fn overview(&self, id: ExperimentId) -> Overview {
        let experiment = &self.experiments[&id];
        let places = self.places(id);
        let mut cells = Vec::new();
        for (cell, its) in self.cells_of(id) {
            let [player, opponent] = its.player_names.clone();
            let mut games = CellGames {
                cell,
                axes: places.values(cell),
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
        let (experiment, workers) = (self.summary(id, experiment), self.shares(id));
        let worker_effects = match experiment.task.is_game() {
            true => self.worker_effects(id, &workers),
            false => Vec::new(),
        };
        Overview { experiment, axes: places.into_axes(), workers, worker_effects, cells }
    }

    /// Effects of workers on scores, times and nodes.
    fn worker_effects(&self, id: ExperimentId, workers: &[WorkerShare]) -> Vec<WorkerEffects> {
        let mut cells = self.cells_of(id);
        cells.sort_by_key(|(cell, _)| *cell);
        let below = compared_games(cells.len() as u64);
        let mut games = Vec::new();
        for (cell, its) in cells {
            let end = its.stop_number.unwrap_or(u64::MAX).min(below);
            for (game, settled) in self.settled_of(cell).filter(|(game, _)| game.number < end) {
                let Settled::Played { worker, game: played, has_moves, .. } = settled else {
                    continue;
                };
                let number = game.number;
                let moves_first = its.first_player_moves_first(number);
                let first = match played.record.outcome {
                    Outcome::Win => 2,
                    Outcome::Draw => 1,
                    Outcome::Loss => 0,
                };
                let mut moves = [0, 1].map(|role| ComparedMoves {
                    is_timed: CostedPlayer::from_json(&its.players[role]).time_limit_us.is_some(),
                    ..ComparedMoves::default()
                });
                let searched = played.record.moves.iter();
                for mv in searched.filter(|mv| mv.search.ended_by != EndedBy::OnlyMove) {
                    let side = &mut moves[usize::from((mv.mover == 0) != moves_first)];
                    side.moves += u64::from(*has_moves);
                    side.cpu_us += mv.cpu_us as f64;
                    side.wall_us += mv.wall_us as f64;
                    side.nodes += mv.search.nodes as f64;
                }
                let half_points = if moves_first { first } else { 2 - first };
                let (swap_sides, worker) = (its.swap_sides, *worker);
                games.push(ComparedGame { cell, number, swap_sides, worker, half_points, moves });
            }
        }
        let workers: Vec<_> = workers.iter().map(WorkerShare::named).collect();
        worker_effects(&workers, &games)
    }

    /// Workers that played counted games, including those of cells that the sweep no longer names.
    fn shares(&self, id: ExperimentId) -> Vec<WorkerShare> {
        let mut shares: BTreeMap<WorkerId, WorkerShare> = BTreeMap::new();
        for (game, settled) in &self.games {
            let Settled::Played { worker, game: played, .. } = settled else { continue };
            let cell = &self.cells[&game.cell];
            if cell.experiment != id || cell.stop_number.is_some_and(|stop| game.number >= stop) {
                continue;
            }
            let Some(known) = self.workers.values().find(|worker_row| worker_row.id == *worker)
            else {
                continue;
            };
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

/// The share of a worker that has not played yet.
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
