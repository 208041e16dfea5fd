//! Where an engine's processes may run.

use std::collections::BTreeSet;
use std::io;

use crate::engine::Engine;
use crate::spec::{OptionValue, Protocol};

impl Engine {
    /// Whether it is known to think on one thread: one that speaks UCI is told to, unless its file or a
    /// sweep says otherwise. Of others nobody knows.
    #[must_use]
    pub fn thinks_on_one_thread(&self) -> bool {
        let set = self.spec().set.iter().chain(self.options());
        let mut threads = set.filter(|(name, _)| name.eq_ignore_ascii_case("Threads"));
        self.spec().protocol == Protocol::Uci
            && threads.all(|(_, value)| *value == OptionValue::Number(1))
    }

    /// Lets it run on these hardware threads only, with its guard and all that it has started. What it
    /// starts later stays there as well.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn keep_on(&mut self, cpus: &BTreeSet<u32>) -> io::Result<()> {
        if self.kept_on() == Some(cpus) {
            return Ok(());
        }
        system::keep(self.guard_id(), cpus)?;
        self.now_runs_on(cpus.clone());
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeSet;
    use std::io;

    use rustix::io::Errno;
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_setaffinity};

    use crate::processes::{numbers, tree};

    /// So often it is looked for what was started meanwhile.
    const LOOKS_MAX: usize = 10;

    pub(super) fn keep(root: u32, cpus: &BTreeSet<u32>) -> io::Result<()> {
        let mut mask = CpuSet::new();
        for &cpu in cpus.iter().filter(|&&cpu| (cpu as usize) < CpuSet::MAX_CPU) {
            mask.set(cpu as usize);
        }
        // What was started meanwhile by one that was not there yet is found by another look. Whoever
        // multiplies faster is left alone.
        let mut placed = BTreeSet::new();
        for _ in 0..LOOKS_MAX {
            let before = placed.len();
            for process in tree(root)? {
                // Whoever has ended meanwhile needs no place.
                let Ok(threads) = numbers(&format!("/proc/{process}/task")) else { continue };
                for thread in threads.into_iter().filter(|thread| placed.insert(*thread)) {
                    let thread = i32::try_from(thread).ok().and_then(Pid::from_raw);
                    match sched_setaffinity(thread, &mask) {
                        Ok(()) | Err(Errno::SRCH) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            if placed.len() == before {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::collections::BTreeSet;
    use std::io;

    pub(super) fn keep(_: u32, _: &BTreeSet<u32>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
