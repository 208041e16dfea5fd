//! Tic-tac-toe's evaluations `lines` and `open-lines`, and features for formulas.

use super::{LINES, TicTacToe};
use crate::core::expression::FeatureInfo;
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::position::{Position, Side};
use crate::core::problem::KeyProblem;
use crate::evaluation::{
    Contents, Evaluate, Features, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights,
};

// Each line adds or subtracts at most one weight.
const _: () = assert!(LINES.len() as i32 <= WEIGHTS_SUMMED_MAX);

/// `lines`: every line of three cells with marks of only one player counts for that player,
/// `weight_line1` with one mark, `weight_line2` with two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicTacToeLines {
    /// Weights of a line with one and with two marks, within ±[`crate::evaluation::WEIGHT_MAX`].
    weights: [i32; 2],
}

impl Default for TicTacToeLines {
    fn default() -> Self {
        Self { weights: [1, 4] }
    }
}

impl GameEvaluation<TicTacToe> for TicTacToeLines {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "lines",
        meaning: "Lines of three that hold marks of one player only, by their number.",
        parameters: &[
            weight("weight_line1", 1, "value of a line with one mark and no opposing one"),
            weight("weight_line2", 4, "value of a line with two marks and no opposing one"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<TicTacToe> for TicTacToeLines {
    fn evaluate(&self, position: &TicTacToe) -> i32 {
        let [own, other] = position.own_and_other();
        let value = |own: u16, other: u16| -> i32 {
            let open = LINES.iter().filter(|&line| line & other == 0);
            open.map(|line| match (line & own).count_ones() {
                1 => self.weights[0],
                2 => self.weights[1],
                _ => 0,
            })
            .sum()
        };
        value(own, other) - value(other, own)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// `open-lines`: the lines of three that are open to the side to move, minus those open to the
/// other. A line is open to a side if it has no opposing mark; an empty one is open to both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TicTacToeOpenLines;

impl GameEvaluation<TicTacToe> for TicTacToeOpenLines {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "open-lines",
        meaning: "Lines of three that a player can still fill, less those that the other can.",
        parameters: &[],
    };

    fn from_settings(_: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self)
    }
}

impl Evaluate<TicTacToe> for TicTacToeOpenLines {
    fn evaluate(&self, position: &TicTacToe) -> i32 {
        let [own, other] = position.own_and_other();
        let open = |opposing: u16| LINES.iter().filter(|&line| line & opposing == 0).count() as i32;
        open(other) - open(own)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

const CENTRE: u16 = 0o020;
const CORNERS: u16 = 0o505;

impl Features for TicTacToe {
    const FEATURES: &'static [FeatureInfo] = &[
        FeatureInfo::symmetric("own_marks", "marks"),
        FeatureInfo::symmetric("opp_marks", "marks of the opponent"),
        FeatureInfo::symmetric("own_line1", "lines with one own mark only"),
        FeatureInfo::symmetric("opp_line1", "lines with one mark of the opponent only"),
        FeatureInfo::symmetric("own_line2", "lines with two own marks only"),
        FeatureInfo::symmetric("opp_line2", "lines with two marks of the opponent only"),
        FeatureInfo::symmetric("own_open_lines", "lines without a mark of the opponent"),
        FeatureInfo::symmetric("opp_open_lines", "lines without an own mark"),
        FeatureInfo::symmetric("own_centre", "1 with a mark on the centre, else 0"),
        FeatureInfo::symmetric("opp_centre", "1 with a mark of the opponent on the centre, else 0"),
        FeatureInfo::symmetric("own_corners", "marks in corners"),
        FeatureInfo::symmetric("opp_corners", "marks of the opponent in corners"),
        FeatureInfo::symmetric("empty", "free cells"),
    ];

    fn features(&self, side: Side, wanted: &[u16], values: &mut [f64]) {
        let [mover, waiting] = self.own_and_other();
        let marks = if side == self.to_move() { [mover, waiting] } else { [waiting, mover] };
        for (&feature, value) in wanted.iter().zip(values) {
            // All but the last come in pairs: own, and the opponent's.
            let (kind, owner) = (feature / 2, usize::from(feature % 2));
            let (own, other) = (marks[owner], marks[1 - owner]);
            let open = move || LINES.iter().filter(move |&line| line & other == 0);
            let with = |marks: u32| open().filter(move |&line| (line & own).count_ones() == marks);
            *value = match kind {
                0 => f64::from(own.count_ones()),
                1 => with(1).count() as f64,
                2 => with(2).count() as f64,
                3 => open().count() as f64,
                4 => f64::from((own & CENTRE).count_ones()),
                5 => f64::from((own & CORNERS).count_ones()),
                _ => f64::from(LINES.len() as u32 + 1 - (own | other).count_ones()),
            };
        }
    }
}
