//! Othello's evaluation `squares`.

use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights};
use crate::games::othello::{Othello, SQUARES, SquareClass};

// Each square adds or subtracts at most one weight.
const _: () = assert!(SQUARES as i32 <= WEIGHTS_SUMMED_MAX);

/// `squares`: each disc counts for its side by its square. The default weights are those of Norvig 1992,
/// *Paradigms of Artificial Intelligence Programming*, chapter 18.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OthelloSquares {
    /// By class, from a to j, within ±[`crate::evaluation::WEIGHT_MAX`].
    weights: [i32; 10],
}

impl Default for OthelloSquares {
    fn default() -> Self {
        Self { weights: [120, -20, 20, 5, -40, -5, -5, 15, 3, 3] }
    }
}

impl GameEvaluation<Othello> for OthelloSquares {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "squares",
        meaning: "Discs by the squares on which they lie, in ten classes under the board's symmetries.",
        parameters: &[
            weight("weight_a", 120, "value of a disc on a corner, as a1"),
            weight("weight_b", -20, "value of one beside a corner on the edge, as b1"),
            weight("weight_c", 20, "value of one on c1 and its like"),
            weight("weight_d", 5, "value of one on d1 and its like"),
            weight("weight_e", -40, "value of one beside a corner on the diagonal, as b2"),
            weight("weight_f", -5, "value of one on c2 and its like"),
            weight("weight_g", -5, "value of one on d2 and its like"),
            weight("weight_h", 15, "value of one on c3 and its like"),
            weight("weight_i", 3, "value of one on d3 and its like"),
            weight("weight_j", 3, "value of one in the middle, as d4"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Othello> for OthelloSquares {
    #[inline]
    fn evaluate(&self, position: &Othello) -> i32 {
        let of_class = |(class, weight): (SquareClass, i32)| {
            let [own, other] = [position.own_discs_on(class), position.other_discs_on(class)];
            weight * (own as i32 - other as i32)
        };
        SquareClass::ALL.into_iter().zip(self.weights).map(of_class).sum()
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
