//! Clobber's evaluation `mobility`, and features for formulas.

use super::Clobber;
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, ParameterInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::core::score::WIN_MIN;
use crate::evaluation::{Contents, Evaluate, Features, GameEvaluation, weights};
use crate::games::rectangle::ROW_BITS;

/// The greatest size of a weight here: more of them are summed than elsewhere.
const WEIGHT_MAX: i32 = 5_000;

// A side has at most 50 stones, each of which adds at most three weights.
const _: () = assert!(3 * 50 * WEIGHT_MAX < WIN_MIN);

/// `mobility`: the lead in stones that can move, and in stones that cannot be reached or may be in time. Both
/// sides always have the same number of moves (Albert, Grossman, Nowakowski & Wolfe 2005), so that moves
/// themselves say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClobberMobility {
    /// Of stones that can move, of stones with none beside them, and of all.
    weights: [i32; 3],
}

impl Default for ClobberMobility {
    fn default() -> Self {
        Self { weights: [4, -1, 0] }
    }
}

impl GameEvaluation<Clobber> for ClobberMobility {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "mobility",
        meaning: "Stones that can move, and stones that are stranded.",
        parameters: &[
            weight("weight_movable", 4, "value of a stone that can move"),
            weight("weight_stranded", -1, "value of a stone without any beside it"),
            weight("weight_stone", 0, "value of each stone"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Clobber> for ClobberMobility {
    #[inline]
    fn evaluate(&self, position: &Clobber) -> i32 {
        let Clobber { own, other, .. } = *position;
        let terms = |own, other| {
            [movable(own, other), stranded(own, other), own]
                .map(|stones| stones.count_ones() as i32)
        };
        let leads = terms(own, other).into_iter().zip(terms(other, own));
        leads.zip(self.weights).map(|((own, other), weight)| weight * (own - other)).sum()
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

const fn weight(name: &'static str, default: i32, meaning: &'static str) -> ParameterInfo {
    let max = WEIGHT_MAX as i64;
    ParameterInfo::integer(name, -max..=max, default as i64, meaning)
}

/// The cells beside these.
#[inline]
const fn beside(cells: u128) -> u128 {
    cells << 1 | cells >> 1 | cells << ROW_BITS | cells >> ROW_BITS
}

/// The stones of a side that can move.
#[inline]
const fn movable(own: u128, other: u128) -> u128 {
    own & beside(other)
}

/// The stones of a side without any stone beside them.
#[inline]
const fn stranded(own: u128, other: u128) -> u128 {
    own & !beside(own | other)
}

impl Features for Clobber {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_stones", "stones"),
        FeatureInfo::symmetric("opp_stones", "stones of the opponent"),
        FeatureInfo::symmetric("own_movable", "stones that can move"),
        FeatureInfo::symmetric("opp_movable", "stones of the opponent that can move"),
        FeatureInfo::symmetric("own_stranded", "stones without any stone beside them"),
        FeatureInfo::symmetric("opp_stranded", "stones of the opponent without any beside them"),
        FeatureInfo::symmetric("moves", "moves, of which both sides have the same number"),
        FeatureInfo::symmetric("empty", "empty cells"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last two come in pairs: own, and the opponent's.
            let owner = if feature % 2 == 0 { side } else { side.other() };
            let (own, other) = match owner == self.to_move() {
                true => (self.own, self.other),
                false => (self.other, self.own),
            };
            *value = f64::from(match feature {
                0 | 1 => own.count_ones(),
                2 | 3 => movable(own, other).count_ones(),
                4 | 5 => stranded(own, other).count_ones(),
                6 => self.legal_move_count(),
                _ => self.grid().cells() - (own | other).count_ones(),
            });
        }
    }
}
