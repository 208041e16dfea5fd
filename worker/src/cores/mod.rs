//! Quiet slots: those whose games have a physical core to themselves.
//!
//! A game whose players have a time limit is worth what the machine gives it in that time. So such
//! games are played on quiet slots: each is kept on a hardware thread of a core whose other threads
//! stay idle, and everything else of the worker keeps off those cores while they play. Which slots
//! these are is planned (`plan`) by what the system tells of its cores (`topology`) and of how much
//! CPU time the process gets (`quota`); who runs where is changed in `keeping`, at the moment when
//! games of the other kind begin. That timed games are never played beside others is seen to by the
//! worker's machine ([`spelrum_tournament::worker`]).

mod files;
mod keeping;
mod list;
mod plan;
mod quota;
mod topology;
mod words;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;

use spelrum_tournament::results::CpuQuota;

use files::Files;
use topology::Core;

pub(crate) use keeping::Keeping;
pub use plan::QuietSlots;
pub use words::NoQuietSlots;

/// What the system tells of the machine's cores, as far as this process may use them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// The hardware threads.
    usable: Option<BTreeSet<u32>>,
    /// The cores that have one of these at least.
    cores: Option<Vec<Core>>,
    quota: Option<CpuQuota>,
}

impl Cores {
    /// Of the machine that this runs on.
    #[must_use]
    pub fn here() -> Self {
        Self::below(Path::new("/"))
    }

    /// Of the machine whose `/proc` and `/sys` are below this folder. What is not there, or is not
    /// understood, is not known.
    #[must_use]
    pub fn below(root: &Path) -> Self {
        let files = Files::below(root);
        let usable = topology::usable(&files);
        let cores = usable.as_ref().and_then(|usable| topology::cores(&files, usable));
        Self { usable, cores, quota: quota::quota(&files) }
    }

    /// Plans the quiet slots of a worker with so many slots: as many as there can be, or as are
    /// wanted. Fewer than wanted if there cannot be so many.
    #[must_use]
    pub fn plan(&self, slots: NonZeroU32, wanted: Option<u32>) -> QuietSlots {
        plan::plan(self, slots, wanted)
    }

    /// How much CPU time the process gets, if that is limited.
    #[must_use]
    pub const fn quota(&self) -> Option<CpuQuota> {
        self.quota
    }

    /// The cores by their kinds, for people: `6 fast cores of 2 threads, 8 slower cores`. Empty if
    /// they are not known.
    #[must_use]
    pub fn kinds(&self) -> String {
        words::kinds(self.cores.as_deref().unwrap_or_default())
    }
}
