//! What a transaction of the writer changes, gathered by temporary triggers on its connection: the file's own schema is
//! that of any other database.

use std::fmt::Write as _;

use futures_util::TryStreamExt as _;
use spelrum_answers::SqlValue;
use sqlx::sqlite::SqliteRow;
use sqlx::{
    AssertSqlSafe, Executor as _, Row as _, SqliteConnection, TypeInfo as _, ValueRef as _,
};

use crate::error::StoreError;
use crate::shared::changes::{Changes, OWN_TABLES, TableChanges, quoted};
use crate::shared::journal::{Journal, Place};
use crate::shared::schema;

/// The most columns that a table's key has.
const KEY_MAX: usize = 6;

/// The most bytes of a change: compressed they are a tenth, and PostgreSQL takes less than half a GiB at once.
const CHANGE_BYTES_MAX: usize = 768 << 20;

/// The writer's side of a shared database.
#[derive(Debug)]
pub(crate) struct Sharing {
    journal: Box<dyn Journal>,
    /// The last change that is committed here.
    place: Place,
    tables: Vec<Table>,
    /// SQLite's number of the schema at the last commit (sqlite.org/pragma.html#pragma_schema_version).
    schema_version: i64,
    /// Whether a change may be in the journal that is not here: nothing more may be written.
    is_behind: bool,
}

#[derive(Debug)]
struct Table {
    name: String,
    columns: Vec<String>,
    key: Vec<String>,
}

/// A transaction's change that is in the journal, and not yet committed here.
#[derive(Debug)]
pub(crate) struct Appended {
    place: Place,
    schema_version: i64,
}

impl Sharing {
    /// Begins to gather what is changed over this connection.
    pub(crate) async fn begin(
        connection: &mut SqliteConnection,
        journal: Box<dyn Journal>,
    ) -> Result<Self, StoreError> {
        let tables = tables(connection).await?;
        let (number, term) = sqlx::query_as("SELECT journal_number, journal_term FROM databases")
            .fetch_one(&mut *connection)
            .await?;
        let place = Place { number, term };
        let mut sharing = Self { journal, place, tables, schema_version: 0, is_behind: false };
        sharing.install(connection).await?;
        Ok(sharing)
    }

    /// The last change that is committed here.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Makes a connection's triggers.
    pub(crate) async fn install(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        // What is not on the disk here is in the journal.
        connection.execute("PRAGMA synchronous = NORMAL").await?;
        connection.execute("PRAGMA temp_store = MEMORY").await?;
        // Rows that REPLACE deletes are noticed, too.
        connection.execute("PRAGMA recursive_triggers = ON").await?;
        connection.execute(AssertSqlSafe(self.triggers())).await?;
        self.schema_version = schema_version(connection).await?;
        Ok(())
    }

