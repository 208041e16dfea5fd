//! What a transaction of the writer changes, gathered by temporary triggers on its connection: the file's own schema is
//! that of any other database.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use futures_util::TryStreamExt as _;
use serde_json::value::RawValue;
use spelrum_answers::SqlValue;
use sqlx::{
    AssertSqlSafe, Executor as _, Row as _, SqliteConnection, TypeInfo as _, ValueRef as _,
};

use crate::error::StoreError;
use crate::shared::changes::{Changes, OWN_TABLES, TableChanges, quoted};
use crate::shared::journal::{Journal, Place};
use crate::shared::schema;

/// The key of a table that has none of its own.
const ROWID: &str = "rowid";

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
    /// Whether SQLite writes its values as JSON: not reals, which it shortens, and not blobs.
    is_plain: bool,
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
        let key_max = self.tables.iter().map(|table| table.key.len()).max().unwrap_or(1);
        let key: Vec<_> = (0..key_max).map(|number| format!("k{number}")).collect();
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
            // Statements that do not name the key do not run that trigger.
            let key: Vec<_> = table.key.iter().map(|column| quoted(column)).collect();
            let of_key = match table.has_key_columns() {
                true => format!("OF {}", key.join(", ")),
                false => String::new(),
            };
            let [new, old] = ["NEW", "OLD"].map(note);
            let name = quoted(&table.name);
            // Writing to a text cannot fail.
            let _ = write!(
                sql,
                "CREATE TEMP TRIGGER changed_{number}_i AFTER INSERT ON main.{name} BEGIN {new}; END;
                CREATE TEMP TRIGGER changed_{number}_d AFTER DELETE ON main.{name} BEGIN {old}; END;
                CREATE TEMP TRIGGER changed_{number}_u AFTER UPDATE ON main.{name} BEGIN {new}; END;
                CREATE TEMP TRIGGER changed_{number}_m AFTER UPDATE {of_key} ON main.{name} WHEN {moved} BEGIN {old}; END;\n"
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
    ) -> Result<Changes<Box<RawValue>>, StoreError> {
        let mut tables = BTreeMap::new();
        let numbers: Vec<i64> = sqlx::query_scalar("SELECT DISTINCT number FROM temp.changed_keys")
            .fetch_all(&mut *connection)
            .await?;
        for (number, table) in (0_i64..).zip(&self.tables) {
            if numbers.contains(&number) {
                tables.insert(table.name.clone(), table.changes(connection, number).await?);
            }
        }
        connection.execute("DELETE FROM temp.changed_keys").await?;
        let ids = sqlx::query_as("SELECT name, seq FROM sqlite_sequence")
            .fetch_all(&mut *connection)
            .await?;
        let mut views = None;
        if schema_version != self.schema_version {
            let shown = sqlx::query_as(
                "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY rowid",
            );
            views = Some(shown.fetch_all(&mut *connection).await?);
        }
        Ok(Changes { schema: schema(), tables, ids: ids.into_iter().collect(), views })
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
    /// Whether the key is columns, and not the rowid that a table without a key has.
    fn has_key_columns(&self) -> bool {
        self.key.iter().all(|column| column != ROWID)
    }

    /// The rows whose keys are noted under this number.
    async fn changes(
        &self,
        connection: &mut SqliteConnection,
        number: i64,
    ) -> Result<TableChanges<Box<RawValue>>, StoreError> {
        let same = self.key.iter().enumerate();
        let same = same.map(|(key, column)| format!("t.{} = c.k{key}", quoted(column)));
        let (name, same) = (quoted(&self.name), same.collect::<Vec<_>>().join(" AND "));
        let columns = self.columns.iter().map(|column| format!("t.{}", quoted(column)));
        let columns: Vec<_> = columns.collect();
        let noted: Vec<_> = (0..self.key.len()).map(|key| format!("c.k{key}")).collect();
        let rows = format!(
            "FROM temp.changed_keys AS c JOIN main.{name} AS t ON {same} WHERE c.number = {number}"
        );
        let gone = format!(
            "FROM temp.changed_keys AS c WHERE c.number = {number}
            AND NOT EXISTS (SELECT 1 FROM main.{name} AS t WHERE {same})"
        );
        Ok(TableChanges {
            columns: self.columns.clone(),
            rows: match self.is_plain {
                true => as_json(connection, &columns, &rows).await?,
                false => as_values(connection, &columns, &rows).await?,
            },
            key: self.key.clone(),
            deleted: as_json(connection, &noted, &gone).await?,
        })
    }
}

/// Rows as an array of arrays that SQLite writes.
async fn as_json(
    connection: &mut SqliteConnection,
    columns: &[String],
    from: &str,
) -> Result<Box<RawValue>, StoreError> {
    let sql = format!("SELECT json_group_array(json_array({})) {from}", columns.join(", "));
    let json: String = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(connection).await?;
    RawValue::from_string(json).map_err(|error| StoreError::Sql(sqlx::Error::Decode(error.into())))
}

/// Rows whose values are read one by one.
async fn as_values(
    connection: &mut SqliteConnection,
    columns: &[String],
    from: &str,
) -> Result<Box<RawValue>, StoreError> {
    let sql = format!("SELECT {} {from}", columns.join(", "));
    let mut rows = sqlx::query(AssertSqlSafe(sql)).fetch(connection);
    let mut all = Vec::new();
    while let Some(row) = rows.try_next().await? {
        let value = |column| {
            let raw = row.try_get_raw(column)?;
            Ok::<_, sqlx::Error>(match raw.type_info().name() {
                _ if raw.is_null() => SqlValue::Null,
                "INTEGER" => SqlValue::Integer(row.try_get_unchecked(column)?),
                "REAL" => SqlValue::Real(row.try_get_unchecked(column)?),
                "BLOB" => SqlValue::Blob(row.try_get_unchecked(column)?),
                _ => SqlValue::Text(row.try_get_unchecked(column)?),
            })
        };
        all.push((0..columns.len()).map(value).collect::<Result<Vec<_>, _>>()?);
    }
    serde_json::value::to_raw_value(&all)
        .map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))
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
        let columns: Vec<(String, i64, String)> =
            sqlx::query_as("SELECT name, pk, type FROM pragma_table_info(?) ORDER BY cid")
                .bind(&name)
                .fetch_all(&mut *connection)
                .await?;
        let is_plain =
            columns.iter().all(|(_, _, kind)| ["INTEGER", "INT", "TEXT"].contains(&&**kind));
        let mut key: Vec<_> = columns.iter().filter(|(_, place, _)| *place > 0).collect();
        key.sort_by_key(|(_, place, _)| place);
        let mut key: Vec<_> = key.into_iter().map(|(column, ..)| column.clone()).collect();
        let mut columns: Vec<_> = columns.into_iter().map(|(column, ..)| column).collect();
        if key.is_empty() {
            key.push(ROWID.to_owned());
            columns.push(ROWID.to_owned());
        }
        tables.push(Table { name, columns, key, is_plain });
    }
    Ok(tables)
}
