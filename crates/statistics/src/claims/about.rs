//! What a claim is about: a figure, the bound claimed for it, and the test of that bound.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::found::FoundValue;
use crate::{EloModel, Estimate, Interval, ScoreInterval, ScoreTest, Sprt, Verdict, score_of_elo};

/// The figure that a claim is about, with the bound claimed for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The player's mean score in a cell, from 0 to 1.
    Score(Bound),
    /// The player's mean score in a cell less its score in the cell that is compared with it, from -1 to 1; where players
    /// choose moves alone, of its accuracy.
    Gain(Bound),
    /// The geometric mean over games of the player's mean time of a move, divided by its opponent's in the same cell.
    TimeRatio(Bound),
    /// The player's share of best moves among those that it chose alone, from 0 to 1.
    Accuracy(Bound),
    /// The value of a parameter at which a search found the player and its opponent even; durations in milliseconds.
    Value(Bound),
    /// The player's rating less its opponent's, on the one scale of all players that met, in Elo.
    RatingLead(Bound),
}

/// A bound of a figure, in the figure's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// Above this.
    Above(f64),
    /// Below this.
    Below(f64),
    /// Above the first, and below the second, which is greater: equivalence.
    Within([f64; 2]),
}

/// The evidence on a figure.
#[derive(Clone, Copy, Debug)]
pub enum FigureTest {
    /// A cell's score, or a share.
    Score {
        /// The test of its first player's score.
        test: ScoreTest,
        /// Whether the figure is the second player's score.
        is_of_second: bool,
    },
    /// The verdict of an SPRT that tests the claim ([`Bound::tested_by`]).
    Sprt {
        /// The test's error rate if it accepted the claim, otherwise 1.
        p: f64,
    },
    /// A mean of cells' scores over replicates.
    MeanScore(Estimate),
    /// A difference of two cells' scores, or a mean of such differences over replicates.
    Gain(Estimate),
    /// The natural logarithm of a ratio of times.
    TimeRatio(Estimate),
    /// A value that a search found.
    Found(FoundValue),
    /// A difference of two ratings.
    RatingLead(Estimate),
}

impl About {
    /// The figure's name, as in keys of a sweep.
    #[must_use]
    pub const fn figure(self) -> &'static str {
        match self {
            Self::Score(_) => "score",
            Self::Gain(_) => "gain",
            Self::TimeRatio(_) => "time_ratio",
            Self::Accuracy(_) => "accuracy",
            Self::Value(_) => "value",
            Self::RatingLead(_) => "rating_lead",
        }
    }

    /// The bound claimed for it.
    #[must_use]
    pub const fn bound(self) -> Bound {
        match self {
            Self::Score(bound)
            | Self::Gain(bound)
            | Self::TimeRatio(bound)
            | Self::Accuracy(bound)
            | Self::Value(bound)
            | Self::RatingLead(bound) => bound,
        }
    }

    /// The figure between equals; `None` for a figure of one player.
    #[must_use]
    pub const fn at_equality(self) -> Option<f64> {
        match self {
            Self::Score(_) => Some(0.5),
            Self::Gain(_) | Self::RatingLead(_) => Some(0.0),
            Self::TimeRatio(_) => Some(1.0),
            Self::Accuracy(_) | Self::Value(_) => None,
        }
    }

    /// Whether it is about the difference of two cells.
    #[must_use]
    pub const fn compares_cells(self) -> bool {
        match self {
            Self::Gain(_) => true,
            Self::Score(_)
            | Self::TimeRatio(_)
            | Self::Accuracy(_)
            | Self::Value(_)
            | Self::RatingLead(_) => false,
        }
    }

    /// Whether it is about the results of runs, whose cells are not known when it is stated.
    #[must_use]
    pub const fn is_of_runs(self) -> bool {
        match self {
            Self::Value(_) => true,
            Self::Score(_)
            | Self::Gain(_)
            | Self::TimeRatio(_)
            | Self::Accuracy(_)
            | Self::RatingLead(_) => false,
        }
    }

    /// Whether it is about single cells of games, or two.
    #[must_use]
    pub const fn is_of_cells(self) -> bool {
        !self.is_of_runs() && !self.is_of_ratings()
    }

    /// Whether it is about ratings, which follow from all cells at a point of the grid.
    #[must_use]
    pub const fn is_of_ratings(self) -> bool {
        match self {
            Self::RatingLead(_) => true,
            Self::Score(_)
            | Self::Gain(_)
            | Self::TimeRatio(_)
            | Self::Accuracy(_)
            | Self::Value(_) => false,
        }
    }

    /// Whether it follows from scores of games, whose errors can be planned.
    #[must_use]
    pub const fn is_of_scores(self) -> bool {
        match self {
            Self::Score(_) | Self::Gain(_) => true,
            Self::TimeRatio(_) | Self::Accuracy(_) | Self::Value(_) | Self::RatingLead(_) => false,
        }
    }

    /// The statement in words: `score above 0.5`.
    #[must_use]
    pub fn words(self) -> String {
        let bound = match self.bound() {
            Bound::Above(least) => format!("above {least}"),
            Bound::Below(most) => format!("below {most}"),
            Bound::Within([low, high]) => format!("within {low} to {high}"),
        };
        format!("{} {bound}", self.figure().replace('_', " "))
    }

    /// For a claim of equivalence, what its support means: `equal within ±0.05`, or `within 0.4 to 0.7` about another
    /// figure than that of equals. `None` for other claims.
    #[must_use]
    pub fn equivalence(self) -> Option<String> {
        let Bound::Within([low, high]) = self.bound() else { return None };
        // Bounds that a sweep gives as one margin differ by rounding errors.
        let rounded = |margin: f64| (margin * 1e9).round() / 1e9;
        let margins = self.at_equality().map(|equal| [equal - low, high - equal].map(rounded));
        Some(match margins {
            Some([below, above]) if below == above => format!("equal within ±{above}"),
            Some(_) | None => format!("within {low} to {high}"),
        })
    }
}

