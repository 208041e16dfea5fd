//! Checks that the system has the resources for a command, before it starts: if starting threads fails halfway, the
//! started threads wait forever.

use std::io;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use spelrum_engine::search::STACK_BYTES;

use crate::error::{CliError, Result};
use crate::exit::Exit;

/// Files that the smallest command has open: the database and its log once for each connection, and the runtime's own.
const FILES_MIN: u64 = 64;

/// The threads of a database's connections and of the work beside them.
pub(crate) const DATABASE_THREADS: usize = 10;

/// Memory that each thread takes immediately, and shared overhead.
const THREAD_BYTES: usize = 256 << 10;
const PROCESS_BYTES: usize = 64 << 20;

/// Memory left free beside each thread's stack: with less, the thread's first small allocation may end the process.
const MARGIN_BYTES: usize = 16 << 20;

/// Raises this process's limit of open files to [`FILES_MIN`] if it is lower and the system allows it, and checks that
/// it is enough.
///
/// # Errors
///
/// If it is not.
pub(crate) fn open_files() -> Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // `None` means unlimited.
    let allowed = maximum.unwrap_or(u64::MAX).min(FILES_MIN).max(current.unwrap_or(u64::MAX));
    if current.is_some_and(|current| current < allowed) {
        // The second query below shows whether the limit was raised.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), maximum });
    }
    let current = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    if current >= FILES_MIN {
        return Ok(());
    }
    Err(CliError::new(Exit::Internal, "start")
        .because(format!("this process may have {current} files open, and needs {FILES_MIN}"))
        .help("raise the limit on open files: ulimit -n 4096, LimitNOFILE= in a systemd unit"))
}

/// Starts this many threads at once, each with its stack and some of its memory, and ends them.
///
/// # Errors
///
/// If the system refuses them.
pub(crate) fn threads(count: usize) -> Result<()> {
    let (gate, lacks_memory) = (RwLock::new(()), AtomicBool::new(false));
    let (begun, starter) = (AtomicUsize::new(0), std::thread::current());
    let tried = std::thread::scope(|scope| {
        // No thread ends before all have started, or one has failed to.
        let closed = gate.write();
        let wait = || {
            lacks_memory.fetch_or(!can_have(THREAD_BYTES), Ordering::Relaxed);
            begun.fetch_add(1, Ordering::Release);
            starter.unpark();
            drop(gate.read());
        };
        let start = |started: usize| {
            if !can_have(STACK_BYTES + MARGIN_BYTES) {
                return Err((started, io::Error::from(rustix::io::Errno::NOMEM)));
            }
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            let thread = thread.spawn_scoped(scope, wait).map_err(|error| (started, error))?;
            // One by one, so that no thread takes memory counted for another.
            while begun.load(Ordering::Acquire) <= started && !thread.is_finished() {
                std::thread::park_timeout(Duration::from_millis(1));
            }
            Ok(())
        };
        let tried = (0..count).try_for_each(start);
        lacks_memory.fetch_or(!can_have(PROCESS_BYTES), Ordering::Relaxed);
        drop(closed);
        tried
    });
    if let Err((started, error)) = tried {
        return Err(CliError::new(
            Exit::Internal,
            format!("start {count} threads at once: the system gave {started}"),
        )
        .because(error));
    }
    if lacks_memory.into_inner() {
        return Err(CliError::new(Exit::Internal, format!("get memory for {count} threads"))
            .because(io::Error::from(rustix::io::Errno::NOMEM)));
    }
    Ok(())
}

fn can_have(bytes: usize) -> bool {
    let mut memory = Vec::<u8>::new();
    let given = memory.try_reserve_exact(bytes).is_ok();
    std::hint::black_box(memory);
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_enough_of_everything_passes() {
        open_files().unwrap();
        threads(20).unwrap();
    }
}
