//! Reads fields of rows in an untrusted file.

use rusqlite::{Row, RowIndex};

/// Longest name, in bytes.
pub(crate) const NAME_BYTES_MAX: usize = 4 << 10;
/// Longest text written by a person.
pub(crate) const TEXT_BYTES_MAX: usize = 2 << 20;
/// Longest text or blob of any kind.
pub(crate) const VALUE_BYTES_MAX: i32 = 8 << 20;

/// Reads a text of limited length.
pub(crate) fn text(
    row: &Row<'_>,
    column: impl RowIndex,
    bytes_max: usize,
) -> rusqlite::Result<String> {
    let text: String = row.get(column)?;
    if text.len() <= bytes_max { Ok(text) } else { Err(rusqlite::Error::InvalidQuery) }
}

/// Reads a number from 0 up, below 2^53.
pub(crate) fn number(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<u64> {
    optional(row, column)?.ok_or(rusqlite::Error::InvalidQuery)
}

/// Reads an optional number from 0 up, below 2^53.
pub(crate) fn optional(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<Option<u64>> {
    let value: Option<i64> = row.get(column)?;
    let read = value.map(|value| u64::try_from(value).ok().filter(|value| *value < 1 << 53));
    match read {
        None => Ok(None),
        Some(Some(value)) => Ok(Some(value)),
        Some(None) => Err(rusqlite::Error::InvalidQuery),
    }
}

/// A name from an untrusted file, made safe to print.
pub(crate) fn shown(name: &str) -> String {
    name.chars()
        .take(60)
        .map(|character| if character.is_control() { '?' } else { character })
        .collect()
}