impl Bound {
    /// The least and the greatest that are claimed, exclusive; `None` where there is no bound.
    #[must_use]
    pub const fn ends(self) -> [Option<f64>; 2] {
        match self {
            Self::Above(least) => [Some(least), None],
            Self::Below(most) => [None, Some(most)],
            Self::Within([low, high]) => [Some(low), Some(high)],
        }
    }

    /// The same bound of a score for the other player's score.
    #[must_use]
    pub fn seen_by_opponent(self) -> Self {
        match self {
            Self::Above(least) => Self::Below(1.0 - least),
            Self::Below(most) => Self::Above(1.0 - most),
            Self::Within([low, high]) => Self::Within([1.0 - high, 1.0 - low]),
        }
    }

    /// If an SPRT tests this bound of the first player's score: the verdict that shows it, and the probability of that
    /// verdict if it is false, at most.
    ///
    /// A score of at most that of `elo0` is called `elo1` with a probability of at most α, and so is every lower bound;
    /// a score of at least that of `elo1` is called `elo0` with one of at most β. Normalized Elo are those of a score
    /// only if both are even.
    #[must_use]
    pub fn tested_by(self, sprt: &Sprt) -> Option<(Verdict, f64)> {
        let (elo0, elo1) = (sprt.elo0(), sprt.elo1());
        let (above, below) = match sprt.model() {
            EloModel::Logistic => (score_of_elo(elo0), score_of_elo(elo1)),
            EloModel::Normalized => (
                if elo0 >= 0.0 { 0.5 } else { f64::NEG_INFINITY },
                if elo1 <= 0.0 { 0.5 } else { f64::INFINITY },
            ),
        };
        match self {
            Self::Above(least) if least <= above => Some((Verdict::Elo1, sprt.alpha())),
            Self::Below(most) if most >= below => Some((Verdict::Elo0, sprt.beta())),
            Self::Above(_) | Self::Below(_) | Self::Within(_) => None,
        }
    }

    /// A figure that has the bound by this margin; in the middle of a bound on both sides.
    #[must_use]
    pub fn figure_at(self, margin: f64) -> f64 {
        match self {
            Self::Above(least) => least + margin,
            Self::Below(most) => most - margin,
            Self::Within([low, high]) => f64::midpoint(low, high),
        }
    }

    /// The p-value of a figure with this bound. A bound on both sides takes two one-sided tests and the greater of
    /// their p-values (Schuirmann 1987): no correction is needed, since both must reject.
    #[must_use]
    pub fn p_value(self, test: &FigureTest) -> f64 {
        match self {
            Self::Above(least) => test.p_value_above(least),
            Self::Below(most) => test.p_value_below(most),
            Self::Within([low, high]) => test.p_value_above(low).max(test.p_value_below(high)),
        }
    }
}

impl FigureTest {
    fn p_value_above(&self, bound: f64) -> f64 {
        match *self {
            Self::Score { test, is_of_second: false } => test.p_value_above(bound),
            Self::Score { test, is_of_second: true } => test.p_value_below(1.0 - bound),
            Self::Sprt { p } => p,
            Self::MeanScore(mean) => mean.p_value_above(bound),
            Self::Gain(gain) => gain.p_value_above(bound),
            Self::TimeRatio(log) => log.p_value_above(libm::log(bound)),
            Self::Found(found) => found.p_value_above(bound),
            Self::RatingLead(lead) => lead.p_value_above(bound),
        }
    }

    fn p_value_below(&self, bound: f64) -> f64 {
        match *self {
            Self::Score { test, is_of_second: false } => test.p_value_below(bound),
            Self::Score { test, is_of_second: true } => test.p_value_above(1.0 - bound),
            Self::Sprt { p } => p,
            Self::MeanScore(mean) => mean.p_value_below(bound),
            Self::Gain(gain) => gain.p_value_below(bound),
            Self::TimeRatio(log) => log.p_value_below(libm::log(bound)),
            Self::Found(found) => found.p_value_below(bound),
            Self::RatingLead(lead) => lead.p_value_below(bound),
        }
    }

    /// The evidence of an SPRT that ended its cell with this verdict, or without any; `None` if it tests something else
    /// than this bound of the first player's score, or of the second's.
    #[must_use]
    pub fn from_sprt(
        sprt: &Sprt,
        verdict: Option<Verdict>,
        bound: Bound,
        is_of_second: bool,
    ) -> Option<Self> {
        let bound = if is_of_second { bound.seen_by_opponent() } else { bound };
        let (shows, error) = bound.tested_by(sprt)?;
        Some(Self::Sprt { p: if verdict == Some(shows) { error } else { 1.0 } })
    }

    /// The figure with its interval at this error, half of it on either side; `None` if it has none.
    #[must_use]
    pub fn interval(&self, error: f64) -> Option<Interval> {
        let interval = match *self {
            Self::Score { test, is_of_second } => {
                let first = test.interval(error);
                let ScoreInterval { score, low, high } =
                    if is_of_second { first.seen_by_opponent() } else { first };
                Interval { value: score, low, high }
            }
            Self::Sprt { .. } => return None,
            Self::MeanScore(mean) => mean.interval(error).clamped(0.0, 1.0),
            Self::Gain(gain) => gain.interval(error).clamped(-1.0, 1.0),
            Self::TimeRatio(log) => log.interval(error).map(libm::exp),
            Self::Found(found) => found.interval(error)?,
            Self::RatingLead(lead) => lead.interval(error),
        };
        (interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
    }
}
