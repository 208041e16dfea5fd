//! Experiments with a course: the cells that it asked for, and the results that it received.

use std::collections::BTreeMap;

use spelrum_model::course::Noted;
use spelrum_model::{CellDefinition, CellId, ExperimentId, Plan};
use spelrum_scheduling::course::{CellOutcome, NewCell, StoredCell};
use spelrum_scheduling::scheduler::CellState;
use spelrum_statistics::PairCounts;
use spelrum_store::decisions::{integer, safe};
use spelrum_store::{OpenCourse, StoreError};

use crate::cells::{self, Cell, End, cells, ends, places};
use crate::numbers::number;
use crate::transaction::PgTransaction;
use crate::{parts, sweeps, tasks};

pub(crate) async fn set(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
    course: &'static str,
) -> Result<(), StoreError> {
    let sql = "UPDATE experiments SET course = $1 WHERE experiment_id = $2";
    run!(tx, sql, course, experiment.0);
    Ok(())
}

/// Appends the cells of a plan that a course asked for; `None` if the experiment has one of them.
pub(crate) async fn add_cells(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
    plan: &Plan,
    results_before: u64,
) -> Result<Option<Vec<CellState>>, StoreError> {
    let hashes: Vec<String> =
        plan.cells.iter().map(|cell| cell.definition_hash.to_string()).collect();
    let has_one = value!(
        tx,
        bool,
        "SELECT EXISTS (SELECT 1 FROM cells WHERE experiment_id = $1 AND definition_hash = ANY($2))",
        experiment.0,
        hashes
    );
    if has_one {
        return Ok(None);
    }
    let next = "SELECT coalesce(max(number), -1) + 1 FROM cells WHERE experiment_id = $1";
    let next = value!(tx, i64, next, experiment.0);
    let numbers: Vec<usize> = (0..plan.cells.len()).collect();
    let asked_after = Some(integer(results_before));
    let mut cells = parts::cells(tx, experiment.0, plan, &numbers, next, asked_after).await?;
    cells.extend(tasks::add_trainings(tx, experiment.0, plan).await?);
    Ok(Some(cells::some_states(tx, experiment.0, &cells).await?))
}

/// Stores notes of a course; existing ones stay.
pub(crate) async fn note(
    tx: &mut PgTransaction<'_>,
    experiment: ExperimentId,
    notes: &[Noted],
) -> Result<(), StoreError> {
    for Noted { run, note } in notes {
        let (step, trial) = note.place();
        run!(
            tx,
            "INSERT INTO course_notes (experiment_id, run, kind, step, trial, note)
            VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
            experiment.0,
            safe("a run", *run)?,
            note.kind(),
            integer(step),
            integer(trial),
            note.json(),
        );
    }
    Ok(())
}

/// Stores a settled cell's result as the course receives it: once.
pub(crate) async fn tell(
    tx: &mut PgTransaction<'_>,
    id: CellId,
) -> Result<CellOutcome, StoreError> {
    let stored = cells!(tx, "c.cell_id = $1", id.0);
    let Some(cell) = stored.first() else { return Err(StoreError::Missing { what: "a cell" }) };
    let ends = ends(tx, &[id.0]).await?.remove(&id.0).unwrap_or_default();
    let outcome = outcome(cell, &ends);
    let [pairs_0, pairs_half, pairs_1, pairs_1_half, pairs_2] = outcome.pairs.0.map(integer);
    run!(
        tx,
        "INSERT INTO told_cells (cell_id, games, games_failed, wins, draws, losses, pairs_0, pairs_half, pairs_1,
            pairs_1_half, pairs_2, margin_sum)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        id.0,
        integer(outcome.games),
        integer(outcome.games_failed),
        integer(outcome.wins),
        integer(outcome.draws),
        integer(outcome.losses),
        pairs_0,
        pairs_half,
        pairs_1,
        pairs_1_half,
        pairs_2,
        outcome.margin_sum,
    );
    Ok(outcome)
}

