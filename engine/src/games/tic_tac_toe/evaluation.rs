//! Tic-tac-toe's evaluations `lines` and `open-lines`.

use super::{LINES, TicTacToe};
use crate::evaluation::{Contents, Evaluate, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights};
use crate::parameters::{EvaluationInfo, ParameterError, Settings};

// Each line adds or takes one weight at most.
const _: () = assert!(LINES.len() as i32 <= WEIGHTS_SUMMED_MAX);

/// `lines`: every line of three cells that holds marks of one player only counts for that player,
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

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, ParameterError> {
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

/// `open-lines`: the lines of three that are still open to the side to move, less those open to the
/// other. A line is open to who has no opposing mark on it, an empty one to both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TicTacToeOpenLines;

impl GameEvaluation<TicTacToe> for TicTacToeOpenLines {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "open-lines",
        meaning: "Lines of three that a player can still fill, less those that the other can.",
        parameters: &[],
    };

    fn from_settings(_: &Settings, _: &dyn Contents) -> Result<Self, ParameterError> {
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
