//! Rows of a query, written as they arrive: any number of them.

use std::io::{self, Write};

use clap::ValueEnum;
use spelrum_answers::SqlValue;

use super::csv::{plain, write_headings, write_row};
use super::json::{RowObject, write_json_line};
use crate::error::Result;
use crate::text::{Column, TextTable};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RowsFormat {
    /// Aligned columns, to read
    Table,
    /// CSV with a heading line (RFC 4180)
    Csv,
    /// A JSON array with an object for each row
    Json,
    /// A JSON object in each line
    Jsonl,
    /// A Parquet file
    #[cfg_attr(not(feature = "parquet"), value(hide = true))]
    Parquet,
    /// A plot as an SVG file
    Svg,
}

/// A writer of rows in one of the formats.
pub trait WriteRows {
    /// Writes more rows, each with a value for every column.
    ///
    /// # Errors
    /// If they cannot be written, or not in this format.
    fn write(&mut self, rows: &[Vec<SqlValue>]) -> Result<()>;

    /// Writes the remainder, after the last row.
    fn finish(&mut self) -> Result<()>;
}

/// Returns a writer of rows with these columns as text.
pub(super) fn rows_as_text<'w>(
    format: RowsFormat,
    columns: Vec<String>,
    out: impl Write + 'w,
) -> Box<dyn WriteRows + 'w> {
    match format {
        RowsFormat::Csv => Box::new(Csv { columns: Some(columns), out }),
        RowsFormat::Json => Box::new(Json { columns, out, has_rows: false }),
        RowsFormat::Jsonl => Box::new(JsonLines { columns, out }),
        RowsFormat::Table | RowsFormat::Parquet | RowsFormat::Svg => {
            Box::new(Table { names: columns, out, begun: None, waiting: Vec::new() })
        }
    }
}

struct Csv<W> {
    /// Present until they are written.
    columns: Option<Vec<String>>,
    out: W,
}

impl<W: Write> WriteRows for Csv<W> {
    fn write(&mut self, rows: &[Vec<SqlValue>]) -> Result<()> {
        if let Some(columns) = self.columns.take() {
            write_headings(&mut self.out, &columns)?;
        }
        rows.iter().try_for_each(|row| write_row(&mut self.out, row))?;
        Ok(self.out.flush()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.write(&[])
    }
}

struct Json<W> {
    columns: Vec<String>,
    out: W,
    has_rows: bool,
}

impl<W: Write> WriteRows for Json<W> {
    fn write(&mut self, rows: &[Vec<SqlValue>]) -> Result<()> {
        for row in rows {
            let row = RowObject { columns: &self.columns, row };
            // JSON escapes line ends within texts.
            let object =
                serde_json::to_string_pretty(&row).map_err(io::Error::from)?.replace('\n', "\n  ");
            let before = if self.has_rows { "," } else { "[" };
            write!(self.out, "{before}\n  {object}")?;
            self.has_rows = true;
        }
        Ok(self.out.flush()?)
    }

