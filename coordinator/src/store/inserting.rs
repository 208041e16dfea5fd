//! What every game brings is inserted as values, many rows by one statement: as JSON, which takes any number of
//! rows, a row takes four times as long.

use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Sqlite, SqliteConnection};

use super::error::StoreError;

/// A statement whose values are not all there yet.
pub(super) type Insert<'q> = Query<'q, Sqlite, SqliteArguments>;

/// A row of one table.
pub(super) trait Row<'r> {
    /// How such rows are inserted.
    fn statements() -> &'static Statements;

    /// Adds the values of its columns, in their order.
    fn bind(&self, insert: Insert<'r>) -> Insert<'r>;
}

/// The statements for one table: each takes a fixed number of rows.
pub(super) struct Statements(Vec<(usize, String)>);

impl Statements {
    /// How many rows a statement takes: as many as there are of the first, then of the next.
    const ROWS: [usize; 4] = [1_024, 64, 8, 1];

    /// SQLite's own bound.
    const VALUES_MAX: usize = 32_766;

    /// Those that insert into these columns of a table, which have commas between them.
    pub(super) fn new(table: &str, columns: &str) -> Self {
        let values = columns.split(',').count();
        let row = format!("({})", vec!["?"; values].join(", "));
        let fits = |rows: &usize| rows * values <= Self::VALUES_MAX;
        let of_rows = |rows: usize| {
            let values = vec![&*row; rows].join(", ");
            (rows, format!("INSERT INTO {table} ({columns}) VALUES {values}"))
        };
        Self(Self::ROWS.into_iter().filter(fits).map(of_rows).collect())
    }
}

/// Inserts rows in their order.
pub(super) async fn insert<'r, R: Row<'r>>(
    connection: &mut SqliteConnection,
    rows: &[R],
) -> Result<(), StoreError> {
    let mut rest = rows;
    for (at_once, statement) in &R::statements().0 {
        let chunks = rest.chunks_exact(*at_once);
        rest = chunks.remainder();
        for chunk in chunks {
            let insert = sqlx::query(statement.as_str());
            let insert = chunk.iter().fold(insert, |insert, row| row.bind(insert));
            insert.execute(&mut *connection).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use sqlx::{ConnectOptions as _, Row as _};

    use super::*;

    struct Pair(i64, &'static str);

    impl<'r> Row<'r> for Pair {
        fn statements() -> &'static Statements {
            static STATEMENTS: LazyLock<Statements> =
                LazyLock::new(|| Statements::new("pairs", "number, text"));
            &STATEMENTS
        }

        fn bind(&self, insert: Insert<'r>) -> Insert<'r> {
            insert.bind(self.0).bind(self.1)
        }
    }

    #[tokio::test]
    async fn any_number_of_rows_is_inserted_in_order() {
        let options = sqlx::sqlite::SqliteConnectOptions::new().in_memory(true);
        let mut connection = options.connect().await.unwrap();
        sqlx::query("CREATE TABLE pairs (number INTEGER, text TEXT)")
            .execute(&mut connection)
            .await
            .unwrap();
        for amount in [0, 1, 7, 8, 9, 63, 64, 65, 1_023, 1_024, 1_025, 2_048 + 64 + 2 * 8 + 3] {
            sqlx::query("DELETE FROM pairs").execute(&mut connection).await.unwrap();
            let rows: Vec<Pair> =
                (0..amount).map(|it| Pair(it, if it % 2 == 0 { "even" } else { "odd" })).collect();
            insert(&mut connection, &rows).await.unwrap();
            let found = sqlx::query("SELECT number, text FROM pairs ORDER BY rowid")
                .fetch_all(&mut connection)
                .await
                .unwrap();
            let found = found.iter().map(|row| (row.get::<i64, _>(0), row.get::<String, _>(1)));
            let expected = rows.iter().map(|row| (row.0, row.1.to_owned()));
            assert_eq!(found.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{amount}");
        }
    }

    #[test]
    fn a_statement_has_no_more_values_than_sqlite_takes() {
        for columns in [1, 15, 18, 31, 32, 33, 500, 512] {
            let statements = Statements::new("t", &vec!["c"; columns].join(", "));
            assert!(statements.0.iter().all(|(rows, _)| rows * columns <= Statements::VALUES_MAX));
            assert!(statements.0.iter().any(|(rows, _)| *rows == 1), "{columns}");
        }
    }
}
