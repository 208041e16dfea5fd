//! Copies the whole database while others write to it, with SQLite's backup API (sqlite.org/backup.html).
//!
//! A read transaction is held until everything is copied, so the copy is a snapshot. Without that transaction, the copy
//! would restart with every other commit and never finish beside a busy coordinator. The copy is written under a
//! temporary name and renamed once it is complete and on disk, so a file with the final name is always a valid backup.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::check::rot::seal_copy;
use crate::error::{StoreError, code, query_code};
use crate::open::at_rest::with_suffix;
use crate::open::connection::{BUSY_TIMEOUT, COPIED, INSTRUCTIONS_BETWEEN_LOOKS};
use crate::query::queries::immutable_uri;
use crate::read::readers::Readers;

/// Pages copied between two checks for cancellation: 4 MiB.
const PAGES_PER_STEP: i32 = 1_024;

/// Suffixes of SQLite's companion files. Next to a copy, such a file would belong to another database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Progress of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Pages copied so far.
    pub pages: u64,
    /// Pages in total.
    pub pages_total: u64,
}

/// A complete copy on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// Size of the copy.
    pub bytes: u64,
    /// Games with a result in the copy.
    pub games: u64,
}

/// Why a copy failed. No new file with the requested name is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file with this name already exists.
    #[error("failed to write {}: there is {} already", to.display(), there.display())]
    Exists {
        /// Path of the copy.
        to: PathBuf,
        /// The existing file.
        there: PathBuf,
    },
    /// The path has no existing parent directory, or no file name.
    #[error("failed to write {}: there is no directory for it", to.display())]
    NoDirectory {
        /// Path of the copy.
        to: PathBuf,
    },
    /// Another process is writing a copy with this name.
    #[error("failed to write {}: another process is writing it", to.display())]
    Busy {
        /// Path of the copy.
        to: PathBuf,
    },
    /// The copy cannot be written.
    #[error("failed to write {}: {source}", to.display())]
    Write {
        /// Path of the copy.
        to: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The copy was damaged and has been deleted.
    #[error("failed to copy: the copy is damaged: {problem}")]
    Damaged {
        /// The first problem that SQLite reported.
        problem: String,
    },
    /// The caller cancelled the copy.
    #[error("failed to copy: it was given up")]
    GivenUp,
}

impl BackupError {
    /// How to fix the error, as a sentence without a final period.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Store(error) => error.remedy(),
            Self::Exists { .. } => {
                "name another file; nothing is ever written over".to_owned()
            }
            Self::NoDirectory { .. } => {
                "name a file in a directory that is there (mkdir -p makes one)".to_owned()
            }
            Self::Busy { .. } => "wait for it, or name another file".to_owned(),
            Self::Write { .. } => {
                "make room, or name a file where there is some and where you may write".to_owned()
            }
            Self::Damaged { .. } => {
                "`spelrum check` says whether the database itself is whole; if it is, the disk of the copy \
                 is not"
                    .to_owned()
            }
            Self::GivenUp => "start it again".to_owned(),
        }
    }
}

impl Readers {
    /// Copies the current database into a new file and checks the copy. Blocks the calling thread for as long as the
    /// disks need. `look` receives the progress and can cancel.
    ///
    /// # Errors
    /// If the name is taken, the database cannot be read, the copy cannot be written or is damaged, or `look` cancels.
    pub fn back_up(
        &self,
        to: &Path,
        mut look: impl FnMut(Copied) -> ControlFlow<()> + Send + 'static,
    ) -> Result<BackedUp, BackupError> {
        refuse_existing(to)?;
        let unfinished = Unfinished::create(to)?;
        self.copy_pages(&unfinished, &mut look).map_err(|error| self.note_damage(error))?;
        let games = unfinished.check(look)?;
        unfinished.mark_copied()?;
        // The copy gets the database's permissions.
        let permissions = std::fs::metadata(self.path()).map(|metadata| metadata.permissions());
        let bytes = unfinished.publish(permissions.ok())?;
        Ok(BackedUp { bytes, games })
    }

