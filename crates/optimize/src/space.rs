//! The space of a search: several numbers and choices at a time.

/// A dimension of the space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Any number of an interval.
    Real,
    /// Whole numbers of an interval: `steps` + 1 of them.
    Whole {
        /// The number of steps of 1 between the ends; at least 1.
        steps: u64,
    },
    /// One of several options without an order, at least 2.
    Choice {
        /// The number of options.
        options: usize,
    },
}

/// A position in a dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// A number, as a share of its interval: 0 to 1. Exactly a whole number in a dimension of whole numbers.
    Part(f64),
    /// One of the options, from 0.
    Choice(usize),
}

impl Dimension {
    /// The nearest valid number, as a share of the interval.
    #[must_use]
    pub fn rounded(self, part: f64) -> f64 {
        let part = part.clamp(0.0, 1.0);
        match self {
            Self::Whole { steps } => (part * steps as f64).round() / steps as f64,
            Self::Real | Self::Choice { .. } => part,
        }
    }
}

/// The index of the greatest; among equal ones `preferred`, else the first.
pub(super) fn greatest(weights: &[f64], preferred: usize) -> usize {
    let mut best = preferred.min(weights.len().saturating_sub(1));
    for (place, weight) in weights.iter().enumerate() {
        if *weight > weights[best] {
            best = place;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_rounded_to() {
        let whole = Dimension::Whole { steps: 4 };
        assert_eq!(
            [-1.0, 0.1, 0.13, 0.6, 7.0].map(|part| whole.rounded(part)),
            [0.0, 0.0, 0.25, 0.5, 1.0]
        );
        assert_eq!(Dimension::Real.rounded(0.13), 0.13);
        assert_eq!(greatest(&[1.0, 2.0, 2.0], 2), 2);
        assert_eq!(greatest(&[1.0, 2.0, 2.0], 0), 1);
    }
}
