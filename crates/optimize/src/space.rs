//! What is searched for the best: several numbers and choices at a time.

/// One of the things that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Any number of an interval.
    Real,
    /// Whole numbers of an interval: one more than so many, which are at least 1.
    Whole {
        /// How many steps of 1 lie between the ends.
        steps: u64,
    },
    /// One of so many things without an order, at least 2.
    Choice {
        /// How many.
        of: usize,
    },
}

/// Where something is in its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// A number, as a part of its interval: 0 to 1. Of whole numbers it is one exactly.
    Part(f64),
    /// One of the things, from 0.
    Choice(usize),
}

impl Dimension {
    /// The nearest number of it, as a part of the interval.
    #[must_use]
    pub fn rounded(self, part: f64) -> f64 {
        let part = part.clamp(0.0, 1.0);
        match self {
            Self::Whole { steps } => (part * steps as f64).round() / steps as f64,
            Self::Real | Self::Choice { .. } => part,
        }
    }
}

/// The place of the greatest; of equal ones the first, but `preferred` before any.
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
            [-1.0, 0.1, 0.13, 0.6, 7.0].map(|it| whole.rounded(it)),
            [0.0, 0.0, 0.25, 0.5, 1.0]
        );
        assert_eq!(Dimension::Real.rounded(0.13), 0.13);
        assert_eq!(greatest(&[1.0, 2.0, 2.0], 2), 2);
        assert_eq!(greatest(&[1.0, 2.0, 2.0], 0), 1);
    }
}
