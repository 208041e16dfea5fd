//! A copy of the whole database, taken while others write to it, by SQLite's own means
//! (sqlite.org/backup.html).
//!
//! It is of one moment: a snapshot is held until everything is copied. Without one the copy would begin
//! again with every commit of somebody else, and never end beside a busy coordinator. It grows under
//! another name, and gets its own when it is whole and on disk: whatever happens, what has that name is a
//! backup.

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

/// Pages that are copied between two looks at whether somebody still wants them: 4 MiB.
const PAGES_PER_STEP: i32 = 1_024;

/// What SQLite keeps beside a database of this name: beside a copy it would be somebody else's.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// How far a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Pages that are copied.
    pub pages: u64,
    /// Pages that there are.
    pub of: u64,
}

/// A copy that is whole and on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackedUp {
    /// Its size.
    pub bytes: u64,
    /// Games that have their result in it.
    pub games: u64,
}

/// Why there is no copy. Nothing of the name is there then that was not there before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something has the name already.
    #[error("failed to write {}: there is {} already", to.display(), there.display())]
    Exists {
        /// The copy.
        to: PathBuf,
        /// What is there.
        there: PathBuf,
    },
    /// The name is not one of a file in a directory that is there.
    #[error("failed to write {}: there is no directory for it", to.display())]
    NoDirectory {
        /// The copy.
        to: PathBuf,
    },
    /// Somebody else writes a copy of this name.
    #[error("failed to write {}: somebody else is writing it", to.display())]
    Busy {
        /// The copy.
        to: PathBuf,
    },
    /// The copy cannot be written.
    #[error("failed to write {}: {source}", to.display())]
    Write {
        /// The copy.
        to: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The copy is not whole, and has been thrown away.
    #[error("failed to copy: the copy is damaged: {said}")]
    Damaged {
        /// What SQLite says first.
        said: String,
    },
    /// Nobody wants it any more.
    #[error("failed to copy: it was given up")]
    GivenUp,
}

impl BackupError {
    /// What to do about it, as a sentence without an end mark.
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
    /// Copies the database, as it is now, into a new file, and checks the copy. Takes as long as the disks
    /// need, on the thread of the caller. `look` is shown how far it is, and can break it off.
    ///
    /// # Errors
    /// If there is something of this name, the database cannot be read, the copy cannot be written or is
    /// not whole, or `look` breaks it off.
    pub fn back_up(
        &self,
        to: &Path,
        mut look: impl FnMut(Copied) -> ControlFlow<()> + Send + 'static,
    ) -> Result<BackedUp, BackupError> {
        refuse_existing(to)?;
        let unfinished = Unfinished::create(to)?;
        self.copy_pages(&unfinished, &mut look).map_err(|error| self.heard(error))?;
        let games = unfinished.check(look)?;
        unfinished.mark_copied()?;
        // Who may read the one may read the other.
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
                // Whoever reads a snapshot waits for nobody, and nobody else knows the copy.
                return Err(StoreError::Busy.into());
            }
            let progress = copying.progress();
            let of = u64::try_from(progress.pagecount).unwrap_or(0);
            let left = u64::try_from(progress.remaining).unwrap_or(0);
            if look(Copied { pages: of.saturating_sub(left), of }).is_break() {
                return Err(BackupError::GivenUp);
            }
        }
        drop(copying);
        into.close().map_err(|(_, error)| failed(error))?;
        self.still_at_rest()?;
        unfinished.seal()
    }

    /// Tells the alarm of damage that a copy has met.
    pub(crate) fn heard(&self, error: BackupError) -> BackupError {
        if let BackupError::Store(error) = &error {
            self.alarm().hear(error);
        }
        error
    }

    /// A connection that holds a snapshot.
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
        // It begins with the first read.
        connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        Ok(connection)
    }
}

/// Refuses a name that is taken, also by what SQLite would take for the copy's own.
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

/// The copy while it is not whole, under the name that it has so long. One that a killed backup left
/// behind is begun anew by the next. It goes when it is dropped, unless it was published.
pub(crate) struct Unfinished {
    /// What it will be called.
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
                // It gets the database's own mode in the end: until then nobody else's business.
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
            // Whoever had it may have given it its name, or thrown it away, since it was opened.
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
        // Nobody else has this file, and some file systems of other machines, which are good enough for a
        // copy, have no locks.
        let connection = Connection::open_with_flags_and_vfs(&self.path, flags, c"unix-none")?;
        // Before it is whole, it is worth nothing, and then it is synced at once.
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")?;
        Ok(connection)
    }

    /// Whose failure it is.
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

    /// Reads the whole copy: it is whole, and has so many games.
    pub(crate) fn check(
        &self,
        mut look: impl FnMut(Copied) -> ControlFlow<()> + Send + 'static,
    ) -> Result<u64, BackupError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        let read = || {
            // Nothing is made beside it.
            let connection = Connection::open_with_flags(immutable_uri(&self.path), flags)?;
            let all = Copied { pages: 1, of: 1 };
            connection
                .progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(move || look(all).is_break()))?;
            let said: String =
                connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
            let games = connection
                .query_row("SELECT count(*) FROM games", [], |row| row.get::<_, i64>(0))?;
            Ok((said, u64::try_from(games).unwrap_or(0)))
        };
        let read: rusqlite::Result<_> = read();
        match read {
            Ok((said, games)) if said == "ok" => Ok(games),
            Ok((said, _)) => Err(BackupError::Damaged { said }),
            Err(error) => Err(match query_code(&error) {
                Some(code::INTERRUPT) => BackupError::GivenUp,
                Some(code::CORRUPT | code::NOTADB) => {
                    BackupError::Damaged { said: error.to_string() }
                }
                Some(_) | None => StoreError::from(error).into(),
            }),
        }
    }

    /// Writes the digests of its tables into a copy of a whole database.
    fn seal(&self) -> Result<(), BackupError> {
        // The copy keeps a log, as its database does, and SQLite cannot make one for a file without locks. So the file
        // says meanwhile that it has none (sqlite.org/fileformat2.html, "File format version numbers").
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

    /// Lets the first coordinator that opens it know that it is a copy.
    fn mark_copied(&self) -> Result<(), BackupError> {
        // Not by SQLite, which would have to make the copy's log for that. Where the number is in the file does
        // not change (sqlite.org/fileformat2.html#database_header).
        const USER_VERSION_OFFSET: u64 = 60;
        let written = self.file.write_all_at(&COPIED.to_be_bytes(), USER_VERSION_OFFSET);
        written.map_err(|source| BackupError::Write { to: self.to.clone(), source })
    }

    /// The file, to write it by other means than SQLite.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// On disk, and under its name: how many bytes.
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
            // Not every file system can.
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
            // Still locked: it is ours. The next backup of this name would begin it anew.
            let _stays = std::fs::remove_file(&self.path);
        }
    }
}
