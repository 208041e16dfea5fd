//! Wald's sequential probability ratio test between two strengths, with the generalised likelihood
//! ratio of match runners (Van den Bergh, "Normalized Elo", 2021).
//!
//! The distribution of scores of two players is unknown; a hypothesis only states their strength. So the ratio compares
//! the likeliest distribution under each hypothesis. The test decides where a cell ends, so logarithms are those of
//! `libm` (invariant 2).

use core::f64::consts::LN_10;

use roots::find_root_brent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_names::Names;

use crate::counts::{GameCounts, PairCounts};
use crate::elo::score_of_elo;
use crate::root::Tolerance;

/// The units of a test's strengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Names)]
#[serde(rename_all = "snake_case")]
pub enum EloModel {
    /// Normalized Elo: a lead in units of the standard deviation of a game's score. A test takes about the same number
    /// of games for any share of draws.
    #[default]
    Normalized,
    /// Elo from the expected score by the logistic function: the same difference is fewer points if draws are frequent.
    Logistic,
}

/// An SPRT of whether the first player is `elo1` or `elo0` stronger than the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SprtForm")]
#[schemars(!try_from)]
pub struct Sprt {
    /// The difference of H0, in Elo of the model.
    elo0: f64,
    /// The difference of H1, in Elo of the model.
    elo1: f64,
    /// The probability of accepting H1 if H0 holds.
    alpha: f64,
    /// The probability of accepting H0 if H1 holds.
    beta: f64,
    /// The units of both differences.
    model: EloModel,
    /// Whether the test is over pairs even if openings repeat.
    over_pairs: bool,
}

/// No figure is NaN.
impl Eq for Sprt {}

/// The verdict of an SPRT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Names)]
pub enum Verdict {
    /// `elo0` rather than `elo1`.
    Elo0,
    /// `elo1` rather than `elo0`.
    Elo1,
}

/// The largest strength to test for, in Elo of either model and of either sign. Hardly any distribution of a pair's
/// scores exceeds it.
pub const SPRT_ELO_MAX: f64 = 200.0;

/// The exclusive upper bound of both error probabilities.
pub const SPRT_ERROR_MAX: f64 = 0.5;

/// The count assumed for a unit's class that was never seen.
const NEVER_SEEN: f64 = 1e-3;

/// A test as read, not yet checked.
#[derive(Deserialize)]
struct SprtForm {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: EloModel,
    over_pairs: bool,
}

impl TryFrom<SprtForm> for Sprt {
    type Error = &'static str;

    fn try_from(form: SprtForm) -> Result<Self, &'static str> {
        let SprtForm { elo0, elo1, alpha, beta, model, over_pairs } = form;
        let sprt = Self::new(elo0, elo1, alpha, beta, model)
            .ok_or("an SPRT has elo0 below elo1, and alpha and beta between 0 and 0.5")?;
        Ok(if over_pairs { sprt.over_pairs() } else { sprt })
    }
}

