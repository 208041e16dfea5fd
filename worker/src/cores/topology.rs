//! The machine's hardware threads, their cores, and the cores' speeds.
//!
//! From the kernel's `/sys/devices/system/cpu/cpuN/` (Documentation/ABI/testing/sysfs-devices-system-cpu and
//! Documentation/admin-guide/cputopology.rst of its sources).

use std::collections::{BTreeMap, BTreeSet};

use super::files::Files;

/// The online hardware threads.
const ONLINE: &str = "sys/devices/system/cpu/online";

/// A physical core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Core {
    /// Its online hardware threads, whether usable or not.
    pub(super) cpus: BTreeSet<u32>,
    /// Its speed relative to others of the machine, in a machine-specific unit; `None` if unknown.
    pub(super) speed: Option<u64>,
    /// Whether it is a small core of a hybrid processor.
    pub(super) is_small: bool,
}

/// The hardware threads that this process may use, by `sched_setaffinity`, a cpuset or a container.
pub(super) fn usable(files: &Files) -> Option<BTreeSet<u32>> {
    let status = files.text("proc/self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut cpus = super::list::parse(list)?;
    // An offline one stays in the mask.
    if let Some(online) = files.cpus(ONLINE) {
        cpus.retain(|cpu| online.contains(cpu));
    }
    Some(cpus).filter(|cpus| !cpus.is_empty())
}

/// The cores with at least one of these hardware threads, in the order of their first ones; `None`
/// if the system does not report sharing.
pub(super) fn cores(files: &Files, usable: &BTreeSet<u32>) -> Option<Vec<Core>> {
    let online = files.cpus(ONLINE);
    let small = small(files);
    let mut cores = BTreeMap::<u32, Core>::new();
    for &cpu in usable {
        let mut cpus = siblings(files, cpu)?;
        if let Some(online) = &online {
            cpus.retain(|cpu| online.contains(cpu));
        }
        // A core without its own thread is invalid.
        if !cpus.contains(&cpu) {
            return None;
        }
        let first = *cpus.first()?;
        let speed = speed(files, cpu);
        let is_small = small.contains(&cpu);
        let core =
            cores.entry(first).or_insert_with(|| Core { cpus: cpus.clone(), speed, is_small });
        // Two threads disagree about their core.
        if core.cpus != cpus {
            return None;
        }
    }
    let cores: Vec<Core> = cores.into_values().collect();
    let all: BTreeSet<u32> = cores.iter().flat_map(|core| &core.cpus).copied().collect();
    let count: usize = cores.iter().map(|core| core.cpus.len()).sum();
    (all.len() == count).then_some(cores)
}

/// The hardware threads of this one's core. The first name is the newer one.
fn siblings(files: &Files, cpu: u32) -> Option<BTreeSet<u32>> {
    let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
    ["core_cpus_list", "thread_siblings_list"]
        .iter()
        .find_map(|name| files.cpus(format!("{topology}/{name}")))
}

/// The scheduler's own measure if cores differ by design, as on ARM; otherwise the greatest clock
/// rate.
fn speed(files: &Files, cpu: u32) -> Option<u64> {
    let of_cpu = format!("sys/devices/system/cpu/cpu{cpu}");
    ["cpu_capacity", "cpufreq/cpuinfo_max_freq"]
        .iter()
        .find_map(|name| files.number(format!("{of_cpu}/{name}")))
        .filter(|&speed| speed > 0)
}

/// The hardware threads of small cores, if there are both kinds, as in Intel's hybrids, whose
/// performance counters are two devices.
fn small(files: &Files) -> BTreeSet<u32> {
    let large = files.cpus("sys/devices/cpu_core/cpus").filter(|cpus| !cpus.is_empty());
    large.and_then(|_| files.cpus("sys/devices/cpu_atom/cpus")).unwrap_or_default()
}
