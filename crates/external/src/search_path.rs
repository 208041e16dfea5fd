//! Programs that are named without a path.

use std::ffi::OsStr;
use std::path::PathBuf;

use rustix::fs::{Access, access};

/// The first executable program with a name. Relative folders are skipped, since this process and the engine
/// have different working directories.
pub(crate) fn in_path(path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|program| program.is_file() && access(program, Access::EXEC_OK).is_ok())
}
