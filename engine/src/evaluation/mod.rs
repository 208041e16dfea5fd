//! Static evaluations: as data, chosen by a player's parameters, and as types that a search is
//! compiled for.
//!
//! Every evaluation is an integer for the side to move, antisymmetric (with the colours swapped it
//! is negated) and strictly between `-WIN_MIN` and `WIN_MIN` for all weights in their range.

mod pentago;
mod tictactoe;

use crate::parameters::{
    AlgorithmInfo, EvaluationInfo, ParameterError, ParameterInfo, Parameters, Settings, shared,
};
use crate::position::Position;
use crate::rules::Rules;
use crate::search::{Evaluate, WIN_MIN};

pub use pentago::{PentagoLines, PentagoRuns};
pub use tictactoe::TicTacToeLines;

/// A weight's greatest size. Every evaluation is a sum over lines, each of which adds or takes
/// one weight at most, and over four centres: Pentago has 32 lines of five, and 26 rows, columns
/// and diagonals that can hold a run of three, one of either colour.
pub const WEIGHT_MAX: i32 = 10_000;

const _: () = assert!(32 * WEIGHT_MAX < WIN_MIN && (26 + 4) * WEIGHT_MAX < WIN_MIN);

/// An evaluation with its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluation {
    /// `none`: every position is even. Every game has it.
    None(NoEvaluation),
    /// Pentago's `runs`.
    PentagoRuns(PentagoRuns),
    /// Pentago's `lines`.
    PentagoLines(PentagoLines),
    /// Tic-tac-toe's `lines`.
    TicTacToeLines(TicTacToeLines),
}

/// What is done with an evaluation once its type is known.
pub trait EvaluationVisitor<P: Position> {
    /// What comes of it.
    type Output;

    /// Called with the evaluation.
    fn visit<E: Evaluate<P> + Copy + 'static>(self, evaluation: E) -> Self::Output;
}

/// Values every position 0, so that a search sees wins, draws and losses only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoEvaluation;

impl NoEvaluation {
    /// The evaluation as a parameter.
    pub const INFO: EvaluationInfo =
        EvaluationInfo { name: "none", meaning: "Every position is even.", weights: &[] };
}

impl<P: Position> Evaluate<P> for NoEvaluation {
    #[inline]
    fn evaluate(&self, _position: &P) -> i32 {
        0
    }
}

impl Evaluation {
    /// A game's evaluation with its default weights; `None` if the game has none of this name.
    #[must_use]
    pub fn with_defaults(rules: &Rules, name: &str) -> Option<Self> {
        match (rules, name) {
            (_, "none") => Some(Self::None(NoEvaluation)),
            (Rules::Pentago { .. }, "runs") => Some(Self::PentagoRuns(PentagoRuns::default())),
            (Rules::Pentago { .. }, "lines") => Some(Self::PentagoLines(PentagoLines::default())),
            (Rules::TicTacToe {}, "lines") => Some(Self::TicTacToeLines(TicTacToeLines::default())),
            _ => None,
        }
    }

    /// Reads `evaluation` and its weights alone, as a player's parameters have them.
    ///
    /// # Errors
    /// If the game lacks the evaluation, a weight is no integer within ±[`WEIGHT_MAX`], or a key
    /// is neither.
    pub fn from_parameters(rules: &Rules, given: &Parameters) -> Result<Self, ParameterError> {
        const ALONE: AlgorithmInfo = AlgorithmInfo {
            name: "evaluation",
            parameters: &[shared::EVALUATION],
            presets: &[],
            bounded_by: &[],
        };
        let settings = Settings::read(&ALONE, rules.name(), rules.evaluations(), given)?;
        Ok(Self::from_settings(rules, &settings))
    }

    /// Reads `evaluation` and its weights from settings that were read for this game.
    pub(crate) fn from_settings(rules: &Rules, settings: &Settings) -> Self {
        let name = settings.word("evaluation");
        let Some(mut evaluation) = Self::with_defaults(rules, name) else {
            unreachable!("{} declares the evaluation {name}", rules.name())
        };
        let infos = evaluation.info().weights;
        for (weight, info) in evaluation.weights_mut().iter_mut().zip(infos) {
            // The tables' ranges are far inside those of an i32.
            *weight = i32::try_from(settings.integer(info.name)).unwrap_or(WEIGHT_MAX);
        }
        evaluation
    }

    /// Its name and its weights as parameters.
    #[must_use]
    pub const fn info(&self) -> &'static EvaluationInfo {
        match self {
            Self::None(_) => &NoEvaluation::INFO,
            Self::PentagoRuns(_) => &PentagoRuns::INFO,
            Self::PentagoLines(_) => &PentagoLines::INFO,
            Self::TicTacToeLines(_) => &TicTacToeLines::INFO,
        }
    }

    /// The weights, in the order of [`Evaluation::info`].
    #[must_use]
    pub fn weights(&self) -> &[i32] {
        match self {
            Self::None(_) => &[],
            Self::PentagoRuns(runs) => &runs.weights,
            Self::PentagoLines(lines) => &lines.weights,
            Self::TicTacToeLines(lines) => &lines.weights,
        }
    }

    fn weights_mut(&mut self) -> &mut [i32] {
        match self {
            Self::None(_) => &mut [],
            Self::PentagoRuns(runs) => &mut runs.weights,
            Self::PentagoLines(lines) => &mut lines.weights,
            Self::TicTacToeLines(lines) => &mut lines.weights,
        }
    }
}

/// A weight as a parameter.
const fn weight(name: &'static str, default: i32, meaning: &'static str) -> ParameterInfo {
    let max = WEIGHT_MAX as i64;
    ParameterInfo::integer(name, -max..=max, default as i64, meaning)
}
