//! Store errors and their remedies.

use std::path::PathBuf;

use spelrum_answers::RatingsLimit;
use spelrum_engine::ENGINE_REVISION;

use crate::open::wal::log_path;
use crate::system::{open_files_remedy, system_remedy};

/// A store error. A failed operation changes nothing.
///
/// Messages state the problem; [`StoreError::remedy`] states what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database's directory does not exist.
    #[error("failed to open {}: there is no directory {}", path.display(), directory.display())]
    MissingDirectory {
        /// The database.
        path: PathBuf,
        /// The missing directory.
        directory: PathBuf,
    },
    /// A path that SQLite does not accept.
    #[error(
        "failed to open {}: the path, or one of the directories on it, is not UTF-8 text, and SQLite takes no other",
        path.display()
    )]
    NotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// The database to read does not exist.
    #[error("failed to open {}: there is no such file", path.display())]
    MissingDatabase {
        /// The database.
        path: PathBuf,
    },
    /// The file is not a SQLite database.
    #[error("failed to open {}: it is not a database", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is another program's SQLite database.
    #[error("failed to open {}: it is a database of another application", path.display())]
    OtherApplication {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a newer release.
    #[error(
        "failed to open {}: its schema has number {found}, this release knows up to {known}",
        path.display()
    )]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// The database's schema number.
        found: i64,
        /// The greatest schema number that this release supports.
        known: i64,
    },
    /// The database was written by a development build before the first release, or by another build whose
    /// schema is not ours.
    #[error(
        "failed to open {}: it is of a build with another schema (number {number} differs)",
        path.display()
    )]
    OtherSchema {
        /// The database.
        path: PathBuf,
        /// The schema number that differs.
        number: i64,
    },
    /// The file or its directory cannot be written.
    #[error("failed to open {} for writing: {} is read-only", path.display(), what.display())]
    ReadOnly {
        /// The database.
        path: PathBuf,
        /// The read-only file or directory.
        what: PathBuf,
    },
    /// The database is on a file system that other machines share.
    #[error("failed to open {}: it is on a network file system ({kind})", path.display())]
    NetworkFileSystem {
        /// The database.
        path: PathBuf,
        /// The file system's name.
        kind: &'static str,
    },
    /// Another coordinator has the database open.
    #[error("failed to open {}: another spelrum has it open ({holder})", path.display())]
    Held {
        /// The database.
        path: PathBuf,
        /// The holder, if known.
        holder: String,
    },
    /// The file has more than one name.
    #[error("failed to open {}: the file has {names} names (hard links)", path.display())]
    Linked {
        /// The name used to open it.
        path: PathBuf,
        /// The number of names.
        names: u64,
    },
    /// The database, or its log, is no longer the file that was opened.
    #[error(
        "failed to write: {} is not the file any more that was opened (it was deleted, renamed or replaced)",
        path.display()
    )]
    Gone {
        /// The path.
        path: PathBuf,
    },
    /// The database was found damaged, at opening or later.
    #[error("failed to use {}: it is damaged: {problem}", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// The damage.
        problem: String,
    },
    /// The log left by a crash is missing, incomplete, or another database's.
    #[error("failed to open {}: {problem}", path.display())]
    LogLost {
        /// The database.
        path: PathBuf,
        /// The problem with the log.
        problem: String,
    },
    /// Another coordinator has taken the database over while this one had it open.
    #[error("failed to write: a coordinator with epoch {found} took the database over from {own}")]
    TakenOver {
        /// The epoch in the database.
        found: i64,
        /// This coordinator's.
        own: i64,
    },
    /// The journal of a shared database failed, or refused.
    #[error("failed to use the journal: {problem}")]
    Journal {
        /// What is wrong.
        problem: String,
        /// What to do, as a sentence without an end mark.
        remedy: String,
    },
    /// A transaction changes more than a journal takes.
    #[error(
        "failed to store all at once: it has {mebibytes} MiB, and a shared database takes {mebibytes_max}"
    )]
    LargeChange {
        /// The size of the change.
        mebibytes: usize,
        /// The bound.
        mebibytes_max: usize,
    },
    /// The disk is full.
    #[error("failed to write to the database: the disk is full")]
    Full,
    /// Another program holds a lock.
    #[error("failed to use the database: another program has it locked")]
    Busy,
    /// A program opened a file at rest while it was being read.
    #[error("failed to read {}: a coordinator opened it meanwhile", path.display())]
    OpenedMeanwhile {
        /// The database.
        path: PathBuf,
    },
    /// A sweep would grow an experiment, but has no cell in common with it.
    #[error(
        "failed to submit: an experiment named \"{name}\" is there already, and this sweep has no \
         cell in common with it{}",
        if *rules_changed { ": its rules, openings, limit of plies, swapped sides or seed differ" } else { "" }
    )]
    NothingInCommon {
        /// The name.
        name: String,
        /// Whether the settings shared by all cells differ.
        rules_changed: bool,
    },
    /// A sweep would grow a cancelled experiment.
    #[error("failed to submit: the experiment named \"{name}\" was cancelled, which is final")]
    Cancelled {
        /// The name.
        name: String,
    },
    /// A changed sweep would grow an experiment begun by another engine.
    #[error(
        "failed to submit: the experiment named \"{name}\" is of engine revision {revision}, and \
         what this one ({ENGINE_REVISION}) plays cannot be added to it"
    )]
    OtherEngine {
        /// The name.
        name: String,
        /// The experiment's engine revision.
        revision: u32,
    },
    /// A changed sweep would grow an experiment whose results decide its cells.
    #[error(
        "failed to submit: the experiment named \"{name}\" takes a course of its own, which another \
         sweep cannot change"
    )]
    HasCourse {
        /// The name.
        name: String,
    },
    /// An experiment would have too many cells.
    #[error(
        "failed to submit: the experiment named \"{name}\" would have {cells} cells with those that \
         its sweep no longer names; {max} are the most"
    )]
    ManyCells {
        /// The name.
        name: String,
        /// The resulting number of cells.
        cells: u64,
        /// The bound.
        max: u64,
    },
    /// A number is too large for the database.
    #[error("failed to store {what}: {value} is not below 2^53")]
    TooLarge {
        /// The name of the quantity.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// A referenced record does not exist.
    #[error("failed to look up {what}: the database has none of this id")]
    Missing {
        /// The kind of record.
        what: &'static str,
    },
    /// A result that no engine would report.
    #[error("failed to store game {number} of cell {cell_id}: {problem}")]
    InvalidGame {
        /// The game's cell.
        cell_id: i64,
        /// The game's number.
        number: u64,
        /// The problem with the result.
        problem: String,
    },
    /// A text that is not a single read-only SQL statement.
    #[error("failed to run the query: {problem}")]
    NotAQuery {
        /// The problem with the statement.
        problem: String,
    },
    /// SQLite rejects the query.
    #[error("failed to run the query: {message}")]
    WrongQuery {
        /// SQLite's message.
        message: String,
        /// A suggested name or word.
        suggestion: Option<String>,
    },
    /// The query ran for too long.
    #[error("failed to finish the query within {seconds} seconds")]
    SlowQuery {
        /// The bound.
        seconds: u64,
    },
    /// The query wrote too much to temporary files.
    #[error(
        "failed to finish the query: it sorts or gathers more than {mebibytes} MiB, which it keeps in temporary files"
    )]
    LargeQuery {
        /// The bound.
        mebibytes: u64,
    },
    /// The query's text is too long.
    #[error("failed to run the query: its text has {bytes} bytes, and may have {bytes_max}")]
    LongQuery {
        /// The text's length.
        bytes: usize,
        /// The bound.
        bytes_max: usize,
    },
    /// The client did not read the answer for too long.
    #[error("failed to send the rest of the rows: they waited {seconds} seconds to be read")]
    SlowReader {
        /// The bound.
        seconds: u64,
    },
    /// A report has too many rows.
    #[error(
        "failed to report on the whole experiment: it has more than {rows_max} rows of results"
    )]
    LargeReport {
        /// The bound.
        rows_max: usize,
    },
    /// There are more games or players than can be rated.
    #[error("failed to rate the players: {limit}")]
    ManyToRate {
        /// The bound.
        limit: RatingsLimit,
    },
    /// A stored value that this version does not support.
    #[error("failed to read the results: column {column} is {value}")]
    UnknownValue {
        /// The value's column.
        column: &'static str,
        /// The value.
        value: String,
    },
    /// Too many queries at once.
    #[error("failed to run the query: too many others are running")]
    ManyQueries,
    /// A file could not be used.
    #[error("failed to use {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Anything else that SQLite or the disk reports.
    #[error("failed to use the database: {0}")]
    Sql(#[source] sqlx::Error),
    /// The same for a user's query.
    #[error("failed to use the database: {0}")]
    Query(#[source] rusqlite::Error),
}

impl StoreError {
    /// The remedy, as a sentence without an end mark.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::MissingDirectory { directory, .. } => {
                format!("create it (mkdir -p {}) or name another path", directory.display())
            }
            Self::MissingDatabase { .. } => {
                "check the path; `spelrum run` and `spelrum coordinator` create one".to_owned()
            }
            Self::NotADatabase { .. } | Self::OtherApplication { .. } => {
                "name another file with --db; this one was left as it is".to_owned()
            }
            Self::NewerSchema { .. } => {
                "use the release that wrote it, or a later one; or name another file with --db"
                    .to_owned()
            }
            Self::OtherSchema { .. } => {
                "continue with the build that wrote it, or name another file with --db; a database of a \
                 development build before 0.1.0 can be converted (docs/operating.md, \"Databases of development \
                 builds\"); this file was left as it is"
                    .to_owned()
            }
            Self::ReadOnly { what, .. } => {
                format!("make it writable (chmod u+w {}) or name another path", what.display())
            }
            Self::NetworkFileSystem { .. } => {
                "put the database on a disk of this machine: SQLite's locks and shared memory do \
                 not work over a network; workers reach it through the coordinator"
                    .to_owned()
            }
            Self::Held { .. } => "stop the other one, or name another file with --db".to_owned(),
            Self::Linked { path, .. } => format!(
                "two coordinators could write one file by two names: remove the other names (find / -samefile \
                 {}), and copy a database with `spelrum backup`",
                path.display()
            ),
            Self::Gone { .. } => "put the file back under its name, with no coordinator running, and start \
                again; nothing was acknowledged since"
                .to_owned(),
            Self::Damaged { .. } => DAMAGED.to_owned(),
            Self::LogLost { path, .. } => format!(
                "put its own log ({}) beside it again, or restore a backup; to go on without what was in the log, \
                 start `spelrum coordinator` or `spelrum run` with --accept-loss",
                log_path(path).display()
            ),
            Self::TakenOver { .. } => "run one coordinator for a database".to_owned(),
            Self::Journal { remedy, .. } => remedy.clone(),
            Self::LargeChange { .. } => {
                "submit it as several smaller sweeps, or use a database that is a file".to_owned()
            }
            Self::Full => {
                "free some space and try again; what is stored stays, and workers go on by themselves"
                    .to_owned()
            }
            Self::Busy => {
                "end the other program's transaction (an open sqlite3 shell?) and try again"
                    .to_owned()
            }
            Self::OpenedMeanwhile { .. } => "run the command again".to_owned(),
            Self::NothingInCommon { .. } => {
                "start a new experiment of this name with --new, or give the sweep another name"
                    .to_owned()
            }
            Self::Cancelled { .. } => {
                "start a new experiment of this name with --new; the cancelled one keeps its games"
                    .to_owned()
            }
            Self::OtherEngine { .. } => "start a new experiment of this name with --new, or use the \
                release that this one was begun with"
                .to_owned(),
            Self::HasCourse { .. } => {
                "submit its sweep as it was, comments and description aside, or start a new experiment of this name \
                 with --new"
                    .to_owned()
            }
            Self::ManyCells { .. } => {
                "start a new experiment of this name with --new".to_owned()
            }
            Self::TooLarge { .. } => "use a smaller number".to_owned(),
            Self::Missing { .. } => "report this as a fault of the program".to_owned(),
            Self::InvalidGame { .. } => {
                "use a worker of the same release as the coordinator".to_owned()
            }
            Self::NotAQuery { .. } => {
                "write one SELECT, WITH, VALUES or EXPLAIN; PRAGMA table_info(games) tells a \
                 table's columns"
                    .to_owned()
            }
            Self::WrongQuery { suggestion, .. } => {
                let hint = suggestion.iter().map(|word| format!("did you mean `{word}`? "));
                hint.collect::<String>() + "docs/sql.md lists tables, views and columns"
            }
            Self::SlowQuery { .. } => {
                "ask for fewer rows, or query a view that reads the rollups; docs/sql.md says which"
                    .to_owned()
            }
            Self::LargeQuery { .. } => {
                "select fewer rows and columns before ORDER BY, DISTINCT, GROUP BY or UNION, or ask a copy of the \
                 database, which has no such bound: spelrum backup, then spelrum sql --db"
                    .to_owned()
            }
            Self::LongQuery { .. } => {
                "shorten it: select by a condition or join a table instead of listing values".to_owned()
            }
            Self::SlowReader { .. } => {
                "ask for fewer rows, write them to a file, or ask a copy of the database: spelrum backup"
                    .to_owned()
            }
            Self::LargeReport { .. } => "ask for a part of it: spelrum sql".to_owned(),
            Self::ManyToRate { .. } => {
                "spelrum report shows each pairing; spelrum sql reads the games".to_owned()
            }
            Self::UnknownValue { .. } => {
                "use the version of spelrum that serves or wrote this database".to_owned()
            }
            Self::ManyQueries => "try again in a moment".to_owned(),
            Self::File { source, .. } => {
                system_remedy(source).unwrap_or("check the path and its permissions").to_owned()
            }
            Self::NotUtf8 { .. } => {
                "rename what is not, or name another path with --db".to_owned()
            }
            Self::Sql(sqlx::Error::Io(error)) => {
                system_remedy(error).map_or_else(|| sqlite_remedy(None), ToOwned::to_owned)
            }
            _ if self.is_out_of_range() => {
                "find the row with `spelrum check`, and restore a backup: Spelrum writes no such value".to_owned()
            }
            Self::Sql(error) => sqlite_remedy(primary_code(error)),
            Self::Query(error) => sqlite_remedy(query_code(error)),
        }
    }

    /// For tests: the error of a failing disk.
    #[cfg(any(test, feature = "faults"))]
    pub fn broken_disk() -> Self {
        Self::Sql(sqlx::Error::Io(std::io::Error::other("a test has broken the disk")))
    }

    /// Whether a stored value is not of its column's type, such as a count below zero.
    pub(crate) fn is_out_of_range(&self) -> bool {
        matches!(self, Self::Sql(sqlx::Error::ColumnDecode { .. }))
    }

    /// Whether every later call fails as well, so that the writer must end.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::TakenOver { .. } | Self::Gone { .. } | Self::Journal { .. })
            || self.is_damage()
    }

    /// Whether the database is damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        if let Self::Sql(error) = self {
            return is_damage(primary_code(error));
        }
        if let Self::Query(error) = self {
            // A virtual table's error concerns the query's arguments.
            let is_of_table =
                error.sqlite_error().is_some_and(|error| error.extended_code == code::CORRUPT_VTAB);
            return is_damage(query_code(error)) && !is_of_table;
        }
        matches!(self, Self::Damaged { .. })
    }

    /// The cause alone, without the failed operation.
    pub(crate) fn reason(&self) -> String {
        if let Self::Damaged { problem, .. } = self {
            return problem.clone();
        }
        if let Self::Sql(error) = self {
            return error.to_string();
        }
        if let Self::Query(error) = self { error.to_string() } else { self.to_string() }
    }

    /// Whether the disk or the file has a fault that can last.
    #[must_use]
    pub fn is_of_the_disk(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        matches!(error, sqlx::Error::Io(_))
            || primary_code(error).is_some_and(|code| code::OF_THE_DISK.contains(&code))
    }

    /// Whether the same call can succeed later without changes to the request: the scheduler's owner then answers
    /// UNAVAILABLE.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        if let Self::Query(error) = self {
            return query_code(error).is_some_and(|code| code::TRANSIENT.contains(&code));
        }
        let Self::Sql(error) = self else {
            return matches!(self, Self::Full | Self::Busy | Self::ManyQueries);
        };
        // A constraint, a damaged page or a wrong type would fail again.
        match primary_code(error) {
            Some(code) => code::TRANSIENT.contains(&code),
            None => !matches!(
                error,
                sqlx::Error::Decode(_)
                    | sqlx::Error::Encode(_)
                    | sqlx::Error::ColumnDecode { .. }
                    | sqlx::Error::ColumnNotFound(_)
                    | sqlx::Error::RowNotFound
                    | sqlx::Error::TypeNotFound { .. }
            ),
        }
    }
}

