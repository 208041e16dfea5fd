//! Ranks the moves of a position.

use std::cmp::Reverse;

use super::ordering::{Class, Key, bring_next};
use super::place::Node;
use super::{AlphaBeta, Options};
use crate::core::knowledge::Knowledge;
use crate::core::score;
use crate::search::{Budget, Evaluate, Stop, make_child};

/// The order of a position's moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Canonical.
    AsListed,
    /// By their keys.
    Ranked,
    /// The same, and each has been made, and counted as a node, to get its key.
    RankedAndMade,
}

/// The key of a tactical move by victim and attacker, before its exchange is evaluated.
#[inline]
pub(super) fn tactical_key<P: Knowledge>(position: &P, mv: P::Move, place: usize) -> Key {
    Key::new(u64::from(position.capture_rank(mv)), place).in_class(Class::Tactical)
}

impl<P: Knowledge, E: Evaluate<P>> AlphaBeta<P, E> {
    /// Determines the order of the moves listed from `first` on, and pushes their keys if it is not
    /// that of the list.
    pub(super) fn rank(
        &mut self,
        position: &P,
        node: Node,
        hint: Option<u16>,
        first: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Order, Stop> {
        let Node { depth, .. } = node;
        let Options { order, combined, history, .. } = self.options;
        let captures = self.ranks_captures();
        // The last ply is not ordered by the evaluations that it needs anyway.
        let is_static = if combined { depth > 2 } else { order && depth > 1 };
        let by_history = history || (combined && depth == 2);
        let refutations = self.refutations(position, node);
        let first_key = self.keys.len();
        let counts = self.history.of_side(position.to_move().index());
        let listed = self.moves[first..].iter().enumerate();
        if is_static {
            return self.rank_by_value(position, node, by_history, hint, first, budget);
        } else if by_history {
            self.keys.extend(listed.map(|(place, &mv)| {
                Key::new(u64::from(counts[usize::from(P::move_code(mv))]), place)
            }));
        } else if combined && depth == 1 {
            self.keys.extend(
                listed.map(|(place, &mv)| Key::new(u64::from(position.move_kind(mv)), place)),
            );
        } else if captures || hint.is_some() || refutations.iter().any(|(code, _)| code.is_some()) {
            self.keys.extend(listed.map(|(place, _)| Key::new(0, place)));
        } else {
            return Ok(Order::AsListed);
        }
        self.put_first(position, first, first_key, refutations, hint);
        Ok(Order::Ranked)
    }

    /// Moves that refuted something like this position, with their classes.
    fn refutations(&self, position: &P, node: Node) -> [(Option<u16>, Class); 3] {
        let killers = if self.options.killers { self.killers.at(node.ply) } else { [None; 2] };
        let side = position.to_move().index();
        let reply = node.previous.filter(|_| self.options.countermoves);
        let reply = reply.and_then(|previous| self.countermoves.at(side, previous));
        [(killers[0], Class::Killer), (killers[1], Class::Killer), (reply, Class::Countermove)]
    }

    /// As [`Self::rank`], by the static evaluation of the resulting positions.
    fn rank_by_value(
        &mut self,
        position: &P,
        node: Node,
        by_history: bool,
        hint: Option<u16>,
        first: usize,
        budget: &mut Budget<'_>,
    ) -> Result<Order, Stop> {
        let (side, ply) = (position.to_move(), node.ply);
        let first_key = self.keys.len();
        for place in 0..self.moves.len() - first {
            let mv = self.moves[first + place];
            let child = make_child(position, mv, budget)?;
            let value = match child.ending() {
                Some(ending) => score::of_ending(ending, side, ply + 1),
                None => {
                    budget.evaluate()?;
                    score::for_mover(side, child.to_move(), self.evaluation.evaluate(&child))
                }
            };
            if value >= score::won_in(ply + 1) {
                // Nothing exceeds it: it is the only one that is tried.
                self.keys.truncate(first_key);
                self.moves.truncate(first);
                self.moves.push(mv);
                self.keys.push(Key::new(0, 0));
                return Ok(Order::RankedAndMade);
            }
            let counts = self.history.of_side(side.index());
            let learnt = if by_history { counts[usize::from(P::move_code(mv))] } else { 0 };
            self.keys.push(Key::new(Key::rank_of_value(value, learnt), place));
        }
        let refutations = self.refutations(position, node);
        self.put_first(position, first, first_key, refutations, hint);
        Ok(Order::RankedAndMade)
    }

    /// Puts killer moves before all others, countermoves behind these, tactical moves before them, and the move of the
    /// transposition table first.
    fn put_first(
        &mut self,
        position: &P,
        first: usize,
        first_key: usize,
        refutations: [(Option<u16>, Class); 3],
        hint: Option<u16>,
    ) {
        let captures = self.ranks_captures();
        let keys = &mut self.keys[first_key..];
        let listed = &self.moves[first..];
        if captures {
            for (place, (key, &mv)) in keys.iter_mut().zip(listed).enumerate() {
                *key = match position.is_tactical(mv) {
                    true => tactical_key(position, mv, place),
                    false => key.in_class(Class::Quiet),
                };
            }
        }
        let mut put = |code: Option<u16>, class| {
            let has_code = |&mv: &P::Move| Some(P::move_code(mv)) == code;
            if code.is_some()
                && let Some(place) = listed.iter().position(has_code)
            {
                keys[place] = keys[place].raised_to(class);
            }
        };
        for (code, class) in refutations {
            put(code, class);
        }
        put(hint, Class::Remembered);
    }

    /// Whether tactical moves are ordered separately.
    #[inline]
    pub(super) fn ranks_captures(&self) -> bool {
        P::HAS_TACTICS && self.options.captures
    }

    /// Moves the next move to its place in the order, and returns its index in the list. A tactical move
    /// whose exchange loses material is deferred behind all others when its turn comes: most never get there,
    /// so their exchange is never computed.
    #[inline]
    pub(super) fn next_place(
        &mut self,
        position: &P,
        first: usize,
        first_key: usize,
        index: usize,
    ) -> usize {
        let keys = &mut self.keys[first_key..];
        loop {
            bring_next(keys, index);
            let key = keys[index];
            let is_losing = P::HAS_TACTICS
                && key.is_in(Class::Tactical)
                && position.loses_exchange(self.moves[first + key.place()]);
            if !is_losing {
                return key.place();
            }
            // Later ones have a lesser rank: they stay in order.
            keys[index] = key.in_class(Class::Last);
            keys[index..].rotate_left(1);
        }
    }

    /// Puts the root's tactical moves first, those that lose material last, before the search
    /// begins.
    pub(super) fn rank_root(&mut self, root: &P) {
        if self.ranks_captures() {
            self.root_moves.sort_by_cached_key(|&mv| {
                let rank = root.capture_rank(mv);
                Reverse(match root.is_tactical(mv) {
                    true if root.loses_exchange(mv) => (Class::Last, rank),
                    true => (Class::Tactical, rank),
                    false => (Class::Quiet, 0),
                })
            });
        }
    }
}
