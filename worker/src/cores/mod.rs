//! Exclusive slots (the keys call them quiet): their games have a physical core to themselves.
//!
//! A game with time limits is only as good as the CPU time that the machine gives it. Such games
//! are played on exclusive slots: each is pinned to a hardware thread of a core whose other threads
//! stay idle, and the rest of the worker keeps off those cores meanwhile. The slots are planned
//! (`plan`) from the system's description of its cores (`topology`) and the process's CPU quota
//! (`quota`); `pinning` pins threads when games of the other kind begin. The worker's state machine
//! ([`spelrum_scheduling::worker`]) ensures that timed games never run beside others.

mod files;
mod list;
mod pinning;
mod plan;
mod quota;
mod text;
mod topology;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;

use spelrum_answers::CpuQuota;

use files::Files;
use topology::Core;

pub(crate) use pinning::Pinning;
pub use plan::ExclusiveSlots;
pub use text::InvalidExclusiveSlots;

/// The system's description of the machine's cores, as far as this process may use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// The hardware threads.
    usable: Option<BTreeSet<u32>>,
    /// The cores with at least one of these.
    cores: Option<Vec<Core>>,
    quota: Option<CpuQuota>,
}

impl Cores {
    /// Describes this machine.
    #[must_use]
    pub fn here() -> Self {
        Self::below(Path::new("/"))
    }

    /// Describes the machine whose `/proc` and `/sys` are below this folder. Missing or malformed
    /// files mean unknown.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        let files = Files::below(root);
        let usable = topology::usable(&files);
        let cores = usable.as_ref().and_then(|usable| topology::cores(&files, usable));
        Self { usable, cores, quota: quota::quota(&files) }
    }

    /// Plans the exclusive slots of a worker: as many as possible, or as wanted; fewer than wanted
    /// if not all are possible.
    #[must_use]
    pub fn plan(&self, slots: NonZeroU32, wanted: Option<u32>) -> ExclusiveSlots {
        plan::plan(self, slots, wanted)
    }

    /// The process's CPU quota, if any.
    #[must_use]
    pub const fn quota(&self) -> Option<CpuQuota> {
        self.quota
    }

    /// The cores by their kinds, for people: `6 fast cores of 2 threads, 8 slower cores`. Empty if
    /// unknown.
    #[must_use]
    pub fn kinds(&self) -> String {
        text::kinds(self.cores.as_deref().unwrap_or_default())
    }
}
