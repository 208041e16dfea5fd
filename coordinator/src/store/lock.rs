//! One coordinator for a database: a lock of the operating system beside it, held as long as the
//! process has the database open. It ends with the process, however that ends.
//!
//! The lock is on a file of its own (`<database>-lock`): closing any handle of the database file
//! itself would release SQLite's own locks on it (sqlite.org/howtocorrupt.html, section 2.2).
//!
//! It says who holds it, and how to reach whoever that is; so only its owner may read it.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// The lock. Released, and its file removed, when dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Holds the lock.
    file: File,
}

/// What whoever holds a database's lock tells others, if anybody does: the process, and then what it was
/// given to tell.
#[must_use]
pub fn told_by_holder(database: &Path) -> Option<String> {
    let path = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    std::fs::read_to_string(lock_path(&path)).ok()
}

fn lock_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-lock");
    PathBuf::from(path)
}

impl Lock {
    /// Takes the lock of a database, without waiting.
    pub(super) fn take(database: &Path) -> Result<Self, StoreError> {
        let path = lock_path(database);
        let failed = |source| StoreError::File { path: path.clone(), source };
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
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    // What it says is for people: an unreadable one is no other error.
                    let _unreadable = file.read_to_string(&mut holder);
                    let holder = holder.lines().next().unwrap_or("unknown").to_owned();
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
            let mut lock = Self { path: path.clone(), file };
            lock.tell("").map_err(failed)?;
            return Ok(lock);
        }
    }

    /// Tells whoever finds the database held something beside the process.
    pub(super) fn tell(&mut self, what: &str) -> std::io::Result<()> {
        // One that was left behind may be open to others.
        self.file.set_permissions(Permissions::from_mode(0o600))?;
        self.file.set_len(0)?;
        self.file.rewind()?;
        write!(self.file, "process {}\n{what}", std::process::id())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
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
