//! Whether the files of an open database are what the last commit left: the same files, no shorter, with the
//! beginnings and the end that they had. It is looked at before and after every commit and every checkpoint.
//!
//! SQLite does not notice when a log or a database is cut or overwritten while it is open: it goes on by what
//! is in memory, and everything that is acknowledged from then on would be lost (invariant 5).
//!
//! What another program writes into the middle of a file in place is not seen here. SQLite meets it when it
//! reads that page, and whoever reads raises the [`Alarm`].

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

/// How often something that looks wrong is read again: somebody may be writing it at this moment.
const READS_MAX: u32 = 3;

/// The bytes of a database before its first row.
const HEAD_BYTES: usize = 100;

/// Where those bytes are that never change while a database is open: what it is, the size of its pages, its
/// journal's kind, its encoding, its application, and what is reserved
/// (sqlite.org/fileformat2.html#the_database_header).
const UNCHANGING: [std::ops::Range<usize>; 3] = [0..24, 56..60, 68..92];

/// The files of a database that is open to write, as they were after the last commit.
#[derive(Debug)]
pub(crate) struct Files {
    alarm: Alarm,
    path: PathBuf,
    database: Place,
    /// Open as long as this is, since closing it ends SQLite's locks on it. So this is dropped after every
    /// connection.
    file: File,
    head: [u8; HEAD_BYTES],
    /// The database's file is no shorter.
    bytes_min: u64,
    log_path: PathBuf,
    /// Known from the first transaction on: SQLite makes the log then.
    log: Option<Log>,
}

/// The log, as it was after the last commit.
#[derive(Debug)]
struct Log {
    place: Place,
    file: File,
    bytes: u64,
    header: Header,
    /// When it began, as far as known.
    since_unix_us: i64,
    /// The last frame that was committed. `None` if only SQLite knows which that is.
    last: Option<Last>,
    /// Whether it has the database's first page, by which an old log is known: see the module `log_loss`.
    has_first_page: bool,
}

/// The last frame that was committed: its number, what is before its page, and the page's checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    number: u32,
    frame: Frame,
    sum: u64,
}

impl Files {
    /// Those of the database that was just opened.
    pub(crate) fn of(path: &Path, alarm: Alarm) -> Result<Self, StoreError> {
        let failed = |source| StoreError::File { path: path.to_owned(), source };
        let file = File::open(path).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        let mut head = [0; HEAD_BYTES];
        fill(&file, &mut head, 0).map_err(failed)?;
        Ok(Self {
            alarm,
            path: path.to_owned(),
            database: Place::of(&found),
            file,
            head,
            bytes_min: found.len(),
            log_path: log_path(path),
            log: None,
        })
    }

    /// Whom to tell of damage.
    pub(crate) fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    /// Takes another connection's log for the one that is known, from the next transaction on.
    pub(crate) fn forget_log(&mut self) {
        self.log = None;
    }

    /// That the files are those that are open, and what the last commit left. May be called at any moment, also
    /// while something is written.
    ///
    /// # Errors
    /// [`StoreError::Gone`] if a path names another file, [`StoreError::Damaged`] if a file is not what it was;
    /// the alarm is raised then.
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

    /// What a path names now, if it is the file that it named.
    fn there(&self, path: &Path, expected: Place) -> Result<Place, StoreError> {
        match Place::at(path) {
            Some(there) if there.identity == expected.identity => Ok(there),
            Some(_) | None => Err(StoreError::Gone { path: path.to_owned() }),
        }
    }

