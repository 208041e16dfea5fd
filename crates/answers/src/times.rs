//! Times of moves, stored as a mean and counts per bucket.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::{EXTERNAL_ALGORITHMS, Parameters, Value, has_full_tree};

/// The longest time with a bucket of its own, in microseconds.
const TIME_US_MAX: u64 = (1 << 53) - 1;

/// Share by which a move may exceed its limit before it counts as an overrun: what a clock that is read every 50
/// microseconds, and a machine with other work, take from a move of a millisecond.
pub const OVERRUN_TOLERANCE: f64 = 0.1;

/// Reports warn of players with a greater share of overruns.
pub const OVERRUNS_WARNED_OF: f64 = 0.01;

/// Returns the bucket of a time: eight for each doubling, exact below 16 us. The octave is the position of the
/// highest bit, the place in it the three bits below (as in HdrHistogram, Tene 2012).
#[must_use]
pub fn time_bucket(wall_us: u64) -> u32 {
    let wall_us = wall_us.min(TIME_US_MAX);
    match wall_us.checked_ilog2() {
        Some(octave) if octave >= 3 => {
            let place = u32::try_from((wall_us >> (octave - 3)) & 7).unwrap_or(0);
            8 * (octave - 2) + place
        }
        _ => u32::try_from(wall_us).unwrap_or(0),
    }
}

/// Returns the least time in a bucket, in microseconds; that of the last bucket for numbers beyond it.
#[must_use]
pub fn bucket_from_us(bucket: u32) -> u64 {
    match bucket {
        0..8 => u64::from(bucket),
        8..=408 => u64::from(8 + bucket % 8) << (bucket / 8 - 1),
        _ => bucket_from_us(408),
    }
}

/// Distribution of move times: counts per bucket, and their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct MoveTimes {
    moves: BTreeMap<u32, u64>,
    /// Mean position of moves in their buckets, as a share of the bucket's width.
    place: f64,
}

/// Overruns of a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overruns {
    /// The limit of a move, in microseconds.
    pub limit_us: u64,
    /// A move of at least this time counts as an overrun: the beginning of the first bucket that is
    /// [`OVERRUN_TOLERANCE`] or more beyond the limit, which is at most 24% beyond.
    pub beyond_us: u64,
    /// Moves that took at least that long.
    pub moves: u64,
    /// Time of the longest move, in microseconds, to the precision of its bucket.
    pub longest_us: f64,
}

impl MoveTimes {
    /// Creates times from moves by bucket, with their exact mean in microseconds.
    #[must_use]
    pub fn new(in_buckets: impl IntoIterator<Item = (u32, u64)>, mean_us: f64) -> Self {
        let mut moves: BTreeMap<u32, u64> = BTreeMap::new();
        for (bucket, count) in in_buckets {
            *moves.entry(bucket).or_default() += count;
        }
        moves.retain(|_, count| *count > 0);
        let (mut all, mut least_us, mut widths_us) = (0.0, 0.0, 0.0);
        for (&bucket, &count) in &moves {
            all += count as f64;
            least_us += count as f64 * bucket_from_us(bucket) as f64;
            widths_us += count as f64 * width_us(bucket);
        }
        let place = (mean_us * all - least_us) / widths_us;
        Self { moves, place: if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.5 } }
    }

    /// Returns the time that this share of the moves, in 0..=1, did not exceed, in microseconds; 0 without moves.
    ///
    /// Moves are assumed to be spread evenly over a part of their bucket, the same part in each, as wide as possible
    /// such that their mean is the known one. So a quantile lies in its true bucket, whose width is at most an eighth
    /// of its time, and belongs to times whose mean is exact.
    #[must_use]
    pub fn quantile_us(&self, share: f64) -> f64 {
        let all: u64 = self.moves.values().sum();
        // A product that rounding raised above a whole number is rounded to it.
        let rank = (share * all as f64 * (1.0 - 1e-12)).ceil().clamp(1.0, (all as f64).max(1.0));
        let half = self.place.min(1.0 - self.place);
        let mut before = 0.0;
        for (&bucket, &count) in &self.moves {
            let count = count as f64;
            if rank <= before + count {
                let within = (rank - before - 0.5) / count;
                let place = self.place + half * (2.0 * within - 1.0);
                return bucket_from_us(bucket) as f64 + place * width_us(bucket);
            }
            before += count;
        }
        0.0
    }

    /// Counts overruns of a limit.
    #[must_use]
    pub fn overruns(&self, limit_us: u64) -> Overruns {
        let tolerated_us = limit_us as f64 * (1.0 + OVERRUN_TOLERANCE);
        let mut beyond = time_bucket(limit_us);
        while (bucket_from_us(beyond) as f64) < tolerated_us && beyond < 408 {
            beyond += 1;
        }
        Overruns {
            limit_us,
            beyond_us: bucket_from_us(beyond),
            moves: self.moves.range(beyond..).map(|(_, count)| count).sum(),
            longest_us: self.quantile_us(1.0),
        }
    }
}

