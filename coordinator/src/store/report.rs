//! What came of cells, and what moves cost: an experiment's, whole, or a part of them.

use spelrum_tournament::results::{
    CellCursor, CellResult, CellStop, CellsPage, Costs, Detail, MoveCost, Opponents, Places,
    Report, SettledCells,
};
use spelrum_tournament::{CellId, ExperimentId, PairCounts, ScoreInterval};
use sqlx::SqliteConnection;

use super::error::StoreError;
use super::read::Readers;
use super::scheduling::unsigned;
use super::stop_rules::RuleRow;
use super::summaries::{find, summary};
use super::transaction::rows;

/// The most rows of a report, cells and costs together (invariant 9): 100,000 cells with both players'
/// costs at three depths.
pub const REPORT_ROWS_MAX: usize = 1_000_000;

/// A cell's rollup.
struct CellRow {
    cell_id: i64,
    cell_number: i64,
    player: String,
    opponent: String,
    games_planned: i64,
    games_max: i64,
    precision: Option<f64>,
    elo0: Option<f64>,
    elo1: Option<f64>,
    alpha: Option<f64>,
    beta: Option<f64>,
    model: Option<String>,
    stopped_after: Option<i64>,
    games: i64,
    games_failed: i64,
    wins: i64,
    draws: i64,
    losses: i64,
    score: Option<f64>,
    score_low: Option<f64>,
    score_high: Option<f64>,
    pairs_0: i64,
    pairs_half: i64,
    pairs_1: i64,
    pairs_1_half: i64,
    pairs_2: i64,
    distinct_games: i64,
    timed: bool,
    swap_sides: bool,
    is_self_play: bool,
    openings_used: i64,
    last_game_id: i64,
}

impl CellRow {
    fn cursor(&self) -> CellCursor {
        CellCursor { number: unsigned(self.cell_number), cell: CellId(self.cell_id) }
    }

    fn read(self, places: &Places) -> CellResult {
        let cell = CellId(self.cell_id);
        let interval = self.score_low.zip(self.score_high);
        let score = self.score.zip(interval);
        let rule = RuleRow {
            precision: self.precision,
            elo0: self.elo0,
            elo1: self.elo1,
            alpha: self.alpha,
            beta: self.beta,
            model: self.model,
        };
        CellResult {
            cell,
            axes: places.of(cell),
            player: self.player,
            opponent: self.opponent,
            is_timed: self.timed,
            swap_sides: self.swap_sides,
            is_self_play: self.is_self_play,
            openings_used: unsigned(self.openings_used),
            games_planned: unsigned(self.games_planned),
            stop: rule.read().map(|rule| CellStop {
                rule,
                games_max: unsigned(self.games_max),
                stopped_after: self.stopped_after.map(unsigned),
            }),
            games: unsigned(self.games),
            games_failed: unsigned(self.games_failed),
            wins: unsigned(self.wins),
            draws: unsigned(self.draws),
            losses: unsigned(self.losses),
            pairs: PairCounts([
                unsigned(self.pairs_0),
                unsigned(self.pairs_half),
                unsigned(self.pairs_1),
                unsigned(self.pairs_1_half),
                unsigned(self.pairs_2),
            ]),
            distinct_games: unsigned(self.distinct_games),
            score: score.map(|(score, (low, high))| ScoreInterval { score, low, high }),
        }
    }
}

