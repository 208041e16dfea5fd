//! Labels of workers' machines, such as `site=lab2`, and sweeps' demands for them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most labels of a worker, and most of each kind that a sweep names.
pub const LABELS_MAX: usize = 32;

/// The longest name and the longest value, in bytes.
pub const LABEL_BYTES_MAX: usize = 63;

/// The label of a worker with Syzygy tables, such as `syzygy=5`: it has all tables of up to so many pieces, and so
/// meets demands for fewer. Its engines file gives it, and no person.
pub const SYZYGY_LABEL: &str = "syzygy";

/// A label of a worker's machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^[A-Za-z0-9._-]{1,63}(=[A-Za-z0-9._-]{0,63})?$"))]
pub struct Label {
    /// 1 to [`LABEL_BYTES_MAX`] letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// The same characters, or empty.
    pub value: String,
}

/// A label that a sweep names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WantedLabel {
    /// Its name.
    pub name: String,
    /// The required value; `None`: any.
    pub value: Option<String>,
}

/// Why a text is not a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoLabel {
    /// There is nothing before the `=`, or the text is empty.
    #[error("it has no name")]
    Unnamed,
    /// The text has other characters.
    #[error("names and values of labels have letters, digits, '-', '_' and '.' only")]
    Character,
    /// The text is too long.
    #[error("names and values of labels have at most {LABEL_BYTES_MAX} characters")]
    TooLong,
}

impl Label {
    /// Parses `site=lab2`, or `gpu`, which has no value.
    ///
    /// # Errors
    /// If the text is not a label.
    pub fn parse(text: &str) -> Result<Self, NoLabel> {
        let WantedLabel { name, value } = WantedLabel::parse(text)?;
        Ok(Self { name, value: value.unwrap_or_default() })
    }

    /// Checks the name and the value.
    ///
    /// # Errors
    /// The problem.
    pub fn check(&self) -> Result<(), NoLabel> {
        check_name(&self.name)?;
        check_characters(&self.value)
    }
}

impl WantedLabel {
    /// Parses `site=lab2`, or `site`, which any value satisfies.
    ///
    /// # Errors
    /// If the text is not a label.
    pub fn parse(text: &str) -> Result<Self, NoLabel> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        check_name(name)?;
        check_characters(value.unwrap_or_default())?;
        Ok(Self { name: name.to_owned(), value: value.map(str::to_owned) })
    }

    /// The demand for Syzygy tables of up to this many pieces.
    #[must_use]
    pub fn syzygy(pieces: u8) -> Self {
        Self { name: SYZYGY_LABEL.to_owned(), value: Some(pieces.to_string()) }
    }

    /// Whether one of these labels satisfies the demand.
    #[must_use]
    pub fn is_met_by(&self, labels: &[Label]) -> bool {
        let is_value = |label: &Label| {
            let Some(value) = &self.value else { return true };
            let has_more = || {
                let [wanted, has] = [value, &label.value].map(|text| text.parse::<u8>().ok());
                self.name == SYZYGY_LABEL && wanted.is_some() && has >= wanted
            };
            *value == label.value || has_more()
        };
        labels.iter().any(|label| label.name == self.name && is_value(label))
    }
}

fn check_name(name: &str) -> Result<(), NoLabel> {
    if name.is_empty() { Err(NoLabel::Unnamed) } else { check_characters(name) }
}

fn check_characters(text: &str) -> Result<(), NoLabel> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if !text.bytes().all(is_allowed) {
        Err(NoLabel::Character)
    } else if text.len() > LABEL_BYTES_MAX {
        Err(NoLabel::TooLong)
    } else {
        Ok(())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value.as_str() {
            "" => f.write_str(&self.name),
            value => write!(f, "{}={value}", self.name),
        }
    }
}

impl fmt::Display for WantedLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            None => f.write_str(&self.name),
            Some(value) => write!(f, "{}={value}", self.name),
        }
    }
}

impl TryFrom<String> for Label {
    type Error = NoLabel;

    fn try_from(text: String) -> Result<Self, NoLabel> {
        Self::parse(&text)
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.to_string()
    }
}

impl TryFrom<String> for WantedLabel {
    type Error = NoLabel;

    fn try_from(text: String) -> Result<Self, NoLabel> {
        Self::parse(&text)
    }
}

impl From<WantedLabel> for String {
    fn from(wanted: WantedLabel) -> Self {
        wanted.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(texts: &[&str]) -> Vec<Label> {
        texts.iter().map(|text| Label::parse(text).unwrap()).collect()
    }

    #[test]
    fn a_label_is_met_by_its_name_and_by_its_value_if_one_is_asked_for() {
        let machine = labels(&["site=lab2", "gpu", "room=3.14-b_c"]);
        let is_met = |text| WantedLabel::parse(text).unwrap().is_met_by(&machine);
        for text in ["site=lab2", "site", "gpu", "gpu=", "room=3.14-b_c"] {
            assert!(is_met(text), "{text}");
        }
        for text in ["site=lab", "site=", "Site=lab2", "gpu=1", "sit", "lab2"] {
            assert!(!is_met(text), "{text}");
        }
        assert!(!WantedLabel::parse("site").unwrap().is_met_by(&[]));
    }

    #[test]
    fn more_pieces_of_syzygy_tables_meet_demands_for_fewer() {
        let machine = labels(&["syzygy=5", "cores=8"]);
        for (text, is_met) in [
            ("syzygy=3", true),
            ("syzygy=5", true),
            ("syzygy=6", false),
            ("syzygy", true),
            ("syzygy=x", false),
            ("cores=4", false),
        ] {
            assert_eq!(WantedLabel::parse(text).unwrap().is_met_by(&machine), is_met, "{text}");
        }
        assert!(!WantedLabel::syzygy(3).is_met_by(&labels(&["syzygy", "syzygy=x"])));
        assert!(WantedLabel::syzygy(3).is_met_by(&labels(&["syzygy=7"])));
    }

    #[test]
    fn what_is_no_label_is_told() {
        let long = "x".repeat(LABEL_BYTES_MAX);
        assert!(Label::parse(&format!("{long}={long}")).is_ok());
        for (text, wrong) in [
            ("", NoLabel::Unnamed),
            ("=lab2", NoLabel::Unnamed),
            ("a=b=c", NoLabel::Character),
            ("a b", NoLabel::Character),
            ("a=é", NoLabel::Character),
            ("a=b\n", NoLabel::Character),
            (&*format!("{long}x"), NoLabel::TooLong),
            (&*format!("a={long}x"), NoLabel::TooLong),
        ] {
            assert_eq!(Label::parse(text), Err(wrong), "{text:?}");
            assert_eq!(WantedLabel::parse(text), Err(wrong), "{text:?}");
        }
    }

    #[test]
    fn labels_are_written_as_they_are_read() {
        for text in ["site=lab2", "gpu"] {
            assert_eq!(Label::parse(text).unwrap().to_string(), text);
        }
        for text in ["site=lab2", "gpu", "gpu="] {
            assert_eq!(WantedLabel::parse(text).unwrap().to_string(), text);
        }
    }
}
