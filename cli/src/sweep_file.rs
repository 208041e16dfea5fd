//! Reading a sweep from disk.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use spelrum_proto::limits::SWEEP_BYTES_MAX;
use spelrum_tournament::{Plan, SweepText, plan_sweep};

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A sweep as it was written, and what it means.
pub(crate) struct SweepFile {
    /// The file.
    pub(crate) text: SweepText,
    /// What it plans.
    pub(crate) plan: Plan,
}

impl SweepFile {
    /// Reads and plans a sweep.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let failed = || CliError::new(Exit::Input, format!("read the sweep {name}"));
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(SWEEP_BYTES_MAX as u64 + 1).read_to_end(&mut bytes))
            .map_err(|error| {
                failed().because(error).help("name a sweep file; the project has some in sweeps/")
            })?;
        if bytes.len() > SWEEP_BYTES_MAX {
            return Err(failed()
                .because(format!("it is larger than {} MiB", SWEEP_BYTES_MAX >> 20))
                .help("is it a sweep? generate openings by a rule instead of listing them"));
        }
        let text = String::from_utf8(bytes)
            .map_err(|error| failed().because(error.utf8_error()).help("a sweep is UTF-8 text"))?;
        let text = SweepText::new(name, text);
        let plan = plan_sweep(&text)?;
        Ok(Self { text, plan })
    }
}
