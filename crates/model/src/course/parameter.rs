//! A parameter that a course decides about: what it may be, and how its values are written.

use spelrum_engine::{Value, format_duration_us};

use crate::plan::cell::AxisValue;

/// A parameter of a player with the numbers that it may have.
#[derive(Clone, Debug, PartialEq)]
pub struct LedParameter {
    /// Its name in sweeps.
    pub name: String,
    /// Its name in definitions.
    pub key: String,
    /// What its numbers are.
    pub unit: Unit,
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Whether equal ratios are equal steps, and not equal differences.
    pub log: bool,
}

/// What the numbers of a parameter are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Durations in whole microseconds; shown in milliseconds.
    Microseconds,
    /// Whole numbers.
    Whole,
    /// Any numbers.
    Real,
}

impl LedParameter {
    /// Whether it has whole numbers only.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.unit != Unit::Real
    }

    /// The number of it that is nearest.
    #[must_use]
    pub fn rounded(&self, number: f64) -> f64 {
        if self.is_whole() { number.round().clamp(self.low, self.high) } else { number }
    }

    /// A number of it, as definitions have it.
    #[must_use]
    pub fn value(&self, number: f64) -> Value {
        match self.unit {
            Unit::Microseconds | Unit::Whole => Value::Integer(number.round() as i64),
            Unit::Real => Value::Number(number),
        }
    }

    /// A number of it, as reports and SQL show it.
    #[must_use]
    pub fn shown(&self, number: f64) -> AxisValue {
        match self.unit {
            Unit::Microseconds => {
                let text = format_duration_us(number.round().max(0.0) as u64);
                AxisValue { number: Some(number.round() / 1_000.0), text }
            }
            Unit::Whole => {
                let whole = number.round();
                AxisValue { number: Some(whole), text: format!("{whole}") }
            }
            Unit::Real => AxisValue { number: Some(number), text: format!("{number}") },
        }
    }
}
