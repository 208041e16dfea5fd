//! Machines and builds that results come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_model::labels::Label;

/// A worker's machine and program. Each text is empty if the worker does not report it.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Machine {
    /// The processor's model name.
    pub cpu_model: String,
    /// Number of logical processors that the worker may use.
    pub logical_cores: Option<u32>,
    /// Its operating system, with the architecture.
    pub operating_system: String,
    /// The Git commit that was checked out where the program was built, in hexadecimal.
    pub build_commit: String,
    /// Build profile of the program: `release` or `debug`.
    pub build_profile: String,
    /// Cores that the worker may use, by kind: `6 fast cores of 2 threads, 8 slower cores`.
    pub cores: String,
    /// Number of exclusive slots: timed games are played only there. `None` if not reported.
    pub quiet_slots: Option<u32>,
    /// Its CPU time quota, if limited.
    pub cpu_quota: Option<CpuQuota>,
    /// The worker's labels, by name.
    pub labels: Vec<Label>,
}

impl Machine {
    /// Returns the period, in microseconds, of a CPU time quota that this many slots can exhaust, so that their
    /// players stall for the rest of the period. `None` where they cannot: half of a hardware thread is left to
    /// everything else, and exclusive slots never exceed the quota.
    #[must_use]
    pub fn held_up_us(&self, slots: u32) -> Option<u64> {
        let has_quiet = self.quiet_slots.is_some_and(|slots| slots > 0);
        let is_used_up = |quota: &CpuQuota| quota.cpus() < f64::from(slots) + 0.5;
        self.cpu_quota.filter(|quota| !has_quiet && is_used_up(quota)).map(|quota| quota.period_us)
    }
}

/// A limit on the CPU time of a worker's process.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "CpuQuotaForm")]
#[schemars(!try_from)]
pub struct CpuQuota {
    /// CPU time of all threads together in each period, in microseconds; at least 1.
    pub quota_us: u64,
    /// Length of a period, in microseconds; at least 1. Threads that exhaust the quota wait for the next period.
    pub period_us: u64,
}

/// A limit as read, not yet checked.
#[derive(Deserialize)]
struct CpuQuotaForm {
    quota_us: u64,
    period_us: u64,
}

impl TryFrom<CpuQuotaForm> for CpuQuota {
    type Error = &'static str;

    fn try_from(form: CpuQuotaForm) -> Result<Self, &'static str> {
        Self::new(form.quota_us, form.period_us).ok_or("a CPU time quota and its period exceed 0")
    }
}

impl CpuQuota {
    /// Creates a limit; `None` if either value is 0.
    #[must_use]
    pub const fn new(quota_us: u64, period_us: u64) -> Option<Self> {
        if quota_us > 0 && period_us > 0 { Some(Self { quota_us, period_us }) } else { None }
    }

    /// Returns the quota as a number of hardware threads.
    #[must_use]
    pub fn cpus(self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_can_use_a_quota_up_is_held_up_by_it() {
        let held_up = |quiet_slots, quota_us, slots| {
            let cpu_quota = CpuQuota::new(quota_us, 100_000);
            Machine { quiet_slots, cpu_quota, ..Machine::default() }.held_up_us(slots)
        };
        assert_eq!(held_up(Some(0), 0, 4), None, "it has no quota");
        assert_eq!(held_up(Some(0), 50_000, 1), Some(100_000));
        assert_eq!(held_up(None, 249_999, 2), Some(100_000));
        assert_eq!(held_up(None, 250_000, 2), None, "half of a thread is left over");
        assert_eq!(held_up(Some(1), 150_000, 4), None, "timed games have the quiet slot");
    }
}
