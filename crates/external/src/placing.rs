//! Pins an engine's processes to hardware threads.

use std::collections::BTreeSet;
use std::io;

use crate::engine::Engine;
use crate::protocol::Protocol;
use crate::spec::{EngineSpec, OptionValue, Options};

impl EngineSpec {
    /// The number of its threads with these options, if known: an engine that speaks UCI or UGI is set to one unless
    /// its file or a sweep says otherwise.
    #[must_use]
    pub fn threads(&self, options: &Options) -> Option<u32> {
        let mut set = self.set.iter().chain(options);
        let threads = set.find(|(name, _)| name.eq_ignore_ascii_case("Threads"));
        match threads.map(|(_, value)| value) {
            _ if !matches!(self.protocol, Protocol::Uci | Protocol::Ugi) => None,
            None => Some(1),
            Some(OptionValue::Number(threads)) => u32::try_from(*threads).ok(),
            Some(OptionValue::Text(threads)) => threads.parse().ok(),
            Some(OptionValue::Flag(_)) => None,
        }
    }
}

impl Engine {
    /// The number of its threads, if known.
    #[must_use]
    pub fn threads(&self) -> Option<u32> {
        self.spec().threads(self.options())
    }

    /// Pins it to these hardware threads, with its guard and all its present processes. Later ones inherit
    /// that. An engine that holds several games stays where it is.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn pin_to(&mut self, cpus: &BTreeSet<u32>) -> io::Result<()> {
        // A process that other games use too has no slot of its own.
        if self.is_shared() || self.pinned_cpus() == Some(cpus) {
            return Ok(());
        }
        system::pin_tree(self.guard_id(), cpus)?;
        self.set_pinned_cpus(cpus.clone());
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

    /// The most scans for new processes.
    const LOOKS_MAX: usize = 10;

    pub(super) fn pin_tree(root: u32, cpus: &BTreeSet<u32>) -> io::Result<()> {
        let mut mask = CpuSet::new();
        for &cpu in cpus.iter().filter(|&&cpu| (cpu as usize) < CpuSet::MAX_CPU) {
            mask.set(cpu as usize);
        }
        // A process started meanwhile by one that was missed is found by the next scan. Faster multiplication
        // is ignored.
        let mut placed = BTreeSet::new();
        for _ in 0..LOOKS_MAX {
            let before = placed.len();
            for process in tree(root)? {
                // A process that has ended needs no place.
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

    pub(super) fn pin_tree(_: u32, _: &BTreeSet<u32>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
