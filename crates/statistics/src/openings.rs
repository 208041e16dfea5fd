//! Repeated openings: each is one unit, whose score is the mean of its pairs or games.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Openings grouped by their number of units (pairs or games), as sums per group. Whole numbers make the sums
/// independent of order, and they are few because openings are played in turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpeningCounts(BTreeMap<u64, Group>);

/// Openings with equally many units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Group {
    openings: u64,
    half_points: u64,
    /// The sum of squares of each opening's half points.
    squares: u64,
}

/// The variation of openings' scores, each weighted by its units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpeningSpread {
    /// The equivalent number of equally weighted openings: the square of the sum of their units divided by the sum of
    /// the squares (Kish 1965, section 8.2).
    pub effective: f64,
    /// The weighted variance of their mean scores per game.
    pub variance: f64,
}

impl OpeningCounts {
    /// Adds openings with equally many units each: their half points, and the sum of the squares of each opening's half
    /// points.
    pub fn add(&mut self, units: u64, openings: u64, half_points: u64, squares: u64) {
        if units == 0 {
            return;
        }
        let group = self.0.entry(units).or_default();
        group.openings += openings;
        group.half_points += half_points;
        group.squares += squares;
    }

    /// Adds an opening.
    pub fn insert(&mut self, units: u64, half_points: u64) {
        self.add(units, 1, half_points, half_points * half_points);
    }

    /// Removes an opening that was added with these.
    ///
    /// # Panics
    /// If there is no such opening.
    pub fn remove(&mut self, units: u64, half_points: u64) {
        if let Some(group) = self.0.get_mut(&units) {
            group.openings -= 1;
            group.half_points -= half_points;
            group.squares -= half_points * half_points;
            if group.openings == 0 {
                self.0.remove(&units);
            }
        }
    }

    /// The half points of all openings.
    #[must_use]
    pub fn half_points(&self) -> u64 {
        self.0.values().map(|group| group.half_points).sum()
    }

    /// The number of openings.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.0.values().map(|group| group.openings).sum()
    }

    /// The mean score per game, for units of this many games; 0.5 without any.
    #[must_use]
    pub fn mean(&self, games_of_unit: u64) -> f64 {
        let units: f64 = self.0.iter().map(|(&units, group)| (units * group.openings) as f64).sum();
        let half_points: f64 = self.0.values().map(|group| group.half_points as f64).sum();
        if units == 0.0 { 0.5 } else { half_points / (2.0 * games_of_unit as f64 * units) }
    }

    /// The variation of scores, for units of this many games. Uses only + - * / (invariant 2).
    #[must_use]
    pub fn spread(&self, games_of_unit: u64) -> OpeningSpread {
        let points_of_unit = 2.0 * games_of_unit as f64;
        let mean = self.mean(games_of_unit);
        let (mut units, mut squares, mut deviations) = (0.0, 0.0, 0.0);
        for (&each, group) in &self.0 {
            let each = each as f64;
            let openings = group.openings as f64;
            units += each * openings;
            squares += each * each * openings;
            // For each opening: units (half points / (points of a unit * units) - mean)^2.
            let half_points = group.half_points as f64 / points_of_unit;
            let own_squares = group.squares as f64 / (points_of_unit * points_of_unit);
            deviations +=
                own_squares / each - 2.0 * mean * half_points + mean * mean * each * openings;
        }
        if units == 0.0 {
            return OpeningSpread { effective: 0.0, variance: 0.0 };
        }
        // Rounding may turn a zero variance negative.
        OpeningSpread {
            effective: units * units / squares,
            variance: (deviations / units).max(0.0),
        }
    }
}
