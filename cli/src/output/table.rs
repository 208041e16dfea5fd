//! Tables for people: plain lines, bold headings on a terminal.

use std::io::{self, Write};

use anstyle::Style;
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// A rule under the headings, and nothing else.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// How a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column's heading, and how its cells stand.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    heading: String,
    align: Align,
}

impl Column {
    /// A column of words.
    pub(crate) fn words(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), align: Align::Left }
    }

    /// A column of numbers.
    pub(crate) fn numbers(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), align: Align::Right }
    }
}

/// A table of text.
pub(crate) struct TextTable {
    table: Table,
}

impl TextTable {
    /// A table with these columns and no rows.
    pub(crate) fn new(columns: &[Column]) -> Self {
        let mut table = Table::new();
        table
            .load_style(STYLE)
            // A number or a name broken over lines is worse than a long line.
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(columns.iter().map(|column| Cell::new(&column.heading)));
        for (column, of) in table.column_iter_mut().zip(columns) {
            column.set_padding((0, 1));
            column.set_cell_alignment(match of.align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        Self { table }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(cells.into_iter().map(Cell::new_owned).collect::<Vec<_>>());
    }

    /// Writes the table: headings, a rule, rows.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let bold = Style::new().bold();
        let mut heading = true;
        for line in self.table.lines() {
            let line = line.trim_end();
            if line.starts_with('─') {
                heading = false;
            }
            if heading {
                writeln!(out, "{bold}{line}{bold:#}")?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    }
}
