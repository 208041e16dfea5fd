//! Identity of the database file. While the database is open, its path can come to name another file or none: the file
//! was deleted, renamed, or replaced by a copy. SQLite goes on writing to the file that it opened, and everything
//! acknowledged from then on would be lost (invariant 5).

use std::fs::{Metadata, metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// A file, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// A file that a path names, with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) identity: Identity,
    pub(crate) bytes: u64,
}

impl Place {
    pub(crate) fn from_metadata(metadata: &Metadata) -> Self {
        Self { identity: Identity::from_metadata(metadata), bytes: metadata.len() }
    }

    /// The file that a path names now, if it can be inspected.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        metadata(path).ok().as_ref().map(Self::from_metadata)
    }
}

/// The fate of a database whose path names another file, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The file has another name now.
    Renamed(PathBuf),
    /// The file is in no directory any more, and vanishes with the last process that has it open.
    Deleted,
}

impl Identity {
    /// The database's fate, from the system's view of this process's open files.
    pub(crate) fn fate(self) -> Fate {
        let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        for entry in open {
            let Ok(found) = metadata(entry.path()) else { continue };
            if Self::from_metadata(&found) == self
                && found.nlink() > 0
                && let Ok(path) = std::fs::read_link(entry.path())
            {
                return Fate::Renamed(path);
            }
        }
        Fate::Deleted
    }
}

/// Refuses a file with a second name: a coordinator that opens the file by that name has another lock and another log,
/// and the two would damage the file.
pub(crate) fn refuse_links(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    if found.is_file() && found.nlink() > 1 {
        return Err(StoreError::Linked { path: path.to_owned(), names: found.nlink() });
    }
    Ok(())
}
