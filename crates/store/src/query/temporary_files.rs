//! Bytes that a query has written to temporary files, as sorting, DISTINCT and materialized views do.
//!
//! SQLite does not limit the size of these files, and deletes them as it opens them. But a query has a thread of its
//! own and can write nothing else, so the bytes written by the thread are the size of the files. Linux counts these
//! bytes per thread (proc_pid_io(5), `wchar`); on other systems only the time of a query is limited.

use std::time::{Duration, Instant};

/// Interval between checks: too short for any disk to take much.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Bytes written by the thread that created this value, since then.
pub(super) struct Spill {
    bytes_before: Option<u64>,
    looked: Instant,
    bytes: u64,
}

impl Spill {
    /// Starts counting what the calling thread writes.
    pub(super) fn for_this_thread() -> Self {
        Self { bytes_before: bytes_written(), looked: Instant::now(), bytes: 0 }
    }

    /// Returns the bytes written, as of a short time ago. Must be called by the same thread.
    pub(super) fn bytes(&mut self) -> u64 {
        if let Some(before) = self.bytes_before
            && self.looked.elapsed() >= LOOK_EVERY
        {
            self.looked = Instant::now();
            self.bytes = bytes_written().unwrap_or(before).saturating_sub(before);
        }
        self.bytes
    }
}

/// All bytes ever written by the calling thread, on systems that count them.
fn bytes_written() -> Option<u64> {
    let counters = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    counters.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_another_thread_writes_is_not_counted() {
        let write = || tempfile::tempfile().unwrap().write_all(&[0; 100_000]).unwrap();
        let mut spill = Spill::for_this_thread();
        std::thread::scope(|scope| scope.spawn(write).join().unwrap());
        spill.looked = Instant::now().checked_sub(LOOK_EVERY).unwrap();
        assert!(spill.bytes() < 100_000);
        write();
        spill.looked = Instant::now().checked_sub(LOOK_EVERY).unwrap();
        assert!((100_000..200_000).contains(&spill.bytes()));
    }
}
