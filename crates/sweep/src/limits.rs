//! Bounds and defaults shared by the sweep's keys and their readers.

/// Most values of all axes together, and most points of a grid.
pub(super) const POINTS_MAX: usize = 100_000;

/// The default seed of a sweep.
pub(super) const DEFAULT_SEED: u64 = 1;

/// Forfeits allowed to one player with `forfeits = "stop"`.
pub(super) const FORFEITS_MAX_DEFAULT: u64 = 3;

/// The greatest `forfeits_max`.
pub(super) const FORFEITS_MAX_MOST: u64 = 1_000_000_000;

/// Most players of a sweep.
pub(super) const PLAYERS_MAX: usize = 256;
