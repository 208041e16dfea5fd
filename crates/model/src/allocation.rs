//! The order in which the games of an experiment are allocated to leases.

/// How an experiment's games are allocated to leases. It changes the order of service only: how many games
/// a cell gets, and where its stop rule ends it, stays as it is (invariant 7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Allocation {
    /// In the order of the grid, each cell to its end before the next.
    #[default]
    Grid,
    /// The cell whose score is known least first: that with the greatest error.
    Informative,
}

impl Allocation {
    /// Each of them.
    pub const ALL: [Self; 2] = [Self::Grid, Self::Informative];

    /// Its name in sweep files and databases.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Informative => "informative",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
