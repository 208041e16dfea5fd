//! Invariant 8: statistics can be recomputed from the rows alone. Recounts every rollup by plain SQL over `games` and
//! `moves`, sharing nothing with the code that writes them, and reports differences.
//!
//! A game can lack moves, because they were never stored (`record = "games"`) or were dropped later. Its sums over
//! moves are counted from its `game_depths`, which must agree with its `game_sides`. A cell can have games of both
//! kinds, since a sweep can change its recording.
//!
//! The set of games that count is recomputed as well: each stop rule is read over its cell's settled games in number
//! order, from the first (invariant 7).

use std::collections::BTreeMap;
use std::fmt;

use futures_util::TryStreamExt as _;
use spelrum_statistics::{OpeningCounts, OpeningSpread};
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::numbers::{integer, real};
use crate::write::margins::{Margins, over_openings};
use crate::write::rollup_sums::CellResult;
use crate::write::stop_readings::{Read, read_again};
use crate::write::stop_rules;

/// A rollup row that differs from the recount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The rollup's table.
    pub table: &'static str,
    /// The row's key.
    pub key: String,
    /// The stored values, column by column; `None` where the table has no row.
    pub stored: Option<String>,
    /// The recounted values; `None` where there should be no row.
    pub counted: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let none = "no row";
        write!(
            f,
            "{} {}: stored {}, counted {}",
            self.table,
            self.key,
            self.stored.as_deref().unwrap_or(none),
            self.counted.as_deref().unwrap_or(none)
        )
    }
}

/// Maximum number of differences listed for each table.
const DIFFERENCES_MAX: i64 = 100;

impl Readers {
    /// Recounts all rollups from the rows; returns the differences, of which there should be none. Reads every game
    /// and move.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn recount(&self) -> Result<Vec<Difference>, StoreError> {
        self.count_again().await.inspect_err(|error| self.alarm().raise_if_damage(error))
    }

    async fn count_again(&self) -> Result<Vec<Difference>, StoreError> {
        // A snapshot: a coordinator can be at work.
        let mut snapshot = self.reads().begin().await?;
        let mut differences = Vec::new();
        for rollup in ROLLUPS {
            differences.extend(rollup.recount(&mut snapshot).await?);
        }
        let computed = [
            ("cell_openings", openings(&mut snapshot).await),
            ("intervals", intervals(&mut snapshot).await),
            ("cells", stops(&mut snapshot).await),
        ];
        for (table, found) in computed {
            match found {
                Ok(more) => differences.extend(more),
                // Such as a count below zero: the other parts can still be recounted.
                Err(error) if error.is_out_of_range() => differences.push(Difference {
                    table,
                    key: error.to_string(),
                    stored: Some("a value that its column cannot have".to_owned()),
                    counted: None,
                }),
                Err(error) => return Err(error),
            }
        }
        self.still_at_rest()?;
        Ok(differences)
    }
}

/// A rollup: its table, its key, its columns, and a query that recounts all of them.
struct Rollup {
    table: &'static str,
    /// The stored rows: the table, or the part of it that can be recounted.
    stored: &'static str,
    key: &'static [&'static str],
    integers: &'static [&'static str],
    /// Columns compared up to rounding: sums of reals depend on their order.
    reals: &'static [&'static str],
    /// The rows of the table that the recount covers.
    only: &'static str,
    recount: &'static str,
}

