//! The number of connections that this process can have: each is an open file.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Open files other than connections: the database with its log, once for each reader and query, and the program's
/// other files.
const OTHERS: u64 = 256;

/// Raises the limit on open files as far as useful, and returns how many of the wanted connections fit.
pub(super) fn connections_max(wanted: usize) -> usize {
    let needed = wanted as u64 + OTHERS;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // `None` means no limit.
    let mut allowed = current.unwrap_or(u64::MAX);
    if allowed < needed {
        let raised = needed.min(maximum.unwrap_or(u64::MAX));
        match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum }) {
            Ok(()) => allowed = raised,
            Err(error) => tracing::debug!(%error, "could not raise the limit of open files"),
        }
    }
    let connections = connections_of(allowed, wanted);
    if connections < wanted {
        tracing::info!(
            "at most {connections} connections at once, since this process may have {allowed} files \
             open; for {wanted} it needs {needed} (ulimit -n, or LimitNOFILE= of a systemd unit)"
        );
    }
    connections
}

/// At least half of the files: with very few, something fails either way.
fn connections_of(files: u64, wanted: usize) -> usize {
    let connections = files.saturating_sub(OTHERS).max(files / 2);
    usize::try_from(connections).unwrap_or(usize::MAX).min(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files_bound_connections() {
        assert_eq!(connections_of(1 << 20, 12_288), 12_288);
        assert_eq!(connections_of(12_288 + OTHERS - 1, 12_288), 12_287);
        assert_eq!(connections_of(1_024, 12_288), 768);
        assert_eq!(connections_of(64, 12_288), 32);
    }

    #[test]
    fn the_limit_is_raised_where_the_system_lets_us() {
        let connections = connections_max(600);
        let Rlimit { current, .. } = getrlimit(Resource::Nofile);
        assert_eq!(connections, connections_of(current.unwrap_or(u64::MAX), 600));
    }
}
