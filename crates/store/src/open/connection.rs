//! Connection settings: those of writers, and those common to all.

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};

/// How long a statement waits for another program's lock.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a reader waits for other readers to end.
pub(crate) const PLACE_WAIT: Duration = Duration::from_secs(10);

/// Number of SQLite instructions between two looks at the clock: well under a millisecond.
pub(crate) const INSTRUCTIONS_BETWEEN_LOOKS: i32 = 10_000;

/// The size kept for the log's file when it restarts, so that the file need not grow anew each time.
const WAL_KEPT_BYTES: u64 = 4 << 20;

/// The `user_version` of a copy that no coordinator has opened (sqlite.org/pragma.html#pragma_user_version); otherwise
/// 0.
pub(crate) const COPIED: u32 = 1;

/// Writes the first page inside a transaction. The value is unchanged at the commit: SQLite writes every page that was
/// changed, even back to its old content. The query macros cannot describe a pragma.
pub(crate) const TOUCHES: [&str; 2] = ["PRAGMA user_version = 1", "PRAGMA user_version = 0"];

/// The options of every writing connection.
pub(crate) fn writing(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        // Checkpoints run apart from commits: see the module `checkpoint`.
        .pragma("wal_autocheckpoint", "0")
        // In KiB: the upper pages of every index stay in memory, and a large submit need not write pages early.
        .pragma("cache_size", "-32768")
        // When the log restarts from its beginning, the file is cut to this size: so its size shows how much there is
        // to copy.
        .pragma("journal_size_limit", WAL_KEPT_BYTES.to_string())
        .disable_statement_logging()
}
