//! JSON for programs.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::Value;
use spelrum_answers::SqlValue;

/// Writes a value as indented JSON and a line end.
pub fn write_json(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// Writes a value as JSON in one line.
pub fn write_json_line(out: &mut dyn Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// A value of the database in JSON: a blob becomes hexadecimal digits, a number that JSON cannot
/// hold becomes null.
fn json_value(value: &SqlValue) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Integer(integer) => Value::from(*integer),
        SqlValue::Real(real) => Value::from(*real),
        SqlValue::Text(text) => Value::from(text.as_str()),
        SqlValue::Blob(bytes) => Value::from(hexadecimal(bytes)),
    }
}

/// Names and values as a JSON object, in their order.
pub struct Pairs<'a, T>(pub &'a [(&'a str, T)]);

impl<T: Serialize> Serialize for Pairs<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// A row of a query's result as a JSON object, its columns in order.
pub(super) struct RowObject<'a> {
    pub(super) columns: &'a [String],
    pub(super) row: &'a [SqlValue],
}

impl Serialize for RowObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.columns.iter().zip(self.row.iter().map(json_value)))
    }
}

/// Two digits a byte.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
