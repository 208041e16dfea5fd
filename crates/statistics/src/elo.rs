//! Differences in Elo and expected scores, by the logistic model.

/// The Elo difference of an expected score; infinite at or below 0 and at or above 1.
#[must_use]
pub fn elo_of_score(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        // Adding zero makes the zero of an even score positive.
        -400.0 * libm::log10(1.0 / score - 1.0) + 0.0
    }
}

/// The expected score at a difference in Elo.
#[must_use]
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + libm::exp10(-elo / 400.0))
}
