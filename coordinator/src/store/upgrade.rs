//! What migrations cannot say in SQL: rows that are made of older ones by the program. In the transaction of
//! the migrations themselves, so that no database is ever seen without.

use std::collections::BTreeMap;

use spelrum_tournament::{OpeningsCache, PlayableCell};
use sqlx::SqliteConnection;

use super::digest;
use super::error::StoreError;
use super::numbers::integer;
use super::opening_rows::{Numbering, spreads, sum_up};
use super::rollup::CellResult;
use super::transaction::rows;

/// The first schema with results by opening.
const WITH_OPENINGS: i64 = 4;

/// The first one in which these have processor times.
const WITH_CPU_TIMES: i64 = 20;

/// Cells whose intervals are written together.
const CELLS_AT_ONCE: usize = 1_000;

/// After how many games it is said how far this is.
const GAMES_BETWEEN_WORDS: i64 = 250_000;

/// A cell with counted games.
struct Cell {
    id: i64,
    numbering: Numbering,
    result: CellResult,
}

/// Makes what a database of this earlier schema lacks; 0 is one that is new.
pub(super) async fn upgrade(
    connection: &mut SqliteConnection,
    from: i64,
) -> Result<(), StoreError> {
    if from == 0 {
        return Ok(());
    }
    if from < WITH_CPU_TIMES {
        sum_up_openings(connection, from).await?;
    }
    digest::fill(connection).await
}

async fn sum_up_openings(connection: &mut SqliteConnection, from: i64) -> Result<(), StoreError> {
    count_openings(connection).await?;
    let cells = cells(connection).await?;
    let games: i64 = cells.iter().map(|cell| cell.result.games).sum();
    if games > 0 {
        tracing::info!(games, "summing up all games by their openings, once");
    }
    let (mut done, mut said) = (0, 0);
    for cell in &cells {
        sum_up(connection, cell.id, cell.numbering).await?;
        done += cell.result.games;
        if done - said >= GAMES_BETWEEN_WORDS {
            tracing::info!(games = done, of = games, "games are summed up by their openings");
            said = done;
        }
    }
    if from >= WITH_OPENINGS {
        return Ok(());
    }
    sqlx::query!(
        "UPDATE cell_results SET
            pairs_won_by_first_mover = (
                SELECT coalesce(sum(o.pairs_won_by_first_mover), 0)
                FROM cell_openings AS o WHERE o.cell_id = cell_results.cell_id),
            pairs_won_by_second_mover = (
                SELECT coalesce(sum(o.pairs_won_by_second_mover), 0)
                FROM cell_openings AS o WHERE o.cell_id = cell_results.cell_id)"
    )
    .execute(&mut *connection)
    .await?;
    for cells in cells.chunks(CELLS_AT_ONCE) {
        write_intervals(connection, cells).await?;
    }
    keep_rules(connection).await
}

/// Counts the openings of conditions that nobody has counted. Where this program cannot read them they
/// stay as they are.
async fn count_openings(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let definitions = sqlx::query!(
        r#"SELECT k.conditions_id AS "conditions_id!: i64",
            d.definition_json AS "definition?: String"
        FROM (
            SELECT min(c.cell_id) AS cell_id, c.conditions_id
            FROM cells AS c GROUP BY c.conditions_id) AS f
        CROSS JOIN conditions AS k ON k.conditions_id = f.conditions_id
        CROSS JOIN cell_definitions AS d ON d.cell_id = f.cell_id
        WHERE k.openings_count IS NULL"#
    )
    .fetch_all(&mut *connection)
    .await?;
    for row in definitions {
        let cell = row
            .definition
            .and_then(|json| PlayableCell::from_json(&json, &OpeningsCache::default()).ok());
        let Some(openings) = cell.and_then(|cell| cell.openings_count()) else { continue };
        let openings = integer(openings);
        sqlx::query!(
            "UPDATE conditions SET openings_count = ?2 WHERE conditions_id = ?1",
            row.conditions_id,
            openings
        )
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

async fn cells(connection: &mut SqliteConnection) -> Result<Vec<Cell>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT r.cell_id, r.games, r.wins, r.draws, r.losses, r.pairs_0, r.pairs_half, r.pairs_1,
            r.pairs_1_half, r.pairs_2, c.swap_sides AS "swap_sides: bool", k.openings_count
        FROM cell_results AS r
        JOIN cells AS c ON c.cell_id = r.cell_id
        JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE r.games > 0"#
    )
    .fetch_all(connection)
    .await?;
    let cell = found.into_iter().map(|row| Cell {
        id: row.cell_id,
        numbering: Numbering { swap_sides: row.swap_sides, openings_count: row.openings_count },
        result: CellResult {
            games: row.games,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            pairs: [row.pairs_0, row.pairs_half, row.pairs_1, row.pairs_1_half, row.pairs_2],
            ..CellResult::default()
        },
    });
    Ok(cell.collect())
}

/// Writes the intervals of cells whose openings come again, which are now over openings.
async fn write_intervals(
    connection: &mut SqliteConnection,
    cells: &[Cell],
) -> Result<(), StoreError> {
    let come_again = cells
        .iter()
        .filter(|cell| cell.numbering.come_again(cell.result.units(cell.numbering.swap_sides)));
    let come_again: BTreeMap<i64, &Cell> = come_again.map(|cell| (cell.id, cell)).collect();
    let ids: Vec<i64> = come_again.keys().copied().collect();
    let spreads = spreads(connection, &ids).await?;
    let list: Vec<(i64, f64, f64, f64, f64)> = spreads
        .into_iter()
        .filter_map(|(id, spread)| {
            let cell = come_again.get(&id)?;
            let interval = cell.result.interval(cell.numbering.swap_sides, Some(spread));
            Some((id, interval.low, interval.high, spread.effective, spread.variance))
        })
        .collect();
    let list = rows(&list)?;
    sqlx::query!(
        "UPDATE cell_results SET score_low = j.value ->> 1, score_high = j.value ->> 2,
            openings_effective = j.value ->> 3, openings_variance = j.value ->> 4
        FROM jsonb_each(?) AS j WHERE cell_id = j.value ->> 0",
        list
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Leaves cells that end by a rule, and whose openings come again, the rule that they were submitted
/// with: over pairs. Another one would end them elsewhere, also where all is played; whoever submits the
/// sweep again gets it.
async fn keep_rules(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO stop_rules (rule, kind, precision, elo0, elo1, alpha, beta, model, over_pairs)
        SELECT s.rule || ' over pairs', s.kind, s.precision, s.elo0, s.elo1, s.alpha, s.beta,
            s.model, 1
        FROM stop_rules AS s
        WHERE s.over_pairs = 0 AND EXISTS (
            SELECT 1 FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
            WHERE c.stop_rule_id = s.stop_rule_id AND k.openings_count > 1
                AND k.openings_count < c.games_planned / (1 + c.swap_sides))"
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "UPDATE cells SET stop_rule_id = n.stop_rule_id
        FROM stop_rules AS s
        JOIN stop_rules AS n ON n.rule = s.rule || ' over pairs',
            conditions AS k
        WHERE s.stop_rule_id = cells.stop_rule_id AND s.over_pairs = 0
            AND k.conditions_id = cells.conditions_id AND k.openings_count > 1
            AND k.openings_count < cells.games_planned / (1 + cells.swap_sides)"
    )
    .execute(connection)
    .await?;
    Ok(())
}
