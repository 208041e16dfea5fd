//! The page for queries: a box, the documented questions, the rows as a table and as a plot.

use std::cmp::Ordering;
use std::sync::LazyLock;

use maud::{Markup, html};
use spelrum_answers::SqlValue;

use super::layout::shown;
use crate::data::{HAS_PARQUET, cell_text, plotted_columns};
use crate::error::Error;
use crate::text::{count, counted};

/// The document of the questions.
const DOCUMENT: &str = include_str!("../../../../docs/sql.md");

/// Most rows of the table.
const ROWS_SHOWN: usize = 200;

/// Most columns of the table.
const COLUMNS_SHOWN: usize = 50;

/// Characters of a question's word in an address.
const WORD_CHARACTERS_MAX: usize = 60;

/// A documented question.
struct Documented {
    word: String,
    title: &'static str,
    statement: &'static str,
}

static QUESTIONS: LazyLock<Vec<Documented>> = LazyLock::new(|| documented(DOCUMENT));

/// The statement of the documented question with this word in its address.
#[must_use]
pub fn documented_statement(word: &str) -> Option<&'static str> {
    QUESTIONS.iter().find(|question| question.word == word).map(|question| question.statement)
}

/// The questions of a document: a numbered heading of the third level, and the first SQL below it.
fn documented(document: &'static str) -> Vec<Documented> {
    let (_, questions) = document.split_once("\n## Questions\n").unwrap_or_default();
    let questions = questions.split("\n## ").next().unwrap_or_default();
    let question = |section: &'static str| {
        let (heading, rest) = section.split_once('\n')?;
        let (_, title) = heading.split_once(". ")?;
        let (_, statement) = rest.split_once("```sql\n")?;
        let (statement, _) = statement.split_once("\n```")?;
        let mut word = String::new();
        for character in title.chars().take(WORD_CHARACTERS_MAX) {
            match character.to_ascii_lowercase() {
                letter if letter.is_ascii_alphanumeric() => word.push(letter),
                _ if word.is_empty() || word.ends_with('-') => {}
                _ => word.push('-'),
            }
        }
        let word = word.trim_end_matches('-').to_owned();
        Some(Documented { word, title, statement })
    };
    questions.split("\n### ").skip(1).filter_map(question).collect()
}

/// What a query's address asks for beside its statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryView {
    /// The column, from 1, by which rows are sorted; a negative one from the greatest value down.
    pub sort: Option<i32>,
    /// The columns, from 1, of a plot.
    pub plot: Option<[usize; 2]>,
}

/// The rows of a query, as far as a page has them.
#[derive(Debug, Default)]
pub struct QueryTable {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The first rows.
    pub rows: Vec<Vec<SqlValue>>,
    /// Whether there are more.
    pub truncated: bool,
}

/// How a query went.
#[derive(Debug)]
pub enum QueryOutcome {
    /// It was not run.
    NotRun,
    /// Its rows.
    Rows(QueryTable),
    /// It failed: the problem, and what to do.
    Failed(String, String),
}

/// The page for queries, with this statement in its box.
#[must_use]
pub fn sql(statement: &str, view: QueryView, outcome: QueryOutcome) -> Markup {
    let (table, problem) = match outcome {
        QueryOutcome::NotRun => (None, None),
        QueryOutcome::Rows(table) => (Some(table), None),
        QueryOutcome::Failed(problem, remedy) => (None, Some([problem, remedy])),
    };
    html! {
        header {
            h1 { "SQL" }
            p class="about" { "One read-only statement, over all results." }
        }
        // The script does not fetch this page again: it would run the statement again.
        form id="query" action="/sql" data-still {
            p { label for="statement" { "Statement" } }
            textarea id="statement" name="q" rows="8" spellcheck="false" autocapitalize="off" required { "\n" (statement) }
            @if let Some(sort) = view.sort { input type="hidden" name="sort" value=(sort); }
            @if view.plot.is_some() { input type="hidden" name="plot" value="1"; }
            p { button name="sort" value="0" { "Run" } }
        }
        @if let Some([problem, remedy]) = problem {
            p class="problem" role="alert" { strong { (shown(&problem)) } @if !remedy.is_empty() { " " (shown(&remedy)) } }
        }
        @if let Some(table) = table { (result(view, table)) }
        section {
            h2 { "Questions" }
            p class="note" { "From docs/sql.md, whose statements name the experiments depth, weights and clock: replace these names with yours." }
            ol { @for question in &*QUESTIONS {
                li { a href={ "/sql?question=" (question.word) } { (question.title) } }
            } }
        }
    }
}

