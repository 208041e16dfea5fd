//! Results of cells and costs of moves: of a whole experiment or a part.

use std::collections::{BTreeMap, HashMap};

use spelrum_answers::{
    CellCursor, CellMargin, CellResult, CellStop, CellsPage, ColourResult, CostedPlayer, Costs,
    CpuTimes, Detail, MoveCost, MoveTimes, MoverCounts, Opponents, Places, ReplayedGames, Report,
    SettledCells, first_mover as first_mover_score,
};
use spelrum_model::{CellId, ExperimentId, Task};
use spelrum_statistics::{Interval, OpeningSpread, OverGames, PairCounts, ScoreInterval, TimeSums};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::accuracy::accuracy;
use crate::read::claims::stated_claims;
use crate::read::disturbed_games::disturbed;
use crate::read::engines::engines_used;
use crate::read::game_times::{Clock, time_sums};
use crate::read::readers::Readers;
use crate::read::runs::runs;
use crate::read::summaries::{find, summary};
use crate::read::time_scaling::{played_on, scaled};
use crate::schema::encoding::rows;
use crate::schema::numbers::{count, integer};
use crate::write::cell_openings::{by_mover, first_mover_of_all};
use crate::write::stop_rules::RuleRow;

/// Maximum number of rows of a report, cells and costs together (invariant 9): 100,000 cells with both players' costs
/// at three depths.
pub const REPORT_ROWS_MAX: usize = 1_000_000;

/// A cell's rollup.
struct CellRow {
    cell_id: i64,
    cell_number: u64,
    player: String,
    opponent: String,
    games_planned: u64,
    games_max: u64,
    precision: Option<f64>,
    over_pairs: bool,
    elo0: Option<f64>,
    elo1: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    model: Option<String>,
    stopped_after: Option<u64>,
    is_one_round: Option<bool>,
    games: u64,
    games_failed: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    pairs_0: u64,
    pairs_half: u64,
    pairs_1: u64,
    pairs_1_half: u64,
    pairs_2: u64,
    distinct_games: u64,
    timed: bool,
    swap_sides: bool,
    is_self_play: bool,
    openings_used: u64,
    openings_effective: Option<f64>,
    openings_variance: Option<f64>,
    pairs_won_by_first_mover: u64,
    pairs_won_by_second_mover: u64,
    wins_moving_first: u64,
    draws_moving_first: u64,
    losses_moving_first: u64,
    margin_games: u64,
    margin_mean: Option<f64>,
    margin_low: Option<f64>,
    margin_high: Option<f64>,
    last_game_id: i64,
}

impl CellRow {
    fn cursor(&self) -> CellCursor {
        CellCursor { number: self.cell_number, cell: CellId(self.cell_id) }
    }

