//! Static evaluations: as types that a search is compiled for, made from a player's parameters.
//!
//! Every evaluation is an integer for the side to move, strictly between `-WIN_MIN` and `WIN_MIN` for
//! all parameters in their ranges, and antisymmetric (with the sides swapped it is negated) unless it
//! says that it is not ([`Evaluate::is_antisymmetric`]). A game's own evaluations are files of its
//! folder.

mod expression;
mod scale;

pub use expression::{ExpressionEvaluation, Features, View};
pub use scale::score;

use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::core::budget::Budget;
use crate::core::limits::Stop;
use crate::core::parameters::{EvaluationInfo, ParameterError, ParameterInfo, Settings};
use crate::core::position::Position;
use crate::core::score::WIN_MIN;

/// A static evaluation of positions that are not over.
pub trait Evaluate<P>: Send {
    /// The value for the side to move, strictly between `-WIN_MIN` and `WIN_MIN`.
    fn evaluate(&self, position: &P) -> i32;

    /// Whether positions that the game's symmetries map to each other have the same value. A search
    /// takes such positions for one only where this holds.
    fn is_symmetric(&self) -> bool;

    /// Whether a position has the negated value if everything is exchanged between the sides but the
    /// turn, and so the same value if the turn is exchanged as well.
    ///
    /// No search needs it. Each compares values of positions with the same side to move, negated where
    /// the other side asks; where two depths are compared, as in a pass or in quiescence, the turn is
    /// worth something anyhow. It is what people expect of a value, and a test that finds mistakes.
    fn is_antisymmetric(&self) -> bool {
        true
    }

    /// The best value of a move for who makes it, all moves of `position` evaluated together and
    /// counted as nodes: exact below `beta`, else at least `beta`. Only for positions where no move
    /// wins at once; `None` if the evaluation or the game has no tables for it.
    fn last_ply(
        &self,
        _position: &P,
        _last_ply: LastPly,
        _budget: &mut Budget<'_>,
    ) -> Option<Result<i32, Stop>> {
        None
    }
}

/// What [`Evaluate::last_ply`] is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPly {
    /// The value of a move that loses at once.
    pub lost: i32,
    /// The value of a move after which the opponent wins at once; `None` if that is beyond what is
    /// looked at, and such a move has its static value.
    pub lost_to_reply: Option<i32>,
    /// A value that is good enough.
    pub beta: i32,
}

/// An evaluation that a game offers to its players.
///
/// It is made once for each player and cloned for each game that the player plays: what is large
/// (a network's weights) lies behind an [`Arc`].
pub trait GameEvaluation<P: Position>: Evaluate<P> + Clone + Sync + 'static {
    /// Its name, meaning and parameters.
    const INFO: EvaluationInfo;

    /// Makes it from a player's parameters, which are those of [`GameEvaluation::INFO`] and of the
    /// kinds and in the ranges that it names.
    ///
    /// # Errors
    /// If a text or a nested value does not have the form that this evaluation reads, or the content
    /// that a hash names is not there.
    fn from_settings(settings: &Settings, contents: &dyn Contents) -> Result<Self, ParameterError>;
}

/// What is done with an evaluation once its type is known.
pub trait EvaluationVisitor<P: Position> {
    /// What comes of it.
    type Output;

    /// Called with the evaluation.
    fn visit<E: GameEvaluation<P>>(self, evaluation: E) -> Self::Output;
}

/// Where the data is that parameters name by its content hash.
pub trait Contents {
    /// The data with this SHA-256, written as 64 hexadecimal digits; `None` if it is not here.
    /// Who asks checks the hash.
    fn content(&self, sha256: &str) -> Option<Arc<[u8]>>;
}

/// No data at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoContents;

impl Contents for NoContents {
    fn content(&self, _sha256: &str) -> Option<Arc<[u8]>> {
        None
    }
}

/// The data that the parameter `name`, a content hash, stands for.
///
/// # Errors
/// If it is not there, or what is there has another hash.
pub fn content_of(
    settings: &Settings,
    name: &str,
    contents: &dyn Contents,
) -> Result<Arc<[u8]>, ParameterError> {
    let wanted = settings.word(name);
    let error = |problem: String| {
        ParameterError::new(name, problem, "make or fetch the data again".to_owned())
    };
    let data = contents
        .content(wanted)
        .ok_or_else(|| error(format!("the data with the hash {wanted} is not here")))?;
    let found: String = Sha256::digest(&data).iter().map(|byte| format!("{byte:02x}")).collect();
    if found == wanted {
        Ok(data)
    } else {
        Err(error(format!("the data kept under the hash {wanted} has the hash {found}")))
    }
}

/// Values every position 0, so that a search sees wins, draws and losses only. Every game has it.
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

    fn from_settings(_: &Settings, _: &dyn Contents) -> Result<Self, ParameterError> {
        Ok(Self)
    }
}

/// A weight's greatest size. An evaluation that sums weights over lines or pieces has at most
/// [`WEIGHTS_SUMMED_MAX`] of them.
pub const WEIGHT_MAX: i32 = 10_000;

/// How many weights may be summed, so that every value lies between the scores of wins and losses.
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