/// The results of a cell's games, up to where the cell ends.
fn outcome(cell: &Cell, ends: &[End]) -> CellOutcome {
    let number = u64::try_from(cell.number).unwrap_or(0);
    let mut sums = CellOutcome { number, ..CellOutcome::default() };
    let counted: Vec<&End> = ends.iter().filter(|end| cell.counts(end.number)).collect();
    let mut pairs: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for end in counted {
        let Some((outcome, _)) = end.played else {
            sums.games_failed += 1;
            continue;
        };
        let points = cell.half_points(end.number, outcome);
        sums.games += 1;
        *[&mut sums.losses, &mut sums.draws, &mut sums.wins][points] += 1;
        let margin = end.margin.map_or(0, i64::from);
        sums.margin_sum += if cell.first_player_moves_first(end.number) { margin } else { -margin };
        pairs.entry(end.number / 2).or_default().push(points);
    }
    for pair in pairs.values().filter(|pair| cell.swap_sides && pair.len() == 2) {
        sums.pairs.0[pair[0] + pair[1]] += 1;
    }
    sums
}

/// The experiments whose courses are still open.
pub(crate) async fn all_open(tx: &mut PgTransaction<'_>) -> Result<Vec<OpenCourse>, StoreError> {
    let found = all!(
        tx,
        (i64, String, String),
        "SELECT experiment_id, name, sweep_toml FROM experiments
        WHERE state IN ('running', 'paused') AND course = 'open' ORDER BY experiment_id"
    );
    let mut courses = Vec::new();
    for (id, name, toml) in found {
        let files = sweeps::files(tx, id).await?;
        let cells = course_cells(tx, id).await?;
        courses.push(OpenCourse { experiment: ExperimentId(id), name, toml, files, cells });
    }
    Ok(courses)
}

/// A row of `told_cells`.
#[derive(sqlx::FromRow)]
struct Told {
    cell_id: i64,
    games: i64,
    games_failed: i64,
    wins: i64,
    draws: i64,
    losses: i64,
    pairs_0: i64,
    pairs_half: i64,
    pairs_1: i64,
    pairs_1_half: i64,
    pairs_2: i64,
    margin_sum: i64,
}

async fn course_cells(tx: &mut PgTransaction<'_>, id: i64) -> Result<Vec<StoredCell>, StoreError> {
    let rows = all!(
        tx,
        Told,
        "SELECT t.* FROM told_cells AS t JOIN cells AS c ON c.cell_id = t.cell_id
        WHERE c.experiment_id = $1",
        id
    );
    let rows: BTreeMap<i64, Told> = rows.into_iter().map(|row| (row.cell_id, row)).collect();
    let mut places = places(tx, id, false).await?;
    let definitions = all!(
        tx,
        (i64, String),
        "SELECT d.cell_id, d.definition_json FROM cells AS c JOIN cell_definitions AS d ON d.cell_id = c.cell_id
        WHERE c.experiment_id = $1 AND c.asked_after IS NOT NULL",
        id
    );
    let definitions: BTreeMap<i64, String> = definitions.into_iter().collect();
    let stored = cells!(tx, "c.experiment_id = $1 AND c.number >= 0", id);
    let cells = stored.iter().map(|cell| {
        let added = cell.asked_after().zip(definitions.get(&cell.cell_id)).map(|(after, json)| {
            let definition: CellDefinition = serde_json::from_str(json)
                .map_err(|error| StoreError::Sql(sqlx::Error::Decode(error.into())))?;
            let new = NewCell {
                definition,
                player_names: cell.names(),
                axes: places.remove(&cell.cell_id).unwrap_or_default(),
                games: cell.games_planned,
                timed: cell.timed,
                repeats: cell.repeats,
                openings_count: cell.openings_count(),
            };
            Ok::<_, StoreError>((after, new))
        });
        // With the cell's current number: a changed sweep may have given it another one.
        let outcome = rows.get(&cell.cell_id).map(|row| CellOutcome {
            number: number(cell.number),
            games: number(row.games),
            games_failed: number(row.games_failed),
            wins: number(row.wins),
            draws: number(row.draws),
            losses: number(row.losses),
            pairs: PairCounts(
                [row.pairs_0, row.pairs_half, row.pairs_1, row.pairs_1_half, row.pairs_2]
                    .map(number),
            ),
            margin_sum: row.margin_sum,
        });
        Ok(StoredCell { cell: CellId(cell.cell_id), added: added.transpose()?, outcome })
    });
    cells.collect()
}
