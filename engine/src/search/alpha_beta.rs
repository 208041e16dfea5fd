//! Alpha-beta: minimax's value without the moves that cannot change it (Knuth & Moore 1975,
//! "An analysis of alpha-beta pruning"), fail-soft (Fishburn 1983).
//!
//! To one fixed depth, or by iterative deepening: one ply deeper each time until something ends it,
//! the best move of an iteration tried first in the next.
//!
//! # What a search plays that a limit cuts off
//!
//! To a fixed depth: the best root move it has finished, and it reports depth 0, since it has
//! completed none. By iterative deepening: the last completed iteration's move, unless the
//! unfinished iteration has finished that move (it is searched first) and then a better one. It
//! reports the depth of the completed iteration and the newest value of the move it plays.
//!
//! # Switches
//!
//! Each is value-preserving: every combination returns minimax's value at the same depth, and a
//! move of that value. The field's other refinements have their places here: principal-variation
//! windows in `move_value`, a transposition table at the head of
//! `value`, killer moves and history in `order_moves`.

use std::cmp::Reverse;

use super::{Budget, Evaluate, Found, Search, Stop, WIN_MIN, made, root, score};
use crate::parameters::{AlgorithmInfo, ParameterInfo, Settings, shared};
use crate::play::EndedBy;
use crate::position::Position;
use crate::rng::Random;

/// What a sweep may say of it.
pub(crate) const ALGORITHM: AlgorithmInfo = AlgorithmInfo {
    name: "alpha-beta",
    parameters: &[
        shared::EVALUATION,
        shared::DEPTH,
        shared::NODES,
        shared::EVALUATIONS,
        shared::MOVE_TIME,
        ParameterInfo::switch(
            "iterative",
            false,
            "Whether it searches to depth 1, 2, 3 and so on, the best move so far first, instead \
             of to one fixed depth.",
        ),
        ParameterInfo::switch(
            "order",
            false,
            "Whether moves are tried in the order of the static evaluation of where they lead. \
             Those evaluations count.",
        ),
        root::SHUFFLE,
    ],
    presets: &[],
    bounded_by: &["depth", "nodes", "evaluations", "move_time"],
};

/// Alpha-beta's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Plies to search, at least 1; `None`: until something else ends it.
    pub depth: Option<u32>,
    /// Whether it deepens ply by ply.
    pub iterative: bool,
    /// Whether moves are ordered by static evaluation.
    pub order: bool,
    /// Whether root moves are tried in random order.
    pub shuffle: bool,
}

impl Options {
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self {
            depth: settings.limits().depth,
            iterative: settings.switch("iterative"),
            order: settings.switch("order"),
            shuffle: settings.switch("shuffle"),
        }
    }
}

/// Alpha-beta with an evaluation.
#[derive(Debug)]
pub struct AlphaBeta<P: Position, E> {
    options: Options,
    evaluation: E,
    root_moves: Vec<P::Move>,
    /// What each root move was worth when it was last searched, in the same order.
    root_values: Vec<i32>,
    /// The moves still to be searched, of all positions from the root to here: a stack.
    moves: Vec<P::Move>,
    /// The same for positions whose moves are ordered.
    ordered: Vec<Ordered<P>>,
    sight: root::Sight,
}

/// A move that was made in order to be given its place.
#[derive(Debug)]
struct Ordered<P> {
    child: P,
    /// The child's static value (or its ending's) for who moves to it.
    value: i32,
    /// Its place in canonical order, in which equals stay.
    place: u32,
}

/// The scores that matter: from `beta` up the opponent has a better choice elsewhere, up to
/// `alpha` the side to move has one.
#[derive(Clone, Copy, Debug)]
struct Window {
    alpha: i32,
    beta: i32,
}

