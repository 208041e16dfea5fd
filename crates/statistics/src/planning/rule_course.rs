//! Where a stop rule ends a match: before it is played, and from what was played so far.
//!
//! An SPRT is a random walk between two bounds, read at its checkpoints. Its log-likelihood ratio after n units is near
//! n/2 (ln(1 + (t − t₀)²) − ln(1 + (t − t₁)²)), with t the units' mean less one half in their standard deviations (Van
//! den Bergh 2021), so that its steps are normal with known moments. The chances of its ends follow by recursive
//! integration from checkpoint to checkpoint (Armitage, McPherson and Rowe 1969), over a grid of the values between the
//! bounds (Brook and Evans 1972).

use super::sample_size::{expected, half_width, over_units};
use super::unit_model::{Chances, UnitModel};
use crate::elo::score_of_elo;
use crate::openings::OpeningSpread;
use crate::sprt::normalized_lead;
use crate::strength::normal_distribution;
use crate::{EloModel, Precision, Sprt, StopRule, Tally};

/// The units after which a rule ends a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleCourse {
    /// The expected number.
    pub units: f64,
    /// The lower end of a range that holds four matches of five.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The chances that an SPRT accepts elo0 and elo1. In all other matches, and with a precision rule, there is no
    /// verdict.
    pub verdicts: [f64; 2],
}

/// What has been played of a match.
#[derive(Clone, Copy, Debug)]
pub struct RuleState<'a> {
    /// Its units.
    pub tally: &'a Tally,
    /// Their variation over openings, where these have repeated.
    pub spread: Option<OpeningSpread>,
}

/// How finely a walk is followed.
struct Fineness {
    /// The number of values on the grid between the bounds.
    grid: usize,
    /// Steps are at least this part of the units so far.
    step_parts: f64,
}

/// For a plan, and for a forecast, which has nine walks and is asked for again and again.
const FINE: Fineness = Fineness { grid: 120, step_parts: 0.0 };
const COARSE: Fineness = Fineness { grid: 40, step_parts: 0.05 };

/// The share of matches that end before a range, and of those that end behind it: for a plan, and for a forecast, which
/// knows the lead from few games.
const TAIL: f64 = 0.1;
const TAIL_OF_FORECAST: f64 = 0.06;

/// A step's standard deviation is at least this many times the grid's: a twelfth of its square is added to the variance.
const STEP_MIN: f64 = 2.0;

/// Nine equally likely values of a standard normal variable.
const NINTHS: [f64; 9] =
    [-1.593_2, -0.967_4, -0.589_5, -0.282_2, 0.0, 0.282_2, 0.589_5, 0.967_4, 1.593_2];

/// The normal quantile of one match in ten.
const Z_80: f64 = 1.281_551_565_544_6;

impl RuleCourse {
    /// The course of a match of players like these. It has so many units if the rule does not end it, from openings that
    /// repeat after so many.
    #[must_use]
    pub fn planned(
        rule: &StopRule,
        model: &UnitModel,
        openings: Option<u64>,
        units_max: u64,
    ) -> Self {
        match rule {
            StopRule::Precision(precision) => {
                let openings = openings.filter(|_| !precision.is_over_pairs());
                precision_course(rule, *precision, model, openings, units_max, 0)
            }
            StopRule::Sprt(sprt) => {
                let openings = openings.filter(|_| !sprt.is_over_pairs());
                let mut ends = Ends::default();
                let walk = Walk { rule, sprt, model, openings, units_max, fineness: FINE };
                walk.add_ends(0, 0.0, walk.t_value(), 1.0, &mut ends);
                ends.course(TAIL)
            }
        }
    }

    /// The course of a match that has begun, if it goes on as what was played suggests; with as few units as it has if
    /// the rule has ended it.
    #[must_use]
    pub fn continued(
        rule: &StopRule,
        state: RuleState<'_>,
        openings: Option<u64>,
        units_max: u64,
    ) -> Self {
        let units = state.tally.units();
        let Some(model) = UnitModel::observed(state.tally, state.spread) else {
            return Self::planned(rule, &UnitModel::even(true, 0.0), openings, units_max);
        };
        match rule {
            StopRule::Precision(precision) => {
                let openings = openings.filter(|_| !precision.is_over_pairs());
                precision_course(rule, *precision, &model, openings, units_max, units)
            }
            StopRule::Sprt(sprt) => {
                let openings = openings.filter(|_| !sprt.is_over_pairs());
                let spread = state.spread.filter(|_| openings.is_some());
                let llr = state.tally.llr_of_spread(sprt, spread);
                let walk =
                    Walk { rule, sprt, model: &model, openings, units_max, fineness: COARSE };
                let t = walk.t_value();
                let deviation = (walk.variance_of_t(t) / units as f64).sqrt();
                let mut ends = Ends::default();
                for ninth in NINTHS {
                    let share = 1.0 / NINTHS.len() as f64;
                    walk.add_ends(units, llr, t + ninth * deviation, share, &mut ends);
                }
                ends.course(TAIL_OF_FORECAST)
            }
        }
    }
}