impl Rollup {
    /// Merges the table's rows with the recounted ones by key, and returns the keys where the two differ: one pass
    /// over both and one sort, whatever the indexes.
    async fn recount(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Vec<Difference>, StoreError> {
        let Self { stored: rows, recount, only, .. } = self;
        let columns: Vec<&str> = self.integers.iter().chain(self.reals).copied().collect();
        let key = self.key.join(", ");
        let sums = |origin: &str, prefix: &str| -> Vec<String> {
            let sum = |column: &&str| {
                format!("max(CASE origin WHEN {origin} THEN {column} END) AS {prefix}_{column}")
            };
            columns.iter().map(sum).collect()
        };
        let show = |prefix: &str| {
            let shown =
                |column: &&str| format!("'{column} ' || coalesce({prefix}_{column}, 'NULL')");
            let parts: Vec<String> = columns.iter().map(shown).collect();
            format!("CASE {prefix}_rows WHEN 0 THEN NULL ELSE {} END", parts.join(" || ', ' || "))
        };
        let shown_key: Vec<String> =
            self.key.iter().map(|column| format!("'{column} ' || {column}")).collect();
        let mut same = vec!["s_rows = 1".to_owned(), "c_rows = 1".to_owned()];
        same.extend(self.integers.iter().map(|column| format!("s_{column} IS c_{column}")));
        same.extend(self.reals.iter().map(|column| {
            format!("abs(s_{column} - c_{column}) <= 1e-9 * max(abs(s_{column}), abs(c_{column}))")
        }));
        // All of this text is our own.
        let sql = format!(
            "SELECT {shown_key}, {shown_stored}, {shown_counted}
            FROM (
                SELECT {key}, sum(origin) AS s_rows, sum(1 - origin) AS c_rows, {stored}, {counted}
                FROM (
                    SELECT 1 AS origin, {key}, {columns} FROM {rows} WHERE {only}
                    UNION ALL
                    SELECT 0, {key}, {columns} FROM ({recount}) WHERE {only})
                GROUP BY {key})
            WHERE NOT coalesce({same}, 0) AND {first_key} NOT IN ({gone})
            ORDER BY {key} LIMIT {DIFFERENCES_MAX}",
            shown_key = shown_key.join(" || ', ' || "),
            shown_stored = show("s"),
            shown_counted = show("c"),
            stored = sums("1", "s").join(", "),
            counted = sums("0", "c").join(", "),
            columns = columns.join(", "),
            same = same.join(" AND "),
            first_key = self.key[0],
            gone = self.gone(),
        );
        let found: Vec<(String, Option<String>, Option<String>)> =
            sqlx::query_as(AssertSqlSafe(sql)).fetch_all(connection).await?;
        let found = found.into_iter().map(|(key, stored, counted)| Difference {
            table: self.table,
            key,
            stored,
            counted,
        });
        Ok(found.collect())
    }

    /// The first columns of keys whose rows are disappearing step by step with a removed experiment, or with a
    /// worker's discarded results.
    fn gone(&self) -> &'static str {
        match self.key[0] {
            "experiment_id" => {
                "SELECT experiment_id FROM removals
                WHERE what = 'everything' AND experiment_id IS NOT NULL
                UNION ALL
                SELECT r.experiment_id FROM exclusions AS x
                JOIN worker_results AS r ON r.worker_id = x.worker_id
                WHERE x.done_unix_us IS NULL"
            }
            "game_id" => {
                "SELECT g.game_id FROM removals AS x
                JOIN cells AS c ON c.experiment_id = x.experiment_id
                JOIN games AS g ON g.cell_id = c.cell_id WHERE x.what = 'everything'"
            }
            _ => {
                "SELECT c.cell_id FROM removals AS x
                JOIN cells AS c ON c.experiment_id = x.experiment_id WHERE x.what = 'everything'"
            }
        }
    }
}

