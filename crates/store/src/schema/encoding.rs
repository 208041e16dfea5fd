//! Values as parameters of statements.

use serde::Serialize;
use spelrum_engine::{Remarks, SearchDetails};

use crate::error::StoreError;

/// Rows for `jsonb_each`: each an array of its columns. One parameter, however many rows.
///
/// `jsonb_each` and not `json_each`: a row then stays in SQLite's binary form while its columns are
/// picked, instead of being written as text and parsed again (27,000 instead of 20,000 games/s).
pub(crate) fn rows<T: Serialize>(rows: &[T]) -> Result<String, StoreError> {
    json(rows)
}

/// A value as JSON.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))
}

/// What a player reported of a move, from the columns of its row of `move_notes`, all `None` without one.
pub(crate) fn remarks(
    note: Option<String>,
    distribution_json: Option<String>,
    refused: Option<u32>,
    details: SearchDetails,
) -> Result<Option<Box<Remarks>>, serde_json::Error> {
    let distribution = distribution_json.as_deref().map(serde_json::from_str).transpose()?;
    let remarks = Remarks {
        note: note.unwrap_or_default(),
        distribution: distribution.unwrap_or_default(),
        refused: refused.unwrap_or_default(),
        details,
    };
    Ok((remarks != Remarks::default()).then(|| Box::new(remarks)))
}

/// Bytes in lower-case hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
