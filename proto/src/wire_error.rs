//! Errors in messages.

use std::fmt;

use spelrum_engine::MARGIN_MAX;
use spelrum_model::labels::LABEL_BYTES_MAX;

use crate::limits::NUMBER_MAX;

/// A malformed message: the field and the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The field's path from the message's root, such as `results[3].game.moves[7].nodes`.
    pub field: String,
    /// The fault.
    pub fault: Fault,
}

/// A fault of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is absent, or a `oneof` with an unknown variant.
    Missing,
    /// An id that is not in 1..2^53.
    NotAnId(i64),
    /// A moment or a duration below zero.
    Negative(i64),
    /// A number that is 2^53 or more.
    NumberTooLarge(u64),
    /// A figure that is NaN or infinite.
    NotFinite,
    /// A number outside its range.
    OutOfRange {
        /// The number.
        value: u64,
        /// The least that is allowed.
        min: u64,
        /// The greatest.
        max: u64,
    },
    /// A margin beyond what a game may have.
    MarginTooLarge(i32),
    /// A hash that is not 32 bytes long.
    NotAHash {
        /// Its length.
        bytes: usize,
    },
    /// A secret that is not 32 bytes long.
    NotASecret {
        /// Its length.
        bytes: usize,
    },
    /// An invalid UUID.
    NotAUuid,
    /// A word unknown to this program.
    UnknownWord(String),
    /// A number without a variant in its enumeration.
    UnknownVariant(i32),
    /// A text that is too long.
    TooLong {
        /// Its length.
        bytes: usize,
        /// The bound.
        max: usize,
    },
    /// A text that is empty or has control characters.
    NotPlainText,
    /// Too many of something.
    TooMany {
        /// How many.
        count: usize,
        /// The bound.
        max: usize,
    },
    /// A worker's label with an invalid name or value.
    NotALabel,
    /// A duplicate.
    Repeated,
}

impl WireError {
    pub(crate) fn new(field: impl Into<String>, fault: Fault) -> Self {
        Self { field: field.into(), fault }
    }

    /// The same error, as a field of the message that holds this one in `parent`.
    pub(crate) fn within(mut self, parent: impl fmt::Display) -> Self {
        self.field = format!("{parent}.{}", self.field);
        self
    }
}

impl std::error::Error for WireError {}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the message's field {} ", self.field)?;
        match &self.fault {
            Fault::Missing => write!(f, "is missing, or of a kind that this version does not know"),
            Fault::NotAnId(id) => write!(f, "is {id}, which is not an id (1 to {NUMBER_MAX})"),
            Fault::Negative(number) => write!(f, "is {number}, which is less than 0"),
            Fault::NumberTooLarge(number) => {
                write!(f, "is {number}, which is more than {NUMBER_MAX}")
            }
            Fault::NotFinite => write!(f, "is not a finite number"),
            Fault::OutOfRange { value, min, max } => {
                write!(f, "is {value}, which is not in {min} to {max}")
            }
            Fault::MarginTooLarge(margin) => {
                write!(f, "is {margin}, which is not in -{MARGIN_MAX} to {MARGIN_MAX}")
            }
            Fault::NotAHash { bytes } => write!(f, "has {bytes} bytes, but a hash has 32"),
            Fault::NotASecret { bytes } => write!(f, "has {bytes} bytes, but a secret has 32"),
            Fault::NotAUuid => write!(f, "is not a UUID"),
            Fault::UnknownWord(word) => write!(f, "is {word:?}, which this version does not know"),
            Fault::UnknownVariant(number) => {
                write!(f, "is {number}, which this version does not know")
            }
            Fault::TooLong { bytes, max } => {
                write!(f, "has {bytes} bytes, which is more than {max}")
            }
            Fault::NotPlainText => write!(f, "is empty or has control characters"),
            Fault::TooMany { count, max } => {
                write!(f, "has {count} items, which is more than {max}")
            }
            Fault::NotALabel => write!(
                f,
                "is not a label: letters, digits, '-', '_' and '.', a name of 1 to {LABEL_BYTES_MAX} and a value of \
                 at most as many"
            ),
            Fault::Repeated => write!(f, "has the same name twice"),
        }
    }
}

/// An id: 1 to 2^53 - 1.
pub(crate) fn id(field: &str, id: i64) -> Result<i64, WireError> {
    match u64::try_from(id) {
        Ok(1..=NUMBER_MAX) => Ok(id),
        Ok(_) | Err(_) => Err(WireError::new(field, Fault::NotAnId(id))),
    }
}

/// A number below 2^53.
pub(crate) fn number(field: &str, number: u64) -> Result<u64, WireError> {
    if number <= NUMBER_MAX {
        Ok(number)
    } else {
        Err(WireError::new(field, Fault::NumberTooLarge(number)))
    }
}

/// A finite figure.
pub(crate) fn finite(field: &str, figure: f64) -> Result<f64, WireError> {
    if figure.is_finite() { Ok(figure) } else { Err(WireError::new(field, Fault::NotFinite)) }
}

/// A moment in microseconds since 1970, by a worker's clock, which may be arbitrary.
pub(crate) fn moment(field: &str, unix_us: i64) -> Result<i64, WireError> {
    let since =
        u64::try_from(unix_us).map_err(|_| WireError::new(field, Fault::Negative(unix_us)))?;
    number(field, since)?;
    Ok(unix_us)
}

/// A word for an error message, truncated: a sender's megabytes are not repeated.
pub(crate) fn unknown_word(word: &str) -> Fault {
    Fault::UnknownWord(word.chars().take(40).collect())
}

/// A number in a range.
pub(crate) fn in_range(field: &str, value: u64, min: u64, max: u64) -> Result<u64, WireError> {
    if (min..=max).contains(&value) {
        Ok(value)
    } else {
        Err(WireError::new(field, Fault::OutOfRange { value, min, max }))
    }
}

/// A margin within a game's bounds, if any.
pub(crate) fn margin(field: &str, margin: Option<i32>) -> Result<Option<i32>, WireError> {
    match margin {
        Some(margin) if margin.unsigned_abs() > MARGIN_MAX.unsigned_abs() => {
            Err(WireError::new(field, Fault::MarginTooLarge(margin)))
        }
        Some(_) | None => Ok(margin),
    }
}

/// A text of bounded length; may be empty.
pub(crate) fn text<'t>(field: &str, text: &'t str, max: usize) -> Result<&'t str, WireError> {
    if text.len() <= max {
        Ok(text)
    } else {
        Err(WireError::new(field, Fault::TooLong { bytes: text.len(), max }))
    }
}

/// A text of bounded length that is not empty and has no control characters: a name or notation.
pub(crate) fn plain_text<'t>(
    field: &str,
    value: &'t str,
    max: usize,
) -> Result<&'t str, WireError> {
    text(field, value, max)?;
    if value.is_empty() || value.chars().any(char::is_control) {
        return Err(WireError::new(field, Fault::NotPlainText));
    }
    Ok(value)
}

/// A bounded list.
pub(crate) fn at_most(field: &str, count: usize, max: usize) -> Result<(), WireError> {
    if count <= max { Ok(()) } else { Err(WireError::new(field, Fault::TooMany { count, max })) }
}
