//! Plots as data, independent of drawing. The numbers behind each are in a table beside it.

mod axis;
mod colors;
mod draw;
mod file;
mod ink;
mod svg;

use std::io;

use maud::{Markup, html};
use spelrum_model::CellId;

pub(crate) use axis::Axis;
pub(crate) use colors::with_colors;
use draw::Room;
pub use file::{plot_files, write_plots};
pub(crate) use ink::SERIES_MAX;

use crate::text::{Column, shortened, shortened_apart, shown};

/// A plot, or several alike, with notes.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Name of the table that the figure precedes.
    pub(crate) before: &'static str,
    /// In words.
    pub(crate) title: String,
    /// Sentences: how to read it, and omissions.
    pub(crate) notes: Vec<String>,
    pub(crate) panels: Vec<Panel>,
    /// Headings of the table of numbers, and a text for each in every row.
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<String>>,
}

/// One plot.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// Difference from the others; `None` for a single plot.
    pub(crate) heading: Option<String>,
    pub(crate) chart: Chart,
}

/// Contents of a plot.
#[derive(Clone, Debug)]
pub(crate) enum Chart {
    /// Values as lines over another quantity.
    Curves(Curves),
    /// Values of several things.
    Intervals(Intervals),
    /// Wins, draws and losses, for each of several things.
    Outcomes(Vec<(String, [u64; 3])>),
    /// Number of games by kind, for each of several things.
    Shares(Shares),
    /// Values of the squares of a chess board: the greater, the darker.
    Board(Board),
    /// Values at pairs of values of two axes: the greater, the darker.
    Heat(Heat),
}

/// Size of a plot in a separate file, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlotSize {
    /// Width.
    pub width: u32,
    /// Height of plots with two axes; others are as high as their rows.
    pub height: u32,
}

impl std::str::FromStr for PlotSize {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('x').and_then(|(width, height)| {
            Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
        });
        let (width, height) = parts.ok_or("write it as WIDTHxHEIGHT, such as 720x330")?;
        if !(300..=4_000).contains(&width) || !(200..=4_000).contains(&height) {
            return Err("the width is 300 to 4000, the height 200 to 4000");
        }
        Ok(Self { width, height })
    }
}

/// Values at pairs of values of two axes.
#[derive(Clone, Debug)]
pub(crate) struct Heat {
    /// Quantities on the horizontal and the vertical axis.
    pub(crate) labels: [String; 2],
    /// Values of the horizontal axis, from left to right.
    pub(crate) columns: Vec<String>,
    /// Values of the vertical axis, from the bottom.
    pub(crate) rows: Vec<String>,
    /// The lightest value, and the darkest.
    pub(crate) range: [f64; 2],
    /// For each row, an optional value for each column.
    pub(crate) values: Vec<Vec<Option<f64>>>,
    /// The cells that have these values.
    pub(crate) cells: Vec<Vec<Option<CellId>>>,
}

/// Optional values of the squares of a chess board, from a1 and b1 to h8.
#[derive(Clone, Debug)]
pub(crate) struct Board(pub(crate) Box<[Option<f64>; 64]>);

/// Number of games by kind, for each of several things: at most [`SERIES_MAX`] kinds.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    pub(crate) names: Vec<String>,
    /// With as many numbers of games as there are names.
    pub(crate) rows: Vec<(String, Vec<u64>)>,
}

/// Values with intervals over another quantity, a line for each series: at most [`SERIES_MAX`].
#[derive(Clone, Debug)]
pub(crate) struct Curves {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// A value for comparison.
    pub(crate) reference: Option<f64>,
    /// Names of the lines, and their points from left to right.
    pub(crate) series: Vec<(String, Vec<Point>)>,
    /// For each of these lines a curve with its band, from left to right, in place of straight lines from point to point.
    /// Empty: there are none.
    pub(crate) fitted: Vec<Vec<Point>>,
}

/// Values with intervals for several things, one below the other.
#[derive(Clone, Debug)]
pub(crate) struct Intervals {
    pub(crate) x: Axis,
    pub(crate) reference: Option<f64>,
    pub(crate) rows: Vec<(String, Estimate)>,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Its position on the other axis.
    pub(crate) at: f64,
    pub(crate) estimate: Estimate,
}

/// A value, with its interval if known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) value: f64,
    pub(crate) interval: Option<[f64; 2]>,
}

/// Maximum length of a name in a legend.
const NAME_CHARACTERS_MAX: usize = 100;

impl Figure {
    /// Returns the figure's markup in a page, in which its number is unique. `cell_games` is the address of the games of
    /// a cell, without the cell's id at its end: values of cells then lead to their games.
    pub(super) fn markup(&self, number: usize, cell_games: Option<&str>) -> io::Result<Markup> {
        self.markup_about(number, cell_games, "Its numbers are in the table that follows.")
    }

