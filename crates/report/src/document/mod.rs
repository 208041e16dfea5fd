//! Tables with notes: one model, and the formats that people read.

mod escape;
mod html;
mod latex;
mod layout;
mod markdown;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use anstyle::Style;
use spelrum_model::CellId;

use crate::plot::Figure;
use crate::text::{Column, TextTable, count, escaped};

/// Tables about one subject.
#[derive(Clone, Debug)]
pub struct Document {
    /// Subject of the tables.
    pub title: String,
    /// Further facts about the subject, in a few words.
    pub about: String,
    /// In reading order.
    pub parts: Vec<Part>,
}

/// A part of a document.
#[derive(Clone, Debug)]
pub enum Part {
    /// A table with its notes.
    Table(TitledTable),
    /// A sentence in place of a table.
    Words(String),
    /// A heading of the parts that follow.
    Heading(String),
}

/// Style of LaTeX tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatexStyle {
    /// Whether each table is rotated onto a page of its own.
    pub is_landscape: bool,
    /// Font size in points; without it, the largest in which a table fits.
    pub size_pt: Option<u8>,
}

/// Places of the columns with these names, in the order of the names.
pub fn chosen_columns(names: &[String], headings: &[&str]) -> Vec<usize> {
    let with_name = |name: &String| {
        let all = headings.iter().enumerate();
        let same = all.filter(|(_, heading)| heading.eq_ignore_ascii_case(name));
        same.map(|(column, _)| column).collect::<Vec<_>>()
    };
    names.iter().flat_map(with_name).collect()
}

/// A table with its title and notes.
#[derive(Clone, Debug)]
pub struct TitledTable {
    /// Name for programs: one word.
    pub name: &'static str,
    /// In words.
    pub title: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// A text for each column.
    pub rows: Vec<Vec<String>>,
    /// The cell of each row; empty for rows that are not cells.
    pub cells: Vec<CellId>,
    /// Sentences. A line break ends a line on a terminal, and has no other meaning.
    pub notes: Vec<String>,
}

impl TitledTable {
    /// A table without rows or notes.
    pub fn new(name: &'static str, title: impl Into<String>, columns: Vec<Column>) -> Self {
        let (title, rows, cells, notes) = (title.into(), Vec::new(), Vec::new(), Vec::new());
        Self { name, title, columns, rows, cells, notes }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Adds notes to the table.
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}

impl Document {
    /// Writes the document for a terminal: aligned columns, headings in bold.
    pub fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let bold = Style::new().bold();
        writeln!(out, "{bold}{}{bold:#}  {}", escaped(&self.title), escaped(&self.about))?;
        for part in &self.parts {
            match part {
                Part::Words(words) => writeln!(out, "\n{words}")?,
                Part::Heading(heading) => writeln!(out, "\n{bold}{heading}{bold:#}")?,
                Part::Table(table) => {
                    writeln!(out, "\n{bold}{}{bold:#}\n", table.title)?;
                    let mut aligned = TextTable::new(&table.columns);
                    table.rows.iter().for_each(|row| aligned.row(row.iter().cloned()));
                    aligned.write(out)?;
                    for note in &table.notes {
                        writeln!(out, "{note}")?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the document as GitHub's Markdown.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        markdown::write(self, out)
    }

    /// Writes the document as LaTeX: one floating table each, with a caption and a label.
    pub fn write_latex(&self, style: LatexStyle, out: &mut dyn Write) -> io::Result<()> {
        latex::write(self, style, out)
    }

    /// Keeps these columns of its tables, in this order, by their headings; if several match, all of them.
    ///
    /// # Errors
    /// If no table has a column with one of these names; the error lists the available headings.
    pub fn choose_columns(&mut self, names: &[String]) -> Result<(), Vec<String>> {
        let mut headings = Vec::new();
        for part in &mut self.parts {
            let Part::Table(table) = part else { continue };
            let there: Vec<&str> = table.columns.iter().map(Column::heading).collect();
            headings.extend(there.iter().map(|&heading| heading.to_owned()));
            let chosen = chosen_columns(names, &there);
            table.rows.iter_mut().for_each(|row| {
                *row = chosen.iter().filter_map(|&column| row.get(column).cloned()).collect();
            });
            table.columns = chosen.iter().map(|&column| table.columns[column].clone()).collect();
        }
        let is_there =
            |name: &String| headings.iter().any(|heading| heading.eq_ignore_ascii_case(name));
        if headings.is_empty() || names.iter().all(is_there) { Ok(()) } else { Err(headings) }
    }

    /// Writes the document as a self-contained HTML page, headed by its question and named facts, with each figure
    /// before the table that it names. Long tables show their first rows and state where the others are.
    pub fn write_html(
        &self,
        question: &str,
        facts: impl Iterator<Item = (&'static str, String)>,
        figures: &[Figure],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        html::write(self, question, facts, figures, out)
    }

    /// The contents of that page, for a page of another program's. `cell_games` is the address of the games of a cell,
    /// without the cell's id at its end.
    pub(crate) fn html_contents(
        &self,
        question: &str,
        facts: impl Iterator<Item = (&'static str, String)>,
        figures: &[Figure],
        cell_games: Option<&str>,
    ) -> io::Result<maud::Markup> {
        html::contents(self, question, facts, figures, cell_games)
    }
}
