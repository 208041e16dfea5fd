//! Suggests the nearest name or word for a statement that SQLite cannot parse.

use rusqlite::Connection;
use spelrum_engine::nearest;

/// Words that begin statements and clauses.
const KEYWORDS: [&str; 16] = [
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "OFFSET", "JOIN", "UNION",
    "WITH", "VALUES", "DISTINCT", "EXPLAIN", "BETWEEN", "PRAGMA",
];

const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE '\\_%' ESCAPE '\\'
    AND ?1 IS NOT NULL ORDER BY name";

/// Columns of the tables and views that the statement names.
const COLUMNS: &str =
    "SELECT DISTINCT c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
    WHERE s.type IN ('table', 'view') AND instr(lower(?1), lower(s.name)) > 0 ORDER BY c.name";

const FUNCTIONS: &str =
    "SELECT DISTINCT name FROM pragma_function_list WHERE ?1 IS NOT NULL ORDER BY name";

/// The nearest match for the word that SQLite names, if any is near.
pub(super) fn suggest(connection: &Connection, sql: &str, message: &str) -> Option<String> {
    let (word, question) = if let Some(table) = message.strip_prefix("no such table: ") {
        (table, TABLES)
    } else if let Some(column) = message.strip_prefix("no such column: ") {
        (column.rsplit('.').next()?, COLUMNS)
    } else if let Some(function) = message.strip_prefix("no such function: ") {
        (function, FUNCTIONS)
    } else {
        let word = message.strip_prefix("near \"")?.split('"').next()?.to_ascii_uppercase();
        let is_keyword = KEYWORDS.contains(&word.as_str());
        return nearest(&word, KEYWORDS).filter(|_| !is_keyword).map(ToOwned::to_owned);
    };
    let mut statement = connection.prepare(question).ok()?;
    let names = statement.query_map([sql], |row| row.get::<_, String>(0)).ok()?;
    let names: Vec<String> = names.collect::<Result<_, _>>().ok()?;
    nearest(&word.to_ascii_lowercase(), names.iter().map(String::as_str)).map(ToOwned::to_owned)
}