    fn copy_pages(
        &self,
        unfinished: &Unfinished,
        look: &mut impl FnMut(Copied) -> ControlFlow<()>,
    ) -> Result<(), BackupError> {
        let from = self.connect().map_err(StoreError::from)?;
        let failed = |error| unfinished.failed(error);
        let mut into = unfinished.connect().map_err(failed)?;
        let copying = Backup::new(&from, &mut into).map_err(failed)?;
        loop {
            let step = copying.step(PAGES_PER_STEP).map_err(failed)?;
            if step == StepResult::Done {
                break;
            }
            if step != StepResult::More {
                // Readers of a snapshot wait for no lock, and no other process has the copy open.
                return Err(StoreError::Busy.into());
            }
            let progress = copying.progress();
            let pages_total = u64::try_from(progress.pagecount).unwrap_or(0);
            let left = u64::try_from(progress.remaining).unwrap_or(0);
            if look(Copied { pages: pages_total.saturating_sub(left), pages_total }).is_break() {
                return Err(BackupError::GivenUp);
            }
        }
        drop(copying);
        into.close().map_err(|(_, error)| failed(error))?;
        self.still_at_rest()?;
        unfinished.seal()
    }

    /// Reports damage met by a copy to the alarm.
    pub(crate) fn note_damage(&self, error: BackupError) -> BackupError {
        if let BackupError::Store(error) = &error {
            self.alarm().raise_if_damage(error);
        }
        error
    }

    /// Opens a connection that holds a snapshot.
    pub(crate) fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = if self.is_at_rest() {
            let uri = immutable_uri(self.path());
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
        } else {
            Connection::open_with_flags(self.path(), flags)?
        };
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.execute_batch("BEGIN")?;
        // The snapshot begins with the first read.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    }
}