fn result(view: QueryView, QueryTable { columns, mut rows, truncated }: QueryTable) -> Markup {
    let fetched = rows.len();
    let numbers = match fetched > ROWS_SHOWN {
        false => "Its numbers are in the table of rows above.".to_owned(),
        true => format!("Of its numbers, {ROWS_SHOWN} rows are in the table above."),
    };
    let plot = view.plot.map(|places| plotted_columns(&columns, &rows, places, &numbers));
    let sort = view.sort.unwrap_or_default();
    if let Some(column) =
        usize::try_from(sort.unsigned_abs()).ok().and_then(|sort| sort.checked_sub(1))
        && column < columns.len()
    {
        rows.sort_by(|a, b| {
            let order = compare(&a[column], &b[column]);
            if sort < 0 { order.reverse() } else { order }
        });
    }
    let shown_columns = || columns.iter().zip(1_i32..).take(COLUMNS_SHOWN);
    let is_number = |value: &SqlValue| matches!(value, SqlValue::Integer(_) | SqlValue::Real(_));
    html! {
        section {
            h2 { "Rows" }
            p { (amount(fetched, truncated)) @if columns.len() > COLUMNS_SHOWN {
                "; the first " (COLUMNS_SHOWN) " of " (count(columns.len() as u64)) " columns are here"
            } "." }
            div class="wide" tabindex="0" { table {
                thead { tr { @for (name, number) in shown_columns() {
                    th scope="col" aria-sort=[sorted(sort, number)] {
                        button form="query" name="sort" value=(if sort == number { -number } else { number }) title="Sort the rows that are here" {
                            (shown(name))
                        }
                    }
                } } }
                tbody { @for row in rows.iter().take(ROWS_SHOWN) {
                    tr { @for value in row.iter().take(COLUMNS_SHOWN) {
                        td class=[is_number(value).then_some("n")] { (shown(&cell_text(value))) }
                    } }
                } }
            } }
            p { "All rows: "
                button form="query" name="format" value="csv" { "CSV" }
                button form="query" name="format" value="json" { "JSON" }
                @if HAS_PARQUET { button form="query" name="format" value="parquet" { "Parquet" } }
            }
            p class="note" {
                "CSV has texts exactly as they are: spreadsheets take those that begin with =, +, - or @ for formulas. \
                 Import such a column as text."
            }
        }
        @if columns.len() > 1 { section {
            h2 { "Plot" }
            p class="filters" {
                (axis("x", "Across", &columns, view.plot.map_or(1, |[x, _]| x)))
                (axis("y", "Up", &columns, view.plot.map_or(2, |[_, y]| y)))
                button form="query" name="plot" value="1" { "Plot" }
            }
            @match plot {
                None => {}
                Some(Ok(markup)) => (markup),
                Some(Err(Error { cause, help, .. })) => p class="problem" role="alert" {
                    @if let Some(cause) = cause { strong { (shown(&cause.to_string())) } " " }
                    @if let Some(help) = help { (shown(&help)) }
                },
            }
        } }
    }
}

/// How many rows there are, and how many are in the table.
fn amount(fetched: usize, truncated: bool) -> String {
    let rows = counted(fetched as u64, "row");
    match (fetched > ROWS_SHOWN, truncated) {
        (false, false) => rows,
        (true, false) => format!("The first {ROWS_SHOWN} of {rows}"),
        (_, true) => format!(
            "The first {} of more than {rows}; sorted and plotted are the first {}",
            count(fetched.min(ROWS_SHOWN) as u64),
            count(fetched as u64)
        ),
    }
}

fn sorted(sort: i32, number: i32) -> Option<&'static str> {
    (sort.unsigned_abs() == number.unsigned_abs()).then_some(if sort < 0 {
        "descending"
    } else {
        "ascending"
    })
}

/// A choice of a column by its number.
fn axis(name: &str, label: &str, columns: &[String], chosen: usize) -> Markup {
    html! {
        label { (label) " " select form="query" name=(name) {
            @for (column, number) in columns.iter().take(COLUMNS_SHOWN).zip(1..) {
                option value=(number) selected[number == chosen] { (shown(column)) }
            }
        } }
    }
}

