//! A file that is there when all of it is: it grows under another name.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

/// A file that is being written. One that is dropped before it is whole leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    /// Its name until it is whole; none of a device, a pipe, or what a link names: they are written to as
    /// they are, and not replaced.
    partial: Option<PathBuf>,
}

impl NewFile {
    /// Begins it. One of this name stays until the new one is whole.
    pub fn create(path: &Path) -> Result<(Self, File)> {
        let is_kept = std::fs::symlink_metadata(path).is_ok_and(|there| !there.is_file());
        let partial = (!is_kept).then(|| {
            let mut partial = path.as_os_str().to_owned();
            partial.push(".partial");
            PathBuf::from(partial)
        });
        let new = Self { path: path.to_owned(), partial };
        let file = File::create(new.partial.as_deref().unwrap_or(path));
        let file = file.map_err(|error| new.failed(error))?;
        Ok((new, file))
    }

    /// It is whole: it gets its name.
    pub fn finish(mut self) -> Result<()> {
        let Some(partial) = self.partial.take() else { return Ok(()) };
        std::fs::rename(&partial, &self.path).map_err(|error| {
            let _ = std::fs::remove_file(&partial);
            self.failed(error)
        })
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::new(Kind::Input, format!("write {}", self.path.display()))
            .because(error)
            .help("check the path, its permissions and the room on the disk")
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // Whatever is left of it is of no use.
            let _ = std::fs::remove_file(partial);
        }
    }
}
