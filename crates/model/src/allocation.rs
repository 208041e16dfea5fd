//! The order in which the games of an experiment are allocated to leases.

use spelrum_names::Names;

/// The order in which an experiment's games are allocated to leases. It affects neither a cell's number of games nor
/// the place where its stop rule ends it (invariant 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Names)]
pub enum Allocation {
    /// In the order of the grid, finishing each cell before the next.
    #[default]
    Grid,
    /// The cell with the least certain score first: the one with the greatest error.
    Informative,
}
