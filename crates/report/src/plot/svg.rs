//! Drawing backend for the plotting library: SVG that is part of a page and styled by it.

use std::convert::Infallible;
use std::fmt::Write as _;

use maud::{Markup, PreEscaped, html};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::ink::Ink;
use crate::text::shown;

/// A drawing in progress.
#[derive(Debug)]
pub(super) struct Drawing<'s> {
    size: (u32, u32),
    elements: &'s mut String,
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl<'s> Drawing<'s> {
    /// Creates an empty drawing of this size, which appends its elements to `elements`.
    pub(super) fn new(size: (u32, u32), elements: &'s mut String) -> Self {
        Self { size, elements }
    }

    fn put(&mut self, color: BackendColor, element: impl FnOnce(&str) -> Markup) -> Drawn {
        // The library also draws invisible elements.
        let Some(ink) = Ink::from_color(color).filter(|_| color.alpha > 0.0) else { return Ok(()) };
        self.elements.push_str(&element(&ink.classes()).into_string());
        Ok(())
    }
}

/// Returns a drawing as an image in a page, with a text description.
pub(super) fn image(
    (width, height): (u32, u32),
    class: &str,
    id: &str,
    title: &str,
    drawn: String,
) -> Markup {
    let [title_id, desc_id] = [format!("{id}-title"), format!("{id}-desc")];
    html! {
        svg class=(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-labelledby=(title_id) aria-describedby=(desc_id) {
            title id=(title_id) { (shown(title)) }
            desc id=(desc_id) { "Its numbers are in the table that follows." }
            (PreEscaped(drawn))
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

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.put(color, |class| html! { rect class=(class) x=(x) y=(y) width="1" height="1" {} })
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        self.put(style.color(), |class| {
            html! { line class=(class) x1=(from.0) y1=(from.1) x2=(to.0) y2=(to.1) {} }
        })
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
        _fill: bool,
    ) -> Drawn {
        let (width, height) = (to.0 - from.0, to.1 - from.1);
        self.put(style.color(), |class| {
            html! { rect class=(class) x=(from.0) y=(from.1) width=(width) height=(height) {} }
        })
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let points = points(path);
        self.put(style.color(), |class| html! { polyline class=(class) points=(points) {} })
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        _fill: bool,
    ) -> Drawn {
        self.put(style.color(), |class| html! { circle class=(class) cx=(x) cy=(y) r=(radius) {} })
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        let points = points(corners);
        self.put(style.color(), |class| html! { polygon class=(class) points=(points) {} })
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drawn {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        let below = match style.anchor().v_pos {
            VPos::Top => "0.8em",
            VPos::Center => "0.35em",
            VPos::Bottom => "-0.35em",
        };
        self.put(style.color(), |class| {
            html! { text class=(class) x=(x) y=(y) dy=(below) text-anchor=(anchor) { (shown(text)) } }
        })
    }
}

fn points(path: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut points = String::new();
    for (x, y) in path {
        let space = if points.is_empty() { "" } else { " " };
        // Writing into a text does not fail.
        let _ = write!(points, "{space}{x},{y}");
    }
    points
}
