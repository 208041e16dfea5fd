//! Checks that an open database's files are as the last commit left them: the same files, no shorter, with the same
//! beginnings and end. The check runs before and after every commit and every checkpoint.
//!
//! SQLite does not notice when a log or a database is cut or overwritten while open: it goes on with what is in
//! memory, and everything acknowledged from then on would be lost (invariant 5).
//!
//! Bytes that another program writes into the middle of a file in place are not seen here. SQLite finds them when it
//! reads that page, and the reader raises the [`Alarm`].

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::{Row as _, SqliteConnection};

use crate::clock::unix_now_us;
use crate::error::StoreError;
use crate::open::alarm::Alarm;
use crate::open::file_identity::{Fate, Place};
use crate::open::lock::{Lock, Record};
use crate::open::log_loss::page_bytes;
use crate::open::wal::{Frame, Header, fill, log_path, number};

/// How often to reread suspicious bytes: another process may be writing them at this moment.
const READS_MAX: u32 = 3;

/// The bytes of a database before its first row.
const HEAD_BYTES: usize = 100;

/// The ranges that never change while a database is open: format, page size, kind of journal, encoding, application,
/// and reserved bytes (sqlite.org/fileformat2.html#the_database_header).
const UNCHANGING: [std::ops::Range<usize>; 3] = [0..24, 56..60, 68..92];

/// The files of a database open for writing, as they were after the last commit.
#[derive(Debug)]
pub(crate) struct Files {
    alarm: Alarm,
    path: PathBuf,
    database: Place,
    /// Stays open: closing it ends SQLite's locks on the database. So this struct is dropped after every connection.
    file: File,
    head: [u8; HEAD_BYTES],
    /// The least size of the database's file.
    bytes_min: u64,
    log_path: PathBuf,
    /// Known from the first transaction on, which makes SQLite create the log.
    log: Option<Log>,
}

/// The log after the last commit.
#[derive(Debug)]
struct Log {
    place: Place,
    file: File,
    bytes: u64,
    header: Header,
    /// When the log began, if known.
    since_unix_us: i64,
    /// The last committed frame. `None` if only SQLite knows it.
    last: Option<Last>,
    /// Whether the log has the database's first page, which identifies an old log: see the module `log_loss`.
    has_first_page: bool,
}

/// The last committed frame: its number, its header, and its page's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    number: u32,
    frame: Frame,
    sum: u64,
}

impl Files {
    /// The files of a database that was just opened.
    pub(crate) fn open(path: &Path, alarm: Alarm) -> Result<Self, StoreError> {
        let failed = |source| StoreError::File { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let mut head = [0; HEAD_BYTES];
        fill(&file, &mut head, 0).map_err(failed)?;
        Ok(Self {
            alarm,
            path: path.to_owned(),
            database: Place::from_metadata(&found),
            file,
            head,
            bytes_min: found.len(),
            log_path: log_path(path),
            log: None,
        })
    }

    /// The alarm that reports damage.
    pub(crate) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Drops the known log; the next transaction adopts another connection's.
    pub(crate) fn forget_log(&mut self) {
        self.log = None;
    }

    /// Checks that the paths still name the open files, and that these are as the last commit left them. Safe at any
    /// moment, also during writes.
    ///
    /// # Errors
    /// [`StoreError::Gone`] if a path names another file, [`StoreError::Damaged`] if a file has changed; the alarm is
    /// raised then.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.alarm.check()?;
        let database = self.there(&self.path, self.database)?;
        let log = match &self.log {
            Some(log) => Some((log, self.there(&self.log_path, log.place)?)),
            None => None,
        };
        let found = self.check_database(database.bytes).and_then(|found| {
            let Some((log, there)) = log.filter(|_| found.is_none()) else { return Ok(found) };
            Ok(log.check(there.bytes)?.map(|problem| (self.log_path.clone(), problem)))
        });
        match found {
            Ok(None) => Ok(()),
            Ok(Some((file, problem))) => {
                self.alarm.raise(format!("{} {problem}", file.display()));
                self.alarm.check()
            }
            Err(error) => Err(unreadable(error)),
        }
    }

    /// The file that a path names now, if still the expected one.
    fn there(&self, path: &Path, expected: Place) -> Result<Place, StoreError> {
        match Place::at(path) {
            Some(there) if there.identity == expected.identity => Ok(there),
            Some(_) | None => Err(StoreError::Gone { path: path.to_owned() }),
        }
    }

