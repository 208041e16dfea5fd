//! The line that is being searched: the moves before the root, and those made since.

use crate::core::position::{Before, Ending, Line, Position};

/// The moves that lead to the position being looked at, for rules that look back.
///
/// A search of any game asks here how a position ended, so that all searches end a line where the
/// arbiter would ([`Position::adjudicate`]). In a game where history does not matter nothing is kept,
/// and what is asked is the position alone.
#[derive(Clone, Debug)]
pub(crate) struct Path<P: Position> {
    before: Vec<Before<P::Move>>,
    /// How many of them led to the root.
    root: usize,
    /// From which of them on rules may look: what lies before is parted from here by a pass.
    first: usize,
    /// The earliest of them that a rule has needed since [`Path::begin_part`].
    earliest: usize,
}

impl<P: Position> Path<P> {
    /// Of a root that nothing came before.
    pub(crate) const fn new() -> Self {
        Self { before: Vec::new(), root: 0, first: 0, earliest: usize::MAX }
    }

    /// Begins with the line to a root.
    pub(crate) fn begin(&mut self, line: Line<'_, P>) {
        if P::HISTORY_MATTERS {
            self.before.clear();
            self.before.extend_from_slice(line.before);
            (self.root, self.first, self.earliest) = (self.before.len(), 0, usize::MAX);
        }
    }

    /// Takes back every move since the root.
    pub(crate) fn return_to_root(&mut self) {
        self.before.truncate(self.root);
    }

    /// The key of a position, with which its moves are [pushed](Path::push).
    #[inline]
    pub(crate) fn key_of(position: &P) -> u64 {
        if P::HISTORY_MATTERS { position.canonical_key() } else { 0 }
    }

    /// A move is made in the position with this key.
    #[inline]
    pub(crate) fn push(&mut self, mv: P::Move, key: u64) {
        if P::HISTORY_MATTERS {
            self.before.push(Before { mv, key });
        }
    }

    /// The last move is taken back.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if P::HISTORY_MATTERS {
            self.before.pop();
        }
    }

    /// How the game ended with the position that the last move led to, by itself or by what came
    /// before.
    #[inline]
    pub(crate) fn ending(&mut self, position: &P) -> Option<Ending> {
        let ending = position.ending();
        if P::HISTORY_MATTERS && ending.is_none() { self.adjudicate(position) } else { ending }
    }

    /// Whether it has.
    #[inline]
    pub(crate) fn is_over(&mut self, position: &P) -> bool {
        position.is_over() || (P::HISTORY_MATTERS && self.adjudicate(position).is_some())
    }

    fn adjudicate(&mut self, position: &P) -> Option<Ending> {
        let before = &self.before[self.first..];
        let ending = P::adjudicate(Line { position, before })?;
        // A rule on repetition needs the position's first appearance. What any other needs is not
        // known: the whole line.
        let key = position.canonical_key();
        let place = before.iter().position(|before| before.key == key).unwrap_or(0);
        self.need(self.first + place);
        Some(ending)
    }

    /// The root's place on the line: how many moves led to it.
    #[inline]
    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// From where on rules may look.
    #[inline]
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Passes: no position from before comes again. Returns what [`Path::end_pass`] wants.
    pub(crate) fn begin_pass(&mut self) -> usize {
        std::mem::replace(&mut self.first, self.before.len())
    }

    /// Takes the pass back.
    pub(crate) fn end_pass(&mut self, first: usize) {
        self.first = first;
    }

    /// What is found depends on the position at this place of the line.
    #[inline]
    pub(crate) fn need(&mut self, place: usize) {
        self.earliest = self.earliest.min(place);
    }

    /// Begins to look at a part of the tree by itself, and returns what was needed before.
    #[inline]
    pub(crate) fn begin_part(&mut self) -> usize {
        if P::HISTORY_MATTERS {
            std::mem::replace(&mut self.earliest, usize::MAX)
        } else {
            usize::MAX
        }
    }

    /// Joins the part, which began at the position now reached, with what was needed before. Whether
    /// it would have been another had other positions come before it.
    #[inline]
    pub(crate) fn end_part(&mut self, before: usize) -> bool {
        if !P::HISTORY_MATTERS {
            return false;
        }
        let is_of_the_line = self.earliest < self.before.len();
        self.earliest = self.earliest.min(before);
        is_of_the_line
    }
}
