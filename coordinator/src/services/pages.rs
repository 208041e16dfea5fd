//! A query's table, cut into messages.

use prost::Message as _;
use spelrum_proto::limits::{MESSAGE_BYTES_MAX, QUERY_ROWS_DEFAULT, QUERY_ROWS_MAX};
use spelrum_proto::{Reason, Refusal, v1};

use crate::store::{SqlValue, Table};

/// A page is sent when it has so many bytes.
const PAGE_BYTES: usize = 256 << 10;

/// How many rows to read when the client asks for so many.
pub(super) fn rows_max(asked: u32) -> Result<u32, Refusal> {
    match asked {
        0 => Ok(QUERY_ROWS_DEFAULT),
        1..=QUERY_ROWS_MAX => Ok(asked),
        _ => Err(Refusal::new(
            Reason::BadQuery,
            format!("{asked} rows are more than the {QUERY_ROWS_MAX} that one query may have"),
            "ask for fewer, page by key (WHERE game_id > … ORDER BY game_id LIMIT …), or read a \
             copy of the database",
        )),
    }
}

/// Cuts a table into messages: columns in the first, `truncated` in the last, at least one.
pub(super) fn split(table: Table) -> Result<Vec<v1::QueryResponse>, Refusal> {
    let mut pages = Vec::new();
    let mut page = v1::QueryResponse { columns: table.columns, ..Default::default() };
    let mut bytes = page.encoded_len();
    for row in table.rows {
        let row = v1::Row { values: row.into_iter().map(value).collect() };
        let more = row.encoded_len();
        if more > MESSAGE_BYTES_MAX / 2 {
            return Err(Refusal::new(
                Reason::BadQuery,
                format!("a row has {more} bytes, which is more than a message may have"),
                "select fewer or shorter columns: substr() cuts a text",
            ));
        }
        if bytes + more > PAGE_BYTES && !page.rows.is_empty() {
            pages.push(std::mem::take(&mut page));
            bytes = 0;
        }
        bytes += more;
        page.rows.push(row);
    }
    page.truncated = table.truncated;
    pages.push(page);
    Ok(pages)
}

fn value(value: SqlValue) -> v1::SqlValue {
    use v1::sql_value::Value;
    v1::SqlValue {
        value: match value {
            SqlValue::Null => None,
            SqlValue::Integer(it) => Some(Value::Integer(it)),
            SqlValue::Real(it) => Some(Value::Real(it)),
            SqlValue::Text(it) => Some(Value::Text(it)),
            SqlValue::Blob(it) => Some(Value::Blob(it)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: usize, bytes: usize) -> Table {
        Table {
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: (0..rows)
                .map(|it| vec![SqlValue::Integer(it as i64), SqlValue::Text("x".repeat(bytes))])
                .collect(),
            truncated: true,
        }
    }

    #[test]
    fn an_empty_table_is_one_page_with_its_columns() {
        let pages = split(table(0, 0)).unwrap();
        assert_eq!(pages.len(), 1);
        assert_eq!(pages[0].columns, ["a", "b"]);
        assert!(pages[0].truncated);
    }

    #[test]
    fn pages_hold_every_row_once_in_order_and_fit() {
        let pages = split(table(5_000, 1_000)).unwrap();
        assert!(pages.len() > 10);
        assert!(pages[1..].iter().all(|page| page.columns.is_empty()));
        let (last, others) = pages.split_last().unwrap();
        assert!(last.truncated && others.iter().all(|page| !page.truncated));
        assert!(pages.iter().all(|page| page.encoded_len() < PAGE_BYTES + 2_000));
        let numbers = pages.iter().flat_map(|page| &page.rows).map(|row| row.values[0].clone());
        assert!(numbers.eq((0..5_000).map(|it| value(SqlValue::Integer(it)))));
    }

    #[test]
    fn a_row_beyond_a_message_is_refused() {
        assert_eq!(split(table(1, MESSAGE_BYTES_MAX)).unwrap_err().reason, Reason::BadQuery);
    }

    #[test]
    fn the_number_of_rows_is_bounded() {
        assert_eq!(rows_max(0), Ok(QUERY_ROWS_DEFAULT));
        assert_eq!(rows_max(7), Ok(7));
        assert!(rows_max(QUERY_ROWS_MAX + 1).is_err());
    }
}
