//! Which file the database is. While it is open its path may come to name another one, or none: it was
//! deleted, renamed, or a copy was put in its place. SQLite goes on writing to the file that it opened,
//! and whatever was acknowledged from then on would be lost (invariant 5).

use std::fs::{Metadata, metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// A file, by whatever name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// A file that a path names, and how long it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) identity: Identity,
    pub(crate) bytes: u64,
}

impl Place {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self { identity: Identity::of(metadata), bytes: metadata.len() }
    }

    /// What a path names now, if it names anything that can be looked at.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        metadata(path).ok().as_ref().map(Self::of)
    }
}

/// What has become of a database whose path names another file, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It has another name now.
    Renamed(PathBuf),
    /// It is in no directory any more, and ends with the last process that has it open.
    Deleted,
}

impl Identity {
    /// What has become of a database, by what the system says of the files that this process has open.
    pub(crate) fn fate(self) -> Fate {
        let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        for entry in open {
            let Ok(found) = metadata(entry.path()) else { continue };
            if Self::of(&found) == self
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
pub(crate) fn refuse_links(path: &Path, found: &Metadata) -> Result<(), StoreError> {
    if found.is_file() && found.nlink() > 1 {
        return Err(StoreError::Linked { path: path.to_owned(), names: found.nlink() });
    }
    Ok(())
}