impl<P: Position, E: Evaluate<P>> Search<P> for AlphaBeta<P, E> {
    fn search(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
        random: &mut Random,
    ) -> Result<Found<P::Move>, Stop> {
        root::list_moves(root, self.options.shuffle, random, &mut self.root_moves);
        self.moves.clear();
        self.ordered.clear();
        match self.deepen(root, budget) {
            Ok(found) => Ok(found),
            Err((best, completed, Stop::Limit(limit))) => Ok(best.found(completed, limit)),
            Err((_, _, Stop::Aborted)) => Err(Stop::Aborted),
        }
    }
}

/// A search that was stopped: the move to play and the depth completed.
type Stopped<M> = (root::Best<M>, u32, Stop);

impl<P: Position, E: Evaluate<P>> AlphaBeta<P, E> {
    /// A search with these options.
    #[must_use]
    pub fn new(options: Options, evaluation: E) -> Self {
        Self {
            options,
            evaluation,
            root_moves: Vec::new(),
            root_values: Vec::new(),
            moves: Vec::new(),
            ordered: Vec::new(),
            sight: root::Sight::default(),
        }
    }

    fn deepen(
        &mut self,
        root: &P,
        budget: &mut Budget<'_>,
    ) -> Result<Found<P::Move>, Stopped<P::Move>> {
        let depth_max = root::depth_or_max(self.options.depth);
        let mut best = root::Best::unsearched(self.root_moves[0]);
        if !self.options.iterative {
            if self.options.order && depth_max > 1 {
                // The static values of the root's moves are a search of depth 1.
                let mut unused = best;
                self.search_root(root, 1, budget, &mut unused).map_err(|stop| (best, 0, stop))?;
                best = root::Best::unsearched(self.root_moves[0]);
            }
            return match self.search_root(root, depth_max, budget, &mut best) {
                Ok(()) => Ok(self.sight.completed(best, self.options.depth)),
                Err(stop) => Err((best, 0, stop)),
            };
        }
        for depth in 1..=depth_max {
            let mut newest = root::Best::unsearched(best.mv);
            let searched = self.search_root(root, depth, budget, &mut newest);
            if newest.is_searched() {
                best = newest;
            }
            searched.map_err(|stop| (best, depth - 1, stop))?;
            // A win or loss in sight is as soon as it can be (every line of `depth` plies was
            // searched), and a tree searched to its ends has no deeper one.
            if best.value().abs() >= WIN_MIN || self.sight.is_whole() {
                return Ok(best.found(depth, EndedBy::Proven));
            }
        }
        Ok(best.found(depth_max, EndedBy::Depth))
    }

    /// Searches every root move to `depth`, and leaves the moves in the order for the next time.
    fn search_root(
        &mut self,
        root: &P,
        depth: u32,
        budget: &mut Budget<'_>,
        best: &mut root::Best<P::Move>,
    ) -> Result<(), Stop> {
        self.sight = root::Sight::default();
        self.sight.reach(1);
        self.root_values.clear();
        for index in 0..self.root_moves.len() {
            let mv = self.root_moves[index];
            let window = Window { alpha: best.value(), beta: score::BEST };
            let child = made(root, mv, budget)?;
            let value = self.move_value(root, &child, depth, 0, window, budget)?;
            self.root_values.push(value);
            best.offer(mv, value);
            if value >= score::BEST {
                break;
            }
        }
        self.arrange_root(depth, best);
        Ok(())
    }

    fn arrange_root(&mut self, depth: u32, best: &root::Best<P::Move>) {
        // Only a search of depth 1 knows the value of every move, and not only of the best.
        if depth == 1 && self.options.order && self.root_values.len() == self.root_moves.len() {
            let mut valued: Vec<_> =
                self.root_values.iter().copied().zip(self.root_moves.iter().copied()).collect();
            valued.sort_by_key(|&(value, _)| Reverse(value));
            self.root_moves.clear();
            self.root_moves.extend(valued.into_iter().map(|(_, mv)| mv));
        } else if let Some(place) = self.root_moves.iter().position(|&mv| mv == best.mv) {
            self.root_moves[..=place].rotate_right(1);
        }
    }