    /// The statements that make the table of changed keys, and the triggers that fill it. A statement in a trigger names
    /// no database: of two tables of one name, that of the connection is meant.
    fn triggers(&self) -> String {
        let key: Vec<_> = (0..KEY_MAX).map(|number| format!("k{number}")).collect();
        let columns = key.iter().map(|column| format!("{column} NOT NULL DEFAULT ''"));
        let mut sql = format!(
            "CREATE TEMP TABLE changed_keys (number INTEGER NOT NULL, {}, PRIMARY KEY (number, {})) WITHOUT ROWID;\n",
            columns.collect::<Vec<_>>().join(", "),
            key.join(", ")
        );
        for (number, table) in self.tables.iter().enumerate() {
            let columns: Vec<_> = key.iter().take(table.key.len()).cloned().collect();
            // Not by OR IGNORE: in a trigger the conflict clause of the statement that caused it counts.
            let note = |row: &str| {
                let values = table.key.iter().map(|column| format!("{row}.{}", quoted(column)));
                let values: Vec<_> = values.collect();
                let same = columns
                    .iter()
                    .zip(&values)
                    .map(|(column, value)| format!("{column} = {value}"));
                format!(
                    "INSERT INTO changed_keys (number, {}) SELECT {number}, {} WHERE NOT EXISTS (
                        SELECT 1 FROM changed_keys WHERE number = {number} AND {})",
                    columns.join(", "),
                    values.join(", "),
                    same.collect::<Vec<_>>().join(" AND ")
                )
            };
            let moved = table.key.iter().map(|column| {
                let column = quoted(column);
                format!("OLD.{column} IS NOT NEW.{column}")
            });
            let moved = moved.collect::<Vec<_>>().join(" OR ");
            let [new, old] = ["NEW", "OLD"].map(note);
            let name = quoted(&table.name);
            // Writing to a text cannot fail.
            let _ = write!(
                sql,
                "CREATE TEMP TRIGGER changed_{number}_i AFTER INSERT ON main.{name} BEGIN {new}; END;
                CREATE TEMP TRIGGER changed_{number}_d AFTER DELETE ON main.{name} BEGIN {old}; END;
                CREATE TEMP TRIGGER changed_{number}_u AFTER UPDATE ON main.{name} BEGIN {new}; END;
                CREATE TEMP TRIGGER changed_{number}_m AFTER UPDATE ON main.{name} WHEN {moved} BEGIN {old}; END;\n"
            );
        }
        sql
    }

    /// Refuses to begin a transaction where a change may be in the journal that is not here.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.is_behind {
            Err(behind("an earlier transaction may be in the journal alone"))
        } else {
            Ok(())
        }
    }

    /// Appends what the open transaction has changed to the journal; `None` if it has changed nothing.
    pub(crate) async fn append(
        &mut self,
        connection: &mut SqliteConnection,
    ) -> Result<Option<Appended>, StoreError> {
        let version = schema_version(connection).await?;
        let has_changed: bool =
            sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM temp.changed_keys)")
                .fetch_one(&mut *connection)
                .await?;
        if !has_changed && version == self.schema_version {
            return Ok(None);
        }
        let place = Place { number: self.place.number + 1, term: self.journal.term() };
        sqlx::query("UPDATE databases SET journal_number = ?, journal_term = ?")
            .bind(place.number)
            .bind(place.term)
            .execute(&mut *connection)
            .await?;
        let changes = self.changes(connection, version).await?.to_bytes()?;
        if changes.len() > CHANGE_BYTES_MAX {
            let [mebibytes, mebibytes_max] =
                [changes.len(), CHANGE_BYTES_MAX].map(|bytes| bytes >> 20);
            return Err(StoreError::LargeChange { mebibytes, mebibytes_max });
        }
        // From here on, until this transaction is committed.
        self.is_behind = true;
        self.journal.append(place.number, changes).await?;
        Ok(Some(Appended { place, schema_version: version }))
    }

    /// Notes that an appended transaction is committed.
    pub(crate) fn committed(&mut self, appended: &Appended) {
        (self.place, self.schema_version) = (appended.place, appended.schema_version);
        self.is_behind = false;
    }

    async fn changes(
        &self,
        connection: &mut SqliteConnection,
        schema_version: i64,
    ) -> Result<Changes, StoreError> {
        let mut changes = Changes { schema: schema(), ..Changes::default() };
        let numbers: Vec<i64> = sqlx::query_scalar("SELECT DISTINCT number FROM temp.changed_keys")
            .fetch_all(&mut *connection)
            .await?;
        for (number, table) in (0_i64..).zip(&self.tables) {
            if numbers.contains(&number) {
                let rows = table.changes(connection, number).await?;
                changes.tables.insert(table.name.clone(), rows);
            }
        }
        connection.execute("DELETE FROM temp.changed_keys").await?;
        let ids: Vec<(String, i64)> = sqlx::query_as("SELECT name, seq FROM sqlite_sequence")
            .fetch_all(&mut *connection)
            .await?;
        changes.ids.extend(ids);
        if schema_version != self.schema_version {
            let views = sqlx::query_as(
                "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY rowid",
            );
            changes.views = Some(views.fetch_all(&mut *connection).await?);
        }
        Ok(changes)
    }
}

