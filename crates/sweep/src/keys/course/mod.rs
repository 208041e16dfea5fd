//! The keys of tables such as `find`, for experiments that depend on their own results.

pub(crate) mod evolve;
pub(crate) mod find;
pub(crate) mod race;
pub(crate) mod tune;

/// Most steps of one run, and of all runs of a sweep: a coordinator repeats them at a start (invariant 9).
pub(crate) const STEPS_MAX: u64 = 20_000;

/// Most runs of a sweep: their states are held while the sweep goes on (invariant 9).
pub(crate) const RUNS_MAX: usize = 1_000;

/// Most settings that one run tries at a time.
pub(crate) const AT_ONCE_MAX: u64 = 256;
