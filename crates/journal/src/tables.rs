//! The journal's tables, and whether a server suits.

use std::time::Duration;

use crate::address::{create_database, identifier};
use crate::error::{JournalError, VERSION_MIN};
use crate::log::Log as _;
use crate::server::Server;

/// The format of the tables that this release knows.
const FORMAT: i32 = 1;

const TABLES: [&str; 3] = ["spelrum_owner", "spelrum_changes", "spelrum_bases"];

/// The owner's row is updated with each change: half of its page is left for the next version of it.
const CREATE: &str = "
    CREATE TABLE IF NOT EXISTS spelrum_owner (
        id int PRIMARY KEY CHECK (id = 1), format int NOT NULL,
        term bigint NOT NULL, beat bigint NOT NULL, last bigint NOT NULL,
        holder text NOT NULL, name text NOT NULL, address text NOT NULL, released boolean NOT NULL,
        database_uuid text, schema bigint,
        base_number bigint, base_term bigint, base_upload bigint,
        base_parts bigint, base_bytes bigint, base_sha256 bytea,
        previous_number bigint, previous_upload bigint
    ) WITH (fillfactor = 50);
    CREATE TABLE IF NOT EXISTS spelrum_changes (
        number bigint PRIMARY KEY, term bigint NOT NULL, changes bytea NOT NULL
    );
    CREATE TABLE IF NOT EXISTS spelrum_bases (
        upload bigint, part bigint, bytes bytea NOT NULL, PRIMARY KEY (upload, part)
    );
    -- Both are compressed already.
    ALTER TABLE spelrum_changes ALTER changes SET STORAGE EXTERNAL;
    ALTER TABLE spelrum_bases ALTER bytes SET STORAGE EXTERNAL;
    -- The row starts released, so the first coordinator takes over.
    INSERT INTO spelrum_owner (id, format, term, beat, last, holder, name, address, released)
    VALUES (1, 1, 0, 0, 0, '', '', '', true) ON CONFLICT DO NOTHING;";

/// The columns that [`CREATE`] makes, by table.
const COLUMNS: [(&str, &str); 3] = [
    (
        "spelrum_owner",
        "id integer, format integer, term bigint, beat bigint, last bigint, holder text, name text, address text, \
         released boolean, database_uuid text, schema bigint, base_number bigint, base_term bigint, \
         base_upload bigint, base_parts bigint, base_bytes bigint, base_sha256 bytea, previous_number bigint, \
         previous_upload bigint",
    ),
    ("spelrum_changes", "number bigint, term bigint, changes bytea"),
    ("spelrum_bases", "upload bigint, part bigint, bytes bytea"),
];

/// The schema in which tables are created, and that of the tables; as identifiers.
const TO_CREATE_IN: &str =
    "SELECT quote_ident((current_schemas(false) || 'public'::name)[1]::text) AS name";
const SCHEMA: &str = "SELECT relnamespace::regnamespace::text AS name FROM pg_class
    WHERE oid = to_regclass('spelrum_owner')";

/// Times that tables are created: whoever creates them at the same moment as another one can fail.
const CREATED_TIMES: u32 = 5;

/// What a reader of the journal may do, and what one that writes may do with each table.
const READER: [&[&str]; 3] = [&["SELECT"]; 3];
const WRITER: [&[&str]; 3] = [
    &["SELECT", "INSERT", "UPDATE"],
    &["SELECT", "INSERT", "DELETE"],
    &["SELECT", "INSERT", "DELETE"],
];

/// Checks that a journal can be read, and writes nothing.
pub(crate) async fn check_readable(server: &mut Server) -> Result<(), JournalError> {
    check_server(server).await?;
    if !has_tables(server).await? {
        return Err(JournalError::NoDatabase);
    }
    check_rights(server, "read the journal", READER).await?;
    check_format(server).await
}

/// Checks that the server suits, and creates the tables if they are absent.
pub(crate) async fn prepare(server: &mut Server) -> Result<(), JournalError> {
    check_server(server).await?;
    check_writes(server).await?;
    let mut left = CREATED_TIMES;
    while !has_tables(server).await? {
        left -= 1;
        match server.rows(CREATE.to_owned()).await {
            Err(JournalError::Server { code: Some(code), .. })
                if code == "42501" || code == "3F000" =>
            {
                let (user, database) = names(server);
                let schema = schema(server, TO_CREATE_IN).await?;
                let grant =
                    format!("GRANT CREATE, USAGE ON SCHEMA {schema} TO {}", identifier(&user));
                let (right, object) = ("create tables".to_owned(), "schema");
                return Err(JournalError::Rights { database, user, right, object, grant });
            }
            // Another coordinator creates them at this moment.
            Err(error) if left == 0 => return Err(error),
            Err(_) => server.wait(Duration::from_millis(50)).await,
            Ok(_) => {}
        }
    }
    check_rights(server, "write to the journal", WRITER).await?;
    check_format(server).await
}

