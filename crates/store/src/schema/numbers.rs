//! Numbers as SQLite stores them, and the greatest that the database holds.

use spelrum_model::speed::{ScaledTime, Scaling};

use crate::error::StoreError;

/// The greatest number that the database holds: 2^53 - 1.
pub(crate) const SAFE_MAX: u64 = (1 << 53) - 1;

/// A count as a SQLite integer. Results are checked to be below 2^53 before they come here.
pub(crate) fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A length as a SQLite integer.
pub(crate) fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// A sum over one game as a SQLite integer: below 2^53.
#[expect(clippy::cast_possible_truncation, reason = "bounded, and without a fraction")]
pub(crate) fn bounded(sum: f64) -> i64 {
    sum.clamp(0.0, real(SAFE_MAX)) as i64
}

/// A count below 2^53 as a real, exactly.
#[expect(clippy::cast_precision_loss, reason = "below 2^53 nothing is lost")]
pub(crate) fn real(number: u64) -> f64 {
    number as f64
}

/// A number for storage, if the database can hold it.
pub fn safe(what: &'static str, value: u64) -> Result<i64, StoreError> {
    if value > SAFE_MAX { Err(StoreError::TooLarge { what, value }) } else { Ok(integer(value)) }
}

/// The scaling of an experiment's time limits, from its columns.
pub(crate) fn scaling(reference_speed: Option<u64>, factor_max_permille: u32) -> Option<Scaling> {
    reference_speed.map(|reference| Scaling { reference, factor_max_permille })
}

/// The columns of the scaling of an experiment's time limits.
pub(crate) fn scaling_columns(scaling: Option<Scaling>) -> (Option<i64>, u32) {
    let reference_speed = scaling.map(|scaling| integer(scaling.reference));
    (
        reference_speed,
        scaling.map_or(Scaling::FACTOR_MAX_PERMILLE, |scaling| scaling.factor_max_permille),
    )
}

/// The columns `time_factor` and `speed` of a game.
pub(crate) fn scaled_columns(scaled: Option<ScaledTime>) -> (Option<f64>, Option<i64>) {
    let factor = scaled.map(|scaled| f64::from(scaled.factor_permille) / 1_000.0);
    (factor, scaled.map(|scaled| integer(scaled.nodes_per_second)))
}

/// The scaling of time limits in a game, from its columns; `None` if they were not scaled or the columns are invalid.
pub(crate) fn scaled(time_factor: Option<f64>, speed: Option<i64>) -> Option<ScaledTime> {
    let factor_permille = permille(time_factor?)?;
    let nodes_per_second = u64::try_from(speed?).ok().filter(|speed| *speed > 0)?;
    Some(ScaledTime { factor_permille, nodes_per_second })
}

/// A factor in thousandths, if valid.
pub(crate) fn permille(factor: f64) -> Option<u32> {
    let permille = (factor * 1_000.0).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in bounds")]
    (1.0..=f64::from(u32::MAX)).contains(&permille).then_some(permille as u32)
}
