//! CSV for spreadsheets (RFC 4180). By hand, since the crate `csv` writes NULL and an empty text alike.

use std::io::{self, Write};

use spelrum_coordinator::store::{SqlValue, Table};

use super::json::hexadecimal;

/// Writes a query's result with a heading line. NULL is an empty field, an empty text `""`.
pub(crate) fn write_csv(out: &mut dyn Write, table: &Table) -> io::Result<()> {
    write_record(out, table.columns.iter().map(|column| quoted(column)))?;
    for row in &table.rows {
        write_record(out, row.iter().map(field))?;
    }
    Ok(())
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
        SqlValue::Null => String::new(),
        SqlValue::Integer(integer) => integer.to_string(),
        SqlValue::Real(real) => real.to_string(),
        SqlValue::Text(text) => quoted(text),
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
        let table = Table {
            columns: vec!["a".to_owned(), "b,c".to_owned()],
            rows: vec![
                vec![SqlValue::Text("say \"hi\"".to_owned()), SqlValue::Null],
                vec![SqlValue::Text(String::new()), SqlValue::Real(0.5)],
                vec![SqlValue::Blob(vec![0, 255]), SqlValue::Integer(-1)],
            ],
            truncated: false,
        };
        let mut out = Vec::new();
        write_csv(&mut out, &table).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "a,\"b,c\"\r\n\"say \"\"hi\"\"\",\r\n\"\",0.5\r\n00ff,-1\r\n"
        );
    }
}
