//! The times of heartbeats. A lease that no heartbeat names is not renewed (invariant 6), and a game that
//! none names costs nothing when it is lost, the first time.

use std::time::Duration;

use crate::scheduler::Time;

/// Minimum distance of early heartbeats from the last one, if a game may kill its worker at once: many slots
/// that start such games share one.
const URGENT_APART_MS: u64 = 100;

/// The same if games of its cell were played here before, and took long.
const LONG_APART_MS: u64 = 1_000;

/// A game that takes longer than this is named before the next heartbeat is due.
const LONG_GAME: Duration = Duration::from_secs(1);

/// Bounds of the interval between heartbeats, whatever a coordinator wants.
const INTERVAL_MS: std::ops::RangeInclusive<u64> = 10..=60 * 60 * 1_000;

/// The times of heartbeats.
#[derive(Clone, Debug, Default)]
pub(super) struct Beats {
    interval_ms: u64,
    /// When the next is due.
    at: Option<Time>,
    /// Whether an earlier one is wanted, since a game has started.
    hastened: Option<Time>,
    last: Option<Time>,
}

impl Beats {
    /// Starts with the coordinator's interval. The first is due one interval after Hello.
    pub(super) fn set_interval(&mut self, interval_ms: u64, now: Time) {
        let interval_ms = interval_ms.clamp(*INTERVAL_MS.start(), *INTERVAL_MS.end());
        if self.at.is_none() || interval_ms != self.interval_ms {
            self.interval_ms = interval_ms;
            self.at = Some(Time(now.0 + interval_ms));
        }
    }

    /// A game waits to be named.
    pub(super) fn game_waits(&mut self, now: Time) {
        self.hasten(now);
    }

    /// A game starts, of a cell whose games take this long. A heartbeat names it soon if it may kill its
    /// worker: the coordinator charges a lost lease only to the games that a heartbeat named, and a game that
    /// kills its worker between two of them kills another worker too, which names the game in a heartbeat
    /// before it plays it. A cell that was never played here may have such games.
    pub(super) fn game_starts(&mut self, game_time: Option<Duration>, now: Time) {
        let apart_ms = match game_time {
            None => URGENT_APART_MS,
            Some(time) if time >= LONG_GAME => LONG_APART_MS,
            Some(_) => return,
        };
        self.hasten(self.last.map_or(now, |last| now.max(Time(last.0 + apart_ms))));
    }

    /// People follow a game.
    pub(super) fn game_is_followed(&mut self, now: Time) {
        self.game_starts(Some(LONG_GAME), now);
    }

    fn hasten(&mut self, due: Time) {
        self.hastened = Some(self.hastened.map_or(due, |hastened| hastened.min(due)));
    }

    /// When the next is due.
    pub(super) fn due_at(&self) -> Option<Time> {
        match (self.at, self.hastened) {
            (Some(at), Some(hastened)) => Some(at.min(hastened)),
            (at, hastened) => at.or(hastened),
        }
    }

    /// A heartbeat is sent.
    pub(super) fn sent(&mut self, now: Time) {
        self.at = Some(Time(now.0 + self.interval_ms));
        self.hastened = None;
        self.last = Some(now);
    }

    /// The last heartbeat has no answer, and must be repeated.
    pub(super) fn mark_unanswered(&mut self, now: Time) {
        self.at = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Option<Duration> = Some(Duration::from_millis(999));
    const LONG: Option<Duration> = Some(Duration::from_secs(1));

    #[test]
    fn they_come_at_the_interval() {
        let mut beats = Beats::default();
        assert_eq!(beats.due_at(), None);
        beats.set_interval(5_000, Time(7));
        assert_eq!(beats.due_at(), Some(Time(5_007)));
        beats.set_interval(5_000, Time(3_000));
        assert_eq!(beats.due_at(), Some(Time(5_007)), "another Hello changes nothing");
        beats.sent(Time(5_100));
        assert_eq!(beats.due_at(), Some(Time(10_100)));
        beats.set_interval(0, Time(6_000));
        assert_eq!(beats.due_at(), Some(Time(6_010)), "a new interval counts from now");
    }

    #[test]
    fn many_games_share_one() {
        let mut beats = Beats::default();
        beats.set_interval(5_000, Time(0));
        beats.game_starts(SHORT, Time(0));
        assert_eq!(beats.due_at(), Some(Time(5_000)));
        beats.game_starts(LONG, Time(1));
        assert_eq!(beats.due_at(), Some(Time(1)), "there was none for long");
        beats.sent(Time(1));
        for now in 2..50 {
            beats.game_starts(LONG, Time(now));
            assert_eq!(beats.due_at(), Some(Time(1_001)));
        }
        beats.game_starts(None, Time(60));
        assert_eq!(beats.due_at(), Some(Time(101)));
        beats.game_waits(Time(61));
        assert_eq!(beats.due_at(), Some(Time(61)), "a slot waits for it");
        beats.sent(Time(101));
        assert_eq!(beats.due_at(), Some(Time(5_101)));
        beats.game_is_followed(Time(103));
        assert_eq!(beats.due_at(), Some(Time(1_101)), "people see the next moves soon");
    }
}