impl Readers {
    /// The results of the experiment with this UUID or name, all of one moment, from the rollups.
    /// Nothing if there is none.
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
        let cells: Vec<_> = rows.into_iter().map(|row| row.read(&places)).collect();
        let opponents = Opponents::of(&cells);
        let read = |rows: Vec<CostRow>| -> Vec<MoveCost> {
            rows.into_iter().filter_map(|row| row.read(&places, &opponents)).collect()
        };
        let moves = read(time_per_move(&mut snapshot, id, limit(cells.len())).await?);
        let depths = match detail {
            Detail::Cells => Vec::new(),
            Detail::Depths => {
                let limit = limit(cells.len() + moves.len());
                read(time_per_depth(&mut snapshot, id, limit).await?)
            }
        };
        if cells.len() + moves.len() + depths.len() > REPORT_ROWS_MAX {
            return Err(StoreError::LargeReport { rows_max: REPORT_ROWS_MAX });
        }
        Ok(Some(Report { experiment, axes: places.into_axes(), cells, moves, depths }))
    }

    /// A part of an experiment's cells, those that its sweep names, in the grid's order: from the first
    /// on, or after this one.
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
            // One more tells whether there are more.
            let limit = i64::from(cells_max) + 1;
            let mut rows = cells(&mut snapshot, experiment, after, limit).await?;
            let has_more = rows.len() as u64 > u64::from(cells_max);
            rows.truncate(usize::try_from(cells_max).unwrap_or(usize::MAX));
            let next = has_more.then(|| rows.last().map(CellRow::cursor)).flatten();
            let places = places_of(&mut snapshot, experiment, &rows).await?;
            let cells = rows.into_iter().map(|row| row.read(&places)).collect();
            Ok(CellsPage { axes: places.into_axes(), cells, next })
        };
        self.in_time(reading).await
    }

    /// The cells of an experiment without a game to play, of those that got a result after the game with
    /// this id, in the order of their last games. Looks at no game that is older.
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
            let cells = rows.into_iter().map(|row| row.read(&places)).collect();
            Ok(SettledCells { axes: places.into_axes(), cells, last_game_id })
        };
        self.in_time(reading).await
    }
}

/// How many rows are read of what is left of a report: one more than it may have.
fn limit(rows_before: usize) -> i64 {
    i64::try_from(REPORT_ROWS_MAX.saturating_sub(rows_before) + 1).unwrap_or(i64::MAX)
}

