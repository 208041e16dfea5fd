//! GitHub flavoured Markdown.

use std::io::{self, Write};

use super::escape::markdown as escaped;
use super::{Document, Part, TitledTable};

pub(super) fn write(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "## {}\n\n{}", escaped(&document.title), escaped(&document.about))?;
    for part in &document.parts {
        writeln!(out)?;
        match part {
            Part::Words(words) => writeln!(out, "{}", escaped(words))?,
            Part::Heading(heading) => writeln!(out, "## {}", escaped(heading))?,
            Part::Table(table) => write_table(table, out)?,
        }
    }
    Ok(())
}

fn write_table(table: &TitledTable, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### {}\n", escaped(&table.title))?;
    write_row(table.columns.iter().map(|column| escaped(column.heading())), out)?;
    let rules = table.columns.iter().map(|column| match column.is_of_numbers() {
        true => "---:".to_owned(),
        false => ":---".to_owned(),
    });
    write_row(rules, out)?;
    for row in &table.rows {
        write_row(row.iter().map(|cell| escaped(cell)), out)?;
    }
    if !table.notes.is_empty() {
        writeln!(out)?;
    }
    for note in &table.notes {
        writeln!(out, "- {}", escaped(note))?;
    }
    Ok(())
}

fn write_row(cells: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "| {} |", cells.collect::<Vec<_>>().join(" | "))
}
