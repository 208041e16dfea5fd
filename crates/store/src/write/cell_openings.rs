//! Results by opening: writing `cell_openings` in the transaction that stores the games, and reading it.

use std::collections::BTreeMap;

use serde::Serialize;
use spelrum_answers::MoverCounts;
use spelrum_engine::Outcome;
use spelrum_model::ExperimentId;
use spelrum_statistics::{OpeningCounts, OpeningSpread};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::real;
use crate::write::cache::CellInfo;
use crate::write::margins::first_player_margin;
use crate::write::rollup_sums::{self, GameTimes, Openings, SideSearches, half_points};

/// Games processed together. Even, so no pair is split.
const NUMBERS_AT_ONCE: i64 = 2_000;

/// The loss factor from which the rest of a sum has lost its digits and is summed again.
const CANCELLATION: f64 = 1_024.0;

/// How a cell's games map to openings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    /// Whether the players swap sides, so that two games are a pair.
    pub(crate) swap_sides: bool,
    /// The number of openings after which the first one repeats.
    pub(crate) openings_count: Option<i64>,
}

impl Numbering {
    /// The number of a game's opening.
    pub(crate) fn opening_number(self, number: i64) -> i64 {
        let unit = if self.swap_sides { number / 2 } else { number };
        self.openings_count.map_or(unit, |openings| unit % openings)
    }

    /// Whether openings repeat among this many units (pairs, or games), so that the opening is the unit of the score's
    /// interval. With a single opening the score is about that opening.
    pub(crate) fn come_again(self, units: i64) -> bool {
        self.openings_count.is_some_and(|openings| openings > 1 && openings < units)
    }

    fn first_player_moves_first(self, number: i64) -> bool {
        !self.swap_sides || number % 2 == 0
    }
}

impl CellInfo {
    pub(crate) fn numbering(&self) -> Numbering {
        Numbering { swap_sides: self.swap_sides, openings_count: self.openings_count }
    }
}