/// The bounds of the intervals, from the counted pairs, or from games where sides are fixed.
async fn intervals(connection: &mut SqliteConnection) -> Result<Vec<Difference>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT r.cell_id, r.wins, r.draws, r.losses, r.pairs_0, r.pairs_half, r.pairs_1,
            r.pairs_1_half, r.pairs_2, r.score, r.score_low, r.score_high, r.openings_effective,
            r.openings_variance, r.margin_games, r.margin_sum, r.margin_squares, r.margin_pairs,
            r.margin_pairs_sum, r.margin_products, r.margin_low, r.margin_high, c.swap_sides,
            k.openings_count AS "openings_count: i64"
        FROM cell_results AS r JOIN cells AS c ON c.cell_id = r.cell_id
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE c.experiment_id NOT IN (
            SELECT experiment_id FROM removals
            WHERE what = 'everything' AND experiment_id IS NOT NULL)
        ORDER BY r.cell_id"#
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut spreads = spreads(&mut *connection).await?;
    let with_margins = found.iter().filter(|row| row.margin_games > 0);
    let with_margins: Vec<i64> = with_margins.map(|row| row.cell_id).collect();
    let mut of_openings = over_openings(connection, &with_margins).await?;
    let found = found.into_iter().filter_map(|row| {
        let pairs = [row.pairs_0, row.pairs_half, row.pairs_1, row.pairs_1_half, row.pairs_2];
        let (wins, draws, losses) = (row.wins, row.draws, row.losses);
        let games = wins + draws + losses;
        let result = CellResult { games, pairs, wins, draws, losses, ..CellResult::default() };
        let units = result.units(row.swap_sides);
        let come_again =
            row.openings_count.is_some_and(|openings| openings > 1 && openings < units);
        let spread = spreads.remove(&row.cell_id).filter(|_| come_again);
        let interval = result.interval(row.swap_sides, spread);
        let margins = Margins {
            games: row.margin_games,
            sum: row.margin_sum,
            squares: row.margin_squares,
            pairs: row.margin_pairs,
            pairs_sum: row.margin_pairs_sum,
            products: row.margin_products,
        };
        let of_openings = of_openings.remove(&row.cell_id).filter(|_| come_again);
        let margin = margins.mean(of_openings.as_ref()).and_then(|margin| margin.interval);
        let stored = [row.score, row.score_low, row.score_high].map(Some);
        let stored_margin = [row.margin_low, row.margin_high];
        let stored = (stored, row.openings_effective, row.openings_variance, stored_margin);
        let counted = [interval.score, interval.low, interval.high].map(Some);
        let margin = [margin.map(|interval| interval.low), margin.map(|interval| interval.high)];
        let (effective, variance) =
            (spread.map(|spread| spread.effective), spread.map(|spread| spread.variance));
        let counted = (counted, effective, variance, margin);
        (stored != counted).then(|| Difference {
            table: "cell_results",
            key: format!("cell_id {}", row.cell_id),
            stored: Some(format!("score, low, high; openings; margin {stored:?}")),
            counted: Some(format!("score, low, high; openings; margin {counted:?}")),
        })
    });
    Ok(found.collect())
}

/// The variation of scores from opening to opening, by cell; of cells whose openings are known.
async fn spreads(
    connection: &mut SqliteConnection,
) -> Result<BTreeMap<i64, OpeningSpread>, StoreError> {
    let mut counts: BTreeMap<i64, (u64, OpeningCounts)> = BTreeMap::new();
    let mut found = sqlx::query!(
        r#"SELECT o.cell_id, o.games, o.wins, o.draws, o.pairs, o.pairs_half_points, c.swap_sides
        FROM cell_openings AS o JOIN cells AS c ON c.cell_id = o.cell_id
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE k.openings_count > 1"#
    )
    .fetch(connection);
    while let Some(row) = found.try_next().await? {
        let (games_of_unit, units, half_points) = if row.swap_sides {
            (2, row.pairs, row.pairs_half_points)
        } else {
            (1, row.games, 2 * row.wins + row.draws)
        };
        let (_, counts) = counts.entry(row.cell_id).or_insert((games_of_unit, <_>::default()));
        counts.insert(units, half_points);
    }
    Ok(counts.into_iter().map(|(cell, (of_unit, counts))| (cell, counts.spread(of_unit))).collect())
}