/// The order of values in SQLite: NULL, numbers, texts, blobs.
fn compare(a: &SqlValue, b: &SqlValue) -> Ordering {
    let rank = |value: &SqlValue| match value {
        SqlValue::Null => 0,
        SqlValue::Integer(_) | SqlValue::Real(_) => 1,
        SqlValue::Text(_) => 2,
        SqlValue::Blob(_) => 3,
    };
    match (a, b) {
        (SqlValue::Integer(a), SqlValue::Integer(b)) => a.cmp(b),
        (SqlValue::Text(a), SqlValue::Text(b)) => a.cmp(b),
        (SqlValue::Blob(a), SqlValue::Blob(b)) => a.cmp(b),
        // Zero has one sign.
        (SqlValue::Real(a), SqlValue::Real(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
        (SqlValue::Integer(a), SqlValue::Real(b)) => compare_numbers(*a, *b),
        (SqlValue::Real(a), SqlValue::Integer(b)) => compare_numbers(*b, *a).reverse(),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// The order of an integer and a number, exact: rounded integers would not have one.
fn compare_numbers(integer: i64, real: f64) -> Ordering {
    /// 2^63, the first number above all integers.
    const END: f64 = 9_223_372_036_854_775_808.0;
    match real {
        _ if real >= END => Ordering::Less,
        _ if real < -END => Ordering::Greater,
        // What is no number is never a value of SQLite.
        _ => integer.cmp(&(real.trunc() as i64)).then(0.0_f64.total_cmp(&(real.fract() + 0.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_documented_question_has_an_address() {
        let headings = DOCUMENT.lines().filter(|line| {
            line.strip_prefix("### ")
                .is_some_and(|line| line.starts_with(|first: char| first.is_ascii_digit()))
        });
        assert_eq!(QUESTIONS.len(), headings.count());
        for question in &*QUESTIONS {
            assert!(question.statement.trim_end().ends_with(';'), "{}", question.statement);
            assert_eq!(documented_statement(&question.word), Some(question.statement));
        }
        let words: std::collections::BTreeSet<_> =
            QUESTIONS.iter().map(|question| &question.word).collect();
        assert_eq!(words.len(), QUESTIONS.len());
        assert_eq!(documented_statement("x"), None);
    }

    #[test]
    fn integers_and_numbers_have_one_order() {
        let (max, end) = (i64::MAX, 9_223_372_036_854_775_808.0);
        for (integer, real, order) in [
            (1, 1.0, Ordering::Equal),
            (1, 1.5, Ordering::Less),
            (-1, -1.5, Ordering::Greater),
            (0, -0.0, Ordering::Equal),
            (max, end, Ordering::Less),
            (i64::MIN, -end, Ordering::Equal),
            (0, f64::NEG_INFINITY, Ordering::Greater),
            ((1 << 60) + 1, (1_i64 << 60) as f64, Ordering::Greater),
        ] {
            assert_eq!(compare_numbers(integer, real), order, "{integer} {real}");
        }
    }

    #[test]
    fn rows_are_texts_are_sorted_and_are_plotted() {
        let markup = "</td><script>alert(1)</script>\u{202e}";
        let row = |x: i64, text: &str| vec![SqlValue::Integer(x), SqlValue::Text(text.to_owned())];
        let table = QueryTable {
            columns: vec!["n".to_owned(), markup.to_owned()],
            rows: vec![row(10, markup), row(9, "b"), vec![SqlValue::Null, SqlValue::Real(0.5)]],
            truncated: true,
        };
        let view = QueryView { sort: Some(-1), plot: None };
        let page = sql("</textarea><script>", view, QueryOutcome::Rows(table)).into_string();
        assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} in {page}"));
        assert!(place(">10</td>") < place(">9</td>") && place(">9</td>") < place("<td></td>"));
        assert!(page.contains("aria-sort=\"descending\"") && page.contains("of more than 3 rows"));

        let numbers = |rows: i64| QueryTable {
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: (0..rows).map(|x| vec![SqlValue::Integer(x), SqlValue::Integer(x * x)]).collect(),
            truncated: false,
        };
        let view = QueryView { sort: None, plot: Some([2, 1]) };
        let page = sql("", view, QueryOutcome::Rows(numbers(500))).into_string();
        assert!(page.contains("a by b") && page.contains("<svg"), "{page}");
        assert!(page.contains("The first 200 of 500 rows"), "{page}");
        assert!(page.contains("Of its numbers, 200 rows are in the table above."), "{page}");
        assert!(!page.contains("table that follows"), "{page}");
        // Neighbours of a number that only its integers tell apart, and numbers next to zero.
        let large = 1_i64 << 60;
        let odd = (0..40_i64).map(|i| match i % 3 {
            0 => vec![SqlValue::Real(large as f64), SqlValue::Real(6.4e-323)],
            _ => vec![SqlValue::Integer(large + i * 7919 % 64), SqlValue::Real(0.0)],
        });
        let rows = QueryTable { rows: odd.collect(), ..numbers(0) };
        let view = QueryView { sort: Some(1), plot: Some([1, 2]) };
        let page = sql("", view, QueryOutcome::Rows(rows)).into_string();
        assert!(page.contains("40 rows"), "{page}");
        for plot in [[0, 1], [1, 3], [usize::MAX, 1]] {
            let view = QueryView { sort: Some(i32::MIN), plot: Some(plot) };
            let page = sql("", view, QueryOutcome::Rows(numbers(3))).into_string();
            assert!(page.contains("role=\"alert\"") && !page.contains("<svg"), "{page}");
        }
    }
}
