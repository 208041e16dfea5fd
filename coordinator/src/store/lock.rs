//! One coordinator for a database: a lock of the operating system beside it, held as long as the
//! process has the database open. It ends with the process, however that ends.
//!
//! The lock is on a file of its own (`<database>-lock`): closing any handle of the database file
//! itself would release SQLite's own locks on it (sqlite.org/howtocorrupt.html, section 2.2).

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// The lock. Released, and its file removed, when dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Lock {
    /// Takes the lock of a database, without waiting.
    pub(super) fn take(database: &Path) -> Result<Self, StoreError> {
        let mut path = database.as_os_str().to_owned();
        path.push("-lock");
        let path = PathBuf::from(path);
        let failed = |source| StoreError::File { path: path.clone(), source };
        loop {
            let mut file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(|source| refuse_read_only(database, &path, source))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let mut holder = String::new();
                    // What it says is for people: an unreadable one is no other error.
                    if file.read_to_string(&mut holder).is_err() || holder.is_empty() {
                        "unknown".clone_into(&mut holder);
                    }
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
            file.set_len(0)
                .and_then(|()| file.rewind())
                .and_then(|()| write!(file, "process {}", std::process::id()))
                .map_err(failed)?;
            return Ok(Self { path, _file: file });
        }
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
