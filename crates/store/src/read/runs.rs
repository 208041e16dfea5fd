//! Results of the runs of an experiment with a course.

use spelrum_answers::{FAMILY_MAX, RunResult, runs_of};
use spelrum_model::ExperimentId;
use spelrum_model::course::{Note, Noted};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::numbers::integer;

impl Readers {
    /// Returns the results so far of an experiment's runs, in the order of their numbers; empty for an experiment that
    /// does not depend on its own results.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn runs(&self, experiment: ExperimentId) -> Result<Vec<RunResult>, StoreError> {
        self.in_time(async {
            let mut snapshot = self.snapshot().await?;
            runs(&mut snapshot, experiment).await
        })
        .await
    }
}

/// Results so far of an experiment's runs. Only the latest estimates are read, and of the bred individuals only the
/// best of the latest generation and its ancestors.
pub(crate) async fn runs(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<RunResult>, StoreError> {
    let mut notes = sqlx::query_as!(
        NoteRow,
        r#"SELECT n.run, n.kind, n.step, n.trial, n.note FROM course_notes AS n
        WHERE n.experiment_id = ?1 AND (n.kind IN ('begun', 'confirmed', 'ended', 'generation')
            OR n.kind = 'estimated' AND n.step = (
                SELECT max(x.step) FROM course_notes AS x
                WHERE x.experiment_id = ?1 AND x.run = n.run AND x.kind = 'estimated'))"#,
        experiment.0
    )
    .fetch_all(&mut *connection)
    .await?;
    // Each breeding generation contributes at least one member of a family, so no more generations are read than are
    // shown; elite individuals are followed to where they were bred.
    let generations = integer(FAMILY_MAX as u64);
    let families = sqlx::query_as!(
        NoteRow,
        r#"WITH RECURSIVE
        latest (run, generation, best) AS (
            SELECT n.run, n.step, CAST(n.note ->> 'best_individual' AS INTEGER)
            FROM course_notes AS n
            WHERE n.experiment_id = ?1 AND n.kind = 'generation' AND n.step = (
                SELECT max(x.step) FROM course_notes AS x
                WHERE x.experiment_id = ?1 AND x.run = n.run AND x.kind = 'generation')
        ),
        family (run, generation, individual, distance) AS (
            SELECT run, generation, best, 1 FROM latest
            UNION
            SELECT f.run, f.generation - 1, p.value,
                f.distance + (n.note ->> 'operator' <> 'elite')
            FROM family AS f
            CROSS JOIN course_notes AS n ON n.experiment_id = ?1 AND n.run = f.run
                AND n.kind = 'individual' AND n.step = f.generation AND n.trial = f.individual
            CROSS JOIN json_each(n.note, '$.parents') AS p
            WHERE f.distance < ?2
        )
        SELECT n.run AS "run!", n.kind, n.step AS "step!", n.trial AS "trial!", n.note
        FROM family AS f
        CROSS JOIN course_notes AS n ON n.experiment_id = ?1 AND n.run = f.run
            AND n.kind IN ('individual', 'scored') AND n.step = f.generation
            AND n.trial = f.individual"#,
        experiment.0,
        generations
    )
    .fetch_all(connection)
    .await?;
    notes.extend(families);
    let notes = notes.into_iter().map(|row| {
        let place = (row.step, row.trial);
        let note = Note::read(&row.kind, place, &row.note)
            .map_err(|error| StoreError::Sql(sqlx::Error::Decode(error.into())))?;
        Ok(note.map(|note| Noted { run: row.run, note }))
    });
    let notes = notes.collect::<Result<Vec<_>, StoreError>>()?;
    Ok(runs_of(notes.into_iter().flatten()))
}

/// A row of `course_notes`.
struct NoteRow {
    run: u64,
    kind: String,
    step: u64,
    trial: u64,
    note: String,
}