    /// The value of a position that is not over, `ply` plies from the root, for its side to move:
    /// exact inside the window, otherwise a bound on the same side of it.
    fn value(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        // Nothing here is above a win with the next move.
        let soonest_win = score::won_in(ply + 1);
        let window = Window { beta: window.beta.min(soonest_win), ..window };
        if window.alpha >= window.beta {
            return Ok(window.beta);
        }
        self.sight.reach(ply + 1);
        // The last ply is not ordered: it takes the evaluations that an order would be made from.
        if self.options.order && depth > 1 {
            self.value_in_order(position, depth, ply, window, budget)
        } else {
            self.value_as_listed(position, depth, ply, window, budget)
        }
    }

    fn value_as_listed(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        mut window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let first = self.moves.len();
        position.legal_moves(&mut self.moves);
        let mut best = score::WORST;
        for index in first..self.moves.len() {
            let child = made(position, self.moves[index], budget)?;
            best = best.max(self.move_value(position, &child, depth, ply, window, budget)?);
            if best >= window.beta {
                break;
            }
            window.alpha = window.alpha.max(best);
        }
        self.moves.truncate(first);
        Ok(best)
    }

    fn value_in_order(
        &mut self,
        position: &P,
        depth: u32,
        ply: u32,
        mut window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let first = self.ordered.len();
        self.order_moves(position, ply, budget)?;
        let mut best = score::WORST;
        for index in first..self.ordered.len() {
            let child = self.ordered[index].child.clone();
            best = best.max(self.move_value(position, &child, depth, ply, window, budget)?);
            if best >= window.beta {
                break;
            }
            window.alpha = window.alpha.max(best);
        }
        self.ordered.truncate(first);
        Ok(best)
    }

    /// Makes every move (each is a node, here and only here) and pushes them, the statically best
    /// first. A move that wins at once is pushed alone if it comes up: nothing is above it.
    fn order_moves(&mut self, position: &P, ply: u32, budget: &mut Budget<'_>) -> Result<(), Stop> {
        let mover = position.to_move();
        let first_move = self.moves.len();
        let first = self.ordered.len();
        position.legal_moves(&mut self.moves);
        for (place, index) in (0..).zip(first_move..self.moves.len()) {
            let child = made(position, self.moves[index], budget)?;
            let value = match child.ending() {
                Some(ending) => score::of_ending(ending, mover, ply + 1),
                None => {
                    budget.evaluate()?;
                    let value = self.evaluation.evaluate(&child);
                    score::for_mover(mover, child.to_move(), value)
                }
            };
            if value >= score::won_in(ply + 1) {
                self.ordered.truncate(first);
                self.ordered.push(Ordered { child, value, place });
                break;
            }
            self.ordered.push(Ordered { child, value, place });
        }
        self.moves.truncate(first_move);
        self.ordered[first..].sort_unstable_by_key(|entry| (Reverse(entry.value), entry.place));
        Ok(())
    }

    /// The value of the move from `position` to `child` for who makes it, searched to `depth`
    /// plies, this one included.
    #[inline]
    fn move_value(
        &mut self,
        position: &P,
        child: &P,
        depth: u32,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let mover = position.to_move();
        if let Some(ending) = child.ending() {
            return Ok(score::of_ending(ending, mover, ply + 1));
        }
        let value = if depth == 1 {
            self.sight.end_at_horizon();
            budget.evaluate()?;
            self.evaluation.evaluate(child)
        } else {
            let window = if child.to_move() == mover { window } else { window.for_opponent() };
            self.value(child, depth - 1, ply + 1, window, budget)?
        };
        Ok(score::for_mover(mover, child.to_move(), value))
    }
}

impl Window {
    const fn for_opponent(self) -> Self {
        Self { alpha: -self.beta, beta: -self.alpha }
    }
}
