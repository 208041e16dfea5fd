//! Drawing of plots.

use std::convert::Infallible;
use std::ops::Range;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, DrawingArea, DrawingAreaErrorKind, IntoDrawingArea,
    IntoFont, PathElement, Polygon, Rectangle, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, TRANSPARENT, TextStyle};

use super::ink::{HEAT_STEPS, Ink, Outcome};
use super::svg::{Area, Drawing, Drawn};
use super::{Axis, Board, Chart, Curves, Estimate, Heat, Intervals, PlotSize, Point};
use crate::text::count;
use crate::text::{shortened, shortened_apart};

type Error = DrawingAreaErrorKind<Infallible>;
type Page<'d> = DrawingArea<Drawing<'d>, Shift>;
type Coordinates = Cartesian2d<Coordinate, Coordinate>;
type Pixel = (i32, i32);

/// Room for a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// The full width of a page.
    Page,
    /// Part of a page, beside other drawings.
    Part,
    /// A phone: names that stand at the left elsewhere stand above.
    Phone,
    /// A file of this size; the height applies to plots with two axes.
    File(PlotSize),
}

impl Room {
    /// Returns the width in units of the drawings, which are scaled to the available width.
    const fn width(self) -> u32 {
        match self {
            Self::Page => 720,
            Self::Part => 480,
            Self::Phone => 340,
            Self::File(size) => size.width,
        }
    }

    const fn curves_height(self) -> u32 {
        match self {
            Self::Page | Self::Part | Self::Phone => CURVES_HEIGHT,
            Self::File(size) => size.height,
        }
    }

    const fn row_height(self) -> u32 {
        match self {
            Self::Page | Self::Part | Self::File(_) => 24,
            Self::Phone => 42,
        }
    }
}

const CURVES_HEIGHT: u32 = 330;
const FONT_SIZE: u32 = 13;
/// Approximate width of a character.
pub(super) const CHARACTER: f64 = 7.5;
/// Room for labels below an axis, and at its left.
const BELOW: u32 = 50;
const LEFT: u32 = 64;
/// Room above a plot, for the name of its vertical axis.
const ABOVE: u32 = 26;
const MARGIN: u32 = 12;
/// Room around the names of rows.
const NAME_MARGIN: u32 = 16;
/// Half of the height of a bar.
const HALF_BAR: i32 = 9;

/// Height of a row of a heat map, and the greatest width of its squares.
const HEAT_ROW: u32 = 32;
const HEAT_COLUMN_MAX: u32 = 160;

/// Maximum size of a square of a board, and room below it for the names of the files.
const SQUARE: u32 = 44;
const BELOW_BOARD: u32 = 28;

/// Draws a chart.
pub(super) fn chart(chart: &Chart, room: Room) -> Result<Drawn, Error> {
    let width = room.width();
    let height = |rows: usize| {
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        rows.saturating_mul(room.row_height()).saturating_add(BELOW + MARGIN)
    };
    match chart {
        Chart::Curves(shown) => on_page((width, room.curves_height()), |page| curves(page, shown)),
        Chart::Intervals(shown) => {
            on_page((width, height(shown.rows.len())), |page| intervals(page, room, shown))
        }
        Chart::Outcomes(rows) => {
            on_page((width, height(rows.len())), |page| outcomes(page, room, rows))
        }
        Chart::Shares(shown) => {
            on_page((width, height(shown.rows.len())), |page| parts(page, room, &shown.rows))
        }
        Chart::Heat(shown) => {
            let rows = u32::try_from(shown.rows.len()).unwrap_or(u32::MAX);
            let height = rows.saturating_mul(HEAT_ROW).saturating_add(ABOVE + BELOW);
            let mut areas = Vec::new();
            let drawn = on_page((width, height), |page| heat(page, shown, &mut areas))?;
            Ok(Drawn { areas, ..drawn })
        }
        Chart::Board(Board(values)) => {
            on_page((width, 8 * SQUARE + MARGIN + BELOW_BOARD), |page| board(page, values))
        }
    }
}

