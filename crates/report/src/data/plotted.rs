//! The rows of a query as a plot.

use std::io::Write;

use indexmap::{IndexMap, IndexSet};
use maud::Markup;
use spelrum_answers::SqlValue;

use super::csv::plain;
use super::rows::WriteRows;
use crate::error::{Error, Kind, Result};
use crate::plot::{Axis, Chart, Curves, Estimate, Figure, Panel, Point, SERIES_MAX, plot_files};
use crate::text::shortened;

/// Maximum number of rows: more points cannot be distinguished.
const ROWS_MAX: usize = 10_000;

/// Characters of a column's name in a page's plot.
const LABEL_CHARACTERS_MAX: usize = 100;

/// Up to this many distinct numbers on an axis are each labelled.
const WRITTEN_MAX: usize = 15;

/// Returns a writer that draws rows with these columns: a line over the values of one column, or a line for each text
/// of the first.
pub(super) fn rows_as_plot<'w>(
    columns: Vec<String>,
    out: impl Write + 'w,
) -> Result<Box<dyn WriteRows + 'w>> {
    let (has_series, has_intervals) = match columns.len() {
        2 => (false, false),
        3 => (true, false),
        4 => (false, true),
        5 => (true, true),
        number => {
            return Err(plot_error(
                format!("{number} columns say nothing to a plot"),
                "ask for x and y; for a line each: name, x and y; and with intervals two more columns, low and high",
            ));
        }
    };
    Ok(Box::new(Drawing { columns, has_series, has_intervals, rows: Vec::new(), out }))
}

/// Two columns of rows, by their numbers from 1, as a plot in a page, with a sentence that tells screen readers where its
/// numbers are.
pub(crate) fn plotted_columns(
    columns: &[String],
    rows: &[Vec<SqlValue>],
    places: [usize; 2],
    numbers: &str,
) -> Result<Markup> {
    let place = |number: usize| {
        let place = number.checked_sub(1).filter(|place| *place < columns.len());
        place.ok_or_else(|| plot_error("there is no such column".to_owned(), "choose two of them"))
    };
    let places = [place(places[0])?, place(places[1])?];
    let names = places.map(|place| shortened(&columns[place], LABEL_CHARACTERS_MAX)).to_vec();
    let rows = rows.iter().map(|row| places.map(|place| row[place].clone()).to_vec()).collect();
    let out = std::io::sink();
    let drawing = Drawing { columns: names, has_series: false, has_intervals: false, rows, out };
    Ok(drawing.figure()?.markup_about(1, None, numbers)?)
}

struct Drawing<W> {
    columns: Vec<String>,
    /// Whether the first column names a point's line.
    has_series: bool,
    /// Whether the last two columns are the ends of an interval.
    has_intervals: bool,
    rows: Vec<Vec<SqlValue>>,
    out: W,
}

impl<W: Write> WriteRows for Drawing<W> {
    fn write(&mut self, rows: &[Vec<SqlValue>]) -> Result<()> {
        self.rows.extend_from_slice(rows);
        if self.rows.len() > ROWS_MAX {
            return Err(plot_error(
                format!("there are more than {ROWS_MAX} points"),
                "ask for fewer rows",
            ));
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let figure = self.figure()?;
        let about = format!("Drawn by spelrum {}.", env!("CARGO_PKG_VERSION"));
        for file in plot_files(&[figure], None, &about)? {
            self.out.write_all(file.svg.as_bytes())?;
        }
        Ok(self.out.flush()?)
    }
}

impl<W> Drawing<W> {
    fn figure(&self) -> Result<Figure> {
        let at = usize::from(self.has_series);
        let [x_label, y_label] = [&self.columns[at], &self.columns[at + 1]];
        let is_number =
            |value: &SqlValue| matches!(value, SqlValue::Integer(_) | SqlValue::Real(_));
        let x_are_numbers = self.rows.iter().all(|row| is_number(&row[at]));
        let names: IndexSet<String> = self.rows.iter().map(|row| plain(&row[at])).collect();
        let mut lines = IndexMap::<String, Vec<Point>>::new();
        let mut marks = Vec::new();
        for row in &self.rows {
            // Points without a value are left out.
            let Some(value) = number(&row[at + 1], y_label)? else { continue };
            let place = match number(&row[at], x_label) {
                Ok(Some(x)) if x_are_numbers => x,
                _ => names.get_index_of(&plain(&row[at])).unwrap_or_default() as f64,
            };
            let interval = match self.has_intervals {
                true => {
                    let [low, high] =
                        [at + 2, at + 3].map(|end| number(&row[end], &self.columns[end]));
                    low?.zip(high?).map(|(low, high)| [low, high])
                }
                false => None,
            };
            marks.push((place, plain(&row[at])));
            let name = if self.has_series { plain(&row[0]) } else { y_label.clone() };
            let point = Point { at: place, estimate: Estimate { value, interval } };
            lines.entry(name).or_default().push(point);
        }
        if lines.is_empty() {
            let problem = format!("no row has a number in `{y_label}`");
            return Err(plot_error(problem, "ask for rows that have one"));
        }
        if lines.len() > SERIES_MAX {
            let problem =
                format!("there are {} lines, and a plot has {SERIES_MAX} at most", lines.len());
            return Err(plot_error(problem, "choose some with WHERE"));
        }
        let values = lines.values().flatten().flat_map(|point| {
            let [low, high] = point.estimate.interval.unwrap_or([point.estimate.value; 2]);
            [low, point.estimate.value, high]
        });
        let y = Axis::from_values(y_label, values);
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        marks.dedup();
        let x = match x_are_numbers {
            false => Axis::from_names(x_label, &names.into_iter().collect::<Vec<_>>()),
            true if marks.len() <= WRITTEN_MAX && !are_even(&marks) => {
                Axis::from_numbers(x_label, &marks)
            }
            true => Axis::from_values(x_label, marks.iter().map(|(at, _)| *at)),
        };
        let mut series: Vec<(String, Vec<Point>)> = lines.into_iter().collect();
        for (_, points) in &mut series {
            points.sort_by(|a, b| a.at.total_cmp(&b.at));
        }
        let chart = Chart::Curves(Curves { x, y, reference: None, series, fitted: Vec::new() });
        Ok(Figure {
            before: "rows",
            title: format!("{y_label} by {x_label}"),
            notes: Vec::new(),
            panels: vec![Panel { heading: None, chart }],
            columns: Vec::new(),
            rows: Vec::new(),
        })
    }
}

/// Whether numbers are about evenly spaced, so that round ticks suffice to read them.
fn are_even(marks: &[(f64, String)]) -> bool {
    let gaps = || marks.windows(2).map(|both| both[1].0 - both[0].0);
    let (least, most) = (gaps().fold(f64::INFINITY, f64::min), gaps().fold(0.0, f64::max));
    marks.len() > 4 && most <= 2.0 * least
}

/// Returns a number; `None` for NULL.
fn number(value: &SqlValue, column: &str) -> Result<Option<f64>> {
    match value {
        SqlValue::Null => Ok(None),
        SqlValue::Integer(value) => Ok(Some(*value as f64)),
        SqlValue::Real(value) => Ok(Some(*value)),
        SqlValue::Text(_) | SqlValue::Blob(_) => {
            let problem = format!("`{column}` is not a number in every row");
            Err(plot_error(
                problem,
                "only the name of a line and what is at the bottom may be texts",
            ))
        }
    }
}

fn plot_error(problem: String, remedy: &str) -> Error {
    Error::new(Kind::Input, "draw the rows").because(problem).help(remedy)
}
