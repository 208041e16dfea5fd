//! The journal's tables, and whether a server suits.

use std::time::Duration;

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
        base_number bigint, base_term bigint, base_uploaded_in bigint,
        base_parts bigint, base_bytes bigint, base_sha256 bytea
    ) WITH (fillfactor = 50);
    CREATE TABLE IF NOT EXISTS spelrum_changes (
        number bigint PRIMARY KEY, term bigint NOT NULL, changes bytea NOT NULL
    );
    CREATE TABLE IF NOT EXISTS spelrum_bases (
        number bigint, term bigint, part bigint, bytes bytea NOT NULL,
        PRIMARY KEY (number, term, part)
    );
    -- Both are compressed already.
    ALTER TABLE spelrum_changes ALTER changes SET STORAGE EXTERNAL;
    ALTER TABLE spelrum_bases ALTER bytes SET STORAGE EXTERNAL;
    -- What nobody owns, the first coordinator takes over.
    INSERT INTO spelrum_owner (id, format, term, beat, last, holder, name, address, released)
    VALUES (1, 1, 0, 0, 0, '', '', '', true) ON CONFLICT DO NOTHING;";

/// The columns that [`CREATE`] makes, by table.
const COLUMNS: [(&str, &str); 3] = [
    (
        "spelrum_owner",
        "id integer, format integer, term bigint, beat bigint, last bigint, holder text, name text, address text, \
         released boolean, database_uuid text, schema bigint, base_number bigint, base_term bigint, \
         base_uploaded_in bigint, base_parts bigint, base_bytes bigint, base_sha256 bytea",
    ),
    ("spelrum_changes", "number bigint, term bigint, changes bytea"),
    ("spelrum_bases", "number bigint, term bigint, part bigint, bytes bytea"),
];

/// Times that tables are created: whoever creates them at the same moment as another one can fail.
const CREATED_TIMES: u32 = 5;

/// Checks that the server suits, and creates the tables if they are absent.
pub(crate) async fn prepare(server: &mut Server) -> Result<(), JournalError> {
    check_server(server).await?;
    let mut left = CREATED_TIMES;
    while !has_tables(server).await? {
        left -= 1;
        match server.rows(CREATE.to_owned()).await {
            Err(JournalError::Server { code: Some(code), .. })
                if code == "42501" || code == "3F000" =>
            {
                let (user, database) = names(server);
                let grant = format!("GRANT CREATE, USAGE ON SCHEMA public TO {user}");
                let right = "create tables".to_owned();
                return Err(JournalError::Rights { database, user, right, grant });
            }
            // Another coordinator creates them at this moment.
            Err(error) if left == 0 => return Err(error),
            Err(_) => server.wait(Duration::from_millis(50)).await,
            Ok(_) => {}
        }
    }
    check_rights(server).await?;
    check_format(server).await
}

fn names(server: &Server) -> (String, String) {
    (server.address().user().to_owned(), server.address().database().to_owned())
}

async fn check_server(server: &mut Server) -> Result<(), JournalError> {
    let sql = "SELECT current_setting('server_version_num')::int AS version,
        current_setting('server_encoding') AS encoding,
        pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
        current_setting('synchronous_commit') AS durable,
        current_setting('synchronous_standby_names') AS standbys";
    let rows = server.rows(sql.to_owned()).await?;
    let Some(row) = rows.first() else { return Err(JournalError::Refused) };
    let name = server.address().server();
    let version: i32 = server.column(row, "version")?;
    if version < VERSION_MIN * 10_000 {
        return Err(JournalError::OldServer { server: name, version: version / 10_000 });
    }
    let encoding: String = server.column(row, "encoding")?;
    if encoding != "UTF8" {
        return Err(JournalError::Encoding { database: names(server).1, encoding });
    }
    if server.column(row, "read_only")? {
        return Err(JournalError::ReadOnly { server: name });
    }
    let durable: String = server.column(row, "durable")?;
    let standbys: String = server.column(row, "standbys")?;
    if durable == "off" {
        tracing::warn!(
            "the PostgreSQL server acknowledges before it writes to its disk (synchronous_commit = off): if it crashes, \
             acknowledged results can be lost"
        );
    } else if durable == "local" || standbys.is_empty() {
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

async fn check_rights(server: &mut Server) -> Result<(), JournalError> {
    let needed = TABLES
        .map(|table| {
            let rights: &[_] = match table {
                "spelrum_owner" => &["SELECT", "INSERT", "UPDATE"],
                _ => &["SELECT", "INSERT", "DELETE"],
            };
            let has = |right| format!("has_table_privilege(to_regclass('{table}'), '{right}')");
            rights.iter().map(has).collect::<Vec<_>>().join(" AND ")
        })
        .join(" AND ");
    let rows = server.rows(format!("SELECT {needed} AS has_rights")).await?;
    let has_rights = rows.first().map(|row| server.column(row, "has_rights")).transpose()?;
    if has_rights == Some(true) {
        return Ok(());
    }
    let (user, database) = names(server);
    let grant = format!("GRANT SELECT, INSERT, UPDATE, DELETE ON {} TO {user}", TABLES.join(", "));
    Err(JournalError::Rights { database, user, right: "write to the journal".to_owned(), grant })
}

async fn check_format(server: &mut Server) -> Result<(), JournalError> {
    let rows = server.rows("SELECT format FROM spelrum_owner WHERE id = 1".to_owned()).await?;
    let format = rows.first().map(|row| server.column::<i32>(row, "format")).transpose()?;
    match format {
        Some(format) if format > FORMAT => Err(JournalError::NewerFormat { format, known: FORMAT }),
        _ => Ok(()),
    }
}
