//! A database that no program has open, and how it is read: as a file that does not change.
//!
//! Even to read, SQLite makes a log and its index beside the database, and fails where it cannot make them, unless it is
//! told that the file does not change (`immutable`; sqlite.org/wal.html, "Read-Only Databases"). A reader that makes them
//! also leaves them behind. So a database at rest is read without, and whoever has read it looks afterwards whether it
//! still was: SQLite takes no locks on such a file, and a coordinator that was started meanwhile writes to it.

use std::fs::{File, Metadata, metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::open::lock::lock_path;

/// A database that no program had open when this was made.
#[derive(Clone, Debug)]
pub(crate) struct AtRest {
    path: PathBuf,
    state: State,
}

/// What every program that writes to a file changes: device, inode, length, and when it was written last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State([u64; 3], [i64; 2]);

impl State {
    fn of(metadata: &Metadata) -> Self {
        let written = [metadata.mtime(), metadata.mtime_nsec()];
        Self([metadata.dev(), metadata.ino(), metadata.len()], written)
    }
}

impl AtRest {
    /// `None` if a program may have it open: it has a log, or its lock is held.
    pub(crate) fn find(path: &Path) -> Option<Self> {
        // In this order: a coordinator takes the lock before it opens the file, and makes the log before it writes.
        let state = State::of(&metadata(path).ok()?);
        let is_at_rest = !is_locked(path) && !has_log(path);
        is_at_rest.then(|| Self { path: path.to_owned(), state })
    }

    /// That what was read since is what the file has.
    ///
    /// # Errors
    /// [`StoreError::OpenedMeanwhile`] if a program has opened the file since.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        // A log alone changes nothing: who reads the file without it reads what was there before.
        let is_unchanged = metadata(&self.path).is_ok_and(|found| State::of(&found) == self.state);
        if is_unchanged {
            Ok(())
        } else {
            Err(StoreError::OpenedMeanwhile { path: self.path.clone() })
        }
    }
}

/// The name of a file beside one of this name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Whether SQLite has a log for it, in either mode, with what may not be in the file.
fn has_log(path: &Path) -> bool {
    ["-wal", "-journal"].into_iter().any(|suffix| with_suffix(path, suffix).exists())
}

/// Whether a coordinator has the lock, or another user's file does not let us know.
fn is_locked(path: &Path) -> bool {
    match File::open(lock_path(path)) {
        Ok(file) => file.try_lock_shared().is_err(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}