    /// What is wrong with the database's file, if anything is.
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
            // Shorter than it was is one that somebody has made smaller as SQLite does, or was cut.
            let pages_bytes = u64::from(number(&head, 28)) * u64::from(page_bytes(&head));
            if bytes >= self.bytes_min || bytes >= pages_bytes {
                return Ok(None);
            }
            problem = format!("was cut to {bytes} bytes, and has {pages_bytes}");
        }
        Ok(Some((self.path.clone(), problem)))
    }

    /// The same inside a transaction that has written nothing yet; takes note of the log.
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

    /// Takes note of how much of the log was committed, as SQLite says it.
    fn told_committed(&mut self, frames: u32, lock: &mut Lock) -> Result<(), StoreError> {
        if frames == 0 {
            // Another program has moved everything into the database and made the log empty, or it is to begin
            // anew. The next transaction finds another.
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

    /// What was committed may have been rolled back before, with frames that only look committed.
    pub(crate) fn doubt_last(&mut self) {
        if let Some(log) = &mut self.log {
            log.last = None;
        }
    }

    /// After a commit: checks, takes note of it, and lets the lock's file remember it.
    pub(crate) fn committed(&mut self, lock: &mut Lock) -> Result<(), StoreError> {
        self.check()?;
        let Some(log) = &mut self.log else { return self.know_log(lock) };
        log.advance().map_err(unreadable)?;
        if let Some(last) = log.last {
            // A checkpoint may cut the file to this, or has made it longer.
            let committed = u64::from(last.frame.pages) * u64::from(page_bytes(&self.head));
            let there = Place::at(&self.path).map_or(0, |there| there.bytes);
            self.bytes_min = committed.min(there);
        }
        self.remember(lock);
        Ok(())
    }

    /// Whether the next transaction is to write the first page.
    pub(crate) fn lacks_first_page(&self) -> bool {
        self.log.as_ref().is_some_and(|log| !log.has_first_page)
    }

    /// Lets the lock's file remember the last commit.
    fn remember(&self, lock: &mut Lock) {
        let Some(log) = &self.log else { return };
        let Some(Last { number: frames, frame, sum }) = log.last else { return };
        let generation = log.header.generation;
        let since_unix_us = log.since_unix_us;
        let record = Record { generation, frames, page: frame.page, sum, since_unix_us };
        if lock.record() == Some(record) {
            return;
        }
        // What was committed is on disk all the same.
        if let Err(error) = lock.remember(record) {
            tracing::warn!(db = %self.path.display(), "failed to remember the log beside the database: {error}");
        }
    }

    /// What has become of the database, by what the system says of the files that this process has open.
    pub(crate) fn fate(&self) -> Fate {
        self.database.identity.fate()
    }
}

impl Log {
    /// Whether nothing is in its file.
    fn is_empty(&self) -> bool {
        self.file.metadata().is_ok_and(|found| found.len() == 0)
    }

    /// The log as it is now, if it has begun.
    fn open(path: &Path, lock: &Lock) -> std::io::Result<Option<Self>> {
        let Ok(file) = File::open(path) else { return Ok(None) };
        let place = Place::of(&file.metadata()?);
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

    /// Finds the last frame that was committed, if it is plain.
    fn find_last(&mut self, known: u32) -> std::io::Result<()> {
        let number = self.header.last(&self.file, known)?;
        self.last = Last::read(&self.header, &self.file, number)?;
        Ok(())
    }

    /// Takes note of the last frame that was committed, by what SQLite says; whether it is there.
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

    /// After a commit: where it ends.
    fn advance(&mut self) -> std::io::Result<()> {
        let Some(header) = Header::read(&self.file)? else { return Ok(()) };
        self.bytes = self.file.metadata()?.len();
        let known = if header == self.header {
            let Some(last) = self.last else { return Ok(()) };
            self.has_first_page = true;
            last.number
        } else {
            // It began anew with this commit.
            self.header = header;
            self.has_first_page = false;
            self.since_unix_us = unix_now_us();
            0
        };
        self.find_last(known)
    }

    /// What is wrong with it, if anything is: its file has so many bytes.
    fn check(&self, bytes: u64) -> std::io::Result<Option<String>> {
        let mut problem = String::new();
        for _ in 0..READS_MAX {
            let header = Header::read(&self.file)?;
            match header {
                Some(header) if header == self.header => {}
                // It has begun anew, which may have made it shorter.
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
    /// Reads it, if it ends a commit of this log.
    fn read(header: &Header, log: &File, number: u32) -> std::io::Result<Option<Self>> {
        let found = header.frame_and_sum(log, number)?;
        let found = found.filter(|(frame, _)| frame.ends_commit_of(header));
        Ok(found.map(|(frame, sum)| Self { number, frame, sum }))
    }
}

/// [`Files`], of a writer and of its checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct SharedFiles(Arc<Mutex<Files>>);

impl SharedFiles {
    pub(crate) fn of(path: &Path, alarm: Alarm) -> Result<Self, StoreError> {
        Ok(Self(Arc::new(Mutex::new(Files::of(path, alarm)?))))
    }

    /// The files, for a moment.
    pub(crate) fn now(&self) -> MutexGuard<'_, Files> {
        // Whoever has panicked has changed nothing by half.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Before a transaction: checks, and asks SQLite what only SQLite knows.
    pub(crate) async fn check_before(
        &self,
        connection: &mut SqliteConnection,
        lock: &mut Lock,
    ) -> Result<(), StoreError> {
        self.now().alarm.check()?;
        if self.now().is_doubtful() {
            let frames = committed_frames(connection).await?;
            self.now().told_committed(frames, lock)?;
        }
        self.now().check()
    }

    /// The same for whoever does not write, at any moment.
    pub(crate) async fn check_beside(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<(), StoreError> {
        let is_empty = || self.now().log.as_ref().is_some_and(Log::is_empty);
        // One that is empty is for SQLite to judge, while it is.
        if is_empty() && (committed_frames(connection).await? == 0 || !is_empty()) {
            return self.now().alarm.check();
        }
        self.now().check()
    }
}

/// A file that cannot be read is a disk that fails.
fn unreadable(error: std::io::Error) -> StoreError {
    StoreError::Sql(sqlx::Error::Io(error))
}

/// How many frames of the log were committed, by what SQLite knows. Changes nothing.
async fn committed_frames(connection: &mut SqliteConnection) -> Result<u32, StoreError> {
    // The query macros cannot describe a pragma.
    let row = sqlx::query("PRAGMA wal_checkpoint(NOOP)").fetch_one(connection).await?;
    let frames: i64 = row.try_get(1)?;
    Ok(u32::try_from(frames).unwrap_or(0))
}
