//! Numbers as SQLite has them, and the greatest that the database holds.

use super::error::StoreError;

/// The greatest number that the database holds: 2^53 - 1.
pub(super) const SAFE_MAX: u64 = (1 << 53) - 1;

/// A count as SQLite has it. Results are checked to be below 2^53 before they come here.
pub(super) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A length as SQLite has it.
pub(super) fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// A sum over one game as SQLite has it: below 2^53.
#[expect(clippy::cast_possible_truncation, reason = "bounded, and without a fraction")]
pub(super) fn bounded(sum: f64) -> i64 {
    sum.clamp(0.0, real(SAFE_MAX)) as i64
}

/// A count below 2^53 as a real, exactly.
#[expect(clippy::cast_precision_loss, reason = "below 2^53 nothing is lost")]
pub(super) fn real(number: u64) -> f64 {
    number as f64
}

/// A number as it is stored, if the database can hold it.
pub(super) fn safe(what: &'static str, value: u64) -> Result<i64, StoreError> {
    if value > SAFE_MAX { Err(StoreError::TooLarge { what, value }) } else { Ok(integer(value)) }
}
