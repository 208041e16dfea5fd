//! TOML as a tree in which every key and value has its place.

use std::fmt;

use spelrum_engine::Value;
use toml::de::{DeTable, DeValue};

use crate::fault::{Fault, Span};

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    /// For a table under a header, the header.
    pub(super) place: Span,
    /// The value.
    pub(super) tree: Tree,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// `true`, a number or a text.
    Scalar(Scalar),
    /// A list.
    Array(Vec<Node>),
    /// A table.
    Table(Table),
}

/// A value without parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Bool(bool),
    Integer(i64),
    /// Finite.
    Number(f64),
    Text(String),
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Integer(integer) => Self::Integer(integer),
            Scalar::Number(number) => Self::Number(number),
            Scalar::Text(text) => Self::Text(text),
        }
    }
}

/// A table in the file's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Keys are distinct.
    pub(super) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_place: Span,
    pub(super) value: Node,
}

/// Reads a file.
pub(super) fn parse(text: &str) -> Result<Table, Fault> {
    let root = DeTable::parse(text).map_err(|error| Fault {
        problem: format!("this is not TOML: {}", error.message()),
        remedy: "a sweep has lines such as `games = 100`, texts in \"quotes\", headers such as \
                 `[players.alphabeta]`, and every key once"
            .to_owned(),
        place: error.span().map(|span| span.start.min(text.len())..span.end.min(text.len())),
    })?;
    table(root.into_inner())
}

fn table(table: DeTable<'_>) -> Result<Table, Fault> {
    let entry = |(key, value): (toml::Spanned<_>, toml::Spanned<_>)| {
        let key_place = key.span();
        Ok(Entry { key: String::from(key.into_inner()), key_place, value: node(value)? })
    };
    let mut entries: Vec<Entry> = table.into_iter().map(entry).collect::<Result<_, Fault>>()?;
    entries.sort_by_key(|entry| entry.key_place.start);
    Ok(Table { entries })
}

fn node(value: toml::Spanned<DeValue<'_>>) -> Result<Node, Fault> {
    let place = value.span();
    let tree = match value.into_inner() {
        DeValue::Boolean(value) => Tree::Scalar(Scalar::Bool(value)),
        DeValue::Integer(digits) => {
            let integer = i64::from_str_radix(digits.as_str(), digits.radix()).map_err(|_| {
                Fault::at(&place, "this number is too large", "write a smaller number")
            })?;
            Tree::Scalar(Scalar::Integer(integer))
        }
        DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Tree::Scalar(Scalar::Number(number)),
            Ok(_) | Err(_) => {
                return Err(Fault::at(
                    &place,
                    "this is not a finite number",
                    "write a finite number; a limit that is off is \"unlimited\"",
                ));
            }
        },
        DeValue::String(text) => Tree::Scalar(Scalar::Text(text.into_owned())),
        DeValue::Datetime(_) => {
            return Err(Fault::at(
                &place,
                "a sweep has no dates",
                "put a text in quotes; a duration is written such as \"10ms\"",
            ));
        }
        DeValue::Array(values) => {
            Tree::Array(values.into_iter().map(node).collect::<Result<_, _>>()?)
        }
        DeValue::Table(values) => Tree::Table(table(values)?),
    };
    Ok(Node { place, tree })
}

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }
}

impl Node {
    /// The text, or a fault that names `label` as expected.
    pub(super) fn text(&self, label: &str, example: &str) -> Result<&str, Fault> {
        let Tree::Scalar(Scalar::Text(text)) = &self.tree else {
            return Err(self.wrong_type(label, "a text", example));
        };
        Ok(text)
    }

    /// The whole number, or a fault.
    pub(super) fn integer(&self, label: &str, example: &str) -> Result<i64, Fault> {
        let Tree::Scalar(Scalar::Integer(integer)) = &self.tree else {
            return Err(self.wrong_type(label, "a whole number", example));
        };
        Ok(*integer)
    }

    /// The switch, or a fault.
    pub(super) fn switch(&self, label: &str, example: &str) -> Result<bool, Fault> {
        let Tree::Scalar(Scalar::Bool(on)) = &self.tree else {
            return Err(self.wrong_type(label, "a switch", example));
        };
        Ok(*on)
    }

    /// The table, or a fault.
    pub(super) fn table(&self, label: &str, example: &str) -> Result<&Table, Fault> {
        let Tree::Table(table) = &self.tree else {
            return Err(self.wrong_type(label, "a table", example));
        };
        Ok(table)
    }

    pub(super) fn wrong_type(&self, label: &str, wanted: &str, example: &str) -> Fault {
        let problem = format!("{label} must be {wanted}, not {}", self.kind());
        Fault::at(&self.place, problem, format!("write, for example, {example}"))
    }

    /// Its kind, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match &self.tree {
            Tree::Scalar(Scalar::Bool(_)) => "a switch",
            Tree::Scalar(Scalar::Integer(_)) => "a whole number",
            Tree::Scalar(Scalar::Number(_)) => "a number with a fraction",
            Tree::Scalar(Scalar::Text(_)) => "a text",
            Tree::Array(_) => "a list",
            Tree::Table(_) => "a table",
        }
    }
}

/// The notation of a sweep, but texts at the top without quotes.
impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.tree {
            Tree::Scalar(Scalar::Text(text)) => f.write_str(text),
            Tree::Scalar(Scalar::Bool(value)) => value.fmt(f),
            Tree::Scalar(Scalar::Integer(integer)) => integer.fmt(f),
            Tree::Scalar(Scalar::Number(number)) => number.fmt(f),
            Tree::Array(nodes) => {
                f.write_str("[")?;
                for (index, node) in nodes.iter().enumerate() {
                    write!(f, "{}{node}", if index == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Tree::Table(table) => {
                for (index, entry) in table.entries.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{} = {}", entry.key, entry.value)?;
                }
                Ok(())
            }
        }
    }
}
