//! Invariant 8: statistics can be recomputed from the rows alone. Recounts every rollup by plain SQL over `games` and
//! `moves`, sharing nothing with the code that writes them, and reports differences.
//!
//! This takes several times as long as to read the rows. So `spelrum check` recounts only the rollups that the pass
//! over the rows for their digests has not confirmed (`counting`).
//!
//! A game can lack moves, because they were never stored (`record = "games"`) or were dropped later. Its sums over
//! moves are counted from its `game_depths`, which must agree with its `game_sides`. A cell can have games of both
//! kinds, since a sweep can change its recording.
//!
//! The set of games that count is recomputed as well: each stop rule is read over its cell's settled games in number
//! order, from the first (invariant 7).

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use spelrum_statistics::{OpeningCounts, OpeningSpread};
use sqlx::SqliteConnection;

use crate::check::difference::{DIFFERENCES_MAX, Difference};
use crate::check::rollup_queries::ROLLUPS;
use crate::check::rot::Compared;
use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::numbers::{integer, real};
use crate::write::margins::{Margins, over_openings};
use crate::write::rollup_sums::CellResult;
use crate::write::stop_readings::{Read, read_again};
use crate::write::stop_rules;

impl Readers {
    /// Recounts all rollups from the rows by SQL; returns the differences, of which there should be none. Reads every
    /// game and move, several times.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn recount(&self) -> Result<Vec<Difference>, StoreError> {
        self.recount_after(&Compared::default()).await
    }

    /// Recounts the rollups that were not confirmed while the rows were compared with their digests; returns the same
    /// differences as [`Self::recount`].
    ///
    /// # Errors
    /// If the database fails.
    pub async fn recount_after(&self, compared: &Compared) -> Result<Vec<Difference>, StoreError> {
        self.count_again(compared).await.inspect_err(|error| self.alarm().raise_if_damage(error))
    }

    async fn count_again(&self, compared: &Compared) -> Result<Vec<Difference>, StoreError> {
        // A snapshot: a coordinator can be at work.
        let mut snapshot = self.reads().begin().await?;
        let mut differences = Vec::new();
        for rollup in ROLLUPS.iter().filter(|rollup| !compared.has_confirmed(rollup.table)) {
            differences.extend(rollup.recount(&mut snapshot).await?);
        }
        let has_openings = compared.has_confirmed("cell_openings");
        let by_opening = if has_openings { Ok(Vec::new()) } else { openings(&mut snapshot).await };
        let computed = [
            ("cell_openings", by_opening),
            ("intervals", intervals(&mut snapshot).await),
            ("cells", stops(&mut snapshot, compared.has_confirmed("games")).await),
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
            let openings = cell.openings_count;
            let opening = openings.and_then(|openings| unit.checked_rem(openings)).unwrap_or(unit);
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

/// The ends of cells, and which of their games count, unless that is known.
async fn stops(
    connection: &mut SqliteConnection,
    has_counted: bool,
) -> Result<Vec<Difference>, StoreError> {
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
    if !has_counted {
        differences.extend(counted(connection).await?);
    }
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
