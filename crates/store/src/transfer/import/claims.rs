//! Claims in a file, imported as stated, including those that the sweep no longer states.

use rusqlite::Connection;
use spelrum_model::Role;
use spelrum_model::claims::{CLAIM_TEXT_BYTES_MAX, Statement, cells_of_definition, claim_hash};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::file_fields::{NAME_BYTES_MAX, TEXT_BYTES_MAX, text};
use crate::write::transaction::Transaction;

/// A claim, with its cells by the hashes of their definitions.
pub(super) struct SourceClaim {
    pub(super) text: String,
    pub(super) definition_json: String,
    pub(super) hash: String,
    pub(super) submitted_unix_us: i64,
    pub(super) is_late: bool,
    pub(super) in_sweep: bool,
    pub(super) stop_rule: Option<String>,
    pub(super) cells: Vec<SourceClaimCell>,
}

/// A cell of a claim: its hash, the player, and the number of planned games.
pub(super) type SourceClaimCell = (String, String, i64);

/// The claims of an experiment.
pub(super) fn read(connection: &Connection, experiment: i64) -> rusqlite::Result<Vec<SourceClaim>> {
    let mut claims = connection
        .prepare(
            "SELECT text, definition_json, hash, submitted_unix_us, exploratory, in_sweep, stop_rule, claim_id
            FROM claims WHERE experiment_id = ? ORDER BY number",
        )?
        .query_map([experiment], |row| {
            let claim = SourceClaim {
                text: text(row, 0, NAME_BYTES_MAX)?,
                definition_json: text(row, 1, TEXT_BYTES_MAX)?,
                hash: text(row, 2, NAME_BYTES_MAX)?,
                submitted_unix_us: row.get(3)?,
                is_late: row.get(4)?,
                in_sweep: row.get(5)?,
                stop_rule: row.get(6)?,
                cells: Vec::new(),
            };
            Ok((row.get::<_, i64>(7)?, claim))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut cells = connection.prepare(
        "SELECT c.definition_hash, k.player, k.games
        FROM claim_cells AS k JOIN cells AS c ON c.cell_id = k.cell_id
        WHERE k.claim_id = ? ORDER BY k.number",
    )?;
    for (id, claim) in &mut claims {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        claim.cells = cells.query_map([*id], read)?.collect::<rusqlite::Result<_>>()?;
    }
    Ok(claims.into_iter().map(|(_, claim)| claim).collect())
}

/// Whether a claim is intact: its hash matches its statement and cells.
pub(super) fn is_whole(claim: &SourceClaim) -> bool {
    let cell = |(hash, player, games): &SourceClaimCell| {
        Some((hash.clone(), Role::named(player).filter(|_| *games > 0)?))
    };
    let cells: Option<Vec<(String, Role)>> = claim.cells.iter().map(cell).collect();
    claim.hash == claim_hash(&claim.text, &claim.definition_json).to_string()
        && claim.text.len() <= CLAIM_TEXT_BYTES_MAX
        && !claim.text.contains(char::is_control)
        && Statement::from_definition(&claim.definition_json).is_some_and(|statement| {
            claim.cells.is_empty() == statement.about.is_of_runs()
                && claim.cells.len().is_multiple_of(statement.cells_of_case())
        })
        && cells.is_some()
        && cells == cells_of_definition(&claim.definition_json)
}

/// Replaces an experiment's claims. Its cells are already stored.
pub(super) async fn import_claims(
    tx: &mut Transaction<'_>,
    experiment: i64,
    claims: &[SourceClaim],
) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM claim_cells
        WHERE claim_id IN (SELECT claim_id FROM claims WHERE experiment_id = ?)",
        experiment
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!("DELETE FROM claims WHERE experiment_id = ?", experiment)
        .execute(tx.connection())
        .await?;
    for (claim, number) in claims.iter().zip(0_i64..) {
        let id = sqlx::query_scalar!(
            r#"INSERT INTO claims (experiment_id, number, text, definition_json, hash,
                submitted_unix_us, exploratory, in_sweep, stop_rule)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            RETURNING claim_id AS "claim_id!""#,
            experiment,
            number,
            claim.text,
            claim.definition_json,
            claim.hash,
            claim.submitted_unix_us,
            claim.is_late,
            claim.in_sweep,
            claim.stop_rule
        )
        .fetch_one(tx.connection())
        .await?;
        let cells = rows(&claim.cells)?;
        sqlx::query!(
            "INSERT INTO claim_cells (claim_id, number, cell_id, player, games)
            SELECT ?2, j.key, c.cell_id, j.value ->> 1, j.value ->> 2
            FROM json_each(?3) AS j
            CROSS JOIN cells AS c ON c.definition_hash = j.value ->> 0 AND c.experiment_id = ?1",
            experiment,
            id,
            cells
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(())
}