/// The course to the first checkpoint after so many units at which the expected interval is narrow enough. The variance
/// of the units is known from those seen, or will be from those until there.
fn precision_course(
    rule: &StopRule,
    precision: Precision,
    model: &UnitModel,
    openings: Option<u64>,
    units_max: u64,
    units_seen: u64,
) -> RuleCourse {
    let stop = |from: u64| {
        let mut units = from;
        while units < units_max && half_width(model, units.max(1), openings) > precision.points() {
            units = rule.checkpoint_after(units);
        }
        units.min(units_max) as f64
    };
    let units = stop(units_seen);
    let (variance, fourth) = (model.variance(), model.central_moment(4));
    let known_from = if units_seen > 0 { units_seen as f64 } else { units };
    let relative = ((fourth / (variance * variance) - 1.0).max(0.0) / known_from).sqrt();
    // Between two checkpoints the rule is not read: a tenth of the units.
    let (seen, most) = (units_seen as f64, units_max as f64);
    let end = |factor: f64| (units * factor).clamp(seen.min(most), most);
    let spread = Z_80 * relative + 0.05;
    let is_at_end = units >= most && half_width(model, units_max, openings) > precision.points();
    RuleCourse {
        units,
        low: if units <= seen { units } else { end(1.0 - spread) },
        high: if units <= seen { units } else { end(1.0 + spread) },
        verdicts: [0.0; 2],
    }
    .reaching_the_end_if(is_at_end && relative < 0.05, most)
}

impl RuleCourse {
    /// A match that plays all its units, whatever chance does.
    fn reaching_the_end_if(self, reaches: bool, units_max: f64) -> Self {
        if reaches { Self { low: units_max, high: units_max, ..self } } else { self }
    }
}

/// Where matches end, with their shares.
#[derive(Default)]
struct Ends {
    at: Vec<(u64, f64)>,
    verdicts: [f64; 2],
}

impl Ends {
    fn course(mut self, tail: f64) -> RuleCourse {
        self.at.sort_unstable_by_key(|&(units, _)| units);
        let units = self.at.iter().map(|&(units, share)| units as f64 * share).sum();
        let quantile = |wanted: f64| {
            let mut sum = 0.0;
            let end = self.at.iter().find(|&&(_, share)| {
                sum += share;
                sum >= wanted
            });
            end.or(self.at.last()).map_or(0.0, |&(units, _)| units as f64)
        };
        RuleCourse {
            units,
            low: quantile(tail),
            high: quantile(1.0 - tail),
            verdicts: self.verdicts,
        }
    }
}

/// An SPRT of units like these.
struct Walk<'a> {
    rule: &'a StopRule,
    sprt: &'a Sprt,
    model: &'a UnitModel,
    openings: Option<u64>,
    units_max: u64,
    fineness: Fineness,
}

impl Walk<'_> {
    /// The mean's lead over one half, in standard deviations of a unit.
    fn t_value(&self) -> f64 {
        (self.model.mean() - 0.5) / self.model.variance().sqrt()
    }

    /// The leads of the two hypotheses.
    fn hypotheses(&self) -> [f64; 2] {
        self.sprt.leads(self.model.games_of_unit(), self.model.variance())
    }

    /// n times the variance of a lead that is estimated from n units.
    fn variance_of_t(&self, t: f64) -> f64 {
        let deviation = self.model.variance().sqrt();
        let [third, fourth] = [3, 4]
            .map(|order| self.model.central_moment(order) / libm::pow(deviation, f64::from(order)));
        // At least the variance of a known deviation's lead less what the skew can take from it.
        (1.0 - third * t + (fourth - 1.0) * t * t / 4.0).max(0.1)
    }

    /// The mean and the standard deviation of the log-likelihood ratio of one unit at this lead.
    fn step(&self, t: f64) -> (f64, f64) {
        let [from0, from1] = self.hypotheses().map(|hypothesis| t - hypothesis);
        let [square0, square1] = [from0 * from0, from1 * from1];
        let mean = (libm::log1p(square0) - libm::log1p(square1)) / 2.0;
        let slope = from0 / (1.0 + square0) - from1 / (1.0 + square1);
        (mean, (slope.abs() * self.variance_of_t(t).sqrt()).max(1e-9))
    }

    /// The worth of one unit, if openings have repeated.
    fn worth(&self, units: u64) -> f64 {
        if self.openings.is_none_or(|openings| openings <= 1 || units <= openings) {
            return 1.0;
        }
        let over_openings = expected(self.model, units, self.openings).tosses();
        (over_openings / over_units(self.model, units).tosses()).min(1.0)
    }

    /// Adds where a match ends that has this log-likelihood ratio after so many units, and goes on with this lead.
    fn add_ends(&self, units: u64, llr: f64, t: f64, share: f64, ends: &mut Ends) {
        let [low, high] = self.sprt.bounds();
        let width = (high - low) / self.fineness.grid as f64;
        let (drift, deviation) = self.step(t);
        let steps_min = (STEP_MIN * width / deviation) * (STEP_MIN * width / deviation);
        // The first step is from one value, without a grid.
        let mut masses = vec![(llr, share)];
        let mut is_on_grid = false;
        let (mut now, mut worth) = (units, self.worth(units));
        while now < self.units_max && !masses.is_empty() {
            let mut next = self.rule.checkpoint_after(now);
            let step_min = steps_min.max(now as f64 * self.fineness.step_parts);
            while ((next - now) as f64) < step_min && next < self.units_max {
                next = self.rule.checkpoint_after(next);
            }
            let next = next.min(self.units_max);
            let next_worth = self.worth(next);
            let units_between = (next - now) as f64;
            let moved = Moved {
                scale: next_worth / worth,
                mean: units_between * drift * next_worth,
                deviation: units_between.sqrt() * deviation * next_worth,
                low,
                width,
                grid: self.fineness.grid,
            };
            // The last end is not always a checkpoint.
            let is_read = self.rule.is_checked_after(next);
            let alike = is_on_grid && (moved.scale - 1.0).abs() < 1e-9;
            let (after, below, above) = moved.apply(&masses, alike);
            if is_read {
                ends.verdicts[0] += below;
                ends.verdicts[1] += above;
            }
            ends.at.push((next, below + above));
            masses = after;
            is_on_grid = true;
            (now, worth) = (next, next_worth);
            if masses.iter().map(|(_, mass)| mass).sum::<f64>() < 1e-6 * share {
                break;
            }
        }
        ends.at.push((now, masses.iter().map(|(_, mass)| mass).sum()));
    }
}

