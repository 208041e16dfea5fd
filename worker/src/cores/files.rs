//! The system's files, below a root, so that recordings of other machines can be read as well.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::list;

/// The most bytes read of a file; none is longer on the largest machines.
const BYTES_MAX: u64 = 4 << 20;

/// The files below a root.
#[derive(Clone, Debug)]
pub(super) struct Files {
    root: PathBuf,
}

impl Files {
    pub(super) fn below(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// The text of a file, by its path from the root; `None` if it is missing, or not text.
    pub(super) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        let path = path.as_ref();
        let path = self.root.join(path.strip_prefix("/").unwrap_or(path));
        let mut text = String::new();
        File::open(path).ok()?.take(BYTES_MAX).read_to_string(&mut text).ok()?;
        Some(text)
    }

    /// A file with one number.
    pub(super) fn number(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text(path)?.trim().parse().ok()
    }

    /// A file with a list of hardware threads.
    pub(super) fn cpus(&self, path: impl AsRef<Path>) -> Option<BTreeSet<u32>> {
        list::parse(&self.text(path)?)
    }
}
