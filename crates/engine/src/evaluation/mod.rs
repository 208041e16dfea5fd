//! Static evaluations: types for which searches are compiled, made from a player's parameters.
//!
//! Every evaluation is an integer for the side to move, strictly between `-WIN_MIN` and `WIN_MIN` for all
//! parameters in their ranges, and antisymmetric (negated when the sides are swapped) unless
//! [`Evaluate::is_antisymmetric`] is false. A game's own evaluations are in its folder.

mod expression;
mod scale;

pub use expression::{ExpressionEvaluation, Features, View};
pub use scale::score;

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::core::parameters::{EvaluationInfo, ParameterInfo, Settings};
use crate::core::position::Position;
use crate::core::problem::{KeyProblem, Problem};
use crate::core::score::WIN_MIN;

/// A static evaluation of positions that are not over.
pub trait Evaluate<P>: Send {
    /// The value for the side to move, strictly between `-WIN_MIN` and `WIN_MIN`.
    fn evaluate(&self, position: &P) -> i32;

    /// Whether positions that the game's symmetries map to each other have the same value. Only
    /// then does a search treat them as one.
    fn is_symmetric(&self) -> bool;

    /// Whether exchanging everything between the sides except the turn negates the value, so that exchanging
    /// the turn as well restores it.
    ///
    /// No search depends on it. Each compares values of positions with the same side to move, negated for the
    /// other side; where two depths are compared, as in a pass or in quiescence, the turn has a value anyway.
    /// People expect it of an evaluation, and testing it finds mistakes.
    fn is_antisymmetric(&self) -> bool {
        true
    }

    /// The best value of a move for the mover, all moves of `position` evaluated together and
    /// counted as nodes: exact below `beta`, else at least `beta`. Only for positions without a
    /// move that wins at once; `None` if the evaluation or the game has no tables for it.
    fn last_ply(
        &self,
        _position: &P,
        _last_ply: LastPly,
        _budget: &mut Budget<'_>,
    ) -> Option<Result<i32, Stop>> {
        None
    }
}

/// The arguments of [`Evaluate::last_ply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPly {
    /// The value of a move that loses at once.
    pub lost: i32,
    /// The value of a move after which the opponent wins at once; `None` if that is beyond the
    /// depth, and such a move has its static value.
    pub lost_to_reply: Option<i32>,
    /// A value that suffices for a cut-off.
    pub beta: i32,
}

/// An evaluation that searches are compiled for: it is made once for each player and cloned for each of the
/// player's games. Large data (a network's weights) is behind an [`Arc`].
pub trait Evaluation<P>: Evaluate<P> + Clone + Sync + 'static {}

impl<P, E: Evaluate<P> + Clone + Sync + 'static> Evaluation<P> for E {}

/// An evaluation that a game offers to its players.
pub trait GameEvaluation<P: Position>: Evaluation<P> {
    /// Its name, meaning and parameters.
    const INFO: EvaluationInfo;

    /// Makes it from a player's parameters, which match [`GameEvaluation::INFO`] in names, kinds
    /// and ranges.
    ///
    /// # Errors
    /// If this evaluation cannot read a text or a nested value, or the content for a hash is missing.
    fn from_settings(settings: &Settings, contents: &dyn Contents) -> Result<Self, KeyProblem>;
}

/// A function that is generic over the evaluation's type.
pub trait EvaluationVisitor<P: Position> {
    /// Its result.
    type Output;

    /// Called with the evaluation.
    fn visit<E: GameEvaluation<P>>(self, evaluation: E) -> Self::Output;
}

/// Source of data that parameters name by content hash.
pub trait Contents {
    /// The data with this SHA-256, in 64 hexadecimal digits; `None` if missing. The caller checks
    /// the hash.
    fn content(&self, sha256: &str) -> Option<Arc<[u8]>>;
}

/// A source without data.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContents;

impl Contents for NoContents {
    fn content(&self, _sha256: &str) -> Option<Arc<[u8]>> {
        None
    }
}

/// The data that the parameter `name` identifies by content hash.
///
/// # Errors
/// If it is missing, or has another hash.
pub fn content_of(
    settings: &Settings,
    name: &str,
    contents: &dyn Contents,
) -> Result<Arc<[u8]>, KeyProblem> {
    let wanted = settings.word(name);
    let error =
        |problem: String| Problem::of_key(name, problem, "make or fetch the data again".to_owned());
    let data = contents
        .content(wanted)
        .ok_or_else(|| error(format!("the data with the hash {wanted} is not here")))?;
    let digest: String = Sha256::digest(&data).iter().map(|byte| format!("{byte:02x}")).collect();
    if digest == wanted {
        Ok(data)
    } else {
        Err(error(format!("the data kept under the hash {wanted} has the hash {digest}")))
    }
}

/// Values every position 0, so that a search sees only wins, draws and losses. Available for every
/// game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoEvaluation;

impl<P> Evaluate<P> for NoEvaluation {
    #[inline]
    fn evaluate(&self, _position: &P) -> i32 {
        0
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

impl<P: Position> GameEvaluation<P> for NoEvaluation {
    const INFO: EvaluationInfo =
        EvaluationInfo { name: "none", meaning: "Every position is even.", parameters: &[] };

    fn from_settings(_: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self)
    }
}

/// The greatest size of a weight. An evaluation that sums weights over lines or pieces sums at most
/// [`WEIGHTS_SUMMED_MAX`] of them.
pub const WEIGHT_MAX: i32 = 10_000;

/// The number of weights that may be summed, so that every value lies between the scores of wins
/// and losses.
pub const WEIGHTS_SUMMED_MAX: i32 = (WIN_MIN - 1) / WEIGHT_MAX;

/// A weight as a parameter.
#[must_use]
pub const fn weight(name: &'static str, default: i32, meaning: &'static str) -> ParameterInfo {
    let max = WEIGHT_MAX as i64;
    ParameterInfo::integer(name, -max..=max, default as i64, meaning)
}

/// The weights of an evaluation all of whose parameters are weights, in their order.
///
/// # Panics
/// If it has another number of parameters.
#[must_use]
pub fn weights<const N: usize>(settings: &Settings, info: &EvaluationInfo) -> [i32; N] {
    assert_eq!(info.parameters.len(), N, "{} has another number of weights", info.name);
    let mut weights = [0; N];
    for (weight, info) in weights.iter_mut().zip(info.parameters) {
        // The tables' ranges are far inside those of an i32.
        *weight = i32::try_from(settings.integer(info.name)).unwrap_or(WEIGHT_MAX);
    }
    weights
}
