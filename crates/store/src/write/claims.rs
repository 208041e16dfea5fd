//! Claims: a sweep's statements about its results, and their updates when the sweep changes.

use spelrum_model::Plan;
use spelrum_model::claims::{
    ClaimHash, ClaimStanding, ClaimedCell, KnownClaim, Restated, Restatement,
};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::schema::numbers::count;
use crate::write::transaction::Transaction;

/// A claim that an experiment has, with its id.
struct ClaimRow {
    id: i64,
    known: KnownClaim,
}

/// Updates an experiment's claims to a plan whose cells are stored.
pub(crate) async fn state(
    tx: &mut Transaction<'_>,
    experiment: i64,
    plan: &Plan,
) -> Result<Vec<ClaimStanding>, StoreError> {
    let rows = claims(tx.connection(), experiment).await?;
    if rows.is_empty() && plan.claims.is_empty() {
        return Ok(Vec::new());
    }
    let has_settled = has_settled(tx.connection(), experiment).await?;
    let known: Vec<KnownClaim> = rows.iter().map(|row| row.known.clone()).collect();
    let restatement = Restatement::new(plan, &known, has_settled);
    for (row, (becomes, claim)) in rows.iter().zip(&restatement.known) {
        match becomes {
            Restated::Withdrawn => drop_claim(tx, row.id).await?,
            Restated::Stays | Restated::Again => {
                set_claim_in_sweep(tx, row.id, *becomes == Restated::Again).await?;
            }
        }
        // Before the first game, a claim covers the current cells.
        if let Some(claim) = claim.filter(|_| !has_settled) {
            drop_claim_cells(tx, row.id).await?;
            set_claim_rule(tx, row.id, plan).await?;
            insert_claim_cells(tx, experiment, row.id, plan, claim).await?;
        }
    }
    for added in &restatement.added {
        let (claim, now) = (&plan.claims[added.claim], tx.now_unix_us);
        let (hash, rule) = (added.hash.to_string(), plan.stop.map(|rule| rule.to_string()));
        let id = sqlx::query_scalar!(
            r#"INSERT INTO claims (experiment_id, number, text, definition_json, hash,
                submitted_unix_us, exploratory, in_sweep, stop_rule)
            SELECT ?1, coalesce(max(number) + 1, 0), ?2, ?3, ?4, ?5, ?6, 1, ?7
            FROM claims WHERE experiment_id = ?1
            RETURNING claim_id AS "claim_id!""#,
            experiment,
            claim.text,
            added.definition_json,
            hash,
            now,
            added.is_late,
            rule
        )
        .fetch_one(tx.connection())
        .await?;
        insert_claim_cells(tx, experiment, id, plan, added.claim).await?;
    }
    Ok(restatement.standings(plan, &known))
}

async fn drop_claim(tx: &mut Transaction<'_>, claim: i64) -> Result<(), StoreError> {
    drop_claim_cells(tx, claim).await?;
    sqlx::query!("DELETE FROM claims WHERE claim_id = ?", claim).execute(tx.connection()).await?;
    Ok(())
}

async fn drop_claim_cells(tx: &mut Transaction<'_>, claim: i64) -> Result<(), StoreError> {
    sqlx::query!("DELETE FROM claim_cells WHERE claim_id = ?", claim)
        .execute(tx.connection())
        .await?;
    Ok(())
}

async fn set_claim_in_sweep(
    tx: &mut Transaction<'_>,
    claim: i64,
    in_sweep: bool,
) -> Result<(), StoreError> {
    sqlx::query!("UPDATE claims SET in_sweep = ?2 WHERE claim_id = ?1", claim, in_sweep)
        .execute(tx.connection())
        .await?;
    Ok(())
}

