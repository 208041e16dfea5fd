//! Distinct games of a cell.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::transaction::Transaction;

/// The common key of identical games of a cell: cell, hash of the moves, opening and first mover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Likeness(pub(crate) i64, pub(crate) i64, pub(crate) i64, pub(crate) i64);

/// The keys among these that have a counted game.
pub(crate) async fn counted_likes(
    tx: &mut Transaction<'_>,
    likes: &BTreeSet<Likeness>,
) -> Result<BTreeSet<Likeness>, StoreError> {
    let keys: Vec<_> = likes.iter().copied().collect();
    let list = rows(&keys)?;
    // Query each key for any one game: a cell can repeat one game a million times.
    let known = sqlx::query_scalar!(
        r#"SELECT j.key + 0 AS "key!: i64" FROM jsonb_each(?) AS j
        WHERE EXISTS (
            SELECT 1 FROM games AS g
            WHERE g.counted = 1 AND g.cell_id = j.value ->> 0
                AND g.moves_hash = j.value ->> 1 AND g.opening_id = j.value ->> 2
                AND g.first_player_id = j.value ->> 3)"#,
        list
    )
    .fetch_all(tx.connection())
    .await?;
    let known = known.into_iter().filter_map(|index| keys.get(usize::try_from(index).ok()?));
    Ok(known.copied().collect())
}