/// Refuses a name that is taken, or whose companion files exist: SQLite would use these as the copy's own.
pub(crate) fn refuse_existing(to: &Path) -> Result<(), BackupError> {
    let companions = COMPANIONS.iter().map(|suffix| with_suffix(to, suffix));
    for there in std::iter::once(to.to_owned()).chain(companions) {
        match std::fs::symlink_metadata(&there) {
            Ok(_) => return Err(BackupError::Exists { to: to.to_owned(), there }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(source) => return Err(BackupError::Write { to: to.to_owned(), source }),
        }
    }
    Ok(())
}

/// An incomplete copy under its temporary name. The next backup overwrites a leftover of a killed one. Dropping this
/// deletes the file, unless it was published.
pub(crate) struct Unfinished {
    /// The final name.
    to: PathBuf,
    directory: PathBuf,
    path: PathBuf,
    /// Holds the lock.
    file: File,
    is_published: bool,
}

impl Unfinished {
    pub(crate) fn create(to: &Path) -> Result<Self, BackupError> {
        let no_directory = || BackupError::NoDirectory { to: to.to_owned() };
        let directory = match to.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        if to.file_name().is_none() || !directory.is_dir() {
            return Err(no_directory());
        }
        let path = with_suffix(to, "-unfinished");
        let failed = |source| BackupError::Write { to: to.to_owned(), source };
        loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                // Private until the copy gets the database's own mode at the end.
                .mode(0o600)
                .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
                .open(&path)
                .map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(BackupError::Busy { to: to.to_owned() });
                }
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            // The previous lock holder may have renamed or deleted the file since it was opened.
            let ours = file.metadata().map_err(failed)?;
            let is_there = std::fs::symlink_metadata(&path)
                .is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino()));
            if !is_there {
                continue;
            }
            file.set_len(0).map_err(failed)?;
            let (to, directory) = (to.to_owned(), directory.to_owned());
            return Ok(Self { to, directory, path, file, is_published: false });
        }
    }

    pub(crate) fn connect(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // No other process uses this file, and some network file systems that can hold a copy lack locks.
        let connection = Connection::open_with_flags_and_vfs(&self.path, flags, c"unix-none")?;
        // An incomplete copy is worthless, and a complete one is synced at once.
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        Ok(connection)
    }

    /// Attributes an error to the database or the copy.
    pub(crate) fn failed(&self, error: rusqlite::Error) -> BackupError {
        let is_writing = error.sqlite_error().is_some_and(|error| {
            const WRITING: [i32; 4] = [
                rusqlite::ffi::SQLITE_IOERR_WRITE,
                rusqlite::ffi::SQLITE_IOERR_FSYNC,
                rusqlite::ffi::SQLITE_IOERR_TRUNCATE,
                rusqlite::ffi::SQLITE_IOERR_CLOSE,
            ];
            WRITING.contains(&error.extended_code)
        });
        let to = || self.to.clone();
        if query_code(&error) == Some(code::FULL) {
            BackupError::Write { to: to(), source: Errno::NOSPC.into() }
        } else if is_writing {
            BackupError::Write { to: to(), source: std::io::Error::other(error) }
        } else {
            StoreError::from(error).into()
        }
    }

    /// Checks the whole copy and counts its games.
    pub(crate) fn check(
        &self,
        mut look: impl FnMut(Copied) -> ControlFlow<()> + Send + 'static,
    ) -> Result<u64, BackupError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let read = || {
            // No companion files are created.
            let connection = Connection::open_with_flags(immutable_uri(&self.path), flags)?;
            let all = Copied { pages: 1, pages_total: 1 };
            connection
                .progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(move || look(all).is_break()))?;
            let problem: String =
                connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            let games = connection
                .query_row("SELECT count(*) FROM games", [], |row| row.get::<_, i64>(0))?;
            Ok((problem, u64::try_from(games).unwrap_or(0)))
        };
        let read: rusqlite::Result<_> = read();
        match read {
            Ok((problem, games)) if problem == "ok" => Ok(games),
            Ok((problem, _)) => Err(BackupError::Damaged { problem }),
            Err(error) => Err(match query_code(&error) {
                Some(code::INTERRUPT) => BackupError::GivenUp,
                Some(code::CORRUPT | code::NOTADB) => {
                    BackupError::Damaged { problem: error.to_string() }
                }
                Some(_) | None => StoreError::from(error).into(),
            }),
        }
    }

    /// Writes the digests of the tables into a copy of a whole database.
    fn seal(&self) -> Result<(), BackupError> {
        // The copy is in WAL mode like its database, and SQLite cannot create a WAL for a file without locks. So the
        // header says meanwhile that the file has none (sqlite.org/fileformat2.html, "File format version numbers").
        const VERSIONS_OFFSET: u64 = 18;
        let written = |source| BackupError::Write { to: self.to.clone(), source };
        let mut versions = [0; 2];
        self.file.read_exact_at(&mut versions, VERSIONS_OFFSET).map_err(written)?;
        self.file.write_all_at(&[1, 1], VERSIONS_OFFSET).map_err(written)?;
        let sealed = self.connect().and_then(|mut connection| {
            seal_copy(&mut connection)?;
            connection.close().map_err(|(_, error)| error)
        });
        sealed.map_err(|error| self.failed(error))?;
        self.file.write_all_at(&versions, VERSIONS_OFFSET).map_err(written)
    }

    /// Marks the file as a copy for the first coordinator that opens it.
    fn mark_copied(&self) -> Result<(), BackupError> {
        // Not through SQLite, which would have to create the copy's WAL. The number has a fixed offset in the file
        // (sqlite.org/fileformat2.html#database_header).
        const USER_VERSION_OFFSET: u64 = 60;
        let written = self.file.write_all_at(&COPIED.to_be_bytes(), USER_VERSION_OFFSET);
        written.map_err(|source| BackupError::Write { to: self.to.clone(), source })
    }

    /// The file, for writing without SQLite.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Syncs the file and gives it its final name; returns its size in bytes.
    pub(crate) fn publish(mut self, permissions: Option<Permissions>) -> Result<u64, BackupError> {
        let bytes = self.rename(permissions).map_err(|source| {
            let to = self.to.clone();
            if source.kind() == ErrorKind::AlreadyExists {
                BackupError::Exists { there: to.clone(), to }
            } else {
                BackupError::Write { to, source }
            }
        })?;
        self.is_published = true;
        Ok(bytes)
    }

    fn rename(&self, permissions: Option<Permissions>) -> std::io::Result<u64> {
        if let Some(permissions) = permissions {
            self.file.set_permissions(permissions)?;
        }
        self.file.sync_all()?;
        match renameat_with(CWD, &self.path, CWD, &self.to, RenameFlags::NOREPLACE) {
            // Not every file system supports this rename.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                if self.to.try_exists()? {
                    return Err(ErrorKind::AlreadyExists.into());
                }
                std::fs::rename(&self.path, &self.to)?;
            }
            renamed => renamed?,
        }
        File::open(&self.directory)?.sync_all()?;
        Ok(self.file.metadata()?.len())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.is_published {
            // Still locked by this process; the next backup with this name would overwrite the file anyway.
            let _stays = std::fs::remove_file(&self.path);
        }
    }
}