/// Draws a series' key for a legend.
pub(super) fn key(series: usize) -> Result<Drawn, Error> {
    on_page((44, 16), |page| {
        page.draw(&PathElement::new(vec![(2, 8), (42, 8)], Ink::Line(series).color()))?;
        marker(page, series, (22, 8))
    })
}

fn on_page(
    size: (u32, u32),
    draw: impl FnOnce(&Page<'_>) -> Result<(), Error>,
) -> Result<Drawn, Error> {
    let mut elements = String::new();
    let page = Drawing::new(size, &mut elements).into_drawing_area();
    draw(&page)?;
    page.present()?;
    drop(page);
    Ok(Drawn { size, elements, areas: Vec::new() })
}

fn curves(page: &Page<'_>, curves: &Curves) -> Result<(), Error> {
    let (width, height) = page.dim_in_pixel();
    let rows = f64::from(height - ABOVE - BELOW);
    // A line of text is as high as three characters are wide, and each tick has one.
    let y = Coordinate::from_axis(&curves.y, rows / CHARACTER * 2.0);
    let x = Coordinate::from_axis(&curves.x, f64::from(width - LEFT - MARGIN) / CHARACTER);
    let plot = ChartBuilder::on(page)
        .margin_top(ABOVE)
        .margin_right(MARGIN)
        .x_label_area_size(BELOW)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(x, y)?;
    let plot = meshed(page, plot, &curves.x.label, [false, true])?;
    text(page, &curves.y.label, (4, 4), HPos::Left, VPos::Top, Ink::Text)?;
    let pixel = |x: f64, y: f64| plot.plotting_area().map_coordinate(&(x, y));
    if let Some(reference) = curves.reference {
        let [from, to] = curves.x.range;
        let y = curves.y.position(reference);
        page.draw(&PathElement::new(vec![pixel(from, y), pixel(to, y)], Ink::Reference.color()))?;
    }
    for (series, fitted) in curves.fitted.iter().enumerate() {
        let at = |x: f64, y: f64| pixel(curves.x.position(x), curves.y.position(y));
        let ends = |point: &Point| Some((point.at, point.estimate.interval?));
        let above = fitted.iter().filter_map(|point| ends(point).map(|(x, [_, high])| at(x, high)));
        let below =
            fitted.iter().rev().filter_map(|point| ends(point).map(|(x, [low, _])| at(x, low)));
        let corners: Vec<Pixel> = above.chain(below).collect();
        if corners.len() > 2 {
            page.draw(&Polygon::new(corners, Ink::Band(series).color()))?;
        }
        let line: Vec<Pixel> =
            fitted.iter().map(|point| at(point.at, point.estimate.value)).collect();
        if line.len() > 1 {
            page.draw(&PathElement::new(line, Ink::Line(series).color()))?;
        }
    }
    let has_curves = !curves.fitted.is_empty();
    let lines = curves.series.len();
    for (series, (_, points)) in curves.series.iter().enumerate() {
        // Side by side, where they would overlap.
        let aside = if has_curves {
            0
        } else {
            (2 * i32::try_from(series).unwrap_or(0) + 1 - i32::try_from(lines).unwrap_or(0)) * 3
        };
        let at = |x: f64, y: f64| {
            let (x, y) = pixel(curves.x.position(x), curves.y.position(y));
            (x + aside, y)
        };
        for point in points {
            if let Some([low, high]) = point.estimate.interval {
                let ends = [at(point.at, low), at(point.at, high)];
                whisker(page, series, ends)?;
            }
        }
        let line =
            points.iter().map(|point| at(point.at, point.estimate.value)).collect::<Vec<_>>();
        if line.len() > 1 && !has_curves {
            page.draw(&PathElement::new(line.clone(), Ink::Line(series).color()))?;
        }
        for point in line {
            marker(page, series, point)?;
        }
    }
    Ok(())
}

fn intervals(page: &Page<'_>, room: Room, shown: &Intervals) -> Result<(), Error> {
    let names = shown.rows.iter().map(|(name, _)| &**name);
    let (plot, below) = in_rows(page, room, &shown.x, names)?;
    let pixel = |x: f64, y: f64| plot.plotting_area().map_coordinate(&(shown.x.position(x), y));
    let in_row = |x: f64, row: f64| {
        let (x, y) = pixel(x, row);
        (x, y + below)
    };
    if let Some(reference) = shown.reference {
        let ends = vec![pixel(reference, -0.5), pixel(reference, shown.rows.len() as f64 - 0.5)];
        page.draw(&PathElement::new(ends, Ink::Reference.color()))?;
    }
    for (row, (_, Estimate { value, interval })) in (0..).map(f64::from).zip(&shown.rows) {
        if let Some([low, high]) = interval {
            whisker(page, 0, [in_row(*low, row), in_row(*high, row)])?;
        }
        marker(page, 0, in_row(*value, row))?;
    }
    Ok(())
}

/// Draws a bar for each row, divided into its games of each kind.
fn shares<'r>(
    page: &Page<'_>,
    room: Room,
    rows: impl ExactSizeIterator<Item = (&'r str, &'r [u64])> + Clone,
    inks: impl Fn(usize) -> [Ink; 2],
) -> Result<(), Error> {
    let x = Axis::for_shares("share of the games");
    let (plot, below) = in_rows(page, room, &x, rows.clone().map(|(name, _)| name))?;
    let pixel = |x: f64, row: f64| {
        let (x, y) = plot.plotting_area().map_coordinate(&(x, row));
        (x, y + below)
    };
    for (row, (_, games)) in (0..).map(f64::from).zip(rows) {
        let all: u64 = games.iter().sum();
        if all == 0 {
            let (x, y) = pixel(0.0, row);
            text(page, "no games", (x + 6, y), HPos::Left, VPos::Center, Ink::Text)?;
            continue;
        }
        let mut before = 0;
        for (kind, games) in games.iter().enumerate() {
            let [from, to] = [before, before + games].map(|end| end as f64 / all as f64);
            before += games;
            let ((left, y), (right, _)) = (pixel(from, row), pixel(to, row));
            if right <= left {
                continue;
            }
            let [bar, on_bar] = inks(kind);
            let corners = [(left, y - HALF_BAR), (right, y + HALF_BAR)];
            page.draw(&Rectangle::new(corners, bar.color().filled()))?;
            let label = count(*games);
            if f64::from(right - left) > (label.len() + 1) as f64 * CHARACTER {
                let middle = (i32::midpoint(left, right), y);
                text(page, &label, middle, HPos::Center, VPos::Center, on_bar)?;
            }
        }
    }
    Ok(())
}

