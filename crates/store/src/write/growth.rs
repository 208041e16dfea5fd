//! Growing an experiment: updates its rows to a changed sweep. Only the hash of its definition identifies a cell, so
//! no game is lost or counted for another cell.

use std::collections::BTreeSet;

use spelrum_model::Plan;
use spelrum_model::change::{ALLOCATE, Comparison, KnownCell, SupersededCell};
use spelrum_scheduling::scheduler::CellState;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::{count, safe};
use crate::write::cells::{self, Place, ROWS_AT_ONCE};
use crate::write::transaction::Transaction;
use crate::write::{networks, stop_rules};

/// Stores the outcome of a comparison; returns the cells that are new to the scheduler, or different.
pub(crate) async fn grow_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    plan: &Plan,
    comparison: &Comparison<'_>,
) -> Result<Vec<CellState>, StoreError> {
    let mut states = Vec::new();
    let known = &comparison.known;
    for cells in known.chunks(ROWS_AT_ONCE) {
        update_cells(tx, plan, cells).await?;
        move_cells(tx, plan, cells).await?;
    }
    // Another allocation changes the turn of each cell.
    let is_all = comparison.change.has_changed(ALLOCATE);
    let differ = known.iter().filter(|cell| is_all || cell.work_differs);
    states.extend(differ.map(|known| CellState {
        swap_sides: known.swap_sides,
        next_number: known.next_number,
        timed: plan.cells[known.number].timed,
        ..CellState::new(known.cell, known.games)
    }));
    for cells in comparison.dropped.chunks(ROWS_AT_ONCE) {
        let list: Vec<i64> = cells.iter().map(|cell| cell.cell.0).collect();
        let list = rows(&list)?;
        sqlx::query!(
            "UPDATE cells SET in_sweep = 0, superseded = 0 WHERE cell_id IN (SELECT value FROM json_each(?))",
            list
        )
        .execute(tx.connection())
        .await?;
        states.extend(cells.iter().map(|cell| CellState {
            in_sweep: false,
            swap_sides: cell.swap_sides,
            next_number: cell.next_number,
            timed: cell.timed,
            ..CellState::new(cell.cell, cell.games)
        }));
    }
    states.extend(supersede_cells(tx, plan, &comparison.superseded).await?);
    if !comparison.added.is_empty() {
        let parts = cells::insert_parts(tx, plan).await?;
        for numbers in comparison.added.chunks(ROWS_AT_ONCE) {
            let place = Place::default();
            let some =
                cells::insert_some_cells(tx, experiment, plan, &parts, numbers, place).await?;
            states.extend(some);
        }
        states.extend(networks::insert_trainings(tx, experiment, parts.players(plan)).await?);
    }
    let with_other_rules = known.iter().filter(|cell| cell.rule_differs);
    let with_other_rules: Vec<i64> = with_other_rules.map(|cell| cell.cell.0).collect();
    set_rules(tx, &with_other_rules, plan).await?;
    // The cache has whether moves are recorded, which may have changed.
    tx.cache.cells.clear();
    Ok(states)
}

