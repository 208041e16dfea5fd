//! Lines of points, sorted into plots that can be read.

use indexmap::IndexMap;

use super::along::Along;
use crate::plot::{Axis, Chart, Curves, Estimate, Panel, Point, SERIES_MAX};
use crate::text::Column;

/// Word between the names of a player and its opponent.
const AGAINST: &str = " against ";

/// Formats a meeting. No player's name contains the joining word between spaces.
pub(super) fn meeting(player: &str, opponent: &str) -> String {
    format!("{player}{AGAINST}{opponent}")
}

/// Points of one line, with their players and place.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// The meeting ([`meeting`]), or the one player.
    players: String,
    /// Place on the other axes.
    place: String,
    /// From left to right.
    points: Vec<Point>,
    /// A curve through them with its band; empty without one.
    fitted: Vec<Point>,
}

/// Maximum number of plots in a figure.
pub(super) const PANELS_MAX: usize = 6;

/// Approximate number of points in a figure for which a page has room.
const POINTS_MAX: usize = 500;

/// Returns the maximum number of points per line, for this many lines.
pub(super) fn points_max(lines: usize) -> usize {
    (POINTS_MAX / lines.clamp(1, PANELS_MAX * SERIES_MAX)).clamp(2, 40)
}

impl Line {
    /// A line through these points.
    pub(super) fn new(players: String, place: String, mut points: Vec<Point>) -> Self {
        points.sort_by(|a, b| a.at.total_cmp(&b.at));
        Self { players, place, points, fitted: Vec::new() }
    }

    /// The line with a curve through its points, from left to right.
    pub(super) fn with_curve(self, fitted: Vec<Point>) -> Self {
        Self { fitted, ..self }
    }

    /// Returns the player and the opponent, if there is one.
    fn player_and_opponent(&self) -> (&str, Option<&str>) {
        match self.players.split_once(AGAINST) {
            Some((player, opponent)) => (player, Some(opponent)),
            None => (&self.players, None),
        }
    }
}

/// Common property of the lines of one plot, shown in its heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shared {
    /// Nothing; no heading is needed.
    Nothing,
    Place,
    /// The player and the place; the lines are opponents.
    Player,
    /// The meeting; the lines are places.
    Players,
}

impl Shared {
    fn heading(self, line: &Line) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Place => Some(line.place.clone()),
            Self::Player => {
                let (player, _) = line.player_and_opponent();
                let place = Some(&line.place).filter(|place| !place.is_empty());
                Some(
                    [Some(player), place.map(String::as_str)]
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                        .join(", "),
                )
            }
            Self::Players => Some(line.players.clone()),
        }
    }

    /// Whether each plot has room for all its lines, and there are several.
    fn fits(self, lines: &[Line]) -> bool {
        let mut sizes: IndexMap<Option<String>, usize> = IndexMap::new();
        for line in lines {
            *sizes.entry(self.heading(line)).or_default() += 1;
        }
        sizes.len() > 1 && sizes.values().all(|size| *size <= SERIES_MAX)
    }
}

/// Lines sorted into plots: each has a heading, unless it is alone, and at most as many lines as can be
/// distinguished.
#[derive(Debug)]
pub(super) struct Sorted {
    plots: Vec<(Option<String>, Vec<Line>)>,
    shared: Shared,
    /// Number of lines that no plot has room for.
    pub(super) left_out: usize,
    /// Whether meetings distinguish the lines, and whether places do.
    says: [bool; 2],
}

impl Sorted {
    /// Puts few lines in one plot; otherwise makes a plot for each place with all players, for each player with all
    /// its opponents, or for each pair of players.
    pub(super) fn new(mut lines: Vec<Line>) -> Self {
        lines.retain(|line| !line.points.is_empty());
        let all = lines.len();
        let differ =
            |text: fn(&Line) -> &str| lines.iter().any(|line| text(line) != text(&lines[0]));
        let says = [differ(|line| &line.players), differ(|line| &line.place)];
        let has_opponents = lines.iter().all(|line| line.player_and_opponent().1.is_some());
        let shared = match says {
            _ if all <= SERIES_MAX => Shared::Nothing,
            [true, true] if Shared::Place.fits(&lines) => Shared::Place,
            [true, _] if has_opponents && Shared::Player.fits(&lines) => Shared::Player,
            [true, true] => Shared::Players,
            [_, _] => Shared::Nothing,
        };
        let mut plots: Vec<(Option<String>, Vec<Line>)> = if shared == Shared::Nothing {
            // Places alone in a legend do not name the players.
            let players = |lines: &[Line]| Some(lines.first()?.players.clone());
            let heading =
                |lines: &[Line]| (says == [false, true]).then(|| players(lines)).flatten();
            lines.chunks(SERIES_MAX).map(|lines| (heading(lines), lines.to_vec())).collect()
        } else {
            let mut plots: IndexMap<Option<String>, Vec<Line>> = IndexMap::new();
            for line in lines {
                plots.entry(shared.heading(&line)).or_default().push(line);
            }
            plots.into_iter().collect()
        };
        plots.truncate(PANELS_MAX);
        plots.iter_mut().for_each(|(_, lines)| lines.truncate(SERIES_MAX));
        let shown: usize = plots.iter().map(|(_, lines)| lines.len()).sum();
        Self { plots, shared, left_out: all - shown, says }
    }