    /// Builds the result from the rollup and the counts by first mover.
    fn read(self, places: &Places, by_mover: &BTreeMap<i64, MoverCounts>) -> CellResult {
        let cell = CellId(self.cell_id);
        let nothing = MoverCounts::default();
        let by_mover = by_mover.get(&self.cell_id).unwrap_or(&nothing);
        let spread = self.openings_effective.zip(self.openings_variance);
        let interval = self.score_low.zip(self.score_high);
        let score = self.score.zip(interval);
        let moving_first =
            [self.wins_moving_first, self.draws_moving_first, self.losses_moving_first];
        let moving_second = [
            self.wins.saturating_sub(self.wins_moving_first),
            self.draws.saturating_sub(self.draws_moving_first),
            self.losses.saturating_sub(self.losses_moving_first),
        ];
        let rule = RuleRow {
            precision: self.precision,
            over_pairs: self.over_pairs,
            elo0: self.elo0,
            elo1: self.elo1,
            alpha: self.alpha,
            beta: self.beta,
            model: self.model,
        };
        CellResult {
            cell,
            axes: places.values(cell),
            player: self.player,
            opponent: self.opponent,
            is_timed: self.timed,
            swap_sides: self.swap_sides,
            is_self_play: self.is_self_play,
            openings_used: self.openings_used,
            games_planned: self.games_planned,
            stop: rule.read().map(|rule| CellStop {
                rule,
                games_max: self.games_max,
                stopped_after: self.stopped_after,
            }),
            is_one_round: self.is_one_round.unwrap_or(false),
            games: self.games,
            games_failed: self.games_failed,
            wins: self.wins,
            draws: self.draws,
            losses: self.losses,
            pairs: PairCounts([
                self.pairs_0,
                self.pairs_half,
                self.pairs_1,
                self.pairs_1_half,
                self.pairs_2,
            ]),
            pairs_won_by_first_mover: self.pairs_won_by_first_mover,
            pairs_won_by_second_mover: self.pairs_won_by_second_mover,
            distinct_games: self.distinct_games,
            score: score.map(|(score, (low, high))| ScoreInterval { score, low, high }),
            openings: spread.map(|(effective, variance)| OpeningSpread { effective, variance }),
            first_mover: first_mover_score(&by_mover.of_mover, self.games, self.draws),
            colours: Some([
                ColourResult::new(moving_first, &by_mover.of_player[0]),
                ColourResult::new(moving_second, &by_mover.of_player[1]),
            ]),
            margin: self.margin_mean.map(|value| {
                let interval = self.margin_low.zip(self.margin_high);
                let interval = interval.map(|(low, high)| Interval { value, low, high });
                let games = self.margin_games;
                CellMargin { games, mean: OverGames { value, interval } }
            }),
        }
    }
}

impl Readers {
    /// Returns the results of the experiment with this UUID or name, as one snapshot of the rollups; `None` if the
    /// experiment is missing.
    ///
    /// # Errors
    /// If the database fails, takes too long, or has more than [`REPORT_ROWS_MAX`] rows of results.
    pub async fn report(&self, which: &str, detail: Detail) -> Result<Option<Report>, StoreError> {
        self.in_time(self.whole_report(which, detail)).await
    }

    async fn whole_report(
        &self,
        which: &str,
        detail: Detail,
    ) -> Result<Option<Report>, StoreError> {
        let mut snapshot = self.snapshot().await?;
        let Some(id) = find(&mut snapshot, which).await? else { return Ok(None) };
        let Some(experiment) = summary(&mut snapshot, id).await? else { return Ok(None) };
        let mut places = Places::on(axes(&mut snapshot, id).await?);
        all_places(&mut snapshot, id, &mut places).await?;
        let rows = cells(&mut snapshot, id, None, limit(0)).await?;
        let by_mover = by_mover_of(&mut snapshot, &rows).await?;
        let cells: Vec<_> = rows.into_iter().map(|row| row.read(&places, &by_mover)).collect();
        let all = first_mover_of_all(&mut snapshot, id).await?;
        let games = cells.iter().map(|cell| cell.games).sum();
        let first_mover = first_mover_score(&all, games, cells.iter().map(|cell| cell.draws).sum());
        let opponents = Opponents::new(&cells);
        let players = players(&mut snapshot, id).await?;
        let read = |rows: Vec<CostRow>, times: &CellTimes| -> Vec<MoveCost> {
            let read = |row: CostRow| row.read(&players, &places, &opponents, times);
            rows.into_iter().filter_map(read).collect()
        };
        let wall = time_sums(&mut snapshot, id, Clock::Wall, limit(0)).await?;
        let cpu = match players.values().any(|player| player.is_compared_by_cpu) {
            true => time_sums(&mut snapshot, id, Clock::Cpu, limit(0)).await?,
            false => HashMap::new(),
        };
        let times = CellTimes { wall, cpu };
        let mut moves = read(move_costs(&mut snapshot, id, limit(cells.len())).await?, &times);
        let mut depths = match detail {
            Detail::Cells => Vec::new(),
            Detail::Depths => {
                let limit = limit(cells.len() + moves.len());
                // Costs by depth are not stored per game.
                read(depth_costs(&mut snapshot, id, limit).await?, &CellTimes::default())
            }
        };
        let rows = cells.len() + moves.len() + depths.len();
        let accuracy = match experiment.task {
            Task::Game => Vec::new(),
            Task::Choice => accuracy(&mut snapshot, id, limit(rows)).await?,
        };
        if rows + accuracy.len() > REPORT_ROWS_MAX {
            return Err(StoreError::LargeReport { rows_max: REPORT_ROWS_MAX });
        }
        let replayed = replayed(&mut snapshot, id).await?;
        let disturbed = disturbed(&mut snapshot, id).await?;
        let scaled = scaled(&mut snapshot, id).await?;
        let played_on = match cells.iter().any(|cell| cell.is_timed) {
            true => Some(played_on(&mut snapshot, id).await?),
            false => None,
        };
        for cost in moves.iter_mut().chain(&mut depths) {
            let overruns = cost.costs.overruns.take();
            cost.costs.overruns = overruns.filter(|_| !scaled.is_scaled(cost.cell));
        }
        let axes = places.into_axes();
        let claims = stated_claims(&mut snapshot, id).await?;
        let (description, engine_revision) = asked(&mut snapshot, id).await?;
        let engines = engines_used(&mut snapshot, id).await?;
        let runs = runs(&mut snapshot, id).await?;
        Ok(Some(Report {
            experiment,
            description,
            engine_revision: Some(engine_revision),
            axes,
            first_mover,
            cells,
            moves,
            depths,
            accuracy,
            replayed,
            disturbed,
            scaled,
            played_on,
            claims,
            engines,
            runs,
        }))
    }

