//! Answers to viewers' requests, recomputed from the games each time.

use std::collections::{BTreeMap, BTreeSet};

use spelrum_answers::{
    CellCursor, CellResult, CellStop, CellsPage, Comparisons, CostedPlayer, Costs, CpuTimes,
    Detail, ExperimentSummary, ExperimentsPage, FoundGame, GameCursor, GameResult, GameSummary,
    GamesFilter, GamesOf, GamesOrder, GamesPage, GamesQuestion, MissingGame, MoveCost, MoverCounts,
    OpeningCursor, OpeningSums, OpeningsPage, Opponents, Overview, Phases, Places, Played,
    Progress, Ratings, ReplayedGames, Report, SettledCells, SettledGame, WhichGame,
    first_mover as first_mover_score, runs_of,
};
use spelrum_engine::{EndedBy, MoveRecord, Outcome};
use spelrum_model::GameEnd;
use spelrum_model::{CellId, DefinitionHash, ExperimentId, GameId, PlayedGame};
use spelrum_statistics::GameTimes;
use spelrum_statistics::forecast::{Backlog, CellWork, GameSpread};
use spelrum_statistics::{GameCounts, OpeningCounts, PairCounts, TimeSums};

use super::costs::costs;
use super::{Cell, Experiment, InMemory, Settled, State, lock};
use spelrum_store::StoreError;
use spelrum_store::contract::Reading;

/// Latest games used to estimate how much a cell's games vary.
const LATEST_GAMES: i64 = 500;

impl Reading for InMemory {
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

    async fn experiment(&self, which: &str) -> Result<Option<ExperimentSummary>, StoreError> {
        let state = lock(&self.shared);
        let found = state.experiment(which).map(|found| found.experiment);
        Ok(found.map(|id| state.summary(id, &state.experiments[&id])))
    }

    async fn progress(&self, experiment: ExperimentId) -> Result<Option<Progress>, StoreError> {
        let state = lock(&self.shared);
        Ok(state
            .experiments
            .get(&experiment)
            .map(|experiment_row| state.progress(experiment, experiment_row)))
    }

    async fn report(&self, which: &str, detail: Detail) -> Result<Option<Report>, StoreError> {
        let state = lock(&self.shared);
        let found = state.experiment(which).map(|found| found.experiment);
        Ok(found.map(|id| state.report(id, detail)))
    }

    async fn openings(
        &self,
        experiment: ExperimentId,
        after: Option<OpeningCursor>,
        openings_max: u32,
    ) -> Result<OpeningsPage, StoreError> {
        let state = lock(&self.shared);
        let rows = state.cells_of(experiment).into_iter().flat_map(|(id, cell)| {
            let cursor = CellCursor { number: cell.number, cell: id };
            state.openings(id, cell).into_iter().map(move |sums| (cursor, sums))
        });
        let place = |cell: &CellCursor, opening| (cell.number, cell.cell, opening);
        let rest = rows.filter(|(cell, sums)| {
            after.is_none_or(|after| {
                place(cell, sums.opening_number) > place(&after.cell, after.opening_number)
            })
        });
        Ok(OpeningsPage::new(rest, openings_max as usize))
    }

    async fn comparisons(&self, which: &str) -> Result<Option<Comparisons>, StoreError> {
        let state = lock(&self.shared);
        let found = state.experiment(which).map(|found| found.experiment);
        Ok(found.map(|id| state.comparisons(id)))
    }

    async fn overview(&self, which: &str) -> Result<Option<Overview>, StoreError> {
        let state = lock(&self.shared);
        let found = state.experiment(which).map(|found| found.experiment);
        Ok(found.map(|id| state.overview(id)))
    }

    async fn phases(&self, which: &str) -> Result<Option<Phases>, StoreError> {
        let state = lock(&self.shared);
        let found = state.experiment(which).map(|found| found.experiment);
        Ok(found.map(|id| state.phases(id)))
    }

    async fn ratings(&self, which: &str) -> Result<Option<Ratings>, StoreError> {
        let state = lock(&self.shared);
        let found = state.experiment(which).map(|found| found.experiment);
        found.map(|id| state.ratings(id)).transpose()
    }