impl Sprt {
    /// Creates the test between `elo0` and a larger `elo1`, both within [`SPRT_ELO_MAX`]. It accepts `elo1` with
    /// probability `alpha` if `elo0` is true, and `elo0` with probability `beta` if `elo1` is true; both are above 0
    /// and below [`SPRT_ERROR_MAX`]. `None` for other figures.
    #[must_use]
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64, model: EloModel) -> Option<Self> {
        let is_strength = |elo: f64| elo.abs() <= SPRT_ELO_MAX;
        let is_error = |probability: f64| probability > 0.0 && probability < SPRT_ERROR_MAX;
        let is_test = is_strength(elo0) && is_strength(elo1) && elo0 < elo1;
        // Adding zero turns `-0` into a positive zero, so that equal tests are written alike.
        (is_test && is_error(alpha) && is_error(beta)).then_some(Self {
            elo0: elo0 + 0.0,
            elo1: elo1 + 0.0,
            alpha,
            beta,
            model,
            over_pairs: false,
        })
    }

    /// The same test, treating pairs (games if sides are fixed) as independent even if openings repeat, as all tests
    /// once did.
    #[must_use]
    pub const fn over_pairs(self) -> Self {
        Self { over_pairs: true, ..self }
    }

    /// Whether the test treats pairs as independent even if openings repeat.
    #[must_use]
    pub const fn is_over_pairs(&self) -> bool {
        self.over_pairs
    }

    /// The weaker hypothesis, in Elo.
    #[must_use]
    pub const fn elo0(&self) -> f64 {
        self.elo0
    }

    /// The stronger hypothesis, in Elo.
    #[must_use]
    pub const fn elo1(&self) -> f64 {
        self.elo1
    }

    /// The strength accepted by a verdict.
    #[must_use]
    pub const fn accepted_elo(&self, verdict: Verdict) -> f64 {
        match verdict {
            Verdict::Elo0 => self.elo0,
            Verdict::Elo1 => self.elo1,
        }
    }

    /// The probability of accepting `elo1` if `elo0` is true.
    #[must_use]
    pub const fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The probability of accepting `elo0` if `elo1` is true.
    #[must_use]
    pub const fn beta(&self) -> f64 {
        self.beta
    }

    /// The units of its strengths.
    #[must_use]
    pub const fn model(&self) -> EloModel {
        self.model
    }

    /// The log-likelihood ratios at or below which the test accepts `elo0`, and at or above which it accepts `elo1`
    /// (Wald 1945).
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        let Self { alpha, beta, .. } = *self;
        [libm::log(beta / (1.0 - alpha)), libm::log((1.0 - beta) / alpha)]
    }

    /// The verdict at a log-likelihood ratio; `None` between the bounds.
    #[must_use]
    pub fn verdict(&self, llr: f64) -> Option<Verdict> {
        let [lower, upper] = self.bounds();
        if llr <= lower {
            Some(Verdict::Elo0)
        } else if llr >= upper {
            Some(Verdict::Elo1)
        } else {
            None
        }
    }

    /// The leads over one half under `elo0` and `elo1`, in standard deviations of the score of a unit of this many games,
    /// whose variance matters to the logistic model alone.
    pub(super) fn leads(&self, games_of_unit: u64, variance: f64) -> [f64; 2] {
        [self.elo0, self.elo1].map(|elo| match self.model {
            EloModel::Logistic => (score_of_elo(elo) - 0.5) / variance.sqrt(),
            EloModel::Normalized => normalized_lead(elo, games_of_unit as f64),
        })
    }

    /// The log-likelihood ratio of `elo1` to `elo0` over pairs; 0 without pairs.
    #[must_use]
    pub fn llr_of_pairs(&self, pairs: &PairCounts) -> f64 {
        self.llr(&pairs.0, 2.0)
    }

    /// The log-likelihood ratio over games with fixed sides.
    #[must_use]
    pub fn llr_of_games(&self, games: &GameCounts) -> f64 {
        self.llr(&games.0, 1.0)
    }

    /// `games` is the number of games averaged in one counted score.
    fn llr<const CLASSES: usize>(&self, counts: &[u64; CLASSES], games: f64) -> f64 {
        if counts.iter().all(|&count| count == 0) {
            return 0.0;
        }
        let counts = counts.map(|count| if count == 0 { NEVER_SEEN } else { count as f64 });
        let total: f64 = counts.iter().sum();
        let seen = Distribution(counts.map(|count| count / total));
        let [under0, under1] = [self.elo0, self.elo1].map(|elo| match self.model {
            EloModel::Logistic => seen.likeliest_of_mean(score_of_elo(elo)),
            EloModel::Normalized => seen.likeliest_of_t_value(normalized_lead(elo, games)),
        });
        let ratios = under1.0.iter().zip(&under0.0).map(|(p1, p0)| libm::log(p1 / p0));
        counts.iter().zip(ratios).map(|(count, ratio)| count * ratio).sum()
    }
}

