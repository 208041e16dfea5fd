//! Othello's evaluation `mobility`.

use crate::core::parameters::{EvaluationInfo, ParameterInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::core::score::WIN_MIN;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, weights};
use crate::games::othello::{Othello, SQUARES};

/// The greatest size of a weight here: more of them are summed than elsewhere.
const WEIGHT_MAX: i32 = 5_000;

// Each empty square adds at most a move and a potential move; four corners and their twelve neighbours one
// weight each.
const _: () = assert!((2 * (SQUARES as i32 - 4) + 16) * WEIGHT_MAX < WIN_MIN);

/// `mobility`: the lead in moves, potential moves and corners (terms that the program of Rosenbloom
/// 1982, "A world-championship-level Othello program", also weighs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OthelloMobility {
    /// Of moves, of empty squares beside the other side's discs, of corners, and of discs beside empty
    /// corners on the diagonal and on the edge.
    weights: [i32; 5],
}

impl Default for OthelloMobility {
    fn default() -> Self {
        Self { weights: [8, 4, 80, -30, -10] }
    }
}

impl GameEvaluation<Othello> for OthelloMobility {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "mobility",
        meaning: "Moves, moves to come, corners, and discs that give corners away.",
        parameters: &[
            weight("weight_move", 8, "value of each move there is"),
            weight(
                "weight_potential",
                4,
                "value of each empty square beside discs of the other side",
            ),
            weight("weight_corner", 80, "value of a disc on a corner"),
            weight(
                "weight_x",
                -30,
                "value of a disc beside an empty corner on the diagonal, as b2",
            ),
            weight("weight_c", -10, "value of a disc beside an empty corner on the edge, as b1"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Othello> for OthelloMobility {
    #[inline]
    fn evaluate(&self, position: &Othello) -> i32 {
        let differences = [
            [position.own_moves(), position.other_moves()],
            position.frontiers(),
            position.corners(),
            position.beside_empty_corners_on_diagonals(),
            position.beside_empty_corners_on_edges(),
        ];
        let weighed = differences.into_iter().zip(self.weights);
        weighed.map(|([own, other], weight)| weight * (own as i32 - other as i32)).sum()
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

const fn weight(name: &'static str, default: i32, meaning: &'static str) -> ParameterInfo {
    let max = WEIGHT_MAX as i64;
    ParameterInfo::integer(name, -max..=max, default as i64, meaning)
}
