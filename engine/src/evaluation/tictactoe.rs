//! Tic-tac-toe's evaluation.

use super::weight;
use crate::games::{TIC_TAC_TOE_LINES, TicTacToe};
use crate::parameters::EvaluationInfo;
use crate::search::Evaluate;

/// `lines`: every line of three cells that holds marks of one player only counts for that player,
/// `weight_line1` with one mark, `weight_line2` with two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicTacToeLines {
    /// Weights of a line with one and with two marks, within ±[`super::WEIGHT_MAX`].
    pub(super) weights: [i32; 2],
}

impl TicTacToeLines {
    /// The evaluation as a parameter.
    pub const INFO: EvaluationInfo = EvaluationInfo {
        name: "lines",
        meaning: "Lines of three that hold marks of one player only, by their number.",
        weights: &[
            weight("weight_line1", 1, "value of a line with one mark and no opposing one"),
            weight("weight_line2", 4, "value of a line with two marks and no opposing one"),
        ],
    };
}

impl Default for TicTacToeLines {
    fn default() -> Self {
        Self { weights: [1, 4] }
    }
}

impl Evaluate<TicTacToe> for TicTacToeLines {
    fn evaluate(&self, position: &TicTacToe) -> i32 {
        let [own, other] = position.own_and_other();
        let value = |own: u16, other: u16| -> i32 {
            let open = TIC_TAC_TOE_LINES.iter().filter(|&line| line & other == 0);
            open.map(|line| match (line & own).count_ones() {
                1 => self.weights[0],
                2 => self.weights[1],
                _ => 0,
            })
            .sum()
        };
        value(own, other) - value(other, own)
    }
}
