//! Reads a cell's results in number order, whatever their order of arrival.

use std::collections::BTreeMap;

use spelrum_statistics::{OpeningTally, StopRule, Tally};

use super::round::{Looked, Round};
use super::settled::Settled;

/// A cell's longest gap-free prefix of settled units that has been read: to where the rule is reached, to the
/// end of a [`Round`] whose games are repeated, or to the first unsettled unit.
///
/// Results beyond the prefix are kept, at most as many as were in play beside the missing unit (invariant 9);
/// none once the rule is reached.
#[derive(Clone, Debug)]
pub struct Prefix {
    rule: Option<StopRule>,
    tally: Tally,
    /// The same by opening, if the rule needs it.
    openings: Option<OpeningTally>,
    /// Its first round of openings, until its games are known to be repeated or not.
    round: Option<Round>,
    units: u64,
    next_checkpoint: u64,
    /// Whether the cell ends here.
    is_reached: bool,
    beyond: BTreeMap<u64, Settled>,
}

/// State to restore a [`Prefix`] from. Whether its rule is reached follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The cell's rule; without one only its round is read.
    pub rule: Option<StopRule>,
    /// Up to this number the results are in the tally, or failed.
    pub decided_number: u64,
    /// The units below it.
    pub tally: Tally,
    /// The same by opening, where openings recur and the rule needs it.
    pub openings: Option<OpeningTally>,
    /// Its first round of openings, if its players are assumed to repeat their games, with the hashes of
    /// games below `decided_number` that repeats are compared with.
    pub round: Option<Round>,
    /// The settled games from there on, in any order. To read a rule from the first unit, pass all of the
    /// cell's games, with `decided_number` 0 and an empty tally.
    pub beyond: Vec<(u64, Settled)>,
}

impl Reading {
    /// State of a cell whose rule has read nothing yet.
    #[must_use]
    pub fn from_start(
        rule: impl Into<Option<StopRule>>,
        swap_sides: bool,
        settled: Vec<(u64, Settled)>,
    ) -> Self {
        Self {
            rule: rule.into(),
            decided_number: 0,
            tally: Tally::new(swap_sides),
            openings: None,
            round: None,
            beyond: settled,
        }
    }

    /// The same for a cell whose first opening recurs after this many.
    #[must_use]
    pub fn with_openings(self, openings_count: Option<u64>) -> Self {
        let minds = self.rule.is_some_and(|rule| rule.depends_on_openings());
        let openings = OpeningTally::new(openings_count).filter(|_| minds);
        Self { openings, ..self }
    }

    /// The same for a cell whose players are assumed to repeat a game when its opening recurs.
    #[must_use]
    pub fn with_round(self, round: Option<Round>) -> Self {
        Self { round, ..self }
    }
}

impl From<Reading> for Prefix {
    fn from(reading: Reading) -> Self {
        let Reading { rule, decided_number, tally, openings, round, beyond } = reading;
        let units = decided_number / tally.games_of_unit();
        let mut prefix = Self {
            rule,
            tally,
            units,
            next_checkpoint: rule.map_or(u64::MAX, |rule| rule.checkpoint_after(units)),
            is_reached: rule.is_some_and(|rule| {
                rule.is_checked_after(units) && rule.is_reached(&tally, openings.as_ref())
            }),
            openings,
            // A prefix that reaches beyond the round has seen games that were not repeated.
            round: round.filter(|round| units <= round.units()),
            beyond: BTreeMap::new(),
        };
        for (number, settled) in beyond {
            prefix.tell(number, settled);
        }
        prefix
    }
}

impl Prefix {
    /// Takes a settled game, and reads on. For a game below the end of the prefix, or once the cell has ended,
    /// this changes nothing.
    pub fn tell(&mut self, number: u64, settled: Settled) {
        if self.is_reached || number < self.decided_number() {
            return;
        }
        self.beyond.insert(number, settled);
        while !self.is_reached && self.check_repeats() {
            let Some(unit) = self.take_unit() else { break };
            self.read(unit);
        }
        if self.is_reached {
            self.beyond.clear();
            self.openings = None;
        }
    }

    /// The rule that it reads.
    #[must_use]
    pub const fn rule(&self) -> Option<StopRule> {
        self.rule
    }

    /// Where a cell of this many games ends, as far as is known: no game from there on should be played yet.
    /// Until the games after the first round have been compared, that is behind them.
    #[must_use]
    pub fn end(&self, games: u64) -> u64 {
        match (&self.round, self.stop_number()) {
            (_, Some(stop)) => stop,
            (Some(round), None) => games.min(round.looked_until() * self.tally.games_of_unit()),
            (None, None) => games,
        }
    }

    /// The number up to which whole units are settled and read.
    #[must_use]
    pub const fn decided_number(&self) -> u64 {
        self.units * self.tally.games_of_unit()
    }

    /// The cell's end, once the rule is reached: the end of the unit that reached it; or of the first round,
    /// once its games are known to be repeated.
    #[must_use]
    pub fn stop_number(&self) -> Option<u64> {
        self.is_reached.then(|| self.decided_number())
    }

    /// Number of results waiting beyond it.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.beyond.len()
    }

    /// Whether there is something to read beyond, as far as the first round decides. At its end some of the
    /// following games are compared: if each equals the game that it repeats, the cell ends.
    fn check_repeats(&mut self) -> bool {
        let games_of_unit = self.tally.games_of_unit();
        let Some(round) = self.round.as_ref().filter(|round| round.units() == self.units) else {
            return true;
        };
        match round.look(games_of_unit, &self.beyond) {
            Looked::Open => return false,
            Looked::Repeats => self.is_reached = true,
            Looked::Differs => {}
        }
        self.round = None;
        !self.is_reached
    }

    /// The next unit, if fully settled: its half points, if all of it was played.
    fn take_unit(&mut self) -> Option<Option<usize>> {
        let first = self.decided_number();
        let numbers = first..first + self.tally.games_of_unit();
        if !numbers.clone().all(|number| self.beyond.contains_key(&number)) {
            return None;
        }
        let mut half_points = Some(0);
        for number in numbers {
            let Some(settled) = self.beyond.remove(&number) else { continue };
            half_points = match settled {
                Settled::Played(points, moves_hash) => {
                    if let Some(round) = &mut self.round {
                        round.note(number, self.tally.games_of_unit(), moves_hash);
                    }
                    half_points.map(|sum| sum + points.half_points())
                }
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
        if let Some(rule) = self.rule
            && self.units == self.next_checkpoint
        {
            self.is_reached = rule.is_reached(&self.tally, self.openings.as_ref());
            self.next_checkpoint = rule.checkpoint_after(self.units);
        }
    }
}
