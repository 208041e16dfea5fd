//! Bounds and defaults shared by the sweep's keys and their readers.

/// Most values of all axes together, and most points of a grid.
pub(super) const POINTS_MAX: usize = 100_000;

/// The default seed of a sweep.
pub(super) const DEFAULT_SEED: u64 = 1;

/// Most players of a sweep.
pub(super) const PLAYERS_MAX: usize = 256;
