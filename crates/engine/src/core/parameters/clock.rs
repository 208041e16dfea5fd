//! Chess clocks: the time left as a function of a player's rule and its moves' times.

use std::fmt;

use super::duration::{format_duration_us, parse_duration_us};

/// The time control of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRule {
    /// The time is for this many moves, and is renewed after them; `None`: for the whole game.
    pub moves: Option<u32>,
    /// The time, in microseconds.
    pub time_us: u64,
    /// Time added after each move, in microseconds.
    pub increment_us: u64,
}

/// A player's clock between the moves of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningClock {
    rule: ClockRule,
    time_us: u64,
    made: u32,
}

/// A player's time left before a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    /// In microseconds.
    pub time_us: u64,
    /// Moves until the time is renewed, if it is.
    pub moves_to_go: Option<u32>,
}

/// More than any game takes: a day.
const TIME_MAX_US: u64 = 86_400_000_000;
/// More moves than any period has.
const MOVES_MAX: u32 = 10_000;

impl ClockRule {
    /// Parses a clock as match runners write it, with units (`"10s+100ms"`, `"40/1m+1s"`) or in seconds
    /// (`"10+0.1"`, `"40/1:30"`). `None` if the text is not a clock.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => (Some(moves.trim()), rest),
            None => (None, text),
        };
        let moves = match moves {
            None => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok().filter(|moves| (1..=MOVES_MAX).contains(moves))?)
            }
            Some(_) => return None,
        };
        let (time, increment) = rest.split_once('+').unwrap_or((rest, "0s"));
        let [time_us, increment_us] = [time, increment].map(|text| duration_us(text.trim()));
        let (time_us, increment_us) = (time_us?, increment_us?);
        let is_in_bounds = (1..=TIME_MAX_US).contains(&time_us) && increment_us <= TIME_MAX_US;
        is_in_bounds.then_some(Self { moves, time_us, increment_us })
    }

    /// The time left before a move, given the times of the player's earlier moves, in microseconds.
    #[must_use]
    pub fn left(&self, took_us: impl IntoIterator<Item = u64>) -> TimeLeft {
        let mut clock = RunningClock::new(*self);
        took_us.into_iter().for_each(|took| clock.charge(took));
        clock.left()
    }

    /// The same clock with this many thousandths of its time and its increment.
    #[must_use]
    pub fn scaled(self, permille: u32) -> Self {
        let [time_us, increment_us] =
            [self.time_us, self.increment_us].map(|us| scaled_us(us, permille));
        Self { time_us, increment_us, ..self }
    }
}

impl RunningClock {
    /// The clock at the start of a game.
    #[must_use]
    pub const fn new(rule: ClockRule) -> Self {
        Self { rule, time_us: rule.time_us, made: 0 }
    }

    /// Charges a move's time, in microseconds, and adds what the rule grants after it.
    ///
    /// A move that exceeded the remaining time without losing the game leaves zero, to which the increment is
    /// added.
    pub fn charge(&mut self, took_us: u64) {
        let ClockRule { moves, time_us, increment_us } = self.rule;
        self.time_us = self.time_us.saturating_sub(took_us).saturating_add(increment_us);
        self.made = self.made.saturating_add(1);
        if moves.is_some_and(|moves| self.made.is_multiple_of(moves)) {
            self.time_us = self.time_us.saturating_add(time_us);
        }
    }

    /// The time left before the next move.
    #[must_use]
    pub fn left(&self) -> TimeLeft {
        let moves_to_go = self.rule.moves.map(|moves| moves - self.made % moves);
        TimeLeft { time_us: self.time_us, moves_to_go }
    }
}

/// This many thousandths of a time in microseconds; at least one of a time that is not zero.
pub(crate) fn scaled_us(us: u64, permille: u32) -> u64 {
    let scaled = (u128::from(us) * u128::from(permille) + 500) / 1_000;
    u64::try_from(scaled).unwrap_or(u64::MAX).max(u64::from(us > 0))
}