    fn finish(&mut self) -> Result<()> {
        self.out.write_all(if self.has_rows { b"\n]\n" } else { b"[]\n" })?;
        Ok(self.out.flush()?)
    }
}

struct JsonLines<W> {
    columns: Vec<String>,
    out: W,
}

impl<W: Write> WriteRows for JsonLines<W> {
    fn write(&mut self, rows: &[Vec<SqlValue>]) -> Result<()> {
        for row in rows {
            write_json_line(&mut self.out, &RowObject { columns: &self.columns, row })?;
        }
        Ok(self.out.flush()?)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

/// Rows measured before a table begins, and rows aligned at once later.
const MEASURED: usize = 500;

/// A table as wide as its first rows need; where a later row needs more, the rows aligned with it are wider.
struct Table<W> {
    names: Vec<String>,
    out: W,
    /// Its columns, and the table written last.
    begun: Option<(Vec<Column>, TextTable)>,
    waiting: Vec<Vec<SqlValue>>,
}

impl<W: Write> Table<W> {
    fn write_waiting(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        let (columns, mut table) = match self.begun.take() {
            Some((columns, above)) => {
                let below = above.continued(&columns);
                (columns, below)
            }
            None => {
                let columns = columns(&self.names, &rows);
                let first = TextTable::new(&columns);
                (columns, first)
            }
        };
        rows.iter().for_each(|row| table.row(row.iter().map(plain)));
        table.write(&mut self.out)?;
        self.begun = Some((columns, table));
        self.out.flush()
    }
}

impl<W: Write> WriteRows for Table<W> {
    fn write(&mut self, rows: &[Vec<SqlValue>]) -> Result<()> {
        for row in rows {
            self.waiting.push(row.clone());
            if self.waiting.len() == MEASURED {
                self.write_waiting()?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        if self.begun.is_none() || !self.waiting.is_empty() {
            self.write_waiting()?;
        }
        Ok(())
    }
}

/// Columns of numbers are right-aligned.
fn columns(names: &[String], rows: &[Vec<SqlValue>]) -> Vec<Column> {
    let column = |(index, name): (usize, &String)| {
        let numeric = rows.iter().all(|row| {
            matches!(row[index], SqlValue::Null | SqlValue::Integer(_) | SqlValue::Real(_))
        });
        if numeric { Column::numbers(name) } else { Column::words(name) }
    };
    names.iter().enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: RowsFormat, batches: &[&[Vec<SqlValue>]]) -> String {
        let mut out = Vec::new();
        let columns = vec!["n".to_owned(), "text".to_owned()];
        let mut writer = rows_as_text(format, columns, anstream::StripStream::new(&mut out));
        batches.iter().for_each(|rows| writer.write(rows).unwrap());
        writer.finish().unwrap();
        drop(writer);
        String::from_utf8(out).unwrap()
    }

    fn row(number: i64, text: &str) -> Vec<SqlValue> {
        vec![SqlValue::Integer(number), SqlValue::Text(text.to_owned())]
    }

    #[test]
    fn without_rows_there_is_what_a_reader_needs() {
        assert_eq!(written(RowsFormat::Csv, &[]), "n,text\r\n");
        assert_eq!(written(RowsFormat::Json, &[]), "[]\n");
        assert_eq!(written(RowsFormat::Jsonl, &[]), "");
        assert!(written(RowsFormat::Table, &[]).starts_with("n  text\n"));
    }

    #[test]
    fn batches_leave_no_seam() {
        let rows = [row(1, "a\nb"), row(2, "\"")];
        for format in [RowsFormat::Csv, RowsFormat::Json, RowsFormat::Jsonl, RowsFormat::Table] {
            let apart = written(format, &[&rows[..1], &[], &rows[1..]]);
            assert_eq!(apart, written(format, &[&rows]));
        }
        let json = written(RowsFormat::Json, &[&rows]);
        assert!(
            json.starts_with("[\n  {\n    \"n\": 1,\n    \"text\": \"a\\nb\"\n  },\n  {"),
            "{json}"
        );
        assert!(json.ends_with("  }\n]\n"), "{json}");
        let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(parsed[1]["n"], 2);
        let lines = "{\"n\":1,\"text\":\"a\\nb\"}\n{\"n\":2,\"text\":\"\\\"\"}\n";
        assert_eq!(written(RowsFormat::Jsonl, &[&rows]), lines);
    }

    #[test]
    fn a_long_table_is_aligned_piece_by_piece() {
        let rows: Vec<_> = (0..3 * MEASURED as i64 + 7)
            .map(|number| row(number, if number == 700 { "longer" } else { "x" }))
            .collect();
        let table = written(RowsFormat::Table, &[&rows]);
        let lines: Vec<_> = table.lines().collect();
        assert_eq!(lines.len(), rows.len() + 2);
        assert_eq!(&lines[..4], ["  n  text", "──────────", "  0  x", "  1  x"]);
        assert_eq!(lines[2 + 700], "700  longer");
        assert_eq!(lines.last().unwrap(), &"1506  x");
    }
}
