//! Speeds of machines, and time limits that give each machine the same number of nodes.
//!
//! A machine's *speed* for a game is the number of nodes that a plain search of this engine visits per second of wall
//! time, on each slot for timed games while all of them search, as in play. Wall time counts, since a CPU quota slows a
//! machine, too.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spelrum_engine::Spell;

/// The age beyond which a speed is measured again: a machine that is shared or grows warm changes within minutes.
pub const SPEED_FRESH_MS: u64 = 600_000;

/// The time for which a too slow speed stays valid: measuring it again would interrupt the machine's games.
pub const SPEED_SLOW_MS: u64 = 6 * SPEED_FRESH_MS;

/// The speed of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speed {
    /// The game whose positions were searched.
    pub game: String,
    /// Nodes per second of one slot. Never 0.
    pub nodes_per_second: u64,
    /// The variation between short spells and between slots, in thousandths of the speed.
    pub noise_permille: u32,
    /// The number of slots that measured simultaneously.
    pub slots: u32,
    /// The age of the measurement, in milliseconds.
    pub age_ms: u64,
}

impl Speed {
    /// The speed from slots that just searched this game simultaneously; `None` if any slot has no result.
    #[must_use]
    pub fn measured(game: &str, slots: &[Vec<Spell>]) -> Option<Self> {
        let is_empty = |spells: &Vec<Spell>| spells.iter().all(|spell| spell.nodes == 0);
        if slots.is_empty() || slots.iter().any(is_empty) {
            return None;
        }
        let spells = || slots.iter().flatten().filter(|spell| !spell.wall.is_zero());
        let nodes: u64 = spells().map(|spell| spell.nodes).sum();
        let seconds: f64 = spells().map(|spell| spell.wall.as_secs_f64()).sum();
        let speed = nodes as f64 / seconds;
        let rates = || spells().map(|spell| spell.nodes as f64 / spell.wall.as_secs_f64());
        let squares: f64 = rates().map(|rate| (rate - speed) * (rate - speed)).sum();
        let noise = (squares / rates().count() as f64).sqrt() / speed;
        Some(Self {
            game: game.to_owned(),
            // Infinite and undefined values become bounds.
            nodes_per_second: (speed.round() as u64).max(1),
            noise_permille: (noise * 1_000.0).round() as u32,
            slots: u32::try_from(slots.len()).unwrap_or(u32::MAX),
            age_ms: 0,
        })
    }
}

/// A sweep's scaling of time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "ScalingForm")]
#[schemars(!try_from)]
pub struct Scaling {
    /// The speed at which limits are as the sweep says, in nodes per second. Never 0.
    pub reference: u64,
    /// Limits are multiplied by at most this many thousandths, and at least by the inverse. At least 1,000.
    pub factor_max_permille: u32,
}

/// A scaling as read, not yet checked.
#[derive(Deserialize)]
struct ScalingForm {
    reference: u64,
    factor_max_permille: u32,
}

impl TryFrom<ScalingForm> for Scaling {
    type Error = &'static str;

    fn try_from(form: ScalingForm) -> Result<Self, &'static str> {
        let ScalingForm { reference, factor_max_permille } = form;
        if reference == 0 || factor_max_permille < 1_000 {
            return Err(
                "a scaling has a reference above 0, and a factor of at least 1000 permille",
            );
        }
        Ok(Self { reference, factor_max_permille })
    }
}

impl Scaling {
    /// The default bound: four times as long.
    pub const FACTOR_MAX_PERMILLE: u32 = 4_000;
    /// The greatest bound that a sweep may set.
    pub const FACTOR_MOST_PERMILLE: u32 = 100_000;
    /// The greatest reference: faster than any machine.
    pub const REFERENCE_MAX: u64 = 1_000_000_000_000;

    /// The bounds of factors, in thousandths.
    fn bounds(self) -> (u128, u128) {
        let most = u128::from(self.factor_max_permille.max(1_000));
        (1_000_000_u128.div_ceil(most), most)
    }

    /// Whether a factor is at a bound, so that the machine is slower or faster than scaling allows; or beyond it,
    /// because the sweep had other bounds when the game was leased.
    #[must_use]
    pub fn is_bound(self, factor_permille: u32) -> bool {
        let (least, most) = self.bounds();
        !(least + 1..most).contains(&factor_permille.into())
    }