/// A step of the walk: what a value is multiplied by, and the normal variable that is added.
struct Moved {
    scale: f64,
    mean: f64,
    deviation: f64,
    low: f64,
    width: f64,
    grid: usize,
}

impl Moved {
    /// The values after the step, on the grid, and the shares that left it below and above. `alike`: values are those of
    /// the grid, and are not scaled, so that only distances matter.
    fn apply(&self, masses: &[(f64, f64)], alike: bool) -> (Vec<(f64, f64)>, f64, f64) {
        let edge = |cell: usize| self.low + self.width * cell as f64;
        let centre = |cell: usize| self.low + self.width * (cell as f64 + 0.5);
        let mut after: Vec<(f64, f64)> = (0..self.grid).map(|cell| (centre(cell), 0.0)).collect();
        let (mut below, mut above) = (0.0, 0.0);
        if alike {
            // The chance to be no more than so many cells higher than before.
            let chances: Vec<f64> = (0..=2 * self.grid)
                .map(|cells| {
                    let distance = (cells as f64 - self.grid as f64 - 0.5) * self.width;
                    normal_distribution((distance - self.mean) / self.deviation)
                })
                .collect();
            for (from, &(_, mass)) in masses.iter().enumerate() {
                // Cell 0 begins at index `grid - from`, and the cell behind the last at `2 grid - from`.
                let own = &chances[self.grid - from..=2 * self.grid - from];
                below += mass * own[0];
                above += mass * (1.0 - own[self.grid]);
                for ((_, sum), bounds) in after.iter_mut().zip(own.windows(2)) {
                    *sum += mass * (bounds[1] - bounds[0]);
                }
            }
            return (after, below, above);
        }
        for &(value, mass) in masses.iter().filter(|(_, mass)| *mass > 0.0) {
            let from = value * self.scale + self.mean;
            let chance = |cell: usize| normal_distribution((edge(cell) - from) / self.deviation);
            let mut last = chance(0);
            below += mass * last;
            for (cell, (_, sum)) in after.iter_mut().enumerate() {
                let next = chance(cell + 1);
                *sum += mass * (next - last);
                last = next;
            }
            above += mass * (1.0 - last);
        }
        (after, below, above)
    }
}

impl UnitModel {
    /// The same for players of whom the first is this much stronger.
    #[must_use]
    pub fn at_elo(self, elo: f64, model: EloModel) -> Self {
        match model {
            EloModel::Normalized => {
                self.with_t_value(normalized_lead(elo, self.games_of_unit() as f64))
            }
            EloModel::Logistic => self.with_mean(score_of_elo(elo)),
        }
    }

    /// The mean of this power of the distance from the mean.
    fn central_moment(&self, order: u32) -> f64 {
        let mean = self.mean();
        let sum = |chances: &[f64]| -> f64 {
            let step = 1.0 / (chances.len() - 1) as f64;
            let scores = (0..chances.len()).map(|class| class as f64 * step - mean);
            chances.iter().zip(scores).map(|(p, off)| p * libm::pow(off, f64::from(order))).sum()
        };
        match self.chances() {
            Chances::Pair(chances) => sum(chances),
            Chances::Game(chances) => sum(chances),
        }
    }
}