    /// Returns a line's name beside its plot's heading.
    fn name(&self, line: &Line) -> String {
        match (self.shared, self.says) {
            (Shared::Player, _) => {
                let (_, opponent) = line.player_and_opponent();
                opponent
                    .map_or_else(|| line.players.clone(), |opponent| format!("against {opponent}"))
            }
            (Shared::Players, _) | (Shared::Nothing, [false, true]) => line.place.clone(),
            (Shared::Nothing, [true, true]) if !line.place.is_empty() => {
                format!("{}, {}", line.players, line.place)
            }
            (Shared::Place | Shared::Nothing, _) => line.players.clone(),
        }
    }

    /// The plots, all on the same axes.
    pub(super) fn panels(&self, x: &Axis, y: &Axis, reference: Option<f64>) -> Vec<Panel> {
        let panels = self.plots.iter().map(|(heading, lines)| {
            let series = lines.iter().map(|line| (self.name(line), line.points.clone())).collect();
            let has_curves = lines.iter().any(|line| !line.fitted.is_empty());
            let fitted = lines.iter().filter(|_| has_curves).map(|line| line.fitted.clone());
            let (x, y, fitted) = (x.clone(), y.clone(), fitted.collect());
            let curves = Curves { x, y, reference, series, fitted };
            Panel { heading: heading.clone(), chart: Chart::Curves(curves) }
        });
        panels.collect()
    }

    /// Returns all points that are shown.
    pub(super) fn points(&self) -> impl Iterator<Item = &Point> {
        self.plots.iter().flat_map(|(_, lines)| lines).flat_map(|line| &line.points)
    }

    /// Returns the headings of the columns that distinguish points in a table.
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
                let row = [line.players.clone()].into_iter().chain(place).chain([value]);
                row.chain(figures(point.estimate)).collect()
            })
        });
        rows.collect()
    }
}

/// Returns the place, or a dash if it is empty.
pub(super) fn dash(place: &str) -> String {
    if place.is_empty() { "-".to_owned() } else { place.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plots(players: &[String], places: &[&str]) -> Vec<(Option<String>, Vec<String>)> {
        let points = vec![Point { at: 1.0, estimate: Estimate { value: 0.5, interval: None } }];
        let lines = places.iter().flat_map(|place| {
            let line =
                |player: &String| Line::new(player.clone(), (*place).to_owned(), points.clone());
            players.iter().map(line)
        });
        let sorted = Sorted::new(lines.collect());
        let names = |lines: &[Line]| lines.iter().map(|line| sorted.name(line)).collect();
        sorted.plots.iter().map(|(heading, lines)| (heading.clone(), names(lines))).collect()
    }

    fn meetings(players: &[&str], opponents: &[&str]) -> Vec<String> {
        let pairings = |player: &&str| {
            opponents.iter().map(|opponent| meeting(player, opponent)).collect::<Vec<_>>()
        };
        players.iter().flat_map(pairings).collect()
    }

    #[test]
    fn a_gauntlet_has_a_plot_for_each_player_at_each_place() {
        let gauntlet = meetings(&["a", "b", "c"], &["x", "y", "z"]);
        let plots = plots(&gauntlet, &["eval=1", "eval=2"]);
        let headings: Vec<_> =
            plots.iter().map(|(heading, _)| heading.as_deref().unwrap()).collect();
        let expected =
            ["a, eval=1", "b, eval=1", "c, eval=1", "a, eval=2", "b, eval=2", "c, eval=2"];
        assert_eq!(headings, expected);
        assert!(plots.iter().all(|(_, names)| *names == ["against x", "against y", "against z"]));
    }

    #[test]
    fn without_places_lines_are_named_by_players() {
        let plots = plots(&meetings(&["a", "b", "c"], &["x", "y", "z"]), &[""]);
        assert_eq!(plots.len(), 3);
        assert_eq!(plots[1].0.as_deref(), Some("b"));
    }

    #[test]
    fn few_players_share_the_plot_of_a_place() {
        let plots = plots(&meetings(&["a", "b"], &["x", "y"]), &["eval=1", "eval=2"]);
        assert_eq!(plots.len(), 2);
        assert_eq!(plots[0].0.as_deref(), Some("eval=1"));
        assert_eq!(plots[0].1[3], "b against y");
    }

    #[test]
    fn many_opponents_leave_pairs_of_players() {
        let opponents = ["1", "2", "3", "4", "5", "6", "7"];
        let plots = plots(&meetings(&["a"], &opponents), &["eval=1", "eval=2"]);
        assert_eq!(plots[0].0.as_deref(), Some("a against 1"));
        assert_eq!(plots[0].1, ["eval=1", "eval=2"]);
    }

    #[test]
    fn where_places_alone_differ_the_heading_names_the_players() {
        let plots = plots(&meetings(&["a"], &["b"]), &["eval=1", "eval=2"]);
        let names = ["eval=1", "eval=2"].map(str::to_owned).to_vec();
        assert_eq!(plots, [(Some("a against b".to_owned()), names)]);
    }

    #[test]
    fn few_lines_share_a_plot() {
        let plots = plots(&meetings(&["a"], &["x", "y"]), &["eval=1", "eval=2"]);
        assert_eq!(plots.len(), 1);
        assert_eq!(
            plots[0],
            (
                None,
                vec![
                    "a against x, eval=1".to_owned(),
                    "a against y, eval=1".to_owned(),
                    "a against x, eval=2".to_owned(),
                    "a against y, eval=2".to_owned(),
                ]
            )
        );
    }
}