pub(super) async fn axes(
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

/// The places of all cells that the sweep names.
pub(super) async fn all_places(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    places: &mut Places,
) -> Result<(), StoreError> {
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!: i64", a.axis, a.value_text
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
        r#"SELECT a.cell_id AS "cell_id!: i64", a.axis, a.value_text
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

/// Cells in the grid's order, from the first on or after one.
async fn cells(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    after: Option<CellCursor>,
    limit: i64,
) -> Result<Vec<CellRow>, StoreError> {
    let (number, cell) = match after {
        None => (-1, 0),
        Some(after) => (i64::try_from(after.number).unwrap_or(i64::MAX), after.cell.0),
    };
    Ok(sqlx::query_as!(
        CellRow,
        r#"SELECT cell_id AS "cell_id!: i64", cell_number AS "cell_number!: i64", player, opponent,
            games_planned AS "games_planned!: i64", games_max AS "games_max!: i64",
            s.precision, s.elo0, s.elo1, s.alpha, s.beta, s.model,
            stopped_after AS "stopped_after?: i64",
            games AS "games!: i64", games_failed AS "games_failed!: i64",
            wins AS "wins!: i64", draws AS "draws!: i64", losses AS "losses!: i64",
            score AS "score?: f64", score_low AS "score_low?: f64", score_high AS "score_high?: f64",
            pairs_0 AS "pairs_0!: i64", pairs_half AS "pairs_half!: i64",
            pairs_1 AS "pairs_1!: i64", pairs_1_half AS "pairs_1_half!: i64",
            pairs_2 AS "pairs_2!: i64", distinct_games AS "distinct_games!: i64",
            timed AS "timed: bool", swap_sides AS "swap_sides: bool",
            player_id = opponent_id AS "is_self_play!: bool", openings_used AS "openings_used!: i64",
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

/// Cells without a game to play, by their last games.
async fn settled_cells(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    after_game_id: i64,
    limit: i64,
) -> Result<Vec<CellRow>, StoreError> {
    Ok(sqlx::query_as!(
        CellRow,
        r#"SELECT r.cell_id AS "cell_id!: i64", r.cell_number AS "cell_number!: i64", r.player,
            r.opponent, r.games_planned AS "games_planned!: i64", r.games_max AS "games_max!: i64",
            s.precision, s.elo0, s.elo1, s.alpha, s.beta, s.model,
            r.stopped_after AS "stopped_after?: i64",
            r.games AS "games!: i64",
            r.games_failed AS "games_failed!: i64", r.wins AS "wins!: i64",
            r.draws AS "draws!: i64", r.losses AS "losses!: i64", r.score AS "score?: f64",
            r.score_low AS "score_low?: f64", r.score_high AS "score_high?: f64",
            r.pairs_0 AS "pairs_0!: i64", r.pairs_half AS "pairs_half!: i64",
            r.pairs_1 AS "pairs_1!: i64", r.pairs_1_half AS "pairs_1_half!: i64",
            r.pairs_2 AS "pairs_2!: i64", r.distinct_games AS "distinct_games!: i64",
            r.timed AS "timed: bool", r.swap_sides AS "swap_sides: bool",
            r.player_id = r.opponent_id AS "is_self_play!: bool",
            r.openings_used AS "openings_used!: i64",
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

/// A row of `time_per_move` or `time_per_depth`.
struct CostRow {
    cell_id: i64,
    player: String,
    searched_moves: i64,
    wall_us_mean: f64,
    wall_us_median: f64,
    wall_us_p90: f64,
    wall_us_p99: f64,
    depth_mean: f64,
    nodes_mean: f64,
    evaluations_mean: f64,
    full_tree_share: Option<f64>,
}

impl CostRow {
    fn read(self, places: &Places, opponents: &Opponents<'_>) -> Option<MoveCost> {
        let costs = Costs {
            searched_moves: unsigned(self.searched_moves),
            wall_us_mean: self.wall_us_mean,
            wall_us_median: self.wall_us_median,
            wall_us_p90: self.wall_us_p90,
            wall_us_p99: self.wall_us_p99,
            depth_mean: self.depth_mean,
            nodes_mean: self.nodes_mean,
            evaluations_mean: self.evaluations_mean,
            full_tree_share: self.full_tree_share,
        };
        MoveCost::of(CellId(self.cell_id), self.player, costs, places, opponents)
    }
}

/// What searched moves cost each player in each cell, in the grid's order.
async fn time_per_move(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    limit: i64,
) -> Result<Vec<CostRow>, StoreError> {
    Ok(sqlx::query_as!(
        CostRow,
        r#"SELECT t.cell_id AS "cell_id!: i64", t.player AS "player!: String",
            t.searched_moves AS "searched_moves!: i64", t.wall_us_mean AS "wall_us_mean!: f64",
            t.wall_us_median AS "wall_us_median!: f64", t.wall_us_p90 AS "wall_us_p90!: f64",
            t.wall_us_p99 AS "wall_us_p99!: f64", t.depth_mean AS "depth_mean!: f64",
            t.nodes_mean AS "nodes_mean!: f64", t.evaluations_mean AS "evaluations_mean!: f64",
            t.full_tree_share AS "full_tree_share?: f64"
        FROM time_per_move AS t JOIN cells AS c ON c.cell_id = t.cell_id
        WHERE t.experiment_id = ?
        ORDER BY c.number, t.player_id <> c.first_player_id LIMIT ?"#,
        experiment.0,
        limit
    )
    .fetch_all(connection)
    .await?)
}

/// The same by the depth that a search completed.
async fn time_per_depth(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    limit: i64,
) -> Result<Vec<CostRow>, StoreError> {
    Ok(sqlx::query_as!(
        CostRow,
        r#"SELECT t.cell_id AS "cell_id!: i64", t.player AS "player!: String",
            t.searched_moves AS "searched_moves!: i64", t.wall_us_mean AS "wall_us_mean!: f64",
            t.wall_us_median AS "wall_us_median!: f64", t.wall_us_p90 AS "wall_us_p90!: f64",
            t.wall_us_p99 AS "wall_us_p99!: f64", 1.0 * t.depth AS "depth_mean!: f64",
            t.nodes_mean AS "nodes_mean!: f64", t.evaluations_mean AS "evaluations_mean!: f64",
            t.full_tree_share AS "full_tree_share?: f64"
        FROM time_per_depth AS t JOIN cells AS c ON c.cell_id = t.cell_id
        WHERE t.experiment_id = ?
        ORDER BY c.number, t.player_id <> c.first_player_id, t.depth LIMIT ?"#,
        experiment.0,
        limit
    )
    .fetch_all(connection)
    .await?)
}
