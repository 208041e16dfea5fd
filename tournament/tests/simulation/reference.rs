//! Where a cell ends, the slow way: a plain loop over what came of its games, in number order.

use spelrum_tournament::stopping::{Points, Settled, StopRule, Tally};

/// How far the rule reads the pairs, and whether it is reached there: decided number and stop number.
pub(crate) fn decide(rule: Option<StopRule>, settled: &[Option<Settled>]) -> (u64, Option<u64>) {
    let Some(rule) = rule else { return (0, None) };
    let mut tally = Tally::new(true);
    let mut checkpoint: u64 = 25;
    let mut pairs: u64 = 0;
    for pair in settled.chunks(2) {
        let [Some(first), Some(second)] = pair else { break };
        pairs += 1;
        if let (Settled::Played(first), Settled::Played(second)) = (first, second) {
            tally.add(half_points(*first) + half_points(*second));
        }
        if pairs == checkpoint {
            if rule.is_reached(&tally, None) {
                return (2 * pairs, Some(2 * pairs));
            }
            let parts = if matches!(rule, StopRule::Sprt(_)) { 100 } else { 10 };
            checkpoint += checkpoint.div_ceil(parts);
        }
    }
    (2 * pairs, None)
}

fn half_points(points: Points) -> usize {
    match points {
        Points::Zero => 0,
        Points::Half => 1,
        Points::One => 2,
    }
}
