//! Numbers as the server stores them, all as `bigint`.

/// A number as it was stored: never negative.
pub(crate) fn number(stored: i64) -> u64 {
    stored.unsigned_abs()
}

/// The same where it is of 32 bits.
pub(crate) fn small(stored: i64) -> u32 {
    u32::try_from(stored).unwrap_or(u32::MAX)
}
