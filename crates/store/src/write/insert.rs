//! Inserts each game's rows as values, many rows per statement: JSON takes any number of rows, but each row takes four
//! times as long.

use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments as _, Encode, Sqlite, SqliteConnection, Type};

use crate::check::row_digests::{RowEncoder, Stored, Tags};
use crate::error::StoreError;

/// A row of one table.
pub(crate) trait Row {
    /// The statements that insert such rows.
    fn statements() -> &'static Statements;

    /// Adds the values of the row's columns, in their order.
    fn add_to(&self, values: &mut Values);
}

/// The values of rows.
pub(crate) struct Values {
    arguments: SqliteArguments,
    error: Option<sqlx::error::BoxDynError>,
    /// The state of digesting, if digests are requested.
    digesting: Option<Digesting>,
}

struct Digesting {
    tags: &'static Tags,
    /// The column of the next value.
    column: usize,
    encoder: RowEncoder,
}

impl Values {
    /// Adds the next value.
    pub(crate) fn add<'v>(
        &mut self,
        value: impl Encode<'v, Sqlite> + Type<Sqlite> + Stored,
    ) -> &mut Self {
        if let Some(Digesting { tags, column, encoder }) = &mut self.digesting {
            if let Some(tag) = tags.get(*column) {
                value.encode_into(tag, encoder);
            }
            *column += 1;
        }
        if let Err(error) = self.arguments.add(value) {
            self.error.get_or_insert(error);
        }
        self
    }

    /// Returns the digest of the last row and begins the next row.
    fn finish_row(&mut self) -> Option<u64> {
        let digesting = self.digesting.as_mut()?;
        digesting.column = 0;
        Some(digesting.encoder.finish())
    }
}

/// The statements for one table, each for a fixed number of rows.
pub(crate) struct Statements {
    /// Number of values in a row.
    columns: usize,
    /// Tags for row digests.
    tags: Tags,
    /// Each statement with its number of rows.
    by_rows: Vec<(usize, String)>,
}

impl Statements {
    /// Rows per statement: the first size is used as often as it fits, then the next.
    const ROWS: [usize; 4] = [1_024, 64, 8, 1];

    /// SQLite's limit on values per statement.
    const VALUES_MAX: usize = 32_766;

    /// Statements that insert into these comma-separated columns of a table. Where rows are digested, the columns must
    /// be in the table's order.
    pub(crate) fn new(table: &str, names: &str) -> Self {
        let columns = names.split(',').count();
        let tags = Tags::new(table, names.split(',').map(str::trim));
        let row = format!("({})", vec!["?"; columns].join(", "));
        let fits = |rows: &usize| rows * columns <= Self::VALUES_MAX;
        let of_rows = |rows: usize| {
            let values = vec![&*row; rows].join(", ");
            (rows, format!("INSERT INTO {table} ({names}) VALUES {values}"))
        };
        Self { columns, tags, by_rows: Self::ROWS.into_iter().filter(fits).map(of_rows).collect() }
    }
}

/// Inserts rows in their order.
pub(crate) async fn insert<R: Row>(
    connection: &mut SqliteConnection,
    rows: &[R],
) -> Result<(), StoreError> {
    insert_rows(connection, rows, None).await
}

/// Inserts rows in their order, and passes the digest of each to a listener.
pub(crate) async fn insert_digested<R: Row>(
    connection: &mut SqliteConnection,
    rows: &[R],
    mut tell: impl FnMut(&R, u64) + Send,
) -> Result<(), StoreError> {
    insert_rows(connection, rows, Some(&mut tell)).await
}

/// Receives the digest of each row.
type Listener<'l, R> = &'l mut (dyn FnMut(&R, u64) + Send);

async fn insert_rows<R: Row>(
    connection: &mut SqliteConnection,
    rows: &[R],
    mut tell: Option<Listener<'_, R>>,
) -> Result<(), StoreError> {
    let Statements { columns, tags, by_rows } = R::statements();
    let mut encoder = RowEncoder::default();
    let mut rest = rows;
    for (at_once, statement) in by_rows {
        let chunks = rest.chunks_exact(*at_once);
        rest = chunks.remainder();
        for chunk in chunks {
            let mut values = Values {
                arguments: SqliteArguments::default(),
                error: None,
                digesting: tell.is_some().then(|| Digesting {
                    tags,
                    column: 0,
                    encoder: std::mem::take(&mut encoder),
                }),
            };
            values.arguments.reserve(at_once * columns, 0);
            for row in chunk {
                row.add_to(&mut values);
                if let Some((tell, digest)) = tell.as_mut().zip(values.finish_row()) {
                    tell(row, digest);
                }
            }
            if let Some(digesting) = values.digesting.take() {
                encoder = digesting.encoder;
            }
            if let Some(error) = values.error {
                return Err(sqlx::Error::Encode(error).into());
            }
            sqlx::query_with(statement.as_str(), values.arguments)
                .execute(&mut *connection)
                .await?;
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

    impl Row for Pair {
        fn statements() -> &'static Statements {
            static STATEMENTS: LazyLock<Statements> =
                LazyLock::new(|| Statements::new("pairs", "number, text"));
            &STATEMENTS
        }

        fn add_to(&self, values: &mut Values) {
            values.add(self.0).add(self.1);
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
            let rows: Vec<Pair> = (0..amount)
                .map(|number| Pair(number, if number % 2 == 0 { "even" } else { "odd" }))
                .collect();
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
            assert!(
                statements.by_rows.iter().all(|(rows, _)| rows * columns <= Statements::VALUES_MAX)
            );
            assert!(statements.by_rows.iter().any(|(rows, _)| *rows == 1), "{columns}");
        }
    }
}
