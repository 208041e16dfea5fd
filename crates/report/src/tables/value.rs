//! Values of rows: with all their digits for programs, rounded for people.

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use spelrum_statistics::Interval;

use crate::text::{count, duration_us, percent, ratio, relative_error, signed};

/// A value in a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value<'a> {
    /// Unknown, or not applicable.
    Null,
    /// Left out, with its key.
    Absent,
    Bool(bool),
    Count(u64),
    Id(i64),
    Real(f64),
    Text(Cow<'a, str>),
    List(Vec<Self>),
    /// A value on each axis, in the order of the axes.
    Places(Vec<Option<&'a str>>),
    /// Pairs of games by the player's points: 0, ½, 1, 1½ and 2.
    Pairs([u64; 5]),
    #[serde(serialize_with = "serialize_object")]
    Object(Vec<(&'static str, Self)>),
}

/// Writes values by their keys, without those that are absent.
pub(crate) fn serialize_object<S: Serializer>(
    object: &[(&'static str, Value<'_>)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let present = object.iter().filter(|(_, value)| *value != Value::Absent);
    serializer.collect_map(present.map(|(key, value)| (key, value)))
}

impl<'a> Value<'a> {
    pub(crate) fn list<V: Into<Self>>(values: impl IntoIterator<Item = V>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }

    pub(crate) fn places(values: &'a [Option<String>]) -> Self {
        Self::Places(values.iter().map(Option::as_deref).collect())
    }

    /// A value that is left out where it is not known.
    pub(crate) fn or_absent(value: Option<impl Into<Self>>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Value<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Value<'_> {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<i64> for Value<'_> {
    fn from(id: i64) -> Self {
        Self::Id(id)
    }
}

/// JSON has no other numbers than finite ones.
impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Real(number) } else { Self::Null }
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl<const N: usize> From<[(&'static str, Self); N]> for Value<'_> {
    fn from(object: [(&'static str, Self); N]) -> Self {
        Self::Object(object.into())
    }
}

impl<'a, V: Into<Self>> From<Option<V>> for Value<'a> {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Returns the ends of an interval.
pub(crate) fn ends(interval: Option<Interval>) -> [Option<f64>; 2] {
    [interval.map(|bounds| bounds.low), interval.map(|bounds| bounds.high)]
}

/// How people read a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Words, aligned to the left. All others are numbers, aligned to the right.
    Words,
    /// `1,234`
    Count,
    /// `1234`
    Digits,
    /// With this many digits after the point: `0.625`.
    Decimals(usize),
    /// `+36`
    Elo,
    /// `±35`; nothing for a difference that is fixed by definition.
    EloError,
    /// `+0.083`
    Points,
    /// `0.75 %`
    Percent,
    /// `12.3 µs`
    Duration,
    /// `×1.50`
    Ratio,
    /// `±9%`
    RelativeError,
}

impl Form {
    pub(crate) const fn is_of_words(self) -> bool {
        matches!(self, Self::Words)
    }

    /// Formats a value; an unknown one as a dash.
    pub(crate) fn text(self, value: &Value<'_>) -> String {
        let number = match value {
            Value::Text(text) => return text.clone().into_owned(),
            Value::Count(number) if self == Self::Count => return count(*number),
            Value::Count(number) => *number as f64,
            Value::Id(number) => *number as f64,
            Value::Real(number) => *number,
            Value::Null
            | Value::Absent
            | Value::Bool(_)
            | Value::List(_)
            | Value::Places(_)
            | Value::Pairs(_)
            | Value::Object(_) => return "-".to_owned(),
        };
        match self {
            Self::Words | Self::Count | Self::Digits => number.to_string(),
            Self::Decimals(places) => format!("{number:.places$}"),
            Self::Elo => signed(number),
            Self::EloError if number == 0.0 => String::new(),
            Self::EloError => format!("±{number:.0}"),
            // A zero has no sign of its own.
            Self::Points => format!("{:+.3}", number + 0.0),
            Self::Percent => percent(number),
            Self::Duration => duration_us(number),
            Self::Ratio => ratio(number),
            Self::RelativeError => relative_error(number),
        }
    }
}
