//! What a transaction of the writer changes, gathered by temporary triggers on its connection: the file's own schema is
//! that of any other database.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

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

/// The first column of the key of tables with rows of games. Games get ever greater ids: rows of those that a transaction
/// adds are collected by range at its end, and need no trigger for each.
const GAME_ID: &str = "game_id";

/// The last game before the transaction: a table on the writer's connection.
const LAST_GAME: &str = "(SELECT last FROM known_games)";

/// Kinds of what [`reading`] finds of a table: rows, keys of rows that are deleted, and clauses that read other rows.
const ROWS: u32 = 0;
const DELETED: u32 = 1;
const OTHERS: u32 = 2;

/// The most bytes of a change: compressed they are a tenth, and PostgreSQL takes less than half a GiB at once.
const CHANGE_BYTES_MAX: usize = 768 << 20;

/// The writer's side of a shared database.
#[derive(Debug)]
pub(crate) struct Sharing {
    journal: Box<dyn Journal>,
    /// The last change that is committed here.
    place: Place,
    tables: Vec<Table>,
    /// [`reading`] for these tables.
    reading: Arc<str>,
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
    /// Which of its rows SQLite writes as JSON.
    as_json: AsJson,
}

/// Which rows of a table SQLite writes as JSON: others are read value by value, which takes several times as long.
#[derive(Debug)]
enum AsJson {
    All,
    /// Those in which these reals are whole numbers of at most 15 digits: SQLite shortens others.
    Short(Vec<String>),
    /// Those of blobs are not.
    None,
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
        let reading = reading(&tables);
        let mut sharing =
            Self { journal, place, tables, reading, schema_version: 0, is_behind: false };
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
            "CREATE TEMP TABLE known_games (last INTEGER NOT NULL);
            INSERT INTO temp.known_games
                SELECT coalesce(max(seq), 0) FROM main.sqlite_sequence WHERE name = 'games';
            CREATE TEMP TABLE changed_keys (number INTEGER NOT NULL, {}, PRIMARY KEY (number, {})) WITHOUT ROWID;\n",
            columns.collect::<Vec<_>>().join(", "),
            key.join(", ")
        );
        for (number, table) in self.tables.iter().enumerate() {
            let columns: Vec<_> = key.iter().take(table.key.len()).cloned().collect();
            // Not by OR IGNORE: in a trigger the conflict clause of the statement that caused it counts.
            let note = |row: &str| {
                let values = table.key.iter().map(|column| format!("{row}.{}", quoted(column)));
                let values: Vec<_> = values.collect();
                // Without the value's affinity (the `+`), which the index has not: otherwise each row would be compared with
                // all that are noted.
                let same = columns
                    .iter()
                    .zip(&values)
                    .map(|(column, value)| format!("{column} = +{value}"));
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
            let [new_is_known, old_is_known] =
                ["NEW", "OLD"].map(|row| match table.is_of_games() {
                    true => format!("{row}.{GAME_ID} <= {LAST_GAME}"),
                    false => "true".to_owned(),
                });
            let name = quoted(&table.name);
            // Writing to a text cannot fail.
            let _ = write!(
                sql,
                "CREATE TEMP TRIGGER changed_{number}_i AFTER INSERT ON main.{name} WHEN {new_is_known} BEGIN {new}; END;
                CREATE TEMP TRIGGER changed_{number}_d AFTER DELETE ON main.{name} WHEN {old_is_known} BEGIN {old}; END;
                CREATE TEMP TRIGGER changed_{number}_u AFTER UPDATE ON main.{name} WHEN {new_is_known} BEGIN {new}; END;
                CREATE TEMP TRIGGER changed_{number}_m AFTER UPDATE {of_key} ON main.{name} WHEN ({moved}) AND {old_is_known}
                    BEGIN {old}; END;\n"
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
        let (version, has_keys, known_game, last_game): (i64, bool, i64, i64) = sqlx::query_as(
            "SELECT (SELECT schema_version FROM pragma_schema_version),
                EXISTS (SELECT 1 FROM temp.changed_keys), (SELECT last FROM temp.known_games),
                (SELECT coalesce(max(seq), 0) FROM main.sqlite_sequence WHERE name = 'games')",
        )
        .fetch_one(&mut *connection)
        .await?;
        if !has_keys && last_game == known_game && version == self.schema_version {
            return Ok(None);
        }
        let place = Place { number: self.place.number + 1, term: self.journal.term() };
        sqlx::query("UPDATE databases SET journal_number = ?, journal_term = ?")
            .bind(place.number)
            .bind(place.term)
            .execute(&mut *connection)
            .await?;
        let changes = self.changes(connection, version, known_game).await?.to_bytes()?;
        let collected = format!(
            "DELETE FROM temp.changed_keys; UPDATE temp.known_games SET last = {last_game}"
        );
        connection.execute(AssertSqlSafe(collected)).await?;
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
        known_game: i64,
    ) -> Result<Changes<Box<RawValue>>, StoreError> {
        let mut gathered = BTreeMap::<usize, [Vec<String>; 2]>::new();
        let mut ids = String::new();
        let mut others = Vec::new();
        let found: Vec<(Option<u32>, u32, String)> =
            sqlx::query_as(AssertSqlSafe(Arc::clone(&self.reading)))
                .bind(known_game)
                .fetch_all(&mut *connection)
                .await?;
        for (number, kind, text) in found {
            match (number, kind) {
                (None, _) => ids = text,
                (Some(number), ROWS) => gathered.entry(number as usize).or_default()[0].push(text),
                (Some(number), DELETED) => {
                    gathered.entry(number as usize).or_default()[1].push(text);
                }
                (Some(number), _) => others.push((number as usize, text)),
            }
        }
        for (number, from) in others {
            let Some(table) = self.tables.get(number) else { continue };
            let rows = as_values(connection, &table.columns(), &from, known_game).await?;
            gathered.entry(number).or_default()[0].push(rows);
        }
        let mut tables = BTreeMap::new();
        for (number, [rows, deleted]) in gathered {
            let Some(table) = self.tables.get(number) else { continue };
            let changes = TableChanges {
                columns: table.columns.clone(),
                rows: joined(&rows)?,
                key: table.key.clone(),
                deleted: joined(&deleted)?,
            };
            tables.insert(table.name.clone(), changes);
        }
        let mut views = None;
        if schema_version != self.schema_version {
            let shown = sqlx::query_as(
                "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY rowid",
            );
            views = Some(shown.fetch_all(&mut *connection).await?);
        }
        let ids = serde_json::from_str(&ids)
            .map_err(|error| StoreError::Sql(sqlx::Error::Decode(error.into())))?;
        Ok(Changes { schema: schema(), tables, ids, views })
    }
}

/// The statement that reads, of all tables at once, what a transaction has changed: each statement of its own would be a
/// message to the thread of the connection, and an answer. Its rows: a table's number, a kind, and arrays as JSON. Of rows that SQLite
/// does not write as JSON it has the clause that reads them; and, without a number, the ids.
fn reading(tables: &[Table]) -> Arc<str> {
    let arrays = |number: usize, kind, columns: &[String], from: &str| {
        format!(
            "SELECT {number}, {kind}, json FROM
                (SELECT json_group_array(json_array({})) AS json {from}) WHERE json <> '[]'",
            columns.join(", ")
        )
    };
    let others = |number: usize, from: &str| {
        // The clause has no quotation mark but those of names.
        format!("SELECT {number}, {OTHERS}, '{from}' WHERE EXISTS (SELECT 1 {from})")
    };
    let ids = "SELECT NULL, 0, json_group_object(name, seq) FROM main.sqlite_sequence";
    let mut parts = vec![ids.to_owned()];
    for (number, table) in tables.iter().enumerate() {
        let same = table.key.iter().enumerate();
        let same = same.map(|(key, column)| format!("t.{} = c.k{key}", quoted(column)));
        let same = same.collect::<Vec<_>>().join(" AND ");
        let name = quoted(&table.name);
        let mut sources = vec![format!(
            "FROM temp.changed_keys AS c JOIN main.{name} AS t ON {same} WHERE c.number = {number} AND ?1 >= 0"
        )];
        if table.is_of_games() {
            sources.push(format!("FROM main.{name} AS t WHERE t.{GAME_ID} > ?1"));
        }
        for from in sources {
            match &table.as_json {
                AsJson::All => parts.push(arrays(number, ROWS, &table.columns(), &from)),
                AsJson::None => parts.push(others(number, &from)),
                AsJson::Short(reals) => {
                    let is_short = reals.iter().map(|column| {
                        let column = quoted(column);
                        format!("(t.{column} IS NULL OR (t.{column} = round(t.{column}) AND abs(t.{column}) < 1e15))")
                    });
                    let is_short = is_short.collect::<Vec<_>>().join(" AND ");
                    let short = format!("{from} AND ({is_short})");
                    parts.push(arrays(number, ROWS, &table.columns(), &short));
                    parts.push(others(number, &format!("{from} AND NOT ({is_short})")));
                }
            }
        }
        let keys: Vec<_> = (0..table.key.len()).map(|key| format!("c.k{key}")).collect();
        let gone = format!(
            "FROM temp.changed_keys AS c WHERE c.number = {number}
                AND NOT EXISTS (SELECT 1 FROM main.{name} AS t WHERE {same})"
        );
        parts.push(arrays(number, DELETED, &keys, &gone));
    }
    parts.join(" UNION ALL ").into()
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

    /// Whether its rows are those of games, by ids.
    fn is_of_games(&self) -> bool {
        self.key.first().is_some_and(|column| column == GAME_ID)
    }

    /// The columns in a statement in which the table is `t`.
    fn columns(&self) -> Vec<String> {
        self.columns.iter().map(|column| format!("t.{}", quoted(column))).collect()
    }
}

/// The elements of several arrays, as one.
fn joined(arrays: &[String]) -> Result<Box<RawValue>, StoreError> {
    let elements = arrays.iter().filter_map(|array| array.strip_prefix('[')?.strip_suffix(']'));
    let elements: Vec<_> = elements.filter(|elements| !elements.is_empty()).collect();
    RawValue::from_string(format!("[{}]", elements.join(",")))
        .map_err(|error| StoreError::Sql(sqlx::Error::Decode(error.into())))
}

/// Rows whose values are read one by one, as an array of arrays.
async fn as_values(
    connection: &mut SqliteConnection,
    columns: &[String],
    from: &str,
    parameter: i64,
) -> Result<String, StoreError> {
    let sql = format!("SELECT {} {from}", columns.join(", "));
    let mut rows = sqlx::query(AssertSqlSafe(sql)).bind(parameter).fetch(connection);
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
    serde_json::to_string(&all).map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))
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
        let reals = columns.iter().filter(|(_, _, kind)| kind == "REAL");
        let reals: Vec<_> = reals.map(|(column, ..)| column.clone()).collect();
        let kinds = ["INTEGER", "INT", "TEXT", "REAL"];
        let is_simple = columns.iter().all(|(_, _, kind)| kinds.contains(&&**kind));
        let as_json = match is_simple {
            true if reals.is_empty() => AsJson::All,
            true => AsJson::Short(reals),
            false => AsJson::None,
        };
        let mut key: Vec<_> = columns.iter().filter(|(_, place, _)| *place > 0).collect();
        key.sort_by_key(|(_, place, _)| place);
        let mut key: Vec<_> = key.into_iter().map(|(column, ..)| column.clone()).collect();
        let mut columns: Vec<_> = columns.into_iter().map(|(column, ..)| column).collect();
        if key.is_empty() {
            key.push(ROWID.to_owned());
            columns.push(ROWID.to_owned());
        }
        tables.push(Table { name, columns, key, as_json });
    }
    Ok(tables)
}
