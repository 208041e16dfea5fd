//! What to do when the system gives no more of something: its own words say what there is none of, and not where the
//! bound is set.

use std::io;

use rustix::io::Errno;

const FILES: &str = "raise the limit on open files: ulimit -n 4096, LimitNOFILE= in a systemd unit";

const THREADS: &str = "raise the limit on threads (ulimit -u, TasksMax= in a systemd unit, the container's limit on \
                       processes), or use fewer --slots";

const MEMORY: &str = "raise the limit on memory (ulimit -v, the container's), or use fewer --slots";

const ROOM: &str = "free some space on the disk, or write to another one";

/// What to do about an error of the system, as a sentence without an end mark; `None` if that depends on what was done.
#[must_use]
pub fn system_remedy(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::MFILE | Errno::NFILE => Some(FILES),
        // Of the system's calls only fork and clone say so to us, and what waits for nobody, which is no error here.
        Errno::AGAIN => Some(THREADS),
        Errno::NOMEM => Some(MEMORY),
        Errno::NOSPC | Errno::DQUOT => Some(ROOM),
        _ => None,
    }
}

/// What to do if this process may open no more files at this moment: SQLite does not say why it could not open one.
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
