//! How much stack a search needs.
//!
//! Searches and solvers call themselves once for each ply that they look ahead, so that whoever
//! runs one must give its thread as much as the greatest depth may take. `engine/tests/all/stack.rs`
//! searches a game that lasts longer than that on just so much.

use crate::core::parameters::shared::DEPTH_MAX;

/// Plies that a search or solver looks ahead at most, also when its depth is unlimited.
pub const PLIES_MAX: u32 = DEPTH_MAX as u32;

/// Bytes that a position may have: each ply keeps a few.
pub const POSITION_BYTES_MAX: usize = 256;

/// Bytes of stack for each ply. Measured with positions of the greatest size: 1.6 KiB in a build
/// that is not optimised, half as much in one that is.
pub const STACK_BYTES_PER_PLY: usize = 4 << 10;

/// Bytes of stack that a thread needs for any search, solver or game. The operating system provides
/// memory as it is written: what is not used costs nothing.
pub const STACK_BYTES: usize = PLIES_MAX as usize * STACK_BYTES_PER_PLY + (1 << 20);

/// Fails the build of a game whose positions are too large for [`STACK_BYTES_PER_PLY`].
pub(crate) const fn assert_fits<P>() {
    const { assert!(size_of::<P>() <= POSITION_BYTES_MAX, "the positions are too large") }
}
