//! One coordinator per database: an operating-system lock, held as long as the process has the database open. The lock
//! ends with the process, however the process ends.
//!
//! The lock is on a separate file (`<database>-lock`): closing any handle of the database file itself would release
//! SQLite's own locks on the database (sqlite.org/howtocorrupt.html, section 2.2).
//!
//! The file names its holder and how to reach it, so only its owner can read it. Its first line also records which log
//! the database has and what was committed into that log ([`Record`]): a crash leaves the file behind, and the next
//! opener checks whether the log is still there.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::StoreError;
use crate::open::wal::{Generation, log_path};

/// How often to try a held lock: a process that reads what a crash left behind ([`left`]) holds it for microseconds.
const TRIES_MAX: u32 = 10;

/// The pause between two tries.
const TRY_INTERVAL: Duration = Duration::from_millis(5);

/// The lock, released when dropped. The drop also removes its file, unless the database has a log or its log is
/// missing.
#[derive(Debug)]
pub(crate) struct Lock {
    database: PathBuf,
    path: PathBuf,
    /// The handle that holds the lock.
    file: File,
    /// The last known state of the log.
    record: Option<Record>,
    /// Whether the record is still the previous holder's.
    is_left_behind: bool,
    /// The text after the first line.
    note: String,
}

/// The record of a log: its last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) generation: Generation,
    /// The last committed frame.
    pub(crate) frames: u32,
    /// The page in this frame.
    pub(crate) page: u32,
    /// The checksum of that page; once a log is applied, the database's page has it too.
    pub(crate) sum: u64,
    /// When this log began, in microseconds since 1970; for display only.
    pub(crate) since_unix_us: i64,
}

impl Record {
    /// The record as text of constant length.
    fn text(&self) -> String {
        let Self { generation: Generation { salts: [first, second], number }, .. } = self;
        let Self { frames, page, sum, since_unix_us, .. } = self;
        format!(
            "{first:08x} {second:08x} {number:08x} {frames:010} {page:010} {sum:016x} {since_unix_us:020}"
        )
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let mut hexadecimal = || u32::from_str_radix(words.next()?, 16).ok();
        let (salts, number) = ([hexadecimal()?, hexadecimal()?], hexadecimal()?);
        let frames = words.next()?.parse().ok()?;
        let page = words.next()?.parse().ok()?;
        let sum = u64::from_str_radix(words.next()?, 16).ok()?;
        let since_unix_us = words.next()?.parse().ok()?;
        Some(Self { generation: Generation { salts, number }, frames, page, sum, since_unix_us })
    }
}

/// Separates the process and the record in the first line.
const RECORD: &str = " log ";

/// The first line: the process and the log's record. Its length is constant for a process.
fn first_line(record: Option<&Record>) -> String {
    const WIDTH: usize = 8 + 1 + 8 + 1 + 8 + 1 + 10 + 1 + 10 + 1 + 16 + 1 + 20;
    let record = record.map(Record::text).unwrap_or_default();
    format!("process {}{RECORD}{record:WIDTH$}\n", std::process::id())
}

/// The lock's holder and the log's record, from the file's text.
fn read_first_line(text: &str) -> (&str, Option<Record>) {
    let line = text.lines().next().unwrap_or_default();
    match line.split_once(RECORD) {
        Some((holder, record)) => (holder, Record::read(record)),
        None => (line, None),
    }
}

/// State of the lock beside a database about to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// A process has the database open and looks after the log, or another user owns the lock.
    Unknown,
    /// No process has the database open; the log's record, if any.
    Behind(Option<Record>),
}

/// Reads what is left beside a database.
pub(crate) fn left(database: &Path) -> Left {
    let mut file = match File::open(lock_path(database)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Left::Behind(None),
        Err(_) => return Left::Unknown,
    };
    let mut text = String::new();
    // The lock is released on return.
    if file.try_lock_shared().is_err() || file.read_to_string(&mut text).is_err() {
        return Left::Unknown;
    }
    Left::Behind(read_first_line(&text).1)
}

/// Whether a process has a database open for writing, or could have: another user's lock cannot be read.
#[must_use]
pub fn is_held(database: &Path) -> bool {
    let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    left(&path) == Left::Unknown
}

/// The text published by the holder of a database's lock, if any: the process, then the text passed to `tell`.
#[must_use]
pub fn read_lock_text(database: &Path) -> Option<String> {
    let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    std::fs::read_to_string(lock_path(&path)).ok()
}

/// The path of a database's lock file.
pub(crate) fn lock_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-lock");
    PathBuf::from(path)
}

