//! What names a node of the reservation tree, and the parameter that bounds how many there are.

/// What decides how much memory a tree reserves.
pub(super) const PARAMETER: &str = "max_tree_nodes";

/// A node of a [`ReservationTree`](super::ReservationTree), valid until the tree's next search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The position that is searched.
    pub const ROOT: Self = Self(0);
}