/// A duration in clock notation, which also has minutes, and seconds without a unit.
fn duration_us(text: &str) -> Option<u64> {
    if text.ends_with(|last: char| last.is_ascii_digit()) {
        let (minutes, seconds) = text.split_once(':').unwrap_or(("0", text));
        let minutes: u64 = minutes.parse().ok().filter(|_| !minutes.starts_with('+'))?;
        let seconds_us = parse_duration_us(&format!("{seconds}s"))?;
        return minutes.checked_mul(60_000_000)?.checked_add(seconds_us);
    }
    match text.strip_suffix('m') {
        Some(minutes) => parse_duration_us(&format!("{minutes}s"))?.checked_mul(60),
        None => parse_duration_us(text),
    }
}

/// The canonical form of a clock, which is hashed and stored.
impl fmt::Display for ClockRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        f.write_str(&format_duration_us(self.time_us))?;
        if self.increment_us > 0 {
            write!(f, "+{}", format_duration_us(self.increment_us))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clocks_have_one_form() {
        for (text, form) in [
            ("10s+100ms", "10s+100ms"),
            ("10000ms + 0.1s", "10s+100ms"),
            ("40/1m", "40/60s"),
            ("40/1.5m+1s", "40/90s+1s"),
            ("1500us", "1500us"),
            ("5m+0s", "300s"),
            ("10+0.1", "10s+100ms"),
            ("40/60", "40/60s"),
            ("10", "10s"),
            ("40/1:30 + 1s", "40/90s+1s"),
        ] {
            assert_eq!(
                ClockRule::parse(text).map(|clock| clock.to_string()).as_deref(),
                Some(form)
            );
        }
        for text in [
            "",
            "0",
            "1:",
            ":30",
            "+1:30",
            "1:2:3",
            "0s",
            "0/10s",
            "x/10s",
            "/10s",
            "10s+",
            "+1s",
            "25h",
            "100000/1s",
        ] {
            assert_eq!(ClockRule::parse(text), None, "{text}");
        }
    }

    #[test]
    fn time_runs_and_comes_again() {
        let rule = ClockRule::parse("2/10s+1s").unwrap();
        let left = |took: &[u64]| {
            let TimeLeft { time_us, moves_to_go } = rule.left(took.iter().map(|s| s * 1_000_000));
            (time_us / 1_000_000, moves_to_go)
        };
        assert_eq!(left(&[]), (10, Some(2)));
        assert_eq!(left(&[4]), (7, Some(1)));
        assert_eq!(left(&[4, 3]), (15, Some(2)));
        // Beyond its time, within the margin.
        assert_eq!(left(&[4, 8]), (11, Some(2)));
        assert_eq!(left(&[4, 3, 15]), (1, Some(1)));
    }

    proptest! {
        /// The text is a complete form, and time is only used up or added.
        #[test]
        fn a_clock_is_its_form(
            moves in prop::option::of(1..=MOVES_MAX),
            time_us in 1..=TIME_MAX_US,
            increment_us in 0..=TIME_MAX_US,
            took in prop::collection::vec(0..TIME_MAX_US, 0..50),
        ) {
            let rule = ClockRule { moves, time_us, increment_us };
            prop_assert_eq!(ClockRule::parse(&rule.to_string()), Some(rule));
            // The slow reference: move by move, with the time as a signed number.
            let mut left = i128::from(time_us);
            for (index, took) in took.iter().enumerate() {
                left = (left - i128::from(*took)).max(0) + i128::from(increment_us);
                if moves.is_some_and(|moves| (index + 1) % moves as usize == 0) {
                    left += i128::from(time_us);
                }
            }
            prop_assert_eq!(i128::from(rule.left(took.iter().copied()).time_us), left);
            prop_assert!(rule.left(took).moves_to_go.is_none_or(|to_go| to_go > 0));
        }
    }
}
