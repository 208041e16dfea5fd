//! Rows that both stores read, from the games each time.

use spelrum_answers::{
    ExperimentSummary, ExperimentsPage, FoundGame, GameCursor, GameResult, GameSummary,
    GamesFilter, GamesOf, GamesOrder, GamesPage, GamesQuestion, MissingGame, Played, SettledGame,
    WhichGame,
};
use spelrum_model::{CellId, ExperimentId, GameEnd, GameId, PlayedGame};
use spelrum_store::StoreError;

use crate::contract::rows::Rows;

use super::{Cell, Experiment, InMemory, Settled, State, lock};

impl Rows for InMemory {
    async fn experiments(
        &self,
        after: Option<ExperimentId>,
        experiments_max: u32,
    ) -> Result<ExperimentsPage, StoreError> {
        let state = lock(&self.shared);
        let shown = state.experiments.iter().filter(|(id, experiment)| {
            after.is_none_or(|after| **id > after) && !experiment.name.is_empty()
        });
        let all = shown.map(|(&id, experiment)| state.summary(id, experiment)).collect();
        Ok(ExperimentsPage::new(all, experiments_max as usize))
    }

    async fn games(
        &self,
        question: GamesQuestion,
        after: Option<GameCursor>,
        games_max: u32,
    ) -> Result<GamesPage, StoreError> {
        let state = lock(&self.shared);
        let mut games = state.listed(question);
        if let Some(after) = after {
            games.retain(|game| match question.order {
                GamesOrder::Newest => game.game_id < after.game_id,
                GamesOrder::Settled => game.game_id > after.game_id,
                GamesOrder::Number => state.grid_place(game.game) > state.grid_place(after.game),
            });
        }
        Ok(GamesPage::new(games, games_max as usize, question.order))
    }

    async fn game(&self, which: WhichGame) -> Result<FoundGame, StoreError> {
        let state = lock(&self.shared);
        let id = match which {
            WhichGame::Id(id) => {
                let found = state.games.iter().find(|(_, settled)| settled.id() == id);
                found.map(|(game, _)| *game)
            }
            WhichGame::InCell(game) => state.games.contains_key(&game).then_some(game),
        };
        let Some(id) = id else {
            return Ok(FoundGame::Missing(match which {
                WhichGame::Id(id) => MissingGame::Id(id),
                WhichGame::InCell(game) => {
                    let planned = state.cells.get(&game.cell).map(Cell::games_wanted);
                    MissingGame::new(game, planned)
                }
            }));
        };
        let cell = &state.cells[&id.cell];
        let experiment = &state.experiments[&cell.experiment];
        let moves = match &state.games[&id] {
            Settled::Played { game, has_moves, .. } => {
                let moves = &game.record.moves;
                (*has_moves || moves.is_empty()).then(|| moves.clone())
            }
            Settled::Failed { .. } => None,
        };
        let (engines, forfeit) = state.games[&id].engines();
        Ok(FoundGame::Settled(Box::new(SettledGame {
            summary: state.game_summary(id),
            experiment: experiment.name.clone(),
            experiment_uuid: experiment.uuid.clone(),
            definition_hash: cell.hash,
            definition_json: cell.definition_json.clone(),
            moves,
            engines,
            forfeit,
        })))
    }

    async fn definition_of(&self, cell: CellId) -> Result<Option<String>, StoreError> {
        Ok(lock(&self.shared).cells.get(&cell).map(|cell| cell.definition_json.clone()))
    }
}

impl State {
    /// The cells named by an experiment's sweep, in grid order.
    pub(super) fn cells_of(&self, experiment: ExperimentId) -> Vec<(CellId, &Cell)> {
        let named =
            self.cells.iter().filter(|(_, cell)| cell.experiment == experiment && cell.in_sweep);
        let mut named: Vec<_> = named.map(|(&id, cell)| (id, cell)).collect();
        named.sort_by_key(|&(id, cell)| (cell.number, id));
        named
    }

    /// The counted games of a cell, with their ids.
    pub(super) fn counted_of(&self, id: CellId) -> Vec<(i64, &PlayedGame)> {
        let stop = self.cells[&id].stop_number.unwrap_or(u64::MAX);
        let below = self.settled_of(id).filter(|(game, _)| game.number < stop);
        let played = below.filter_map(|(_, settled)| match settled {
            Settled::Played { id, game, .. } => Some((*id, game)),
            Settled::Failed { .. } => None,
        });
        played.collect()
    }

