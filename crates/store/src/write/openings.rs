//! Openings: positions that games start from.

use std::collections::BTreeSet;

use spelrum_engine::games::Chess;
use spelrum_engine::{Game as _, tables};

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::cache::Cache;
use crate::write::transaction::Transaction;

/// Reads openings into the cache, and stores new ones.
pub(crate) async fn fill_openings(
    tx: &mut Transaction<'_>,
    openings: impl Iterator<Item = (&str, &str)>,
) -> Result<(), StoreError> {
    let openings: BTreeSet<(&str, &str)> = openings.collect();
    if tx.cache.openings.len() + openings.len() > Cache::ENTRIES_MAX {
        tx.cache.openings.clear();
    }
    let missing: Vec<(String, String)> = openings
        .into_iter()
        .map(|(game, position)| (game.to_owned(), position.to_owned()))
        .filter(|name| !tx.cache.openings.contains_key(name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let plies = |(game, position): &(String, String)| plies_to_mate(game, position);
    let list: Vec<_> = missing.iter().map(|name| (&name.0, &name.1, plies(name))).collect();
    let list = rows(&list)?;
    sqlx::query!(
        "INSERT INTO openings (game, position, plies_to_mate)
        SELECT value ->> 0, value ->> 1, value ->> 2 FROM jsonb_each(?) WHERE true
        ON CONFLICT (game, position) DO NOTHING",
        list
    )
    .execute(tx.connection())
    .await?;
    let found = sqlx::query!(
        r#"SELECT o.opening_id AS "opening_id!", o.game, o.position
        FROM jsonb_each(?) AS j
        JOIN openings AS o ON o.game = j.value ->> 0 AND o.position = j.value ->> 1"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let found = found.into_iter().map(|row| ((row.game, row.position), row.opening_id));
    tx.cache.openings.extend(found);
    Ok(())
}

/// Plies to mate from an opening drawn from an ending; programs that draw, play or referee such games have the
/// ending's table. `None` for other openings.
fn plies_to_mate(game: &str, position: &str) -> Option<u32> {
    // Two kings and two other pieces, with the side to move and the counters.
    const BYTES_MAX: usize = 64;
    if game != Chess::NAME || position.len() > BYTES_MAX {
        return None;
    }
    let position = Chess::parse(&Chess::rules(), position).ok()?;
    tables::known_value(&position)?.plies()
}
