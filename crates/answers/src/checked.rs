//! Checks of answers that are read, beyond those of their types.

use std::fmt;

/// The greatest count: 2^53 - 1, which every reader of JSON holds exactly. Sums of a few thousand counts do not
/// overflow.
const COUNT_MAX: u64 = (1 << 53) - 1;

/// Why an answer is inconsistent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Inconsistent(String);

/// Reads and writes a type by what it derives with `#[serde(remote = "Self")]`, and calls its `check` after reading.
/// Functions that read any type call these implementations; the inherent `deserialize` that serde derives does not
/// check.
macro_rules! checked_on_reading {
    ($($answer:ty),+) => {$(
        impl serde::Serialize for $answer {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, serializer)
            }
        }

        $crate::checked::checked_on_reading!(@read $answer);
    )+};
    (@read $answer:ty) => {
        impl<'de> serde::Deserialize<'de> for $answer {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let answer = Self::deserialize(deserializer)?;
                answer.check().map_err(serde::de::Error::custom)?;
                Ok(answer)
            }
        }
    };
}

pub(super) use checked_on_reading;

/// Writes a type by what it derives with `#[serde(remote = "Self")]`, and after it the figures that follow from it.
macro_rules! written_with_figures {
    ($answer:ty, $figures:ty) => {
        impl serde::Serialize for $answer {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                #[derive(serde::Serialize)]
                struct Whole<'a> {
                    #[serde(flatten, serialize_with = "write")]
                    answer: &'a $answer,
                    #[serde(flatten)]
                    figures: $figures,
                }

                fn write<S: serde::Serializer>(
                    answer: &&$answer,
                    serializer: S,
                ) -> Result<S::Ok, S::Error> {
                    <$answer>::serialize(answer, serializer)
                }

                serde::Serialize::serialize(
                    &Whole { answer: self, figures: self.into() },
                    serializer,
                )
            }
        }
    };
}

pub(super) use written_with_figures;

impl Inconsistent {
    pub(super) fn new(problem: impl fmt::Display) -> Self {
        Self(problem.to_string())
    }
}

/// Checks that each item has a value, or none, on every axis.
pub(super) fn check_places<'a>(
    items: &str,
    axes: &[String],
    mut places: impl Iterator<Item = &'a [Option<String>]>,
) -> Result<(), Inconsistent> {
    let axes = axes.len();
    match places.find(|place| place.len() != axes) {
        None => Ok(()),
        Some(place) => {
            let problem = format_args!("{items} with values on {} of {axes} axes", place.len());
            Err(Inconsistent::new(problem))
        }
    }
}

/// Checks that sums of these counts do not overflow.
pub(super) fn check_counts(
    items: &str,
    counts: impl IntoIterator<Item = u64>,
) -> Result<(), Inconsistent> {
    match counts.into_iter().find(|&count| count > COUNT_MAX) {
        None => Ok(()),
        Some(count) => {
            let problem = format_args!("{items} with a count of {count}, above {COUNT_MAX}");
            Err(Inconsistent::new(problem))
        }
    }
}