    /// Finally failed games of a cell, up to where its stop rule ends it.
    fn failed_of(&self, id: CellId) -> u64 {
        let stop = self.cells[&id].stop_number.unwrap_or(u64::MAX);
        let below = self.settled_of(id).filter(|(game, _)| game.number < stop);
        below.filter(|(_, settled)| matches!(settled, Settled::Failed { .. })).count() as u64
    }

    pub(super) fn summary(&self, id: ExperimentId, experiment: &Experiment) -> ExperimentSummary {
        let cells = self.cells_of(id);
        let failed: u64 = cells.iter().map(|(cell, _)| self.failed_of(*cell)).sum();
        let counted: usize = cells.iter().map(|(cell, _)| self.counted_of(*cell).len()).sum();
        ExperimentSummary {
            experiment: id,
            uuid: experiment.uuid.clone(),
            name: experiment.name.clone(),
            game: experiment.game.clone(),
            task: experiment.task,
            state: experiment.state,
            priority: experiment.settings.scheduling.priority,
            cells: cells.len() as u64,
            games_planned: cells.iter().map(|(_, cell)| cell.games_wanted()).sum(),
            games_settled: counted as u64 + failed,
            games_failed: failed,
            // This store has no clock.
            submitted_unix_us: 0,
        }
    }

    /// A complete list of games.
    fn listed(
        &self,
        GamesQuestion { scope: of, filter, order }: GamesQuestion,
    ) -> Vec<GameSummary> {
        let is_its = |game: GameId| match of {
            GamesOf::Cell(cell) => game.cell == cell,
            GamesOf::Experiment(experiment) => {
                let cell = &self.cells[&game.cell];
                cell.experiment == experiment && cell.in_sweep
            }
        };
        let passes = |game: &GameSummary| match filter {
            GamesFilter::All => true,
            GamesFilter::Uncounted => game.not_counted_reason.is_some(),
            GamesFilter::Failed => matches!(game.result, GameResult::Failed(_)),
            GamesFilter::Counted => game.not_counted_reason.is_none(),
        };
        let its = self.games.keys().filter(|game| is_its(**game));
        let mut games: Vec<_> = its.map(|game| self.game_summary(*game)).filter(passes).collect();
        match order {
            GamesOrder::Newest => games.sort_by_key(|game| -game.game_id),
            GamesOrder::Settled => games.sort_by_key(|game| game.game_id),
            GamesOrder::Number => games.sort_by_key(|game| self.grid_place(game.game)),
        }
        games
    }

    fn grid_place(&self, game: GameId) -> (Option<u64>, GameId) {
        (self.cells.get(&game.cell).map(|cell| cell.number), game)
    }

    fn game_summary(&self, id: GameId) -> GameSummary {
        let (cell, settled) = (&self.cells[&id.cell], &self.games[&id]);
        let [first, second] = cell.player_names.clone();
        let moves_first = cell.first_player_moves_first(id.number);
        let players = if moves_first { [first, second] } else { [second, first] };
        let is_beyond = cell.stop_number.is_some_and(|stop| id.number >= stop);
        match settled {
            Settled::Played { id: game_id, worker, game, .. } => GameSummary {
                game_id: *game_id,
                game: id,
                players,
                result: GameResult::Played(Played {
                    opening: game.opening.clone(),
                    end: GameEnd {
                        first_side: game.record.first_side,
                        outcome: game.record.outcome,
                        margin: game.record.margin,
                        termination: game.record.termination,
                        plies: game.record.plies(),
                        moves_hash: game.moves_hash,
                    },
                    engine_revision: game.engine_revision,
                }),
                not_counted_reason: is_beyond.then(|| "beyond_stop".to_owned()),
                wall_us: Some(game.record.wall_us),
                worker: Some(*worker),
            },
            Settled::Failed { id: game_id, message } => GameSummary {
                game_id: *game_id,
                game: id,
                players,
                result: GameResult::Failed(message.clone()),
                not_counted_reason: Some("failed".to_owned()),
                wall_us: None,
                worker: None,
            },
        }
    }
}
