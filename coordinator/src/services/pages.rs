//! A query's rows, cut into messages.

use std::time::Duration;

use prost::Message as _;
use spelrum_proto::limits::{MESSAGE_BYTES_MAX, QUERY_ROWS_DEFAULT};
use spelrum_proto::{Reason, Refusal, v1};

use spelrum_store::SqlValue;

/// A page is sent when it has this many bytes.
const PAGE_BYTES: usize = 256 << 10;

/// An empty page is sent when a query has found no rows for this long: an answer without progress is treated as one
/// that its client does not read (`server/answer.rs`).
pub(super) const QUIET: Duration = Duration::from_secs(5);

/// Number of rows to read when the client asks for this many.
pub(super) fn rows_max(requested: u32) -> u64 {
    match requested {
        0 => QUERY_ROWS_DEFAULT.into(),
        // All rows.
        u32::MAX => u64::MAX,
        requested => requested.into(),
    }
}

/// Cuts rows into messages.
pub(super) fn split(rows: Vec<Vec<SqlValue>>) -> Result<Vec<v1::QueryResponse>, Refusal> {
    let mut pages = Vec::new();
    let mut page = v1::QueryResponse::default();
    let mut bytes = 0;
    for row in rows {
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
    if !page.rows.is_empty() {
        pages.push(page);
    }
    Ok(pages)
}

fn value(value: SqlValue) -> v1::SqlValue {
    use v1::sql_value::Value;
    v1::SqlValue {
        value: match value {
            SqlValue::Null => None,
            SqlValue::Integer(value) => Some(Value::Integer(value)),
            SqlValue::Real(value) => Some(Value::Real(value)),
            SqlValue::Text(value) => Some(Value::Text(value)),
            SqlValue::Blob(value) => Some(Value::Blob(value)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: usize, bytes: usize) -> Vec<Vec<SqlValue>> {
        let row = |index| vec![SqlValue::Integer(index as i64), SqlValue::Text("x".repeat(bytes))];
        (0..rows).map(row).collect()
    }

    #[test]
    fn pages_hold_every_row_once_in_order_and_fit() {
        assert!(split(Vec::new()).unwrap().is_empty());
        let pages = split(rows(5_000, 1_000)).unwrap();
        assert!(pages.len() > 10);
        assert!(pages.iter().all(|page| page.encoded_len() < PAGE_BYTES + 2_000));
        let numbers = pages.iter().flat_map(|page| &page.rows).map(|row| row.values[0].clone());
        assert!(numbers.eq((0..5_000).map(|number| value(SqlValue::Integer(number)))));
    }

    #[test]
    fn a_row_beyond_a_message_is_refused() {
        assert_eq!(split(rows(1, MESSAGE_BYTES_MAX)).unwrap_err().reason, Reason::BadQuery);
    }

    #[test]
    fn the_number_of_rows_is_as_asked() {
        assert_eq!([0, 7, u32::MAX].map(rows_max), [QUERY_ROWS_DEFAULT.into(), 7, u64::MAX]);
    }
}
