//! A sweep's requirements for its workers. Not part of a cell's definition: they affect which worker plays, never the
//! game.

use serde::{Deserialize, Serialize};

use crate::demands::{Demands, QuotaBound, SpeedBounds};
use crate::engines::NeededEngine;
use crate::labels::WantedLabel;

/// The workers that may play a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Placement {
    /// Required labels; a worker needs all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<WantedLabel>,
    /// Preferred labels: among sweeps of equal priority, a worker with all of them gets this sweep's games sooner, any
    /// other worker later.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prefer: Vec<WantedLabel>,
    /// The minimum speed for its timed games, in nodes per second. At least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_min: Option<u64>,
    /// The maximum variation of speed between short spells for its timed games, in thousandths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise_max_permille: Option<u32>,
    /// The maximum period of a CPU quota for its timed games on workers without exclusive slots, in thousandths of the
    /// shortest time limit for a move; `None`: [`QUOTA_PERIOD_MAX_PERMILLE`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_period_max_permille: Option<u32>,
}

/// The largest quota period that a sweep may allow, as a multiple of the shortest time limit.
pub const QUOTA_PERIOD_MOST: f64 = 1_000.0;

/// The longest quota period that Linux allows, in microseconds.
const QUOTA_PERIOD_US: u64 = 1_000_000;

/// The default: a tenth.
pub const QUOTA_PERIOD_MAX_PERMILLE: u32 = 100;

/// Facts about a cell with timed games.
#[derive(Clone, Copy, Debug)]
pub struct TimedGames<'a> {
    /// The name of their game.
    pub game: &'a str,
    /// The shortest time limit for a move of a player, in microseconds; `None` if neither has one.
    pub move_limit_us: Option<u64>,
}

impl Placement {
    /// The demands of a cell's games that need these engines on their worker; `timed` if the games are timed.
    #[must_use]
    pub fn demands(&self, engines: Vec<NeededEngine>, timed: Option<TimedGames<'_>>) -> Demands {
        Demands {
            engines,
            requests: Vec::new(),
            require: self.require.clone(),
            prefer: self.prefer.clone(),
            speed: timed.and_then(|timed| self.speed_bounds(timed.game)),
            quota: timed.and_then(|games| self.quota_bound(games.move_limit_us?)),
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
        // A bound without effect is omitted: each demand is checked whenever a worker requests games.
        let period_max_us = u64::try_from(period_max_us).ok().filter(|&us| us < QUOTA_PERIOD_US)?;
        Some(QuotaBound { period_max_us, is_said: self.quota_period_max_permille.is_some() })
    }

    /// The stored form; `None` if it has no requirements.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        let is_nothing = *self == Self::default();
        // Serialization cannot fail.
        (!is_nothing).then(|| serde_json::to_string(self).unwrap_or_default())
    }

    /// Parses the stored form. A form unknown to this release counts as empty.
    #[must_use]
    pub fn from_json(json: Option<&str>) -> Self {
        json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }
}
