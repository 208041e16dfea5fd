//! What results come from.

use spelrum_model::labels::Label;

/// The machine of a worker, and the program that it runs. Every text is empty where the worker does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Machine {
    /// The machine's processor, as it names itself.
    pub cpu_model: String,
    /// How many logical processors of it the worker may use.
    pub logical_cores: Option<u32>,
    /// Its operating system, with the architecture.
    pub operating_system: String,
    /// The Git commit that was checked out where the program was built, in hexadecimal.
    pub build_commit: String,
    /// How the program was compiled: `release` or `debug`.
    pub build_profile: String,
    /// The cores that the worker may use, by their kinds: `6 fast cores of 2 threads, 8 slower cores`.
    pub cores: String,
    /// How many of its slots are quiet: timed games are played there alone. `None` if it does not say.
    pub quiet_slots: Option<u32>,
    /// How much CPU time it gets, if that is limited.
    pub cpu_quota: Option<CpuQuota>,
    /// What it says of itself, by name.
    pub labels: Vec<Label>,
}

impl Machine {
    /// How long the period is, in microseconds, of a quota of CPU time that so many slots can use up, so that their
    /// players stand still for the rest of it. `None` where they cannot, since half of a hardware thread is left to
    /// everything else, and on quiet slots, of which there are only as many as the quota is enough for.
    #[must_use]
    pub fn held_up_us(&self, slots: u32) -> Option<u64> {
        let has_quiet = self.quiet_slots.is_some_and(|slots| slots > 0);
        let is_used_up = |quota: &CpuQuota| quota.cpus() < f64::from(slots) + 0.5;
        self.cpu_quota.filter(|quota| !has_quiet && is_used_up(quota)).map(|quota| quota.period_us)
    }
}

/// A limit on the CPU time of a worker's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuQuota {
    /// What its threads may take together in each period, in microseconds; at least 1.
    pub quota_us: u64,
    /// How long a period is, in microseconds; at least 1. Who has taken all in one waits for the next.
    pub period_us: u64,
}

impl CpuQuota {
    /// A limit, if there is one: neither is 0.
    #[must_use]
    pub const fn new(quota_us: u64, period_us: u64) -> Option<Self> {
        if quota_us > 0 && period_us > 0 { Some(Self { quota_us, period_us }) } else { None }
    }

    /// How many hardware threads it comes to.
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
