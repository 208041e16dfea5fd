//! The value of a leaf: its static value, or that of a short alpha-beta search from it.
//!
//! A genetic algorithm whose individuals are improved before they are evaluated is a memetic one
//! (Moscato 1989, "On evolution, search, optimization, genetic algorithms and martial arts"). Here
//! the improvement is the best play of both sides for a few plies beyond the horizon.

use std::cmp::Reverse;

use crate::core::position::{Ending, Position};
use crate::core::score;
use crate::search::path::Path;
use crate::search::{Budget, Evaluate, Stop, make_child};

/// The values that matter to the caller: up to `alpha` and from `beta` up a bound suffices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) alpha: i32,
    pub(super) beta: i32,
}

impl Window {
    /// Every value matters.
    pub(super) const FULL: Self = Self { alpha: score::WORST, beta: -score::WORST };

    /// The window from the other side's point of view.
    pub(super) const fn negated(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }
}

/// Fail-soft alpha-beta (Knuth & Moore 1975; Fishburn 1983) from the leaves of individuals.
///
/// Moves are tried in the order of the static evaluation of the resulting positions. At the last
/// ply, the move that last caused a cut-off there, for any leaf, comes first (the killer heuristic:
/// Akl & Newborn 1977, "The principal continuation and the killer heuristic").
#[derive(Clone, Debug)]
pub(super) struct LeafSearch<P: Position> {
    /// The moves from the tree's root to here.
    pub(super) path: Path<P>,
    /// A stack of the moves still to be searched, for all positions from the leaf to here.
    moves: Vec<P::Move>,
    /// The same for positions with ordered moves.
    ordered: Vec<Ordered<P>>,
    /// The killer move of the last ply.
    killer: Option<P::Move>,
    /// Whether a static value has affected a result since the last [`Self::reset`].
    saw_horizon: bool,
}

/// A move that was made to determine its place in the order.
#[derive(Clone, Debug)]
struct Ordered<P: Position> {
    mv: P::Move,
    child: P,
    /// The child's static value (or its ending's) for the side that moves to it.
    value: i32,
    /// Its place in canonical order, which breaks ties.
    place: u32,
}

impl<P: Position> LeafSearch<P> {
    pub(super) const fn new() -> Self {
        Self {
            path: Path::new(),
            moves: Vec::new(),
            ordered: Vec::new(),
            killer: None,
            saw_horizon: false,
        }
    }

    /// Call when the tree is emptied.
    pub(super) fn reset(&mut self) {
        self.moves.clear();
        self.ordered.clear();
        self.killer = None;
        self.saw_horizon = false;
    }

    pub(super) const fn saw_horizon(&self) -> bool {
        self.saw_horizon
    }

    /// The value of a position that is not over, `ply` plies from the tree's root, for its side to
    /// move, searched `depth` plies further: exact inside the window, otherwise a bound on the same
    /// side of it.
    pub(super) fn value<E: Evaluate<P>>(
        &mut self,
        evaluation: &E,
        position: &P,
        (depth, ply): (u32, u32),
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        if depth == 0 {
            self.saw_horizon = true;
            budget.evaluate()?;
            return Ok(evaluation.evaluate(position));
        }
        // Nothing here exceeds a win with the next move.
        let window = Window { beta: window.beta.min(score::won_in(ply + 1)), ..window };
        if window.alpha >= window.beta {
            return Ok(window.beta);
        }
        if depth > 1 {
            self.value_in_order(evaluation, position, (depth, ply), window, budget)
        } else {
            self.value_at_last_ply(evaluation, position, ply, window, budget)
        }
    }

