//! Directories that appear only when complete: they grow under another name.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

/// A directory being written. Dropping it before it is complete removes it.
#[derive(Debug)]
pub struct NewDirectory {
    path: PathBuf,
    partial: PathBuf,
    is_complete: bool,
}

impl NewDirectory {
    /// Creates the directory. What is there of this name stays until the new one is complete: nothing, an empty directory, or
    /// one that may be replaced.
    ///
    /// # Errors
    /// If there is another thing of this name, or the directory cannot be made.
    pub fn create(path: &Path, may_replace: impl FnOnce(&Path) -> bool) -> Result<Self> {
        let failed = |error: io::Error| failed(path, error);
        let is_taken = match std::fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        };
        if is_taken && !may_replace(path) {
            return Err(Error::new(Kind::Input, format!("write {}", path.display()))
                .because("the directory is not empty")
                .help(
                    "name a new or an empty one; --force replaces a site that was written before",
                ));
        }
        let partial = neighbour(path, "partial").ok_or_else(|| {
            failed(io::Error::new(io::ErrorKind::InvalidInput, "the path does not end with a name"))
        })?;
        // What is left of a call that was killed.
        remove(&partial).map_err(failed)?;
        std::fs::create_dir(&partial).map_err(failed)?;
        Ok(Self { path: path.to_owned(), partial, is_complete: false })
    }

    /// Writes a file, by its path in the directory.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.partial.join(file);
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
    /// If it cannot be moved; then what was there stays.
    pub fn finish(mut self) -> Result<()> {
        let failed = |error: io::Error| failed(&self.path, error);
        let old = neighbour(&self.path, "replaced");
        let old = old.filter(|_| self.path.exists());
        if let Some(old) = &old {
            remove(old).map_err(failed)?;
            std::fs::rename(&self.path, old).map_err(failed)?;
        }
        let moved = std::fs::rename(&self.partial, &self.path);
        self.is_complete = moved.is_ok();
        match (moved, old) {
            (Ok(()), Some(old)) => remove(&old).map_err(failed),
            (Ok(()), None) => Ok(()),
            (Err(error), old) => {
                // The first error counts.
                let _ = old.map(|old| std::fs::rename(old, &self.path));
                Err(failed(error))
            }
        }
    }
}

impl Drop for NewDirectory {
    fn drop(&mut self) {
        if !self.is_complete {
            // An incomplete directory is useless.
            let _ = remove(&self.partial);
        }
    }
}

fn neighbour(path: &Path, kind: &str) -> Option<PathBuf> {
    let mut name = path.file_name()?.to_owned();
    name.push(format!(".{kind}"));
    Some(path.with_file_name(name))
}

fn remove(directory: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::new(Kind::Input, format!("write {}", path.display()))
        .because(error)
        .help("check the path, its permissions and the room on the disk")
}
