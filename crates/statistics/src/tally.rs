//! Counted results of units.

use crate::{
    Confidence, GameCounts, OpeningCounts, OpeningSpread, PairCounts, ScoreInterval, ScoreSequence,
    ScoreTest, Sprt, Strength,
};

/// The number of units with each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tally {
    /// A cell whose players swap sides: the unit is the pair.
    Pairs(PairCounts),
    /// A cell with fixed sides: the unit is the game.
    Games(GameCounts),
}

/// The same units grouped by opening, if openings repeat, for rules that read them so. Eight bytes per opening used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningTally {
    openings_count: u64,
    /// The units and half points by opening. The last one is not empty.
    sums: Vec<[u32; 2]>,
    counts: OpeningCounts,
}

impl OpeningTally {
    /// An empty tally whose openings repeat after this many; `None` for a single opening, since the match is about that
    /// one.
    #[must_use]
    pub fn new(openings_count: Option<u64>) -> Option<Self> {
        let openings_count = openings_count.filter(|&openings| openings > 1)?;
        Some(Self { openings_count, sums: Vec::new(), counts: OpeningCounts::default() })
    }

    /// Counts units, given the number of one of them and the half points of the cell's first player in all of them.
    pub fn add(&mut self, unit: u64, units: u64, half_points: u64) {
        if units == 0 {
            return;
        }
        let opening = usize::try_from(self.opening_number(unit)).unwrap_or(usize::MAX);
        if self.sums.len() <= opening {
            self.sums.resize(opening + 1, [0, 0]);
        }
        let sums = &mut self.sums[opening];
        let [before, its] = sums.map(u64::from);
        self.counts.remove(before, its);
        let (units, half_points) = (before + units, its + half_points);
        self.counts.insert(units, half_points);
        // No cell has this many games.
        *sums = [units, half_points].map(|sum| u32::try_from(sum).unwrap_or(u32::MAX));
    }

    /// The opening of the unit with this number.
    #[must_use]
    pub const fn opening_number(&self, unit: u64) -> u64 {
        unit % self.openings_count
    }

    /// The variation of scores over openings, if they repeat among this many units of this many games.
    pub(crate) fn spread(&self, units: u64, games_of_unit: u64) -> Option<OpeningSpread> {
        (self.openings_count < units).then(|| self.counts.spread(games_of_unit))
    }
}

impl Tally {
    /// An empty tally.
    #[must_use]
    pub fn new(swap_sides: bool) -> Self {
        if swap_sides {
            Self::Pairs(PairCounts::default())
        } else {
            Self::Games(GameCounts::default())
        }
    }

    /// The number of games per unit.
    #[must_use]
    pub const fn games_of_unit(&self) -> u64 {
        match self {
            Self::Pairs(_) => 2,
            Self::Games(_) => 1,
        }
    }

    /// The number of units.
    #[must_use]
    pub fn units(&self) -> u64 {
        match self {
            Self::Pairs(pairs) => pairs.pairs(),
            Self::Games(games) => games.games(),
        }
    }

    /// Counts a unit with these half points of the cell's first player.
    ///
    /// # Panics
    /// If a unit cannot have that many half points.
    pub fn add(&mut self, half_points: usize) {
        self.counts()[half_points] += 1;
    }

    /// Removes a unit.
    ///
    /// # Panics
    /// As for [`Tally::add`], or if there is no such unit.
    pub fn remove(&mut self, half_points: usize) {
        self.counts()[half_points] -= 1;
    }

    /// The mean score of the first player and its interval.
    #[must_use]
    pub fn interval(&self) -> ScoreInterval {
        match self {
            Self::Pairs(pairs) => pairs.interval(),
            Self::Games(games) => games.interval(),
        }
    }

    /// The same interval over openings, if they repeat.
    #[must_use]
    pub fn interval_over(&self, openings: Option<&OpeningTally>) -> ScoreInterval {
        let of_units = self.interval();
        let spread =
            openings.and_then(|openings| openings.spread(self.units(), self.games_of_unit()));
        spread.map_or(of_units, |spread| spread.interval(of_units.score))
    }

    /// The meaning of the interval for strength.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        match self {
            Self::Pairs(pairs) => pairs.confidence(),
            Self::Games(games) => games.confidence(),
        }
    }

    /// Tests of the mean score, by the same interval.
    #[must_use]
    pub fn test(&self) -> ScoreTest {
        match self {
            Self::Pairs(pairs) => pairs.test(),
            Self::Games(games) => games.test(),
        }
    }

    /// The confidence sequence of the mean score, where so many units are planned.
    #[must_use]
    pub fn sequence(&self, planned: f64) -> ScoreSequence {
        match self {
            Self::Pairs(pairs) => pairs.sequence(planned),
            Self::Games(games) => games.sequence(planned),
        }
    }

    /// The difference in strength as match runners print it.
    #[must_use]
    pub fn strength(&self) -> Strength {
        match self {
            Self::Pairs(pairs) => pairs.strength(),
            Self::Games(games) => games.strength(),
        }
    }

    /// The log-likelihood ratio, scaled if openings repeat: by the worth of the units over openings.
    #[must_use]
    pub fn llr_over(&self, sprt: &Sprt, openings: Option<&OpeningTally>) -> f64 {
        let spread =
            openings.and_then(|openings| openings.spread(self.units(), self.games_of_unit()));
        self.llr_of_spread(sprt, spread)
    }

    /// The log-likelihood ratio, given the spread of scores over repeating openings.
    #[must_use]
    pub fn llr_of_spread(&self, sprt: &Sprt, spread: Option<OpeningSpread>) -> f64 {
        let worth = spread.map_or(1.0, |spread| match self {
            Self::Pairs(pairs) => pairs.worth_over(&spread),
            Self::Games(games) => games.worth_over(&spread),
        });
        self.llr(sprt) * worth
    }

    /// The log-likelihood ratio of an SPRT over independent units.
    #[must_use]
    pub fn llr(&self, sprt: &Sprt) -> f64 {
        match self {
            Self::Pairs(pairs) => sprt.llr_of_pairs(pairs),
            Self::Games(games) => sprt.llr_of_games(games),
        }
    }

    fn counts(&mut self) -> &mut [u64] {
        match self {
            Self::Pairs(pairs) => &mut pairs.0,
            Self::Games(games) => &mut games.0,
        }
    }
}