/// Results by opening, recounted from their games; including the logarithms, which SQL lacks.
async fn openings(connection: &mut SqliteConnection) -> Result<Vec<Difference>, StoreError> {
    let cells = sqlx::query!(
        r#"SELECT r.cell_id AS "cell_id!", c.swap_sides, k.openings_count
        FROM cell_results AS r JOIN cells AS c ON c.cell_id = r.cell_id
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE r.games > 0 AND c.experiment_id NOT IN (
            SELECT experiment_id FROM removals
            WHERE what = 'everything' AND experiment_id IS NOT NULL)
        ORDER BY r.cell_id"#
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut differences = Vec::new();
    for cell in cells {
        let mut sums: BTreeMap<u64, [f64; 4]> = BTreeMap::new();
        let mut found = sqlx::query!(
            r#"SELECT g.number AS "number: u64", s.side, s.searched_moves, s.wall_us, s.cpu_us
            FROM games AS g CROSS JOIN game_sides AS s ON s.game_id = g.game_id
            WHERE g.cell_id = ? AND +g.counted = 1 AND s.searched_moves > 0"#,
            cell.cell_id
        )
        .fetch(&mut *connection);
        while let Some(row) = found.try_next().await? {
            let unit = if cell.swap_sides { row.number / 2 } else { row.number };
            let opening = cell.openings_count.map_or(unit, |openings| unit % openings);
            // The player by place in the cell: swapped in odd numbers.
            let swapped = cell.swap_sides && row.number % 2 == 1;
            let player = usize::from((row.side == 1) != swapped);
            let sums = sums.entry(opening).or_default();
            for (clock, us) in [row.wall_us, row.cpu_us].into_iter().enumerate() {
                let mean = real(us) / real(row.searched_moves);
                sums[2 * clock + player] += mean.max(0.5).ln();
            }
        }
        drop(found);
        differences.extend(logarithms(connection, cell.cell_id, &sums).await?);
    }
    Ok(differences)
}

/// Cells whose stored sums of logarithms differ from these.
async fn logarithms(
    connection: &mut SqliteConnection,
    cell: i64,
    counted: &BTreeMap<u64, [f64; 4]>,
) -> Result<Vec<Difference>, StoreError> {
    let stored = sqlx::query!(
        "SELECT opening_number, games, first_player_wall_us_mean_log_sum,
            second_player_wall_us_mean_log_sum, first_player_cpu_us_mean_log_sum,
            second_player_cpu_us_mean_log_sum
        FROM cell_openings WHERE cell_id = ?",
        cell
    )
    .fetch_all(connection)
    .await?;
    let differences = stored.into_iter().filter_map(|row| {
        let counted = counted.get(&row.opening_number).copied().unwrap_or_default();
        let stored = [
            row.first_player_wall_us_mean_log_sum,
            row.second_player_wall_us_mean_log_sum,
            row.first_player_cpu_us_mean_log_sum,
            row.second_player_cpu_us_mean_log_sum,
        ];
        // Logarithms above and below zero cancel: their number bounds the rounding error.
        let tolerance = |sum: f64| 1e-9 * (sum.abs() + real(row.games));
        let differ = stored.iter().zip(counted).any(|(s, c)| (s - c).abs() > tolerance(c));
        differ.then(|| Difference {
            table: "cell_openings",
            key: format!("cell_id {cell}, opening_number {}", row.opening_number),
            stored: Some(format!("logarithms {stored:?}")),
            counted: Some(format!("logarithms {counted:?}")),
        })
    });
    Ok(differences.collect())
}

/// The ends of cells, and which of their games count.
async fn stops(connection: &mut SqliteConnection) -> Result<Vec<Difference>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", c.swap_sides, c.stop_rule_id,
            c.decided_number AS "decided_number: i64", c.stop_number AS "stop_number: i64",
            k.openings_count, c.repeats, c.games_planned
        FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE (c.stop_rule_id IS NOT NULL OR c.stop_number IS NOT NULL OR c.decided_number <> 0
                OR c.repeats = 1)
            AND c.experiment_id NOT IN (
                SELECT experiment_id FROM removals
                WHERE what = 'everything' AND experiment_id IS NOT NULL)
        ORDER BY c.cell_id"#
    )
    .fetch_all(&mut *connection)
    .await?;
    let rules = stop_rules::all(&mut *connection).await?;
    let mut differences = Vec::new();
    for row in found {
        let read = Read {
            rule: row.stop_rule_id.and_then(|id| rules.get(&id).copied()),
            swap_sides: row.swap_sides,
            openings_count: row.openings_count,
            repeats: row.repeats,
            games_planned: row.games_planned,
        };
        let read = match read.start() {
            Some(nothing) => {
                let prefix = read_again(&mut *connection, row.cell_id, nothing).await?;
                (integer(prefix.decided_number()), prefix.stop_number().map(integer))
            }
            None => (0, None),
        };
        let stored = (row.decided_number, row.stop_number);
        if read != stored {
            let show = |(decided, stop): (i64, Option<i64>)| {
                let stop = stop.map_or_else(|| "NULL".to_owned(), |stop| stop.to_string());
                Some(format!("decided_number {decided}, stop_number {stop}"))
            };
            differences.push(Difference {
                table: "cells",
                key: format!("cell_id {}", row.cell_id),
                stored: show(stored),
                counted: show(read),
            });
        }
    }
    differences.extend(counted(connection).await?);
    Ok(differences)
}

