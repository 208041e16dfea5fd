//! Search algorithms behind one trait, with common limits.

mod ajedrecista;
pub(crate) mod algorithm;
pub mod alpha_beta;
pub mod exact;
pub mod genetic;
pub(crate) mod handover;
pub mod mcts;
pub mod minimax;
pub(crate) mod path;
pub(crate) mod random;
pub(crate) mod reference;
pub(crate) mod registry;
mod root;
pub(crate) mod table;

pub use crate::core::budget::Budget;
pub use crate::core::limits::{EndedBy, Limits, MemoryRefused, NoMove, Stop};
pub use crate::core::score::{WIN, WIN_MIN};
pub use crate::core::stack::{PLIES_MAX, POSITION_BYTES_MAX, STACK_BYTES, STACK_BYTES_PER_PLY};
pub use crate::evaluation::{Evaluate, LastPly};

use crate::core::position::{Line, Position};
use crate::core::rng::Random;

/// A search algorithm with fixed parameters. One instance plays one side of one game.
pub trait Search<P: Position>: Send {
    /// Chooses a move at the end of a line: in a position that is not over and has at least two legal
    /// moves.
    ///
    /// # Errors
    /// [`NoMove::Aborted`] if the host stopped it, [`NoMove::Memory`] if memory was refused; a limit ends the
    /// search with a move.
    fn search(
        &mut self,
        line: Line<'_, P>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, NoMove>;
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found<M> {
    /// The move to play.
    pub mv: M,
    /// Depth completed, in plies.
    pub depth: u32,
    /// The value for the side to move, if the algorithm has one.
    pub score: Option<i32>,
    /// The reason for its end.
    pub ended_by: EndedBy,
}

/// The position after a move: a node.
#[inline]
fn make_child<P: Position>(position: &P, mv: P::Move, budget: &mut Budget<'_>) -> Result<P, Stop> {
    budget.enter()?;
    let mut child = position.clone();
    child.play_unchecked(mv);
    Ok(child)
}
