//! Othello's evaluation `discs`.

use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights};
use crate::games::othello::{Othello, SQUARES};

const _: () = assert!(SQUARES as i32 <= WEIGHTS_SUMMED_MAX);

/// `discs`: the disc lead of the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OthelloDiscs {
    weight: i32,
}

impl Default for OthelloDiscs {
    fn default() -> Self {
        Self { weight: 1 }
    }
}

impl GameEvaluation<Othello> for OthelloDiscs {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "discs",
        meaning: "The difference in discs.",
        parameters: &[weight("weight_disc", 1, "value of each disc")],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        let [weight] = weights(settings, &Self::INFO);
        Ok(Self { weight })
    }
}

impl Evaluate<Othello> for OthelloDiscs {
    #[inline]
    fn evaluate(&self, position: &Othello) -> i32 {
        self.weight * (position.own_discs() as i32 - position.other_discs() as i32)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}
