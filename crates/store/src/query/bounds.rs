//! Resource limits of queries (invariant 9).

use std::time::Duration;

use rusqlite::limits::Limit;

/// Queries that may run at once.
pub(super) const QUERIES_MAX: u32 = 4;
/// Maximum memory of a whole table in bytes, except for its last row.
pub(super) const TABLE_BYTES_MAX: usize = 32 << 20;
/// A batch of rows is sent at this size,
pub(super) const BATCH_BYTES: usize = 128 << 10;
/// or at this age.
pub(super) const BATCH_AGE: Duration = Duration::from_millis(200);
/// Batches that may wait for their reader.
pub(super) const BATCHES_MAX: usize = 2;
/// Longest sleep of a query whose reader has not taken a batch; taking a batch wakes it earlier.
pub(super) const WAKE_EVERY: Duration = Duration::from_millis(50);
/// Values held by all quantiles of a query, at 8 bytes each: on a coordinator, and on the user's own file.
const VALUES_MAX_SHARED: usize = 2 << 20;
const VALUES_MAX_OWN: usize = 64 << 20;

/// Limits on statements that differ from SQLite's defaults (sqlite.org/c3ref/c_limit_attached.html).
pub(super) const LIMITS: [(Limit, i32); 7] = [
    // A text, a blob or a row. Stored values came in messages of at most half this size. SQLite does not check the
    // clock within a function: see the module `text_functions`.
    (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX),
    // Each value of a row may have the length above.
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    // Also applies to the views in the schema.
    (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    // LIKE takes time proportional to pattern length times text length.
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
];
pub(super) const VALUE_BYTES_MAX: i32 = 8 << 20;
pub(super) const SQL_BYTES_MAX: i32 = 1 << 20;

/// Maximum size of a query's temporary files on a coordinator, all together: a few times a large sort.
const SPILL_BYTES_MAX_SHARED: u64 = 1 << 30;

/// Experiments' own views that may be created for one query.
pub(super) const OWN_VIEWS_MAX: usize = 100;

/// Limits of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(super) rows_max: u64,
    /// Limit on its own time, without the wait for its reader.
    pub(super) time_max: Option<Duration>,
    /// Limit on its total wait for its reader.
    pub(super) wait_max: Option<Duration>,
    pub(super) values_max: usize,
    /// Limit on bytes written to temporary files.
    pub(super) spill_bytes_max: Option<u64>,
}

impl Bounds {
    /// Limits where others depend on the database.
    pub(crate) fn shared(rows_max: u64, time_max: Duration, wait_max: Duration) -> Self {
        Self {
            rows_max,
            time_max: Some(time_max),
            wait_max: Some(wait_max),
            values_max: VALUES_MAX_SHARED,
            spill_bytes_max: Some(SPILL_BYTES_MAX_SHARED),
        }
    }

    /// Lowers the limit on temporary files.
    #[must_use]
    pub(crate) fn with_spill_bytes_max(self, bytes_max: u64) -> Self {
        Self { spill_bytes_max: Some(bytes_max.min(SPILL_BYTES_MAX_SHARED)), ..self }
    }

    /// Limits where only the caller waits.
    pub(crate) fn internal(rows_max: u64, time_max: Option<Duration>) -> Self {
        Self {
            rows_max,
            time_max,
            wait_max: None,
            values_max: VALUES_MAX_OWN,
            spill_bytes_max: None,
        }
    }
}
