//! Reading a sweep from disk, with the files that it names.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use spelrum_proto::limits::{
    NAME_BYTES_MAX, SWEEP_BYTES_MAX, SWEEP_FILES_BYTES_MAX, SWEEP_FILES_MAX,
};
use spelrum_tournament::{NamedFile, Plan, SweepError, SweepText, plan_sweep};

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// A sweep as it was written, and what it means.
pub(crate) struct SweepFile {
    /// The file, and those that it names.
    pub(crate) text: SweepText,
    /// What it plans.
    pub(crate) plan: Plan,
}

impl SweepFile {
    /// Reads and plans a sweep.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let mut text = read_text(path)?;
        read_named_files(&mut text, path.parent().unwrap_or(Path::new("")))?;
        let plan = plan_sweep(&text)?;
        Ok(Self { text, plan })
    }
}

fn read_text(path: &Path) -> Result<SweepText> {
    let name = path.display().to_string();
    let failed = || CliError::new(Exit::Input, format!("read the sweep {name}"));
    let bytes = read_at_most(path, SWEEP_BYTES_MAX).map_err(|error| {
        failed().because(error).help("name a sweep file; the project has some in sweeps/")
    })?;
    let Some(bytes) = bytes else {
        return Err(failed()
            .because(format!("it is larger than {} MiB", SWEEP_BYTES_MAX >> 20))
            .help("is it a sweep? generate openings by a rule instead of listing them"));
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| failed().because(error.utf8_error()).help("a sweep is UTF-8 text"))?;
    Ok(SweepText::new(name, text))
}

/// Reads the files that a sweep names, each from where the sweep is.
fn read_named_files(sweep: &mut SweepText, directory: &Path) -> Result<(), SweepError> {
    let named = sweep.named_files();
    if let Some(one_more) = named.get(SWEEP_FILES_MAX) {
        let problem = format!("this sweep names {} files", named.len());
        let remedy = format!("name at most {SWEEP_FILES_MAX}");
        return Err(sweep.error_at(one_more.place, problem, remedy));
    }
    let mut left = SWEEP_FILES_BYTES_MAX;
    for NamedFile { name, place } in named {
        let wrong = |problem: String, remedy: &str| sweep.error_at(place, problem, remedy);
        if name.len() > NAME_BYTES_MAX {
            return Err(wrong(
                format!("a file name of {} bytes is too long", name.len()),
                "move the file, or name it from where the sweep is",
            ));
        }
        let bytes = read_at_most(&directory.join(&name), left).map_err(|error| {
            let remedy = "put it beside the sweep, or give its path from there";
            wrong(format!("failed to read the file `{name}`: {error}"), remedy)
        })?;
        let Some(bytes) = bytes else {
            return Err(wrong(
                format!("`{name}` makes the files of this sweep too long"),
                "list at most 1 MiB of openings in all, or draw them at random",
            ));
        };
        left -= bytes.len();
        let text = String::from_utf8(bytes).map_err(|error| {
            let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
                .iter()
                .filter(|&&byte| byte == b'\n')
                .count()
                + 1;
            let problem = format!("`{name}` is no UTF-8 text at its line {line}");
            wrong(problem, "write one position on each line, and `#` before comments")
        })?;
        sweep.files.insert(name, text);
    }
    Ok(())
}

/// A file's bytes; `None` if there are more than so many.
fn read_at_most(path: &Path, bytes_max: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= bytes_max).then_some(bytes))
}
