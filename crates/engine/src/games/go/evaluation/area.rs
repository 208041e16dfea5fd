//! Go's evaluation `area`.

use super::{difference, weight};
use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, weights};
use crate::games::go::Go;

/// `area`: the lead if the game were scored now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoArea {
    /// Of stones, of surrounded free points, and of half points of komi.
    weights: [i32; 3],
}

impl Default for GoArea {
    fn default() -> Self {
        Self { weights: [10, 10, 5] }
    }
}

impl GameEvaluation<Go> for GoArea {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "area",
        meaning: "The lead if the game were scored now.",
        parameters: &[
            weight("weight_stone", 10, "value of each stone"),
            weight("weight_territory", 10, "value of each free point that only one side reaches"),
            weight("weight_komi", 5, "value of each half point of komi"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Go> for GoArea {
    fn evaluate(&self, position: &Go) -> i32 {
        let [stone, territory, komi] = self.weights;
        let stones = difference(position.stones_of_both());
        let territories = difference(position.areas_of_both()) - stones;
        stone * stones + territory * territories + komi * position.komi_of_mover()
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    /// Komi stays White's where the stones are exchanged.
    fn is_antisymmetric(&self) -> bool {
        self.weights[2] == 0
    }
}
