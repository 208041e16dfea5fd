//! The evaluation `lines` of m,n,k games, and features for formulas.

use super::Mnk;
use super::lines::LACKING_MAX;
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::core::score::WIN_MIN;
use crate::evaluation::{Contents, Evaluate, Features, GameEvaluation, weight, weights};

/// `lines`: every line of k cells with stones of only one player counts for that player by the stones that it lacks:
/// `weight_lacking1` for one to `weight_lacking4` for four. The sum is cut off just below a win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MnkLines {
    /// Weights of a line that lacks one to four stones.
    weights: [i32; LACKING_MAX],
}

impl Default for MnkLines {
    fn default() -> Self {
        Self { weights: [1_000, 100, 10, 1] }
    }
}

impl GameEvaluation<Mnk> for MnkLines {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "lines",
        meaning: "Lines that hold stones of one player only, by the number of stones that they lack.",
        parameters: &[
            weight(
                "weight_lacking1",
                1_000,
                "value of a line that lacks one stone and has no opposing one",
            ),
            weight(
                "weight_lacking2",
                100,
                "value of a line that lacks two stones and has no opposing one",
            ),
            weight(
                "weight_lacking3",
                10,
                "value of a line that lacks three stones and has no opposing one",
            ),
            weight(
                "weight_lacking4",
                1,
                "value of a line that lacks four stones and has no opposing one",
            ),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Mnk> for MnkLines {
    #[inline]
    fn evaluate(&self, position: &Mnk) -> i32 {
        let counts = position.count_open();
        let mover = position.to_move().index();
        let (own, other) = (counts[mover], counts[1 - mover]);
        let values = (0..LACKING_MAX)
            .map(|lacking| self.weights[lacking] * (own[lacking] as i32 - other[lacking] as i32));
        values.sum::<i32>().clamp(1 - WIN_MIN, WIN_MIN - 1)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

impl Features for Mnk {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_stones", "stones"),
        FeatureInfo::symmetric("opp_stones", "stones of the opponent"),
        FeatureInfo::symmetric("own_lacking1", "lines with own stones only that lack one"),
        FeatureInfo::symmetric(
            "opp_lacking1",
            "lines with the opponent's stones only that lack one",
        ),
        FeatureInfo::symmetric("own_lacking2", "lines with own stones only that lack two"),
        FeatureInfo::symmetric(
            "opp_lacking2",
            "lines with the opponent's stones only that lack two",
        ),
        FeatureInfo::symmetric("own_lacking3", "lines with own stones only that lack three"),
        FeatureInfo::symmetric(
            "opp_lacking3",
            "lines with the opponent's stones only that lack three",
        ),
        FeatureInfo::symmetric("own_lacking4", "lines with own stones only that lack four"),
        FeatureInfo::symmetric(
            "opp_lacking4",
            "lines with the opponent's stones only that lack four",
        ),
        FeatureInfo::symmetric("own_wins", "free cells on which a stone wins"),
        FeatureInfo::symmetric("opp_wins", "free cells on which a stone of the opponent wins"),
        FeatureInfo::symmetric("empty", "free cells"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let sides = [side, side.other()];
        let mut open = None;
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last come in pairs: own, and the opponent's.
            let (kind, side) = (usize::from(feature / 2), sides[usize::from(feature % 2)]);
            *value = f64::from(match kind {
                0 => self.stones[side.index()].len(),
                1..=LACKING_MAX => {
                    open.get_or_insert_with(|| self.count_open())[side.index()][kind - 1]
                }
                5 => self.winning_cells(side).len(),
                _ => self.empty_cells(),
            });
        }
    }
}
