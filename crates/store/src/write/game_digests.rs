//! The digests of games: written with them, and updated when their moves are dropped.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use sqlx::sqlite::SqliteRow;
use sqlx::{
    AssertSqlSafe, Column as _, Row as _, Sqlite, SqliteConnection, TypeInfo as _, Value as _,
    ValueRef as _,
};

use crate::check::row_digests::{GAME_TABLES, RowEncoder, Tags, stored};
use crate::error::StoreError;
use crate::schema::encoding::rows;
use crate::write::insert::{Row, Statements, Values, insert};
use crate::write::transaction::Transaction;

/// The digests of games with successive ids, computed while their rows are inserted.
#[derive(Debug)]
pub(crate) struct NewDigests {
    first_id: i64,
    digests: Vec<u64>,
}

impl NewDigests {
    pub(crate) fn new(first_id: i64, games: usize) -> Self {
        Self { first_id, digests: vec![0; games] }
    }

    /// Adds a row of a game.
    pub(crate) fn add(&mut self, game: i64, row: u64) {
        let index = usize::try_from(game - self.first_id).ok();
        if let Some(digest) = index.and_then(|index| self.digests.get_mut(index)) {
            *digest ^= row;
        }
    }

    fn rows(&self) -> Vec<DigestRow> {
        let digests = self.digests.iter().map(|digest| stored(*digest));
        (self.first_id..).zip(digests).map(|(game, digest)| DigestRow(game, digest)).collect()
    }
}

/// A row of `game_digests`.
struct DigestRow(i64, i64);

impl Row for DigestRow {
    fn statements() -> &'static Statements {
        static STATEMENTS: std::sync::LazyLock<Statements> =
            std::sync::LazyLock::new(|| Statements::new("game_digests", "game_id, digest"));
        &STATEMENTS
    }

    fn add_to(&self, values: &mut Values) {
        values.add(self.0).add(self.1);
    }
}

/// Stores the digests of new games.
pub(crate) async fn insert_digests(
    tx: &mut Transaction<'_>,
    digests: &NewDigests,
) -> Result<(), StoreError> {
    insert(tx.connection(), &digests.rows()).await
}

/// Adds stored rows of these games.
pub(crate) async fn add_stored(
    tx: &mut Transaction<'_>,
    tables: &[&str],
    games: &[i64],
    digests: &mut NewDigests,
) -> Result<(), StoreError> {
    for (game, row) in digests_of_rows(tx.connection(), tables, games).await? {
        digests.add(game, row);
    }
    Ok(())
}

/// Stores the digests of games whose rows are all stored.
pub(crate) async fn digest_games(
    tx: &mut Transaction<'_>,
    games: &[i64],
) -> Result<(), StoreError> {
    let digests = digests_of_rows(tx.connection(), &GAME_TABLES, games).await?;
    insert(tx.connection(), &digest_rows(&digests)).await
}

/// The digests of games' rows in `moves`, `move_notes` and `game_depths`.
pub(crate) async fn digests_of_searches(
    tx: &mut Transaction<'_>,
    games: &[i64],
) -> Result<BTreeMap<i64, u64>, StoreError> {
    digests_of_rows(tx.connection(), &["moves", "move_notes", "game_depths"], games).await
}

/// Replaces a part of games' digests. Earlier changes on the disk can still be found afterwards.
pub(crate) async fn change_digests(
    tx: &mut Transaction<'_>,
    before: &BTreeMap<i64, u64>,
    after: &BTreeMap<i64, u64>,
) -> Result<(), StoreError> {
    let mut changes = before.clone();
    for (game, digest) in after {
        *changes.entry(*game).or_default() ^= digest;
    }
    let changes: Vec<(i64, i64)> =
        changes.into_iter().map(|(game, digest)| (game, stored(digest))).collect();
    let changes = rows(&changes)?;
    // An exclusive or, which SQL lacks.
    sqlx::query!(
        "UPDATE game_digests SET digest = (digest | j.value ->> 1) - (digest & j.value ->> 1)
        FROM jsonb_each(?) AS j WHERE game_id = j.value ->> 0",
        changes
    )
    .execute(tx.connection())
    .await?;
    Ok(())
}

fn digest_rows(digests: &BTreeMap<i64, u64>) -> Vec<DigestRow> {
    digests.iter().map(|(game, digest)| DigestRow(*game, stored(*digest))).collect()
}

/// The digests of games' rows in these tables, in their stored form.
async fn digests_of_rows(
    connection: &mut SqliteConnection,
    tables: &[&str],
    games: &[i64],
) -> Result<BTreeMap<i64, u64>, StoreError> {
    let mut digests = BTreeMap::new();
    let games = rows(games)?;
    let mut encoder = RowEncoder::default();
    for table in tables {
        // The query macros do not accept a table name as a parameter. These names are ours.
        let sql =
            format!("SELECT * FROM {table} WHERE game_id IN (SELECT value FROM json_each(?))");
        let mut found = sqlx::query(AssertSqlSafe(sql)).bind(&games).fetch(&mut *connection);
        let mut tags = None;
        while let Some(row) = found.try_next().await? {
            let tags = tags.get_or_insert_with(|| {
                Tags::new(table, row.columns().iter().map(sqlx::Column::name))
            });
            let game: i64 = row.try_get("game_id")?;
            *digests.entry(game).or_default() ^= row_digest(&row, tags, &mut encoder)?;
        }
    }
    Ok(digests)
}

fn row_digest(row: &SqliteRow, tags: &Tags, encoder: &mut RowEncoder) -> Result<u64, StoreError> {
    for column in row.columns() {
        let Some(tag) = tags.get(column.ordinal()) else { continue };
        let value = row.try_get_raw(column.ordinal())?;
        if value.is_null() {
            continue;
        }
        let failed = |error| StoreError::Sql(sqlx::Error::Decode(error));
        let value = value.to_owned();
        match value.type_info().name() {
            "INTEGER" => encoder.integer(
                tag,
                <i64 as sqlx::Decode<Sqlite>>::decode(value.as_ref()).map_err(failed)?,
            ),
            "REAL" => encoder
                .real(tag, <f64 as sqlx::Decode<Sqlite>>::decode(value.as_ref()).map_err(failed)?),
            "TEXT" => encoder.text(
                tag,
                <&[u8] as sqlx::Decode<Sqlite>>::decode(value.as_ref()).map_err(failed)?,
            ),
            _ => encoder.blob(
                tag,
                <&[u8] as sqlx::Decode<Sqlite>>::decode(value.as_ref()).map_err(failed)?,
            ),
        }
    }
    Ok(encoder.finish())
}
