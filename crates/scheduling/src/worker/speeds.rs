//! This machine's speed at each game, and when to measure it: with all slots idle, the condition in which
//! timed games are played.
//!
//! The coordinator, or games whose time limits are scaled, may want a measurement. Until it is done no game
//! begins.

use std::collections::BTreeMap;

use spelrum_model::speed::{SPEED_FRESH_MS, ScaledTime, Scaling, Speed};

use crate::scheduler::Time;

/// Minimum time between two measurements of a game, successful or not, for any requester.
const APART_MS: u64 = 5_000;

/// Games that are remembered (invariant 9): there are few, but a coordinator may name any.
const GAMES_MAX: usize = 64;

/// The speeds.
#[derive(Clone, Debug, Default)]
pub(super) struct Speeds {
    /// The latest measurement of each game: `None` if it failed.
    measured: BTreeMap<String, (Time, Option<Speed>)>,
    /// The game to measure next, or being measured.
    wanted: Option<String>,
    is_under_way: bool,
}

impl Speeds {
    /// Starts with a speed that was just measured, if any.
    pub(super) fn with_speed(speed: Option<Speed>) -> Self {
        let measured = speed.into_iter().map(|speed| (speed.game.clone(), (Time(0), Some(speed))));
        Self { measured: measured.collect(), ..Self::default() }
    }

    /// Requests a measurement; returns whether it will be made. Not if one was just tried.
    pub(super) fn want(&mut self, game: &str, now: Time) -> bool {
        if self.measured.get(game).is_some_and(|(at, _)| now.0 < at.0 + APART_MS) {
            return false;
        }
        if self.wanted.is_none() {
            self.wanted = Some(game.to_owned());
        }
        true
    }

    /// Whether a measurement is wanted or under way, so that no game begins.
    pub(super) const fn is_wanted(&self) -> bool {
        self.wanted.is_some()
    }

    /// Whether one is under way.
    pub(super) const fn is_under_way(&self) -> bool {
        self.is_under_way
    }

    /// Starts the wanted measurement, if any, once all slots are idle.
    pub(super) fn begin(&mut self) -> Option<String> {
        let game = self.wanted.clone().filter(|_| !self.is_under_way)?;
        self.is_under_way = true;
        Some(game)
    }

    /// Records a measurement, or its failure.
    pub(super) fn measured(&mut self, game: String, speed: Option<Speed>, now: Time) {
        if !self.is_under_way || self.wanted.as_ref() != Some(&game) {
            return;
        }
        (self.wanted, self.is_under_way) = (None, false);
        if self.measured.len() >= GAMES_MAX
            && let Some(oldest) = self.measured.iter().min_by_key(|(_, (at, _))| *at)
        {
            let oldest = oldest.0.clone();
            self.measured.remove(&oldest);
        }
        self.measured.insert(game, (now, speed));
    }

    /// Scaling of a game's time limits now, if its speed is known well enough.
    pub(super) fn scaled(&self, game: &str, scaling: Scaling, now: Time) -> Option<ScaledTime> {
        let (at, speed) = self.measured.get(game)?;
        let speed = speed.as_ref().filter(|_| now.0 <= at.0 + SPEED_FRESH_MS)?;
        let nodes_per_second = speed.nodes_per_second;
        let factor_permille = scaling.factor_permille(nodes_per_second);
        Some(ScaledTime { factor_permille, nodes_per_second })
    }

    /// All known speeds, with their ages.
    pub(super) fn reported(&self, now: Time) -> Vec<Speed> {
        let measured = self.measured.values().filter_map(|(at, speed)| Some((at, speed.as_ref()?)));
        measured.map(|(at, speed)| Speed { age_ms: now.0 - at.0, ..speed.clone() }).collect()
    }

    /// When failed measurements may be retried.
    pub(super) fn retry_at(&self) -> impl Iterator<Item = Time> {
        let failed = self.measured.values().filter(|(_, speed)| speed.is_none());
        failed.map(|(at, _)| Time(at.0 + APART_MS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALING: Scaling = Scaling { reference: 2_000_000, factor_max_permille: 4_000 };

    fn speed(nodes_per_second: u64) -> Speed {
        let (noise_permille, slots, age_ms) = (3, 2, 0);
        Speed { game: "pentago".to_owned(), nodes_per_second, noise_permille, slots, age_ms }
    }

    #[test]
    fn a_speed_is_measured_once_and_grows_old() {
        let mut speeds = Speeds::default();
        assert!(!speeds.is_wanted() && speeds.begin().is_none());
        assert!(speeds.want("pentago", Time(0)) && speeds.want("chess", Time(0)));
        assert!(speeds.is_wanted() && !speeds.is_under_way());
        assert_eq!(speeds.begin().as_deref(), Some("pentago"));
        assert_eq!((speeds.begin(), speeds.is_under_way()), (None, true));
        speeds.measured("chess".to_owned(), None, Time(1));
        assert!(speeds.is_under_way(), "nobody measures that");
        speeds.measured("pentago".to_owned(), Some(speed(1_000_000)), Time(500));
        assert!(!speeds.is_wanted() && !speeds.is_under_way());
        assert!(!speeds.want("pentago", Time(1_000)), "it was just measured");
        assert_eq!(speeds.reported(Time(700)), [Speed { age_ms: 200, ..speed(1_000_000) }]);

        let scaled = speeds.scaled("pentago", SCALING, Time(SPEED_FRESH_MS + 500)).unwrap();
        assert_eq!((scaled.factor_permille, scaled.nodes_per_second), (2_000, 1_000_000));
        assert_eq!(speeds.scaled("pentago", SCALING, Time(SPEED_FRESH_MS + 501)), None);
        assert_eq!(speeds.scaled("chess", SCALING, Time(500)), None);
        assert!(speeds.want("pentago", Time(SPEED_FRESH_MS + 501)));
    }

    #[test]
    fn what_cannot_be_measured_is_not_tried_again_at_once() {
        let mut speeds = Speeds::default();
        assert!(speeds.want("draughts", Time(0)));
        speeds.begin();
        speeds.measured("draughts".to_owned(), None, Time(10));
        assert!(!speeds.want("draughts", Time(5_009)) && speeds.want("draughts", Time(5_010)));
        assert_eq!(speeds.retry_at().collect::<Vec<_>>(), [Time(5_010)]);
        assert!(speeds.reported(Time(20)).is_empty());
        for game in 0..200 {
            speeds.begin();
            let measured = speeds.wanted.clone().unwrap();
            speeds.measured(measured, None, Time(6_000));
            assert!(speeds.want(&game.to_string(), Time(6_000)));
        }
        assert!(speeds.measured.len() <= GAMES_MAX);
    }
}
