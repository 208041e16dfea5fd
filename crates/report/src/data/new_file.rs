//! Files that appear only when complete: they grow under another name.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Kind, Result};

/// A file being written. Dropping it before it is complete removes it.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    /// Its temporary name; `None` for a device, a pipe, or a link's target: these are written in place and not
    /// replaced.
    partial: Option<PathBuf>,
}

impl NewFile {
    /// Creates the file. An existing file of this name stays until the new one is complete.
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

    /// Moves the complete file to its name.
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
            // An incomplete file is useless.
            let _ = std::fs::remove_file(partial);
        }
    }
}
