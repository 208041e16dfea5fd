//! Claims: what sweeps stated, and which claims came late or were withdrawn.

use serde::Deserialize;
use spelrum_answers::{ClaimOf, ExperimentSummary, StatedCell, StatedClaim};
use spelrum_model::claims::{ClaimStanding, Statement};
use spelrum_model::{CellId, ExperimentId, Role};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::encoding::rows;
use crate::write::claims::hash;

/// Maximum number of claims in one status: well below the size limit of a message (invariant 9).
const TOLD_MAX: i64 = 1_000;

impl Readers {
    /// Returns the late claims of these experiments, and those that their sweeps no longer state: at most a thousand.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn claims_to_report(
        &self,
        experiments: &[ExperimentSummary],
    ) -> Result<Vec<ClaimOf>, StoreError> {
        let list: Vec<i64> = experiments.iter().map(|summary| summary.experiment.0).collect();
        let list = rows(&list)?;
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            let found = sqlx::query!(
                r#"SELECT l.experiment_id AS "experiment_id!", l.text AS "text!",
                    l.exploratory AS "exploratory!", l.in_sweep AS "in_sweep!"
                FROM json_each(?1) AS j
                CROSS JOIN claims AS l ON l.experiment_id = j.value
                WHERE l.exploratory = 1 OR l.in_sweep = 0
                ORDER BY l.experiment_id, l.number LIMIT ?2"#,
                list,
                TOLD_MAX
            )
            .fetch_all(&mut *snapshot)
            .await?;
            let found = found.into_iter().map(|row| ClaimOf {
                experiment: ExperimentId(row.experiment_id),
                claim: ClaimStanding {
                    text: row.text,
                    is_late: row.exploratory,
                    in_sweep: row.in_sweep,
                },
            });
            Ok(found.collect())
        };
        self.in_time(reading).await
    }
}

/// A cell of a claim's list.
#[derive(Deserialize)]
struct CellOfList(i64, String, u64);

/// Claims about an experiment's results, in the order in which its sweep stated them.
pub(crate) async fn stated_claims(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<StatedClaim>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT l.text, l.definition_json, l.hash, l.exploratory, l.in_sweep, l.stop_rule,
            (SELECT json_group_array(json_array(k.cell_id, k.player, k.games) ORDER BY k.number)
                FROM claim_cells AS k WHERE k.claim_id = l.claim_id) AS "cells!: String"
        FROM claims AS l WHERE l.experiment_id = ? ORDER BY l.number"#,
        experiment.0
    )
    .fetch_all(connection)
    .await?;
    let mut claims = Vec::with_capacity(found.len());
    for row in found {
        let list: Vec<CellOfList> = serde_json::from_str(&row.cells).map_err(decoded)?;
        let cell = |CellOfList(cell, player, games): CellOfList| {
            let player =
                Role::named(&player).ok_or(StoreError::Missing { what: "a claim's player" })?;
            Ok(StatedCell { cell: CellId(cell), player, games })
        };
        claims.push(StatedClaim {
            statement: Statement::from_definition(&row.definition_json)
                .ok_or(StoreError::Missing { what: "a claim's definition" })?,
            hash: hash(&row.hash)?,
            text: row.text,
            is_late: row.exploratory,
            in_sweep: row.in_sweep,
            stop_rule: row.stop_rule,
            cells: list.into_iter().map(cell).collect::<Result<_, StoreError>>()?,
            estimates: Vec::new(),
            means: Vec::new(),
            leads: Vec::new(),
        });
    }
    Ok(claims)
}

fn decoded(error: serde_json::Error) -> StoreError {
    sqlx::Error::Decode(error.into()).into()
}
