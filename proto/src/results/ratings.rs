//! Ratings.

use spelrum_answers::{Clusters, Meeting, RatedGroup, RatedPlayer, Ratings};
use spelrum_statistics::ratings::Estimate;

use super::report::{places_from_wire, places_to_wire};
use super::status::read_all;
use crate::wire_error::{finite, in_range, number, unknown_word};
use crate::{Fault, WireError, v1};

impl From<Estimate> for v1::Estimate {
    fn from(Estimate { elo, error }: Estimate) -> Self {
        Self { elo, elo_error: error }
    }
}

impl TryFrom<v1::Estimate> for Estimate {
    type Error = WireError;

    fn try_from(estimate: v1::Estimate) -> Result<Self, WireError> {
        let error = estimate.elo_error.map(|error| finite("elo_error", error));
        Ok(Self { elo: finite("elo", estimate.elo)?, error: error.transpose()? })
    }
}

impl From<RatedGroup> for v1::RatedGroup {
    fn from(group: RatedGroup) -> Self {
        let error = |error| v1::DifferenceError { elo_error: error };
        Self {
            point: places_to_wire(group.point),
            players: group.players.into_iter().map(Into::into).collect(),
            first_move: group.first_move.map(Into::into),
            draw_rate: group.draw_rate,
            games: group.games,
            self_play_games: group.self_play_games,
            clusters: group.clusters,
            clusters_are: group.clusters_are.name().to_owned(),
            difference_errors: group.difference_errors.into_iter().map(error).collect(),
            meetings: group.meetings.into_iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::RatedGroup> for RatedGroup {
    type Error = WireError;

    fn try_from(group: v1::RatedGroup) -> Result<Self, WireError> {
        let players: Vec<RatedPlayer> = read_all("players", group.players)?;
        let count = players.len() as u64;
        let pairs = count * count.saturating_sub(1) / 2;
        in_range("difference_errors", group.difference_errors.len() as u64, pairs, pairs)?;
        let error = |difference: v1::DifferenceError| {
            let error = difference.elo_error.map(|error| finite("difference_errors", error));
            error.transpose()
        };
        let meetings: Vec<Meeting> = read_all("meetings", group.meetings)?;
        for meeting in &meetings {
            in_range("meetings.opponent", meeting.opponent.into(), 1, count.saturating_sub(1))?;
            let stronger_max = u64::from(meeting.opponent) - 1;
            in_range("meetings.player", meeting.player.into(), 0, stronger_max)?;
        }
        Ok(Self {
            point: places_from_wire(group.point),
            players,
            first_move: group
                .first_move
                .map(Estimate::try_from)
                .transpose()
                .map_err(|error| error.within("first_move"))?,
            draw_rate: finite("draw_rate", group.draw_rate)?,
            games: number("games", group.games)?,
            self_play_games: number("self_play_games", group.self_play_games)?,
            clusters: number("clusters", group.clusters)?,
            clusters_are: clusters(&group.clusters_are)?,
            difference_errors: group
                .difference_errors
                .into_iter()
                .map(error)
                .collect::<Result<_, _>>()?,
            meetings,
        })
    }
}

fn clusters(word: &str) -> Result<Clusters, WireError> {
    [Clusters::Openings, Clusters::Pairs]
        .into_iter()
        .find(|clusters| clusters.name() == word)
        .ok_or_else(|| WireError::new("clusters_are", unknown_word(word)))
}

impl From<RatedPlayer> for v1::RatedPlayer {
    fn from(player: RatedPlayer) -> Self {
        Self {
            name: player.name,
            rating: player.rating.map(Into::into),
            is_anchor: player.is_anchor,
            games: player.games,
            wins: player.wins,
            draws: player.draws,
            losses: player.losses,
        }
    }
}

impl TryFrom<v1::RatedPlayer> for RatedPlayer {
    type Error = WireError;

    fn try_from(player: v1::RatedPlayer) -> Result<Self, WireError> {
        let rating = player.rating.map(Estimate::try_from).transpose();
        Ok(Self {
            name: player.name,
            rating: rating.map_err(|error| error.within("rating"))?,
            is_anchor: player.is_anchor,
            games: number("games", player.games)?,
            wins: number("wins", player.wins)?,
            draws: number("draws", player.draws)?,
            losses: number("losses", player.losses)?,
        })
    }
}

impl From<Meeting> for v1::Meeting {
    fn from(meeting: Meeting) -> Self {
        let Meeting { player, opponent, wins, draws, losses } = meeting;
        Self { player, opponent, wins, draws, losses }
    }
}

impl TryFrom<v1::Meeting> for Meeting {
    type Error = WireError;

    fn try_from(meeting: v1::Meeting) -> Result<Self, WireError> {
        Ok(Self {
            player: meeting.player,
            opponent: meeting.opponent,
            wins: number("wins", meeting.wins)?,
            draws: number("draws", meeting.draws)?,
            losses: number("losses", meeting.losses)?,
        })
    }
}

/// Assembles ratings from their parts.
#[derive(Debug, Default)]
pub struct RatingsReader {
    ratings: Option<Ratings>,
}

impl RatingsReader {
    /// Adds the next part.
    ///
    /// # Errors
    /// The first field that is malformed.
    pub fn take(&mut self, part: v1::GetRatingsResponse) -> Result<(), WireError> {
        let v1::GetRatingsResponse { experiment, axes, groups } = part;
        let ratings = match (&mut self.ratings, experiment) {
            (Some(ratings), _) => ratings,
            (none @ None, Some(experiment)) => none.insert(Ratings {
                experiment: experiment
                    .try_into()
                    .map_err(|error: WireError| error.within("experiment"))?,
                axes,
                groups: Vec::new(),
            }),
            (None, None) => return Err(WireError::new("experiment", Fault::Missing)),
        };
        let groups: Vec<RatedGroup> = read_all("groups", groups)?;
        for group in &groups {
            let axes = ratings.axes.len() as u64;
            in_range("groups.point", group.point.len() as u64, axes, axes)?;
        }
        ratings.groups.extend(groups);
        Ok(())
    }

    /// The ratings, after the last part.
    ///
    /// # Errors
    /// If there was no part.
    pub fn finish(self) -> Result<Ratings, WireError> {
        self.ratings.ok_or_else(|| WireError::new("experiment", Fault::Missing))
    }
}
