//! Which file the database is. While it is open its path may come to name another one, or none: it was
//! deleted, renamed, or a copy was put in its place. SQLite goes on writing to the file that it opened,
//! and whatever was acknowledged from then on would be lost (invariant 5).

use std::fs::{Metadata, metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// A file, by whatever name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }

    /// What a path names now, if it names anything that can be looked at.
    fn at(path: &Path) -> Option<Self> {
        metadata(path).ok().as_ref().map(Self::of)
    }
}

/// The files of a database that is open.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    database: Identity,
    log_path: PathBuf,
    /// Known from the first transaction on: SQLite makes the log then.
    log: Option<Identity>,
}

/// What has become of a database whose path names another file, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It has another name now.
    Renamed(PathBuf),
    /// It is in no directory any more, and ends with the last process that has it open.
    Deleted,
}

impl Files {
    /// Those of the database that was just opened.
    pub(super) fn of(path: &Path) -> Result<Self, StoreError> {
        let found =
            metadata(path).map_err(|source| StoreError::File { path: path.to_owned(), source })?;
        let mut log_path = path.as_os_str().to_owned();
        log_path.push("-wal");
        Ok(Self {
            path: path.to_owned(),
            database: Identity::of(&found),
            log_path: log_path.into(),
            log: None,
        })
    }

    /// Takes note of the log, inside a transaction.
    pub(super) fn know_log(&mut self) {
        if self.log.is_none() {
            self.log = Identity::at(&self.log_path);
        }
    }

    /// The log may be another from the next transaction on: the connection is another.
    pub(super) fn forget_log(&mut self) {
        self.log = None;
    }

    /// That the paths still name the files that are open.
    ///
    /// # Errors
    /// [`StoreError::Gone`] if not.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let gone = |path: &Path| Err(StoreError::Gone { path: path.to_owned() });
        if Identity::at(&self.path) != Some(self.database) {
            return gone(&self.path);
        }
        match self.log {
            Some(log) if Identity::at(&self.log_path) != Some(log) => gone(&self.log_path),
            Some(_) | None => Ok(()),
        }
    }

    /// What has become of the database, by what the system says of the files that this process has open.
    pub(super) fn fate(&self) -> Fate {
        let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        for entry in open {
            let Ok(found) = metadata(entry.path()) else { continue };
            if Identity::of(&found) == self.database
                && found.nlink() > 0
                && let Ok(path) = std::fs::read_link(entry.path())
            {
                return Fate::Renamed(path);
            }
        }
        Fate::Deleted
    }
}

/// Refuses a file that has a second name: a coordinator that opens it by that one has another lock and
/// another log, and the two would damage it.
pub(super) fn refuse_links(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    if found.is_file() && found.nlink() > 1 {
        return Err(StoreError::Linked { path: path.to_owned(), names: found.nlink() });
    }
    Ok(())
}
