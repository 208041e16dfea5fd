//! A parameter that a course decides: its possible values, and their forms.

use spelrum_engine::{Parameters, Value, format_duration_us};

use crate::plan::cell::AxisValue;

/// The parameter of an external player that holds its engine's options.
pub const OPTIONS: &str = "options";

/// The engine option that a parameter's name means: `options.Skill Level`, or `options."Skill Level"` as TOML writes
/// it. `None` for other parameters.
#[must_use]
pub fn option_named(name: &str) -> Option<&str> {
    let option = name.strip_prefix(OPTIONS)?.trim_start().strip_prefix('.')?.trim();
    let quoted =
        |mark: char| option.strip_prefix(mark).and_then(|option| option.strip_suffix(mark));
    Some(quoted('"').or_else(|| quoted('\'')).unwrap_or(option))
}

/// A parameter's value: of the player itself, or of its engine's option if the name is an option's. Case does not
/// matter to options.
#[must_use]
pub fn parameter<'a>(player: &'a Parameters, name: &str) -> Option<&'a Value> {
    let Some(option) = option_named(name) else { return player.get(name) };
    let Some(Value::Table(options)) = player.get(OPTIONS) else { return None };
    options.iter().find(|(name, _)| name.eq_ignore_ascii_case(option)).map(|(_, value)| value)
}

/// Gives a player this value of a parameter or of its engine's option, in place of the one that it has.
pub fn set_parameter(player: &mut Parameters, name: &str, value: Value) {
    let Some(option) = option_named(name) else {
        player.insert(name.to_owned(), value);
        return;
    };
    let options =
        player.entry(OPTIONS.to_owned()).or_insert_with(|| Value::Table(Parameters::new()));
    let Value::Table(options) = options else { return };
    let written = options.keys().find(|name| name.eq_ignore_ascii_case(option)).cloned();
    options.insert(written.unwrap_or_else(|| option.to_owned()), value);
}

/// A parameter of a player, with its range of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct LedParameter {
    /// Its name in sweeps.
    pub name: String,
    /// Its name in definitions: of a parameter, or of an engine's option, as [`option_named`] reads it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_named_with_or_without_quotes() {
        for name in [
            "options.Skill Level",
            "options.\"Skill Level\"",
            "options.'Skill Level'",
            "options . \"Skill Level\"",
        ] {
            assert_eq!(option_named(name), Some("Skill Level"), "{name}");
        }
        assert_eq!(option_named("options.a.b"), Some("a.b"));
        for name in ["options", "optionsHash", "depth", "option.Hash", ""] {
            assert_eq!(option_named(name), None, "{name}");
        }
    }

    #[test]
    fn an_option_is_replaced_whatever_its_case() {
        let mut player = Parameters::new();
        set_parameter(&mut player, "depth", Value::Integer(3));
        set_parameter(&mut player, "options.Skill Level", Value::Integer(5));
        set_parameter(&mut player, "options.skill level", Value::Integer(7));
        set_parameter(&mut player, "options.Hash", Value::Integer(16));
        let text = Value::Table(player.clone()).to_string();
        assert_eq!(parameter(&player, "options.SKILL LEVEL"), Some(&Value::Integer(7)), "{text}");
        assert_eq!(parameter(&player, "options.Hash"), Some(&Value::Integer(16)));
        assert_eq!(parameter(&player, "options.Threads"), None);
        assert_eq!(parameter(&player, "depth"), Some(&Value::Integer(3)));
        let Some(Value::Table(options)) = player.get(OPTIONS) else { panic!("{text}") };
        assert_eq!(options.len(), 2, "{text}");
    }
}