    /// Returns a page of the cells named by an experiment's sweep, in grid order: from the start, or after this cell.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn cells(
        &self,
        experiment: ExperimentId,
        after: Option<CellCursor>,
        cells_max: u32,
    ) -> Result<CellsPage, StoreError> {
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            // One extra row shows whether there are more.
            let limit = i64::from(cells_max) + 1;
            let mut rows = cells(&mut snapshot, experiment, after, limit).await?;
            let has_more = rows.len() as u64 > u64::from(cells_max);
            rows.truncate(usize::try_from(cells_max).unwrap_or(usize::MAX));
            let next = has_more.then(|| rows.last().map(CellRow::cursor)).flatten();
            let places = places_of(&mut snapshot, experiment, &rows).await?;
            let by_mover = by_mover_of(&mut snapshot, &rows).await?;
            let cells = rows.into_iter().map(|row| row.read(&places, &by_mover)).collect();
            Ok(CellsPage { axes: places.into_axes(), cells, next })
        };
        self.in_time(reading).await
    }

    /// Returns the cells of an experiment without games left to play that got a result after the game with this id, in
    /// the order of their last games. Reads no older game.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn settled_cells(
        &self,
        experiment: ExperimentId,
        after_game_id: i64,
        cells_max: u32,
    ) -> Result<SettledCells, StoreError> {
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            let rows =
                settled_cells(&mut snapshot, experiment, after_game_id, cells_max.into()).await?;
            let last_game_id = rows.last().map_or(after_game_id, |row| row.last_game_id);
            let places = places_of(&mut snapshot, experiment, &rows).await?;
            let by_mover = by_mover_of(&mut snapshot, &rows).await?;
            let cells = rows.into_iter().map(|row| row.read(&places, &by_mover)).collect();
            Ok(SettledCells { axes: places.into_axes(), cells, last_game_id })
        };
        self.in_time(reading).await
    }
}

async fn by_mover_of(
    connection: &mut SqliteConnection,
    cells: &[CellRow],
) -> Result<BTreeMap<i64, MoverCounts>, StoreError> {
    let list: Vec<i64> = cells.iter().map(|row| row.cell_id).collect();
    by_mover(connection, &list).await
}

