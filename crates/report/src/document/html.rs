//! A self-contained page: one file, without scripts and without anything to fetch.

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{Document, Part, TitledTable};
use crate::plot::{ALIGNED_COLUMNS_MAX, Figure, number_classes};
use crate::text::shortened;

/// Colours and sizes, for light, dark and print.
const STYLE: &str = concat!(
    include_str!("../plot/palette.css"),
    include_str!("page.css"),
    include_str!("../plot/plot.css"),
);

/// Nothing is loaded, and only the style above applies, whose SHA-256 this is: should any text of a sweep ever get
/// through as markup, a browser ignores it.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; \
                      style-src 'sha256-5S4ovMov17BN4GQBIXFb8cYPmS0msi9wSkoOuWYqYlo='";

/// Maximum number of a table's rows in a page: more than users read.
const ROWS_MAX: usize = 1_000;
/// Maximum number of bytes in a page's tables, with their notes.
const TABLES_BYTES_MAX: usize = 1 << 20;
/// Maximum length of a text in a table or a heading.
const TEXT_CHARACTERS_MAX: usize = 500;
/// Maximum length of a sentence.
const SENTENCE_CHARACTERS_MAX: usize = 2_000;

/// The contents of the page, with each figure before its table.
pub(super) fn contents(
    document: &Document,
    question: &str,
    facts: impl Iterator<Item = (&'static str, String)>,
    figures: &[Figure],
    cell_games: Option<&str>,
) -> io::Result<Markup> {
    let mut remaining = Remaining {
        figures: figures.iter().zip(1..).collect(),
        bytes: TABLES_BYTES_MAX,
        cell_games,
        under: false,
    };
    let parts = document.parts.iter().map(|part| remaining.part(part));
    let parts = parts.collect::<io::Result<Vec<_>>>()?;
    Ok(html! {
        header {
            h1 { (shortened(&document.title, TEXT_CHARACTERS_MAX)) }
            p class="about" { (shortened(&document.about, TEXT_CHARACTERS_MAX)) }
            @if !question.is_empty() {
                p class="question" { (shortened(question, SENTENCE_CHARACTERS_MAX)) }
            }
            dl {
                @for (name, fact) in facts {
                    dt { (name) }
                    dd { (shortened(&fact, TEXT_CHARACTERS_MAX)) }
                }
            }
        }
        @for part in parts { (part) }
    })
}

/// Writes the page, with each figure before its table.
pub(super) fn write(
    document: &Document,
    question: &str,
    facts: impl Iterator<Item = (&'static str, String)>,
    figures: &[Figure],
    out: &mut dyn Write,
) -> io::Result<()> {
    let contents = contents(document, question, facts, figures, None)?;
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content=(concat!("spelrum ", env!("CARGO_PKG_VERSION")));
                title { (shortened(&document.title, TEXT_CHARACTERS_MAX)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main { (contents) }
            }
        }
    };
    out.write_all(page.into_string().as_bytes())
}

/// Parts of a page that are still to be written.
struct Remaining<'f> {
    /// With their numbers.
    figures: Vec<(&'f Figure, usize)>,
    /// For rows of tables.
    bytes: usize,
    /// The address of the games of a cell, without the cell's id at its end.
    cell_games: Option<&'f str>,
    /// Whether a heading stands before the part, so that titles of tables are one level below that.
    under: bool,
}

impl Remaining<'_> {
    fn part(&mut self, part: &Part) -> io::Result<Markup> {
        Ok(match part {
            Part::Words(words) => html! { p { (shortened(words, SENTENCE_CHARACTERS_MAX)) } },
            Part::Heading(heading) => {
                self.under = true;
                html! { h2 { (shortened(heading, TEXT_CHARACTERS_MAX)) } }
            }
            Part::Table(table) => {
                let (now, later): (Vec<_>, Vec<_>) =
                    self.figures.drain(..).partition(|(figure, _)| figure.before == table.name);
                self.figures = later;
                let figures = now.into_iter();
                let figures =
                    figures.map(|(figure, number)| figure.markup(number, self.cell_games));
                let figures = figures.collect::<io::Result<Vec<_>>>()?;
                let table = self.table(table);
                html! { @for figure in figures { (figure) } (table) }
            }
        })
    }

    /// Returns the markup if the page has room for it.
    fn take(&mut self, markup: Markup) -> Option<String> {
        let markup = markup.into_string();
        self.bytes = self.bytes.checked_sub(markup.len())?;
        Some(markup)
    }

    fn table(&mut self, table: &TitledTable) -> Markup {
        let columns = &table.columns;
        let class = |column: usize, text: &str| {
            let is_right = column >= ALIGNED_COLUMNS_MAX && columns[column].is_of_numbers();
            match (is_right, is_long(text)) {
                (false, false) => None,
                (false, true) => Some("long"),
                (true, false) => Some("n"),
                (true, true) => Some("n long"),
            }
        };
        let (mut rows, mut written) = (String::new(), 0);
        for (index, row) in table.rows.iter().enumerate().take(ROWS_MAX) {
            let games = self.cell_games.zip(table.cells.get(index));
            let row = html! {
                tr { @for (column, cell) in row.iter().enumerate().take(columns.len()) {
                    // Its end may be left out, which makes large tables smaller.
                    td class=[class(column, cell)];
                    @match games.filter(|_| columns[column].heading() == "games") {
                        Some((address, id)) => a href={ (address) (id) } { (cell) },
                        None => (shortened(cell, TEXT_CHARACTERS_MAX)),
                    }
                } }
            };
            let Some(row) = self.take(row) else { break };
            rows.push_str(&row);
            written += 1;
        }
        let left_out = table.rows.len() - written;
        let notes = table.notes.iter().map_while(|note| {
            self.take(html! { p class="note" { (shortened(note, SENTENCE_CHARACTERS_MAX)) } })
        });
        let notes: String = notes.collect();
        let title = shortened(&table.title, TEXT_CHARACTERS_MAX);
        html! {
            section {
                @if self.under { h3 { (title) } } @else { h2 class="title" { (title) } }
                @if left_out > 0 {
                    p class="note" { (rows_left_out(table, written)) }
                }
                div class="wide" tabindex="0" {
                    table class=[number_classes(columns)] {
                        thead { tr { @for (index, column) in columns.iter().enumerate() {
                            @if column.heading().is_empty() { td; } @else {
                                th class=[class(index, column.heading())] {
                                    (shortened(column.heading(), TEXT_CHARACTERS_MAX))
                                }
                            }
                        } } }
                        tbody { (PreEscaped(rows)) }
                    }
                }
                (PreEscaped(notes))
            }
        }
    }
}

/// Whether a text may be broken into lines: an interval, or a short name, is not.
fn is_long(text: &str) -> bool {
    text.chars().nth(24).is_some()
}

/// Note on the rows that were left out.
fn rows_left_out(table: &TitledTable, written: usize) -> String {
    let [written, all] = [written, table.rows.len()].map(|rows| super::count(rows as u64));
    // The cells of claims belong to the table of claims.
    let name = if table.name == "claimed-cells" { "claims" } else { table.name };
    format!(
        "The first {written} of {all} rows are in this page; all of them: spelrum report --format csv --table {name}"
    )
}
