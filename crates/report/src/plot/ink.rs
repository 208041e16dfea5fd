//! Inks of a plot. The library has colours and a page has classes, which its style sheet colours for light, dark and
//! print: here each ink has both.

use plotters::style::RGBColor;
use plotters_backend::BackendColor;

/// Maximum number of series distinguished in one plot: each has a colour, a dash and a marker.
pub(crate) const SERIES_MAX: usize = 6;

/// Kinds of elements in a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ink {
    Axis,
    Grid,
    Text,
    /// A text on a bar of this outcome.
    OnBar(Outcome),
    /// A line for comparison.
    Reference,
    Line(usize),
    Whisker(usize),
    /// The band of a curve.
    Band(usize),
    /// A point of a series.
    Marker(usize),
    /// A bar of games.
    Bar(Outcome),
    /// A bar of games of one of several kinds.
    Part(usize),
    /// A text on such a bar.
    OnPart,
    /// A square of a board, darker for greater values.
    Heat(usize),
}

/// Number of shades for a square of a board.
pub(super) const HEAT_STEPS: usize = 8;

/// Results of games, for the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Win,
    Draw,
    Loss,
}

impl Outcome {
    /// In the order in which bars are stacked.
    pub(super) const ALL: [Self; 3] = [Self::Win, Self::Draw, Self::Loss];

    const fn class(self) -> &'static str {
        match self {
            Self::Win => "win",
            Self::Draw => "draw",
            Self::Loss => "loss",
        }
    }
}

impl Ink {
    fn all() -> impl Iterator<Item = Self> {
        let series = |variant: fn(usize) -> Self| (0..SERIES_MAX).map(variant);
        [Self::Axis, Self::Grid, Self::Text, Self::Reference]
            .into_iter()
            .chain(series(Self::Line))
            .chain(series(Self::Whisker))
            .chain(series(Self::Band))
            .chain(series(Self::Marker))
            .chain(Outcome::ALL.map(Self::Bar))
            .chain(Outcome::ALL.map(Self::OnBar))
            .chain(series(Self::Part))
            .chain([Self::OnPart])
            .chain((0..HEAT_STEPS).map(Self::Heat))
    }

    /// Returns the colour that represents the ink; it is never displayed.
    pub(super) fn color(self) -> RGBColor {
        let place = Self::all().position(|ink| ink == self).unwrap_or_default();
        RGBColor(0, 0, u8::try_from(place).unwrap_or_default())
    }

    /// Returns the ink that a colour represents.
    pub(super) fn from_color(color: BackendColor) -> Option<Self> {
        let (0, 0, place) = color.rgb else { return None };
        Self::all().nth(usize::from(place))
    }

    /// Returns its classes in a page.
    pub(super) fn classes(self) -> String {
        match self {
            Self::Axis => "axis".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Text => "text".to_owned(),
            Self::OnBar(outcome) => format!("on-{}", outcome.class()),
            Self::Reference => "reference".to_owned(),
            Self::Line(series) => format!("line s{series}"),
            Self::Whisker(series) => format!("whisker s{series}"),
            Self::Band(series) => format!("band p{series}"),
            Self::Marker(series) => format!("marker s{series}"),
            Self::Bar(outcome) => format!("bar {}", outcome.class()),
            Self::Part(part) => format!("bar p{part}"),
            Self::OnPart => "on-part".to_owned(),
            Self::Heat(step) => format!("heat h{step}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_ink_comes_back_from_its_color_and_has_classes_of_its_own() {
        for ink in Ink::all() {
            let RGBColor(red, green, blue) = ink.color();
            let color = BackendColor { alpha: 1.0, rgb: (red, green, blue) };
            assert_eq!(Ink::from_color(color), Some(ink));
        }
        let classes: BTreeSet<String> = Ink::all().map(Ink::classes).collect();
        assert_eq!(classes.len(), Ink::all().count());
        // Colours that the library chooses by itself represent no ink.
        for rgb in [(0, 0, 255), (255, 255, 255), (1, 0, 0)] {
            assert_eq!(Ink::from_color(BackendColor { alpha: 1.0, rgb }), None);
        }
    }
}
