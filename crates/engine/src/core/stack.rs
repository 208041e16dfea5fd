//! The stack that a search needs.
//!
//! Searches and solvers recurse once for each ply, so the caller must give the thread enough stack for the
//! greatest depth. `crates/engine/tests/all/stack.rs` searches a longer game on exactly this much.

use crate::core::parameters::shared::DEPTH_MAX;

/// The most plies that a search or solver looks ahead, also when its depth is unlimited.
pub const PLIES_MAX: u32 = DEPTH_MAX as u32;

/// The largest position in bytes: each ply keeps a few.
pub const POSITION_BYTES_MAX: usize = 256;

/// Bytes of stack for each ply. Measured with positions of the greatest size: 1.6 KiB in an
/// unoptimised build, half as much in an optimised one.
pub const STACK_BYTES_PER_PLY: usize = 4 << 10;

/// Bytes of stack that a thread needs for any search, solver or game. The operating system provides
/// memory as it is written: the unused part costs nothing.
pub const STACK_BYTES: usize = PLIES_MAX as usize * STACK_BYTES_PER_PLY + (1 << 20);

/// Fails the build of a game whose positions are too large for [`STACK_BYTES_PER_PLY`].
pub(crate) const fn assert_fits<P>() {
    const { assert!(size_of::<P>() <= POSITION_BYTES_MAX, "the positions are too large") }
}