/// SQLite's primary result codes used here (sqlite.org/rescode.html).
pub(crate) mod code {
    pub(crate) const PERMISSION: i32 = 3;
    pub(crate) const BUSY: i32 = 5;
    pub(crate) const LOCKED: i32 = 6;
    pub(crate) const NO_MEMORY: i32 = 7;
    pub(crate) const READ_ONLY: i32 = 8;
    pub(crate) const INTERRUPT: i32 = 9;
    pub(crate) const IO: i32 = 10;
    pub(crate) const CORRUPT: i32 = 11;
    pub(crate) const FULL: i32 = 13;
    pub(crate) const CANNOT_OPEN: i32 = 14;
    pub(crate) const PROTOCOL: i32 = 15;
    pub(crate) const TOO_BIG: i32 = 18;
    pub(crate) const NOTADB: i32 = 26;
    /// An extended code.
    pub(crate) const CORRUPT_VTAB: i32 = CORRUPT | 1 << 8;

    /// Codes that concern the disk or the file rather than the statement.
    pub(crate) const OF_THE_DISK: [i32; 6] =
        [PERMISSION, READ_ONLY, IO, CORRUPT, CANNOT_OPEN, NOTADB];

    /// Codes that the disk, the system or another program can resolve.
    pub(crate) const TRANSIENT: [i32; 8] =
        [PERMISSION, LOCKED, NO_MEMORY, READ_ONLY, INTERRUPT, IO, CANNOT_OPEN, PROTOCOL];
}