/// Updates kept cells to the plan.
async fn update_cells(
    tx: &mut Transaction<'_>,
    plan: &Plan,
    cells: &[KnownCell],
) -> Result<(), StoreError> {
    let changed = cells.iter().filter(|cell| cell.row_differs);
    let list = changed
        .map(|known| {
            let cell = &plan.cells[known.number];
            let [first, second] = &cell.player_names;
            let games = safe("a cell's games", known.games)?;
            let (number, timed) = (count(known.number), u8::from(cell.timed));
            Ok((known.cell.0, number, games, timed, &**first, &**second))
        })
        .collect::<Result<Vec<(i64, i64, i64, u8, &str, &str)>, StoreError>>()?;
    if list.is_empty() {
        return Ok(());
    }
    let list = rows(&list)?;
    sqlx::query!(
        "UPDATE cells SET number = j.value ->> 1, games_planned = j.value ->> 2,
            timed = j.value ->> 3, first_player_name = j.value ->> 4,
            second_player_name = j.value ->> 5, in_sweep = 1, superseded = 0,
            -- Its results so far may be why it has another end.
            games_planned_first = CASE
                WHEN games_planned_first IS NULL AND games_planned <> j.value ->> 2 AND EXISTS (
                    SELECT 1 FROM cell_results AS r WHERE r.cell_id = cells.cell_id AND r.games > 0)
                THEN games_planned
                ELSE games_planned_first
            END
        FROM jsonb_each(?) AS j WHERE cell_id = j.value ->> 0",
        list
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Keeps cells of builds that play no more, with their games, beside the cells that replace them; returns those that
/// changed for the scheduler.
async fn supersede_cells(
    tx: &mut Transaction<'_>,
    plan: &Plan,
    superseded: &[SupersededCell],
) -> Result<Vec<CellState>, StoreError> {
    let mut states = Vec::new();
    for cells in superseded.chunks(ROWS_AT_ONCE) {
        let row = |kept: &SupersededCell| {
            let games = safe("a cell's games", kept.games())?;
            let [first, second] = kept.names.clone();
            Ok((kept.cell.cell.0, count(kept.number), games, first, second))
        };
        let list = cells.iter().map(row);
        let list = list.collect::<Result<Vec<(i64, i64, i64, String, String)>, StoreError>>()?;
        let list = rows(&list)?;
        sqlx::query!(
            "UPDATE cells SET number = j.value ->> 1, games_planned = j.value ->> 2,
                first_player_name = j.value ->> 3, second_player_name = j.value ->> 4,
                superseded = 1
            FROM jsonb_each(?) AS j WHERE cell_id = j.value ->> 0",
            list
        )
        .execute(tx.connection())
        .await?;
        let places: Vec<(i64, usize)> =
            cells.iter().map(|kept| (kept.cell.cell.0, kept.number)).collect();
        place_anew(tx, plan, &places).await?;
        let news = cells.iter().filter(|kept| !kept.cell.is_superseded);
        states.extend(news.map(|kept| CellState {
            in_sweep: false,
            swap_sides: kept.cell.swap_sides,
            next_number: kept.cell.next_number,
            timed: kept.cell.timed,
            ..CellState::new(kept.cell.cell, kept.games())
        }));
    }
    Ok(states)
}

/// Gives cells the plan's stop rule, which reads them from the first unit. Cells that the previous rule ended stay
/// ended there until the scheduler has read the new one.
async fn set_rules(tx: &mut Transaction<'_>, cells: &[i64], plan: &Plan) -> Result<(), StoreError> {
    let rule = stop_rules::stop_rule(tx, plan.stop).await?;
    let list = rows(cells)?;
    sqlx::query!(
        "UPDATE cells SET stop_rule_id = ?2, decided_number = 0,
            games_planned_first = CASE
                WHEN EXISTS (
                    SELECT 1 FROM cell_results AS r WHERE r.cell_id = cells.cell_id AND r.games > 0)
                THEN coalesce(games_planned_first, games_planned)
                ELSE games_planned_first
            END
        WHERE cell_id IN (SELECT value FROM json_each(?1))",
        list,
        rule
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Moves kept cells to their new places on the axes.
async fn move_cells(
    tx: &mut Transaction<'_>,
    plan: &Plan,
    cells: &[KnownCell],
) -> Result<(), StoreError> {
    let moved = cells.iter().filter(|cell| cell.place_differs);
    let moved: Vec<(i64, usize)> = moved.map(|known| (known.cell.0, known.number)).collect();
    place_anew(tx, plan, &moved).await
}

/// Gives cells the places of the plan's cells with these numbers.
async fn place_anew(
    tx: &mut Transaction<'_>,
    plan: &Plan,
    moved: &[(i64, usize)],
) -> Result<(), StoreError> {
    if moved.is_empty() {
        return Ok(());
    }
    let list: BTreeSet<i64> = moved.iter().map(|&(cell, _)| cell).collect();
    let list = rows(&list.into_iter().collect::<Vec<_>>())?;
    sqlx::query!("DELETE FROM cell_axes WHERE cell_id IN (SELECT value FROM json_each(?))", list)
        .execute(tx.connection())
        .await?;
    let places = moved.iter().map(|&(cell, number)| (cell, &plan.cells[number]));
    cells::insert_places(tx, plan, places).await
}
