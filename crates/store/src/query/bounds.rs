//! How much a query may take (invariant 9).

use std::time::Duration;

use rusqlite::limits::Limit;

/// How many queries may run at once.
pub(super) const QUERIES_MAX: u32 = 4;
/// The most bytes that a whole table takes in memory, but for its last row.
pub(super) const TABLE_BYTES_MAX: usize = 32 << 20;
/// A batch of rows is handed over when it has so many bytes,
pub(super) const BATCH_BYTES: usize = 128 << 10;
/// or is so old.
pub(super) const BATCH_AGE: Duration = Duration::from_millis(200);
/// How many batches may wait for their reader.
pub(super) const BATCHES_MAX: usize = 2;
/// How long a query sleeps while its reader has not taken a batch: it is woken when one is taken.
pub(super) const WAKE_EVERY: Duration = Duration::from_millis(50);
/// How many values all quantiles of a query hold, at 8 bytes each: on a coordinator, and on somebody's own
/// file.
const VALUES_MAX_SHARED: usize = 2 << 20;
const VALUES_MAX_OWN: usize = 64 << 20;

/// The bounds of a statement that are not SQLite's own (sqlite.org/c3ref/c_limit_attached.html).
pub(super) const LIMITS: [(Limit, i32); 7] = [
    // A text, a blob or a row. Whatever is stored came in a message of half of it at most. SQLite does
    // not look at the clock within a function: see the module `text_functions`.
    (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX),
    // Each of a row's values may have the length above.
    (Limit::SQLITE_LIMIT_COLUMN, 200),
    // Also of the views in the schema.
    (Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    // The time of LIKE is the product of pattern and text.
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
];
pub(super) const VALUE_BYTES_MAX: i32 = 8 << 20;
pub(super) const SQL_BYTES_MAX: i32 = 1 << 20;

/// What a query on a coordinator may write to temporary files: all together, a few times as much as a large sort.
const SPILL_BYTES_MAX_SHARED: u64 = 1 << 30;

/// Experiments' own views that are made for one query.
pub(super) const OWN_VIEWS_MAX: usize = 100;

/// What a query may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(super) rows_max: u64,
    /// Of its own time, without that for which it waits for its reader.
    pub(super) time_max: Option<Duration>,
    /// How long it waits for its reader, in all.
    pub(super) wait_max: Option<Duration>,
    pub(super) values_max: usize,
    /// What it may write to temporary files.
    pub(super) spill_bytes_max: Option<u64>,
}

impl Bounds {
    /// Where others depend on the database.
    pub(crate) fn shared(rows_max: u64, time_max: Duration, wait_max: Duration) -> Self {
        Self {
            rows_max,
            time_max: Some(time_max),
            wait_max: Some(wait_max),
            values_max: VALUES_MAX_SHARED,
            spill_bytes_max: Some(SPILL_BYTES_MAX_SHARED),
        }
    }

    /// With less room for temporary files.
    #[must_use]
    pub(crate) fn with_spill_bytes_max(self, bytes_max: u64) -> Self {
        Self { spill_bytes_max: Some(bytes_max.min(SPILL_BYTES_MAX_SHARED)), ..self }
    }

    /// Where who asks is who waits.
    pub(crate) fn own(rows_max: u64, time_max: Option<Duration>) -> Self {
        Self {
            rows_max,
            time_max,
            wait_max: None,
            values_max: VALUES_MAX_OWN,
            spill_bytes_max: None,
        }
    }
}
