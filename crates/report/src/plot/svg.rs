//! Drawing backend for the plotting library: SVG that is part of a page and styled by it.

use std::convert::Infallible;
use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use spelrum_model::CellId;

use super::ink::{Ink, Outcome};
use crate::text::shown;

/// A finished drawing.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) size: (u32, u32),
    pub(super) elements: String,
    /// The areas of cells.
    pub(super) areas: Vec<Area>,
}

/// The part of a drawing that shows a cell.
#[derive(Debug)]
pub(super) struct Area {
    pub(super) cell: CellId,
    /// Its place on the axes, and its value.
    pub(super) name: String,
    pub(super) corner: BackendCoord,
    pub(super) size: (u32, u32),
}

/// A drawing in progress. A page has many: what is alike shares an element.
#[derive(Debug)]
pub(super) struct Drawing<'s> {
    size: (u32, u32),
    elements: &'s mut String,
    /// Lines of the grid and of the axes, which lie below all else.
    below: [String; 2],
    /// Bars of each outcome, which lie above those, and do not overlap.
    bars: [String; 3],
    /// Whiskers or markers of a series that were drawn last, and may go on.
    run: Option<(Ink, String)>,
    /// Elements between the lines and the texts.
    middle: String,
    /// Texts on bars of each outcome.
    on_bars: [String; 3],
    /// Texts, which lie above all else, by the end at which they are placed.
    texts: [String; 3],
}

/// Names of the ends of texts.
const ANCHORS: [&str; 3] = ["start", "middle", "end"];

type Drew = Result<(), DrawingErrorKind<Infallible>>;

impl<'s> Drawing<'s> {
    /// Creates an empty drawing of this size, which is appended to `elements` when it is presented.
    pub(super) fn new(size: (u32, u32), elements: &'s mut String) -> Self {
        let (below, bars, middle, on_bars, texts) = Default::default();
        Self { size, elements, below, bars, run: None, middle, on_bars, texts }
    }

    /// Draws a path of an ink.
    fn path(&mut self, color: BackendColor, path: String) -> Drew {
        // The library also draws invisible elements.
        let Some(ink) = Ink::from_color(color).filter(|_| color.alpha > 0.0) else { return Ok(()) };
        match ink {
            Ink::Grid => self.below[0].push_str(&path),
            Ink::Axis => self.below[1].push_str(&path),
            Ink::Bar(outcome) => self.bars[outcome as usize].push_str(&path),
            Ink::Whisker(_) | Ink::Marker(_) => match &mut self.run {
                Some((last, paths)) if *last == ink => paths.push_str(&path),
                _ => {
                    self.end_run();
                    self.run = Some((ink, path));
                }
            },
            Ink::Text
            | Ink::OnBar(_)
            | Ink::Reference
            | Ink::Line(_)
            | Ink::Band(_)
            | Ink::Part(_)
            | Ink::OnPart
            | Ink::Heat(_) => {
                self.end_run();
                self.middle.push_str(&element(&ink.classes(), &path));
            }
        }
        Ok(())
    }

    fn end_run(&mut self) {
        if let Some((ink, paths)) = self.run.take() {
            self.middle.push_str(&element(&ink.classes(), &paths));
        }
    }
}