    /// The factor for limits on a machine of this speed, in thousandths, never 0.
    #[must_use]
    pub fn factor_permille(self, nodes_per_second: u64) -> u32 {
        let (least, most) = self.bounds();
        let speed = u128::from(nodes_per_second.max(1));
        let factor = (u128::from(self.reference) * 1_000 + speed / 2) / speed;
        u32::try_from(factor.clamp(least, most)).unwrap_or(u32::MAX)
    }
}

/// The scaling of time limits in a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledTime {
    /// The factor in thousandths. Never 0.
    pub factor_permille: u32,
    /// The worker's speed that determined it.
    pub nodes_per_second: u64,
}

impl ScaledTime {
    /// Checks that some sweep can have this scaling; not that its own does, which may have had other bounds when the
    /// game was leased.
    ///
    /// # Errors
    /// The problem.
    pub fn check(self) -> Result<(), String> {
        let most = Scaling { reference: 1, factor_max_permille: Scaling::FACTOR_MOST_PERMILLE };
        let (least, most) = most.bounds();
        if (least..=most).contains(&self.factor_permille.into()) {
            return Ok(());
        }
        let factor = f64::from(self.factor_permille) / 1_000.0;
        Err(format!("its time limits were scaled by {factor}, and no sweep allows that"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_speed_is_that_of_all_slots_together() {
        let spell = |nodes, ms| Spell { nodes, wall: Duration::from_millis(ms) };
        let slots = [vec![spell(50_000, 50), spell(60_000, 50)], vec![spell(90_000, 100); 2]];
        let speed = Speed::measured("chess", &slots).unwrap();
        assert_eq!((&*speed.game, speed.slots, speed.age_ms), ("chess", 2, 0));
        // 290,000 nodes in 300 ms; 1.0, 1.2, 0.9 and 0.9 million per second.
        assert_eq!(speed.nodes_per_second, 966_667);
        assert_eq!(speed.noise_permille, 131);
        let even = Speed::measured("chess", &[vec![spell(7, 7); 3]]).unwrap();
        assert_eq!((even.nodes_per_second, even.noise_permille), (1_000, 0));
        for nothing in [&[][..], &[vec![]], &[vec![spell(5, 5)], vec![spell(0, 5)]]] {
            assert_eq!(Speed::measured("chess", nothing), None);
        }
    }

    #[test]
    fn a_slower_machine_has_longer_limits() {
        let scaling = Scaling { reference: 2_000_000, factor_max_permille: 4_000 };
        let permille = |speed| scaling.factor_permille(speed);
        assert_eq!(
            [permille(2_000_000), permille(1_000_000), permille(4_000_000)],
            [1_000, 2_000, 500]
        );
        assert_eq!(permille(1_999_000), 1_001, "rounded to the nearest");
        // Within both bounds for any speed.
        assert_eq!(
            [permille(499_999), permille(1), permille(0), permille(u64::MAX)],
            [4_000, 4_000, 4_000, 250]
        );
        let none = Scaling { reference: u64::MAX, factor_max_permille: 0 };
        assert_eq!([none.factor_permille(1), none.factor_permille(u64::MAX)], [1_000, 1_000]);
        let most = Scaling { reference: u64::MAX, factor_max_permille: u32::MAX };
        assert_eq!(most.factor_permille(1), u32::MAX);
        assert_eq!(Scaling { reference: 1, ..most }.factor_permille(u64::MAX), 1);
        let bound =
            [1, 250, 251, 1_000, 3_999, 4_000, 9_000].map(|factor| scaling.is_bound(factor));
        assert_eq!(bound, [true, true, false, false, false, true, true]);
        let fixed = Scaling { factor_max_permille: 1_000, ..scaling };
        assert!(fixed.is_bound(1_000));
        let can_be =
            |factor_permille| ScaledTime { factor_permille, nodes_per_second: 1 }.check().is_ok();
        assert_eq!([9, 10, 100_000, 100_001].map(can_be), [false, true, true, false]);
    }
}