    /// Damage of the database's file, if any.
    fn check_database(&self, bytes: u64) -> std::io::Result<Option<(PathBuf, String)>> {
        let mut head = [0; HEAD_BYTES];
        let mut problem = String::new();
        for _ in 0..READS_MAX {
            let is_there = fill(&self.file, &mut head, 0)?;
            let same =
                |part: &std::ops::Range<usize>| head[part.clone()] == self.head[part.clone()];
            if !is_there || !UNCHANGING.iter().all(same) {
                "was overwritten at its beginning".clone_into(&mut problem);
                continue;
            }
            // A shorter file was either shrunk the way SQLite does it, or cut.
            let pages_bytes = u64::from(number(&head, 28)) * u64::from(page_bytes(&head));
            if bytes >= self.bytes_min || bytes >= pages_bytes {
                return Ok(None);
            }
            problem = format!("was cut to {bytes} bytes, and has {pages_bytes}");
        }
        Ok(Some((self.path.clone(), problem)))
    }

    /// Checks inside a transaction that has written nothing yet, and records the log.
    pub(crate) fn know_log(&mut self, lock: &mut Lock) -> Result<(), StoreError> {
        if self.log.is_some() {
            return Ok(());
        }
        self.log = Log::open(&self.log_path, lock).map_err(unreadable)?;
        self.remember(lock);
        Ok(())
    }

    /// Whether only SQLite knows how much of the log was committed.
    fn is_doubtful(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.last.is_none() || log.is_empty())
    }

    /// Records how much of the log was committed, as SQLite reports it.
    fn record_committed(&mut self, frames: u32, lock: &mut Lock) -> Result<(), StoreError> {
        if frames == 0 {
            // Another program has applied the log and emptied it, or the log is about to restart. The next transaction
            // finds another.
            self.log = None;
            return Ok(());
        }
        if let Some(log) = self.log.as_mut()
            && !log.know_last(frames).map_err(unreadable)?
        {
            self.alarm.raise(format!(
                "{} was cut or overwritten: it lacks {frames} pages that were committed",
                self.log_path.display()
            ));
        }
        self.alarm.check()?;
        self.remember(lock);
        Ok(())
    }

    /// Marks the last frame as unknown: a rollback can leave frames that only look committed.
    pub(crate) fn doubt_last(&mut self) {
        if let Some(log) = &mut self.log {
            log.last = None;
        }
    }

    /// After a commit: checks the files, records the commit, and saves it in the lock's file.
    pub(crate) fn committed(&mut self, lock: &mut Lock) -> Result<(), StoreError> {
        self.check()?;
        let Some(log) = &mut self.log else { return self.know_log(lock) };
        log.advance().map_err(unreadable)?;
        if let Some(last) = log.last {
            // A checkpoint may cut the file to this size, or has made it longer.
            let committed = u64::from(last.frame.pages) * u64::from(page_bytes(&self.head));
            let there = Place::at(&self.path).map_or(0, |there| there.bytes);
            self.bytes_min = committed.min(there);
        }
        self.remember(lock);
        Ok(())
    }

    /// Whether the next transaction must write the first page.
    pub(crate) fn lacks_first_page(&self) -> bool {
        self.log.as_ref().is_some_and(|log| !log.has_first_page)
    }

    /// Saves the last commit in the lock's file.
    fn remember(&self, lock: &mut Lock) {
        let Some(log) = &self.log else { return };
        let Some(Last { number: frames, frame, sum }) = log.last else { return };
        let generation = log.header.generation;
        let since_unix_us = log.since_unix_us;
        let record = Record { generation, frames, page: frame.page, sum, since_unix_us };
        if lock.record() == Some(record) {
            return;
        }
        // The commit is on disk even if this fails.
        if let Err(error) = lock.remember(record) {
            tracing::warn!(db = %self.path.display(), "failed to remember the log beside the database: {error}");
        }
    }

    /// The database's fate, from the system's view of this process's open files.
    pub(crate) fn fate(&self) -> Fate {
        self.database.identity.fate()
    }
}

impl Log {
    /// Whether the log's file is empty.
    fn is_empty(&self) -> bool {
        self.file.metadata().is_ok_and(|found| found.len() == 0)
    }

    /// The current log, if it has begun.
    fn open(path: &Path, lock: &Lock) -> std::io::Result<Option<Self>> {
        let Ok(file) = File::open(path) else { return Ok(None) };
        let place = Place::from_metadata(&file.metadata()?);
        let Some(header) = Header::read(&file)? else { return Ok(None) };
        let known = lock.record().filter(|known| known.generation == header.generation);
        let since_unix_us = known.map_or_else(unix_now_us, |known| known.since_unix_us);
        let mut log = Self {
            place,
            file,
            bytes: place.bytes,
            header,
            since_unix_us,
            last: None,
            has_first_page: true,
        };
        log.find_last(0)?;
        Ok(Some(log))
    }

