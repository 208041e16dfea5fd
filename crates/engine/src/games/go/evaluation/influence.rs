//! Go's evaluation `influence`.

use super::{difference, weight};
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, weights};
use crate::games::go::Go;

/// `influence`: the lead in points that are nearer to a side's stones (Voronoi regions by steps over free
/// points, a simple form of the influence of Zobrist 1969, "A model of visual organization for the game of
/// Go"), in liberties, and in stones that can be captured at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoInfluence {
    /// Of nearer points with the stones, of liberties, of stones in atari, and of half points of komi.
    weights: [i32; 4],
}

impl Default for GoInfluence {
    fn default() -> Self {
        Self { weights: [10, 2, -8, 5] }
    }
}

impl GameEvaluation<Go> for GoInfluence {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "influence",
        meaning: "Stones and the points nearer to them than to the other side's, liberties, and stones in atari.",
        parameters: &[
            weight("weight_point", 10, "value of each stone and each free point nearer to a side"),
            weight("weight_liberty", 2, "value of each free point beside a side's stones"),
            weight("weight_atari", -8, "value of each stone in a group with a single liberty"),
            weight("weight_komi", 5, "value of each half point of komi"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Go> for GoInfluence {
    fn evaluate(&self, position: &Go) -> i32 {
        let [point, liberty, atari, komi] = self.weights;
        point * difference(position.influence_of_both())
            + liberty * difference(position.liberties_of_both())
            + atari * difference(position.in_atari_of_both())
            + komi * position.komi_of_mover()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    /// Komi stays White's where the stones are exchanged.
    fn is_antisymmetric(&self) -> bool {
        self.weights[3] == 0
    }
}
