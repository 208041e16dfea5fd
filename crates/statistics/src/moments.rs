//! Mean and variance of counted scores.

/// The moments of scores from 0 to 1 in equal steps.
pub(super) struct Moments {
    /// The number of scores.
    pub(super) count: f64,
    /// The mean; 0.5 without scores.
    pub(super) mean: f64,
    /// The variance, divided by the count; 0 without scores.
    pub(super) variance: f64,
}

impl Moments {
    /// From the number of units with each score.
    pub(super) fn from_counts(counts: &[f64]) -> Self {
        let count: f64 = counts.iter().sum();
        if count == 0.0 {
            return Self { count, mean: 0.5, variance: 0.0 };
        }
        let step = 1.0 / (counts.len() - 1) as f64;
        let weighted = || counts.iter().enumerate().map(|(class, &n)| (class as f64 * step, n));
        let mean = weighted().map(|(score, n)| score * n).sum::<f64>() / count;
        let squares = weighted().map(|(score, n)| n * (score - mean) * (score - mean));
        Self { count, mean, variance: squares.sum::<f64>() / count }
    }
}