impl Lock {
    /// Takes the lock of a database without waiting.
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let path = lock_path(database);
        let failed = |source| StoreError::File { path: path.clone(), source };
        let mut tries = 0;
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&path)
                .map_err(|source| refuse_read_only(database, &path, source))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if tries < TRIES_MAX => {
                    tries += 1;
                    std::thread::park_timeout(TRY_INTERVAL);
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    let mut text = String::new();
                    // The text is for display: failing to read it is not a separate error.
                    let _unreadable = file.read_to_string(&mut text);
                    let holder = match read_first_line(&text) {
                        ("", _) => "unknown".to_owned(),
                        (holder, _) => holder.to_owned(),
                    };
                    return Err(StoreError::Held { path: database.to_owned(), holder });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // The previous holder may have removed the file after our open and before our lock: then another process
            // can lock a new file of that name, and ours protects nothing.
            let ours = file.metadata().map_err(failed)?;
            match std::fs::metadata(&path) {
                Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => {}
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(failed(source)),
            }
            let mut text = String::new();
            // Text in another format counts as empty.
            let _unreadable = file.read_to_string(&mut text);
            let record = read_first_line(&text).1;
            let (database, path) = (database.to_owned(), path.clone());
            let is_left_behind = record.is_some();
            let lock = Self { database, path, file, record, is_left_behind, note: String::new() };
            lock.write().map_err(|source| StoreError::File { path: lock.path.clone(), source })?;
            return Ok(lock);
        }
    }

    /// Publishes text after the process, for processes that find the lock held.
    pub(crate) fn tell(&mut self, what: &str) -> std::io::Result<()> {
        what.clone_into(&mut self.note);
        self.write()
    }

    /// The log's record: the previous holder's until this one stores its own.
    pub(crate) fn record(&self) -> Option<Record> {
        self.record
    }

    /// Marks the database as open: its log exists.
    pub(crate) fn opened(&mut self) {
        self.is_left_behind = false;
    }

    /// Records what was committed into the log. For a new log the record is on disk on return; for a continued log it
    /// survives a crash of the process, but can be older after a crash of the machine.
    pub(crate) fn remember(&mut self, record: Record) -> std::io::Result<()> {
        let before = self.record.replace(record);
        // A write of one block: a reader sees either the old or the new record.
        self.file.write_all_at(first_line(Some(&record)).as_bytes(), 0)?;
        if before.is_none_or(|before| before.generation != record.generation) {
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Clears the log's record.
    pub(crate) fn forget(&mut self) -> std::io::Result<()> {
        self.record = None;
        self.write()
    }

    fn write(&self) -> std::io::Result<()> {
        // The previous holder's file may be readable by other users.
        self.file.set_permissions(Permissions::from_mode(0o600))?;
        let text = format!("{}{}", first_line(self.record.as_ref()), self.note);
        // This order keeps the log's record through a crash between the two steps.
        self.file.write_all_at(text.as_bytes(), 0)?;
        self.file.set_len(text.len() as u64)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.record.is_some() && (self.is_left_behind || log_path(&self.database).exists()) {
            // The database may be incomplete without its log, so the next opener needs the file. Unlock it explicitly:
            // another process may have inherited the file and would go on holding the lock.
            let _ends_with_the_process = self.file.unlock();
            return;
        }
        // Still locked, so no other process has taken it. A file that stays behind does no harm.
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "could not remove the lock file");
        }
    }
}

fn refuse_read_only(database: &Path, path: &Path, source: std::io::Error) -> StoreError {
    if matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) {
        let what = path.parent().unwrap_or(path).to_owned();
        StoreError::ReadOnly { path: database.to_owned(), what }
    } else {
        StoreError::File { path: path.to_owned(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: Record = Record {
        generation: Generation { salts: [7, u32::MAX], number: 3 },
        frames: 12,
        page: 4_000_000_000,
        sum: u64::MAX - 1,
        since_unix_us: 1_790_000_000_000_000,
    };

    #[test]
    fn what_a_crash_leaves_of_the_log_is_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let database = directory.path().join("x.db");
        let mut lock = Lock::take(&database).unwrap();
        lock.tell("http://127.0.0.1:1\nsecret\n").unwrap();
        lock.remember(RECORD).unwrap();
        lock.remember(Record { frames: 13, ..RECORD }).unwrap();
        let text = read_lock_text(&database).unwrap();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines, ["http://127.0.0.1:1", "secret"]);
        assert_eq!(left(&database), Left::Unknown, "its holder looks after the log");
        let Err(StoreError::Held { holder, .. }) = Lock::take(&database) else { panic!() };
        assert_eq!(holder, format!("process {}", std::process::id()));

        lock.opened();
        // A crash: the file and the log stay.
        std::fs::write(log_path(&database), "a log").unwrap();
        drop(lock);
        assert_eq!(left(&database), Left::Behind(Some(Record { frames: 13, ..RECORD })));
        let lock = Lock::take(&database).unwrap();
        assert_eq!(lock.record(), Some(Record { frames: 13, ..RECORD }));
        // The previous holder's text is gone.
        assert_eq!(read_lock_text(&database).unwrap().lines().count(), 1);
        // A holder that cannot open the database leaves the record unchanged.
        std::fs::remove_file(log_path(&database)).unwrap();
        drop(lock);
        let mut lock = Lock::take(&database).unwrap();
        assert_eq!(lock.record(), Some(Record { frames: 13, ..RECORD }));
        lock.forget().unwrap();
        assert_eq!(lock.record(), None);
        drop(lock);
        assert!(!lock_path(&database).exists());
    }

    #[test]
    fn what_others_have_written_is_no_record() {
        for text in
            ["", "process 1", "process 1 log ", "process 1 log 1 2", "\u{7} log x y z 1 2 3 4"]
        {
            assert_eq!(read_first_line(text).1, None, "{text:?}");
        }
        let line = first_line(Some(&RECORD));
        assert_eq!(read_first_line(&line).1, Some(RECORD));
        assert_eq!(line.len(), first_line(None).len());
    }
}
