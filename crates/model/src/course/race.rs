//! Settings of a `[race]` run, and its standings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_statistics::racing::RaceRule;

/// The settings of a `[race]` run.
#[derive(Clone, Debug, PartialEq)]
pub struct RaceSettings {
    /// The names of the players that are compared: at least two.
    pub players: Vec<String>,
    /// When the race is over.
    pub rule: RaceRule,
}

/// The state of a race after a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RaceStandings {
    /// The most rounds.
    pub rounds_max: u64,
    /// The greatest probability with which a wrong player is called first.
    pub error_rate: f64,
    /// By how many points per game the first may be worse than another player.
    pub within: f64,
    /// The first player, once it is known.
    pub first: Option<String>,
    /// Its players, in the order of the sweep.
    pub players: Vec<Runner>,
}

/// A player in a race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Runner {
    /// Its name.
    pub player: String,
    /// The number of its games in whole pairs.
    pub games: u64,
    /// Its mean score of a game over the rounds that it was in; absent without a whole pair.
    pub score: Option<f64>,
    /// How many points per game the leader is ahead of it, over the rounds that both were in.
    pub behind: Option<Behind>,
    /// The number of rounds after which it was out; absent while it may be first.
    pub out_after: Option<u64>,
    /// The player that was known to be better then.
    pub out_by: Option<String>,
}

/// The lead of a race's leader over another player, in points per game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "BehindLeader")]
pub struct Behind {
    /// The mean difference.
    pub points: f64,
    /// The lower end of its confidence sequence, which holds at every look.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}