/// The names of an experiment's axes, and the results of all cells named by its sweep, in grid order.
pub(crate) async fn all_cells(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<(Vec<String>, Vec<CellResult>), StoreError> {
    let mut places = Places::on(axes(connection, experiment).await?);
    all_places(connection, experiment, &mut places).await?;
    let rows = cells(connection, experiment, None, limit(0)).await?;
    // Callers do not use the counts by first mover.
    let cells = rows.into_iter().map(|row| row.read(&places, &BTreeMap::new())).collect();
    Ok((places.into_axes(), cells))
}

/// Limit for the remaining rows of a report: one more than it may have.
fn limit(rows_before: usize) -> i64 {
    count(REPORT_ROWS_MAX.saturating_sub(rows_before) + 1)
}

pub(crate) async fn axes(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<String>, StoreError> {
    Ok(sqlx::query_scalar!(
        "SELECT axis FROM experiment_axes WHERE experiment_id = ? ORDER BY number",
        experiment.0
    )
    .fetch_all(connection)
    .await?)
}

/// The sweep's settings, and the engine revision of its games.
async fn asked(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<(String, u32), StoreError> {
    let row = sqlx::query!(
        r#"SELECT description, engine_revision FROM experiments
        WHERE experiment_id = ?"#,
        experiment.0
    )
    .fetch_one(connection)
    .await?;
    Ok((row.description, row.engine_revision))
}

/// The places of all cells that the sweep names.
pub(crate) async fn all_places(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    places: &mut Places,
) -> Result<(), StoreError> {
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", a.axis, a.value_text
        FROM cells AS c JOIN cell_axes AS a ON a.cell_id = c.cell_id
        WHERE c.experiment_id = ? AND c.in_sweep = 1"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    for row in found {
        places.put(CellId(row.cell_id), &row.axis, row.value_text);
    }
    Ok(())
}

/// The axes, and the places of these cells on them.
async fn places_of(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    cells: &[CellRow],
) -> Result<Places, StoreError> {
    let mut places = Places::on(axes(connection, experiment).await?);
    let list: Vec<i64> = cells.iter().map(|row| row.cell_id).collect();
    let list = rows(&list)?;
    let found = sqlx::query!(
        r#"SELECT a.cell_id AS "cell_id!", a.axis, a.value_text
        FROM json_each(?) AS j JOIN cell_axes AS a ON a.cell_id = j.value"#,
        list
    )
    .fetch_all(connection)
    .await?;
    for row in found {
        places.put(CellId(row.cell_id), &row.axis, row.value_text);
    }
    Ok(places)
}

/// Cells in grid order, from the start or after one.
async fn cells(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    after: Option<CellCursor>,
    limit: i64,
) -> Result<Vec<CellRow>, StoreError> {
    let (number, cell) = match after {
        None => (-1, 0),
        Some(after) => (integer(after.number), after.cell.0),
    };
    Ok(sqlx::query_as!(
        CellRow,
        r#"SELECT cell_id AS "cell_id!", cell_number AS "cell_number!: u64", player, opponent,
            games_planned AS "games_planned!: u64", games_max AS "games_max!",
            s.precision, coalesce(s.over_pairs, 0) AS "over_pairs!: bool", s.elo0, s.elo1, s.alpha, s.beta, s.model,
            stopped_after AS "stopped_after?", games AS "games!: u64",
            games_failed AS "games_failed!: u64", wins AS "wins!: u64", draws AS "draws!: u64",
            losses AS "losses!: u64", score AS "score?: f64", score_low AS "score_low?: f64",
            score_high AS "score_high?: f64", pairs_0 AS "pairs_0!: u64",
            pairs_half AS "pairs_half!: u64", pairs_1 AS "pairs_1!: u64",
            pairs_1_half AS "pairs_1_half!: u64", pairs_2 AS "pairs_2!: u64",
            distinct_games AS "distinct_games!: u64", timed, swap_sides,
            player_id = opponent_id AS "is_self_play!: bool", openings_used AS "openings_used!: u64",
            openings_effective AS "openings_effective?: f64",
            openings_variance AS "openings_variance?: f64",
            pairs_won_by_first_mover AS "pairs_won_by_first_mover!: u64",
            pairs_won_by_second_mover AS "pairs_won_by_second_mover!: u64",
            wins_moving_first AS "wins_moving_first!: u64",
            draws_moving_first AS "draws_moving_first!: u64",
            losses_moving_first AS "losses_moving_first!: u64",
            margin_games AS "margin_games!: u64", margin_mean AS "margin_mean?: f64",
            margin_low AS "margin_low?: f64", margin_high AS "margin_high?: f64",
            (SELECT c.repeats = 1 AND c.stop_number = k.openings_count * (1 + c.swap_sides)
                FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
                WHERE c.cell_id = r.cell_id) AS "is_one_round?: bool",
            0 AS "last_game_id!: i64"
        FROM results AS r LEFT JOIN stop_rules AS s ON s.stop_rule_id = r.stop_rule_id
        WHERE experiment_id = ?1 AND (cell_number, cell_id) > (?2, ?3)
        ORDER BY cell_number, cell_id LIMIT ?4"#,
        experiment.0,
        number,
        cell,
        limit
    )
    .fetch_all(connection)
    .await?)
}

/// Cells without games left to play, by their last games.
async fn settled_cells(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    after_game_id: i64,
    limit: i64,
) -> Result<Vec<CellRow>, StoreError> {
    Ok(sqlx::query_as!(
        CellRow,
        r#"SELECT r.cell_id AS "cell_id!", r.cell_number AS "cell_number!: u64", r.player,
            r.opponent, r.games_planned AS "games_planned!: u64", r.games_max AS "games_max!",
            s.precision, coalesce(s.over_pairs, 0) AS "over_pairs!: bool", s.elo0, s.elo1, s.alpha, s.beta, s.model,
            r.stopped_after AS "stopped_after?", r.games AS "games!: u64",
            r.games_failed AS "games_failed!: u64", r.wins AS "wins!: u64",
            r.draws AS "draws!: u64", r.losses AS "losses!: u64", r.score AS "score?: f64",
            r.score_low AS "score_low?: f64", r.score_high AS "score_high?: f64",
            r.pairs_0 AS "pairs_0!: u64", r.pairs_half AS "pairs_half!: u64",
            r.pairs_1 AS "pairs_1!: u64", r.pairs_1_half AS "pairs_1_half!: u64",
            r.pairs_2 AS "pairs_2!: u64", r.distinct_games AS "distinct_games!: u64", r.timed,
            r.swap_sides,
            r.player_id = r.opponent_id AS "is_self_play!: bool",
            r.openings_used AS "openings_used!: u64",
            r.openings_effective AS "openings_effective?: f64",
            r.openings_variance AS "openings_variance?: f64",
            r.pairs_won_by_first_mover AS "pairs_won_by_first_mover!: u64",
            r.pairs_won_by_second_mover AS "pairs_won_by_second_mover!: u64",
            r.wins_moving_first AS "wins_moving_first!: u64",
            r.draws_moving_first AS "draws_moving_first!: u64",
            r.losses_moving_first AS "losses_moving_first!: u64",
            r.margin_games AS "margin_games!: u64", r.margin_mean AS "margin_mean?: f64",
            r.margin_low AS "margin_low?: f64", r.margin_high AS "margin_high?: f64",
            (SELECT c.repeats = 1 AND c.stop_number = k.openings_count * (1 + c.swap_sides)
                FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
                WHERE c.cell_id = r.cell_id) AS "is_one_round?: bool",
            f.last_game_id AS "last_game_id!: i64"
        FROM (
            SELECT g.cell_id, max(g.game_id) AS last_game_id FROM games AS g NOT INDEXED
            WHERE g.game_id > ?2 GROUP BY g.cell_id) AS f
        CROSS JOIN results AS r ON r.cell_id = f.cell_id
        LEFT JOIN stop_rules AS s ON s.stop_rule_id = r.stop_rule_id
        WHERE r.experiment_id = ?1 AND r.games + r.games_failed >= r.games_planned
        ORDER BY f.last_game_id LIMIT ?3"#,
        experiment.0,
        after_game_id,
        limit
    )
    .fetch_all(connection)
    .await?)
}

/// Summed costs of one player's searches in one cell, at one depth or at all.
struct CostRow {
    cell_id: i64,
    player_id: i64,
    opponent_id: i64,
    is_second_player: bool,
    player: String,
    searched_moves: u64,
    wall_us: f64,
    cpu_us: f64,
    depths: f64,
    nodes: f64,
    evaluations: f64,
    completed_evaluations: f64,
    full_tree_leaves: f64,
    /// Time buckets, each followed by its number of moves.
    times: String,
}

/// Summed times of each cell's players, by cell and by either clock.
#[derive(Debug, Default)]
struct CellTimes {
    wall: HashMap<i64, TimeSums>,
    cpu: HashMap<i64, TimeSums>,
}

/// An experiment's players, as far as their costs need them.
type Players = HashMap<i64, CostedPlayer>;

impl CostRow {
    fn read(
        self,
        players: &Players,
        places: &Places,
        opponents: &Opponents<'_>,
        game_times: &CellTimes,
    ) -> Option<MoveCost> {
        let role = usize::from(self.is_second_player);
        let [wall, cpu] = [&game_times.wall, &game_times.cpu].map(|times| times.get(&self.cell_id));
        let player = players.get(&self.player_id).copied().unwrap_or_default();
        let opponent = players.get(&self.opponent_id).copied().unwrap_or_default();
        let both_by_cpu = player.is_compared_by_cpu && opponent.is_compared_by_cpu;
        let moves = self.searched_moves as f64;
        let mut numbers = self.times.split(' ').filter_map(|number| number.parse::<u64>().ok());
        let in_buckets = std::iter::from_fn(|| {
            Some((u32::try_from(numbers.next()?).unwrap_or(u32::MAX), numbers.next()?))
        });
        let wall_us_mean = self.wall_us / moves;
        let times = MoveTimes::new(in_buckets, wall_us_mean);
        let has_full_tree = player.has_full_tree && self.full_tree_leaves > 0.0;
        let costs = Costs {
            searched_moves: self.searched_moves,
            wall_us_mean,
            wall_us_median: times.quantile_us(0.5),
            wall_us_p90: times.quantile_us(0.9),
            wall_us_p95: Some(times.quantile_us(0.95)),
            wall_us_p99: times.quantile_us(0.99),
            depth_mean: self.depths / moves,
            nodes_mean: self.nodes / moves,
            evaluations_mean: self.evaluations / moves,
            full_tree_share: has_full_tree
                .then(|| self.completed_evaluations / self.full_tree_leaves),
            overruns: player.time_limit_us.map(|limit_us| times.overruns(limit_us)),
            wall_us_game_mean: wall.and_then(|times| times.game_mean(role)),
            wall_us_ratio: wall.and_then(|times| times.ratio(role)),
            // A worker that cannot measure CPU time reports zero.
            cpu: (player.is_compared_by_cpu && self.cpu_us > 0.0).then(|| CpuTimes {
                us_mean: self.cpu_us / moves,
                us_game_mean: cpu.and_then(|times| times.game_mean(role)),
                us_ratio: cpu.filter(|_| both_by_cpu).and_then(|times| times.ratio(role)),
            }),
        };
        MoveCost::new(CellId(self.cell_id), self.player, costs, places, opponents)
    }
}

async fn players(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Players, StoreError> {
    let found = sqlx::query!(
        r#"SELECT player_id AS "player_id!", parameters_json FROM players
        WHERE player_id IN (
            SELECT first_player_id FROM cells WHERE experiment_id = ?1 AND in_sweep = 1
            UNION SELECT second_player_id FROM cells WHERE experiment_id = ?1 AND in_sweep = 1)"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    Ok(found
        .into_iter()
        .map(|row| (row.player_id, CostedPlayer::from_json(&row.parameters_json)))
        .collect())
}

/// Each player's costs of searched moves in each cell, in grid order.
async fn move_costs(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    limit: i64,
) -> Result<Vec<CostRow>, StoreError> {
    Ok(sqlx::query_as!(
        CostRow,
        r#"SELECT c.cell_id AS "cell_id!", d.player_id AS "player_id!",
            d.player_id <> c.first_player_id AS "is_second_player!: bool",
            CASE WHEN d.player_id = c.first_player_id THEN c.second_player_id
                ELSE c.first_player_id END AS "opponent_id!: i64",
            CASE WHEN d.player_id = c.first_player_id THEN c.first_player_name
                ELSE c.second_player_name END AS "player!: String",
            sum(d.searched_moves) AS "searched_moves!: u64", total(d.wall_us) AS "wall_us!: f64",
            total(d.cpu_us) AS "cpu_us!: f64",
            total(1.0 * d.depth * d.searched_moves) AS "depths!: f64",
            total(d.nodes) AS "nodes!: f64", total(d.evaluations) AS "evaluations!: f64",
            -- A search that a limit cut off before it completed a depth has no full tree.
            total(CASE WHEN d.depth > 0 THEN d.evaluations END) AS "completed_evaluations!: f64",
            total(d.full_tree_leaves) AS "full_tree_leaves!: f64",
            (SELECT group_concat(t.time_bucket_id || ' ' || t.searched_moves, ' ')
                FROM cell_move_times AS t
                WHERE t.cell_id = c.cell_id AND t.player_id = d.player_id) AS "times!: String"
        FROM cells AS c JOIN cell_depths AS d ON d.cell_id = c.cell_id
        WHERE c.experiment_id = ? AND c.in_sweep = 1
        GROUP BY c.number, c.cell_id, d.player_id
        ORDER BY c.number, c.cell_id, d.player_id <> c.first_player_id LIMIT ?"#,
        experiment.0,
        limit
    )
    .fetch_all(connection)
    .await?)
}

/// As `move_costs`, by the completed depth of the search.
async fn depth_costs(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    limit: i64,
) -> Result<Vec<CostRow>, StoreError> {
    Ok(sqlx::query_as!(
        CostRow,
        r#"SELECT c.cell_id AS "cell_id!", d.player_id AS "player_id!",
            d.player_id <> c.first_player_id AS "is_second_player!: bool",
            CASE WHEN d.player_id = c.first_player_id THEN c.second_player_id
                ELSE c.first_player_id END AS "opponent_id!: i64",
            CASE WHEN d.player_id = c.first_player_id THEN c.first_player_name
                ELSE c.second_player_name END AS "player!: String",
            d.searched_moves AS "searched_moves!", d.wall_us AS "wall_us!: f64",
            d.cpu_us AS "cpu_us!: f64",
            1.0 * d.depth * d.searched_moves AS "depths!: f64",
            d.nodes AS "nodes!: f64", d.evaluations AS "evaluations!: f64",
            d.evaluations AS "completed_evaluations!: f64",
            d.full_tree_leaves AS "full_tree_leaves!: f64",
            (SELECT group_concat(t.time_bucket_id || ' ' || t.searched_moves, ' ')
                FROM cell_move_times AS t
                WHERE t.cell_id = c.cell_id AND t.player_id = d.player_id AND t.depth = d.depth)
                AS "times!: String"
        FROM cells AS c JOIN cell_depths AS d ON d.cell_id = c.cell_id
        WHERE c.experiment_id = ? AND c.in_sweep = 1
        ORDER BY c.number, c.cell_id, d.player_id <> c.first_player_id, d.depth LIMIT ?"#,
        experiment.0,
        limit
    )
    .fetch_all(connection)
    .await?)
}

/// Counted games of each cell that were lost or failed before.
async fn replayed(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<ReplayedGames>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT a.cell_id AS "cell_id!", count(*) AS "games!: u64"
        FROM cells AS c
        JOIN attempts AS a ON a.cell_id = c.cell_id AND a.lost + a.failed > 0
        JOIN games AS g ON g.cell_id = a.cell_id AND g.number = a.number AND g.counted = 1
        WHERE c.experiment_id = ? AND c.in_sweep = 1
        GROUP BY a.cell_id ORDER BY a.cell_id"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let read = |cell_id, games| ReplayedGames { cell: CellId(cell_id), games };
    Ok(found.into_iter().map(|row| read(row.cell_id, row.games)).collect())
}
