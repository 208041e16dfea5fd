//! Plans the exclusive slots and their places.

use std::collections::BTreeSet;
use std::fmt;
use std::num::NonZeroU32;

use super::Cores;
use super::quota::milli_cpus;
use super::topology::Core;

/// Cores at least this many hundredths as fast as the fastest are of the same kind: some machines
/// clock one or two of equal cores a little higher.
const ALIKE_PERCENT: u128 = 90;

/// The CPU quota for the rest of a worker during timed games, in thousandths of a hardware thread:
/// it only talks to its coordinator then.
const REST_MILLI_CPUS: u64 = 500;

/// The exclusive slots of a worker, and the place of everything else. By default there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExclusiveSlots {
    /// The hardware thread of each, from slot 0 up.
    pub(super) cpus: Vec<u32>,
    /// The hardware threads of everything else during timed games, and otherwise.
    pub(super) rest: BTreeSet<u32>,
    pub(super) all: BTreeSet<u32>,
    /// The reason for which there are no more.
    pub(super) why: Why,
}

/// Why a worker has no more quiet slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Why {
    /// Not planned yet.
    #[default]
    NotPlanned,
    /// No more were requested.
    Asked,
    /// There are no more slots.
    Slots,
    /// One core is reserved for everything else.
    CoreLeft,
    /// There is only one core.
    OneCore,
    /// The other cores are slower.
    Slower,
    /// Other processes share the cores.
    Shared,
    /// The quota of CPU time.
    Quota {
        /// In thousandths of a hardware thread.
        milli_cpus: u64,
    },
    /// The system does not report enough about the cores.
    Unknown,
    /// The system does not allow pinning.
    Refused,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPlanned | Self::Asked => f.write_str("no more were asked for"),
            Self::Slots => f.write_str("all slots are"),
            Self::CoreLeft => f.write_str("one core is left to everything else"),
            Self::OneCore => f.write_str("everything shares one core"),
            Self::Slower => f.write_str("the other cores are slower, and left to everything else"),
            Self::Shared => {
                f.write_str("of the other cores this process may use only some hardware threads")
            }
            Self::Quota { milli_cpus } => {
                let (cpus, milli) = (milli_cpus / 1_000, milli_cpus % 1_000);
                write!(f, "the quota of CPU time is that of {cpus}.{milli:03} hardware threads")
            }
            Self::Unknown => {
                f.write_str("the system does not report which hardware threads share a core")
            }
            Self::Refused => f.write_str("the system does not allow pinning threads to cores"),
        }
    }
}

impl ExclusiveSlots {
    /// Their number.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.cpus.len()).unwrap_or(u32::MAX)
    }

    /// The hardware thread of each, from slot 0 up.
    #[must_use]
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// The reason for which there are no more, as the end of a sentence.
    #[must_use]
    pub fn why_not_more(&self) -> String {
        self.why.to_string()
    }

    pub(super) fn none(all: BTreeSet<u32>, why: Why) -> Self {
        Self { cpus: Vec::new(), rest: all.clone(), all, why }
    }
}

/// Plans the exclusive slots for these slots; at most as many as wanted.
pub(super) fn plan(machine: &Cores, slots: NonZeroU32, wanted: Option<u32>) -> ExclusiveSlots {
    let all = machine.usable.clone().unwrap_or_default();
    let none = |why| ExclusiveSlots::none(all.clone(), why);
    if wanted == Some(0) {
        return none(Why::Asked);
    }
    let Some(cores) = &machine.cores else { return none(Why::Unknown) };
    if cores.len() < 2 {
        return none(Why::OneCore);
    }
    let usable_cores: Vec<&Core> = cores.iter().filter(|core| core.cpus.is_subset(&all)).collect();
    let fastest = fastest(&usable_cores);
    let (mut count, mut why) = if fastest.len() == cores.len() {
        (fastest.len() - 1, Why::CoreLeft)
    } else if fastest.len() < usable_cores.len() {
        (fastest.len(), Why::Slower)
    } else {
        (fastest.len(), Why::Shared)
    };
    let mut at_most = |most: u64, because| {
        if (count as u64) > most {
            (count, why) = (usize::try_from(most).unwrap_or(usize::MAX), because);
        }
    };
    if let Some(quota) = machine.quota {
        let milli_cpus = milli_cpus(quota);
        let most = milli_cpus.saturating_sub(REST_MILLI_CPUS) / 1_000;
        at_most(most, Why::Quota { milli_cpus });
    }
    at_most(slots.get().into(), Why::Slots);
    if let Some(wanted) = wanted {
        at_most(wanted.into(), Why::Asked);
    }
    // The first cores are left to everything else: systems handle interrupts there.
    let quiet = &fastest[fastest.len() - count..];
    let of_quiet: BTreeSet<u32> = quiet.iter().flat_map(|core| &core.cpus).copied().collect();
    let cpus = quiet.iter().filter_map(|core| core.cpus.first().copied()).collect();
    let rest = all.difference(&of_quiet).copied().collect();
    ExclusiveSlots { cpus, rest, all, why }
}

