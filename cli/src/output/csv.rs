//! CSV for spreadsheets (RFC 4180). By hand, since the crate `csv` writes NULL and an empty text alike.

use std::io::{self, Write};

use spelrum_coordinator::store::SqlValue;

use super::json::hexadecimal;

/// Writes the heading line of a query's result.
pub(super) fn write_headings(out: &mut dyn Write, columns: &[String]) -> io::Result<()> {
    write_record(out, columns.iter().map(|column| quoted(column)))
}

/// Writes a row. NULL is an empty field, an empty text `""`.
pub(super) fn write_row(out: &mut dyn Write, row: &[SqlValue]) -> io::Result<()> {
    write_record(out, row.iter().map(field))
}

fn write_record(out: &mut dyn Write, fields: impl Iterator<Item = String>) -> io::Result<()> {
    for (index, field) in fields.enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        out.write_all(field.as_bytes())?;
    }
    out.write_all(b"\r\n")
}

fn field(value: &SqlValue) -> String {
    match value {
        SqlValue::Text(text) => quoted(text),
        SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_) | SqlValue::Blob(_) => {
            plain(value)
        }
    }
}

/// A value as text: NULL is empty, a blob hexadecimal digits.
pub(super) fn plain(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Integer(integer) => integer.to_string(),
        SqlValue::Real(real) => real.to_string(),
        SqlValue::Text(text) => text.clone(),
        SqlValue::Blob(bytes) => hexadecimal(bytes),
    }
}

/// The text, in quotes where a reader would otherwise take it apart.
fn quoted(text: &str) -> String {
    if text.is_empty() || text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let rows = [
            [SqlValue::Text("say \"hi\"".to_owned()), SqlValue::Null],
            [SqlValue::Text(String::new()), SqlValue::Real(0.5)],
            [SqlValue::Blob(vec![0, 255]), SqlValue::Integer(-1)],
        ];
        let mut out = Vec::new();
        write_headings(&mut out, &["a".to_owned(), "b,c".to_owned()]).unwrap();
        rows.iter().for_each(|row| write_row(&mut out, row).unwrap());
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a,\"b,c\"\r\n\"say \"\"hi\"\"\",\r\n\"\",0.5\r\n00ff,-1\r\n"
        );
    }
}