/// The first row's name, as an identifier; the name of a schema.
async fn schema(server: &mut Server, sql: &str) -> Result<String, JournalError> {
    let rows = server.rows(sql.to_owned()).await?;
    let name = rows.first().map(|row| server.column(row, "name")).transpose()?;
    Ok(name.unwrap_or_else(|| "public".to_owned()))
}

fn names(server: &Server) -> (String, String) {
    (server.address().user().to_owned(), server.address().database().to_owned())
}

async fn check_server(server: &mut Server) -> Result<(), JournalError> {
    let sql = "SELECT current_setting('server_version_num')::int AS version,
        current_setting('server_encoding') AS encoding";
    let rows = server.rows(sql.to_owned()).await?;
    let Some(row) = rows.first() else { return Err(JournalError::Refused) };
    let name = server.address().server();
    let version: i32 = server.column(row, "version")?;
    if version < VERSION_MIN * 10_000 {
        return Err(JournalError::OldServer { server: name, version: version / 10_000 });
    }
    let encoding: String = server.column(row, "encoding")?;
    if encoding != "UTF8" {
        let create = create_database(server.address(), "NAME");
        return Err(JournalError::Encoding { database: names(server).1, encoding, create });
    }
    Ok(())
}

async fn check_writes(server: &mut Server) -> Result<(), JournalError> {
    let sql = "SELECT
        pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
        current_setting('synchronous_standby_names') AS standbys";
    let rows = server.rows(sql.to_owned()).await?;
    let Some(row) = rows.first() else { return Err(JournalError::Refused) };
    let name = server.address().server();
    if server.column(row, "read_only")? {
        return Err(JournalError::ReadOnly { server: name });
    }
    let standbys: String = server.column(row, "standbys")?;
    if standbys.is_empty() {
        tracing::warn!(
            "the PostgreSQL server has no synchronous standby (synchronous_standby_names): acknowledged results are on \
             its own disk only"
        );
    }
    Ok(())
}

/// Whether all tables are there, and have our columns. Those of a newer format may have more.
async fn has_tables(server: &mut Server) -> Result<bool, JournalError> {
    let named = TABLES.map(|table| format!("to_regclass('{table}')")).join(", ");
    let sql = format!(
        "SELECT relname::text AS name,
            (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ')
            FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped) AS columns
        FROM pg_class WHERE oid IN ({named})"
    );
    let rows = server.rows(sql).await?;
    for row in &rows {
        let table: String = server.column(row, "name")?;
        let columns: Option<String> = server.column(row, "columns")?;
        let columns = columns.unwrap_or_default();
        let columns: Vec<_> = columns.split(", ").collect();
        let ours = COLUMNS.iter().find(|(name, _)| *name == table).map_or("", |(_, ours)| ours);
        if !ours.split(", ").all(|column| columns.contains(&column)) {
            return Err(JournalError::ForeignTables { database: names(server).1, table });
        }
    }
    Ok(rows.len() == TABLES.len())
}

async fn check_rights(
    server: &mut Server,
    right: &str,
    rights: [&[&str]; 3],
) -> Result<(), JournalError> {
    let needed = TABLES.iter().zip(rights).flat_map(|(table, rights)| {
        let has = move |right| format!("has_table_privilege(to_regclass('{table}'), '{right}')");
        rights.iter().map(has)
    });
    let needed = needed.collect::<Vec<_>>().join(" AND ");
    let rows = server.rows(format!("SELECT {needed} AS has_rights")).await?;
    let has_rights = rows.first().map(|row| server.column(row, "has_rights")).transpose()?;
    if has_rights == Some(true) {
        return Ok(());
    }
    let (user, database) = names(server);
    let schema = schema(server, SCHEMA).await?;
    let tables = TABLES.map(|table| format!("{schema}.{table}")).join(", ");
    let mut granted: Vec<_> = rights.concat();
    granted.sort_unstable();
    granted.dedup();
    let grant = format!("GRANT {} ON {tables} TO {}", granted.join(", "), identifier(&user));
    let right = right.to_owned();
    Err(JournalError::Rights { database, user, right, object: "tables", grant })
}

async fn check_format(server: &mut Server) -> Result<(), JournalError> {
    let rows = server.rows("SELECT format FROM spelrum_owner WHERE id = 1".to_owned()).await?;
    let format = rows.first().map(|row| server.column::<i32>(row, "format")).transpose()?;
    match format {
        Some(format) if format > FORMAT => Err(JournalError::NewerFormat { format, known: FORMAT }),
        _ => Ok(()),
    }
}
