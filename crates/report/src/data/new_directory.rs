//! Directories that appear only when complete: they grow under another name beside it.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Error, Kind, Result};

/// A directory being written. Dropping it before it is complete removes it; what a killed call leaves has a name that begins
/// with a point.
#[derive(Debug)]
pub struct NewDirectory<R> {
    path: PathBuf,
    growing: TempDir,
    may_replace: R,
}

impl<R: Fn(&Path) -> bool> NewDirectory<R> {
    /// Creates the directory. What is there of this name stays until the new one is complete: nothing, an empty directory, or
    /// one that may be replaced.
    ///
    /// # Errors
    /// If there is another thing of this name, which the `remedy` is for, or the directory cannot be made.
    pub fn create(path: &Path, may_replace: R, remedy: &'static str) -> Result<Self> {
        if is_taken(path).map_err(|error| failed(path, error))? && !may_replace(path) {
            return Err(Error::new(Kind::Input, format!("write {}", path.display()))
                .because("the directory is not empty")
                .help(remedy));
        }
        let growing = neighbour(path).map_err(|error| failed(path, error))?;
        let new = Self { path: path.to_owned(), growing, may_replace };
        std::fs::create_dir(new.inner()).map_err(|error| failed(path, error))?;
        Ok(new)
    }

    /// Only the temporary directory itself is hidden from others.
    fn inner(&self) -> PathBuf {
        self.growing.path().join("new")
    }

    /// Writes a file, by its path in the directory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.inner().join(file);
        let written = match path.parent() {
            Some(parent) => std::fs::create_dir_all(parent),
            None => Ok(()),
        };
        let written = written.and_then(|()| std::fs::write(&path, text));
        written.map_err(|error| failed(&self.path, error))
    }

    /// Moves the complete directory to its name.
    ///
    /// # Errors
    /// If it cannot be moved, also since something else has come there meanwhile; then what was there stays.
    pub fn finish(self) -> Result<()> {
        self.put_in_place().map_err(|error| failed(&self.path, error))
    }

    fn put_in_place(&self) -> io::Result<()> {
        let (path, growing) = (&self.path, &self.inner());
        if !is_taken(path)? {
            // An empty directory is in the way on some systems; one that is not empty stays.
            match std::fs::remove_dir(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => return std::fs::rename(growing, path),
            }
        }
        if !(self.may_replace)(path) {
            return Err(io::Error::new(
                io::ErrorKind::DirectoryNotEmpty,
                "something else has come into the directory",
            ));
        }
        let aside = neighbour(path)?;
        let old = aside.path().join("old");
        std::fs::rename(path, &old)?;
        let moved = std::fs::rename(growing, path);
        if moved.is_err() {
            // The first error counts.
            let _ = std::fs::rename(&old, path);
        }
        moved
    }
}

fn is_taken(path: &Path) -> io::Result<bool> {
    match std::fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A directory of a name of its own beside this path.
fn neighbour(path: &Path) -> io::Result<TempDir> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the path does not end with a name")
    })?;
    let beside = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let prefix = format!(".{}.", name.display());
    tempfile::Builder::new().prefix(&prefix).tempdir_in(beside)
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::new(Kind::Input, format!("write {}", path.display()))
        .because(error)
        .help("check the path, its permissions and the room on the disk")
}
