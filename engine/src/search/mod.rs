//! Search algorithms behind one trait, under one set of limits.

pub mod alpha_beta;
mod budget;
pub mod exact;
pub mod genetic;
pub(crate) mod handover;
pub mod knowledge;
pub mod mcts;
pub mod minimax;
pub(crate) mod random;
mod root;
mod score;

pub use budget::{Budget, Limits, Stop};

use crate::play::EndedBy;
use crate::position::Position;
use crate::rng::Random;

/// The score of a win that is on the board. A win in n plies scores `WIN - n`, a loss in n plies
/// `-(WIN - n)`: a sooner win is above a later one, and every win above any evaluation.
pub const WIN: i32 = 1_000_000;

/// Scores from here on (and below its negative) are wins and losses within the search's sight.
/// Evaluations stay strictly between. `WIN_MIN` itself is a win that is proven and of unknown
/// length: no search looks so far that it could mean plies.
pub const WIN_MIN: i32 = WIN - 10_000;

/// A static evaluation of positions that are not over.
pub trait Evaluate<P>: Send {
    /// The value for the side to move, strictly between `-WIN_MIN` and `WIN_MIN`.
    fn evaluate(&self, position: &P) -> i32;

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

/// A search algorithm, fixed in all its parameters. One instance plays one side of one game.
pub trait Search<P: Position>: Send {
    /// Chooses a move in a position that is not over and has at least two legal moves.
    ///
    /// # Errors
    /// [`Stop::Aborted`] if the host asked to stop; every other stop ends the search with a move.
    fn search(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, Stop>;
}

/// What a search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<M> {
    /// The move to play.
    pub mv: M,
    /// Depth completed, in plies.
    pub depth: u32,
    /// The value for the side to move, if the algorithm has one.
    pub score: Option<i32>,
    /// What ended it.
    pub ended_by: EndedBy,
}

/// The position that a move leads to: a node.
#[inline]
fn made<P: Position>(position: &P, mv: P::Move, budget: &mut Budget<'_>) -> Result<P, Stop> {
    budget.enter()?;
    let mut child = position.clone();
    child.play_unchecked(mv);
    Ok(child)
}
