//! Results of cells: of all cells that a sweep names, in pages, or as they settle.

use std::collections::BTreeMap;

use spelrum_answers::{
    CellCursor, CellMargin, CellResult, CellStop, CellsPage, ColourResult, MoverCounts, Places,
    SettledCells, first_mover,
};
use spelrum_model::{CellId, ExperimentId};
use spelrum_statistics::{Interval, OpeningSpread, OverGames, PairCounts, ScoreInterval};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::encoding::rows;
use crate::schema::numbers::{count, integer};
use crate::write::cell_openings::by_mover;
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
    games_planned_first: Option<u64>,
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

/// A query for rows of cells, whose second part selects them: `r` are the rows of the view `results`.
macro_rules! cells {
    ($last:tt, $from:tt, $($argument:expr),*) => {
        sqlx::query_as!(
            CellRow,
            r#"SELECT r.cell_id AS "cell_id!", r.cell_number AS "cell_number!: u64", r.player,
                r.opponent, r.games_planned AS "games_planned!: u64", r.games_max AS "games_max!",
                s.precision, coalesce(s.over_pairs, 0) AS "over_pairs!: bool", s.elo0, s.elo1,
                s.alpha, s.beta, s.model, r.stopped_after AS "stopped_after?",
                r.games AS "games!: u64", r.games_failed AS "games_failed!: u64",
                r.wins AS "wins!: u64", r.draws AS "draws!: u64", r.losses AS "losses!: u64",
                r.score AS "score?: f64", r.score_low AS "score_low?: f64",
                r.score_high AS "score_high?: f64", r.pairs_0 AS "pairs_0!: u64",
                r.pairs_half AS "pairs_half!: u64", r.pairs_1 AS "pairs_1!: u64",
                r.pairs_1_half AS "pairs_1_half!: u64", r.pairs_2 AS "pairs_2!: u64",
                r.distinct_games AS "distinct_games!: u64", r.timed, r.swap_sides,
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
                (SELECT c.games_planned_first FROM cells AS c
                    WHERE c.cell_id = r.cell_id) AS "games_planned_first?: u64",
                "# + $last + r#" AS "last_game_id!: i64"
            "# + $from,
            $($argument),*
        )
    };
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
        let result = CellResult {
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
            sequence_units: None,
            openings: spread.map(|(effective, variance)| OpeningSpread { effective, variance }),
            first_mover: first_mover(&by_mover.of_mover, self.games, self.draws),
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
        };
        result.with_sequence(self.games_planned_first)
    }
}

impl Readers {
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
            let (places, cells) = results(&mut snapshot, experiment, rows).await?;
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
            let (places, cells) = results(&mut snapshot, experiment, rows).await?;
            Ok(SettledCells { axes: places.into_axes(), cells, last_game_id })
        };
        self.in_time(reading).await
    }
}

/// The results of all cells that an experiment's sweep names, in grid order, with their places.
pub(crate) async fn all_results(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<(Places, Vec<CellResult>), StoreError> {
    let rows = cells(connection, experiment, None, count(REPORT_ROWS_MAX + 1)).await?;
    results(connection, experiment, rows).await
}

/// The same with the names of the axes, and without counts by first mover.
pub(crate) async fn all_cells(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<(Vec<String>, Vec<CellResult>), StoreError> {
    let rows = cells(connection, experiment, None, count(REPORT_ROWS_MAX + 1)).await?;
    let places = places_of(connection, experiment, rows.iter().map(|row| row.cell_id)).await?;
    let cells = rows.into_iter().map(|row| row.read(&places, &BTreeMap::new())).collect();
    Ok((places.into_axes(), cells))
}

async fn results(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    rows: Vec<CellRow>,
) -> Result<(Places, Vec<CellResult>), StoreError> {
    let list: Vec<i64> = rows.iter().map(|row| row.cell_id).collect();
    let by_mover = by_mover(connection, &list).await?;
    let places = places_of(connection, experiment, list).await?;
    let cells = rows.into_iter().map(|row| row.read(&places, &by_mover)).collect();
    Ok((places, cells))
}

/// The axes, and the places of these cells on them.
pub(crate) async fn places_of(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
    cells: impl IntoIterator<Item = i64>,
) -> Result<Places, StoreError> {
    let axes = sqlx::query_scalar!(
        "SELECT axis FROM experiment_axes WHERE experiment_id = ? ORDER BY number",
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut places = Places::on(axes);
    let list = rows(&cells.into_iter().collect::<Vec<_>>())?;
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
    Ok(cells!(
        "0",
        "FROM results AS r LEFT JOIN stop_rules AS s ON s.stop_rule_id = r.stop_rule_id
        WHERE r.experiment_id = ?1 AND (r.cell_number, r.cell_id) > (?2, ?3)
        ORDER BY r.cell_number, r.cell_id LIMIT ?4",
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
    Ok(cells!(
        "f.last_game_id",
        "FROM (
            SELECT g.cell_id, max(g.game_id) AS last_game_id FROM games AS g NOT INDEXED
            WHERE g.game_id > ?2 GROUP BY g.cell_id) AS f
        CROSS JOIN results AS r ON r.cell_id = f.cell_id
        LEFT JOIN stop_rules AS s ON s.stop_rule_id = r.stop_rule_id
        WHERE r.experiment_id = ?1 AND r.games + r.games_failed >= r.games_planned
        ORDER BY f.last_game_id LIMIT ?3",
        experiment.0,
        after_game_id,
        limit
    )
    .fetch_all(connection)
    .await?)
}
