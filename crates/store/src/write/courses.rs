//! Experiments with a course: the cells that it asked for, and the results that it received.

use std::collections::BTreeMap;

use spelrum_model::course::Noted;
use spelrum_model::{AxisValue, CellDefinition, CellId, ExperimentId, Plan};
use spelrum_scheduling::course::{CellOutcome, NewCell, StoredCell};
use spelrum_scheduling::scheduler::CellState;
use spelrum_statistics::PairCounts;

use crate::error::StoreError;
use crate::open::writer::Writer;
use crate::schema::encoding::rows;
use crate::schema::numbers::{integer, safe};
use crate::write::cells::{self, Place, ROWS_AT_ONCE};
use crate::write::sweep_files::files;
use crate::write::transaction::Transaction;
use crate::write::{networks, requirements, stop_readings};

/// An experiment whose course is still open at a start.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCourse {
    /// The experiment.
    pub experiment: ExperimentId,
    /// The experiment's name.
    pub name: String,
    /// The text of its sweep.
    pub toml: String,
    /// The files that the sweep names.
    pub files: BTreeMap<String, String>,
    /// The experiment's cells, in the order of their numbers.
    pub cells: Vec<StoredCell>,
}

/// The experiments whose courses are still open.
///
/// # Errors
/// If the database cannot be read.
pub(crate) async fn all_open(writer: &mut Writer) -> Result<Vec<OpenCourse>, StoreError> {
    let mut transaction = writer.begin().await?;
    let found = sqlx::query!(
        r#"SELECT experiment_id AS "experiment_id!", name, sweep_toml FROM experiments
        WHERE state IN ('running', 'paused') AND course = 'open' ORDER BY experiment_id"#
    )
    .fetch_all(transaction.connection())
    .await?;
    let mut courses = Vec::new();
    for row in found {
        courses.push(OpenCourse {
            experiment: ExperimentId(row.experiment_id),
            name: row.name,
            toml: row.sweep_toml,
            files: files(transaction.connection(), row.experiment_id).await?,
            cells: course_cells(&mut transaction, row.experiment_id).await?,
        });
    }
    Ok(courses)
}

/// Records that an experiment has a course, so it does not finish with its games.
///
/// # Errors
/// If the database fails.
pub(crate) async fn open(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
) -> Result<(), StoreError> {
    set_course(tx, experiment, "open").await
}

/// Records that an experiment's course has ended.
///
/// # Errors
/// If the database fails.
pub(crate) async fn end(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
) -> Result<(), StoreError> {
    set_course(tx, experiment, "ended").await
}