fn outcomes(page: &Page<'_>, room: Room, rows: &[(String, [u64; 3])]) -> Result<(), Error> {
    shares(page, room, rows.iter().map(|(name, games)| (&**name, &games[..])), |kind| {
        let outcome = Outcome::ALL[kind];
        [Ink::Bar(outcome), Ink::OnBar(outcome)]
    })
}

fn parts(page: &Page<'_>, room: Room, rows: &[(String, Vec<u64>)]) -> Result<(), Error> {
    shares(page, room, rows.iter().map(|(name, games)| (&**name, &games[..])), |kind| {
        [Ink::Part(kind), Ink::OnPart]
    })
}

/// Draws a square for each pair of values of two axes, with its value, the first row below.
fn heat(page: &Page<'_>, shown: &Heat, areas: &mut Vec<Area>) -> Result<(), Error> {
    let (width, _) = page.dim_in_pixel();
    let names_max = (f64::from(width / 4) / CHARACTER) as usize;
    let names: Vec<&str> = shown.rows.iter().map(String::as_str).collect();
    let rows = all_fitting(&names, names_max);
    let longest = rows.iter().map(|name| columns(name)).max().unwrap_or_default();
    let left = (CHARACTER * longest as f64) as u32 + NAME_MARGIN;
    let count = u32::try_from(shown.columns.len().max(1)).unwrap_or(u32::MAX);
    let side = ((width - left - MARGIN) / count).clamp(1, HEAT_COLUMN_MAX);
    let at = |from: u32, step: u32, number: usize| {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        i32::try_from(from.saturating_add(step.saturating_mul(number))).unwrap_or(i32::MAX)
    };
    let [from, to] = shown.range;
    for (row, values) in shown.values.iter().enumerate() {
        let top = at(ABOVE, HEAT_ROW, shown.rows.len() - 1 - row);
        let middle = top + i32::try_from(HEAT_ROW / 2).unwrap_or(0);
        let beside = (at(left, 0, 0) - 8, middle);
        text(page, &rows[row], beside, HPos::Right, VPos::Center, Ink::Text)?;
        for (column, value) in values.iter().enumerate() {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let (near, far) = (at(left, side, column), at(left, side, column + 1));
            let share = ((value - from) / (to - from)).clamp(0.0, 1.0);
            let ink = Ink::Heat((share * (HEAT_STEPS - 1) as f64).round() as usize);
            let corners = [(near, top), (far, top + i32::try_from(HEAT_ROW).unwrap_or(0))];
            page.draw(&Rectangle::new(corners, ink.color().filled()))?;
            let label = format!("{value:.2}");
            if let Some(cell) = shown.cells[row][column] {
                let [x_label, y_label] = &shown.labels;
                let (x, y) = (&shown.columns[column], &shown.rows[row]);
                let name = format!("{x_label} {x}, {y_label} {y}: {label}");
                areas.push(Area { cell, name, corner: (near, top), size: (side, HEAT_ROW) });
            }
            if f64::from(side) >= (label.len() + 1) as f64 * CHARACTER {
                let middle = (i32::midpoint(near, far), middle);
                text(page, &label, middle, HPos::Center, VPos::Center, Ink::Text)?;
            }
        }
    }
    let label = fitting(&shown.labels[1], (f64::from(width) / CHARACTER) as usize);
    text(page, &label, (4, 4), HPos::Left, VPos::Top, Ink::Text)?;
    let names: Vec<&str> = shown.columns.iter().map(String::as_str).collect();
    // Names that would touch are left out, evenly.
    let every = (CHARACTER * 4.0 / f64::from(side)).ceil().max(1.0) as usize;
    let room = (f64::from(side) * every as f64 / CHARACTER) as usize;
    let below = at(ABOVE, HEAT_ROW, shown.rows.len()) + 6;
    for (column, name) in all_fitting(&names, room.saturating_sub(1).max(2)).iter().enumerate() {
        if column % every == 0 {
            let middle = i32::midpoint(at(left, side, column), at(left, side, column + 1));
            text(page, name, (middle, below), HPos::Center, VPos::Top, Ink::Text)?;
        }
    }
    let label = fitting(&shown.labels[0], (f64::from(width - left) / CHARACTER) as usize);
    let middle = i32::midpoint(at(left, 0, 0), at(left, side, shown.columns.len()));
    // A long label of a narrow map begins at the left.
    let half = (CHARACTER / 2.0 * columns(&label) as f64) as i32;
    let middle = middle.max(half);
    text(page, &label, (middle, below + 18), HPos::Center, VPos::Top, Ink::Text)
}

