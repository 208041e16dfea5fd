//! TOML as a tree in which every key and value has its place.

use std::fmt;

use toml::de::{DeTable, DeValue};

use crate::fault::{Fault, Span, did_you_mean};

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// For a table under a header, the header.
    pub place: Span,
    /// The value.
    pub tree: Tree,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// `true`, a number or a text.
    Scalar(Scalar),
    /// A list.
    Array(Vec<Node>),
    /// A table.
    Table(Table),
}

/// A value without parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction; finite.
    Number(f64),
    /// A text.
    Text(String),
}

/// A table in the file's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The place of the table; `None` for a whole file.
    pub place: Option<Span>,
    /// Its keys, which are distinct, with their values.
    pub entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The key's place.
    pub key_place: Span,
    /// The value.
    pub value: Node,
}

/// Reads a text.
///
/// # Errors
/// If it is not TOML, which `remedy` is for, or has a date or a number that is not finite or needs more than 64 bits.
pub fn parse(text: &str, remedy: &str) -> Result<Table, Fault> {
    let root = DeTable::parse(text).map_err(|error| Fault {
        problem: format!("this is not TOML: {}", error.message()),
        remedy: remedy.to_owned(),
        place: error.span().map(|span| span.start.min(text.len())..span.end.min(text.len())),
    })?;
    table(root.into_inner(), None)
}

fn table(table: DeTable<'_>, place: Option<Span>) -> Result<Table, Fault> {
    let entry = |(key, value): (toml::Spanned<_>, toml::Spanned<_>)| {
        let key_place = key.span();
        Ok(Entry { key: String::from(key.into_inner()), key_place, value: node(value)? })
    };
    let mut entries: Vec<Entry> = table.into_iter().map(entry).collect::<Result<_, Fault>>()?;
    entries.sort_by_key(|entry| entry.key_place.start);
    Ok(Table { place, entries })
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
                "no key takes a date",
                "put a text in quotes; a duration is written such as \"10ms\"",
            ));
        }
        DeValue::Array(values) => {
            Tree::Array(values.into_iter().map(node).collect::<Result<_, _>>()?)
        }
        DeValue::Table(values) => Tree::Table(table(values, Some(place.clone()))?),
    };
    Ok(Node { place, tree })
}

impl Table {
    /// A key's entry.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// A key's value.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Node> {
        self.get(key).map(|entry| &entry.value)
    }

    /// The entry of a key that cannot be absent.
    ///
    /// # Errors
    /// If it is; the fault shows the example.
    pub fn required(&self, key: &str, example: &str) -> Result<&Entry, Fault> {
        self.get(key).ok_or_else(|| Fault {
            problem: format!("`{key}` is missing"),
            remedy: format!("add, for example, {example}"),
            place: self.place.clone(),
        })
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.key.as_str())
    }

    /// Refuses the first unknown key.
    ///
    /// # Errors
    /// Names the table as `owner`, and the known key that is most similar.
    pub fn check_keys(&self, owner: &str, known_keys: &[&str]) -> Result<(), Fault> {
        match self.entries.iter().find(|entry| !known_keys.contains(&entry.key.as_str())) {
            None => Ok(()),
            Some(entry) => Err(Fault::at(
                &entry.key_place,
                format!("unknown key `{}` in {owner}", entry.key),
                did_you_mean(&entry.key, "keys", known_keys.iter().copied()),
            )),
        }
    }
}

impl Entry {
    /// The text.
    ///
    /// # Errors
    /// If it is of another type.
    pub fn text(&self) -> Result<&str, Fault> {
        match &self.value.tree {
            Tree::Scalar(Scalar::Text(text)) => Ok(text),
            Tree::Scalar(_) | Tree::Array(_) | Tree::Table(_) => {
                let problem = format!("`{}` must be a text, not {}", self.key, self.value.kind());
                Err(Fault::at(&self.value.place, problem, "put it in quotes"))
            }
        }
    }
}

impl Node {
    /// The text.
    ///
    /// # Errors
    /// If it is of another type; the fault names `label` and shows the example.
    pub fn text(&self, label: &str, example: &str) -> Result<&str, Fault> {
        let Tree::Scalar(Scalar::Text(text)) = &self.tree else {
            return Err(self.wrong_type(label, "a text", example));
        };
        Ok(text)
    }

    /// The whole number.
    ///
    /// # Errors
    /// If it is of another type; the fault names `label` and shows the example.
    pub fn integer(&self, label: &str, example: &str) -> Result<i64, Fault> {
        let Tree::Scalar(Scalar::Integer(integer)) = &self.tree else {
            return Err(self.wrong_type(label, "a whole number", example));
        };
        Ok(*integer)
    }

    /// The switch.
    ///
    /// # Errors
    /// If it is of another type; the fault names `label` and shows the example.
    pub fn switch(&self, label: &str, example: &str) -> Result<bool, Fault> {
        let Tree::Scalar(Scalar::Bool(on)) = &self.tree else {
            return Err(self.wrong_type(label, "a switch", example));
        };
        Ok(*on)
    }

    /// The table.
    ///
    /// # Errors
    /// If it is of another type; the fault names `label` and shows the example.
    pub fn table(&self, label: &str, example: &str) -> Result<&Table, Fault> {
        let Tree::Table(table) = &self.tree else {
            return Err(self.wrong_type(label, "a table", example));
        };
        Ok(table)
    }

    /// The number, whole or not.
    ///
    /// # Errors
    /// If it is of another type; the fault names `label` and shows the example.
    pub fn number(&self, label: &str, example: &str) -> Result<f64, Fault> {
        match &self.tree {
            Tree::Scalar(Scalar::Number(number)) => Ok(*number),
            Tree::Scalar(Scalar::Integer(integer)) => Ok(*integer as f64),
            Tree::Scalar(Scalar::Bool(_) | Scalar::Text(_)) | Tree::Array(_) | Tree::Table(_) => {
                Err(self.wrong_type(label, "a number", example))
            }
        }
    }

    /// The list.
    ///
    /// # Errors
    /// If it is of another type; the fault names `label` and shows the example.
    pub fn list(&self, label: &str, wanted: &str, example: &str) -> Result<&[Self], Fault> {
        match &self.tree {
            Tree::Array(nodes) => Ok(nodes),
            Tree::Scalar(_) | Tree::Table(_) => Err(self.wrong_type(label, wanted, example)),
        }
    }

    /// The fault of a value that is not of the wanted type.
    #[must_use]
    pub fn wrong_type(&self, label: &str, wanted: &str, example: &str) -> Fault {
        let problem = format!("{label} must be {wanted}, not {}", self.kind());
        Fault::at(&self.place, problem, format!("write, for example, {example}"))
    }

    /// Its kind, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
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

/// The notation of a file, but texts at the top without quotes.
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