/// The error of a writer whose journal may have what it lacks.
pub(crate) fn behind(problem: &str) -> StoreError {
    StoreError::Journal {
        problem: problem.to_owned(),
        remedy: "nothing is lost: a coordinator that reads the journal anew goes on".to_owned(),
    }
}

impl Table {
    /// The rows whose keys are noted under this number.
    async fn changes(
        &self,
        connection: &mut SqliteConnection,
        number: i64,
    ) -> Result<TableChanges, StoreError> {
        let noted = (0..self.key.len()).map(|key| format!("c.k{key}"));
        let columns = self.columns.iter().map(|column| format!("t.{}", quoted(column)));
        let same = self.key.iter().enumerate();
        let same = same.map(|(key, column)| format!("t.{} = c.k{key}", quoted(column)));
        let sql = format!(
            "SELECT {} FROM temp.changed_keys AS c LEFT JOIN main.{} AS t ON {} WHERE c.number = ?",
            noted.chain(columns).collect::<Vec<_>>().join(", "),
            quoted(&self.name),
            same.collect::<Vec<_>>().join(" AND ")
        );
        let mut changes = TableChanges {
            columns: self.columns.clone(),
            key: self.key.clone(),
            ..TableChanges::default()
        };
        let mut rows = sqlx::query(AssertSqlSafe(sql)).bind(number).fetch(connection);
        let keys = self.key.len();
        while let Some(row) = rows.try_next().await? {
            // No row of the table has NULL in its key.
            if row.try_get_raw(keys + self.key_column())?.is_null() {
                changes.deleted.push(values(&row, 0..keys)?);
            } else {
                changes.rows.push(values(&row, keys..keys + self.columns.len())?);
            }
        }
        Ok(changes)
    }

    /// Where the first column of the key is among the columns.
    fn key_column(&self) -> usize {
        self.columns.iter().position(|column| Some(column) == self.key.first()).unwrap_or(0)
    }
}

fn values(row: &SqliteRow, columns: std::ops::Range<usize>) -> Result<Vec<SqlValue>, StoreError> {
    let value = |column| {
        let raw = row.try_get_raw(column)?;
        Ok(match raw.type_info().name() {
            _ if raw.is_null() => SqlValue::Null,
            "INTEGER" => SqlValue::Integer(row.try_get_unchecked(column)?),
            "REAL" => SqlValue::Real(row.try_get_unchecked(column)?),
            "BLOB" => SqlValue::Blob(row.try_get_unchecked(column)?),
            _ => SqlValue::Text(row.try_get_unchecked(column)?),
        })
    };
    columns.map(value).collect()
}

async fn schema_version(connection: &mut SqliteConnection) -> Result<i64, StoreError> {
    // The query macros cannot describe a pragma.
    Ok(sqlx::query_scalar("PRAGMA main.schema_version").fetch_one(connection).await?)
}

/// All tables that copies share, with their columns and keys.
async fn tables(connection: &mut SqliteConnection) -> Result<Vec<Table>, StoreError> {
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut tables = Vec::new();
    for name in names.into_iter().filter(|name| !OWN_TABLES.contains(&&**name)) {
        let columns: Vec<(String, i64)> =
            sqlx::query_as("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid")
                .bind(&name)
                .fetch_all(&mut *connection)
                .await?;
        let mut key: Vec<_> = columns.iter().filter(|(_, place)| *place > 0).collect();
        key.sort_by_key(|(_, place)| place);
        let mut key: Vec<_> = key.into_iter().map(|(column, _)| column.clone()).collect();
        let mut columns: Vec<_> = columns.into_iter().map(|(column, _)| column).collect();
        if key.is_empty() {
            key.push("rowid".to_owned());
            columns.push("rowid".to_owned());
        }
        tables.push(Table { name, columns, key });
    }
    Ok(tables)
}