/// Adds games to `cell_openings`.
pub(crate) async fn add(
    connection: &mut SqliteConnection,
    openings: &Openings,
) -> Result<(), StoreError> {
    #[derive(Serialize)]
    struct Row(i64, i64, [i64; 13], i64, [f64; 4], i64, [f64; 4]);
    if openings.is_empty() {
        return Ok(());
    }
    let row = |(&(cell, opening), sums): (&(i64, i64), &rollup_sums::OpeningSums)| {
        let [first, second] = sums.times;
        let [by_first, by_second] = sums.pairs_won;
        let sums_of_means = |times: GameTimes| {
            let GameTimes { games: _, wall, cpu } = times;
            [wall.means, wall.logs, cpu.means, cpu.logs]
        };
        Row(
            cell,
            opening,
            [
                sums.games,
                sums.wins,
                sums.draws,
                sums.losses,
                sums.first_mover_half_points,
                sums.pairs,
                sums.pairs_half_points,
                by_first,
                by_second,
                sums.games_moving_first,
                sums.half_points_moving_first,
                sums.margin_games,
                sums.margin_sum,
            ],
            first.games,
            sums_of_means(first),
            second.games,
            sums_of_means(second),
        )
    };
    let list = rows(&openings.iter().map(row).collect::<Vec<_>>())?;
    sqlx::query!(
        "INSERT INTO cell_openings (cell_id, opening_number, games, wins, draws, losses,
            first_mover_half_points, pairs, pairs_half_points, pairs_won_by_first_mover,
            pairs_won_by_second_mover, games_moving_first, half_points_moving_first,
            first_player_searched_games, first_player_wall_us_mean_sum,
            first_player_wall_us_mean_log_sum, second_player_searched_games,
            second_player_wall_us_mean_sum, second_player_wall_us_mean_log_sum, margin_games,
            margin_sum, first_player_cpu_us_mean_sum, first_player_cpu_us_mean_log_sum,
            second_player_cpu_us_mean_sum, second_player_cpu_us_mean_log_sum)
        SELECT value ->> '$[0]', value ->> '$[1]', value ->> '$[2][0]', value ->> '$[2][1]',
            value ->> '$[2][2]', value ->> '$[2][3]', value ->> '$[2][4]', value ->> '$[2][5]',
            value ->> '$[2][6]', value ->> '$[2][7]', value ->> '$[2][8]', value ->> '$[2][9]',
            value ->> '$[2][10]', value ->> '$[3]', value ->> '$[4][0]', value ->> '$[4][1]',
            value ->> '$[5]', value ->> '$[6][0]', value ->> '$[6][1]', value ->> '$[2][11]',
            value ->> '$[2][12]', value ->> '$[4][2]', value ->> '$[4][3]', value ->> '$[6][2]',
            value ->> '$[6][3]'
        FROM jsonb_each(?) WHERE true
        ON CONFLICT (cell_id, opening_number) DO UPDATE SET
            games = games + excluded.games,
            wins = wins + excluded.wins,
            draws = draws + excluded.draws,
            losses = losses + excluded.losses,
            first_mover_half_points = first_mover_half_points + excluded.first_mover_half_points,
            pairs = pairs + excluded.pairs,
            pairs_half_points = pairs_half_points + excluded.pairs_half_points,
            pairs_won_by_first_mover =
                pairs_won_by_first_mover + excluded.pairs_won_by_first_mover,
            pairs_won_by_second_mover =
                pairs_won_by_second_mover + excluded.pairs_won_by_second_mover,
            games_moving_first = games_moving_first + excluded.games_moving_first,
            half_points_moving_first =
                half_points_moving_first + excluded.half_points_moving_first,
            first_player_searched_games =
                first_player_searched_games + excluded.first_player_searched_games,
            first_player_wall_us_mean_sum =
                first_player_wall_us_mean_sum + excluded.first_player_wall_us_mean_sum,
            first_player_wall_us_mean_log_sum =
                first_player_wall_us_mean_log_sum + excluded.first_player_wall_us_mean_log_sum,
            second_player_searched_games =
                second_player_searched_games + excluded.second_player_searched_games,
            second_player_wall_us_mean_sum =
                second_player_wall_us_mean_sum + excluded.second_player_wall_us_mean_sum,
            second_player_wall_us_mean_log_sum =
                second_player_wall_us_mean_log_sum + excluded.second_player_wall_us_mean_log_sum,
            margin_games = margin_games + excluded.margin_games,
            margin_sum = margin_sum + excluded.margin_sum,
            first_player_cpu_us_mean_sum =
                first_player_cpu_us_mean_sum + excluded.first_player_cpu_us_mean_sum,
            first_player_cpu_us_mean_log_sum =
                first_player_cpu_us_mean_log_sum + excluded.first_player_cpu_us_mean_log_sum,
            second_player_cpu_us_mean_sum =
                second_player_cpu_us_mean_sum + excluded.second_player_cpu_us_mean_sum,
            second_player_cpu_us_mean_log_sum =
                second_player_cpu_us_mean_log_sum + excluded.second_player_cpu_us_mean_log_sum",
        list
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The sums of a cell's counted games with numbers in a range, which ends between pairs.
pub(crate) async fn sums(
    connection: &mut SqliteConnection,
    cell: i64,
    numbering: Numbering,
    [first, end]: [i64; 2],
) -> Result<Openings, StoreError> {
    let mut openings = Openings::new();
    // The plus keeps SQLite from using the index of counted games, which has another order.
    let found = sqlx::query!(
        r#"SELECT g.number, g.outcome AS "outcome!", g.margin,
            coalesce(a.searched_moves, 0) AS "first_moves!: i64",
            coalesce(a.wall_us, 0) AS "first_wall_us!: u64",
            coalesce(a.cpu_us, 0) AS "first_cpu_us!: u64",
            coalesce(b.searched_moves, 0) AS "second_moves!: i64",
            coalesce(b.wall_us, 0) AS "second_wall_us!: u64",
            coalesce(b.cpu_us, 0) AS "second_cpu_us!: u64"
        FROM games AS g
        LEFT JOIN game_sides AS a ON a.game_id = g.game_id AND a.side = 0
        LEFT JOIN game_sides AS b ON b.game_id = g.game_id AND b.side = 1
        WHERE g.cell_id = ?1 AND g.number >= ?2 AND g.number < ?3 AND +g.counted = 1
        ORDER BY g.number"#,
        cell,
        first,
        end
    )
    .fetch_all(connection)
    .await?;
    let mut before: Option<(i64, usize)> = None;
    for row in found {
        let Some(outcome) = Outcome::named(&row.outcome) else { continue };
        let moved_first = numbering.first_player_moves_first(row.number);
        let points = half_points(moved_first, outcome);
        let sums = openings.entry((cell, numbering.opening_number(row.number))).or_default();
        let side = |searched_moves, wall_us, cpu_us| SideSearches {
            searched_moves,
            wall_us: real(wall_us),
            cpu_us: real(cpu_us),
        };
        let sides = [
            side(row.first_moves, row.first_wall_us, row.first_cpu_us),
            side(row.second_moves, row.second_wall_us, row.second_cpu_us),
        ];
        sums.add_game(moved_first, points, sides);
        sums.add_margin(first_player_margin(moved_first, row.margin));
        if let Some((number, other)) = before
            && numbering.swap_sides
            && number % 2 == 0
            && row.number == number + 1
        {
            sums.add_pair([other, points]);
        }
        before = Some((row.number, points));
    }
    Ok(openings)
}

/// Subtracts a cell's games from `cell_openings`.
pub(crate) async fn take(
    connection: &mut SqliteConnection,
    cell: i64,
    numbering: Numbering,
    mut openings: Openings,
) -> Result<(), StoreError> {
    for sums in openings.values_mut() {
        *sums = sums.negated();
    }
    add(connection, &openings).await?;
    sqlx::query!("DELETE FROM cell_openings WHERE cell_id = ? AND games = 0", cell)
        .execute(&mut *connection)
        .await?;
    if has_cancelled(connection, cell, &openings).await? {
        sum_up(connection, cell, numbering).await?;
    }
    Ok(())
}

/// Whether sums of a cell lost digits when these were subtracted (given as the sums that were added).
async fn has_cancelled(
    connection: &mut SqliteConnection,
    cell: i64,
    added: &Openings,
) -> Result<bool, StoreError> {
    let numbers: Vec<i64> = added.keys().map(|&(_, opening)| opening).collect();
    let numbers = rows(&numbers)?;
    let left = sqlx::query!(
        r#"SELECT o.opening_number AS "opening_number!: i64",
            o.first_player_searched_games AS "first_player_searched_games!: i64",
            o.second_player_searched_games AS "second_player_searched_games!: i64",
            o.first_player_wall_us_mean_sum, o.second_player_wall_us_mean_sum,
            o.first_player_cpu_us_mean_sum, o.second_player_cpu_us_mean_sum
        FROM json_each(?2) AS j
        CROSS JOIN cell_openings AS o ON o.cell_id = ?1 AND o.opening_number = j.value"#,
        cell,
        numbers
    )
    .fetch_all(connection)
    .await?;
    let has_cancelled = left.iter().any(|row| {
        let Some(added) = added.get(&(cell, row.opening_number)) else { return false };
        let [first, second] = added.times;
        [
            // A sum of logarithms can be zero: the number of its games measures the loss. Where it was too low, the
            // difference is below zero.
            (row.first_player_searched_games as f64, -first.games as f64),
            (row.second_player_searched_games as f64, -second.games as f64),
            (row.first_player_wall_us_mean_sum, -first.wall.means),
            (row.second_player_wall_us_mean_sum, -second.wall.means),
            (row.first_player_cpu_us_mean_sum, -first.cpu.means),
            (row.second_player_cpu_us_mean_sum, -second.cpu.means),
        ]
        .iter()
        .any(|(left, taken)| left * CANCELLATION < *taken)
    });
    Ok(has_cancelled)
}

/// Recomputes a cell's results by opening from all its counted games.
pub(crate) async fn sum_up(
    connection: &mut SqliteConnection,
    cell: i64,
    numbering: Numbering,
) -> Result<(), StoreError> {
    sqlx::query!("DELETE FROM cell_openings WHERE cell_id = ?", cell)
        .execute(&mut *connection)
        .await?;
    let last = sqlx::query_scalar!(
        r#"SELECT coalesce(max(number), -1) AS "number!: i64" FROM games WHERE cell_id = ?"#,
        cell
    )
    .fetch_one(&mut *connection)
    .await?;
    let mut first = 0;
    while first <= last {
        let end = first + NUMBERS_AT_ONCE;
        let piece = sums(connection, cell, numbering, [first, end]).await?;
        add(connection, &piece).await?;
        first = end;
    }
    Ok(())
}

/// The variation of these cells' scores from opening to opening.
pub(crate) async fn spreads(
    connection: &mut SqliteConnection,
    cells: &[i64],
) -> Result<BTreeMap<i64, OpeningSpread>, StoreError> {
    if cells.is_empty() {
        return Ok(BTreeMap::new());
    }
    let list = rows(cells)?;
    let found = sqlx::query!(
        r#"SELECT cell_id AS "cell_id!", swap_sides AS "swap_sides!",
            units AS "units!: u64", count(*) AS "openings!: u64",
            sum(half_points) AS "half_points!: u64",
            sum(half_points * half_points) AS "squares!: u64"
        FROM (
            SELECT c.cell_id, c.swap_sides,
                CASE c.swap_sides WHEN 1 THEN o.pairs ELSE o.games END AS units,
                CASE c.swap_sides WHEN 1 THEN o.pairs_half_points ELSE 2 * o.wins + o.draws END
                    AS half_points
            FROM json_each(?) AS j
            CROSS JOIN cells AS c ON c.cell_id = j.value
            CROSS JOIN cell_openings AS o ON o.cell_id = c.cell_id)
        GROUP BY cell_id, units"#,
        list
    )
    .fetch_all(connection)
    .await?;
    let mut counts: BTreeMap<i64, (bool, OpeningCounts)> = BTreeMap::new();
    for row in found {
        let (_, counts) =
            counts.entry(row.cell_id).or_insert((row.swap_sides, OpeningCounts::default()));
        counts.add(row.units, row.openings, row.half_points, row.squares);
    }
    let spread = |(cell, (swap_sides, counts)): (i64, (bool, OpeningCounts))| {
        (cell, counts.spread(if swap_sides { 2 } else { 1 }))
    };
    Ok(counts.into_iter().map(spread).collect())
}

/// The results of these cells' counted games, by first mover.
pub(crate) async fn by_mover(
    connection: &mut SqliteConnection,
    cells: &[i64],
) -> Result<BTreeMap<i64, MoverCounts>, StoreError> {
    let list = rows(cells)?;
    let found = sqlx::query!(
        r#"SELECT o.cell_id AS "cell_id!", o.games AS "games!",
            o.games_moving_first AS "games_moving_first!", count(*) AS "openings!: u64",
            sum(o.first_mover_half_points) AS "half_points!: u64",
            sum(o.first_mover_half_points * o.first_mover_half_points) AS "squares!: u64",
            sum(o.half_points_moving_first) AS "first_half_points!: u64",
            sum(o.half_points_moving_first * o.half_points_moving_first) AS "first_squares!: u64",
            sum(2 * o.wins + o.draws - o.half_points_moving_first) AS "second_half_points!: u64",
            sum((2 * o.wins + o.draws - o.half_points_moving_first)
                * (2 * o.wins + o.draws - o.half_points_moving_first)) AS "second_squares!: u64"
        FROM json_each(?) AS j CROSS JOIN cell_openings AS o ON o.cell_id = j.value
        GROUP BY o.cell_id, o.games, o.games_moving_first"#,
        list
    )
    .fetch_all(connection)
    .await?;
    let mut counts: BTreeMap<i64, MoverCounts> = BTreeMap::new();
    for row in found {
        let games = row.games;
        let moving_second = games.saturating_sub(row.games_moving_first);
        let MoverCounts { of_mover, of_player } = counts.entry(row.cell_id).or_default();
        let [first, second] = of_player;
        for (counts, games, half_points, squares) in [
            (of_mover, games, row.half_points, row.squares),
            (first, row.games_moving_first, row.first_half_points, row.first_squares),
            (second, moving_second, row.second_half_points, row.second_squares),
        ] {
            counts.add(games, row.openings, half_points, squares);
        }
    }
    Ok(counts)
}

/// The same over all cells that an experiment's sweep names: cells of the same conditions share openings.
pub(crate) async fn first_mover_of_all(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<OpeningCounts, StoreError> {
    let found = sqlx::query!(
        r#"SELECT n.games AS "games!: u64", count(*) AS "openings!: u64",
            sum(n.half_points) AS "half_points!: u64",
            sum(n.half_points * n.half_points) AS "squares!: u64"
        FROM (
            SELECT sum(o.games) AS games, sum(o.first_mover_half_points) AS half_points
            FROM cells AS c INDEXED BY cells_experiment
            CROSS JOIN cell_openings AS o ON o.cell_id = c.cell_id
            WHERE c.experiment_id = ? AND c.in_sweep = 1
            GROUP BY c.conditions_id, o.opening_number) AS n
        GROUP BY n.games"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let mut counts = OpeningCounts::default();
    for row in found {
        counts.add(row.games, row.openings, row.half_points, row.squares);
    }
    Ok(counts)
}
