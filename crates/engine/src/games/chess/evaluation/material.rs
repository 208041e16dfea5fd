//! Chess's evaluation `material`.

use cozy_chess::Piece;

use crate::core::parameters::{EvaluationInfo, Settings};
use crate::core::problem::KeyProblem;
use crate::evaluation::{Contents, Evaluate, GameEvaluation, WEIGHTS_SUMMED_MAX, weight, weights};
use crate::games::chess::Chess;

/// The most pieces of a side that have a weight.
const PIECES_MAX: i32 = 15;

const _: () = assert!(PIECES_MAX <= WEIGHTS_SUMMED_MAX);

/// The pieces that have a weight, in the order of the weights.
pub(super) const WEIGHED: [Piece; 5] =
    [Piece::Pawn, Piece::Knight, Piece::Bishop, Piece::Rook, Piece::Queen];

/// The usual weights.
pub(super) const USUAL: [i32; 5] = [100, 320, 330, 500, 900];

/// `material`: each piece counts for its owner by its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChessMaterial {
    /// Of pawn, knight, bishop, rook and queen, within ±[`crate::evaluation::WEIGHT_MAX`].
    weights: [i32; 5],
}

impl Default for ChessMaterial {
    fn default() -> Self {
        Self { weights: USUAL }
    }
}

impl GameEvaluation<Chess> for ChessMaterial {
    const INFO: EvaluationInfo = EvaluationInfo {
        name: "material",
        meaning: "The pieces, each by its kind.",
        parameters: &[
            weight("weight_pawn", USUAL[0], "value of a pawn"),
            weight("weight_knight", USUAL[1], "value of a knight"),
            weight("weight_bishop", USUAL[2], "value of a bishop"),
            weight("weight_rook", USUAL[3], "value of a rook"),
            weight("weight_queen", USUAL[4], "value of a queen"),
        ],
    };

    fn from_settings(settings: &Settings, _: &dyn Contents) -> Result<Self, KeyProblem> {
        Ok(Self { weights: weights(settings, &Self::INFO) })
    }
}

impl Evaluate<Chess> for ChessMaterial {
    #[inline]
    fn evaluate(&self, position: &Chess) -> i32 {
        difference(position, self.weights)
    }

    fn is_symmetric(&self) -> bool {
        true
    }
}

/// The material lead of the side to move.
#[inline]
pub(super) fn difference(position: &Chess, weights: [i32; 5]) -> i32 {
    let board = position.cozy();
    let side = board.side_to_move();
    let (own, other) = (board.colors(side), board.colors(!side));
    let lead = |piece| {
        let pieces = board.pieces(piece);
        (pieces & own).len() as i32 - (pieces & other).len() as i32
    };
    WEIGHED.into_iter().zip(weights).map(|(piece, weight)| weight * lead(piece)).sum()
}
