//! The stop rule, and its checkpoints.

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::student::Z_95;
use crate::tally::{OpeningTally, Tally};
use crate::{OpeningSpread, Sprt};

/// The first checkpoint, in units. Below it an interval says little, and frequent looks at little data are what makes
/// stopped experiments wrong.
pub const FIRST_CHECKPOINT: u64 = 25;

/// The rule that ends a cell. Its text identifies it: equal rules have equal texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum StopRule {
    /// Ends once the 95% interval of the score is this narrow: over openings if they repeat.
    Precision(Precision),
    /// Ends once an SPRT has a verdict.
    Sprt(Sprt),
}

/// Half the width of an interval of a score, in points per game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "PrecisionForm")]
#[schemars(!try_from)]
pub struct Precision {
    /// More than 0 and less than 0.5.
    points: f64,
    /// Whether the interval is over pairs even if openings repeat.
    over_pairs: bool,
}

/// A precision as read, not yet checked.
#[derive(Deserialize)]
struct PrecisionForm {
    points: f64,
    over_pairs: bool,
}

impl TryFrom<PrecisionForm> for Precision {
    type Error = &'static str;

    fn try_from(PrecisionForm { points, over_pairs }: PrecisionForm) -> Result<Self, &'static str> {
        let precision = Self::new(points).ok_or("a precision is more than 0 and less than 0.5")?;
        Ok(if over_pairs { precision.over_pairs() } else { precision })
    }
}

/// It is never NaN.
impl Eq for Precision {}

impl Precision {
    /// Creates a precision of more than 0 and less than 0.5, the half width without data.
    #[must_use]
    pub fn new(points: f64) -> Option<Self> {
        (points > 0.0 && points < 0.5).then_some(Self { points, over_pairs: false })
    }

    /// The same precision of the interval over pairs (games if sides are fixed) even if openings repeat, as all
    /// precisions once were.
    #[must_use]
    pub const fn over_pairs(self) -> Self {
        Self { points: self.points, over_pairs: true }
    }

    /// Whether the precision applies to pairs even if openings repeat.
    #[must_use]
    pub const fn is_over_pairs(self) -> bool {
        self.over_pairs
    }

    /// The half width in points per game.
    #[must_use]
    pub const fn points(self) -> f64 {
        self.points
    }

    /// The finest precision of an even score over this many openings, for any number of games and any similarity of the
    /// openings.
    #[must_use]
    pub fn finest_over(openings: u64) -> f64 {
        let alike = OpeningSpread { effective: openings as f64, variance: 0.0 };
        let interval = alike.interval(0.5);
        (interval.high - interval.low) / 2.0
    }
}

impl StopRule {
    /// A rule for this half width of the interval in points per game; `None` unless more than 0 and less than 0.5.
    #[must_use]
    pub fn from_precision(points: f64) -> Option<Self> {
        Precision::new(points).map(Self::Precision)
    }

    /// Whether the rule needs the units by opening, if openings repeat.
    #[must_use]
    pub const fn depends_on_openings(&self) -> bool {
        match self {
            Self::Precision(precision) => !precision.over_pairs,
            Self::Sprt(sprt) => !sprt.is_over_pairs(),
        }
    }

    /// Whether these results suffice; `openings` has them by opening, if the rule reads them so.
    #[must_use]
    pub fn is_reached(&self, tally: &Tally, openings: Option<&OpeningTally>) -> bool {
        match self {
            Self::Precision(precision) => {
                let openings = openings.filter(|_| !precision.over_pairs);
                let interval = tally.interval_over(openings);
                (interval.high - interval.low) / 2.0 <= precision.points()
            }
            Self::Sprt(sprt) => {
                let openings = openings.filter(|_| !sprt.is_over_pairs());
                sprt.verdict(tally.llr_over(sprt, openings)).is_some()
            }
        }
    }

    /// From checkpoint to checkpoint the units grow by one in this many, rounded up. An SPRT holds its error rates
    /// however often it is read, and ends sooner; an interval's coverage suffers from each look.
    const fn growth_parts(&self) -> u64 {
        match self {
            Self::Precision(_) => 10,
            Self::Sprt(_) => 100,
        }
    }

    /// The first checkpoint beyond this many units.
    #[must_use]
    pub fn checkpoint_after(&self, units: u64) -> u64 {
        let mut checkpoint = FIRST_CHECKPOINT;
        while checkpoint <= units {
            checkpoint = checkpoint.saturating_add(checkpoint.div_ceil(self.growth_parts()));
            if checkpoint == u64::MAX {
                break;
            }
        }
        checkpoint
    }

    /// About how many units of this many games it takes until the rule ends a cell: for an SPRT half way between its
    /// strengths, where it takes longest (Wald 1947); for a precision where half of all games are decided. Only the
    /// tuning of a confidence sequence depends on it, not its coverage.
    #[must_use]
    pub fn units_expected(&self, games_of_unit: u64) -> f64 {
        // Of a unit's score per game: games that are won and lost have 1/4, pairs of them 1/8.
        let variance = 1.0 / (8.0 * games_of_unit as f64);
        match self {
            Self::Precision(precision) => {
                let steps = Z_95 / precision.points();
                steps * steps * variance
            }
            Self::Sprt(sprt) => {
                let [lower, upper] = sprt.bounds();
                let [lead0, lead1] = sprt.leads(games_of_unit, variance);
                let lead = lead1 - lead0;
                -lower * upper / (lead * lead)
            }
        }
    }