async fn set_claim_rule(
    tx: &mut Transaction<'_>,
    claim: i64,
    plan: &Plan,
) -> Result<(), StoreError> {
    let rule = plan.stop.map(|rule| rule.to_string());
    sqlx::query!("UPDATE claims SET stop_rule = ?2 WHERE claim_id = ?1", claim, rule)
        .execute(tx.connection())
        .await?;
    Ok(())
}

/// Stores the cells of a plan's claim, with the games planned for them now.
async fn insert_claim_cells(
    tx: &mut Transaction<'_>,
    experiment: i64,
    id: i64,
    plan: &Plan,
    claim: usize,
) -> Result<(), StoreError> {
    let cell = |(number, claimed): (usize, &ClaimedCell)| {
        let hash = plan.cells[claimed.cell].definition_hash.to_string();
        (count(number), hash, claimed.player.name())
    };
    let cells: Vec<(i64, String, &str)> =
        plan.claims[claim].cells.iter().enumerate().map(cell).collect();
    let cells = rows(&cells)?;
    // CROSS JOIN forces SQLite to use this order: each hash is looked up.
    sqlx::query!(
        "INSERT INTO claim_cells (claim_id, number, cell_id, player, games)
        SELECT ?2, j.value ->> 0, c.cell_id, j.value ->> 2, c.games_planned
        FROM json_each(?3) AS j
        CROSS JOIN cells AS c ON c.definition_hash = j.value ->> 1 AND c.experiment_id = ?1",
        experiment,
        id,
        cells
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// Removes the claims about cells.
pub(crate) async fn remove_cells(tx: &mut Transaction<'_>, cells: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM claim_cells WHERE cell_id IN (SELECT value FROM json_each(?))",
        cells
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// The claims of an experiment after a submit of this plan. Changes nothing.
pub(crate) async fn restated(
    connection: &mut SqliteConnection,
    experiment: i64,
    plan: &Plan,
) -> Result<Vec<ClaimStanding>, StoreError> {
    let known: Vec<KnownClaim> =
        claims(connection, experiment).await?.into_iter().map(|row| row.known).collect();
    let has_settled = has_settled(connection, experiment).await?;
    Ok(Restatement::new(plan, &known, has_settled).standings(plan, &known))
}

/// The standings of an experiment's claims.
pub(crate) async fn standings(
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<Vec<ClaimStanding>, StoreError> {
    Ok(claims(connection, experiment).await?.into_iter().map(|row| row.known.into()).collect())
}

async fn claims(
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<Vec<ClaimRow>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT claim_id AS "claim_id!", text, hash, exploratory, in_sweep
        FROM claims WHERE experiment_id = ? ORDER BY number"#,
        experiment
    )
    .fetch_all(connection)
    .await?;
    let mut rows = Vec::with_capacity(found.len());
    for row in found {
        let known = KnownClaim {
            hash: hash(&row.hash)?,
            text: row.text,
            is_late: row.exploratory,
            in_sweep: row.in_sweep,
        };
        rows.push(ClaimRow { id: row.claim_id, known });
    }
    Ok(rows)
}

/// Whether any game of an experiment has, or had, a settled result.
async fn has_settled(
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<bool, StoreError> {
    // The first game that the index finds in each cell.
    Ok(sqlx::query_scalar!(
        r#"SELECT EXISTS (
            SELECT 1 FROM cells AS c CROSS JOIN games AS g ON g.cell_id = c.cell_id
            WHERE c.experiment_id = ?1
            UNION ALL
            -- What was taken out since has been seen.
            SELECT 1 FROM cells AS c CROSS JOIN uncounted_games AS u ON u.cell_id = c.cell_id
            WHERE c.experiment_id = ?1 AND u.reason IN ('disturbed', 'excluded'))
                AS "any!: bool""#,
        experiment
    )
    .fetch_one(connection)
    .await?)
}

pub(crate) fn hash(text: &str) -> Result<ClaimHash, StoreError> {
    text.parse().map_err(|_| StoreError::Missing { what: "a claim's hash" })
}
