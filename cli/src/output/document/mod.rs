//! Tables with what is said around them: one model, and the forms that people read it in.

mod escape;
mod html;
mod latex;
mod markdown;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use anstyle::Style;

use super::numbers::count;
use super::plot::Figure;
use super::table::{Column, TextTable};
use super::text::escaped;

/// Tables about one subject.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// What they are of.
    pub(crate) title: String,
    /// What else is to be known of that, in a few words.
    pub(crate) about: String,
    /// In the order in which they are read.
    pub(crate) parts: Vec<Part>,
}

/// A part of a document.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// A table with its notes.
    Table(TitledTable),
    /// A sentence where there is no table.
    Words(String),
    /// What heads the parts that follow.
    Heading(String),
}

/// A table with its title, and what its reader must know besides.
#[derive(Clone, Debug)]
pub(crate) struct TitledTable {
    /// What programs call it: a word.
    pub(crate) name: &'static str,
    /// In words.
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    /// A text for each column.
    pub(crate) rows: Vec<Vec<String>>,
    /// Sentences. A line break is where a line of a terminal ends, and means nothing else.
    pub(crate) notes: Vec<String>,
}

impl TitledTable {
    /// A table without rows or notes.
    pub(crate) fn new(name: &'static str, title: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { name, title: title.into(), columns, rows: Vec::new(), notes: Vec::new() }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The same with these notes.
    pub(crate) fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}

impl Document {
    /// Writes it for a terminal: aligned columns, headings in bold.
    pub(crate) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
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

    /// Writes it as Markdown, as GitHub reads it.
    pub(crate) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        markdown::write(self, out)
    }

    /// Writes it as LaTeX: a floating table for each, with a caption and a label.
    pub(crate) fn write_latex(&self, out: &mut dyn Write) -> io::Result<()> {
        latex::write(self, out)
    }

    /// Writes it as a page of HTML that stands alone, headed by what it is to answer and by facts, each with its
    /// name, and with each figure before the table that it names. A table of more rows than anybody reads has the first of them, and says
    /// where the others are.
    pub(crate) fn write_html(
        &self,
        question: &str,
        facts: impl Iterator<Item = (&'static str, String)>,
        figures: &[Figure],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        html::write(self, question, facts, figures, out)
    }
}
