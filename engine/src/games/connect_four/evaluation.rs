//! Connect Four's evaluation `lines`.

use super::{ConnectFour, fours};
use crate::evaluation::{Contents, Evaluate, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights};
use crate::parameters::{EvaluationInfo, ParameterError, Settings};

// Each line adds or takes one weight at most.
const _: () = assert!(fours::LINES as i32 <= WEIGHTS_SUMMED_MAX);

/// `lines`: every line of four cells that holds discs of one player only counts for that player by
/// their number, `weight_line1` for one disc to `weight_line3` for three.
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

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, ParameterError> {
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