/// Games that count although they failed or lie beyond their cell's end, or that do not count for another reason.
async fn counted(connection: &mut SqliteConnection) -> Result<Vec<Difference>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT g.cell_id, g.number, g.counted, g.not_counted_reason
        FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
        WHERE (g.counted <> (g.failure IS NULL AND coalesce(g.number < c.stop_number, 1))
                OR g.not_counted_reason IS NOT CASE
                    WHEN g.failure IS NOT NULL THEN 'failed'
                    WHEN g.number >= c.stop_number THEN 'beyond_stop' END)
            AND c.experiment_id NOT IN (
                SELECT experiment_id FROM removals
                WHERE what = 'everything' AND experiment_id IS NOT NULL)
        ORDER BY g.cell_id, g.number LIMIT ?"#,
        DIFFERENCES_MAX
    )
    .fetch_all(connection)
    .await?;
    let found = found.into_iter().map(|row| Difference {
        table: "games",
        key: format!("cell_id {}, number {}", row.cell_id, row.number),
        stored: Some(format!(
            "counted {}, not_counted_reason {}",
            row.counted,
            row.not_counted_reason.as_deref().unwrap_or("NULL")
        )),
        counted: Some("as it ended and its cell's stop_number say".to_owned()),
    });
    Ok(found.collect())
}