/// A board with a number on each square, white below.
fn board(page: &Page<'_>, values: &[Option<f64>; 64]) -> Result<(), Error> {
    let finite = || values.iter().flatten().copied().filter(|value| value.is_finite());
    let least = finite().fold(f64::INFINITY, f64::min);
    let most = finite().fold(f64::NEG_INFINITY, f64::max);
    let step = |value: f64| {
        let share = if most > least { (value - least) / (most - least) } else { 0.0 };
        (share * (HEAT_STEPS - 1) as f64).round() as usize
    };
    let (width, _) = page.dim_in_pixel();
    let (left, top) = (NAME_MARGIN + MARGIN, MARGIN);
    let side = ((width - left - MARGIN) / 8).min(SQUARE);
    let corner = |file: u32, rows: u32| {
        let at = |from: u32, squares: u32| i32::try_from(from + squares * side).unwrap_or(i32::MAX);
        (at(left, file), at(top, rows))
    };
    let middle =
        |[from, to]: [Pixel; 2]| (i32::midpoint(from.0, to.0), i32::midpoint(from.1, to.1));
    for (square, value) in (0..).zip(values) {
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        let (file, row) = (square % 8, 7 - square / 8);
        let corners = [corner(file, row), corner(file + 1, row + 1)];
        let ink = Ink::Heat(step(value));
        page.draw(&Rectangle::new(corners, ink.color().filled()))?;
        let label = format!("{value:.1}");
        text(page, &label, middle(corners), HPos::Center, VPos::Center, Ink::Text)?;
    }
    for (place, file) in (0..8).zip('a'..) {
        let (x, _) = middle([corner(place, 8), corner(place + 1, 8)]);
        let below = (x, corner(0, 8).1 + 4);
        text(page, &file.to_string(), below, HPos::Center, VPos::Top, Ink::Text)?;
        let (_, y) = middle([corner(0, place), corner(0, place + 1)]);
        let beside = (corner(0, 0).0 - 6, y);
        text(page, &(8 - place).to_string(), beside, HPos::Right, VPos::Center, Ink::Text)?;
    }
    Ok(())
}

