//! One coordinator for a database: a lock of the operating system beside it, held as long as the
//! process has the database open. It ends with the process, however that ends.
//!
//! The lock is on a file of its own (`<database>-lock`): closing any handle of the database file
//! itself would release SQLite's own locks on it (sqlite.org/howtocorrupt.html, section 2.2).
//!
//! It says who holds it, and how to reach whoever that is; so only its owner may read it. Its first line also
//! says which log the database has and what was committed into it ([`Record`]): a crash leaves the file
//! behind, and the next opener sees whether the log is still there.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::StoreError;
use crate::open::wal::{Generation, log_path};

/// How often a lock is tried that somebody holds: whoever reads what a crash left behind ([`left`]) holds it
/// for microseconds.
const TRIES_MAX: u32 = 10;

/// How long to wait between two tries.
const TRY_INTERVAL: Duration = Duration::from_millis(5);

/// The lock. Released when dropped; its file is removed then, unless the database has a log, or had one that is
/// not there.
#[derive(Debug)]
pub(crate) struct Lock {
    database: PathBuf,
    path: PathBuf,
    /// Holds the lock.
    file: File,
    /// What is remembered of the log.
    record: Option<Record>,
    /// Whether that is still what the holder before has left behind.
    is_left_behind: bool,
    /// What follows the first line.
    told: String,
}

/// What is remembered of a log: what was committed into it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) generation: Generation,
    /// The last frame that was committed.
    pub(crate) frames: u32,
    /// The page that this frame is of.
    pub(crate) page: u32,
    /// The checksum of that page: once a log is in the database, the page there has it, too.
    pub(crate) sum: u64,
    /// When this log began, in microseconds since 1970: for people.
    pub(crate) since_unix_us: i64,
}

impl Record {
    /// As text, always of the same length.
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

/// What divides the process and the record in the first line.
const RECORD: &str = " log ";

/// The first line: the process, and what is remembered of the log. Of the same length for the same process.
fn first_line(record: Option<&Record>) -> String {
    const WIDTH: usize = 8 + 1 + 8 + 1 + 8 + 1 + 10 + 1 + 10 + 1 + 16 + 1 + 20;
    let record = record.map(Record::text).unwrap_or_default();
    format!("process {}{RECORD}{record:WIDTH$}\n", std::process::id())
}

/// Who holds the lock, and what is remembered of the log, by the text of the file.
fn read_first_line(text: &str) -> (&str, Option<Record>) {
    let line = text.lines().next().unwrap_or_default();
    match line.split_once(RECORD) {
        Some((holder, record)) => (holder, Record::read(record)),
        None => (line, None),
    }
}

/// What is beside a database that somebody is about to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Somebody has the database open, and looks after the log; or it is another user's.
    Unknown,
    /// Nobody has it open, and this is remembered of its log, if anything is.
    Behind(Option<Record>),
}

/// What is left beside a database.
pub(crate) fn left(database: &Path) -> Left {
    let mut file = match File::open(lock_path(database)) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Left::Behind(None),
        Err(_) => return Left::Unknown,
    };
    let mut text = String::new();
    // The lock is released when this returns.
    if file.try_lock_shared().is_err() || file.read_to_string(&mut text).is_err() {
        return Left::Unknown;
    }
    Left::Behind(read_first_line(&text).1)
}

/// Whether a process has a database open for writing, or may have: another user's lock cannot be read.
#[must_use]
pub fn is_held(database: &Path) -> bool {
    let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    left(&path) == Left::Unknown
}

/// What whoever holds a database's lock tells others, if anybody does: the process, and then what it was
/// given to tell.
#[must_use]
pub fn told_by_holder(database: &Path) -> Option<String> {
    let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    std::fs::read_to_string(lock_path(&path)).ok()
}

/// The file whose lock is meant.
pub(crate) fn lock_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-lock");
    PathBuf::from(path)
}

