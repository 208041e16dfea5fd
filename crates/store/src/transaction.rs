//! One transaction of the writer: everything in it is stored, or nothing.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use spelrum_engine::MoveRecord;
use spelrum_tournament::OpeningsRule;
use spelrum_tournament::disturbance::TimedCell;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _, Sqlite, SqliteConnection};

use super::connection::{TOUCHES, writing};
use super::error::StoreError;
use super::lock::Lock;
use super::soundness::SharedFiles;
use super::walk::{ExclusionWalk, Walk};
use super::{Writer, unix_now_us};

/// An open `BEGIN IMMEDIATE` transaction. Dropped without a commit, it leaves nothing behind.
#[derive(Debug)]
pub struct Transaction<'w> {
    pub(super) sql: sqlx::Transaction<'w, Sqlite>,
    pub(super) cache: &'w mut Cache,
    files: &'w SharedFiles,
    lock: &'w mut Lock,
    /// One time for everything in it.
    pub(super) now_unix_us: i64,
}

impl Writer {
    /// Begins a transaction, and checks the epoch.
    ///
    /// # Errors
    /// If the database is busy, full, damaged, not at its path any more, or another coordinator has taken it over.
    pub async fn begin(&mut self) -> Result<Transaction<'_>, StoreError> {
        if !std::mem::replace(&mut self.cache.committed, false) {
            // What a transaction that was rolled back has read or written never was.
            self.cache = Cache::default();
            self.leave_rolled_back().await?;
            self.files.now().doubt_last();
        }
        self.files.check_before(&mut self.connection, &mut self.lock).await?;
        let mut sql = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let found = sqlx::query_scalar!(
            r#"SELECT max(coordinator_epoch) AS "epoch!: i64" FROM coordinators"#
        )
        .fetch_one(&mut *sql)
        .await?;
        if found != self.epoch {
            return Err(StoreError::TakenOver { found, own: self.epoch });
        }
        self.files.now().know_log(&mut self.lock)?;
        let lacks_first_page = self.files.now().lacks_first_page();
        let (cache, files, lock) = (&mut self.cache, &self.files, &mut self.lock);
        let mut transaction = Transaction { sql, cache, files, lock, now_unix_us: unix_now_us() };
        if lacks_first_page {
            transaction.touch().await?;
        }
        Ok(transaction)
    }

    /// Takes another connection if this one cannot begin a transaction any more. Where the disk is full or
    /// fails, and a statement cannot be undone alone, SQLite rolls the transaction back on its own; the
    /// library's own ROLLBACK then fails, and it counts the transaction as open for ever.
    async fn leave_rolled_back(&mut self) -> Result<(), StoreError> {
        // That ROLLBACK is on its way before this.
        self.connection.ping().await?;
        if self.connection.is_in_transaction() {
            self.connection = writing(&self.path).connect().await?;
            self.files.now().forget_log();
        }
        Ok(())
    }
}

impl Transaction<'_> {
    /// Commits: from here on everything is on disk, in the file at the database's path.
    ///
    /// # Errors
    /// If the database fails: nothing of the transaction is stored then. [`StoreError::Gone`] if it is
    /// stored in a file that is not at the path any more, [`StoreError::Damaged`] if the file is not whole.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.sql.commit().await?;
        self.cache.committed = true;
        // Whoever waits for this commit must not be told of it.
        self.files.now().committed(self.lock)
    }

    /// Writes the first page as it is, so that the commit tells whether the disk takes it.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn touch(&mut self) -> Result<(), StoreError> {
        for touch in TOUCHES {
            self.connection().execute(touch).await?;
        }
        Ok(())
    }

    /// The greatest id that a table with AUTOINCREMENT has ever had, deleted ones too.
    pub(super) async fn last_id(&mut self, table: &'static str) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar!(
            r#"SELECT coalesce(max(seq), 0) AS "id!: i64" FROM sqlite_sequence WHERE name = ?"#,
            table
        )
        .fetch_one(self.connection())
        .await?)
    }

    /// The connection, to run a statement on.
    pub(super) fn connection(&mut self) -> &mut SqliteConnection {
        &mut self.sql
    }
}

/// What the writer keeps in memory between transactions, because it never changes once it is
/// committed, unless a removal says so. Everything in it can be read again.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Whether the transaction that filled it was committed.
    committed: bool,
    /// By cell.
    pub(super) cells: HashMap<i64, Arc<CellInfo>>,
    /// Opening ids by game and position.
    pub(super) openings: HashMap<(String, String), i64>,
    /// The removal at work.
    pub(super) removal: Option<Walk>,
    /// The exclusion at work.
    pub(super) exclusion: Option<ExclusionWalk>,
}

impl Cache {
    /// Each map is emptied when it would grow beyond this (invariant 9).
    pub(super) const ENTRIES_MAX: usize = 50_000;
}

/// What never changes of a cell, or tells the cache when it does.
#[derive(Clone, Debug)]
pub(super) struct CellInfo {
    pub(super) experiment: i64,
    pub(super) game: String,
    /// The first player, who moves first in even numbers, or in all if sides are fixed, and the second.
    pub(super) players: [i64; 2],
    /// Whether its players swap sides in odd numbers, so that its games come in pairs.
    pub(super) swap_sides: bool,
    /// After how many openings the first comes again.
    pub(super) openings_count: Option<i64>,
    pub(super) record_moves: bool,
    /// If its numbers are choices: what their positions are valued by.
    pub(super) valued_by: Option<ValuedBy>,
    /// Where its stop rule ends it.
    pub(super) stop_number: Option<i64>,
    /// How its games are looked at, if they are timed.
    pub(super) timed: Option<TimedCell>,
}

/// What the values of positions are told apart by, beside the position.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValuedBy {
    pub(super) conditions: i64,
    pub(super) reference: i64,
    pub(super) positions: OpeningsRule,
}

impl CellInfo {
    /// Whether the game counts, if it was played: it is not beyond the cell's end (invariant 7).
    pub(super) fn counts(&self, number: i64) -> bool {
        self.stop_number.is_none_or(|stop| number < stop)
    }

    /// The players in the order in which they move in the game with this number.
    pub(super) fn movers(&self, number: i64) -> [i64; 2] {
        let [first, second] = self.players;
        if self.first_player_moves_first(number) { [first, second] } else { [second, first] }
    }

    /// Of a timed game: the share of its time of which a player was robbed, and whether that disturbed it.
    pub(super) fn disturbance(&self, number: i64, moves: &[MoveRecord]) -> Option<(f64, bool)> {
        let share = self.timed?.robbed_share(number.unsigned_abs(), moves)?;
        Some((share, self.timed?.disturbs(share)))
    }

    /// Whether the first player moves first in the game with this number.
    pub(super) fn first_player_moves_first(&self, number: i64) -> bool {
        !self.swap_sides || number % 2 == 0
    }
}

/// Rows for `jsonb_each`: each an array of its columns. One parameter, however many rows.
///
/// `jsonb_each` and not `json_each`: a row then stays in SQLite's binary form while its columns are
/// picked, instead of being written as text and parsed again (27,000 instead of 20,000 games/s).
pub(super) fn rows<T: Serialize>(rows: &[T]) -> Result<String, StoreError> {
    serde_json::to_string(rows).map_err(|error| StoreError::Sql(sqlx::Error::Encode(error.into())))
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
