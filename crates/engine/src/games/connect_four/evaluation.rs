//! Connect Four's evaluation `lines`, and features for formulas.

use super::{CELLS, COLUMN_BITS, COLUMNS, ConnectFour, ROWS, fours};
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::evaluation::{
    Contents, Evaluate, Features, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights,
};

// Each line adds or subtracts at most one weight.
const _: () = assert!(fours::LINES as i32 <= WEIGHTS_SUMMED_MAX);

/// `lines`: every line of four cells with discs of only one player counts for that player by their
/// number, `weight_line1` for one disc to `weight_line3` for three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectFourLines {
    /// Weights of a line with one to three discs, within ±[`crate::evaluation::WEIGHT_MAX`].
    weights: [i32; 3],
}

impl Default for ConnectFourLines {
    fn default() -> Self {
        Self { weights: [1, 4, 16] }
    }
}

impl GameEvaluation<ConnectFour> for ConnectFourLines {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "lines",
        meaning: "Lines of four that hold discs of one player only, by their number.",
        parameters: &[
            weight("weight_line1", 1, "value of a line with one disc and no opposing one"),
            weight("weight_line2", 4, "value of a line with two discs and no opposing one"),
            weight("weight_line3", 16, "value of a line with three discs and no opposing one"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<ConnectFour> for ConnectFourLines {
    #[inline]
    fn evaluate(&self, position: &ConnectFour) -> i32 {
        let [own, other] = fours::count_open([position.own(), position.other()]);
        (0..3).map(|discs| self.weights[discs] * (own[discs] as i32 - other[discs] as i32)).sum()
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// The middle column.
const MIDDLE: u64 = ((1 << ROWS) - 1) << (COLUMN_BITS * (COLUMNS / 2));

impl Features for ConnectFour {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_discs", "discs"),
        FeatureInfo::symmetric("opp_discs", "discs of the opponent"),
        FeatureInfo::symmetric("own_line1", "lines of four with one own disc only"),
        FeatureInfo::symmetric("opp_line1", "lines of four with one disc of the opponent only"),
        FeatureInfo::symmetric("own_line2", "lines of four with two own discs only"),
        FeatureInfo::symmetric("opp_line2", "lines of four with two discs of the opponent only"),
        FeatureInfo::symmetric("own_line3", "lines of four with three own discs only"),
        FeatureInfo::symmetric("opp_line3", "lines of four with three discs of the opponent only"),
        FeatureInfo::symmetric("own_fours", "free cells on which a disc makes four"),
        FeatureInfo::symmetric(
            "opp_fours",
            "free cells on which a disc of the opponent makes four",
        ),
        FeatureInfo::symmetric("own_middle", "discs in the middle column"),
        FeatureInfo::symmetric("opp_middle", "discs of the opponent in the middle column"),
        FeatureInfo::symmetric("empty", "free cells"),
    ];

    #[inline]
    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let boards = match side == self.to_move() {
            true => [self.own(), self.other()],
            false => [self.other(), self.own()],
        };
        let taken = boards[0] | boards[1];
        let mut open = None;
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last come in pairs: own, and the opponent's.
            let (kind, owner) = (usize::from(feature / 2), usize::from(feature % 2));
            *value = f64::from(match kind {
                0 => boards[owner].count_ones(),
                1..=3 => open.get_or_insert_with(|| fours::count_open(boards))[owner][kind - 1],
                4 => (fours::completing(boards[owner]) & !taken).count_ones(),
                5 => (boards[owner] & MIDDLE).count_ones(),
                _ => CELLS - self.discs(),
            });
        }
    }
}