    /// Finds the last committed frame, if unambiguous.
    fn find_last(&mut self, known: u32) -> std::io::Result<()> {
        let number = self.header.last(&self.file, known)?;
        self.last = Last::read(&self.header, &self.file, number)?;
        Ok(())
    }

    /// Records the last committed frame as SQLite reports it; returns whether the log has it.
    fn know_last(&mut self, frames: u32) -> std::io::Result<bool> {
        let Some(header) = Header::read(&self.file)? else { return Ok(false) };
        let is_same = header == self.header;
        if !is_same && !header.generation.follows(self.header.generation) {
            return Ok(false);
        }
        self.header = header;
        self.bytes = self.file.metadata()?.len();
        self.last = Last::read(&header, &self.file, frames)?;
        Ok(self.last.is_some() && self.bytes >= header.bytes(frames))
    }

    /// After a commit: moves to its last frame.
    fn advance(&mut self) -> std::io::Result<()> {
        let Some(header) = Header::read(&self.file)? else { return Ok(()) };
        self.bytes = self.file.metadata()?.len();
        let known = if header == self.header {
            let Some(last) = self.last else { return Ok(()) };
            self.has_first_page = true;
            last.number
        } else {
            // The log restarted with this commit.
            self.header = header;
            self.has_first_page = false;
            self.since_unix_us = unix_now_us();
            0
        };
        self.find_last(known)
    }

    /// Damage of the log, whose file has this many bytes, if any.
    fn check(&self, bytes: u64) -> std::io::Result<Option<String>> {
        let mut problem = String::new();
        for _ in 0..READS_MAX {
            let header = Header::read(&self.file)?;
            match header {
                Some(header) if header == self.header => {}
                // The log has restarted, which may have made it shorter.
                Some(header) if header.generation.follows(self.header.generation) => {
                    return Ok(None);
                }
                Some(_) => {
                    "was replaced by that of another database".clone_into(&mut problem);
                    continue;
                }
                None => {
                    "was cut or overwritten at its beginning".clone_into(&mut problem);
                    continue;
                }
            }
            if bytes < self.bytes {
                problem = format!("was cut from {} to {bytes} bytes", self.bytes);
                continue;
            }
            let Some(last) = self.last else { return Ok(None) };
            if Last::read(&self.header, &self.file, last.number)? == Some(last) {
                return Ok(None);
            }
            "was overwritten where the last commit is".clone_into(&mut problem);
        }
        Ok(Some(problem))
    }
}

impl Last {
    /// Reads a frame if it ends a commit of this log.
    fn read(header: &Header, log: &File, number: u32) -> std::io::Result<Option<Self>> {
        let found = header.frame_and_sum(log, number)?;
        let found = found.filter(|(frame, _)| frame.ends_commit_of(header));
        Ok(found.map(|(frame, sum)| Self { number, frame, sum }))
    }
}

/// [`Files`] shared by a writer and its checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct SharedFiles(Arc<Mutex<Files>>);

impl SharedFiles {
    pub(crate) fn open(path: &Path, alarm: Alarm) -> Result<Self, StoreError> {
        Ok(Self(Arc::new(Mutex::new(Files::open(path, alarm)?))))
    }

    /// Locks the files for a moment.
    pub(crate) fn now(&self) -> MutexGuard<'_, Files> {
        // A panic leaves no partial change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a transaction: checks the files, and asks SQLite for the extent of the log if needed.
    pub(crate) async fn check_before(
        &self,
        connection: &mut SqliteConnection,
        lock: &mut Lock,
    ) -> Result<(), StoreError> {
        self.now().alarm.check()?;
        if self.now().is_doubtful() {
            let frames = committed_frames(connection).await?;
            self.now().record_committed(frames, lock)?;
        }
        self.now().check()
    }

    /// The same check outside a writer's transaction, at any moment.
    pub(crate) async fn check_beside(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        let is_empty = || self.now().log.as_ref().is_some_and(Log::is_empty);
        // An empty log is for SQLite to judge while it stays empty.
        if is_empty() && (committed_frames(connection).await? == 0 || !is_empty()) {
            return self.now().alarm.check();
        }
        self.now().check()
    }
}

/// An unreadable file means a failing disk.
fn unreadable(error: std::io::Error) -> StoreError {
    StoreError::Sql(sqlx::Error::Io(error))
}

/// The number of committed frames of the log, from SQLite. Changes nothing.
async fn committed_frames(connection: &mut SqliteConnection) -> Result<u32, StoreError> {
    // The query macros cannot describe a pragma.
    let row = sqlx::query("PRAGMA wal_checkpoint(NOOP)").fetch_one(connection).await?;
    let frames: i64 = row.try_get(1)?;
    Ok(u32::try_from(frames).unwrap_or(0))
}
