//! Converts a database of a development build (schema 28) into one of the first release (schema 2):
//!
//! `cargo run --release -p spelrum-coordinator --example take_over -- OLD NEW`
//!
//! Both schemas have the same tables and columns, so every row is copied as it is. OLD is opened read-only and stays
//! as it was; no program may have it open.
#![expect(clippy::print_stdout, reason = "a tool for people")]

use std::error::Error;
use std::path::PathBuf;

use rusqlite::Connection;
use spelrum_coordinator::store::Writer;

/// The schema of the last development builds.
const SCHEMA: i64 = 28;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [old, new] = &paths[..] else { return Err("usage: take_over OLD NEW".into()) };
    if new.exists() {
        return Err(format!("{} exists: name a new file", new.display()).into());
    }
    let uri = format!("file:{}?mode=ro", std::path::absolute(old)?.display());
    {
        let old = Connection::open(&uri)?;
        let found: i64 =
            old.query_row("SELECT max(version) FROM _sqlx_migrations", [], |row| row.get(0))?;
        if found != SCHEMA {
            return Err(format!(
                "its schema has number {found} and not {SCHEMA}: open it with the last development \
                 build first"
            )
            .into());
        }
    }
    Writer::open(new).await?.close().await?;
    let games = copy(&uri, new)?;
    // Writes the digests of the tables, too.
    Writer::open(new).await?.close().await?;
    println!(
        "{games} games copied; compare them with: spelrum check --deep --db {}",
        new.display()
    );
    Ok(())
}

/// Copies all rows and the views of experiments; returns the number of games.
fn copy(old: &str, new: &PathBuf) -> rusqlite::Result<i64> {
    let mut into = Connection::open(new)?;
    into.pragma_update(None, "foreign_keys", false)?;
    into.execute("ATTACH ? AS old", [old])?;
    let transaction = into.transaction()?;
    let tables = "SELECT name FROM main.sqlite_schema
        WHERE type = 'table' AND name NOT IN ('_sqlx_migrations', 'table_digests', 'sqlite_stat1')";
    for table in texts(&transaction, tables)? {
        transaction.execute_batch(&format!(
            "DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM old.{table}"
        ))?;
    }
    let views = "SELECT sql FROM old.sqlite_schema WHERE type = 'view'
        AND name NOT IN (SELECT name FROM main.sqlite_schema) ORDER BY rowid";
    for view in texts(&transaction, views)? {
        transaction.execute_batch(&view)?;
    }
    let broken: i64 =
        transaction
            .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0))?;
    assert_eq!(broken, 0, "rows refer to rows that are missing");
    let games = transaction.query_row("SELECT count(*) FROM games", [], |row| row.get(0))?;
    transaction.commit()?;
    Ok(games)
}

fn texts(connection: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    connection.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}