/// Normalized Elo as a lead over one half, in standard deviations of the score of a unit of so many games.
pub(super) fn normalized_lead(elo: f64, games_of_unit: f64) -> f64 {
    elo * games_of_unit.sqrt() * LN_10 / 800.0
}

/// The probability of each score from 0 to 1 in equal steps. Each is above 0.
#[derive(Clone, Copy)]
struct Distribution<const CLASSES: usize>([f64; CLASSES]);

impl<const CLASSES: usize> Distribution<CLASSES> {
    fn score(class: usize) -> f64 {
        class as f64 / (CLASSES - 1) as f64
    }

    /// The likeliest distribution with this mean, given the observed one.
    fn likeliest_of_mean(&self, mean: f64) -> Self {
        let [mut distances, mut tilted] = [[0.0; CLASSES]; 2];
        for (class, distance) in distances.iter_mut().enumerate() {
            *distance = Self::score(class) - mean;
        }
        self.likeliest_where_none_is_left(&distances, &mut tilted);
        Self(tilted)
    }

    /// The likeliest distribution whose mean is this many of its standard deviations above one half.
    ///
    /// The condition is not linear in the probabilities: it is replaced by its tangent at the previous distribution,
    /// until nothing changes.
    fn likeliest_of_t_value(&self, t: f64) -> Self {
        let mut likeliest = Self([1.0 / CLASSES as f64; CLASSES]);
        for _ in 0..TANGENTS_MAX {
            let (mean, deviation) = likeliest.moments();
            let mut distances = [0.0; CLASSES];
            for (class, distance) in distances.iter_mut().enumerate() {
                let score = Self::score(class);
                let off = (score - mean) / deviation;
                *distance = score - 0.5 - t * deviation * (1.0 + off * off) / 2.0;
            }
            let before = likeliest.0;
            if !self.likeliest_where_none_is_left(&distances, &mut likeliest.0) {
                break;
            }
            let change = before.iter().zip(&likeliest.0).map(|(a, b)| (a - b).abs());
            if change.fold(0.0, f64::max) < UNCHANGED {
                break;
            }
        }
        likeliest
    }

    /// The likeliest distribution in which the mean of these distances is 0, given the observed one: each class's
    /// probability is divided by 1 + tilt × distance. `None` without distances of both signs.
    fn likeliest_where_none_is_left(
        &self,
        distances: &[f64; CLASSES],
        tilted: &mut [f64; CLASSES],
    ) -> bool {
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let most = distances.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !(least < 0.0 && most > 0.0) {
            return false;
        }
        // The sum is infinite where a divisor is 0; between, it falls from one infinity to the other.
        let [low, high] = [-1.0 / most, -1.0 / least];
        let left = |tilt: f64| {
            self.0.iter().zip(distances).map(|(p, d)| p * d / (1.0 + tilt * d)).sum::<f64>()
        };
        let inset = (high - low) * INSET;
        let mut tolerance = Tolerance((high - low) * f64::EPSILON);
        let tilt = find_root_brent(low + inset, high - inset, left, &mut tolerance);
        // There is no change of sign only if the root is nearer to an end than the inset.
        let tilt = tilt.unwrap_or(if left(low + inset) < 0.0 { low + inset } else { high - inset });
        for ((p, d), tilted) in self.0.iter().zip(distances).zip(tilted) {
            *tilted = p / (1.0 + tilt * d);
        }
        true
    }

    fn moments(&self) -> (f64, f64) {
        let scored = || self.0.iter().enumerate().map(|(class, p)| (Self::score(class), p));
        let mean = scored().map(|(score, p)| score * p).sum::<f64>();
        let variance = scored().map(|(score, p)| p * (score - mean) * (score - mean)).sum::<f64>();
        (mean, variance.sqrt())
    }
}

/// Most tangent steps.
const TANGENTS_MAX: u32 = 100;

/// The largest change of a probability that counts as none.
const UNCHANGED: f64 = 1e-12;

/// The distance of the searched tilts from the ends, as a share of the range between them.
const INSET: f64 = 1e-13;
