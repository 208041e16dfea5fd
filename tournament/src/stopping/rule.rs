//! The rule itself, and when it is asked.

use super::tally::Tally;

/// The first checkpoint, in units. Below it an interval says little, and looking often at little data
/// is what makes stopped experiments wrong.
const FIRST_CHECKPOINT: u64 = 25;

/// From checkpoint to checkpoint the units grow by a part of them: one in so many, rounded up.
const GROWTH_PARTS: u64 = 10;

/// When a cell has been played enough: once the 95% interval of its score is so narrow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    precision: f64,
}

/// No precision is NaN.
impl Eq for StopRule {}

impl StopRule {
    /// Half the width of the interval, in points per game; none but more than 0 and less than 0.5, which
    /// is what an interval of nothing has.
    #[must_use]
    pub fn of_precision(precision: f64) -> Option<Self> {
        (precision > 0.0 && precision < 0.5).then_some(Self { precision })
    }

    /// Half the width of the interval that is asked for.
    #[must_use]
    pub const fn precision(&self) -> f64 {
        self.precision
    }

    /// Whether these results are enough.
    #[must_use]
    pub fn is_reached(&self, tally: &Tally) -> bool {
        let interval = tally.interval();
        (interval.high - interval.low) / 2.0 <= self.precision
    }
}

/// The first checkpoint beyond so many units.
pub(super) fn checkpoint_after(units: u64) -> u64 {
    let mut checkpoint = FIRST_CHECKPOINT;
    while checkpoint <= units {
        checkpoint = checkpoint.saturating_add(checkpoint.div_ceil(GROWTH_PARTS));
        if checkpoint == u64::MAX {
            break;
        }
    }
    checkpoint
}

/// Whether the rule is asked after so many units.
pub(super) fn is_checkpoint(units: u64) -> bool {
    units > 0 && checkpoint_after(units - 1) == units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_fixed() {
        let first: Vec<u64> = (0..100).filter(|&units| is_checkpoint(units)).collect();
        assert_eq!(first, [25, 28, 31, 35, 39, 43, 48, 53, 59, 65, 72, 80, 88, 97]);
        assert_eq!(checkpoint_after(0), 25);
        assert_eq!(checkpoint_after(25), 28);
        assert_eq!(checkpoint_after(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_precision_is_in_its_open_range() {
        let is_one = |precision| StopRule::of_precision(precision).is_some();
        assert!([f64::MIN_POSITIVE, 0.03, 0.499].into_iter().all(is_one));
        assert!(![-0.1, 0.0, 0.5, 1.0, f64::NAN, f64::INFINITY].into_iter().any(is_one));
    }
}