    /// Whether the rule is read after this many units.
    #[must_use]
    pub fn is_checked_after(&self, units: u64) -> bool {
        units > 0 && self.checkpoint_after(units - 1) == units
    }
}

impl StopRule {
    /// Describes when a cell ends: `SPRT of elo0 = 0 against elo1 = 20 (normalized Elo), alpha 0.05, beta 0.05`.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Precision(precision) => {
                let over = if precision.over_pairs { " over pairs" } else { "" };
                let points = precision.points();
                format!("precision: the 95% interval{over} of the score is ± {points} or narrower")
            }
            Self::Sprt(sprt) => {
                let [elo0, elo1] = [sprt.elo0(), sprt.elo1()];
                let [alpha, beta] = [sprt.alpha(), sprt.beta()];
                let model = sprt.model().name();
                let over = if sprt.is_over_pairs() { ", over pairs" } else { "" };
                format!(
                    "SPRT of elo0 = {elo0} against elo1 = {elo1} ({model} Elo), alpha {alpha}, beta {beta}{over}"
                )
            }
        }
    }
}

impl fmt::Display for StopRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Precision(precision) => {
                let over = if precision.over_pairs { " over pairs" } else { "" };
                write!(f, "precision {}{over}", precision.points())
            }
            Self::Sprt(sprt) => {
                let [elo0, elo1] = [sprt.elo0(), sprt.elo1()];
                let [alpha, beta] = [sprt.alpha(), sprt.beta()];
                let model = sprt.model().name();
                let over = if sprt.is_over_pairs() { " over pairs" } else { "" };
                write!(f, "sprt {elo0} to {elo1} Elo, {model}, alpha {alpha}, beta {beta}{over}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EloModel;

    #[test]
    fn a_rule_is_described_in_words() {
        let rules = [
            StopRule::Sprt(Sprt::new(0.0, 20.0, 0.05, 0.1, EloModel::Logistic).unwrap()),
            precision(),
        ];
        assert_eq!(
            rules.map(|rule| rule.describe()),
            [
                "SPRT of elo0 = 0 against elo1 = 20 (logistic Elo), alpha 0.05, beta 0.1",
                "precision: the 95% interval of the score is ± 0.03 or narrower"
            ]
        );
    }

    fn precision() -> StopRule {
        StopRule::from_precision(0.03).unwrap()
    }

    fn sprt() -> StopRule {
        StopRule::Sprt(Sprt::new(-2.5, 10.0, 0.05, 0.1, EloModel::Normalized).unwrap())
    }

    #[test]
    fn checkpoints_are_fixed() {
        let asked = |rule: StopRule, until| -> Vec<u64> {
            (0..until).filter(|&units| rule.is_checked_after(units)).collect()
        };
        let first = [25, 28, 31, 35, 39, 43, 48, 53, 59, 65, 72, 80, 88, 97];
        assert_eq!(asked(precision(), 100), first);
        assert_eq!(asked(sprt(), 107), (25..=100).chain([101, 103, 105]).collect::<Vec<_>>());
        for rule in [precision(), sprt()] {
            assert_eq!(rule.checkpoint_after(0), 25);
            assert_eq!(rule.checkpoint_after(u64::MAX), u64::MAX);
        }
    }

    #[test]
    fn a_precision_is_in_its_open_range() {
        let is_one = |precision| StopRule::from_precision(precision).is_some();
        assert!([f64::MIN_POSITIVE, 0.03, 0.499].into_iter().all(is_one));
        assert!(![-0.1, 0.0, 0.5, 1.0, f64::NAN, f64::INFINITY].into_iter().any(is_one));
    }

    /// Half of the games decided: as many pairs as narrow the interval to the precision.
    #[test]
    fn a_rule_is_expected_to_take_some_units() {
        let pairs = precision().units_expected(2);
        assert!((pairs - 266.8).abs() < 0.1, "{pairs}");
        assert!((precision().units_expected(1) - 2.0 * pairs).abs() < 1e-9);
        let sprt = |model| StopRule::Sprt(Sprt::new(0.0, 20.0, 0.05, 0.05, model).unwrap());
        // 2.944^2 / (20 ln 10 / 800 * sqrt 2)^2, and with a lead of 0.0288 points in deviations of 1/4.
        let normalized = sprt(EloModel::Normalized);
        assert!((normalized.units_expected(2) - 1_308.2).abs() < 1.0);
        assert!((normalized.units_expected(1) - 2_616.4).abs() < 2.0);
        let logistic = sprt(EloModel::Logistic).units_expected(2);
        assert!((logistic - 654.6).abs() < 2.0, "{logistic}");
    }

    #[test]
    fn a_rule_is_named_by_its_text() {
        assert_eq!(precision().to_string(), "precision 0.03");
        let of_once = StopRule::Precision(Precision::new(0.03).unwrap().over_pairs());
        assert_eq!(of_once.to_string(), "precision 0.03 over pairs");
        assert_ne!(of_once, precision());
        assert_eq!(sprt().to_string(), "sprt -2.5 to 10 Elo, normalized, alpha 0.05, beta 0.1");
    }
}
