//! The limit of open files of this process: each engine needs some.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files of each engine: its three pipes, and its log if there is one.
const PER_ENGINE: u64 = 4;

/// The number of files that this process may have open.
#[must_use]
pub fn open_files() -> u64 {
    // None means unlimited.
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the limit of open files of this process as far as needed and allowed. Returns the resulting limit.
///
/// Not further: engines inherit the limit, and some programs iterate over all possible files.
pub fn raise_open_files(needed: u64) -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current.is_some_and(|current| current < needed) {
        let raised = needed.min(maximum.unwrap_or(u64::MAX));
        // A limit that could not be raised is returned as it is.
        let _refused = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum });
    }
    open_files()
}

/// Open files for this many engines, with the process's others.
#[must_use]
pub const fn files_for_engines(engines: u64, beside: u64) -> u64 {
    beside.saturating_add(engines.saturating_mul(PER_ENGINE))
}

/// Engines for which this many open files suffice, with the process's others.
#[must_use]
pub const fn engines_for_files(files: u64, beside: u64) -> u64 {
    files.saturating_sub(beside) / PER_ENGINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_raised_as_far_as_it_is_needed() {
        let before = open_files();
        assert_eq!(raise_open_files(before), before);
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let most = maximum.unwrap_or(u64::MAX);
        assert_eq!(raise_open_files(before.saturating_add(1)), before.saturating_add(1).min(most));
    }

    #[test]
    fn engines_have_the_files_that_are_left() {
        assert_eq!(engines_for_files(files_for_engines(80, 96), 96), 80);
        assert_eq!(engines_for_files(128, 96), 8);
        assert_eq!(engines_for_files(64, 96), 0);
        assert_eq!(files_for_engines(u64::MAX, 96), u64::MAX);
    }
}
