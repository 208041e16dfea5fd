//! The line under search: the moves before the root, and those made since.

use crate::core::position::{Before, Ending, Line, Position};

/// The moves that lead to the current position, for rules that depend on history.
///
/// A search of any game determines here how a position ended, so that all searches end a line where the
/// arbiter would ([`Position::adjudicate`]). In a game without history rules nothing is kept, and the
/// position alone decides.
#[derive(Clone, Debug)]
pub(crate) struct Path<P: Position> {
    before: Vec<Before<P::Move>>,
    /// The number of moves that led to the root.
    root: usize,
    /// The first move that rules may look at: a pass separates earlier ones.
    first: usize,
    /// The earliest move that a rule has needed since [`Path::begin_part`].
    earliest: usize,
}

impl<P: Position> Path<P> {
    /// For a root without earlier moves.
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

    /// Undoes every move since the root.
    pub(crate) fn return_to_root(&mut self) {
        self.before.truncate(self.root);
    }

    /// The key of a position, with which its moves are [pushed](Path::push).
    #[inline]
    pub(crate) fn key_of(position: &P) -> u64 {
        if P::HISTORY_MATTERS { position.canonical_key() } else { 0 }
    }

    /// Records a move made in the position with this key.
    #[inline]
    pub(crate) fn push(&mut self, mv: P::Move, key: u64) {
        if P::HISTORY_MATTERS {
            self.before.push(Before { mv, key });
        }
    }

    /// Undoes the last move.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if P::HISTORY_MATTERS {
            self.before.pop();
        }
    }

    /// How the game ended with the current position, by itself or by the line before it.
    #[inline]
    pub(crate) fn ending(&mut self, position: &P) -> Option<Ending> {
        let ending = position.ending();
        if P::HISTORY_MATTERS && ending.is_none() { self.adjudicate(position) } else { ending }
    }

    /// Whether it has ended.
    #[inline]
    pub(crate) fn is_over(&mut self, position: &P) -> bool {
        position.is_over() || (P::HISTORY_MATTERS && self.adjudicate(position).is_some())
    }

    fn adjudicate(&mut self, position: &P) -> Option<Ending> {
        let before = &self.before[self.first..];
        let ending = P::adjudicate(Line { position, before })?;
        // A repetition needs the position's first appearance. For other rules the need is unknown:
        // the whole line.
        let key = position.canonical_key();
        let place = before.iter().position(|before| before.key == key).unwrap_or(0);
        self.need(self.first + place);
        Some(ending)
    }

    /// The root's place on the line: the number of moves that led to it.
    #[inline]
    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// The first move that rules may look at.
    #[inline]
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Passes: no earlier position recurs. Returns the argument of [`Path::end_pass`].
    pub(crate) fn begin_pass(&mut self) -> usize {
        std::mem::replace(&mut self.first, self.before.len())
    }

    /// Undoes the pass.
    pub(crate) fn end_pass(&mut self, first: usize) {
        self.first = first;
    }

    /// Notes that a result depends on the position at this place of the line.
    #[inline]
    pub(crate) fn need(&mut self, place: usize) {
        self.earliest = self.earliest.min(place);
    }

    /// Begins a separate part of the tree, and returns the needs recorded before it.
    #[inline]
    pub(crate) fn begin_part(&mut self) -> usize {
        if P::HISTORY_MATTERS {
            std::mem::replace(&mut self.earliest, usize::MAX)
        } else {
            usize::MAX
        }
    }

    /// Joins the part, which began at the current position, with the needs recorded before. Returns whether
    /// other earlier positions could have changed its result.
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