/// The cores of the fastest kind. Cores of unknown speed count as such.
pub(super) fn fastest<'c>(cores: &[&'c Core]) -> Vec<&'c Core> {
    let any_large = cores.iter().any(|core| !core.is_small);
    let large = cores.iter().filter(|core| !any_large || !core.is_small);
    let top = u128::from(large.clone().filter_map(|core| core.speed).max().unwrap_or(0));
    let is_fast = |speed: u64| u128::from(speed) * 100 >= top * ALIKE_PERCENT;
    large.filter(|core| core.speed.is_none_or(is_fast)).copied().collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use spelrum_answers::CpuQuota;

    use super::*;

    /// Machines of up to nine cores with one to four threads, of which this process may use some.
    fn machine() -> impl Strategy<Value = Cores> {
        let speed =
            option::weighted(0.8, prop::sample::select(vec![512, 921, 922, 1_000, 1_024_u64]));
        let core = (1..=4_u32, speed, prop::bool::weighted(0.2), any::<u8>());
        let quota = option::of((1..=4_000_000_u64, 1_000..=1_000_000_u64));
        (vec(core, 1..10), quota).prop_map(|(drawn, quota)| {
            let (mut cores, mut usable, mut next) = (Vec::new(), BTreeSet::new(), 0);
            for (threads, speed, is_small, mask) in drawn {
                let cpus: BTreeSet<u32> = (next..next + threads).collect();
                next += threads;
                // Most are used completely.
                let may = |cpu: &u32| mask >= 64 || (mask >> (cpu % 8)) & 1 == 1;
                let mine: Vec<u32> = cpus.iter().copied().filter(may).collect();
                if !mine.is_empty() {
                    usable.extend(mine);
                    cores.push(Core { cpus, speed, is_small });
                }
            }
            let quota = quota.map(|(quota_us, period_us)| CpuQuota { quota_us, period_us });
            Cores { usable: Some(usable), cores: Some(cores), quota }
        })
    }

    /// Whether a core may have an exclusive slot, by another definition: it is usable, and no
    /// usable core is of a better kind.
    fn may_be_exclusive(machine: &Cores, core: &Core) -> bool {
        let usable = machine.usable.as_ref().unwrap();
        let is_ours = |core: &Core| core.cpus.iter().all(|cpu| usable.contains(cpu));
        let is_better = |other: &Core| {
            is_ours(other)
                && (core.is_small && !other.is_small
                    || core.is_small == other.is_small
                        && matches!((core.speed, other.speed), (Some(one), Some(two)) if one * 10 < two * 9))
        };
        is_ours(core) && !machine.cores.as_ref().unwrap().iter().any(is_better)
    }

    /// The greatest possible number, by trial.
    fn most(machine: &Cores, slots: u32, wanted: Option<u32>) -> u32 {
        let cores = machine.cores.as_ref().unwrap();
        let fit = cores.iter().filter(|core| may_be_exclusive(machine, core)).count() as u32;
        let is_possible = |count: u32| {
            let leaves_a_core = count == 0 || (count as usize) < cores.len();
            let in_quota = machine.quota.is_none_or(|quota| {
                count == 0
                    || u128::from(2 * count + 1) * u128::from(quota.period_us)
                        <= 2 * u128::from(quota.quota_us)
            });
            count <= fit
                && leaves_a_core
                && in_quota
                && count <= slots
                && wanted.is_none_or(|wanted| count <= wanted)
        };
        (0..=fit).filter(|&count| is_possible(count)).max().unwrap()
    }

    proptest! {
        #[test]
        fn quiet_slots_have_cores_of_their_own(
            machine in machine(),
            slots in 1..20_u32,
            wanted in option::of(0..12_u32),
        ) {
            let cores = machine.cores.clone().unwrap();
            prop_assume!(!cores.is_empty());
            let planned = plan(&machine, NonZeroU32::new(slots).unwrap(), wanted);
            prop_assert_eq!(planned.count(), most(&machine, slots, wanted));
            let usable = machine.usable.clone().unwrap();
            prop_assert_eq!(&planned.all, &usable);
            prop_assert!(!planned.rest.is_empty());
            let mut left = usable;
            for cpu in &planned.cpus {
                let core = cores.iter().find(|core| core.cpus.contains(cpu)).unwrap();
                prop_assert!(may_be_exclusive(&machine, core));
                for cpu in &core.cpus {
                    prop_assert!(left.remove(cpu), "no two slots have a core together");
                }
            }
            prop_assert_eq!(planned.rest, left, "all others are left to the rest");
        }
    }

    #[test]
    fn a_quota_leaves_half_a_thread_to_the_rest() {
        let core = |cpu| Core { cpus: [cpu].into(), speed: None, is_small: false };
        for (milli, quiet) in [(400, 0), (1_000, 0), (1_499, 0), (1_500, 1), (2_400, 1), (2_500, 2)]
        {
            let quota = Some(CpuQuota { quota_us: milli * 100, period_us: 100_000 });
            let cores = Some((0..8).map(core).collect());
            let machine = Cores { usable: Some((0..8).collect()), cores, quota };
            let planned = plan(&machine, NonZeroU32::new(8).unwrap(), None);
            assert_eq!((planned.count(), planned.why), (quiet, Why::Quota { milli_cpus: milli }));
        }
    }
}
