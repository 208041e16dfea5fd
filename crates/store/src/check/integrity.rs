//! Integrity of the file itself.

use sqlx::SqliteConnection;

use crate::error::{StoreError, code, primary_code};
use crate::read::readers::Readers;

impl Readers {
    /// Damage to the file: pages and indexes that SQLite finds damaged, and rows with dangling references; empty for a
    /// database that only this program and an intact disk have touched. Reads everything; lists the first hundred
    /// findings of each kind.
    ///
    /// # Errors
    /// If the file cannot be read at all.
    pub async fn damage(&self) -> Result<Vec<String>, StoreError> {
        match self.look_for_damage().await {
            // Too damaged for SQLite to locate the damage.
            Err(StoreError::Sql(error)) if primary_code(&error) == Some(code::CORRUPT) => {
                let message = error.as_database_error().map(|error| error.message().to_owned());
                Ok(vec![message.unwrap_or_else(|| error.to_string())])
            }
            found => found,
        }
    }

    async fn look_for_damage(&self) -> Result<Vec<String>, StoreError> {
        let mut connection = self.reads().acquire().await?;
        let damage = find_damage(&mut connection)
            .await
            .inspect_err(|error| self.alarm().raise_if_damage(error))?;
        // The connection returns to those of all reads. The query macros cannot describe a pragma.
        sqlx::query("PRAGMA cache_size = -2000").execute(&mut *connection).await?;
        Ok(damage)
    }

    /// Number of games that have their result, counted or not.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn games_settled(&self) -> Result<u64, StoreError> {
        let games = sqlx::query_scalar!(r#"SELECT count(*) AS "games!: i64" FROM games"#)
            .fetch_one(self.reads())
            .await?;
        Ok(u64::try_from(games).unwrap_or(0))
    }
}

async fn find_damage(connection: &mut SqliteConnection) -> Result<Vec<String>, StoreError> {
    // Each row is looked up in each index: 64 MB hold the indexes of a million games.
    sqlx::query("PRAGMA cache_size = -64000").execute(&mut *connection).await?;
    let pages: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(100)").fetch_all(&mut *connection).await?;
    let damage: Vec<String> = pages.into_iter().filter(|page| page != "ok").collect();
    if !damage.is_empty() {
        return Ok(damage);
    }
    let references: Vec<(String, Option<i64>, String)> =
        sqlx::query_as("SELECT \"table\", rowid, parent FROM pragma_foreign_key_check LIMIT 100")
            .fetch_all(connection)
            .await?;
    let refers = |(table, row, parent): (String, Option<i64>, String)| match row {
        Some(row) => format!("{table}: row {row} refers to what is not in {parent}"),
        None => format!("{table}: a row refers to what is not in {parent}"),
    };
    Ok(references.into_iter().map(refers).collect())
}
