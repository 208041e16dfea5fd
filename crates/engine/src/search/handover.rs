//! Switches from a search to the exact solver near the end of the game.

use super::exact::{self, Exact};
use super::{Budget, Evaluate, Found, NoMove, Search};
use crate::core::limits::EndedBy;
use crate::core::position::Line;
use crate::core::rng::Random;
use crate::core::solver::Solvable;

/// A search that hands over to the exact player when few plies are left.
///
/// In a lost position all moves are equal, and the search plays on, hoping for a mistake. The
/// solver gets a bounded share of the move's nodes, half of them at most; a position that needs
/// more is searched with the rest. The share cannot be a time, since a replay must reproduce it
/// from a node count: a limit of a few milliseconds may be used up, and the best move by static
/// evaluation is played.
#[derive(Debug)]
pub(crate) struct Handover<G: Solvable, S, E> {
    search: S,
    exact: Exact<G, E>,
    plies_max: u32,
}

/// Nodes of the solver, about two or three milliseconds: enough for most positions of Pentago with twelve
/// empty cells, and all with eleven.
const NODES_MAX: u64 = 100_000;

impl<G: Solvable, S, E: Evaluate<G>> Handover<G, S, E> {
    /// A search that hands over when at most this many plies can follow.
    pub(crate) fn new(search: S, evaluation: E, plies_max: u32, shuffle: bool) -> Self {
        Self { search, exact: Exact::new(exact::Options { shuffle }, evaluation), plies_max }
    }
}

impl<G: Solvable, S: Search<G>, E: Evaluate<G>> Search<G> for Handover<G, S, E> {
    fn search(
        &mut self,
        line: Line<'_, G>,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<G::Move>, NoMove> {
        let root = line.position;
        if root.plies_left() > self.plies_max {
            return self.search.search(line, budget, random);
        }
        let share = NODES_MAX.min(budget.nodes_left() / 2);
        let (found, is_share_spent) =
            budget.with_share(share, |budget| self.exact.search(line, budget, random));
        let found = found?;
        let is_held =
            found.ended_by == EndedBy::Proven && found.score.is_some_and(|score| score >= 0);
        // At a limit of the move itself, the search could do nothing more.
        let is_stopped = found.ended_by != EndedBy::Proven && !is_share_spent;
        if is_held || is_stopped { Ok(found) } else { self.search.search(line, budget, random) }
    }
}
