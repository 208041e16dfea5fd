//! Places in the search, of moves and of positions.

/// A move's place in the search: the position in which it is made, and known facts about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Plies to search from the position.
    pub(super) depth: u32,
    /// Plies from the root to the position.
    pub(super) ply: u32,
    /// The move's code.
    pub(super) code: u16,
    /// Whether the move is tried first there.
    pub(super) is_first: bool,
    /// Whether the opponent is known to have no win at once after the move.
    pub(super) is_safe: bool,
    /// Plies by which its first search is shallower.
    pub(super) reduction: u32,
}

/// A position's place in the search, and known facts about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Plies to search from it.
    pub(super) depth: u32,
    /// Plies from the root to it.
    pub(super) ply: u32,
    /// Whether the side to move is known to have no win at once.
    pub(super) has_no_win: bool,
    /// Whether it results from a pass.
    pub(super) is_passed: bool,
    /// The code of the move that led to it, unless that was a pass.
    pub(super) previous: Option<u16>,
}
