//! What a match will show before it is played: the width of its interval, its power, and where its stop rule ends it.
//!
//! A [`UnitModel`] is an assumption about the scores of units (pairs, or games with fixed sides): how many games are
//! drawn, how far the games of a pair agree, and how far openings favour a player. It comes from earlier results, or
//! from the least favourable assumption, games without draws. All figures follow by formula, without random numbers;
//! the tests of this folder compare them with simulated matches.

mod claims;
mod rule_course;
mod sample_size;
mod unit_model;

pub use claims::{PlannedCell, PlannedClaim, chance_that_all_are_supported};
pub use rule_course::{RuleCourse, RuleState};
pub use sample_size::{UNITS_MAX, half_width, power, units_for_half_width, units_for_power};
pub use unit_model::UnitModel;

#[cfg(test)]
mod tests;
