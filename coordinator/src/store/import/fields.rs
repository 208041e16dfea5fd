//! Fields of rows of a file that may be anybody's.

use rusqlite::Row;

/// The longest name, in bytes.
pub(super) const NAME_BYTES_MAX: usize = 4 << 10;
/// The longest text of what a person wrote.
pub(super) const TEXT_BYTES_MAX: usize = 2 << 20;

/// A text that is not longer than it may be.
pub(super) fn text(row: &Row<'_>, column: usize, bytes_max: usize) -> rusqlite::Result<String> {
    let text: String = row.get(column)?;
    if text.len() <= bytes_max { Ok(text) } else { Err(rusqlite::Error::InvalidQuery) }
}

/// A number from 0 up, below 2^53.
pub(super) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    optional(row, column)?.ok_or(rusqlite::Error::InvalidQuery)
}

/// The same, or none.
pub(super) fn optional(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let value: Option<i64> = row.get(column)?;
    let read = value.map(|value| u64::try_from(value).ok().filter(|value| *value < 1 << 53));
    match read {
        None => Ok(None),
        Some(Some(value)) => Ok(Some(value)),
        Some(None) => Err(rusqlite::Error::InvalidQuery),
    }
}
