//! The process's use of its machine, under the metric names that monitoring tools know from other programs. Systems
//! other than Linux provide fewer of them.

use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use prometheus::{Counter, IntGauge, Registry};
use rustix::time::{ClockId, clock_gettime};

use super::gauges::{gauge, gauge_value};

/// How long measurements are cached, so that frequent requests cost no more.
const FRESH: Duration = Duration::from_secs(1);

/// The process's resource use.
pub(super) struct Process {
    cpu_seconds: Counter,
    resident_bytes: IntGauge,
    open_fds: IntGauge,
    refreshed: Mutex<Option<Instant>>,
}

impl Process {
    pub(super) fn new(registry: &Registry) -> Result<Self, prometheus::Error> {
        let cpu_seconds = Counter::new(
            "process_cpu_seconds_total",
            "Processor time that the process has taken, in seconds.",
        )?;
        registry.register(Box::new(cpu_seconds.clone()))?;
        Ok(Self {
            cpu_seconds,
            resident_bytes: gauge(
                registry,
                "process_resident_memory_bytes",
                "Memory of the process that is in RAM.",
            )?,
            open_fds: gauge(registry, "process_open_fds", "Files and connections that are open.")?,
            refreshed: Mutex::new(None),
        })
    }

    /// Measures, unless a recent measurement is cached.
    pub(super) fn refresh(&self) {
        let mut refreshed = self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        if refreshed.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        *refreshed = Some(Instant::now());
        let cpu = Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default();
        // Never less: a counter that falls means a restarted program.
        self.cpu_seconds.inc_by((cpu.as_secs_f64() - self.cpu_seconds.get()).max(0.0));
        if let Some(bytes) = resident_bytes() {
            self.resident_bytes.set(gauge_value(bytes));
        }
        if let Some(open) = open_fds() {
            self.open_fds.set(gauge_value(open));
        }
    }
}

/// From `/proc/self/status`, in kilobytes (proc_pid_status(5)).
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1_024)
}

/// The size of `/proc/self/fd` since Linux 6.2; before, the number of its entries.
fn open_fds() -> Option<u64> {
    let open = fs::metadata("/proc/self/fd").ok()?.len();
    if open > 0 {
        return Some(open);
    }
    // The folder itself is open while its entries are read.
    Some((fs::read_dir("/proc/self/fd").ok()?.count() as u64).saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_takes_something() {
        let registry = Registry::new();
        let process = Process::new(&registry).unwrap();
        process.refresh();
        assert!(process.cpu_seconds.get() > 0.0);
        assert!(process.resident_bytes.get() > 1 << 20);
        assert!(process.open_fds.get() >= 3);
    }
}