/// Whether a primary result code means that a database is damaged.
pub(crate) fn is_damage(code: Option<i32>) -> bool {
    matches!(code, Some(code::CORRUPT | code::NOTADB))
}

/// The remedy for a damaged database.
const DAMAGED: &str = "keep a copy of it and of its -wal, and look at it with `spelrum check`; go on with what a \
     coordinator has saved of it (-rescued), or restore a backup";

/// The remedy for a failing disk.
const DISK_REMEDY: &str =
    "see whether the disk is still there and what the system's log says of it";

/// The remedy for a SQLite error with this primary code.
fn sqlite_remedy(code: Option<i32>) -> String {
    match code {
        Some(code::READ_ONLY | code::PERMISSION) => {
            "make the file and its disk writable again (a disk that fails is often made read-only by the \
             system: see its log)"
        }
        Some(code::CANNOT_OPEN) => open_files_remedy().unwrap_or(DISK_REMEDY),
        Some(code::IO) => DISK_REMEDY,
        Some(code::CORRUPT | code::NOTADB) => DAMAGED,
        Some(code::NO_MEMORY) => "give the machine more memory, or ask for less at once",
        _ => "try again; if it stays, report it as a fault of the program",
    }
    .to_owned()
}

/// The primary result code of an error that SQLite reported for a user's query.
pub(crate) fn query_code(error: &rusqlite::Error) -> Option<i32> {
    Some(error.sqlite_error()?.extended_code & 0xff)
}

/// The primary result code of an error that SQLite reported.
pub(crate) fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match query_code(&error) {
            Some(code::BUSY) => Self::Busy,
            Some(code::FULL) => Self::Full,
            _ => Self::Query(error),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match primary_code(&error) {
            Some(code::BUSY) => Self::Busy,
            Some(code::FULL) => Self::Full,
            _ if matches!(error, sqlx::Error::PoolTimedOut) => Self::ManyQueries,
            _ => Self::Sql(error),
        }
    }
}