type Plot<'p, 'd> = ChartContext<'p, Drawing<'d>, Coordinates>;

/// Prepares a plot with a row for each name, the first at the top, and the offset at which to draw below the middle
/// of a row.
fn in_rows<'p, 'd, 'n>(
    page: &'p Page<'d>,
    room: Room,
    x: &Axis,
    names: impl ExactSizeIterator<Item = &'n str>,
) -> Result<(Plot<'p, 'd>, i32), Error> {
    let y = Coordinate { range: names.len() as f64 - 0.5..-0.5, ticks: Vec::new() };
    let (width, _) = page.dim_in_pixel();
    // As wide as the longest of them, at most half of the plot; all of it, where they stand above.
    let is_above = room == Room::Phone;
    let room_for_names = if is_above { width } else { width / 2 };
    let characters_max = (f64::from(room_for_names - NAME_MARGIN) / CHARACTER) as usize;
    let names = all_fitting(&names.collect::<Vec<_>>(), characters_max);
    let longest = names.iter().map(|name| columns(name)).max().unwrap_or_default();
    let left = match is_above {
        true => NAME_MARGIN,
        false => (CHARACTER * longest as f64) as u32 + NAME_MARGIN,
    };
    let plot = ChartBuilder::on(page)
        .margin_top(MARGIN)
        .margin_right(MARGIN + 12)
        .x_label_area_size(BELOW)
        .y_label_area_size(left)
        .build_cartesian_2d(
            Coordinate::from_axis(x, f64::from(width - left - MARGIN) / CHARACTER),
            y,
        )?;
    let plot = meshed(page, plot, &x.label, [true, false])?;
    let from = x.range[0];
    for (row, name) in (0..).map(f64::from).zip(&names) {
        let (x, y) = plot.plotting_area().map_coordinate(&(from, row));
        match is_above {
            true => text(page, name, (x + 2, y - 12), HPos::Left, VPos::Center, Ink::Text)?,
            false => text(page, name, (x - 8, y), HPos::Right, VPos::Center, Ink::Text)?,
        }
    }
    Ok((plot, if is_above { 8 } else { 0 }))
}

/// Adds grid lines across the selected axes.
fn meshed<'p, 'd>(
    page: &Page<'d>,
    mut plot: Plot<'p, 'd>,
    x_label: &str,
    [has_x_lines, has_y_lines]: [bool; 2],
) -> Result<Plot<'p, 'd>, Error> {
    let style = ("sans-serif", FONT_SIZE).into_font().color(&Ink::Text.color());
    let mut mesh = plot.configure_mesh();
    mesh.axis_style(Ink::Axis.color())
        .bold_line_style(Ink::Grid.color())
        .light_line_style(TRANSPARENT)
        .x_label_style(style.clone())
        .y_label_style(style.clone())
        .axis_desc_style(style);
    if !has_x_lines {
        mesh.disable_x_mesh();
    }
    if !has_y_lines {
        mesh.disable_y_mesh();
    }
    mesh.draw()?;
    let (width, height) = page.dim_in_pixel();
    let [width, height] = [width, height].map(|length| i32::try_from(length).unwrap_or(i32::MAX));
    let label = fitting(x_label, (f64::from(width) / CHARACTER) as usize - 1);
    let (across, _) = plot.plotting_area().get_pixel_range();
    let middle = i32::midpoint(across.start, across.end);
    // Below the middle of the axis; a label that is too long starts further left, where there is room.
    let half = (CHARACTER / 2.0 * columns(&label) as f64) as i32;
    let y = height - 4;
    match middle + half > width {
        false => text(page, &label, (middle, y), HPos::Center, VPos::Bottom, Ink::Text)?,
        true => text(page, &label, (width - 4, y), HPos::Right, VPos::Bottom, Ink::Text)?,
    }
    Ok(plot)
}