    fn value_in_order<E: Evaluate<P>>(
        &mut self,
        evaluation: &E,
        position: &P,
        (depth, ply): (u32, u32),
        mut window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let mover = position.to_move();
        let first = self.ordered.len();
        self.make_all(evaluation, position, ply, budget)?;
        self.ordered[first..].sort_unstable_by_key(|entry| (Reverse(entry.value), entry.place));
        let mut best = score::WORST;
        let key = Path::key_of(position);
        for index in first..self.ordered.len() {
            let Ordered { mv, child, value, .. } = self.ordered[index].clone();
            self.path.push(mv, key);
            let value = if self.path.is_over(&child) {
                value
            } else {
                let side = child.to_move();
                let window = if side == mover { window } else { window.negated() };
                let found = self.value(evaluation, &child, (depth - 1, ply + 1), window, budget)?;
                score::for_mover(mover, side, found)
            };
            self.path.pop();
            best = best.max(value);
            if best >= window.beta {
                break;
            }
            window.alpha = window.alpha.max(best);
        }
        self.ordered.truncate(first);
        Ok(best)
    }

    /// Makes every move (each is a node, counted only here) and pushes the children. A move that
    /// wins at once is pushed alone when it comes up: nothing exceeds it.
    fn make_all<E: Evaluate<P>>(
        &mut self,
        evaluation: &E,
        position: &P,
        ply: u32,
        budget: &mut Budget<'_>,
    ) -> Result<(), Stop> {
        let first = self.moves.len();
        let first_ordered = self.ordered.len();
        position.legal_moves(&mut self.moves);
        let key = Path::key_of(position);
        for (place, index) in (0..).zip(first..self.moves.len()) {
            let mv = self.moves[index];
            let child = make_child(position, mv, budget)?;
            let ending = self.ending_after(mv, key, &child);
            let value = static_value(evaluation, position, (&child, ending), ply + 1, budget)?;
            if value >= score::won_in(ply + 1) {
                self.ordered.truncate(first_ordered);
                self.ordered.push(Ordered { mv, child, value, place });
                break;
            }
            self.ordered.push(Ordered { mv, child, value, place });
        }
        self.moves.truncate(first);
        Ok(())
    }

    fn value_at_last_ply<E: Evaluate<P>>(
        &mut self,
        evaluation: &E,
        position: &P,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        self.saw_horizon = true;
        let mut best = score::WORST;
        let key = Path::key_of(position);
        let killer = self.killer.filter(|&mv| position.is_legal(mv));
        if let Some(mv) = killer {
            let child = make_child(position, mv, budget)?;
            let ending = self.ending_after(mv, key, &child);
            best = static_value(evaluation, position, (&child, ending), ply + 1, budget)?;
            if best >= window.beta {
                return Ok(best);
            }
        }
        let first = self.moves.len();
        position.legal_moves(&mut self.moves);
        for index in first..self.moves.len() {
            let mv = self.moves[index];
            if Some(mv) == killer {
                continue;
            }
            let child = make_child(position, mv, budget)?;
            let ending = self.ending_after(mv, key, &child);
            let value = static_value(evaluation, position, (&child, ending), ply + 1, budget)?;
            best = best.max(value);
            if best >= window.beta {
                self.killer = Some(mv);
                break;
            }
        }
        self.moves.truncate(first);
        Ok(best)
    }

    /// How the game ended with a move in the position with this key.
    #[inline]
    fn ending_after(&mut self, mv: P::Move, key: u64, child: &P) -> Option<Ending> {
        self.path.push(mv, key);
        let ending = self.path.ending(child);
        self.path.pop();
        ending
    }
}

/// The value of a child for the side that moves to it from `position`: of its ending, if it has
/// one, or the static one.
///
/// A separate call takes half as long again for the whole search (19 ns an evaluation against 28,
/// measured in games of the preset `strong`), and `#[inline]` alone does not prevent it.
#[inline(always)]
pub(super) fn static_value<P: Position, E: Evaluate<P>>(
    evaluation: &E,
    position: &P,
    (child, ending): (&P, Option<Ending>),
    ply: u32,
    budget: &mut Budget<'_>,
) -> Result<i32, Stop> {
    let mover = position.to_move();
    match ending {
        Some(ending) => Ok(score::of_ending(ending, mover, ply)),
        None => {
            budget.evaluate()?;
            Ok(score::for_mover(mover, child.to_move(), evaluation.evaluate(child)))
        }
    }
}