impl Lock {
    /// Takes the lock of a database, without waiting.
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
                    // What it says is for people: an unreadable one is no other error.
                    let _unreadable = file.read_to_string(&mut text);
                    let holder = match read_first_line(&text) {
                        ("", _) => "unknown".to_owned(),
                        (holder, _) => holder.to_owned(),
                    };
                    return Err(StoreError::Held { path: database.to_owned(), holder });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // Whoever held it before may have removed the file between our opening and our locking
            // it: then somebody else can lock a new file of that name, and ours protects nothing.
            let ours = file.metadata().map_err(failed)?;
            match std::fs::metadata(&path) {
                Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => {}
                Ok(_) => continue,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(failed(source)),
            }
            let mut text = String::new();
            // Whatever a file says that is not ours is nothing.
            let _unreadable = file.read_to_string(&mut text);
            let record = read_first_line(&text).1;
            let (database, path) = (database.to_owned(), path.clone());
            let is_left_behind = record.is_some();
            let lock = Self { database, path, file, record, is_left_behind, told: String::new() };
            lock.write().map_err(|source| StoreError::File { path: lock.path.clone(), source })?;
            return Ok(lock);
        }
    }

    /// Tells whoever finds the database held something beside the process.
    pub(crate) fn tell(&mut self, what: &str) -> std::io::Result<()> {
        what.clone_into(&mut self.told);
        self.write()
    }

    /// What is remembered of the log: what the holder before has left behind, until this one remembers
    /// something.
    pub(crate) fn record(&self) -> Option<Record> {
        self.record
    }

    /// The database is open: its log is there.
    pub(crate) fn opened(&mut self) {
        self.is_left_behind = false;
    }

    /// Remembers what was committed into the log. Of a new log this is on disk when it returns; of one that goes
    /// on it is there after a crash of the process, and may be older after one of the machine.
    pub(crate) fn remember(&mut self, record: Record) -> std::io::Result<()> {
        let before = self.record.replace(record);
        // A write of one block: whoever reads it finds the one or the other.
        self.file.write_all_at(first_line(Some(&record)).as_bytes(), 0)?;
        if before.is_none_or(|before| before.generation != record.generation) {
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Forgets the log.
    pub(crate) fn forget(&mut self) -> std::io::Result<()> {
        self.record = None;
        self.write()
    }

    fn write(&self) -> std::io::Result<()> {
        // One that was left behind may be open to others.
        self.file.set_permissions(Permissions::from_mode(0o600))?;
        let text = format!("{}{}", first_line(self.record.as_ref()), self.told);
        // In this order: a crash in between does not lose what is remembered of the log.
        self.file.write_all_at(text.as_bytes(), 0)?;
        self.file.set_len(text.len() as u64)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.record.is_some() && (self.is_left_behind || log_path(&self.database).exists()) {
            // The database is not all of it: whoever opens it next is to know. Another process may have
            // inherited the file, which would go on holding the lock.
            let _ends_with_the_process = self.file.unlock();
            return;
        }
        // Still locked: nobody else has taken it. A file that stays behind does no harm.
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
        let told = told_by_holder(&database).unwrap();
        let lines: Vec<_> = told.lines().skip(1).collect();
        assert_eq!(lines, ["http://127.0.0.1:1", "secret"]);
        assert_eq!(left(&database), Left::Unknown, "its holder looks after the log");
        let Err(StoreError::Held { holder, .. }) = Lock::take(&database) else { panic!() };
        assert_eq!(holder, format!("process {}", std::process::id()));

        lock.opened();
        // A crash: the file stays, and the log.
        std::fs::write(log_path(&database), "a log").unwrap();
        drop(lock);
        assert_eq!(left(&database), Left::Behind(Some(Record { frames: 13, ..RECORD })));
        let lock = Lock::take(&database).unwrap();
        assert_eq!(lock.record(), Some(Record { frames: 13, ..RECORD }));
        // Nothing of what the one before has told is left.
        assert_eq!(told_by_holder(&database).unwrap().lines().count(), 1);
        // One that cannot open the database leaves what it has found.
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
