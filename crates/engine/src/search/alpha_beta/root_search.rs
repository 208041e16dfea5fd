//! The root: one fixed depth, or one iteration after another.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::place::Step;
use super::{AlphaBeta, Window};
use crate::core::knowledge::{Knowledge, Sifted};
use crate::core::limits::EndedBy;
use crate::core::rng::Random;
use crate::core::score;
use crate::search::path::Path;
use crate::search::{Budget, Evaluate, Found, NoMove, Stop, WIN, WIN_MIN, make_child, root};

/// The result of a stopped search: the move to play and the completed depth.
type Stopped<M> = (root::Best<M>, u32, Stop);

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    pub(super) fn search_root(
        &mut self,
        root: &P,
        random: &mut Random,
        budget: &mut Budget<'_>,
    ) -> Result<Found<P::Move>, NoMove> {
        self.narrow_root(root);
        self.rank_root(root);
        match self.deepen(root, Some(random), budget) {
            Ok(found) => Ok(found),
            Err((best, completed, Stop::Limit(limit))) => Ok(best.found(completed, limit)),
            Err((_, _, Stop::NoMove(reason))) => Err(reason),
        }
    }

    /// The value of a root with listed moves; an error if the search is stopped.
    pub(super) fn value_of_root(&mut self, root: &P, budget: &mut Budget<'_>) -> Result<i32, Stop> {
        self.narrow_root(root);
        self.rank_root(root);
        match self.deepen(root, None, budget) {
            Ok(found) => Ok(found.score.unwrap_or(score::WORST)),
            Err((_, _, stop)) => Err(stop),
        }
    }

    /// Drops root moves that duplicate others by the rules alone.
    fn narrow_root(&mut self, root: &P) {
        self.is_root_safe = false;
        if self.options.threats
            && !self.options.draw_ties
            && root.can_win_at_once()
            && let Some(win) = root.winning_move()
        {
            self.root_moves.clear();
            self.root_moves.push(win);
            return;
        }
        if self.options.distinct {
            // Here it costs nothing to treat symmetric positions as equal.
            let is_symmetric = self.is_symmetric;
            let mut keys = BTreeSet::new();
            self.root_moves.retain(|&mv| {
                let mut child = root.clone();
                child.play_unchecked(mv);
                let key = |child: &P| match is_symmetric {
                    true => child.reduced_key().0,
                    false => child.table_key(),
                };
                child.is_over() || keys.insert(key(&child))
            });
        }
    }

    /// Drops the root moves that lose to the next reply, unless all do.
    fn drop_losing(&mut self, root: &P) {
        if self.options.threats && !P::HISTORY_MATTERS && !root.can_win_at_once() {
            let mut moves = self.root_moves.clone();
            let sifted = root.remove_losing(&mut moves, 0);
            if !moves.is_empty() {
                self.root_moves = moves;
                self.is_root_safe = sifted != Sifted::Unknown;
            }
        }
    }

    fn deepen(
        &mut self,
        root: &P,
        mut random: Option<&mut Random>,
        budget: &mut Budget<'_>,
    ) -> Result<Found<P::Move>, Stopped<P::Move>> {
        let depth_max = root::depth_or_max(self.options.depth);
        let mut best = root::Best::unsearched(self.root_moves[0]);
        if !self.options.iterative {
            if depth_max > 1 {
                if self.is_root_ordered() {
                    // The static values of the root's moves are a search of depth 1.
                    let mut unused = best;
                    self.iterate(root, 1, Window::WHOLE, budget, &mut unused)
                        .map_err(|stop| (best, 0, stop))?;
                }
                self.drop_losing(root);
                best = root::Best::unsearched(self.root_moves[0]);
            }
            return match self.iterate(root, depth_max, Window::WHOLE, budget, &mut best) {
                Ok(_) => {
                    self.draw_tied(&mut best, random);
                    Ok(self.sight.completed(best, self.options.depth))
                }
                Err(stop) => Err((best, 0, stop)),
            };
        }
        // The values of the last two iterations, the newer one last.
        let mut values = [None; 2];
        for depth in 1..=depth_max {
            if depth == 2 {
                self.drop_losing(root);
                if !self.root_moves.contains(&best.mv) {
                    best = root::Best::unsearched(self.root_moves[0]);
                }
            }
            let window = self.aspiration_window(values[0]);
            let stop = self.aspire(root, depth, window, budget, &mut best).err();
            if let Some(stop) = stop {
                return Err((best, depth - 1, stop));
            }
            self.draw_tied(&mut best, random.as_deref_mut());
            values = [values[1], Some(best.value())];
            if self.is_decided(best.value(), depth) || self.sight.is_whole() {
                return Ok(best.found(depth, EndedBy::Proven));
            }
        }
        Ok(best.found(depth_max, EndedBy::Depth))
    }

    /// Whether a value is a win or loss of the shortest possible length: every line of that many
    /// plies was searched. A win beyond the horizon may be a detour.
    fn is_decided(&self, value: i32, depth: u32) -> bool {
        let seen = depth + u32::from(self.options.extension);
        value.abs() >= WIN_MIN && value.abs() >= score::won_in(seen)
    }

    /// The initial window of an iteration: around the value two plies before, since evaluations of
    /// positions with different sides to move differ.
    fn aspiration_window(&self, value: Option<i32>) -> Window {
        let half_width = i32::try_from(self.options.aspiration).unwrap_or(WIN);
        match value {
            Some(value) if half_width > 0 && value.abs() < WIN_MIN => Window {
                alpha: (value - half_width).max(score::WORST),
                beta: (value + half_width).min(score::BEST),
            },
            Some(_) | None => Window::WHOLE,
        }
    }

    /// One iteration, from this window: a side is opened if the value lies beyond it.
    fn aspire(
        &mut self,
        root: &P,
        depth: u32,
        mut window: Window,
        budget: &mut Budget<'_>,
        best: &mut root::Best<P::Move>,
    ) -> Result<(), Stop> {
        loop {
            let mut newest = root::Best::unsearched(best.mv);
            let searched = self.iterate(root, depth, window, budget, &mut newest);
            // A move above the window is better than all before it, by an unknown amount.
            if newest.is_searched() {
                *best = newest;
            }
            let value = searched?;
            if value <= window.alpha && window.alpha > score::WORST {
                window.alpha = score::WORST;
            } else if value >= window.beta && window.beta < score::BEST {
                window.beta = score::BEST;
            } else {
                return Ok(());
            }
        }
    }

    /// Searches every root move to `depth`, and leaves the moves in order for the next iteration.
    /// Returns the root's value, which is a bound if it lies outside the window; moves up to its
    /// lower end are not candidates for the best.
    fn iterate(
        &mut self,
        root: &P,
        depth: u32,
        window: Window,
        budget: &mut Budget<'_>,
        best: &mut root::Best<P::Move>,
    ) -> Result<i32, Stop> {
        self.sight = root::Sight::default();
        self.sight.reach(1);
        self.root_values.clear();
        self.tied.clear();
        self.root_depth = depth;
        let is_safe = self.is_root_safe;
        let mut value = score::WORST;
        let key = Path::key_of(root);
        self.enter_line(root);
        for index in 0..self.root_moves.len() {
            let mv = self.root_moves[index];
            let child = make_child(root, mv, budget)?;
            // The window for a move: a test for better, or for at least as good.
            let unwanted = best.value() - i32::from(self.options.draw_ties);
            let window = Window { alpha: window.alpha.max(unwanted), ..window };
            let code = P::move_code(mv);
            let step = Step { depth, ply: 0, code, is_first: index == 0, is_safe, reduction: 0 };
            self.path.push(mv, key);
            let of_move = self.move_value(root, (mv, &child), step, window, budget)?;
            self.path.pop();
            self.root_values.push(of_move);
            value = value.max(of_move);
            if of_move > window.alpha {
                if best.offer(mv, of_move) {
                    self.tied.clear();
                }
                self.tied.push(mv);
            }
            // Another may also win with the next move.
            let is_tie_possible = self.options.draw_ties && window.beta == score::BEST;
            if of_move >= window.beta && !is_tie_possible {
                break;
            }
        }
        self.leave_line();
        self.arrange_root(depth, best);
        Ok(value)
    }

    /// Draws one of the best moves of a completed iteration, and puts it first.
    fn draw_tied(&mut self, best: &mut root::Best<P::Move>, random: Option<&mut Random>) {
        let (true, Some(random)) = (self.options.draw_ties, random) else { return };
        let tied = u32::try_from(self.tied.len()).unwrap_or(u32::MAX);
        if tied < 2 {
            return;
        }
        best.mv = self.tied[random.below(tied) as usize];
        if let Some(place) = self.root_moves.iter().position(|&mv| mv == best.mv) {
            self.root_moves[..=place].rotate_right(1);
        }
    }

    const fn is_root_ordered(&self) -> bool {
        self.options.order || self.options.combined
    }

    fn arrange_root(&mut self, depth: u32, best: &root::Best<P::Move>) {
        // Only a search of depth 1 knows the value of every move; others know only the best.
        let is_every_value_known = depth == 1 && self.root_values.len() == self.root_moves.len();
        if is_every_value_known && self.is_root_ordered() {
            let mut valued: Vec<_> =
                self.root_values.iter().copied().zip(self.root_moves.iter().copied()).collect();
            valued.sort_by_key(|&(value, _)| Reverse(value));
            self.root_moves.clear();
            self.root_moves.extend(valued.into_iter().map(|(_, mv)| mv));
        } else if let Some(place) = self.root_moves.iter().position(|&mv| mv == best.mv) {
            self.root_moves[..=place].rotate_right(1);
        }
    }
}
