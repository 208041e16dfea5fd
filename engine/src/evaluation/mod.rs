//! Static evaluations: as data, chosen by a player's parameters, and as types that a search is
//! compiled for.
//!
//! Every evaluation is an integer for the side to move, antisymmetric (with the colours swapped it
//! is negated) and strictly between `-WIN_MIN` and `WIN_MIN` for all weights in their range.

mod pentago;
mod tictactoe;

use crate::parameters::{ParameterError, ParameterInfo, Parameters, Value};
use crate::position::{Game, Position};
use crate::rules::Rules;
use crate::search::Evaluate;
use crate::with_game;

pub use pentago::{PentagoLines, PentagoRuns};
pub use tictactoe::TicTacToeLines;

/// A weight's greatest size: no evaluation comes near [`crate::search::WIN_MIN`] with it.
pub const WEIGHT_MAX: i32 = 10_000;

/// The parameter that chooses the evaluation.
pub const EVALUATION_PARAMETER: ParameterInfo = ParameterInfo {
    name: "evaluation",
    kind: "`runs`, `lines` or `none`",
    default: "the game's first: `runs` for Pentago, `lines` for tic-tac-toe, `none` for Nim",
    meaning: "how a search values a position that is not over",
};

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

impl<P: Position> Evaluate<P> for NoEvaluation {
    #[inline]
    fn evaluate(&self, _position: &P) -> i32 {
        0
    }
}

impl Evaluation {
    /// The evaluations of a game, by the names a sweep uses, the default first.
    #[must_use]
    pub fn names(rules: &Rules) -> &'static [&'static str] {
        with_game!(rules, P => P::EVALUATIONS)
    }

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

    /// Reads `evaluation` and its weights from a player's parameters. What is not given gets its
    /// default; keys that are no weights of this evaluation are left to the caller, who knows them
    /// by [`Evaluation::parameters`].
    ///
    /// # Errors
    /// If the game lacks the evaluation, or a weight is no integer within ±[`WEIGHT_MAX`].
    pub fn from_parameters(rules: &Rules, given: &Parameters) -> Result<Self, ParameterError> {
        let names = Self::names(rules);
        let error = |problem: String| ParameterError {
            key: Some(EVALUATION_PARAMETER.name.to_owned()),
            problem,
            remedy: format!("the evaluations of {} are {}", rules.name(), names.join(", ")),
        };
        let name = match given.get(EVALUATION_PARAMETER.name) {
            None => names[0],
            Some(Value::Text(name)) => name,
            Some(Value::Bool(_) | Value::Integer(_) | Value::Number(_)) => {
                return Err(error("`evaluation` is not a name".to_owned()));
            }
        };
        let mut evaluation = Self::with_defaults(rules, name)
            .ok_or_else(|| error(format!("{} has no evaluation `{name}`", rules.name())))?;
        let parameters = evaluation.parameters();
        for (weight, info) in evaluation.weights_mut().iter_mut().zip(parameters) {
            if let Some(value) = given.get(info.name) {
                *weight = read_weight(info.name, value)?;
            }
        }
        Ok(evaluation)
    }

    /// Adds `evaluation` and every weight: what [`Evaluation::from_parameters`] reads back.
    pub fn write_to(&self, parameters: &mut Parameters) {
        let name = Value::Text(self.name().to_owned());
        parameters.insert(EVALUATION_PARAMETER.name.to_owned(), name);
        for (weight, info) in self.weights().iter().zip(self.parameters()) {
            parameters.insert(info.name.to_owned(), Value::Integer(i64::from(*weight)));
        }
    }

    /// The name a sweep uses.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None(_) => "none",
            Self::PentagoRuns(_) => "runs",
            Self::PentagoLines(_) | Self::TicTacToeLines(_) => "lines",
        }
    }

    /// The evaluation's weights as parameters.
    #[must_use]
    pub const fn parameters(&self) -> &'static [ParameterInfo] {
        match self {
            Self::None(_) => &[],
            Self::PentagoRuns(_) => PentagoRuns::PARAMETERS,
            Self::PentagoLines(_) => PentagoLines::PARAMETERS,
            Self::TicTacToeLines(_) => TicTacToeLines::PARAMETERS,
        }
    }

    /// The weights, in the order of [`Evaluation::parameters`].
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

fn read_weight(name: &str, value: &Value) -> Result<i32, ParameterError> {
    let weight = match value {
        Value::Integer(weight) => i32::try_from(*weight).ok(),
        Value::Bool(_) | Value::Number(_) | Value::Text(_) => None,
    };
    weight.filter(|weight| (-WEIGHT_MAX..=WEIGHT_MAX).contains(weight)).ok_or_else(|| {
        ParameterError {
            key: Some(name.to_owned()),
            problem: format!("`{name}` is no weight"),
            remedy: format!("give an integer from -{WEIGHT_MAX} to {WEIGHT_MAX}"),
        }
    })
}
