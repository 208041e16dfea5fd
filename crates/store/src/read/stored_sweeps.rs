//! Stored texts of sweeps, with the builds of their engines.

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::write::submit::awaits_builds;
use crate::write::sweep_files::files;

/// The text of an experiment's sweep.
#[derive(Clone, Debug)]
pub struct StoredSweep {
    /// The experiment's UUID.
    pub uuid: String,
    /// The experiment's name.
    pub name: String,
    /// The sweep's text.
    pub toml: String,
    /// The files that the sweep names.
    pub files: BTreeMap<String, String>,
    /// Whether the given submit was already carried out.
    pub repeated: bool,
}

impl Readers {
    /// Returns the sweep of a submit's experiment, if there is one: for a repeated submit, the experiment it was for;
    /// otherwise the newest unfinished one of the name, or else the newest.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn stored_sweep(
        &self,
        uuid: &str,
        name: Option<&str>,
    ) -> Result<Option<StoredSweep>, StoreError> {
        let found = sqlx::query!(
            r#"SELECT e.uuid, e.name, e.sweep_toml, v.uuid IS NOT NULL AS "repeated!: bool"
            FROM experiments AS e
            LEFT JOIN sweep_versions AS v ON v.experiment_id = e.experiment_id AND v.uuid = ?1
            WHERE e.experiment_id IN (
                SELECT experiment_id FROM sweep_versions WHERE uuid = ?1
                UNION ALL SELECT experiment_id FROM experiments WHERE name = ?2)
            ORDER BY v.uuid IS NULL, e.state NOT IN ('running', 'paused'), e.experiment_id DESC
            LIMIT 1"#,
            uuid,
            name
        )
        .fetch_optional(self.reads())
        .await?;
        Ok(found.map(|row| StoredSweep {
            uuid: row.uuid,
            name: row.name,
            toml: row.sweep_toml,
            files: BTreeMap::new(),
            repeated: row.repeated,
        }))
    }

    /// Returns the sweeps of open experiments that wait for the builds of their engines, oldest first.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn sweeps_that_await_builds(&self) -> Result<Vec<StoredSweep>, StoreError> {
        let mut connection = self.reads().acquire().await?;
        let found = sqlx::query!(
            r#"SELECT experiment_id AS "experiment_id!", uuid, name, sweep_toml FROM experiments
            WHERE state IN ('running', 'paused') AND instr(sweep_toml, '= "awaited"') > 0
            ORDER BY experiment_id"#
        )
        .fetch_all(&mut *connection)
        .await?;
        let mut sweeps = Vec::new();
        for row in found.into_iter().filter(|row| awaits_builds(&row.sweep_toml)) {
            sweeps.push(StoredSweep {
                uuid: row.uuid,
                name: row.name,
                toml: row.sweep_toml,
                files: files(&mut connection, row.experiment_id).await?,
                repeated: false,
            });
        }
        Ok(sweeps)
    }
}
