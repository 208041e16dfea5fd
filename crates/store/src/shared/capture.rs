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

/// The first column of the key of tables with rows of games. Games get ever greater ids: rows of those that a transaction
/// adds are collected by range at its end, and need no trigger for each.
const GAME_ID: &str = "game_id";

/// The last game before the transaction: a table on the writer's connection.
const LAST_GAME: &str = "(SELECT last FROM known_games)";

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

/// The games that a transaction has added: those after the first, up to the second.
#[derive(Clone, Copy, Debug)]
struct NewGames {
    known_game: i64,
    last_game: i64,
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
        let version = schema_version(connection).await?;
        let (has_keys, known_game, last_game): (bool, i64, i64) = sqlx::query_as(
            "SELECT EXISTS (SELECT 1 FROM temp.changed_keys), (SELECT last FROM temp.known_games),
                (SELECT coalesce(max(seq), 0) FROM main.sqlite_sequence WHERE name = 'games')",
        )
        .fetch_one(&mut *connection)
        .await?;
        let new_games = (last_game > known_game).then_some(NewGames { known_game, last_game });
        if !has_keys && new_games.is_none() && version == self.schema_version {
            return Ok(None);
        }
        let place = Place { number: self.place.number + 1, term: self.journal.term() };
        sqlx::query("UPDATE databases SET journal_number = ?, journal_term = ?")
            .bind(place.number)
            .bind(place.term)
            .execute(&mut *connection)
            .await?;
        let changes = self.changes(connection, version, new_games).await?.to_bytes()?;
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
        new_games: Option<NewGames>,
    ) -> Result<Changes<Box<RawValue>>, StoreError> {
        let mut tables = BTreeMap::new();
        let numbers: Vec<i64> = sqlx::query_scalar("SELECT DISTINCT number FROM temp.changed_keys")
            .fetch_all(&mut *connection)
            .await?;
        for (number, table) in (0_i64..).zip(&self.tables) {
            let number = Some(number).filter(|number| numbers.contains(number));
            let added = new_games.filter(|_| table.is_of_games());
            if number.is_some() || added.is_some() {
                let changes = table.changes(connection, number, added).await?;
                if !changes.is_empty() {
                    tables.insert(table.name.clone(), changes);
                }
            }
        }
        connection.execute("DELETE FROM temp.changed_keys").await?;
        if let Some(NewGames { last_game, .. }) = new_games {
            sqlx::query("UPDATE temp.known_games SET last = ?")
                .bind(last_game)
                .execute(&mut *connection)
                .await?;
        }
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

    /// Whether its rows are those of games, by ids.
    fn is_of_games(&self) -> bool {
        self.key.first().is_some_and(|column| column == GAME_ID)
    }

    /// The rows whose keys are noted under this number, and those of new games.
    async fn changes(
        &self,
        connection: &mut SqliteConnection,
        number: Option<i64>,
        new_games: Option<NewGames>,
    ) -> Result<TableChanges<Box<RawValue>>, StoreError> {
        let name = quoted(&self.name);
        let (mut rows, mut deleted) = (Vec::new(), Vec::new());
        if let Some(NewGames { known_game, .. }) = new_games {
            let added = format!("FROM main.{name} AS t WHERE t.{GAME_ID} > ?1");
            self.read(connection, &added, known_game, &mut rows).await?;
        }
        if let Some(number) = number {
            let same = self.key.iter().enumerate();
            let same = same.map(|(key, column)| format!("t.{} = c.k{key}", quoted(column)));
            let same = same.collect::<Vec<_>>().join(" AND ");
            let noted = format!(
                "FROM temp.changed_keys AS c JOIN main.{name} AS t ON {same} WHERE c.number = ?1"
            );
            self.read(connection, &noted, number, &mut rows).await?;
            let gone = format!(
                "FROM temp.changed_keys AS c WHERE c.number = ?1
                AND NOT EXISTS (SELECT 1 FROM main.{name} AS t WHERE {same})"
            );
            let keys: Vec<_> = (0..self.key.len()).map(|key| format!("c.k{key}")).collect();
            deleted.push(as_json(connection, &keys, &gone, number).await?);
        }
        Ok(TableChanges {
            columns: self.columns.clone(),
            rows: joined(&rows)?,
            key: self.key.clone(),
            deleted: joined(&deleted)?,
        })
    }

    /// Reads rows, as arrays of arrays.
    async fn read(
        &self,
        connection: &mut SqliteConnection,
        from: &str,
        parameter: i64,
        rows: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let columns = self.columns.iter().map(|column| format!("t.{}", quoted(column)));
        let columns: Vec<_> = columns.collect();
        match &self.as_json {
            AsJson::All => rows.push(as_json(connection, &columns, from, parameter).await?),
            AsJson::None => rows.push(as_values(connection, &columns, from, parameter).await?),
            AsJson::Short(reals) => {
                let is_short = reals.iter().map(|column| {
                    let column = quoted(column);
                    format!("(t.{column} IS NULL OR (t.{column} = round(t.{column}) AND abs(t.{column}) < 1e15))")
                });
                let is_short = is_short.collect::<Vec<_>>().join(" AND ");
                let short = format!("{from} AND ({is_short})");
                rows.push(as_json(connection, &columns, &short, parameter).await?);
                let others = format!("{from} AND NOT ({is_short})");
                rows.push(as_values(connection, &columns, &others, parameter).await?);
            }
        }
        Ok(())
    }
}

/// The elements of several arrays, as one.
fn joined(arrays: &[String]) -> Result<Box<RawValue>, StoreError> {
    let elements = arrays.iter().filter_map(|array| array.strip_prefix('[')?.strip_suffix(']'));
    let elements: Vec<_> = elements.filter(|elements| !elements.is_empty()).collect();
    RawValue::from_string(format!("[{}]", elements.join(",")))
        .map_err(|error| StoreError::Sql(sqlx::Error::Decode(error.into())))
}

/// Rows as an array of arrays that SQLite writes.
async fn as_json(
    connection: &mut SqliteConnection,
    columns: &[String],
    from: &str,
    parameter: i64,
) -> Result<String, StoreError> {
    let sql = format!("SELECT json_group_array(json_array({})) {from}", columns.join(", "));
    let query = sqlx::query_scalar(AssertSqlSafe(sql)).bind(parameter);
    Ok(query.fetch_one(connection).await?)
}

/// Rows whose values are read one by one.
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
