//! External engines: which one played each settled game, and the fault by which one lost it. Games without external
//! engines cost no writes and hardly any reads.

use std::collections::BTreeSet;

use serde::Serialize;
use spelrum_model::engines::{EngineIdentity, Forfeit};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::checked_games::Checked;
use crate::write::game_digests::{self, NewDigests};
use crate::write::transaction::Transaction;

/// The external engines of a game: the first mover's, and the other player's.
pub(crate) type Engines = [Option<EngineIdentity>; 2];

/// A program as in `engines`: name, author and SHA-256.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct EngineRow<'g>(&'g str, &'g str, String);

impl<'g> EngineRow<'g> {
    fn from_identity(identity: &'g EngineIdentity) -> Self {
        Self(&identity.name, &identity.author, identity.sha256_hex())
    }
}

/// Stores the external engines of games with successive ids, and the faults by which these were lost.
pub(crate) async fn insert(
    tx: &mut Transaction<'_>,
    first_id: i64,
    games: &[Checked<'_>],
    digests: &mut NewDigests,
) -> Result<(), StoreError> {
    let mut kept = Vec::new();
    for (id, game) in (first_id..).zip(games) {
        let played = game.played;
        if played.engines.iter().any(Option::is_some) || played.forfeit.is_some() {
            keep(tx, id, &played.engines, played.forfeit.as_ref()).await?;
            kept.push(id);
        }
    }
    if kept.is_empty() {
        return Ok(());
    }
    game_digests::add_stored(tx, &["game_engines", "forfeits"], &kept, digests).await
}

/// The same for one game: such games are few, since each takes its programs a while.
pub(crate) async fn keep(
    tx: &mut Transaction<'_>,
    game: i64,
    engines: &Engines,
    forfeit: Option<&Forfeit>,
) -> Result<(), StoreError> {
    let sides =
        || (0_u8..).zip(engines).filter_map(|(side, engine)| Some((side, engine.as_ref()?)));
    if sides().next().is_some() {
        let programs: BTreeSet<_> =
            sides().map(|(_, engine)| EngineRow::from_identity(engine)).collect();
        let programs = rows(&programs.into_iter().collect::<Vec<_>>())?;
        sqlx::query!(
            "INSERT INTO engines (name, author, sha256)
            SELECT j.value ->> 0, j.value ->> 1, j.value ->> 2 FROM jsonb_each(?) AS j
            WHERE NOT EXISTS (
                SELECT 1 FROM engines AS e WHERE e.name = j.value ->> 0
                    AND e.author = j.value ->> 1 AND e.sha256 = j.value ->> 2)",
            programs
        )
        .execute(tx.connection())
        .await?;
        let list: Vec<_> =
            sides().map(|(side, engine)| (side, EngineRow::from_identity(engine))).collect();
        let list = rows(&list)?;
        sqlx::query!(
            "INSERT INTO game_engines (game_id, side, engine_id)
            SELECT ?1, j.value ->> 0, e.engine_id
            FROM jsonb_each(?2) AS j
            JOIN engines AS e ON e.name = j.value ->> '$[1][0]'
                AND e.author = j.value ->> '$[1][1]' AND e.sha256 = j.value ->> '$[1][2]'",
            game,
            list
        )
        .execute(tx.connection())
        .await?;
    }
    if let Some(Forfeit { message, output }) = forfeit {
        sqlx::query!(
            "INSERT INTO forfeits (game_id, message, output) VALUES (?, ?, ?)",
            game,
            message,
            output
        )
        .execute(tx.connection())
        .await?;
    }
    Ok(())
}

/// Deletes both for removed games.
pub(crate) async fn remove(tx: &mut Transaction<'_>, games: &str) -> Result<(), StoreError> {
    sqlx::query!(
        "DELETE FROM game_engines WHERE game_id IN (SELECT value FROM json_each(?))",
        games
    )
    .execute(tx.connection())
    .await?;
    sqlx::query!("DELETE FROM forfeits WHERE game_id IN (SELECT value FROM json_each(?))", games)
        .execute(tx.connection())
        .await?;
    Ok(())
}
