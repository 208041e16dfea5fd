//! Endgame tables in a cache directory: built once on a machine, checked whenever they are read.
//!
//! An unreadable or corrupt file is reported and rebuilt. A file that cannot be written is reported, and its table is
//! used from memory.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use spelrum_engine::tables::{Endgame, EndgameTable, Metric, Progress};

use crate::error::warn;

/// Larger than any table.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A directory of tables.
#[derive(Clone, Debug)]
pub(crate) struct TableCache {
    directory: PathBuf,
}

/// Makes the engine read its tables from the user's cache directory.
pub(crate) fn install() {
    spelrum_engine::tables::install_source(|endgame, metric| match TableCache::of_user() {
        Some(cache) => cache.table(endgame, metric, |_| {}).0,
        None => EndgameTable::make_by(endgame, metric, |_| {}),
    });
}

/// The source of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Read from its file.
    Read,
    /// Built and written to its file.
    Made,
    /// Built, but not stored.
    MadeOnly,
}

impl TableCache {
    /// A cache in this directory, which is created on the first write.
    pub(crate) fn at(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// A cache in the user's cache directory; `None` if the user has none.
    pub(crate) fn of_user() -> Option<Self> {
        // A service may have no home directory.
        let strategy = etcetera::choose_base_strategy().ok()?;
        Some(Self::at(strategy.cache_dir().join("spelrum")))
    }

    /// The file of a table.
    pub(crate) fn file(&self, endgame: &Endgame, metric: Metric) -> PathBuf {
        self.directory.join(match metric {
            Metric::Mate => format!("{endgame}.table"),
            Metric::Conversion => format!("{endgame}-conversion.table"),
        })
    }

    /// Reads a table if its file exists; otherwise builds and writes it.
    pub(crate) fn table(
        &self,
        endgame: &Endgame,
        metric: Metric,
        on_progress: impl FnMut(Progress<'_>),
    ) -> (EndgameTable, Origin) {
        let path = self.file(endgame, metric);
        match read(&path, endgame, metric) {
            Ok(Some(table)) => return (table, Origin::Read),
            Ok(None) => {}
            Err(problem) => warn(
                &format!("the table {} cannot be used: {problem}", path.display()),
                "nothing to do: it is made again",
            ),
        }
        let table = EndgameTable::make_by(endgame, metric, on_progress);
        let origin = match self.write(&path, &table) {
            Ok(()) => Origin::Made,
            Err(error) => {
                warn(
                    &format!("the table {} cannot be kept: {error}", path.display()),
                    "let the user write there, or set XDG_CACHE_HOME to a directory where it may; \
                     `spelrum table` also has --cache and --no-cache",
                );
                Origin::MadeOnly
            }
        };
        (table, origin)
    }

    /// Writes under a process-specific name until the file is complete.
    fn write(&self, path: &Path, table: &EndgameTable) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.directory)?;
        let partial = path.with_extension(format!("{}.partial", std::process::id()));
        let written = std::fs::write(&partial, table.to_bytes())
            .and_then(|()| std::fs::rename(&partial, path));
        if written.is_err() {
            // A partial file is useless.
            let _ = std::fs::remove_file(&partial);
        }
        written
    }
}

/// Reads and checks a table; `None` if the file does not exist.
fn read(path: &Path, endgame: &Endgame, metric: Metric) -> Result<Option<EndgameTable>, String> {
    let mut bytes = Vec::new();
    match std::fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
        Ok(metadata) if !metadata.is_file() => return Err("it is not a file".to_owned()),
        Ok(_) => {}
    }
    let read = File::open(path).and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut bytes));
    read.map_err(|error| error.to_string())?;
    EndgameTable::from_bytes_by(endgame, metric, &bytes)
        .map(Some)
        .map_err(|error| error.to_string())
}
