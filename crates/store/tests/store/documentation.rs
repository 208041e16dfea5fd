//! `docs/sql.md` is the schema's reference, and complete. Its questions are asked in `cli/tests/all/cookbook.rs`.

use std::path::Path;

use crate::fixture::Store;

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

#[tokio::test]
async fn every_table_view_and_column_is_in_the_reference() {
    let store = Store::new().await;
    let reference = reference();
    let mut missing = Vec::new();
    let names = store
        .texts(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
            AND name NOT LIKE 'sqlite_%' AND name NOT IN (
                SELECT results_view FROM experiments UNION SELECT times_view FROM experiments)",
        )
        .await;
    for name in names {
        let Some(section) = section(&reference, &name) else {
            missing.push(name);
            continue;
        };
        if name == "_sqlx_migrations" {
            continue;
        }
        for column in store.texts(&format!("SELECT name FROM pragma_table_info('{name}')")).await {
            if !section.contains(&format!("`{column}`")) {
                missing.push(format!("{name}.{column}"));
            }
        }
    }
    assert!(missing.is_empty(), "not in docs/sql.md: {}", missing.join(", "));
}
