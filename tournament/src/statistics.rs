//! Score rates and their intervals, over pairs.

/// Pairs of a cell by what its first player scored in both games: 0, ½, 1, 1½, 2 points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts(pub [u64; 5]);

/// A mean score per game in 0..=1 with a 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreInterval {
    /// The mean score; 0.5 without games.
    pub score: f64,
    /// Lower bound, at least 0.
    pub low: f64,
    /// Upper bound, at most 1.
    pub high: f64,
}

impl PairCounts {
    /// The mean score of the first player and its interval. Defined for every input: no pairs
    /// give 0..1; equal pairs give an interval of some width that shrinks with their number.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        todo!("scaffold")
    }
}
