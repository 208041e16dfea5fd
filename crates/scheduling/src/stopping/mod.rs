//! Where a cell ends, if its sweep says `stop`: a pure function of its results in number order
//! (invariant 7).
//!
//! Results arrive biased: while 256 slots play, the short games come in first, and short games are
//! often wins. So nothing is decided on what has arrived. A [`Prefix`] reads a cell's *units* (pairs of
//! games, or single games where sides are fixed) in the order of their numbers, as far as they are
//! settled without a gap, and asks the [`StopRule`](spelrum_statistics::StopRule) at fixed *checkpoints* only: after 25 units, and
//! whenever the units have grown by a tenth (a hundredth, if it is a sequential test). Where a cell ends
//! is thereby the same on one slot and on a thousand, whatever was killed in between.
//!
//! Both kinds of rule read what the interval of reports reads: where openings come again that is over openings, and
//! the units are counted by opening as well. A repeat of all games changes nothing of either.
//!
//! Where players are taken to repeat themselves, a cell ends with the first [`Round`] of its openings unless a repeat
//! is seen to differ: also one without a rule.
//!
//! A unit with a game that has finally failed has its place in the order and is in no tally.
//!
//! A rule is no part of a cell's definition: another one is read over the same results, and games that
//! are at or beyond the stop are not counted.

mod prefix;
mod round;
mod settled;

pub use prefix::{Prefix, Reading};
pub use round::{LOOKS, Round};
pub use settled::{Points, Settled};

#[cfg(test)]
mod error_rates;
#[cfg(test)]
mod tests;
