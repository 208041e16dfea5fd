//! Where a cell ends, if its sweep says `stop`: a pure function of its results in number order
//! (invariant 7).
//!
//! Results arrive biased: while 256 slots play, the short games come in first, and short games are
//! often wins. So nothing is decided on what has arrived. A [`Prefix`] reads a cell's *units* (pairs of
//! games, or single games where sides are fixed) in the order of their numbers, as far as they are
//! settled without a gap, and asks the [`StopRule`] at fixed *checkpoints* only: after 25 units, and
//! whenever the units have grown by a tenth (a hundredth, if it is a sequential test). Where a cell ends
//! is thereby the same on one slot and on a thousand, whatever was killed in between.
//!
//! A precision is that of the interval that reports show: where openings come again it is over openings, and
//! the units are counted by opening as well. A sequential test is over the units.
//!
//! A unit with a game that has finally failed has its place in the order and is in no tally.
//!
//! A rule is no part of a cell's definition: another one is read over the same results, and games that
//! are at or beyond the stop are not counted.

mod prefix;
mod rule;
mod settled;
mod tally;

pub use prefix::{Prefix, Reading};
pub use rule::{Precision, StopRule};
pub use settled::{Points, Settled};
pub use tally::{OpeningTally, Tally};

#[cfg(test)]
mod error_rates;
#[cfg(test)]
mod tests;
