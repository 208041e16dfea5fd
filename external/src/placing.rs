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
    use std::collections::{BTreeMap, BTreeSet};
    use std::io;

    use rustix::io::Errno;
    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_setaffinity};

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

    /// A process and all that descend from it.
    fn tree(root: u32) -> io::Result<Vec<u32>> {
        let mut children = BTreeMap::<u32, Vec<u32>>::new();
        for process in numbers("/proc")? {
            let stat = std::fs::read(format!("/proc/{process}/stat")).unwrap_or_default();
            let stat = String::from_utf8_lossy(&stat);
            // Its state and its parent, behind a name in parentheses that may have any characters.
            let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            if let Some(parent) = behind_name.split(' ').nth(1).and_then(|it| it.parse().ok()) {
                children.entry(parent).or_default().push(process);
            }
        }
        let mut tree = vec![root];
        let mut next = 0;
        while let Some(process) = tree.get(next) {
            // Nobody has two parents, so that this ends.
            tree.extend(children.remove(process).unwrap_or_default());
            next += 1;
        }
        Ok(tree)
    }

    /// The entries of a folder that are numbers.
    fn numbers(folder: &str) -> io::Result<Vec<u32>> {
        let entries = std::fs::read_dir(folder)?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
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
