//! Reads a cell's results in number order, whatever the order in which they come.

use std::collections::BTreeMap;

use super::rule::StopRule;
use super::settled::Settled;
use super::tally::{OpeningTally, Tally};

/// A cell's longest gap-free prefix of settled units, as far as its rule reads it: to where the rule
/// is reached, or to the first unit that is not settled.
///
/// It keeps the results beyond the prefix, which are no more than were in play beside the unit that is
/// waited for (invariant 9); and none once the rule is reached.
#[derive(Clone, Debug)]
pub struct Prefix {
    rule: StopRule,
    tally: Tally,
    /// The same by opening, if the rule minds that.
    openings: Option<OpeningTally>,
    units: u64,
    next_checkpoint: u64,
    is_reached: bool,
    beyond: BTreeMap<u64, Settled>,
}

/// What a [`Prefix`] is made of again. Whether its rule is reached follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The cell's rule.
    pub rule: StopRule,
    /// Up to this number the results are in the tally, or failed.
    pub decided_number: u64,
    /// The units below it.
    pub tally: Tally,
    /// The same by opening, where openings come again and the rule minds it.
    pub openings: Option<OpeningTally>,
    /// The settled games from there on, in any order. To read a rule from the first unit, these are all
    /// of the cell's, with `decided_number` 0 and an empty tally.
    pub beyond: Vec<(u64, Settled)>,
}

impl Reading {
    /// Of a cell of which the rule has read nothing yet.
    #[must_use]
    pub fn from_start(rule: StopRule, swap_sides: bool, settled: Vec<(u64, Settled)>) -> Self {
        let tally = Tally::new(swap_sides);
        Self { rule, decided_number: 0, tally, openings: None, beyond: settled }
    }

    /// The same of a cell where the first opening comes again after so many.
    #[must_use]
    pub fn with_openings(self, openings_count: Option<u64>) -> Self {
        let openings = OpeningTally::new(openings_count).filter(|_| self.rule.minds_openings());
        Self { openings, ..self }
    }
}

impl From<Reading> for Prefix {
    fn from(reading: Reading) -> Self {
        let Reading { rule, decided_number, tally, openings, beyond } = reading;
        let units = decided_number / tally.games_of_unit();
        let mut prefix = Self {
            rule,
            tally,
            units,
            next_checkpoint: rule.checkpoint_after(units),
            is_reached: rule.is_asked_after(units) && rule.is_reached(&tally, openings.as_ref()),
            openings,
            beyond: BTreeMap::new(),
        };
        for (number, settled) in beyond {
            prefix.tell(number, settled);
        }
        prefix
    }
}

impl Prefix {
    /// Takes in a settled game, and reads on. Below the prefix, or beyond where the rule is reached,
    /// it changes nothing.
    pub fn tell(&mut self, number: u64, settled: Settled) {
        if self.is_reached || number < self.decided_number() {
            return;
        }
        self.beyond.insert(number, settled);
        while !self.is_reached
            && let Some(unit) = self.take_unit()
        {
            self.read(unit);
        }
        if self.is_reached {
            self.beyond.clear();
            self.openings = None;
        }
    }

    /// The rule that it reads.
    #[must_use]
    pub const fn rule(&self) -> StopRule {
        self.rule
    }

    /// The number up to which whole units are settled and read.
    #[must_use]
    pub const fn decided_number(&self) -> u64 {
        self.units * self.tally.games_of_unit()
    }

    /// Where the cell ends, once the rule is reached: the end of the unit that reached it.
    #[must_use]
    pub fn stop_number(&self) -> Option<u64> {
        self.is_reached.then(|| self.decided_number())
    }

    /// How many results wait beyond it.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.beyond.len()
    }

    /// The next unit, if all of it is settled: its half points, if all of it was played.
    fn take_unit(&mut self) -> Option<Option<usize>> {
        let first = self.decided_number();
        let numbers = first..first + self.tally.games_of_unit();
        if !numbers.clone().all(|number| self.beyond.contains_key(&number)) {
            return None;
        }
        let mut half_points = Some(0);
        for settled in numbers.filter_map(|number| self.beyond.remove(&number)) {
            half_points = match settled {
                Settled::Played(points) => half_points.map(|sum| sum + points.half_points()),
                Settled::Failed => None,
            };
        }
        Some(half_points)
    }

    fn read(&mut self, half_points: Option<usize>) {
        if let Some(half_points) = half_points {
            self.tally.add(half_points);
            if let Some(openings) = &mut self.openings {
                openings.add(self.units, 1, half_points as u64);
            }
        }
        self.units += 1;
        if self.units == self.next_checkpoint {
            self.is_reached = self.rule.is_reached(&self.tally, self.openings.as_ref());
            self.next_checkpoint = self.rule.checkpoint_after(self.units);
        }
    }
}
