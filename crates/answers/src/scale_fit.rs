//! Whether one scale fits the players of a group, and ratings where it does not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_statistics::elo_of_score;
use spelrum_statistics::ratings::{Component, Cycles, Disc, nash_average};

use crate::checked::Inconsistent;

/// Whether one scale fits the games of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleFit {
    /// The chance of departures this large or larger if one scale fits.
    pub p_value: f64,
    /// Whether that rejects one scale, at the 5% level.
    pub is_rejected: bool,
    /// The number of independent departures that the pairings allow.
    pub freedom: u64,
    /// How far scores are from one scale.
    pub cycles: Cycles,
    /// The departures of all pairings on which the scale can fail, the least probable first.
    pub departures: Vec<ScaleDeparture>,
    /// Ratings that allow for cycles, in the order of the group's players; empty where one scale fits, and for more than
    /// 50 players.
    pub cyclic_ratings: Vec<CyclicRating>,
}

/// How far the score of a pairing departs from the scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleDeparture {
    /// The stronger player, by its place in the group.
    pub player: u32,
    /// The other.
    pub opponent: u32,
    /// The stronger player's points per game, less those that the scale expects.
    pub score: f64,
    /// Half the width of its 95% interval, simultaneous for all pairings of the group.
    pub error: f64,
    /// Its p-value, adjusted for the number of pairings.
    pub p_value: f64,
}

/// A player's rating on a scale with a disc beside it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CyclicRating {
    /// Its strength in Elo: 0 is the mean of the anchors in the group, or of all its players.
    pub elo: f64,
    /// Its distance from the middle of the disc. Two players' distances multiplied are the most Elo that their angle
    /// can make.
    pub radius: f64,
    /// Its angle in degrees. A player gains against those up to 180 degrees ahead.
    pub angle: f64,
    /// Its share of the mix of players that no player beats: the Nash equilibrium of maximum entropy.
    pub nash_share: f64,
    /// How much weaker it is than that mix, in Elo: 0 for players with a share.
    pub nash_elo: f64,
}

/// The greatest departure of a score from one half: a larger one is infinite in Elo.
const DEPARTURE_MAX: f64 = 0.4999;

impl ScaleFit {
    /// The fit of a component whose players are shown in this order; the zero is the mean of `reference`, or of all.
    pub(crate) fn new(component: &Component, order: &[usize], reference: &[usize]) -> Option<Self> {
        let fit = component.lack_of_fit()?;
        let mut place = vec![0; order.len()];
        for (rank, &member) in (0..).zip(order) {
            place[member] = rank;
        }
        let departure = |found: &spelrum_statistics::ratings::Departure| {
            let [player, opponent] = [place[found.player], place[found.opponent]];
            ScaleDeparture {
                player: player.min(opponent),
                opponent: player.max(opponent),
                score: if player < opponent { found.score } else { -found.score },
                error: found.error,
                p_value: found.p_value,
            }
        };
        let mut departures: Vec<ScaleDeparture> = fit.pairings.iter().map(departure).collect();
        departures.sort_by(|a, b| {
            let excess = |departure: &ScaleDeparture| departure.score.abs() / departure.error;
            let by_p = a.p_value.total_cmp(&b.p_value);
            by_p.then(excess(b).total_cmp(&excess(a)))
                .then((a.player, a.opponent).cmp(&(b.player, b.opponent)))
        });
        let cyclic_ratings =
            component.disc().map_or_else(Vec::new, |disc| cyclic_ratings(disc, order, reference));
        Some(Self {
            p_value: fit.p_value,
            is_rejected: fit.is_rejected(),
            freedom: fit.freedom,
            cycles: fit.cycles,
            departures,
            cyclic_ratings,
        })
    }

    pub(crate) fn check(&self, players: usize) -> Result<(), Inconsistent> {
        let is_ordered = |departure: &ScaleDeparture| {
            departure.player < departure.opponent && (departure.opponent as usize) < players
        };
        if !self.departures.iter().all(is_ordered) {
            return Err(Inconsistent::new("a departure of players that are not in its group"));
        }
        let rated = self.cyclic_ratings.len();
        if rated != 0 && rated != players {
            let problem = format_args!("{rated} cyclic ratings of {players} players");
            return Err(Inconsistent::new(problem));
        }
        Ok(())
    }
}

fn cyclic_ratings(disc: &Disc, order: &[usize], reference: &[usize]) -> Vec<CyclicRating> {
    let zero = match reference.len() {
        0 => 0.0,
        count => {
            reference.iter().map(|&member| disc.players[member].elo).sum::<f64>() / count as f64
        }
    };
    let nash = nash_average(disc);
    let rating = |&member: &usize| {
        let (place, average) = (disc.players[member], nash[member]);
        let departure = average.score.clamp(-DEPARTURE_MAX, 0.0);
        CyclicRating {
            elo: place.elo - zero,
            radius: place.radius,
            angle: place.angle,
            nash_share: average.share,
            nash_elo: elo_of_score(0.5 + departure),
        }
    };
    order.iter().map(rating).collect()
}