    /// The same, with another sentence that tells screen readers where its numbers are.
    pub(super) fn markup_about(
        &self,
        number: usize,
        cell_games: Option<&str>,
        numbers: &str,
    ) -> io::Result<Markup> {
        let is_alone = self.panels.len() == 1;
        let panels = self.panels.iter().zip(1..).map(|(panel, place)| {
            let id = format!("plot-{number}-{place}");
            panel.markup([&self.title, numbers], is_alone, &id, cell_games)
        });
        let panels = panels.collect::<io::Result<Vec<_>>>()?;
        Ok(html! {
            figure {
                figcaption { (shown(&self.title)) }
                div class=(if panels.len() > 1 { "panels" } else { "panel" }) {
                    @for panel in &panels { (panel) }
                }
                @for note in &self.notes { p class="note" { (shown(note)) } }
                @if !self.columns.is_empty() { details {
                    summary { "The numbers" }
                    div class="wide" tabindex="0" { (rows(&self.columns, &self.rows)) }
                } }
            }
        })
    }
}

impl Panel {
    fn markup(
        &self,
        [title, numbers]: [&str; 2],
        is_alone: bool,
        id: &str,
        cell_games: Option<&str>,
    ) -> io::Result<Markup> {
        let title = match &self.heading {
            Some(heading) => format!("{title}: {}", shortened(heading, NAME_CHARACTERS_MAX)),
            None => title.to_owned(),
        };
        let drawn = |room| draw::chart(&self.chart, room).map_err(io::Error::other);
        let wide = drawn(if is_alone { Room::Page } else { Room::Part })?;
        let narrow = drawn(Room::Phone)?;
        let legend = legend(&self.chart.keys())?;
        Ok(html! {
            div {
                @if let Some(heading) = &self.heading {
                    p class="heading" { (shortened(heading, NAME_CHARACTERS_MAX)) }
                }
                @if let Some(legend) = legend { (legend) }
                // The style sheet shows one of them.
                div class="plot" {
                    (svg::image(wide, "on-page", id, Some([&title, numbers]), cell_games))
                    (svg::image(narrow, "on-phone", id, None, cell_games))
                }
            }
        })
    }
}

/// Keys of a legend.
enum Key {
    /// A piece of this line.
    Line(usize),
    /// A piece of a bar, with this class.
    Bar(String),
}

impl Chart {
    /// Returns the legend's entries, in drawing order; empty if all are of one kind.
    fn keys(&self) -> Vec<(Key, &str)> {
        match self {
            Self::Curves(curves) => {
                let names = curves.series.iter().enumerate();
                names.map(|(series, (name, _))| (Key::Line(series), &**name)).collect()
            }
            Self::Outcomes(_) => {
                let names = ["win", "draw", "loss"].into_iter();
                names.map(|outcome| (Key::Bar(outcome.to_owned()), outcome)).collect()
            }
            Self::Shares(shares) => {
                let names = shares.names.iter().enumerate();
                names.map(|(part, name)| (Key::Bar(format!("p{part}")), &**name)).collect()
            }
            Self::Intervals(_) | Self::Board(_) | Self::Heat(_) => Vec::new(),
        }
    }
}

fn legend(keys: &[(Key, &str)]) -> io::Result<Option<Markup>> {
    let names: Vec<&str> = keys.iter().map(|(_, name)| *name).collect();
    let names = shortened_apart(&names, |_| NAME_CHARACTERS_MAX);
    let keys = keys.iter().zip(names).map(|((key, _), name)| {
        Ok(match key {
            Key::Line(series) => {
                let drawn = draw::key(*series).map_err(io::Error::other)?;
                html! { li { (svg::key(drawn.size, drawn.elements)) " " bdi { (name) } } }
            }
            Key::Bar(class) => html! { li { span class=(format!("key {class}")) {} " " (name) } },
        })
    });
    let keys = keys.collect::<io::Result<Vec<_>>>()?;
    Ok((!keys.is_empty()).then(|| html! { ul class="legend" { @for key in &keys { (key) } } }))
}

/// A table without a caption.
fn rows(columns: &[Column], rows: &[Vec<String>]) -> Markup {
    html! {
        table class=[number_classes(columns)] {
            thead { tr { @for column in columns { th { (shown(column.heading())) } } } }
            tbody { @for row in rows {
                tr { @for cell in row { td { (shortened(cell, NAME_CHARACTERS_MAX)) } } }
            } }
        }
    }
}

/// Columns whose alignment is that of their table. Each later cell has a class of its own.
pub(crate) const ALIGNED_COLUMNS_MAX: usize = 20;

/// The classes of a table that align its columns of numbers.
pub(crate) fn number_classes(columns: &[Column]) -> Option<String> {
    let columns = columns.iter().take(ALIGNED_COLUMNS_MAX).zip(1..);
    let numbers = columns.filter(|(column, _)| column.is_of_numbers());
    let classes: Vec<String> = numbers.map(|(_, number)| format!("n{number}")).collect();
    (!classes.is_empty()).then(|| classes.join(" "))
}
