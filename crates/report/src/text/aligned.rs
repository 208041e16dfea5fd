//! Tables for people: plain lines, bold headings on a terminal.

use std::io::{self, Write};

use anstyle::Style;
use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};

use super::visible::escaped;

/// Draws only a rule under the headings.
const STYLE: TableStyle =
    TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Alignment of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A column's heading and alignment.
#[derive(Clone, Debug)]
pub struct Column {
    heading: String,
    align: Align,
}

impl Column {
    /// A column of words.
    pub fn words(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), align: Align::Left }
    }

    /// A column of numbers.
    pub fn numbers(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), align: Align::Right }
    }

    /// Returns the heading.
    pub fn heading(&self) -> &str {
        &self.heading
    }

    /// Whether the column holds numbers.
    pub fn is_of_numbers(&self) -> bool {
        self.align == Align::Right
    }
}

/// The space to the right of every cell.
const GAP: u16 = 1;

/// A table of text.
pub struct TextTable {
    table: Table,
    has_heading: bool,
}

impl TextTable {
    /// A table with these columns and no rows.
    pub fn new(columns: &[Column]) -> Self {
        let mut table = Table::new();
        table
            .load_style(STYLE)
            // A number or a name broken over lines is worse than a long line.
            .set_content_arrangement(ContentArrangement::Disabled)
            .set_header(columns.iter().map(|column| Cell::new(escaped(&column.heading))));
        for (column, definition) in table.column_iter_mut().zip(columns) {
            column.set_padding((0, GAP));
            column.set_cell_alignment(match definition.align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        Self { table, has_heading: true }
    }

    /// Creates an empty table that continues below this one: without headings, its columns at least as wide.
    pub fn continued(&self, columns: &[Column]) -> Self {
        let mut below = Self::new(columns);
        for (column, width) in below.table.column_iter_mut().zip(self.widths()) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        }
        // The heading is kept for its width, and not written.
        below.has_heading = false;
        below
    }

    /// Returns the widths of its columns, including the space behind them.
    fn widths(&self) -> impl Iterator<Item = u16> {
        let content = self.table.column_max_content_widths();
        content.into_iter().map(|width| width.saturating_add(GAP))
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.table.add_row(
            cells
                .into_iter()
                .map(|cell| Cell::new_owned(escaped(&cell).into_owned()))
                .collect::<Vec<_>>(),
        );
    }

    /// Writes the table: headings, a rule, rows.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let bold = Style::new().bold();
        let mut heading = true;
        for line in self.table.lines() {
            let line = line.trim_end();
            let ends_heading = heading && line.starts_with('─');
            if ends_heading {
                heading = false;
            }
            if (heading || ends_heading) && !self.has_heading {
                continue;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn written(table: &TextTable) -> String {
        let mut out = Vec::new();
        table.write(&mut anstream::StripStream::new(&mut out)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_goes_on_below_itself() {
        let columns = [Column::words("name"), Column::numbers("games")];
        let mut table = TextTable::new(&columns);
        table.row(["a name".to_owned(), "1".to_owned()]);
        assert_eq!(written(&table), "name    games\n──────────────\na name      1\n");
        let mut below = table.continued(&columns);
        below.row(["b".to_owned(), "22".to_owned()]);
        assert_eq!(written(&below), "b          22\n");
        let mut wider = below.continued(&columns);
        wider.row(["a longer name".to_owned(), "3".to_owned()]);
        assert_eq!(written(&wider), "a longer name      3\n");
    }
}
