//! The files that sweeps name, stored as submitted.

use std::collections::BTreeMap;

use spelrum_model::ExperimentId;
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::transaction::Transaction;

/// The files of an experiment's sweep, by name.
pub(crate) async fn files(
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<BTreeMap<String, String>, StoreError> {
    let found =
        sqlx::query!("SELECT name, text FROM experiment_files WHERE experiment_id = ?", experiment)
            .fetch_all(connection)
            .await?;
    Ok(found.into_iter().map(|file| (file.name, file.text)).collect())
}

/// Stores files for an experiment's sweep, replacing previous ones.
///
/// # Errors
/// If the database fails.
pub(crate) async fn keep(
    tx: &mut Transaction<'_>,
    experiment: ExperimentId,
    files: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    sqlx::query!("DELETE FROM experiment_files WHERE experiment_id = ?", experiment.0)
        .execute(tx.connection())
        .await?;
    let files = rows(&files.iter().collect::<Vec<_>>())?;
    sqlx::query!(
        "INSERT INTO experiment_files (experiment_id, name, text)
        SELECT ?1, value ->> 0, value ->> 1 FROM jsonb_each(?2)",
        experiment.0,
        files
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}
