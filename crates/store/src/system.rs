//! Remedies for exhausted system resources: the system's messages name the resource, but not where its limit is set.

use std::io;

use rustix::io::Errno;

const FILES: &str = "raise the limit on open files: ulimit -n 4096, LimitNOFILE= in a systemd unit";

const THREADS: &str = "raise the limit on threads (ulimit -u, TasksMax= in a systemd unit, the container's limit on \
                       processes), or use fewer --slots";

const MEMORY: &str = "raise the limit on memory (ulimit -v, the container's), or use fewer --slots";

const ROOM: &str = "free some space on the disk, or write to another one";

/// The remedy for a system error, as a sentence without an end mark; `None` if it depends on the operation.
#[must_use]
pub fn system_remedy(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::MFILE | Errno::NFILE => Some(FILES),
        // Only fork and clone fail with this here; the EAGAIN of a non-blocking call is not an error.
        Errno::AGAIN => Some(THREADS),
        Errno::NOMEM => Some(MEMORY),
        Errno::NOSPC | Errno::DQUOT => Some(ROOM),
        _ => None,
    }
}

/// The remedy if this process cannot open more files at this moment: SQLite does not report why an open failed.
pub(crate) fn open_files_remedy() -> Option<&'static str> {
    system_remedy(&std::fs::File::open("/dev/null").err()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_has_the_remedy_of_its_own() {
        let remedy = |errno: Errno| system_remedy(&io::Error::from(errno));
        assert_eq!(remedy(Errno::MFILE), Some(FILES));
        assert_eq!(remedy(Errno::AGAIN), Some(THREADS));
        assert_eq!(remedy(Errno::NOMEM), Some(MEMORY));
        assert_eq!(remedy(Errno::NOSPC), Some(ROOM));
        assert_eq!(remedy(Errno::NOENT), None);
        assert_eq!(system_remedy(&io::Error::other("no number")), None);
        assert_eq!(open_files_remedy(), None);
    }
}
