//! Values of the moves of positions by a reference: stored with the first choice in a position, and reused for every
//! later one.

use std::collections::BTreeSet;

use serde::Serialize;
use spelrum_engine::MoveValue;
use spelrum_statistics::choice::Choice;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::cache::ValuedBy;
use crate::write::checked_games::Checked;
use crate::write::transaction::Transaction;

/// A row of `valued_positions` without its id.
#[derive(Serialize)]
struct PositionRow(i64, i64, i64, u32, Option<u32>, u32, i64, i64, u32, f64, f64, f64, f64);

/// A row of `move_values` without its position.
#[derive(Serialize)]
struct ValueRow<'g>(&'g str, usize, i64, f64);

/// Stores the values of positions that lack them.
pub(crate) async fn insert(
    tx: &mut Transaction<'_>,
    games: &[Checked<'_>],
) -> Result<(), StoreError> {
    let mut seen = BTreeSet::new();
    for game in games {
        let Some(by) = &game.cell.valued_by else { continue };
        let (revision, values) = (game.played.engine_revision, &game.played.values);
        if seen.insert((by.conditions, by.reference, game.opening_id, revision)) {
            let plies = by.positions.plies_of(game.played.game.number);
            if let Some(row) = position_row(by, game.opening_id, revision, plies, values) {
                insert_position(tx, &row, values).await?;
            }
        }
    }
    Ok(())
}

async fn insert_position(
    tx: &mut Transaction<'_>,
    row: &PositionRow,
    move_values: &[MoveValue],
) -> Result<(), StoreError> {
    let row = rows(&[row])?;
    let id = sqlx::query_scalar!(
        r#"INSERT INTO valued_positions (conditions_id, reference_player_id, opening_id,
            engine_revision, plies, legal_moves, best_value, worst_value, best_moves, best_rank,
            random_rank, random_loss, random_best)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11,
            value ->> 12
        FROM jsonb_each(?) WHERE true
        ON CONFLICT DO NOTHING
        RETURNING valued_position_id AS "id!""#,
        row
    )
    .fetch_optional(tx.connection())
    .await?;
    let Some(id) = id else { return Ok(()) };
    let values: Vec<i64> = move_values.iter().map(|mv| mv.value).collect();
    let list: Vec<ValueRow<'_>> = move_values
        .iter()
        .enumerate()
        .map(|(number, mv)| ValueRow(&mv.mv, number, mv.value, rank(&values, number)))
        .collect();
    let list = rows(&list)?;
    sqlx::query!(
        "INSERT INTO move_values (valued_position_id, move, number, value, rank)
        SELECT ?2, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM jsonb_each(?1)",
        list,
        id
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Returns `None` for a position without moves.
fn position_row(
    by: &ValuedBy,
    opening: i64,
    revision: u32,
    plies: Option<u32>,
    move_values: &[MoveValue],
) -> Option<PositionRow> {
    let values: Vec<i64> = move_values.iter().map(|mv| mv.value).collect();
    let first = *values.first()?;
    let moves = u32::try_from(values.len()).ok()?;
    let row = |[best, worst]: [i64; 2], best_moves, chance: [f64; 4]| {
        let [best_rank, random_rank, random_loss, random_best] = chance;
        PositionRow(
            by.conditions,
            by.reference,
            opening,
            revision,
            plies,
            moves,
            best,
            worst,
            best_moves,
            best_rank,
            random_rank,
            random_loss,
            random_best,
        )
    };
    Some(match Choice::new(&values, 0) {
        Some(Choice {
            best,
            worst,
            best_moves,
            best_rank,
            random_rank,
            random_loss,
            random_best,
            ..
        }) => row([best, worst], best_moves, [best_rank, random_rank, random_loss, random_best]),
        None => {
            let rank = rank(&values, 0);
            row([first, first], moves, [rank, rank, 0.0, 1.0])
        }
    })
}

/// The rank of a move by value; the mean rank of all moves if they have equal values.
fn rank(values: &[i64], number: usize) -> f64 {
    let moves = values.len() as f64;
    Choice::new(values, number).map_or((moves + 1.0) / 2.0, |choice| choice.rank)
}
