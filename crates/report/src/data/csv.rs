//! CSV for spreadsheets (RFC 4180). Hand-written, because the crate `csv` writes NULL and an empty text alike.

use std::io::{self, Write};

use spelrum_answers::SqlValue;

use super::json::hexadecimal;

/// Writes the heading line of a query's result.
pub(super) fn write_headings(out: &mut dyn Write, columns: &[String]) -> io::Result<()> {
    write_record(out, columns.iter().map(|column| quoted(column)))
}

/// Writes a row. NULL is an empty field, an empty text `""`.
pub(super) fn write_row(out: &mut dyn Write, row: &[SqlValue]) -> io::Result<()> {
    write_record(out, row.iter().map(field))
}

/// A field for programs and spreadsheets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CsvField {
    /// An unknown value: an empty field.
    #[default]
    Unknown,
    /// A number with all its digits, or `true` or `false`.
    Plain(String),
    /// A text.
    Text(String),
}

/// Writes a table: its headings, then its rows.
pub fn write_csv(
    out: &mut dyn Write,
    headings: &[String],
    rows: &[Vec<CsvField>],
) -> io::Result<()> {
    write_record(out, headings.iter().map(|heading| quoted(&inert(heading))))?;
    for row in rows {
        let field = |field: &CsvField| match field {
            CsvField::Unknown => String::new(),
            CsvField::Plain(plain) => plain.clone(),
            CsvField::Text(text) => quoted(&inert(text)),
        };
        write_record(out, row.iter().map(field))?;
    }
    Ok(())
}

/// Prefixes texts that a spreadsheet would take for a formula with an apostrophe; numbers stay as they are.
fn inert(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula && text.parse::<f64>().is_err() { format!("'{text}") } else { text.to_owned() }
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
pub(crate) fn plain(value: &SqlValue) -> String {
    match value {
        SqlValue::Null => String::new(),
        SqlValue::Integer(integer) => integer.to_string(),
        SqlValue::Real(real) => real.to_string(),
        SqlValue::Text(text) => text.clone(),
        SqlValue::Blob(bytes) => hexadecimal(bytes),
    }
}

/// Quotes a text if a reader would otherwise split it.
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

    #[test]
    fn texts_are_no_formulas() {
        let texts = ["=1+1", "+a", "-b", "@c", "-1.5", "a=b", "\t=1", "x,\"y\"\nz"];
        let rows: Vec<_> =
            texts.iter().map(|text| vec![CsvField::Text((*text).to_owned())]).collect();
        let mut out = Vec::new();
        write_csv(&mut out, &["=name".to_owned()], &rows).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "'=name\r\n'=1+1\r\n'+a\r\n'-b\r\n'@c\r\n-1.5\r\na=b\r\n'\t=1\r\n\"x,\"\"y\"\"\nz\"\r\n"
        );
        let mut out = Vec::new();
        let row = vec![CsvField::Unknown, CsvField::Plain("-0.5".to_owned())];
        write_csv(&mut out, &["a".to_owned(), "b".to_owned()], &[row]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a,b\r\n,-0.5\r\n");
    }
}
