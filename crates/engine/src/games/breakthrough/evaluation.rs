//! Breakthrough's evaluation `pieces`, and features for formulas.

use super::Breakthrough;
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, ParameterInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::core::score::WIN_MIN;
use crate::evaluation::{Contents, Evaluate, Features, GameEvaluation, weights};

/// The greatest size of a weight here: more of them are summed than elsewhere.
const WEIGHT_MAX: i32 = 5_000;

// At most 16 pawns lead, six rows each, and as many of them guard each other; the foremost leads by six.
const _: () = assert!((16 + 16 * 6 + 16 + 6) * WEIGHT_MAX < WIN_MIN);

/// `pieces`: the lead in pawns, in the rows that they have advanced, in guarded pawns and in the race of the
/// foremost pawns (terms of Lorentz & Horey 2013, "Programming Breakthrough").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakthroughPieces {
    /// Of pawns, rows, guarded pawns, and the foremost pawn's rows.
    weights: [i32; 4],
}

impl Default for BreakthroughPieces {
    fn default() -> Self {
        Self { weights: [20, 2, 3, 2] }
    }
}

impl GameEvaluation<Breakthrough> for BreakthroughPieces {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "pieces",
        meaning: "Pawns, how far they have advanced, and how many of them are guarded.",
        parameters: &[
            weight("weight_pawn", 20, "value of each pawn"),
            weight("weight_advance", 2, "value of each row that a pawn has advanced"),
            weight("weight_guarded", 3, "value of a pawn that another could recapture"),
            weight("weight_foremost", 2, "value of each row that the foremost pawn has advanced"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Breakthrough> for BreakthroughPieces {
    #[inline]
    fn evaluate(&self, position: &Breakthrough) -> i32 {
        let mover = position.to_move();
        let terms = |pawns: u64, side| {
            [
                pawns.count_ones(),
                position.rows_advanced(pawns, side),
                position.guarded(pawns, side),
                position.foremost(pawns, side),
            ]
        };
        let own = terms(position.own, mover);
        let other = terms(position.other, mover.other());
        let leads = own.into_iter().zip(other).map(|(own, other)| own as i32 - other as i32);
        leads.zip(self.weights).map(|(lead, weight)| lead * weight).sum()
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

const fn weight(name: &'static str, default: i32, meaning: &'static str) -> ParameterInfo {
    let max = WEIGHT_MAX as i64;
    ParameterInfo::integer(name, -max..=max, default as i64, meaning)
}

impl Features for Breakthrough {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_pawns", "pawns"),
        FeatureInfo::symmetric("opp_pawns", "pawns of the opponent"),
        FeatureInfo::symmetric("own_advance", "rows that pawns have advanced, in total"),
        FeatureInfo::symmetric("opp_advance", "rows that the opponent's have advanced"),
        FeatureInfo::symmetric("own_foremost", "rows that the foremost pawn has advanced"),
        FeatureInfo::symmetric("opp_foremost", "rows that the opponent's has advanced"),
        FeatureInfo::symmetric("own_guarded", "pawns that others could recapture"),
        FeatureInfo::symmetric("opp_guarded", "pawns that others of the opponent could recapture"),
        FeatureInfo::symmetric("own_moves", "moves, if it is the turn"),
        FeatureInfo::symmetric("opp_moves", "moves of the opponent, if it is its turn"),
        FeatureInfo::symmetric("own_captures", "captures among the moves"),
        FeatureInfo::symmetric("opp_captures", "captures among the opponent's moves"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        for (&feature, value) in wanted.iter().zip(values) {
            // They come in pairs: own, and the opponent's.
            let owner = if feature % 2 == 0 { side } else { side.other() };
            let (pawns, others) = match owner == self.to_move() {
                true => (self.own, self.other),
                false => (self.other, self.own),
            };
            let movers = || self.movers(pawns, others, owner);
            let count = |movers: [u64; 3]| movers.into_iter().map(u64::count_ones).sum();
            *value = f64::from(match feature / 2 {
                0 => pawns.count_ones(),
                1 => self.rows_advanced(pawns, owner),
                2 => self.foremost(pawns, owner),
                3 => self.guarded(pawns, owner),
                4 => count(movers()),
                _ => count(self.capturing(movers(), others, owner)),
            });
        }
    }
}
