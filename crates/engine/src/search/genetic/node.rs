//! Node identifiers of the reservation tree, and the parameter that bounds their number.

/// The parameter that sets a tree's memory.
pub(super) const PARAMETER: &str = "max_tree_nodes";

/// A node of a [`ReservationTree`](super::ReservationTree), valid until the tree's next search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The position that is searched.
    pub const ROOT: Self = Self(0);
}
