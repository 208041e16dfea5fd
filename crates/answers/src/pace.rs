//! How fast an experiment goes now: what was settled in the last minute.

use std::collections::VecDeque;
use std::time::Duration;

use spelrum_model::ExperimentState;
use spelrum_statistics::forecast::Forecast;

use crate::progress::Progress;

/// What is longer ago tells nothing of now …
const WINDOW: Duration = Duration::from_secs(60);

/// … unless there were fewer games than this since.
const GAMES_MIN: u64 = 16;

/// Games in progress at either end of a span blur how many were played at once: it holds so many
/// of each slot, or is not asked.
const GAMES_PER_SLOT_MIN: u64 = 4;

/// Of games that take less, on average, what is between them counts as much: how many are played at
/// once is observed, and soon, not taken from the slots.
const QUICK_GAME_US: f64 = 50_000.0;

/// Looks are kept in steps of this part of the time that they span: their number grows with the
/// logarithm of the time, a few thousand in a year.
const STEPS: u32 = 256;

/// What was seen lately of an experiment: how fast it goes, and how long the games left will take.
///
/// It knows no clock: time is what whoever looks says, from any moment on.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    seen: VecDeque<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Duration,
    games: u64,
    wall_us: f64,
}

impl Pace {
    /// Notes how many games are settled at this time, and the time that all of them took.
    pub fn see(&mut self, at: Duration, games: u64, wall_us: f64) {
        let now = Seen { at, games, wall_us };
        if let [.., before, last] = self.seen.make_contiguous()
            && last.at - before.at < (last.at - self.seen[0].at) / STEPS
        {
            self.seen.pop_back();
        }
        self.seen.push_back(now);
        // The span begins at the last look that is far enough back.
        while let Some(second) = self.seen.get(1) {
            let is_enough = now.games.saturating_sub(second.games) >= GAMES_MIN;
            if at.saturating_sub(second.at) < WINDOW || !is_enough {
                break;
            }
            self.seen.pop_front();
        }
    }

    /// Games settled a second; `None` before the first.
    #[must_use]
    pub fn games_per_second(&self) -> Option<f64> {
        let (games, seconds, _) = self.span()?;
        (games > 0).then(|| games as f64 / seconds)
    }

    /// The time left as far as one look can tell: as if every slot of the workers played a game at each
    /// moment. Whoever looks again knows better.
    #[must_use]
    pub fn forecast_at_first(progress: &Progress) -> Option<Forecast> {
        Self::default().forecast(progress)
    }

    /// The time left, as far as anything tells. Only an experiment that runs has an end to tell.
    #[must_use]
    pub fn forecast(&self, progress: &Progress) -> Option<Forecast> {
        if progress.state != ExperimentState::Running {
            return None;
        }
        let is_quick = progress.wall_us < QUICK_GAME_US * progress.games_settled as f64;
        let slots = if is_quick { 0 } else { progress.slots };
        progress.backlog.forecast(self.games_at_once(slots), progress.spread)
    }

    /// How many games are played at once: as observed, or as many as there are slots while too few
    /// games were.
    fn games_at_once(&self, slots: u64) -> f64 {
        let enough = GAMES_MIN.max(GAMES_PER_SLOT_MIN * slots);
        match self.span() {
            Some((games, seconds, wall_us)) if games >= enough || (slots == 0 && games > 0) => {
                wall_us / 1e6 / seconds
            }
            _ => slots as f64,
        }
    }

    /// Games, seconds, and the games' time, between the first and the last look kept.
    fn span(&self) -> Option<(u64, f64, f64)> {
        let (first, last) = (self.seen.front()?, self.seen.back()?);
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let games = last.games.saturating_sub(first.games);
        (seconds > 0.0).then_some((games, seconds, last.wall_us - first.wall_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// So many games a second of a tenth of a second each, looked at every second.
    fn steady(pace: &mut Pace, from: u64, to: u64, games_before: u64, rate: u64) -> u64 {
        let mut games = games_before;
        for second in from..to {
            pace.see(seconds(second), games, games as f64 * 1e5);
            games += rate;
        }
        games
    }

    #[test]
    fn the_rate_is_that_of_the_last_minute() {
        let mut pace = Pace::default();
        assert_eq!(pace.games_per_second(), None);
        let games = steady(&mut pace, 0, 600, 0, 100);
        assert_eq!(pace.games_per_second(), Some(100.0));
        assert!((pace.games_at_once(2) - 10.0).abs() < 1e-9);
        // It changes: after a minute nothing of the old rate is left.
        steady(&mut pace, 600, 662, games, 20);
        let rate = pace.games_per_second().unwrap();
        assert!((rate - 20.0).abs() < 2.0, "{rate}");
    }

    #[test]
    fn few_games_are_seen_over_a_longer_time() {
        let mut pace = Pace::default();
        for minute in 0..60 {
            pace.see(seconds(60 * minute), minute / 2, (minute / 2) as f64 * 1e8);
        }
        let rate = pace.games_per_second().unwrap();
        assert!((rate * 120.0 - 1.0).abs() < 0.1, "{rate}");
        // Two slots tell more than a game and a half.
        pace = Pace::default();
        pace.see(seconds(0), 0, 0.0);
        pace.see(seconds(60), 2, 1e8);
        assert_eq!(pace.games_at_once(2), 2.0);
        assert!((pace.games_at_once(0) - 1e8 / 6e7).abs() < 1e-9);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut pace = Pace::default();
        for look in 0..200_000 {
            pace.see(Duration::from_millis(200 * look), 0, 0.0);
        }
        assert!(pace.seen.len() < 8 * STEPS as usize, "{}", pace.seen.len());
        assert_eq!(pace.games_per_second(), None);
    }
}
