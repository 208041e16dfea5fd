//! The strength of an engine's builds in order.

use spelrum_answers::{Comparisons, places_text};

use super::lines::{PANELS_MAX, meeting};
use super::results::omission_note;
use crate::plot::{Axis, Chart, Estimate, Figure, Intervals, Panel};
use crate::tables::history::{HISTORY, build_text};
use crate::text::{Column, optional};

/// Maximum number of builds in a plot: the last ones.
const BUILDS_MAX: usize = 60;

/// Draws each build's score against the opponent of all, from the first to the last.
pub(super) fn figure(compared: &Comparisons) -> Option<Figure> {
    let histories = &compared.histories;
    let longest = histories.iter().map(|history| history.builds.len()).max()?;
    let reading = "The first build at the top; whiskers are 95% intervals, and an arrow marks a build that is \
                   clearly stronger (▲) or weaker (▼) than the one before it.";
    let mut notes = vec![reading.to_owned()];
    notes.extend(omission_note(histories.len(), PANELS_MAX, "rows of builds", HISTORY.name));
    notes.extend(omission_note(longest, BUILDS_MAX, "last builds", HISTORY.name));
    let mut columns: Vec<Column> = Vec::new();
    columns.extend(["engine", "build"].map(Column::words));
    columns.extend(["score", "low", "high"].map(Column::numbers));
    let (mut panels, mut numbers) = (Vec::new(), Vec::new());
    for history in histories.iter().take(PANELS_MAX) {
        let players = meeting(&history.player, &history.opponent);
        let heading = match places_text(&compared.axes, &history.place) {
            Some(place) => format!("{players}, {place}"),
            None => players,
        };
        let from = history.builds.len().saturating_sub(BUILDS_MAX);
        let mut rows: Vec<(String, Estimate)> = Vec::new();
        for (number, build) in history.builds.iter().enumerate().skip(from) {
            let mark = match build.gain {
                Some(gain) if gain.is_clear && gain.score > 0.0 => " ▲",
                Some(gain) if gain.is_clear => " ▼",
                _ => "",
            };
            let name = format!("{} {}{mark}", number + 1, build_text(build));
            let interval = build.interval.map(|bounds| [bounds.low, bounds.high]);
            let figures =
                [Some(build.score), interval.map(|ends| ends[0]), interval.map(|ends| ends[1])];
            let figures = figures.map(|figure| optional(figure, |score| format!("{score:.4}")));
            numbers.push([heading.clone(), name.clone()].into_iter().chain(figures).collect());
            rows.push((name, Estimate { value: build.score, interval }));
        }
        let x = Axis::for_scores("points per game");
        let chart = Chart::Intervals(Intervals { x, reference: Some(0.5), rows });
        panels.push(Panel { heading: Some(heading), chart });
    }
    Some(Figure {
        before: HISTORY.name,
        title: "Builds in order".to_owned(),
        notes,
        panels,
        columns,
        rows: numbers,
    })
}
