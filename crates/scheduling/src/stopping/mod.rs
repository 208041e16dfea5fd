//! Where a cell ends if its sweep has `stop`: a pure function of its results in number order (invariant 7).
//!
//! Results arrive biased: while 256 slots play, the short games come in first, and short games are often
//! wins. So arrivals decide nothing. A [`Prefix`] reads a cell's *units* (pairs of games, or single games
//! where sides are fixed) in the order of their numbers, as far as they are settled without a gap, and
//! consults the [`StopRule`](spelrum_statistics::StopRule) at fixed *checkpoints* only: after 25 units, and
//! whenever the units have grown by a tenth (a hundredth for an SPRT). Thus a cell ends at the same place on
//! one slot and on a thousand, whatever was killed in between.
//!
//! Both kinds of rule use the interval of reports: where openings recur it is over openings, and the units
//! are counted by opening as well. A repeat of all games changes neither.
//!
//! A cell whose players are assumed to repeat themselves ends with the first [`Round`] of its openings unless
//! a repeat differs, even without a rule.
//!
//! A unit with a finally failed game keeps its place in the order but enters no tally.
//!
//! The rule does not belong to a cell's definition: a changed one is applied to the same results, and games
//! at or beyond the stop are not counted.

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
