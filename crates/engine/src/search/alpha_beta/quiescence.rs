//! Quiescence search: beyond the horizon, until no captures are left (proposed by Shannon 1950,
//! "Programming a computer for playing chess"; Harris 1975, "The heuristic search and the game of
//! chess", has the form with the static value as a bound).

use super::ordering::{Key, bring_next};
use super::ranking::tactical_key;
use super::{AlphaBeta, Window};
use crate::core::knowledge::Knowledge;
use crate::core::score;
use crate::search::{Budget, Evaluate, PLIES_MAX, Stop, WIN_MIN, make_child};

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// The value of a position at the horizon that is not over, `ply` plies from the root, for its
    /// side to move: the best of its static value, since captures are optional, and its tactical
    /// moves. In check, where the static value means little, all moves are searched instead.
    ///
    /// Exact inside the window, otherwise a bound on the same side of it. History rules are
    /// ignored: captured pieces do not come back.
    pub(super) fn value_when_quiet(
        &mut self,
        position: &P,
        ply: u32,
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let plies = self.options.quiescence_plies.min(PLIES_MAX.saturating_sub(ply));
        self.quiesce(position, (plies, ply), window, budget)
    }

    /// The same, for at most `plies` more plies.
    fn quiesce(
        &mut self,
        position: &P,
        (plies, ply): (u32, u32),
        mut window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        window.beta = window.beta.min(score::won_in(ply + 1));
        if window.alpha >= window.beta {
            return Ok(window.beta);
        }
        let mut best = score::WORST;
        let is_in_check = position.is_in_check();
        if plies == 0 || !is_in_check {
            self.sight.end_at_horizon();
            budget.evaluate()?;
            best = self.evaluation.evaluate(position);
            if plies == 0 || best >= window.beta {
                return Ok(best);
            }
            window.alpha = window.alpha.max(best);
        }
        let delta = self.delta_bound(best, is_in_check);
        self.sight.reach(ply + 1);
        let (first, first_key) = (self.moves.len(), self.keys.len());
        if is_in_check {
            position.legal_moves(&mut self.moves);
        } else {
            position.tactical_moves(&mut self.moves);
        }
        if self.options.captures {
            let listed = self.moves[first..].iter().enumerate();
            self.keys.extend(listed.map(|(place, &mv)| {
                if !is_in_check || position.is_tactical(mv) {
                    tactical_key(position, mv, place)
                } else {
                    Key::new(0, place)
                }
            }));
        }
        for index in 0..self.moves.len() - first {
            let place = if self.options.captures {
                bring_next(&mut self.keys[first_key..], index);
                self.keys[first_key + index].place()
            } else {
                index
            };
            let mv = self.moves[first + place];
            if self.options.exchange && !is_in_check && position.loses_exchange(mv) {
                continue;
            }
            if let Some(delta) = delta {
                let bound = delta.saturating_add(position.exchange(mv));
                if bound <= window.alpha && window.alpha < WIN_MIN {
                    best = best.max(bound);
                    continue;
                }
            }
            let child = make_child(position, mv, budget)?;
            let value =
                self.value_of_taking(position, &child, (plies - 1, ply + 1), window, budget)?;
            best = best.max(value);
            if best >= window.beta {
                break;
            }
            window.alpha = window.alpha.max(best);
        }
        self.keys.truncate(first_key);
        self.moves.truncate(first);
        Ok(best)
    }

    fn value_of_taking(
        &mut self,
        position: &P,
        child: &P,
        (plies, ply): (u32, u32),
        window: Window,
        budget: &mut Budget<'_>,
    ) -> Result<i32, Stop> {
        let mover = position.to_move();
        if let Some(ending) = child.ending() {
            return Ok(score::of_ending(ending, mover, ply));
        }
        let side = child.to_move();
        let window = if side == mover { window } else { window.for_opponent() };
        let value = self.quiesce(child, (plies, ply), window, budget)?;
        Ok(score::for_mover(mover, side, value))
    }
}