fn element(classes: &str, path: &str) -> String {
    format!(r#"<path class="{classes}" d="{path}"/>"#)
}

/// The steps of a path from its first point, closed or open.
fn steps(points: impl IntoIterator<Item = BackendCoord>, is_closed: bool) -> String {
    let mut path = String::new();
    let mut before: Option<BackendCoord> = None;
    for (x, y) in points {
        // Writing into a text does not fail.
        let _ = match before.replace((x, y)) {
            None => write!(path, "M{x} {y}"),
            Some((left, top)) => match (x - left, y - top) {
                (0, 0) => Ok(()),
                (right, 0) => write!(path, "h{right}"),
                (0, down) => write!(path, "v{down}"),
                (right, down) if down < 0 => write!(path, "l{right}{down}"),
                (right, down) => write!(path, "l{right} {down}"),
            },
        };
    }
    if is_closed {
        path.push('z');
    }
    path
}

/// Returns a drawing as an image in a page, with its title and a sentence about its numbers for screen readers; without
/// them, they are those of the image with the same id. With an address that ends with a cell's id, the
/// areas of cells are links.
pub(super) fn image(
    Drawn { size: (width, height), elements, areas }: Drawn,
    class: &str,
    id: &str,
    about: Option<[&str; 2]>,
    cell_games: Option<&str>,
) -> Markup {
    let [title_id, desc_id] = [format!("{id}-title"), format!("{id}-desc")];
    let address = cell_games.filter(|_| !areas.is_empty());
    // What is in an image is not there for a screen reader.
    let role = if address.is_some() { "group" } else { "img" };
    html! {
        svg class=(class) viewBox=(format!("0 0 {width} {height}")) role=(role) aria-labelledby=(title_id) aria-describedby=(desc_id) {
            @if let Some([title, numbers]) = about {
                title id=(title_id) { (shown(title)) }
                desc id=(desc_id) { (numbers) }
            }
            (PreEscaped(elements))
            @if let Some(address) = address { @for Area { cell, name, corner: (x, y), size: (width, height) } in areas {
                a href={ (address) (cell) } aria-label=(shown(&name)) {
                    rect class="opens" x=(x) y=(y) width=(width) height=(height) {}
                }
            } }
        }
    }
}

/// Returns a legend's key for a series, without a description, which the name beside it gives.
pub(super) fn key((width, height): (u32, u32), drawn: String) -> Markup {
    html! {
        svg class="key" viewBox=(format!("0 0 {width} {height}")) aria-hidden="true" { (PreEscaped(drawn)) }
    }
}

impl DrawingBackend for Drawing<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drew {
        Ok(())
    }

    fn present(&mut self) -> Drew {
        self.end_run();
        let below = [Ink::Grid, Ink::Axis].into_iter().zip(std::mem::take(&mut self.below));
        let bars = Outcome::ALL.map(Ink::Bar).into_iter().zip(std::mem::take(&mut self.bars));
        for (ink, path) in below.chain(bars) {
            if !path.is_empty() {
                self.elements.push_str(&element(&ink.classes(), &path));
            }
        }
        self.elements.push_str(&std::mem::take(&mut self.middle));
        for (outcome, texts) in Outcome::ALL.into_iter().zip(std::mem::take(&mut self.on_bars)) {
            let class = Ink::OnBar(outcome).classes();
            if !texts.is_empty() {
                let group = html! { g class=(class) { (PreEscaped(&texts)) } };
                self.elements.push_str(&group.into_string());
            }
        }
        for (anchor, texts) in ANCHORS.into_iter().zip(std::mem::take(&mut self.texts)) {
            let class = Ink::Text.classes();
            let group = html! { g class=(class) text-anchor=(anchor) { (PreEscaped(&texts)) } };
            if !texts.is_empty() {
                self.elements.push_str(&group.into_string());
            }
        }
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drew {
        self.path(color, steps([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)], true))
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drew {
        self.path(style.color(), steps([from, to], false))
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        _fill: bool,
    ) -> Drew {
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        self.path(style.color(), steps(corners, true))
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drew {
        self.path(style.color(), steps(path, false))
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Drew {
        let left = x - i32::try_from(radius).unwrap_or(i32::MAX);
        let (arc, wide) = (format!("a{radius} {radius} 0 1 0"), 2 * radius);
        self.path(style.color(), format!("M{left} {y}{arc} {wide} 0{arc}-{wide} 0z"))
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drew {
        self.path(style.color(), steps(corners, true))
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drew {
        let color = style.color();
        let Some(ink) = Ink::from_color(color).filter(|_| color.alpha > 0.0) else { return Ok(()) };
        let y = y + match style.anchor().v_pos {
            VPos::Top => 10,
            VPos::Center => 5,
            VPos::Bottom => -5,
        };
        let anchor = match style.anchor().h_pos {
            HPos::Left => 0,
            HPos::Center => 1,
            HPos::Right => 2,
        };
        let is_grouped = matches!(ink, Ink::Text | Ink::OnBar(_));
        let class = (!is_grouped).then(|| ink.classes());
        let element = html! { text class=[&class] x=(x) y=(y) { (shown(text)) } }.into_string();
        // The style sheet places a text in the middle of its bar.
        if let Ink::OnBar(outcome) = ink {
            self.on_bars[outcome as usize].push_str(&element);
        } else if ink == Ink::Text {
            self.texts[anchor].push_str(&element);
        } else {
            self.end_run();
            self.middle.push_str(&element);
        }
        Ok(())
    }
}
