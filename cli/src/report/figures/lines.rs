//! Lines of points, sorted into plots that can be read.

use indexmap::IndexMap;

use super::along::Along;
use crate::output::{Axis, Chart, Column, Curves, Estimate, Panel, Point, SERIES_MAX};

/// Points that belong together, and what they are of.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// Who meets whom.
    players: String,
    /// Where on the other axes.
    place: String,
    /// From the left to the right.
    points: Vec<Point>,
}

/// A figure has no more plots.
pub(super) const PANELS_MAX: usize = 6;

/// How many points are in a figure, more or less: what a page has room for.
const POINTS_MAX: usize = 500;

/// How many points a line may have where there are so many lines.
pub(super) fn points_max(lines: usize) -> usize {
    (POINTS_MAX / lines.clamp(1, PANELS_MAX * SERIES_MAX)).clamp(2, 40)
}

impl Line {
    /// A line through these points.
    pub(super) fn new(players: String, place: String, mut points: Vec<Point>) -> Self {
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
        Self { players, place, points }
    }
}

/// Lines in plots: each has a heading, unless it is alone, and as many lines as can be told apart.
#[derive(Debug)]
pub(super) struct Sorted {
    plots: Vec<(Option<String>, Vec<Line>)>,
    /// Lines that no plot has room for.
    pub(super) left_out: usize,
    /// Whether who meets whom tells the lines apart, and whether their places do.
    says: [bool; 2],
}

impl Sorted {
    /// All in one plot if they are few; else a plot for each place with all players in it, or one for each
    /// pair of players.
    pub(super) fn of(mut lines: Vec<Line>) -> Self {
        lines.retain(|line| !line.points.is_empty());
        let all = lines.len();
        let differ = |of: fn(&Line) -> &str| lines.iter().any(|line| of(line) != of(&lines[0]));
        let says = [differ(|line| &line.players), differ(|line| &line.place)];
        let [says_players, says_place] = says;
        let mut plots: Vec<(Option<String>, Vec<Line>)> = if all <= SERIES_MAX {
            vec![(None, lines)]
        } else if says_players && says_place {
            let at_first = lines.iter().filter(|line| line.place == lines[0].place).count();
            let by_place = at_first <= SERIES_MAX;
            let mut plots: IndexMap<Option<String>, Vec<Line>> = IndexMap::new();
            for line in lines {
                let heading = if by_place { line.place.clone() } else { line.players.clone() };
                plots.entry(Some(heading)).or_default().push(line);
            }
            plots.into_iter().collect()
        } else {
            lines.chunks(SERIES_MAX).map(|lines| (None, lines.to_vec())).collect()
        };
        plots.truncate(PANELS_MAX);
        plots.iter_mut().for_each(|(_, lines)| lines.truncate(SERIES_MAX));
        let shown: usize = plots.iter().map(|(_, lines)| lines.len()).sum();
        Self { plots, left_out: all - shown, says }
    }

    /// The plots, all on the same axes.
    pub(super) fn panels(&self, x: &Axis, y: &Axis, reference: Option<f64>) -> Vec<Panel> {
        let panels = self.plots.iter().map(|(heading, lines)| {
            let name = |line: &Line| match (self.says, heading) {
                ([true, true], Some(heading)) if *heading == line.place => line.players.clone(),
                ([true, true], Some(_)) | ([false, true], _) => line.place.clone(),
                ([true, true], None) if !line.place.is_empty() => {
                    format!("{}, {}", line.players, line.place)
                }
                ([true, true], None) | ([_, false], _) => line.players.clone(),
            };
            let series = lines.iter().map(|line| (name(line), line.points.clone())).collect();
            let curves = Curves { x: x.clone(), y: y.clone(), reference, series };
            Panel { heading: heading.clone(), chart: Chart::Curves(curves) }
        });
        panels.collect()
    }

    /// All points that are shown.
    pub(super) fn points(&self) -> impl Iterator<Item = &Point> {
        self.plots.iter().flat_map(|(_, lines)| lines).flat_map(|line| &line.points)
    }

    /// The headings of what tells points apart, in a table.
    pub(super) fn columns(&self, along: &str) -> Vec<Column> {
        let [_, says_place] = self.says;
        let elsewhere = says_place.then(|| Column::words("elsewhere"));
        [Column::words("players")]
            .into_iter()
            .chain(elsewhere)
            .chain([Column::numbers(along)])
            .collect()
    }

    /// A row for each point, with these figures.
    pub(super) fn rows(
        &self,
        along: &Along,
        figures: fn(Estimate) -> Vec<String>,
    ) -> Vec<Vec<String>> {
        let [_, says_place] = self.says;
        let lines = self.plots.iter().flat_map(|(_, lines)| lines);
        let rows = lines.flat_map(|line| {
            line.points.iter().map(move |point| {
                let place = says_place.then(|| dash(&line.place));
                let value = along.value(point.at).unwrap_or_default().to_owned();
                let said = [line.players.clone()].into_iter().chain(place).chain([value]);
                said.chain(figures(point.is)).collect()
            })
        });
        rows.collect()
    }
}

/// A place in words, or a dash where there is none.
pub(super) fn dash(place: &str) -> String {
    if place.is_empty() { "-".to_owned() } else { place.to_owned() }
}
