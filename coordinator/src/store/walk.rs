//! What is being removed, and how far that is.

use std::collections::VecDeque;

use spelrum_tournament::results::Removing;

/// A removal at work. Kept between transactions; `removals` has what must survive.
#[derive(Debug)]
pub(super) struct Walk {
    pub(super) removal: i64,
    pub(super) experiment: i64,
    pub(super) what: Removing,
    /// The next cells, and the last that was looked up.
    pub(super) ahead: VecDeque<i64>,
    pub(super) looked_up: i64,
    /// Games of the first cell with smaller numbers are done.
    pub(super) number: i64,
    /// Cells without games that are still to be removed.
    pub(super) emptied: Vec<i64>,
}
