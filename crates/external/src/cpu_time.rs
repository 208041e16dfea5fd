//! The processor time of an engine's moves, if the system reports that of other processes.
//!
//! A move has what the engine's processes used since its last answer. Reading from the question to the answer would
//! lose time: the system updates the processor time of a running thread of another process only at its tick, every
//! 1 to 10 ms, so that an engine which is still busy for a moment after its answer shows less than it used. What a
//! move misses is part of the next one. So the sum over a game is exact, but for a tick at its end, and includes
//! what the engine computes in its opponent's time.

use std::time::Duration;

#[cfg(target_os = "linux")]
use system::ProcessClock;

/// The processor time of all threads of the processes that an engine had when it was ready. Processes that it starts
/// later do not count.
#[derive(Debug)]
pub(crate) struct CpuMeter {
    clocks: Vec<ProcessClock>,
    /// Whether the clocks are read already in this game.
    is_running: bool,
    /// Whether a process has gone.
    has_lost: bool,
}

impl CpuMeter {
    /// Finds the present processes below a guard.
    pub(crate) fn new(guard: u32) -> Self {
        Self { clocks: ProcessClock::below(guard), is_running: false, has_lost: false }
    }

    /// Begins a game: work for an earlier one, and getting ready for this one, belong to no move.
    pub(crate) fn begin_game(&mut self, guard: u32) {
        if self.has_lost {
            *self = Self::new(guard);
        }
        self.is_running = false;
    }

    /// Reads the clocks before the first move of a game.
    pub(crate) fn before_move(&mut self) {
        if !self.is_running {
            self.read();
            self.is_running = true;
        }
    }

    /// The processor time since the last reading.
    pub(crate) fn after_move(&mut self) -> Option<Duration> {
        self.read()
    }

    fn read(&mut self) -> Option<Duration> {
        let before = self.clocks.len();
        let mut used = Duration::ZERO;
        self.clocks.retain_mut(|clock| {
            let since = clock.read();
            used += since.unwrap_or_default();
            since.is_some()
        });
        self.has_lost |= self.clocks.len() < before;
        (!self.clocks.is_empty()).then_some(used)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::time::Duration;

    use nix::time::ClockId;
    use nix::unistd::Pid;

    use crate::processes::tree;

    /// The clock of a process's processor time.
    #[derive(Debug)]
    pub(super) struct ProcessClock {
        id: ClockId,
        /// Its last reading.
        last: Duration,
    }

    impl ProcessClock {
        pub(super) fn below(guard: u32) -> Vec<Self> {
            let below = tree(guard).unwrap_or_default().into_iter();
            let clocks = below.filter(|process| *process != guard).filter_map(|process| {
                let id = ClockId::pid_cpu_clock_id(Pid::from_raw(i32::try_from(process).ok()?));
                Some(Self { id: id.ok()?, last: Duration::ZERO })
            });
            clocks.collect()
        }

        /// The time since the last reading; `None` if the process has gone.
        pub(super) fn read(&mut self) -> Option<Duration> {
            let now = Duration::from(self.id.now().ok()?);
            Some(now.saturating_sub(std::mem::replace(&mut self.last, now)))
        }
    }
}

/// Other systems report the processor time of other processes only once they have ended.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct ProcessClock;

#[cfg(not(target_os = "linux"))]
impl ProcessClock {
    fn below(_: u32) -> Vec<Self> {
        Vec::new()
    }

    fn read(&mut self) -> Option<Duration> {
        None
    }
}