async fn set_course(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    course: &'static str,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE experiments SET course = ?1 WHERE experiment_id = ?2",
        course,
        experiment.0
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Appends the cells of a plan that an experiment's course asked for after receiving this many results. Returns `None`
/// and stores nothing if the experiment already has one of the cells.
///
/// # Errors
/// If a number is too large, or the database fails.
pub(crate) async fn add_cells(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    plan: &Plan,
    results_before: u64,
) -> Result<Option<Vec<CellState>>, StoreError> {
    let hashes: Vec<String> =
        plan.cells.iter().map(|cell| cell.definition_hash.to_string()).collect();
    let hashes = rows(&hashes)?;
    let there = sqlx::query!(
        r#"SELECT
            EXISTS (
                SELECT 1 FROM json_each(?1) AS j
                CROSS JOIN cells AS c ON c.definition_hash = j.value AND +c.experiment_id = ?2
            ) AS "again!: bool",
            (SELECT coalesce(max(number), -1) + 1 FROM cells WHERE experiment_id = ?2)
                AS "next!: i64""#,
        hashes,
        experiment.0
    )
    .fetch_one(tx.connection())
    .await?;
    if there.again {
        return Ok(None);
    }
    let parts = cells::insert_parts(tx, plan).await?;
    let place = Place { first: there.next, asked_after: Some(integer(results_before)) };
    let mut states = Vec::new();
    let numbers: Vec<usize> = (0..plan.cells.len()).collect();
    for numbers in numbers.chunks(ROWS_AT_ONCE) {
        let some = cells::insert_some_cells(tx, experiment.0, plan, &parts, numbers, place).await?;
        states.extend(some);
    }
    states.extend(networks::insert_trainings(tx, experiment.0, parts.players(plan)).await?);
    requirements::add_to_cells(tx, experiment.0, &mut states).await?;
    stop_readings::add_to_cells(tx, experiment.0, &mut states).await?;
    networks::add_to_cells(tx, experiment.0, &mut states).await?;
    Ok(Some(states))
}

/// Stores facts about an experiment's course; existing ones stay.
///
/// # Errors
/// If a number is too large, or the database fails.
pub(crate) async fn note(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    notes: &[Noted],
) -> Result<(), StoreError> {
    let list = notes
        .iter()
        .map(|Noted { run, note }| {
            let (step, trial) = note.place();
            Ok((safe("a run", *run)?, note.kind(), integer(step), integer(trial), note.json()))
        })
        .collect::<Result<Vec<_>, StoreError>>()?;
    for some in list.chunks(ROWS_AT_ONCE) {
        let some = rows(some)?;
        sqlx::query!(
            "INSERT OR IGNORE INTO course_notes (experiment_id, run, kind, step, trial, note)
            SELECT ?1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4
            FROM json_each(?2)",
            experiment.0,
            some
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(())
}

/// Stores a settled cell's result as the course receives it.
///
/// # Errors
/// If the course already received the result, or the database fails.
pub(crate) async fn tell(
    tx: &mut Transaction<'_>,
    cell: CellId,
) -> Result<CellOutcome, StoreError> {
    sqlx::query!(
        "INSERT INTO told_cells (cell_id, games, games_failed, wins, draws, losses, pairs_0,
            pairs_half, pairs_1, pairs_1_half, pairs_2, margin_sum)
        SELECT c.cell_id, coalesce(r.games, 0), coalesce(r.games_failed, 0),
            coalesce(r.wins, 0), coalesce(r.draws, 0), coalesce(r.losses, 0),
            coalesce(r.pairs_0, 0), coalesce(r.pairs_half, 0), coalesce(r.pairs_1, 0),
            coalesce(r.pairs_1_half, 0), coalesce(r.pairs_2, 0),
            coalesce(r.margin_sum, 0)
        FROM cells AS c LEFT JOIN cell_results AS r ON r.cell_id = c.cell_id
        WHERE c.cell_id = ?",
        cell.0
    )
    .execute(tx.connection())
    .await?;
    let row = sqlx::query_as!(
        OutcomeRow,
        r#"SELECT c.cell_id AS "cell_id!", c.number AS "number!: i64", t.games, t.games_failed,
            t.wins, t.draws, t.losses, t.pairs_0, t.pairs_half, t.pairs_1, t.pairs_1_half,
            t.pairs_2, t.margin_sum
        FROM told_cells AS t JOIN cells AS c ON c.cell_id = t.cell_id WHERE t.cell_id = ?"#,
        cell.0
    )
    .fetch_one(tx.connection())
    .await?;
    Ok(row.into())
}

/// The cells of an experiment that has a course.
async fn course_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<Vec<StoredCell>, StoreError> {
    let rows = sqlx::query_as!(
        OutcomeRow,
        r#"SELECT c.cell_id AS "cell_id!", c.number AS "number!: i64", t.games, t.games_failed,
            t.wins, t.draws, t.losses, t.pairs_0, t.pairs_half, t.pairs_1, t.pairs_1_half,
            t.pairs_2, t.margin_sum
        FROM cells AS c CROSS JOIN told_cells AS t ON t.cell_id = c.cell_id
        WHERE c.experiment_id = ?"#,
        experiment
    )
    .fetch_all(tx.connection())
    .await?;
    let mut outcomes: BTreeMap<i64, CellOutcome> =
        rows.into_iter().map(|row| (row.cell_id, row.into())).collect();
    let mut axes = axes_of_added(tx, experiment).await?;
    let cells = sqlx::query!(
        r#"SELECT c.cell_id AS "cell_id!", c.asked_after, c.first_player_name, c.second_player_name,
            c.games_planned, c.timed, c.repeats, k.openings_count,
            -- A join would make the definitions of all cells that there are.
            CASE WHEN c.asked_after IS NOT NULL THEN (
                SELECT d.definition_json FROM cell_definitions AS d WHERE d.cell_id = c.cell_id)
            END AS "definition_json?: String"
        FROM cells AS c JOIN conditions AS k ON k.conditions_id = c.conditions_id
        WHERE c.experiment_id = ? AND c.number >= 0
        ORDER BY c.number, c.cell_id"#,
        experiment
    )
    .fetch_all(tx.connection())
    .await?;
    let cells = cells.into_iter().map(|row| {
        let added = row.asked_after.zip(row.definition_json).map(|(after, json)| {
            let definition: CellDefinition = serde_json::from_str(&json)
                .map_err(|error| StoreError::Sql(sqlx::Error::Decode(error.into())))?;
            let new = NewCell {
                definition,
                player_names: [row.first_player_name, row.second_player_name],
                axes: axes.remove(&row.cell_id).unwrap_or_default(),
                games: row.games_planned,
                timed: row.timed,
                repeats: row.repeats,
                openings_count: row.openings_count,
            };
            Ok::<_, StoreError>((after, new))
        });
        Ok(StoredCell {
            cell: CellId(row.cell_id),
            added: added.transpose()?,
            outcome: outcomes.remove(&row.cell_id),
        })
    });
    cells.collect()
}

/// The places of the cells that an experiment's course asked for, each in the order of the axes.
async fn axes_of_added(
    tx: &mut Transaction<'_>,
    experiment: i64,
) -> Result<BTreeMap<i64, Vec<(String, AxisValue)>>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT a.cell_id AS "cell_id!", a.axis, a.value_number, a.value_text
        FROM cells AS c
        CROSS JOIN experiment_axes AS x ON x.experiment_id = c.experiment_id
        CROSS JOIN cell_axes AS a ON a.cell_id = c.cell_id AND a.axis = x.axis
        WHERE c.experiment_id = ? AND c.asked_after IS NOT NULL ORDER BY c.number, x.number"#,
        experiment
    )
    .fetch_all(tx.connection())
    .await?;
    let mut axes: BTreeMap<i64, Vec<(String, AxisValue)>> = BTreeMap::new();
    for row in found {
        let value = AxisValue { number: row.value_number, text: row.value_text };
        axes.entry(row.cell_id).or_default().push((row.axis, value));
    }
    Ok(axes)
}

/// A row of `told_cells`.
struct OutcomeRow {
    cell_id: i64,
    number: i64,
    games: u64,
    games_failed: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    pairs_0: u64,
    pairs_half: u64,
    pairs_1: u64,
    pairs_1_half: u64,
    pairs_2: u64,
    margin_sum: i64,
}

impl From<OutcomeRow> for CellOutcome {
    fn from(row: OutcomeRow) -> Self {
        let pairs = [row.pairs_0, row.pairs_half, row.pairs_1, row.pairs_1_half, row.pairs_2];
        Self {
            // A training has a number below zero.
            number: u64::try_from(row.number).unwrap_or(0),
            games: row.games,
            games_failed: row.games_failed,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            pairs: PairCounts(pairs),
            margin_sum: row.margin_sum,
        }
    }
}