/// An axis for the plotting library: a range of positions, with labels at some.
#[derive(Clone, Debug)]
struct Coordinate {
    range: Range<f64>,
    ticks: Vec<(f64, String)>,
}

impl Coordinate {
    /// Converts an axis whose length is this many characters.
    fn from_axis(axis: &Axis, length_in_characters: f64) -> Self {
        let [from, to] = axis.range;
        Self { range: from..to, ticks: axis.ticks(length_in_characters) }
    }
}

impl Ranged for Coordinate {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        RangedCoordf64::from(self.range.clone()).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // There are no finer lines between the labelled ones.
        let labelled = self.ticks.iter().filter(|_| !hint.weight().allow_light_points());
        labelled.map(|(position, _)| *position).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Coordinate {
    fn format_ext(&self, position: &f64) -> String {
        let tick = self.ticks.iter().find(|(tick, _)| tick.to_bits() == position.to_bits());
        tick.map_or_else(String::new, |(_, text)| text.clone())
    }
}

/// Draws an interval with a bar across each end.
fn whisker(page: &Page<'_>, series: usize, [from, to]: [Pixel; 2]) -> Result<(), Error> {
    let across = |(x, y): Pixel, by: i32| match from.0 == to.0 {
        true => (x + by, y),
        false => (x, y + by),
    };
    let path = [(from, -4), (from, 4), (from, 0), (to, 0), (to, -4), (to, 4)];
    let path = path.map(|(end, by)| across(end, by)).to_vec();
    page.draw(&PathElement::new(path, Ink::Whisker(series).color()))
}

/// Draws a point of a series, in its shape.
fn marker(page: &Page<'_>, series: usize, (x, y): Pixel) -> Result<(), Error> {
    let corners: &[Pixel] = match series {
        // Nearly a circle.
        0 => &[(-2, -5), (2, -5), (5, -2), (5, 2), (2, 5), (-2, 5), (-5, 2), (-5, -2)],
        1 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        2 => &[(0, -6), (6, 5), (-6, 5)],
        3 => &[(0, -7), (6, 0), (0, 7), (-6, 0)],
        4 => &[(0, 6), (6, -5), (-6, -5)],
        _ => &[
            (-2, -6),
            (2, -6),
            (2, -2),
            (6, -2),
            (6, 2),
            (2, 2),
            (2, 6),
            (-2, 6),
            (-2, 2),
            (-6, 2),
            (-6, -2),
            (-2, -2),
        ],
    };
    let corners: Vec<Pixel> = corners.iter().map(|(right, down)| (x + right, y + down)).collect();
    page.draw(&Polygon::new(corners, Ink::Marker(series).color()))
}

fn text(
    page: &Page<'_>,
    words: &str,
    at: Pixel,
    horizontal: HPos,
    vertical: VPos,
    ink: Ink,
) -> Result<(), Error> {
    let style: TextStyle<'_> = ("sans-serif", FONT_SIZE).into_font().color(&ink.color());
    page.draw(&Text::new(words.to_owned(), at, style.pos(Pos::new(horizontal, vertical))))
}

/// Cuts a name to the available room.
pub(super) fn fitting(name: &str, characters_max: usize) -> String {
    let characters_max = if name.is_ascii() { characters_max } else { characters_max / 2 };
    shortened(name, characters_max)
}

/// Cuts names that stand side by side, keeping them different.
pub(super) fn all_fitting(names: &[&str], characters_max: usize) -> Vec<String> {
    shortened_apart(names, |name| if name.is_ascii() { characters_max } else { characters_max / 2 })
}

/// Returns the width of a text: in most non-Latin scripts a character may be twice as wide.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|character| if character.is_ascii() { 1 } else { 2 }).sum()
}
