//! What a table's distances lead to.

/// The end that distances of a table are counted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    /// Mate.
    #[default]
    Mate,
    /// Mate, or the first capture or promotion before it ("conversion": Thompson 1986; Tamplin & Haworth 2003,
    /// "Chess Endgames: Data and Strategy"). The winner hastens it and the loser delays it.
    ///
    /// Wins stay odd and losses even: if the side that loses has to convert, its own conversion counts as if the
    /// winner's next move were it, 2 plies.
    Conversion,
}

impl Metric {
    /// The names, in the order of the metrics.
    pub const NAMES: &'static [&'static str] = &["mate", "conversion"];

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mate => "mate",
            Self::Conversion => "conversion",
        }
    }

    /// The metric of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Mate, Self::Conversion].into_iter().find(|metric| metric.name() == name)
    }
}