/// Every rollup.
const ROLLUPS: &[Rollup] = &[
    Rollup {
        table: "game_sides",
        stored: "game_sides",
        key: &["game_id", "side"],
        integers: &["player_id", "moves", "searched_moves", "wall_us", "cpu_us", "nodes", "evaluations"],
        reals: &["full_tree_leaves", "wall_us_squared"],
        // A game without a ply of one side has no moves to count for that side.
        only: "moves > 0 AND game_id IN (SELECT game_id FROM moves)",
        recount: "SELECT m.game_id, m.side, m.player_id, count(*) AS moves,
                sum(m.ended_by <> 'only_move') AS searched_moves,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.wall_us ELSE 0 END)) AS wall_us,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.cpu_us ELSE 0 END)) AS cpu_us,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.nodes ELSE 0 END)) AS nodes,
                min(9007199254740991, sum(CASE WHEN m.ended_by <> 'only_move' THEN m.evaluations ELSE 0 END)) AS evaluations,
                total(CASE WHEN m.ended_by <> 'only_move' THEN 1.0 * m.full_tree_leaves END) AS full_tree_leaves,
                total(CASE WHEN m.ended_by <> 'only_move' THEN 1.0 * m.wall_us * m.wall_us END) AS wall_us_squared
            FROM moves AS m GROUP BY m.game_id, m.side",
    },
    // Games without moves: no search is in both tables, or in neither.
    Rollup {
        table: "game_depths",
        stored: "(SELECT d.game_id, d.side, sum(d.searched_moves) AS searched_moves,
                sum((SELECT sum(t.value) FROM json_each(d.move_times_json) AS t)) AS timed_moves,
                min(9007199254740991.0, total(d.wall_us)) AS wall_us,
                min(9007199254740991.0, total(d.cpu_us)) AS cpu_us,
                min(9007199254740991.0, total(d.nodes)) AS nodes,
                min(9007199254740991.0, total(d.evaluations)) AS evaluations,
                total(d.full_tree_leaves) AS full_tree_leaves,
                total(d.wall_us_squared) AS wall_us_squared
            FROM game_depths AS d GROUP BY d.game_id, d.side)",
        key: &["game_id", "side"],
        integers: &["searched_moves", "timed_moves"],
        reals: &["wall_us", "cpu_us", "nodes", "evaluations", "full_tree_leaves", "wall_us_squared"],
        only: "true",
        recount: "SELECT game_id, side, searched_moves, searched_moves AS timed_moves,
                1.0 * wall_us AS wall_us, 1.0 * cpu_us AS cpu_us, 1.0 * nodes AS nodes,
                1.0 * evaluations AS evaluations, full_tree_leaves, wall_us_squared
            FROM game_sides
            WHERE searched_moves > 0 AND game_id NOT IN (SELECT game_id FROM moves)",
    },
    Rollup {
        table: "cell_depths",
        stored: "cell_depths",
        key: &["cell_id", "player_id", "depth"],
        integers: &["searched_moves"],
        reals: &["wall_us", "cpu_us", "nodes", "evaluations", "full_tree_leaves", "wall_us_squared"],
        only: "true",
        recount: "SELECT cell_id, player_id, depth, sum(searched_moves) AS searched_moves,
                total(wall_us) AS wall_us, total(cpu_us) AS cpu_us, total(nodes) AS nodes,
                total(evaluations) AS evaluations, total(full_tree_leaves) AS full_tree_leaves,
                total(wall_us_squared) AS wall_us_squared
            FROM (
                SELECT g.cell_id, m.player_id, m.depth, 1 AS searched_moves, m.wall_us, m.cpu_us,
                    m.nodes, m.evaluations, m.full_tree_leaves,
                    1.0 * m.wall_us * m.wall_us AS wall_us_squared
                FROM games AS g JOIN moves AS m ON m.game_id = g.game_id
                WHERE g.counted = 1 AND m.ended_by <> 'only_move'
                UNION ALL
                SELECT g.cell_id, s.player_id, d.depth, d.searched_moves, d.wall_us, d.cpu_us,
                    d.nodes, d.evaluations, d.full_tree_leaves, d.wall_us_squared
                FROM games AS g JOIN game_depths AS d ON d.game_id = g.game_id
                JOIN game_sides AS s ON s.game_id = d.game_id AND s.side = d.side
                WHERE g.counted = 1)
            GROUP BY cell_id, player_id, depth",
    },
    Rollup {
        table: "cell_move_times",
        stored: "cell_move_times",
        key: &["cell_id", "player_id", "depth", "time_bucket_id"],
        integers: &["searched_moves"],
        reals: &[],
        only: "true",
        recount: "SELECT cell_id, player_id, depth, time_bucket_id,
                sum(searched_moves) AS searched_moves
            FROM (
                SELECT g.cell_id, m.player_id, m.depth, (
                    SELECT b.time_bucket_id FROM time_buckets AS b
                    WHERE b.from_us <= m.wall_us ORDER BY b.from_us DESC LIMIT 1
                ) AS time_bucket_id, 1 AS searched_moves
                FROM games AS g JOIN moves AS m ON m.game_id = g.game_id
                WHERE g.counted = 1 AND m.ended_by <> 'only_move'
                UNION ALL
                SELECT g.cell_id, s.player_id, d.depth, CAST(t.key AS INTEGER), t.value
                FROM games AS g JOIN game_depths AS d ON d.game_id = g.game_id
                JOIN game_sides AS s ON s.game_id = d.game_id AND s.side = d.side
                JOIN json_each(d.move_times_json) AS t
                WHERE g.counted = 1)
            GROUP BY cell_id, player_id, depth, time_bucket_id",
    },
    Rollup {
        table: "cell_results",
        stored: "cell_results",
        key: &["cell_id"],
        integers: &[
            "games", "games_failed", "wins", "draws", "losses", "wins_moving_first",
            "draws_moving_first", "losses_moving_first", "pairs_0", "pairs_half", "pairs_1",
            "pairs_1_half", "pairs_2", "pairs_won_by_first_mover", "pairs_won_by_second_mover",
            "distinct_games", "plies", "margin_games", "margin_sum", "margin_squares", "margin_pairs",
            "margin_pairs_sum", "margin_products",
        ],
        reals: &["wall_us"],
        only: "true",
        recount: "SELECT p.*,
                (SELECT count(*) FROM (
                    SELECT DISTINCT d.opening_id, d.moves_hash, d.first_player_id
                    FROM games AS d WHERE d.cell_id = p.cell_id AND d.counted = 1)) AS distinct_games,
                coalesce(q.pairs_0, 0) AS pairs_0, coalesce(q.pairs_half, 0) AS pairs_half,
                coalesce(q.pairs_1, 0) AS pairs_1, coalesce(q.pairs_1_half, 0) AS pairs_1_half,
                coalesce(q.pairs_2, 0) AS pairs_2,
                coalesce(q.pairs_won_by_first_mover, 0) AS pairs_won_by_first_mover,
                coalesce(q.pairs_won_by_second_mover, 0) AS pairs_won_by_second_mover,
                coalesce(q.margin_pairs, 0) AS margin_pairs,
                coalesce(q.margin_pairs_sum, 0) AS margin_pairs_sum,
                coalesce(q.margin_products, 0) AS margin_products
            FROM (
                SELECT cell_id,
                    sum(counted AND margin IS NOT NULL) AS margin_games,
                    sum(CASE WHEN counted AND margin IS NOT NULL THEN own_margin ELSE 0 END) AS margin_sum,
                    sum(CASE WHEN counted AND margin IS NOT NULL THEN margin * margin ELSE 0 END)
                        AS margin_squares,
                    sum(counted) AS games,
                    sum(failure IS NOT NULL AND (stop_number IS NULL OR number < stop_number)) AS games_failed,
                    sum(CASE WHEN counted AND points = 1.0 THEN 1 ELSE 0 END) AS wins,
                    sum(CASE WHEN counted AND points = 0.5 THEN 1 ELSE 0 END) AS draws,
                    sum(CASE WHEN counted AND points = 0.0 THEN 1 ELSE 0 END) AS losses,
                    sum(CASE WHEN counted AND moved_first AND points = 1.0 THEN 1 ELSE 0 END) AS wins_moving_first,
                    sum(CASE WHEN counted AND moved_first AND points = 0.5 THEN 1 ELSE 0 END) AS draws_moving_first,
                    sum(CASE WHEN counted AND moved_first AND points = 0.0 THEN 1 ELSE 0 END) AS losses_moving_first,
                    sum(CASE WHEN counted THEN plies ELSE 0 END) AS plies,
                    total(CASE WHEN counted THEN wall_us END) AS wall_us
                FROM (
                    SELECT *, CASE outcome WHEN 'draw' THEN 0.5
                        WHEN 'win' THEN moved_first * 1.0
                        WHEN 'loss' THEN (1 - moved_first) * 1.0 END AS points,
                        CASE moved_first WHEN 1 THEN margin ELSE -margin END AS own_margin
                    FROM (
                        SELECT g.*, c.stop_number,
                            (g.number % 2 = 0 OR c.swap_sides = 0) AS moved_first
                        FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id))
                GROUP BY cell_id) AS p
            LEFT JOIN (
                SELECT cell_id, sum(points = 0.0) AS pairs_0, sum(points = 0.5) AS pairs_half,
                    sum(points = 1.0) AS pairs_1, sum(points = 1.5) AS pairs_1_half,
                    sum(points = 2.0) AS pairs_2, sum(first_won = 2) AS pairs_won_by_first_mover,
                    sum(second_won = 2) AS pairs_won_by_second_mover,
                    sum(margins = 2) AS margin_pairs,
                    sum(CASE margins WHEN 2 THEN even_margin - odd_margin ELSE 0 END)
                        AS margin_pairs_sum,
                    sum(CASE margins WHEN 2 THEN -even_margin * odd_margin ELSE 0 END)
                        AS margin_products
                FROM (
                    SELECT g.cell_id, count(g.margin) AS margins,
                        max(CASE g.number % 2 WHEN 0 THEN g.margin END) AS even_margin,
                        max(CASE g.number % 2 WHEN 1 THEN g.margin END) AS odd_margin,
                        sum(g.outcome = 'win') AS first_won,
                        sum(g.outcome = 'loss') AS second_won, sum(CASE g.outcome WHEN 'draw' THEN 0.5
                        WHEN 'win' THEN (g.number % 2 = 0) * 1.0
                        ELSE (g.number % 2 = 1) * 1.0 END) AS points
                    FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
                    WHERE g.counted = 1 AND c.swap_sides = 1
                    GROUP BY g.cell_id, g.number / 2 HAVING count(*) = 2)
                GROUP BY cell_id) AS q ON q.cell_id = p.cell_id",
    },
    Rollup {
        table: "cell_openings",
        stored: "cell_openings",
        key: &["cell_id", "opening_number"],
        integers: &[
            "games", "wins", "draws", "losses", "first_mover_half_points", "games_moving_first",
            "half_points_moving_first", "pairs",
            "pairs_half_points", "pairs_won_by_first_mover", "pairs_won_by_second_mover",
            "first_player_searched_games", "second_player_searched_games", "margin_games",
            "margin_sum",
        ],
        reals: &[
            "first_player_wall_us_mean_sum", "second_player_wall_us_mean_sum",
            "first_player_cpu_us_mean_sum", "second_player_cpu_us_mean_sum",
        ],
        only: "true",
        recount: "SELECT cell_id, opening_number, sum(games) AS games, sum(wins) AS wins,
                sum(draws) AS draws, sum(losses) AS losses,
                sum(first_mover_half_points) AS first_mover_half_points,
                sum(games_moving_first) AS games_moving_first,
                sum(half_points_moving_first) AS half_points_moving_first,
                sum(complete) AS pairs, sum(complete * (2 * wins + draws)) AS pairs_half_points,
                sum(complete * (first_won = 2)) AS pairs_won_by_first_mover,
                sum(complete * (first_lost = 2)) AS pairs_won_by_second_mover,
                sum(first_player_searched_games) AS first_player_searched_games,
                sum(second_player_searched_games) AS second_player_searched_games,
                total(first_player_wall_us_mean_sum) AS first_player_wall_us_mean_sum,
                total(second_player_wall_us_mean_sum) AS second_player_wall_us_mean_sum,
                total(first_player_cpu_us_mean_sum) AS first_player_cpu_us_mean_sum,
                total(second_player_cpu_us_mean_sum) AS second_player_cpu_us_mean_sum,
                sum(margin_games) AS margin_games, sum(margin_sum) AS margin_sum
            FROM (
                SELECT cell_id, unit, unit % coalesce(openings_count, 1 << 62) AS opening_number,
                    count(*) AS games,
                    swap_sides = 1 AND count(*) = 2 AS complete,
                    sum(outcome = CASE moved_first WHEN 1 THEN 'win' ELSE 'loss' END) AS wins,
                    sum(outcome = 'draw') AS draws,
                    sum(outcome = CASE moved_first WHEN 1 THEN 'loss' ELSE 'win' END) AS losses,
                    sum(outcome = 'win') AS first_won, sum(outcome = 'loss') AS first_lost,
                    sum(CASE outcome WHEN 'win' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END)
                        AS first_mover_half_points,
                    sum(moved_first) AS games_moving_first,
                    sum(moved_first
                        * CASE outcome WHEN 'win' THEN 2 WHEN 'draw' THEN 1 ELSE 0 END)
                        AS half_points_moving_first,
                    count(CASE moved_first WHEN 1 THEN mean_0 ELSE mean_1 END)
                        AS first_player_searched_games,
                    count(CASE moved_first WHEN 1 THEN mean_1 ELSE mean_0 END)
                        AS second_player_searched_games,
                    total(CASE moved_first WHEN 1 THEN mean_0 ELSE mean_1 END)
                        AS first_player_wall_us_mean_sum,
                    total(CASE moved_first WHEN 1 THEN mean_1 ELSE mean_0 END)
                        AS second_player_wall_us_mean_sum,
                    total(CASE moved_first WHEN 1 THEN cpu_0 ELSE cpu_1 END)
                        AS first_player_cpu_us_mean_sum,
                    total(CASE moved_first WHEN 1 THEN cpu_1 ELSE cpu_0 END)
                        AS second_player_cpu_us_mean_sum,
                    count(margin) AS margin_games,
                    coalesce(sum(CASE moved_first WHEN 1 THEN margin ELSE -margin END), 0)
                        AS margin_sum
                FROM (
                    SELECT g.cell_id, g.outcome, g.margin, c.swap_sides, k.openings_count,
                        g.number / (1 + c.swap_sides) AS unit,
                        g.number % 2 = 0 OR c.swap_sides = 0 AS moved_first,
                        (SELECT 1.0 * s.wall_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 0) AS mean_0,
                        (SELECT 1.0 * s.wall_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 1) AS mean_1,
                        (SELECT 1.0 * s.cpu_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 0) AS cpu_0,
                        (SELECT 1.0 * s.cpu_us / nullif(s.searched_moves, 0) FROM game_sides AS s
                            WHERE s.game_id = g.game_id AND s.side = 1) AS cpu_1
                    FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
                    JOIN conditions AS k ON k.conditions_id = c.conditions_id
                    WHERE g.counted = 1)
                GROUP BY cell_id, unit)
            GROUP BY cell_id, opening_number",
    },
    Rollup {
        table: "worker_results",
        stored: "worker_results",
        key: &["experiment_id", "worker_id"],
        integers: &["games", "plies", "first_started_unix_us", "last_started_unix_us"],
        reals: &["wall_us"],
        only: "true",
        // The times when games began cover all played games, whether or not they count.
        recount: "SELECT g.worker_id, c.experiment_id, sum(g.counted) AS games,
                sum(CASE WHEN g.counted THEN g.plies ELSE 0 END) AS plies,
                total(CASE WHEN g.counted THEN g.wall_us END) AS wall_us,
                min(g.started_unix_us) AS first_started_unix_us,
                max(g.started_unix_us) AS last_started_unix_us
            FROM games AS g JOIN cells AS c ON c.cell_id = g.cell_id
            WHERE g.outcome IS NOT NULL GROUP BY g.worker_id, c.experiment_id",
    },
];
