//! The assumed distribution of a unit's score.

use crate::Tally;
use crate::moments::Moments;
use crate::openings::OpeningSpread;

/// The probabilities of a unit's scores, from 0 to 1 in equal steps, and the part of their variance that openings
/// explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnitModel {
    chances: Chances,
    /// The variance of openings' own mean scores: that of all units from one opening.
    opening_variance: f64,
}

/// The probability of each score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Chances {
    /// Of a pair.
    Pair([f64; 5]),
    /// Of a game.
    Game([f64; 3]),
}

/// Half a unit of each extreme is added to observed ones, as for intervals.
const HALF_A_UNIT: f64 = 0.5;

/// The bisection of a tilt ends with this; scores are then exact to many digits.
const TILT_STEPS: u32 = 80;

/// Tilts lie between this and its negative: a score of 1 − 1e-13 for decisive games.
const TILT_MAX: f64 = 30.0;

impl UnitModel {
    /// Even players of whose games this share is drawn, in pairs whose games are independent of each other, or with
    /// fixed sides. Without draws variance and widths are greatest.
    ///
    /// # Panics
    /// If the share is not between 0 and 1.
    #[must_use]
    pub fn even(swap_sides: bool, drawn: f64) -> Self {
        assert!((0.0..=1.0).contains(&drawn), "a share lies between 0 and 1");
        let won = (1.0 - drawn) / 2.0;
        let game = [won, drawn, won];
        if !swap_sides {
            return Self { chances: Chances::Game(game), opening_variance: 0.0 };
        }
        let mut pair = [0.0; 5];
        for (first, p) in game.iter().enumerate() {
            for (second, q) in game.iter().enumerate() {
                pair[first + second] += p * q;
            }
        }
        Self { chances: Chances::Pair(pair), opening_variance: 0.0 }
    }

    /// The distribution of observed units, with half a unit of each extreme added; `None` without units. `spread` is
    /// their variation over openings, where openings have repeated.
    #[must_use]
    pub fn observed(tally: &Tally, spread: Option<OpeningSpread>) -> Option<Self> {
        if tally.units() == 0 {
            return None;
        }
        let chances = match tally {
            Tally::Pairs(pairs) => Chances::Pair(shares(pairs.0)),
            Tally::Games(games) => Chances::Game(shares(games.0)),
        };
        let model = Self { chances, opening_variance: 0.0 };
        let opening_variance = spread.map_or(0.0, |spread| {
            // Over openings of R units the variance is that of openings, and an R-th of what is left of the units'.
            let rounds = tally.units() as f64 / spread.effective;
            let own = (rounds * spread.variance - model.variance()) / (rounds - 1.0);
            if rounds > 1.0 { own.clamp(0.0, model.variance()) } else { 0.0 }
        });
        Some(Self { opening_variance, ..model })
    }

    /// Whether its units are pairs.
    #[must_use]
    pub const fn is_of_pairs(&self) -> bool {
        matches!(self.chances, Chances::Pair(_))
    }

    /// The number of games in a unit.
    #[must_use]
    pub const fn games_of_unit(&self) -> u64 {
        if self.is_of_pairs() { 2 } else { 1 }
    }

    /// The mean score.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.moments().mean
    }

    /// The variance of a unit's score.
    #[must_use]
    pub fn variance(&self) -> f64 {
        self.moments().variance
    }

    /// The variance of openings' own mean scores.
    #[must_use]
    pub const fn opening_variance(&self) -> f64 {
        self.opening_variance
    }

    pub(super) const fn chances(&self) -> &Chances {
        &self.chances
    }

    /// The variance of openings' mean scores, each of this many units.
    pub(super) fn variance_over_openings(&self, units_each: f64) -> f64 {
        self.opening_variance + (self.variance() - self.opening_variance) / units_each
    }

    /// The likeliest distribution with this mean: each score's chance is multiplied by a power of the same number
    /// (exponential tilting). A mean out of reach gives the nearest.
    #[must_use]
    pub fn with_mean(self, mean: f64) -> Self {
        self.tilted_until(|model| model.mean() - mean)
    }

    /// The same with a mean that is this many standard deviations of a unit above one half.
    #[must_use]
    pub fn with_t_value(self, t: f64) -> Self {
        self.tilted_until(|model| model.mean() - 0.5 - t * model.variance().sqrt())
    }

    /// Tilts until this, which grows with the tilt, is 0.
    fn tilted_until(self, excess: impl Fn(&Self) -> f64) -> Self {
        let [mut low, mut high] = [-TILT_MAX, TILT_MAX];
        for _ in 0..TILT_STEPS {
            let middle = f64::midpoint(low, high);
            if excess(&self.tilted(middle)) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.tilted(f64::midpoint(low, high))
    }

    fn tilted(self, tilt: f64) -> Self {
        let chances = match self.chances {
            Chances::Pair(chances) => Chances::Pair(tilted(chances, tilt)),
            Chances::Game(chances) => Chances::Game(tilted(chances, tilt)),
        };
        let model = Self { chances, ..self };
        // Openings keep their share of the variance.
        let share = model.variance() / self.variance().max(f64::MIN_POSITIVE);
        Self { opening_variance: (self.opening_variance * share).min(model.variance()), ..model }
    }

    fn moments(&self) -> Moments {
        match &self.chances {
            Chances::Pair(chances) => Moments::from_counts(chances),
            Chances::Game(chances) => Moments::from_counts(chances),
        }
    }
}

fn shares<const CLASSES: usize>(counts: [u64; CLASSES]) -> [f64; CLASSES] {
    let mut counts = counts.map(|count| count as f64);
    counts[0] += HALF_A_UNIT;
    counts[CLASSES - 1] += HALF_A_UNIT;
    let all: f64 = counts.iter().sum();
    counts.map(|count| count / all)
}

fn tilted<const CLASSES: usize>(chances: [f64; CLASSES], tilt: f64) -> [f64; CLASSES] {
    let mut chances = chances;
    for (class, chance) in chances.iter_mut().enumerate() {
        *chance *= libm::exp(tilt * (class as f64 / (CLASSES - 1) as f64 - 0.5));
    }
    let all: f64 = chances.iter().sum();
    chances.map(|chance| chance / all)
}
