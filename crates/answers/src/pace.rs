//! Current pace of an experiment: games settled in the last minute.

use std::collections::VecDeque;
use std::time::Duration;

use spelrum_model::ExperimentState;
use spelrum_statistics::forecast::Forecast;

use crate::derived::{ProgressFigures, TimeLeft};
use crate::progress::Progress;

/// Older observations are no evidence of the current pace …
const WINDOW: Duration = Duration::from_secs(60);

/// … unless there were fewer games than this since.
const GAMES_MIN: u64 = 16;

/// Games in progress at either end of a span blur the number of concurrent games, so a span counts only if it holds
/// this many games of each slot.
const GAMES_PER_SLOT_MIN: u64 = 4;

/// For games shorter than this on average, the time between games matters as much: concurrency is soon observed, and
/// not taken from the slots.
const QUICK_GAME_US: f64 = 50_000.0;

/// Observations are kept in steps of this part of the time that they span: their number grows with the logarithm of
/// the time, a few thousand in a year.
const STEPS: u32 = 256;

/// Recent observations of an experiment: its pace, and the time left.
///
/// It has no clock: the caller passes the time, from any origin.
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
    /// Records the number of games settled at this time, and their total duration, in microseconds.
    pub fn record(&mut self, at: Duration, games: u64, wall_us: f64) {
        let now = Seen { at, games, wall_us };
        if let [.., before, last] = self.seen.make_contiguous()
            && last.at - before.at < (last.at - self.seen[0].at) / STEPS
        {
            self.seen.pop_back();
        }
        self.seen.push_back(now);
        // The span begins at the last observation that is old enough.
        while let Some(second) = self.seen.get(1) {
            let is_enough = now.games.saturating_sub(second.games) >= GAMES_MIN;
            if at.saturating_sub(second.at) < WINDOW || !is_enough {
                break;
            }
            self.seen.pop_front();
        }
    }

    /// Returns games settled per second; `None` before the first.
    #[must_use]
    pub fn games_per_second(&self) -> Option<f64> {
        let (games, seconds, _) = self.span()?;
        (games > 0).then(|| games as f64 / seconds)
    }

    /// Returns the time left from a single observation, assuming that every slot of the workers always plays a game.
    /// A second observation gives a better estimate.
    #[must_use]
    pub fn forecast_at_first(progress: &Progress) -> Option<Forecast> {
        Self::default().forecast(progress)
    }

    /// Returns the estimated time left. Only a running experiment has one.
    #[must_use]
    pub fn forecast(&self, progress: &Progress) -> Option<Forecast> {
        if progress.state != ExperimentState::Running {
            return None;
        }
        let is_quick = progress.wall_us < QUICK_GAME_US * progress.games_settled as f64;
        let slots = if is_quick { 0 } else { progress.slots };
        progress.backlog.forecast(self.games_at_once(slots), progress.spread)
    }

    /// Returns the number of concurrent games: as observed, or the number of slots until enough games were seen.
    fn games_at_once(&self, slots: u64) -> f64 {
        let enough = GAMES_MIN.max(GAMES_PER_SLOT_MIN * slots);
        match self.span() {
            Some((games, seconds, wall_us)) if games >= enough || (slots == 0 && games > 0) => {
                wall_us / 1e6 / seconds
            }
            _ => slots as f64,
        }
    }

    /// Returns games, seconds, and the games' duration between the first and the last observation kept.
    fn span(&self) -> Option<(u64, f64, f64)> {
        let (first, last) = (self.seen.front()?, self.seen.back()?);
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        let games = last.games.saturating_sub(first.games);
        (seconds > 0.0).then_some((games, seconds, last.wall_us - first.wall_us))
    }
}

impl From<&Progress> for ProgressFigures {
    fn from(progress: &Progress) -> Self {
        let time_left = Pace::forecast_at_first(progress).map(|forecast| TimeLeft {
            expected_us: forecast.left_us,
            low_us: forecast.low_us,
            high_us: forecast.high_us,
        });
        Self { time_left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A constant rate of games of a tenth of a second each, observed every second.
    fn steady(pace: &mut Pace, from: u64, to: u64, games_before: u64, rate: u64) -> u64 {
        let mut games = games_before;
        for second in from..to {
            pace.record(seconds(second), games, games as f64 * 1e5);
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
        // The pace changes: after a minute nothing of the old rate is left.
        steady(&mut pace, 600, 662, games, 20);
        let rate = pace.games_per_second().unwrap();
        assert!((rate - 20.0).abs() < 2.0, "{rate}");
    }

    #[test]
    fn few_games_are_seen_over_a_longer_time() {
        let mut pace = Pace::default();
        for minute in 0..60 {
            pace.record(seconds(60 * minute), minute / 2, (minute / 2) as f64 * 1e8);
        }
        let rate = pace.games_per_second().unwrap();
        assert!((rate * 120.0 - 1.0).abs() < 0.1, "{rate}");
        // Two slots are better evidence than a game and a half.
        pace = Pace::default();
        pace.record(seconds(0), 0, 0.0);
        pace.record(seconds(60), 2, 1e8);
        assert_eq!(pace.games_at_once(2), 2.0);
        assert!((pace.games_at_once(0) - 1e8 / 6e7).abs() < 1e-9);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut pace = Pace::default();
        for look in 0..200_000 {
            pace.record(Duration::from_millis(200 * look), 0, 0.0);
        }
        assert!(pace.seen.len() < 8 * STEPS as usize, "{}", pace.seen.len());
        assert_eq!(pace.games_per_second(), None);
    }
}