    async fn cells(
        &self,
        experiment: ExperimentId,
        after: Option<CellCursor>,
        cells_max: u32,
    ) -> Result<CellsPage, StoreError> {
        let state = lock(&self.shared);
        let after = after.map(|after| (after.number, after.cell));
        let its = state.cells_of(experiment);
        let mut rest: Vec<_> = its
            .into_iter()
            .filter(|(id, cell)| after.is_none_or(|after| (cell.number, *id) > after))
            .collect();
        let has_more = rest.len() > cells_max as usize;
        rest.truncate(cells_max as usize);
        let cursor =
            |&(cell, cell_row): &(CellId, &Cell)| CellCursor { number: cell_row.number, cell };
        let next = has_more.then(|| rest.last().map(cursor)).flatten();
        let places = state.places(experiment);
        let cells = rest.into_iter().map(|(id, cell)| state.result(id, cell, &places)).collect();
        Ok(CellsPage { axes: places.into_axes(), cells, next })
    }

    async fn settled_cells(
        &self,
        experiment: ExperimentId,
        after_game_id: i64,
        cells_max: u32,
    ) -> Result<SettledCells, StoreError> {
        let state = lock(&self.shared);
        let places = state.places(experiment);
        let mut settled: Vec<(i64, CellResult)> = state
            .cells_of(experiment)
            .into_iter()
            .filter_map(|(id, cell)| {
                let last = state.settled_of(id).map(|(_, settled)| settled.id()).max()?;
                let result = state.result(id, cell, &places);
                let is_settled = result.games + result.games_failed >= result.games_planned;
                (last > after_game_id && is_settled).then_some((last, result))
            })
            .collect();
        settled.sort_by_key(|(last, _)| *last);
        settled.truncate(cells_max as usize);
        let last_game_id = settled.last().map_or(after_game_id, |(last, _)| *last);
        let cells = settled.into_iter().map(|(_, result)| result).collect();
        Ok(SettledCells { axes: places.into_axes(), cells, last_game_id })
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

    async fn definition(&self, hash: DefinitionHash) -> Result<Option<String>, StoreError> {
        let state = lock(&self.shared);
        let cell = state.cells.values().find(|cell| cell.hash == hash);
        Ok(cell.map(|cell| cell.definition_json.clone()))
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

    fn progress(&self, id: ExperimentId, experiment: &Experiment) -> Progress {
        let summary = self.summary(id, experiment);
        let (mut backlog, mut cells_settled, mut wall_us) = (Backlog::default(), 0, 0.0);
        for (cell, cell_row) in self.cells_of(id) {
            let counted = self.counted_of(cell);
            let games = counted.len() as u64;
            let settled = games + self.failed_of(cell);
            let games_left = cell_row.games_wanted().saturating_sub(settled);
            let its_us: f64 = counted.iter().map(|(_, game)| game.record.wall_us as f64).sum();
            backlog.add(CellWork { games_left, games, wall_us: its_us });
            wall_us += its_us;
            cells_settled += u64::from(games_left == 0);
        }
        let rule = self.cells_of(id).into_iter().find_map(|(_, cell)| cell.rule);
        let stopped =
            self.cells_of(id).into_iter().filter(|(_, cell)| cell.stop_number.is_some()).count();
        let last_game_id = self.games.values().map(Settled::id).max().unwrap_or(0);
        let mut spread = GameSpread::default();
        for (&cell, cell_row) in self.cells.iter().filter(|(_, cell)| cell.experiment == id) {
            let counted = self.counted_of(cell);
            let sum: f64 = counted.iter().map(|(_, game)| game.record.wall_us as f64).sum();
            let latest = counted.iter().filter(|(id, _)| *id > last_game_id - LATEST_GAMES);
            for (_, game) in latest {
                let mean = sum / counted.len() as f64;
                spread.add(game.record.wall_us as f64, counted.len() as u64, mean);
            }
            debug_assert_eq!(cell_row.experiment, id);
        }
        let holders: BTreeSet<_> = self
            .leases
            .values()
            .filter(|lease| {
                let is_its = |cell: &CellId| self.cells[cell].experiment == id;
                lease.end.is_none() && lease.granted.iter().any(|range| is_its(&range.cell))
            })
            .map(|lease| lease.worker)
            .collect();
        let slots = self.workers.values().filter(|worker| holders.contains(&worker.id));
        let (networks, networks_settled) = self.trainings_of(id);
        Progress {
            state: experiment.state,
            cells: summary.cells,
            cells_settled,
            stop_rule: rule.map(|rule| rule.to_string()),
            cells_stopped: stopped as u64,
            games_planned: summary.games_planned,
            games_settled: summary.games_settled,
            games_failed: summary.games_failed,
            forfeits: self.forfeits(&self.cells_of(id)),
            stopped_for: experiment.stopped_for.clone(),
            networks,
            networks_settled,
            wall_us,
            backlog,
            spread,
            slots: slots.map(|worker| u64::from(worker.introduction.slots)).sum(),
            last_game_id,
        }
    }

    pub(super) fn places(&self, id: ExperimentId) -> Places {
        let mut places = Places::on(self.experiments[&id].axes.clone());
        for (cell, cell_row) in self.cells_of(id) {
            for (axis, value) in &cell_row.place {
                places.put(cell, axis, value.text.clone());
            }
        }
        places
    }

    /// Results of a cell by opening, recomputed for each opening.
    pub(super) fn openings(&self, id: CellId, cell: &Cell) -> Vec<OpeningSums> {
        self.openings_by_clock(id, cell, |mv| mv.wall_us)
    }

    fn openings_by_clock(
        &self,
        id: CellId,
        cell: &Cell,
        us: fn(&MoveRecord) -> u64,
    ) -> Vec<OpeningSums> {
        let counted = self.counted_of(id);
        let by_number: BTreeMap<u64, &PlayedGame> =
            counted.iter().map(|(_, game)| (game.game.number, *game)).collect();
        let all: BTreeSet<u64> =
            by_number.keys().map(|&number| cell.opening_number(number)).collect();
        let of_opening = |opening_number| {
            let games = || {
                by_number
                    .iter()
                    .filter(move |(number, _)| cell.opening_number(**number) == opening_number)
            };
            let with = |half_points| {
                games().filter(|(_, game)| cell.half_points(game) == half_points).count() as u64
            };
            let mover_wins = |game: &PlayedGame| game.record.outcome == Outcome::Win;
            let mover_loses = |game: &PlayedGame| game.record.outcome == Outcome::Loss;
            let pairs = || {
                games().filter_map(|(number, game)| {
                    let is_pair = cell.swap_sides && number.is_multiple_of(2);
                    Some((*game, *by_number.get(&(number + 1)).filter(|_| is_pair)?))
                })
            };
            let won_by = |wins: &dyn Fn(&PlayedGame) -> bool| {
                pairs().filter(|(first, second)| wins(first) && wins(second)).count() as u64
            };
            let points = |(first, second): (&PlayedGame, &PlayedGame)| {
                (cell.half_points(first) + cell.half_points(second)) as u64
            };
            let mover_half_points = |(_, game): (&u64, &&PlayedGame)| match game.record.outcome {
                Outcome::Win => 2,
                Outcome::Draw => 1,
                Outcome::Loss => 0,
            };
            let moving_first =
                || games().filter(|(number, _)| cell.first_player_moves_first(**number));
            let own_half_points = |(_, game): (&u64, &&PlayedGame)| cell.half_points(game) as u64;
            let times = |player: usize| {
                let means = games().filter_map(|(number, game)| {
                    let side = usize::from(cell.first_player_moves_first(*number) == (player == 1));
                    let is_its = |mv: &&MoveRecord| {
                        usize::from(mv.mover != 0) == side
                            && mv.search.ended_by != EndedBy::OnlyMove
                    };
                    let times = game.record.moves.iter().filter(is_its).map(|mv| us(mv) as f64);
                    let times: Vec<f64> = times.collect();
                    (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
                });
                let means: Vec<f64> = means.collect();
                GameTimes {
                    games: means.len() as u64,
                    wall_us_mean_sum: means.iter().fold(0.0, |sum, mean| sum + mean),
                    wall_us_mean_log_sum: means
                        .iter()
                        .fold(0.0, |sum, mean| sum + mean.max(0.5).ln()),
                }
            };
            OpeningSums {
                opening_number,
                games: games().count() as u64,
                wins: with(2),
                draws: with(1),
                losses: with(0),
                first_mover_half_points: games().map(mover_half_points).sum(),
                games_moving_first: moving_first().count() as u64,
                half_points_moving_first: moving_first().map(own_half_points).sum(),
                pairs: pairs().count() as u64,
                pairs_half_points: pairs().map(points).sum(),
                pairs_won_by_first_mover: won_by(&mover_wins),
                pairs_won_by_second_mover: won_by(&mover_loses),
                times: [times(0), times(1)],
            }
        };
        all.into_iter().map(of_opening).collect()
    }

    pub(super) fn result(&self, id: CellId, cell: &Cell, places: &Places) -> CellResult {
        let counted = self.counted_of(id);
        let (mut points, mut pairs) = ([0_u64; 3], [0_u64; 5]);
        let by_number: BTreeMap<u64, usize> =
            counted.iter().map(|(_, game)| (game.game.number, cell.half_points(game))).collect();
        for (&number, &half_points) in &by_number {
            points[half_points] += 1;
            if let Some(other) = by_number.get(&(number + 1))
                && cell.swap_sides
                && number.is_multiple_of(2)
            {
                pairs[half_points + other] += 1;
            }
        }
        let distinct: BTreeSet<_> = counted
            .iter()
            .map(|(_, game)| {
                let moves_first = cell.first_player_moves_first(game.game.number);
                let mover = &cell.players[usize::from(!moves_first)];
                (game.moves_hash, &game.opening, mover)
            })
            .collect();
        let [losses, draws, wins] = points;
        let pairs = PairCounts(pairs);
        let units = if cell.swap_sides { pairs.pairs() } else { counted.len() as u64 };
        let spread = cell.openings_count.filter(|&count| count > 1 && count < units).map(|_| {
            let mut counts = OpeningCounts::default();
            for sums in self.openings(id, cell) {
                let (units, half_points) = sums.units(cell.swap_sides);
                counts.insert(units, half_points);
            }
            counts.spread(1 + u64::from(cell.swap_sides))
        });
        let interval = match (spread, cell.swap_sides) {
            (None, true) => pairs.interval(),
            (None, false) => GameCounts(points).interval(),
            (Some(spread), true) => spread.interval(pairs.interval().score),
            (Some(spread), false) => spread.interval(GameCounts(points).interval().score),
        };
        let has_score = if cell.swap_sides { pairs.0 != [0; 5] } else { !counted.is_empty() };
        let mut by_mover = MoverCounts::default();
        for sums in self.openings(id, cell) {
            by_mover.insert(&sums);
        }
        let won_by =
            |figure: &dyn Fn(&OpeningSums) -> u64| self.openings(id, cell).iter().map(figure).sum();
        CellResult {
            cell: id,
            axes: places.values(id),
            player: cell.player_names[0].clone(),
            opponent: cell.player_names[1].clone(),
            is_timed: cell.timed,
            swap_sides: cell.swap_sides,
            is_self_play: cell.players[0] == cell.players[1],
            openings_used: cell.openings_count.unwrap_or(u64::MAX).min(units),
            games_planned: cell.games_wanted(),
            stop: cell.rule.map(|rule| CellStop {
                rule,
                games_max: cell.games_planned,
                stopped_after: cell.stop_number,
            }),
            is_one_round: cell.repeats
                && cell.stop_number.is_some_and(|stop| {
                    let games_of_unit = 1 + u64::from(cell.swap_sides);
                    cell.openings_count.map(|openings| openings * games_of_unit) == Some(stop)
                }),
            games: counted.len() as u64,
            games_failed: self.failed_of(id),
            wins,
            draws,
            losses,
            pairs,
            pairs_won_by_first_mover: won_by(&|sums| sums.pairs_won_by_first_mover),
            pairs_won_by_second_mover: won_by(&|sums| sums.pairs_won_by_second_mover),
            distinct_games: distinct.len() as u64,
            score: has_score.then_some(interval),
            openings: spread,
            first_mover: first_mover_score(&by_mover.of_mover, counted.len() as u64, draws),
            colours: Some(cell.colours(&counted, &by_mover)),
            margin: self.margin(id, cell, spread.is_some()),
        }
    }

    fn report(&self, id: ExperimentId, detail: Detail) -> Report {
        let places = self.places(id);
        let own_cells = self.cells_of(id);
        let cells: Vec<_> =
            own_cells.iter().map(|&(id, cell)| self.result(id, cell, &places)).collect();
        let opponents = Opponents::new(&cells);
        let (mut moves, mut depths) = (Vec::new(), Vec::new());
        for &(id, cell) in &own_cells {
            // A player that meets itself is one player.
            let sides = if cell.players[0] == cell.players[1] { 1 } else { 2 };
            let times = self.time_sums(id, cell, |mv| mv.wall_us);
            let cpu_times = self.time_sums(id, cell, |mv| mv.cpu_us);
            let both_by_cpu = cell
                .players
                .iter()
                .all(|player| CostedPlayer::from_json(player).is_compared_by_cpu);
            for player in 0..sides {
                let name = || cell.player_names[player].clone();
                let searches = self.searches(id, cell, player);
                let player_cost = CostedPlayer::from_json(&cell.players[player]);
                let cost = |costs| MoveCost::new(id, name(), costs, &places, &opponents);
                let with_times = |costs: Costs| Costs {
                    wall_us_game_mean: times.game_mean(player),
                    wall_us_ratio: times.ratio(player),
                    cpu: costs.cpu.map(|cpu| CpuTimes {
                        us_game_mean: cpu_times.game_mean(player),
                        us_ratio: both_by_cpu.then(|| cpu_times.ratio(player)).flatten(),
                        ..cpu
                    }),
                    ..costs
                };
                moves.extend(costs(player_cost, &searches).map(with_times).and_then(cost));
                let all: BTreeSet<u32> = searches.iter().map(|mv| mv.search.depth).collect();
                for depth in all.into_iter().filter(|_| detail == Detail::Depths) {
                    let of_depth: Vec<_> =
                        searches.iter().copied().filter(|mv| mv.search.depth == depth).collect();
                    depths.extend(costs(player_cost, &of_depth).and_then(cost));
                }
            }
        }
        let games = cells.iter().map(|cell| cell.games).sum();
        let draws = cells.iter().map(|cell| cell.draws).sum();
        let first_mover = first_mover_score(&self.first_mover_of_all(&own_cells), games, draws);
        let replayed = own_cells.iter().map(|&(cell, _)| {
            let counted = self.counted_of(cell);
            let again = counted.iter().filter(|(_, game)| {
                let attempts = self.attempts.get(&game.game);
                attempts.is_some_and(|attempts| attempts.lost + attempts.failed > 0)
            });
            ReplayedGames { cell, games: again.count() as u64 }
        });
        let mut replayed: Vec<_> = replayed.filter(|replayed| replayed.games > 0).collect();
        replayed.sort_by_key(|replayed| replayed.cell);
        let Experiment { settings, engine_revision, claims, notes, .. } =
            self.experiments[&id].clone();
        let scaled = self.scaled_of(&own_cells, settings.timing.scaling);
        let played_on = cells.iter().any(|cell| cell.is_timed).then(|| self.played_on(id));
        for cost in moves.iter_mut().chain(&mut depths) {
            let overruns = cost.costs.overruns.take();
            cost.costs.overruns = overruns.filter(|_| !scaled.is_scaled(cost.cell));
        }
        Report {
            experiment: self.summary(id, &self.experiments[&id]),
            description: settings.description,
            engine_revision: Some(engine_revision),
            axes: places.into_axes(),
            first_mover,
            cells,
            moves,
            depths,
            accuracy: self.accuracy(&own_cells),
            replayed,
            disturbed: self.disturbed_of(&own_cells),
            scaled,
            played_on,
            claims,
            engines: self.engines_used(&own_cells),
            runs: runs_of(notes),
        }
    }

    /// Summed times of the cell's players over openings.
    fn time_sums(&self, id: CellId, cell: &Cell, us: fn(&MoveRecord) -> u64) -> TimeSums {
        let mut sums = TimeSums::default();
        let by_opening = self.openings_by_clock(id, cell, us);
        for OpeningSums { times: [mut first, mut second], .. } in by_opening {
            if cell.players[0] == cell.players[1] {
                first.games += second.games;
                first.wall_us_mean_sum += second.wall_us_mean_sum;
                first.wall_us_mean_log_sum += second.wall_us_mean_log_sum;
                second = GameTimes::default();
            }
            sums.add([&first, &second]);
        }
        sums
    }

    /// The searched moves of one of a cell's players in its counted games.
    fn searches(&self, id: CellId, cell: &Cell, player: usize) -> Vec<&MoveRecord> {
        let mut searches = Vec::new();
        for (_, game) in self.counted_of(id) {
            let moves_first = cell.first_player_moves_first(game.game.number);
            for mv in &game.record.moves {
                let mover = usize::from((mv.mover == 0) != moves_first);
                let is_its = cell.players[mover] == cell.players[player];
                if is_its && mv.search.ended_by != EndedBy::OnlyMove {
                    searches.push(mv);
                }
            }
        }
        searches
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