/// Returns the difference between the least and the greatest time in a bucket.
fn width_us(bucket: u32) -> f64 {
    (bucket_from_us(bucket + 1) - 1 - bucket_from_us(bucket)) as f64
}

/// Properties of a player that determine how its moves' costs are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CostedPlayer {
    /// The time limit of its moves, in microseconds.
    pub time_limit_us: Option<u64>,
    /// Whether time bounds its moves: that limit, or a clock.
    pub is_timed: bool,
    /// Whether evaluations are reported as a share of the leaves of a full tree: if the player searches to one depth.
    pub has_full_tree: bool,
    /// Whether it is an external engine, whose processor time some workers cannot read.
    pub is_external: bool,
    /// Whether the processor time of its moves is known, if the worker can read it.
    pub is_cpu_time_known: bool,
    /// Whether moves are compared by processor time: their time is not limited, and processor time is known.
    pub is_compared_by_cpu: bool,
}

impl CostedPlayer {
    /// Reads a player's parameters in canonical JSON. Invalid parameters set no property. `engine_cpu_known` tells whether
    /// the processor time of external engines is that of their processes.
    #[must_use]
    pub fn from_json(parameters_json: &str, engine_cpu_known: bool) -> Self {
        let parameters: Parameters = serde_json::from_str(parameters_json).unwrap_or_default();
        let time_limit_us = match parameters.get("move_time_us") {
            Some(Value::Integer(us)) => u64::try_from(*us).ok(),
            Some(_) | None => None,
        };
        let algorithm = match parameters.get("algorithm") {
            Some(Value::Text(algorithm)) => Some(algorithm.as_str()),
            Some(_) | None => None,
        };
        let is_timed = time_limit_us.is_some() || parameters.contains_key("clock");
        let is_external =
            algorithm.is_some_and(|algorithm| EXTERNAL_ALGORITHMS.contains(&algorithm));
        let is_cpu_time_known = algorithm.is_some() && (!is_external || engine_cpu_known);
        Self {
            time_limit_us,
            is_timed,
            has_full_tree: has_full_tree(&parameters),
            is_external,
            is_cpu_time_known,
            is_compared_by_cpu: is_cpu_time_known && !is_timed,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times(times_us: &[u64]) -> MoveTimes {
        let mean_us = times_us.iter().sum::<u64>() as f64 / times_us.len() as f64;
        MoveTimes::new(times_us.iter().map(|&time_us| (time_bucket(time_us), 1)), mean_us)
    }

    proptest! {
        #[test]
        fn a_time_is_in_its_bucket(bits in 0u32..53, random in any::<u64>()) {
            let wall_us = random & ((1 << bits) - 1);
            let bucket = time_bucket(wall_us);
            prop_assert!(bucket_from_us(bucket) <= wall_us);
            prop_assert!(wall_us < bucket_from_us(bucket + 1));
        }

        /// Quantiles equal those of ordered times in these buckets with this mean.
        #[test]
        fn quantiles_are_those_of_times_with_the_mean(
            mut times_us in prop::collection::vec(0_u64..100_000, 1..200),
        ) {
            times_us.sort_unstable();
            let all = times_us.len();
            let times = times(&times_us);
            let shares = (1..=all).map(|rank| rank as f64 / all as f64);
            let quantiles: Vec<f64> = shares.map(|share| times.quantile_us(share)).collect();
            for (quantile, &time_us) in quantiles.iter().zip(&times_us) {
                let bucket = time_bucket(time_us);
                prop_assert!(*quantile >= bucket_from_us(bucket) as f64);
                prop_assert!(*quantile <= bucket_from_us(bucket + 1) as f64 - 1.0 + 1e-6);
            }
            prop_assert!(quantiles.is_sorted_by(|a, b| *a <= b + 1e-6));
            let mean = quantiles.iter().sum::<f64>() / all as f64;
            let exact = times_us.iter().sum::<u64>() as f64 / all as f64;
            prop_assert!((mean - exact).abs() <= 1e-6 * exact.max(1.0), "{mean} {exact}");
        }

        #[test]
        fn what_overran_took_so_long(
            times_us in prop::collection::vec(0_u64..100_000, 1..200),
            limit_us in 1_u64..100_000,
        ) {
            let Overruns { beyond_us, moves, .. } = times(&times_us).overruns(limit_us);
            let exact = times_us.iter().filter(|&&time_us| time_us >= beyond_us).count();
            prop_assert_eq!(moves, exact as u64);
            let over = beyond_us as f64 / limit_us as f64;
            prop_assert!(over >= 1.0 + OVERRUN_TOLERANCE);
            // A bucket as wide as a microsecond limits the precision.
            prop_assert!(over <= 1.2376 || beyond_us as f64 <= limit_us as f64 * 1.1 + 1.0);
        }
    }

    #[test]
    fn the_greatest_time_has_the_last_bucket() {
        assert_eq!(time_bucket(TIME_US_MAX), 407);
        assert_eq!(time_bucket(u64::MAX), 407);
        assert_eq!(bucket_from_us(u32::MAX), TIME_US_MAX + 1);
    }

    /// The middle of their bucket would be 1,087.5: less than their mean.
    #[test]
    fn nearly_equal_times_have_no_90_percent_below_their_mean() {
        let nearly_equal =
            times(&[1_139, 1_140, 1_141, 1_140, 1_140, 1_140, 1_140, 1_140, 1_140, 1_140]);
        assert!(nearly_equal.quantile_us(0.9) >= 1_140.0, "{nearly_equal:?}");
        assert!((nearly_equal.quantile_us(0.5) - 1_140.0).abs() < 2.0, "{nearly_equal:?}");
        assert_eq!(times(&[77_777]).quantile_us(0.5), 77_777.0);
        assert_eq!(MoveTimes::new([], 0.0).quantile_us(0.5), 0.0);
    }

    #[test]
    fn players_are_known_by_their_parameters() {
        let player = |json| CostedPlayer::from_json(json, true);
        let known = CostedPlayer { is_cpu_time_known: true, ..CostedPlayer::default() };
        let free = CostedPlayer { is_compared_by_cpu: true, ..known };
        let fixed = CostedPlayer { has_full_tree: true, ..free };
        let clocked = CostedPlayer { is_timed: true, ..known };
        let timed = CostedPlayer { time_limit_us: Some(4_000), ..clocked };
        assert_eq!(player(r#"{"algorithm":"minimax","depth":3}"#), fixed);
        assert_eq!(player(r#"{"algorithm":"minimax"}"#), free);
        assert_eq!(player(r#"{"algorithm":"alpha-beta","depth":3,"iterative":false}"#), fixed);
        let iterative =
            r#"{"algorithm":"alpha-beta","depth":3,"iterative":true,"move_time_us":4000}"#;
        assert_eq!(player(iterative), timed);
        assert_eq!(player(r#"{"algorithm":"genetic-minimax","depth":3}"#), fixed);
        let deepening = r#"{"algorithm":"genetic-minimax","deepen":true,"depth":3}"#;
        assert_eq!(player(deepening), free);
        let mcts = r#"{"algorithm":"mcts","move_time_us":4000}"#;
        assert_eq!(player(mcts), timed);
        assert_eq!(player(r#"{"algorithm":"mcts","clock":"60s"}"#), clocked);
        // A clock is a limit, also of an external engine, whose processor time is unknown in experiments of before.
        let fish = r#"{"algorithm":"uci","clock":"60s","engine":"fish"}"#;
        let external = CostedPlayer { is_external: true, ..known };
        let external_clocked = CostedPlayer { is_timed: true, ..external };
        assert_eq!(player(fish), external_clocked);
        let bird = r#"{"algorithm":"gtp","engine":"bird"}"#;
        assert_eq!(player(bird), CostedPlayer { is_compared_by_cpu: true, ..external });
        for (json, known) in [(fish, external_clocked), (bird, external)] {
            let unknown = CostedPlayer { is_cpu_time_known: false, ..known };
            assert_eq!(CostedPlayer::from_json(json, false), unknown);
        }
        assert_eq!(player("nothing"), CostedPlayer::default());
    }
}
