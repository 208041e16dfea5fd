//! The order in which the games of an experiment are allocated to leases.

/// The order in which an experiment's games are allocated to leases. It affects neither a cell's number of games nor
/// the place where its stop rule ends it (invariant 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Allocation {
    /// In the order of the grid, finishing each cell before the next.
    #[default]
    Grid,
    /// The cell with the least certain score first: the one with the greatest error.
    Informative,
}

impl Allocation {
    /// All orders.
    pub const ALL: [Self; 2] = [Self::Grid, Self::Informative];

    /// Its name in sweep files and databases.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Informative => "informative",
        }
    }

    /// The order with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|allocation| allocation.name() == name)
    }
}
