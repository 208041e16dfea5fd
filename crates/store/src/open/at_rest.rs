//! Reading a database that no program has open, as a file that does not change.
//!
//! Even to read, SQLite creates a log and its index beside the database, and fails where it cannot create them, unless
//! the file is declared unchanging (`immutable`; sqlite.org/wal.html, "Read-Only Databases"). A reader that creates
//! them also leaves them behind. So a database at rest is read as `immutable`, and the reader checks afterwards that
//! it still was at rest: SQLite takes no locks on such a file, and a coordinator started meanwhile writes to it.

use std::fs::{File, Metadata, metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::open::lock::lock_path;

/// A database that no program had open when this value was created.
#[derive(Clone, Debug)]
pub(crate) struct AtRest {
    path: PathBuf,
    state: State,
}

/// Properties that every program that writes to a file changes: device, inode, length, and time of the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State([u64; 3], [i64; 2]);

impl State {
    fn from_metadata(metadata: &Metadata) -> Self {
        let written = [metadata.mtime(), metadata.mtime_nsec()];
        Self([metadata.dev(), metadata.ino(), metadata.len()], written)
    }
}

impl AtRest {
    /// Returns `None` if a program may have the file open: it has a log, or its lock is held.
    pub(crate) fn find(path: &Path) -> Option<Self> {
        // In this order: a coordinator takes the lock before it opens the file, and makes the log before it writes.
        let state = State::from_metadata(&metadata(path).ok()?);
        let is_at_rest = !is_locked(path) && !has_log(path);
        is_at_rest.then(|| Self { path: path.to_owned(), state })
    }

    /// Checks that the file is unchanged, so that what was read since is still current.
    ///
    /// # Errors
    /// [`StoreError::OpenedMeanwhile`] if a program has opened the file since.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        // A log alone changes nothing: a reader that ignores the log reads the state before it.
        let is_unchanged =
            metadata(&self.path).is_ok_and(|found| State::from_metadata(&found) == self.state);
        if is_unchanged {
            Ok(())
        } else {
            Err(StoreError::OpenedMeanwhile { path: self.path.clone() })
        }
    }
}

/// The path with a suffix added to the file name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Whether SQLite has a log for the file, in either mode, with data that the file may lack.
fn has_log(path: &Path) -> bool {
    ["-wal", "-journal"].into_iter().any(|suffix| with_suffix(path, suffix).exists())
}

/// Whether a coordinator holds the lock, or another user's lock file hides that.
fn is_locked(path: &Path) -> bool {
    match File::open(lock_path(path)) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}
