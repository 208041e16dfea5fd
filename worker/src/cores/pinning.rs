//! Pins threads: a timed game's to its hardware thread, and all others to the rest of the machine
//! during such games, off the exclusive cores.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use super::plan::{ExclusiveSlots, Why};

/// Pins the threads of this process.
#[derive(Debug)]
pub(crate) struct Pinning {
    quiet: ExclusiveSlots,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether timed games are played, or were last; `None` before the first.
    in_quiet: Option<bool>,
    /// The threads that play them, each pinned.
    kept: BTreeSet<u32>,
    /// Whether the system has refused, and that was logged.
    is_refused: bool,
}

impl ExclusiveSlots {
    /// The same plan, or an empty one if the system does not allow pinning.
    #[must_use]
    pub fn if_allowed(self) -> Self {
        let Some(&cpu) = self.cpus.first() else { return self };
        // On a temporary thread.
        let tried = std::thread::spawn(move || system::pin_thread(&[cpu].into()));
        match tried.join() {
            Ok(Ok(())) => self,
            Ok(Err(_)) | Err(_) => Self::none(self.all, Why::Refused),
        }
    }
}

impl Pinning {
    pub(crate) fn new(quiet: ExclusiveSlots) -> Self {
        Self { quiet, state: Mutex::default() }
    }

    /// The number of exclusive slots.
    pub(crate) fn quiet_slots(&self) -> u32 {
        self.quiet.count()
    }

    /// The place of a game with these slots, exclusive or not; `None` for anywhere.
    pub(crate) fn place(&self, slots: &BTreeSet<usize>, in_quiet: bool) -> Option<BTreeSet<u32>> {
        let ExclusiveSlots { cpus, all, .. } = &self.quiet;
        let own_cpus = || slots.iter().map(|&slot| cpus.get(slot).copied()).collect();
        let own_cpus: Option<BTreeSet<u32>> = in_quiet.then(own_cpus).flatten();
        (!cpus.is_empty()).then(|| own_cpus.unwrap_or_else(|| all.clone()))
    }

    /// Pins the calling thread to the place of a slot's timed games, if it has one. For a short-lived thread
    /// other than the slot's own.
    pub(crate) fn pin_this_thread(&self, slot: usize) {
        if let Some(&cpu) = self.quiet.cpus.get(slot) {
            // A refusal was logged for games.
            let _done = system::pin_thread(&[cpu].into());
        }
    }

    /// Games begin, exclusive or not: on the calling thread, if that is a slot's of this process.
    pub(crate) fn begin_games(&self, in_quiet: bool, slot: Option<usize>) {
        if self.quiet.cpus.is_empty() {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let own_cpu = slot.filter(|_| in_quiet).and_then(|slot| self.quiet.cpus.get(slot));
        let mut done = Ok(());
        if state.in_quiet.replace(in_quiet) != Some(in_quiet) {
            state.kept.clear();
            done = system::pin_all(if in_quiet { &self.quiet.rest } else { &self.quiet.all });
        }
        if let Some(&cpu) = own_cpu
            && state.kept.insert(system::this_thread())
        {
            done = done.and(system::pin_thread(&[cpu].into()));
        }
        if let Err(error) = done
            && !std::mem::replace(&mut state.is_refused, true)
        {
            tracing::warn!(
                %error,
                "the system does not allow pinning threads to cores: other work may disturb timed games"
            );
        }
    }
}

/// The rest of the process runs anywhere: `spelrum run` reads and writes much after the last game.
impl Drop for Pinning {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.in_quiet == Some(true) {
            // Pinned threads can be released.
            let _done = system::pin_all(&self.quiet.all);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeSet;
    use std::io;

    use rustix::process::Pid;
    use rustix::thread::{CpuSet, gettid, sched_setaffinity};

    /// The most scans for new threads.
    const LOOKS_MAX: usize = 10;

    /// The id of the calling thread.
    pub(super) fn this_thread() -> u32 {
        gettid().as_raw_nonzero().get().unsigned_abs()
    }

