//! A parameter that a course decides: its possible values, and their forms.

use spelrum_engine::{Value, format_duration_us};

use crate::plan::cell::AxisValue;

/// A parameter of a player, with its range of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct LedParameter {
    /// Its name in sweeps.
    pub name: String,
    /// Its name in definitions.
    pub key: String,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The smallest number.
    pub low: f64,
    /// The greatest number.
    pub high: f64,
    /// Whether equal steps are equal ratios instead of equal differences.
    pub log: bool,
}

/// The unit of a parameter's numbers.
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
    /// Whether all numbers are whole.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.unit != Unit::Real
    }

    /// The nearest valid number.
    #[must_use]
    pub fn rounded(&self, number: f64) -> f64 {
        if self.is_whole() { number.round().clamp(self.low, self.high) } else { number }
    }

    /// A number in the form used by definitions.
    #[must_use]
    pub fn value(&self, number: f64) -> Value {
        match self.unit {
            Unit::Microseconds | Unit::Whole => Value::Integer(number.round() as i64),
            Unit::Real => Value::Number(number),
        }
    }

    /// A number in the form shown by reports and SQL.
    #[must_use]
    pub fn shown(&self, number: f64) -> AxisValue {
        match self.unit {
            Unit::Microseconds => {
                let text = format_duration_us(number.round().max(0.0) as u64);
                AxisValue { number: Some(number.round() / 1_000.0), text }
            }
            Unit::Whole => {
                let rounded = number.round();
                AxisValue { number: Some(rounded), text: format!("{rounded}") }
            }
            Unit::Real => AxisValue { number: Some(number), text: format!("{number}") },
        }
    }
}
