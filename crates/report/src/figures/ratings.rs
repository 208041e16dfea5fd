//! Strength of players on one scale, with intervals.

use spelrum_answers::{RatedGroup, Ratings, places_text};

use super::lines::PANELS_MAX;
use super::results::omission_note;
use crate::plot::{Axis, Chart, Estimate, Figure, Intervals, Panel};
use crate::text::{Column, optional};

const RATINGS: &str = "ratings";

/// Maximum number of players in a plot.
const PLAYERS_MAX: usize = 60;

/// Draws the ratings of each group of players who met.
pub(super) fn figure(ratings: &Ratings) -> Option<Figure> {
    let rated: Vec<&RatedGroup> =
        ratings.groups.iter().filter(|group| group.players.len() > 1).collect();
    if rated.is_empty() {
        return None;
    }
    let is_alone = rated.len() == 1;
    let reading = "Strongest first; whiskers are 95% intervals. Intervals of the difference between two players are in \
                   the table differences.";
    let mut notes = vec![reading.to_owned()];
    notes.extend(omission_note(rated.len(), PANELS_MAX, "groups of players", RATINGS));
    let largest = rated.iter().map(|group| group.players.len()).max().unwrap_or_default();
    notes.extend(omission_note(largest, PLAYERS_MAX, "players", RATINGS));
    let mut columns: Vec<Column> = Vec::new();
    columns.extend((!is_alone).then(|| Column::words("group")));
    columns.push(Column::words("player"));
    columns.extend(["Elo", "low", "high"].map(Column::numbers));
    let (mut panels, mut numbers) = (Vec::new(), Vec::new());
    for (group, number) in rated.into_iter().zip(1..).take(PANELS_MAX) {
        let place = places_text(&ratings.axes, &group.point);
        let heading = (!is_alone).then(|| place.unwrap_or_else(|| format!("group {number}")));
        let players = group.players.iter().take(PLAYERS_MAX);
        let rows: Vec<(String, Estimate)> = players
            .filter_map(|player| {
                let rating = player.rating?;
                let interval = rating.error.map(|error| [rating.elo - error, rating.elo + error]);
                Some((player.name.clone(), Estimate { value: rating.elo, interval }))
            })
            .collect();
        for (name, estimate) in &rows {
            let figures = [
                Some(estimate.value),
                estimate.interval.map(|[low, _]| low),
                estimate.interval.map(|[_, high]| high),
            ];
            let figures = figures.map(|figure| optional(figure, |elo| format!("{elo:.1}")));
            numbers.push(heading.iter().cloned().chain([name.clone()]).chain(figures).collect());
        }
        let ends = rows.iter().flat_map(|(_, estimate)| {
            [estimate.value].into_iter().chain(estimate.interval.into_iter().flatten())
        });
        let x = Axis::from_elo("Elo", ends);
        let chart = Chart::Intervals(Intervals { x, reference: Some(0.0), rows });
        panels.push(Panel { heading, chart });
    }
    Some(Figure {
        before: RATINGS,
        title: "Ratings".to_owned(),
        notes,
        panels,
        columns,
        rows: numbers,
    })
}
