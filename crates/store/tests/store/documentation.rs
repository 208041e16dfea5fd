//! `docs/sql.md` is the schema's reference, and complete. Its questions are asked in `cli/tests/all/cookbook.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;
use std::path::Path;

use spelrum_test_support::{assert_generated, cell_text, table};

use crate::fixture::Store;

/// Tables and views, but for those that each experiment has for itself.
const NAMED: &str = "name NOT LIKE 'sqlite_%' AND name NOT IN (
    SELECT results_view FROM experiments UNION SELECT times_view FROM experiments)";

fn reference() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sql.md");
    std::fs::read_to_string(path).unwrap()
}

/// The section under a heading `## name` or `### name`, to the next heading.
fn section<'t>(reference: &'t str, name: &str) -> Option<&'t str> {
    let heading = format!("\n### `{name}`\n");
    let from = reference.find(&heading)? + heading.len();
    let rest = &reference[from..];
    Some(&rest[..rest.find("\n#").unwrap_or(rest.len())])
}

async fn columns(store: &Store, name: &str) -> Vec<String> {
    store.texts(&format!("SELECT name FROM pragma_table_info('{name}')")).await
}

#[tokio::test]
async fn every_table_view_and_column_is_in_the_reference() {
    let store = Store::new().await;
    let reference = reference();
    let mut wrong = Vec::new();
    let names = store
        .texts(&format!(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND {NAMED}"
        ))
        .await;
    for name in &names {
        let Some(section) = section(&reference, name) else {
            wrong.push(format!("{name} is missing"));
            continue;
        };
        if name == "_sqlx_migrations" {
            continue;
        }
        let cells = section.lines().filter(|line| line.starts_with("| `"));
        let described: BTreeSet<&str> = cells
            .flat_map(|line| line.split('|').nth(1).unwrap().split('`').skip(1).step_by(2))
            .collect();
        let columns = columns(&store, name).await;
        let columns = columns.iter().map(String::as_str).collect();
        for column in described.symmetric_difference(&columns) {
            wrong.push(format!("{name}.{column} is missing, or is no column"));
        }
    }
    let headings =
        reference.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    for heading in headings.filter(|heading| !names.iter().any(|name| name == heading)) {
        wrong.push(format!("{heading} is no table or view"));
    }
    assert!(wrong.is_empty(), "docs/sql.md: {}", wrong.join("\n"));
}

/// The comment that the next lines are, without its indentation.
fn comment<'t>(lines: &mut Peekable<impl Iterator<Item = &'t str>>, start: &str) -> String {
    let mut text = Vec::new();
    while let Some(line) = lines.peek().and_then(|line| line.strip_prefix(start)) {
        text.push(line);
        lines.next();
    }
    text.join(" ")
}

/// Whether the line ends the expression of a column.
fn ends(line: &str, column: &str) -> bool {
    let before = line.trim_end_matches(',').strip_suffix(column);
    before.is_some_and(|before| before.ends_with([' ', '.']))
}

/// A view's description and table, by the comments in its SQL (`migrations/0002_views.sql` describes their form).
fn view_part(name: &str, sql: &str, columns: &[String]) -> String {
    let mut lines = sql.lines().peekable();
    lines.next();
    let description = comment(&mut lines, "-- ");
    assert!(!description.is_empty(), "{name} has no comment");
    lines.by_ref().find(|line| *line == "SELECT").unwrap();
    let mut rows: Vec<(Vec<String>, String)> = Vec::new();
    for column in columns {
        let text = comment(&mut lines, "    -- ");
        if !text.is_empty() {
            rows.push((Vec::new(), cell_text(&text)));
        }
        let (described, _) =
            rows.last_mut().unwrap_or_else(|| panic!("{name}.{column} has no comment"));
        described.push(format!("`{column}`"));
        let end = lines.by_ref().find(|line| ends(line, column));
        assert!(end.is_some(), "{name}.{column} has no line that ends with its name");
    }
    let rows = rows.iter().map(|(columns, text)| format!("| {} | {text} |", columns.join(", ")));
    format!("{description}\n\n{}", table("column | meaning", &rows.collect::<Vec<_>>()))
}

#[tokio::test]
async fn the_pages_views_are_described_by_their_comments() {
    let store = Store::new().await;
    let mut parts = BTreeMap::new();
    let views = format!("SELECT name FROM sqlite_schema WHERE type = 'view' AND {NAMED}");
    for name in store.texts(&views).await {
        let sql = format!("SELECT sql FROM sqlite_schema WHERE name = '{name}'");
        let sql = store.texts(&sql).await.remove(0);
        let part = view_part(&name, &sql, &columns(&store, &name).await);
        parts.insert(name, part);
    }
    assert_generated("docs/sql.md", parts);
}
