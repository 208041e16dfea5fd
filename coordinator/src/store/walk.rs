//! What is being removed or taken out, and how far that is.

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

/// An exclusion at work. Kept between transactions; `exclusions` has what must survive.
#[derive(Debug)]
pub(super) struct ExclusionWalk {
    pub(super) id: i64,
    pub(super) worker: i64,
    pub(super) from: Option<i64>,
    pub(super) since: Option<i64>,
    /// The experiment that it is in; 0 at first.
    pub(super) experiment: i64,
    /// The next cells, and the last that was looked up.
    pub(super) ahead: VecDeque<i64>,
    pub(super) looked_up: i64,
    /// Games of the first cell with smaller numbers are done.
    pub(super) number: i64,
    pub(super) kept: Option<[i64; 2]>,
}