    /// Pins the calling thread to these hardware threads.
    pub(super) fn pin_thread(cpus: &BTreeSet<u32>) -> io::Result<()> {
        Ok(sched_setaffinity(None, &mask(cpus))?)
    }

    /// Pins all threads of this process. A thread started meanwhile inherits its parent's place,
    /// and is found by the next scan.
    pub(super) fn pin_all(cpus: &BTreeSet<u32>) -> io::Result<()> {
        let mask = mask(cpus);
        let mut kept = BTreeSet::new();
        for _ in 0..LOOKS_MAX {
            let before = kept.len();
            for entry in std::fs::read_dir("/proc/self/task")? {
                let name = entry?.file_name();
                let Some(thread) = name.to_str().and_then(|name| name.parse().ok()) else {
                    continue;
                };
                if kept.insert(thread) {
                    match sched_setaffinity(Pid::from_raw(thread), &mask) {
                        // It has ended.
                        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
            }
            if kept.len() == before {
                break;
            }
        }
        Ok(())
    }

    fn mask(cpus: &BTreeSet<u32>) -> CpuSet {
        let mut mask = CpuSet::new();
        for &cpu in cpus {
            // Parsed lists have only valid numbers.
            mask.set(cpu as usize);
        }
        mask
    }
}

/// Other systems do not report cores, so no slot is exclusive.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::collections::BTreeSet;
    use std::io;

    pub(super) fn this_thread() -> u32 {
        0
    }

    pub(super) fn pin_thread(_: &BTreeSet<u32>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn pin_all(_: &BTreeSet<u32>) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::num::NonZeroU32;
    use std::sync::Barrier;

    use super::super::{Cores, list};
    use super::*;

    /// The calling thread's allowed hardware threads, from the kernel.
    fn allowed() -> BTreeSet<u32> {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list::parse(line.unwrap()).unwrap()
    }

    #[test]
    fn threads_are_kept_where_they_belong() {
        let quiet = Cores::here().plan(NonZeroU32::new(2).unwrap(), None).if_allowed();
        let Some(&cpu) = quiet.cpus.first() else {
            return spelrum_test_support::skip(format!("no slot can be quiet here: {}", quiet.why));
        };
        let pinning = Pinning::new(quiet.clone());
        assert_eq!(pinning.place(&[0].into(), true), Some([cpu].into()));
        assert_eq!(pinning.place(&[0].into(), false).as_ref(), Some(&quiet.all));
        let turn = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for expected in [&quiet.rest, &quiet.all] {
                    turn.wait();
                    assert_eq!(allowed(), *expected);
                    turn.wait();
                }
            });
            for (in_quiet, expected) in [(true, [cpu].into()), (false, quiet.all.clone())] {
                // The second batch of a kind changes nothing.
                pinning.begin_games(in_quiet, Some(0));
                pinning.begin_games(in_quiet, Some(0));
                turn.wait();
                assert_eq!(allowed(), expected);
                turn.wait();
            }
        });
        pinning.begin_games(true, Some(0));
        assert_eq!(allowed(), [cpu].into());
        drop(pinning);
        assert_eq!(allowed(), quiet.all, "after the last game no thread is pinned");
    }

    #[test]
    fn a_game_with_several_slots_has_all_their_cores() {
        let quiet = ExclusiveSlots {
            cpus: vec![2, 4, 6],
            all: (0..8).collect(),
            rest: (0..2).collect(),
            ..ExclusiveSlots::default()
        };
        let pinning = Pinning::new(quiet);
        assert_eq!(pinning.quiet_slots(), 3);
        assert_eq!(pinning.place(&[0, 2].into(), true), Some([2, 6].into()));
        assert_eq!(pinning.place(&[0, 2].into(), false), Some((0..8).collect()));
        // One of them is not exclusive.
        assert_eq!(pinning.place(&[2, 3].into(), true), Some((0..8).collect()));
    }

    #[test]
    fn nothing_is_kept_anywhere_without_quiet_slots() {
        let pinning = Pinning::new(ExclusiveSlots::default());
        assert_eq!(
            [false, true].map(|in_quiet| pinning.place(&[0].into(), in_quiet)),
            [None, None]
        );
    }
}
