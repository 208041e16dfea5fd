//! What a sweep says of the workers that play it. No part of a cell's definition: it changes who plays, never what.

use serde::{Deserialize, Serialize};

use crate::demands::{Demands, QuotaBound, SpeedBounds};
use crate::engines::NeededEngine;
use crate::labels::WantedLabel;

/// Which workers play a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// Labels that a worker must have, each of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<WantedLabel>,
    /// Labels for whose sake a worker gets this sweep's games sooner than others of the same priority, if it has all
    /// of them, and later if not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<WantedLabel>,
    /// Workers that are slower get none of its timed games: nodes per second. At least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_min: Option<u64>,
    /// Workers whose speed differs more between short spells get none of its timed games: thousandths of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_max_permille: Option<u32>,
    /// Workers without quiet slots get none of its timed games whose quota of CPU time comes in periods that are longer
    /// than so many thousandths of the shortest time limit for a move; `None`: than [`QUOTA_PERIOD_MAX_PERMILLE`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_period_max_permille: Option<u32>,
}

/// The longest period that a sweep may allow, as a share of the shortest time limit.
pub const QUOTA_PERIOD_MOST: f64 = 1_000.0;

/// The longest period that Linux allows, in microseconds.
const QUOTA_PERIOD_US: u64 = 1_000_000;

/// A tenth, where a sweep does not say.
pub const QUOTA_PERIOD_MAX_PERMILLE: u32 = 100;

/// What is known of a cell whose games are timed.
#[derive(Clone, Copy, Debug)]
pub struct TimedGames<'a> {
    /// The name of their game.
    pub game: &'a str,
    /// The shortest time limit for a move of a player, in microseconds; `None` if neither has one.
    pub move_limit_us: Option<u64>,
}

impl Placement {
    /// What the games of a cell ask of their worker that need these engines; `timed` if they are.
    #[must_use]
    pub fn demands(&self, engines: Vec<NeededEngine>, timed: Option<TimedGames<'_>>) -> Demands {
        Demands {
            engines,
            requests: Vec::new(),
            require: self.require.clone(),
            prefer: self.prefer.clone(),
            speed: timed.and_then(|timed| self.speed_bounds(timed.game)),
            quota: timed.and_then(|it| self.quota_bound(it.move_limit_us?)),
        }
    }

    fn speed_bounds(&self, game: &str) -> Option<SpeedBounds> {
        let Self { speed_min, noise_max_permille, .. } = *self;
        let is_bound = speed_min.is_some() || noise_max_permille.is_some();
        is_bound.then(|| SpeedBounds { game: game.to_owned(), speed_min, noise_max_permille })
    }

    fn quota_bound(&self, move_limit_us: u64) -> Option<QuotaBound> {
        let permille = self.quota_period_max_permille.unwrap_or(QUOTA_PERIOD_MAX_PERMILLE);
        let period_max_us = u128::from(move_limit_us) * u128::from(permille) / 1_000;
        // What bounds nothing is not demanded: each demand is looked at whenever a worker asks.
        let period_max_us = u64::try_from(period_max_us).ok().filter(|&us| us < QUOTA_PERIOD_US)?;
        Some(QuotaBound { period_max_us, is_said: self.quota_period_max_permille.is_some() })
    }

    /// The same as a store keeps it; `None` if it says nothing.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        let is_nothing = *self == Self::default();
        // A text cannot fail to be written.
        (!is_nothing).then(|| serde_json::to_string(self).unwrap_or_default())
    }

    /// As it was kept. What no release of today can read is nothing.
    #[must_use]
    pub fn from_json(json: Option<&str>) -> Self {
        json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }
}
