//! Options declared by UCI engines.

use std::fmt;

use super::tokens::Tokens;

/// The protocol's word for an empty text.
const EMPTY: &str = "<empty>";

/// An option of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name, including blanks. Case is ignored.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Check {
        /// Its default.
        default: bool,
    },
    /// A whole number.
    Spin {
        /// Its default.
        default: i64,
        /// The smallest.
        min: i64,
        /// The largest.
        max: i64,
    },
    /// One of several words, which may have blanks.
    Combo {
        /// Its default.
        default: String,
        /// Its possible values.
        choices: Vec<String>,
    },
    /// No value: setting it means pressing it.
    Button,
    /// Any text.
    Text {
        /// Its default.
        default: String,
    },
}

impl Declared {
    /// Parses the text after `option`; `None` without a name or with an unknown type.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = Tokens::new(text);
        if words.next()? != "name" {
            return None;
        }
        let name = words.until(|word| word == "type").to_owned();
        words.next()?;
        let kind = match words.next()? {
            "check" => {
                let default = words.skip_while(|word| *word != "default").nth(1);
                Kind::Check {
                    default: default.is_some_and(|value| value.eq_ignore_ascii_case("true")),
                }
            }
            "spin" => spin(words),
            "combo" => combo(words),
            "button" => Kind::Button,
            "string" => {
                let default = match words.next() {
                    Some("default") => words.rest(),
                    _ => "",
                };
                Kind::Text { default: unless_empty(default).to_owned() }
            }
            _ => return None,
        };
        (!name.is_empty()).then_some(Self { name, kind })
    }

    /// The problem with a value in `setoption`, `None` being no value. Undeclared values have unspecified
    /// effects.
    #[must_use]
    pub fn problem_with(&self, value: Option<&str>) -> Option<String> {
        match (&self.kind, value) {
            (Kind::Button, None) => None,
            (Kind::Button, Some(_)) => Some("it is a button, and takes no value".to_owned()),
            (_, None) => Some("it is no button, and takes a value".to_owned()),
            (Kind::Check { .. }, Some("true" | "false")) | (Kind::Text { .. }, Some(_)) => None,
            (Kind::Check { .. }, Some(value)) => {
                Some(format!("`{value}` is neither `true` nor `false`"))
            }
            (Kind::Spin { min, max, .. }, Some(value)) => match value.parse::<i64>() {
                Ok(number) if (*min..=*max).contains(&number) => None,
                _ => Some(format!("`{value}` is no whole number from {min} to {max}")),
            },
            (Kind::Combo { choices, .. }, Some(value)) => {
                let is_there = choices.iter().any(|choice| choice.eq_ignore_ascii_case(value));
                (!is_there).then(|| format!("`{value}` is none of `{}`", choices.join("`, `")))
            }
        }
    }
}

fn spin(mut words: Tokens<'_>) -> Kind {
    let (mut default, mut min, mut max) = (None, None, None);
    while let Some(word) = words.next() {
        let field = match word {
            "default" => &mut default,
            "min" => &mut min,
            "max" => &mut max,
            _ => continue,
        };
        *field = words.number().or(*field);
    }
    let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
    Kind::Spin { default: default.unwrap_or(0), min, max }
}

fn combo(mut words: Tokens<'_>) -> Kind {
    let (mut default, mut choices) = (String::new(), Vec::new());
    while let Some(word) = words.next() {
        // A choice may be called `default`.
        match word {
            "default" if default.is_empty() && choices.is_empty() => {
                words.until(|word| word == "var").clone_into(&mut default);
            }
            "var" => choices.push(unless_empty(words.until(|word| word == "var")).to_owned()),
            _ => {}
        }
    }
    let default = unless_empty(&default).to_owned();
    Kind::Combo { default, choices }
}

fn unless_empty(text: &str) -> &str {
    if text == EMPTY { "" } else { text }
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| if text.is_empty() { EMPTY.to_owned() } else { text.to_owned() };
        write!(f, "name {} type ", self.name)?;
        match &self.kind {
            Kind::Check { default } => write!(f, "check default {default}"),
            Kind::Spin { default, min, max } => {
                write!(f, "spin default {default} min {min} max {max}")
            }
            Kind::Combo { default, choices } => {
                write!(f, "combo default {}", shown(default))?;
                choices.iter().try_for_each(|choice| write!(f, " var {}", shown(choice)))
            }
            Kind::Button => f.write_str("button"),
            Kind::Text { default } => write!(f, "string default {}", shown(default)),
        }
    }
}
