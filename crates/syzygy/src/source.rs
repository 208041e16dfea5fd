//! Reading parts of a file.

use std::fs::File;
use std::io;
use std::path::Path;

/// Why a table gives no value.
#[derive(Debug)]
pub(crate) enum Flaw {
    /// Its file cannot be read.
    Io(io::Error),
    /// Its contents are not those of a table.
    Content(&'static str),
}

/// The longest part that is read at once, in bytes.
pub(crate) const PART_MAX: usize = 1 << 16;

/// An open file. Nothing of it is mapped into memory, so that a file that changes is an error and no signal.
pub(crate) struct Source {
    file: File,
    /// Its length when it was opened, in bytes.
    pub(crate) len: u64,
}

impl Source {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> Result<Self, Flaw> {
        let file = File::open(path).map_err(Flaw::Io)?;
        let data = file.metadata().map_err(Flaw::Io)?;
        if !data.is_file() {
            return Err(Flaw::Content("it is not a file"));
        }
        Ok(Self { file, len: data.len() })
    }

    /// Reads a few bytes at this place.
    pub(crate) fn bytes<const N: usize>(&self, at: u64) -> Result<[u8; N], Flaw> {
        let mut bytes = [0; N];
        self.fill(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads so many bytes at this place, at most [`PART_MAX`].
    pub(crate) fn part(&self, at: u64, len: usize) -> Result<Vec<u8>, Flaw> {
        debug_assert!(len <= PART_MAX, "the caller checks the length");
        let mut bytes = vec![0; len];
        self.fill(at, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads a number of two bytes.
    pub(crate) fn number(&self, at: u64) -> Result<u16, Flaw> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn fill(&self, at: u64, bytes: &mut [u8]) -> Result<(), Flaw> {
        let is_inside = at.checked_add(bytes.len() as u64).is_some_and(|end| end <= self.len);
        if !is_inside {
            return Err(Flaw::Content("it ends too early"));
        }
        read_at(&self.file, bytes, at).map_err(Flaw::Io)
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    // Each probe has a file handle of its own.
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}
