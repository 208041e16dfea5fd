//! Claims: what a sweep states of its results, and what a changed sweep makes of what was stated.

use serde::Deserialize;
use spelrum_tournament::claims::{
    ClaimHash, ClaimStanding, ClaimedCell, KnownClaim, Restated, Restatement, Statement,
};
use spelrum_tournament::results::{ClaimOf, ExperimentSummary, StatedCell, StatedClaim};
use spelrum_tournament::{CellId, ExperimentId, Plan, Role};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::read::readers::Readers;
use crate::schema::encoding::rows;
use crate::schema::numbers::{count, unsigned};
use crate::write::transaction::Transaction;

/// A claim that an experiment has, with its id.
struct ClaimRow {
    id: i64,
    known: KnownClaim,
}

/// A cell of a claim's list.
#[derive(Deserialize)]
struct CellOfList(i64, String, i64);

/// Claims in one status: well below the bytes of a message (invariant 9).
const TOLD_MAX: i64 = 1_000;

impl Readers {
    /// The claims of these experiments that came late, or that stay though their sweep states them no longer: at
    /// most a thousand.
    ///
    /// # Errors
    /// If the database fails, or takes too long.
    pub async fn claims_to_tell(
        &self,
        of: &[ExperimentSummary],
    ) -> Result<Vec<ClaimOf>, StoreError> {
        let list: Vec<i64> = of.iter().map(|it| it.experiment.0).collect();
        let list = rows(&list)?;
        let reading = async {
            let mut snapshot = self.snapshot().await?;
            let found = sqlx::query!(
                r#"SELECT l.experiment_id AS "experiment_id!: i64", l.text AS "text!: String",
                    l.exploratory AS "exploratory!: bool", l.in_sweep AS "in_sweep!: bool"
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

/// Makes of an experiment's claims what a plan says, whose cells are stored.
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
    let restatement = Restatement::of(plan, &known, has_settled);
    for (row, (becomes, claim)) in rows.iter().zip(&restatement.known) {
        match becomes {
            Restated::Withdrawn => drop_claim(tx, row.id).await?,
            Restated::Stays | Restated::Again => {
                set_claim_in_sweep(tx, row.id, *becomes == Restated::Again).await?;
            }
        }
        // Before the first game it is stated of what its cells are now.
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
            RETURNING claim_id AS "claim_id!: i64""#,
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

/// Stores in which cells a plan's claim is stated, with the games that these are to have now.
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
    // CROSS JOIN holds SQLite to this order: each hash is looked up.
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

/// Removes what claims there are of cells.
pub(crate) async fn remove_cells(tx: &mut Transaction<'_>, cells: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM claim_cells WHERE cell_id IN (SELECT value FROM json_each(?))",
        cells
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

/// What a submit of this plan would leave of an experiment's claims. Changes nothing.
pub(crate) async fn restated(
    connection: &mut SqliteConnection,
    experiment: i64,
    plan: &Plan,
) -> Result<Vec<ClaimStanding>, StoreError> {
    let known: Vec<KnownClaim> =
        claims(connection, experiment).await?.into_iter().map(|row| row.known).collect();
    let has_settled = has_settled(connection, experiment).await?;
    Ok(Restatement::of(plan, &known, has_settled).standings(plan, &known))
}

/// How an experiment's claims stand.
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
        r#"SELECT claim_id AS "claim_id!: i64", text, hash, exploratory AS "exploratory: bool",
            in_sweep AS "in_sweep: bool"
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

/// Whether a game of an experiment has, or had, a settled result, whatever it is.
async fn has_settled(
    connection: &mut SqliteConnection,
    experiment: i64,
) -> Result<bool, StoreError> {
    // Of each cell the first game that the index finds.
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

/// What an experiment's sweep stated of its results, in the order in which it did.
pub(crate) async fn stated_claims(
    connection: &mut SqliteConnection,
    experiment: ExperimentId,
) -> Result<Vec<StatedClaim>, StoreError> {
    let found = sqlx::query!(
        r#"SELECT l.text, l.definition_json, l.hash, l.exploratory AS "exploratory: bool",
            l.in_sweep AS "in_sweep: bool", l.stop_rule,
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
            Ok(StatedCell { cell: CellId(cell), player, games: unsigned(games) })
        };
        claims.push(StatedClaim {
            statement: Statement::of_definition(&row.definition_json)
                .ok_or(StoreError::Missing { what: "a claim's definition" })?,
            hash: hash(&row.hash)?,
            text: row.text,
            is_late: row.exploratory,
            in_sweep: row.in_sweep,
            stop_rule: row.stop_rule,
            cells: list.into_iter().map(cell).collect::<Result<_, StoreError>>()?,
        });
    }
    Ok(claims)
}

fn hash(text: &str) -> Result<ClaimHash, StoreError> {
    text.parse().map_err(|_| StoreError::Missing { what: "a claim's hash" })
}

fn decoded(error: serde_json::Error) -> StoreError {
    sqlx::Error::Decode(error.into()).into()
}
