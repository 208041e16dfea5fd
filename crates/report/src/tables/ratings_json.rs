//! Ratings for programs. Keys are only ever added.

use serde::Serialize;
use spelrum_answers as results;
use spelrum_answers::Ratings;

use super::columns::{Columns, columns};

/// Players that met at one point of the grid, on a scale of their own.
#[derive(Debug, Serialize)]
pub(crate) struct Group<'a> {
    /// The point's values on the grid's axes: those of the report that are not a player's own.
    pub(crate) axes: Vec<(&'a str, Option<&'a str>)>,
    players: Vec<Player<'a>>,
    first_move_elo: Option<f64>,
    first_move_elo_error: Option<f64>,
    draw_rate: f64,
    games: u64,
    self_play_games: u64,
    clusters: u64,
    clusters_are: &'static str,
    differences: Vec<Difference<'a>>,
    meetings: Vec<Meeting<'a>>,
}

/// Parts of a group as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupRows {
    Players,
    /// Every two players.
    Differences,
    /// Every two players that met.
    Meetings,
}

/// Properties of the group in a player's row.
#[derive(Debug, Serialize)]
struct GroupFigures {
    first_move_elo: Option<f64>,
    first_move_elo_error: Option<f64>,
    draw_rate: f64,
    clusters: u64,
    clusters_are: &'static str,
}

/// A player, the strongest first.
#[derive(Debug, Serialize)]
struct Player<'a> {
    player: &'a str,
    elo: Option<f64>,
    elo_error: Option<f64>,
    is_anchor: bool,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    score: Option<f64>,
}

/// Difference in strength between two players.
#[derive(Debug, Serialize)]
struct Difference<'a> {
    player: &'a str,
    opponent: &'a str,
    elo: f64,
    elo_error: Option<f64>,
}

/// Results of the games between two players, for the first of them.
#[derive(Debug, Serialize)]
struct Meeting<'a> {
    player: &'a str,
    opponent: &'a str,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    score: f64,
}

/// All groups.
pub(crate) fn groups(ratings: &Ratings) -> Vec<Group<'_>> {
    ratings.groups.iter().map(|group| Group::new(&ratings.axes, group)).collect()
}

impl<'a> Group<'a> {
    /// Returns rows of its players, with the group's properties; or of differences, or of meetings.
    pub(crate) fn rows(&self, kind: GroupRows) -> Result<Vec<Columns>, serde_json::Error> {
        match kind {
            GroupRows::Differences => self.differences.iter().map(columns).collect(),
            GroupRows::Meetings => self.meetings.iter().map(columns).collect(),
            GroupRows::Players => {
                let group_figures = columns(&GroupFigures {
                    first_move_elo: self.first_move_elo,
                    first_move_elo_error: self.first_move_elo_error,
                    draw_rate: self.draw_rate,
                    clusters: self.clusters,
                    clusters_are: self.clusters_are,
                })?;
                let row = |player| Ok([columns(player)?, group_figures.clone()].concat());
                self.players.iter().map(row).collect()
            }
        }
    }

    fn new(axes: &'a [String], group: &'a results::RatedGroup) -> Self {
        let name = |place: usize| group.players[place].name.as_str();
        let count = group.players.len();
        let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
        let difference = |(a, b)| {
            let difference = group.difference(a, b)?;
            let (elo, elo_error) = (difference.elo, difference.error);
            Some(Difference { player: name(a), opponent: name(b), elo, elo_error })
        };
        let values = group.point.iter().map(Option::as_deref);
        Self {
            axes: axes.iter().map(String::as_str).zip(values).collect(),
            players: group.players.iter().map(Into::into).collect(),
            first_move_elo: group.first_move.map(|worth| worth.elo),
            first_move_elo_error: group.first_move.and_then(|worth| worth.error),
            draw_rate: group.draw_rate,
            games: group.games,
            self_play_games: group.self_play_games,
            clusters: group.clusters,
            clusters_are: group.clusters_are.name(),
            differences: pairs.filter_map(difference).collect(),
            meetings: group
                .meetings
                .iter()
                .map(|meeting| Meeting {
                    player: name(meeting.player as usize),
                    opponent: name(meeting.opponent as usize),
                    games: meeting.games(),
                    wins: meeting.wins,
                    draws: meeting.draws,
                    losses: meeting.losses,
                    score: meeting.score(),
                })
                .collect(),
        }
    }
}

impl<'a> From<&'a results::RatedPlayer> for Player<'a> {
    fn from(player: &'a results::RatedPlayer) -> Self {
        Self {
            player: &player.name,
            elo: player.rating.map(|rating| rating.elo),
            elo_error: player.rating.and_then(|rating| rating.error),
            is_anchor: player.is_anchor,
            games: player.games,
            wins: player.wins,
            draws: player.draws,
            losses: player.losses,
            score: player.score(),
        }
    }
}
