//! Alternates between timed and untimed games: timed ones need the quiet (exclusive) slots while no other
//! game is played.
//!
//! A kind's turn ends when none of its games wait, or when it has had more than its share of the time in
//! which both waited. Then none of its games begin, and the other kind follows once its last game is over.
//! Long games can make a turn too long: the excess is credited to the other kind at its next turn.

use crate::scheduler::Time;

/// Lead over the other kind that ends a turn: long beside the end of a turn, at which slots stand idle; short
/// beside a wait that a user would notice.
pub(super) const TURN_MS: u64 = 5_000;

/// The kinds of games that wait for a slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) timed: bool,
    pub(super) untimed: bool,
}

/// The turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// Whether it is the timed games' turn.
    timed: bool,
    /// Whether the other kind waited at the last check, and when that was.
    contended: bool,
    looked: Time,
    /// How long untimed and timed games have been played while both waited.
    had_ms: [u64; 2],
}

impl Turns {
    /// The kind of games to begin now, if any: timed or untimed. `are_idle` is whether no slot plays.
    pub(super) fn next(&mut self, waiting: Waiting, are_idle: bool, now: Time) -> Option<bool> {
        let waits = |timed: bool| if timed { waiting.timed } else { waiting.untimed };
        if self.contended {
            self.had_ms[usize::from(self.timed)] += now.0.saturating_sub(self.looked.0);
        }
        self.looked = now;
        if are_idle && waits(!self.timed) && (self.is_over() || !waits(self.timed)) {
            self.timed = !self.timed;
        }
        self.contended = waits(!self.timed);
        if !waiting.timed && !waiting.untimed {
            self.had_ms = [0; 2];
        }
        let gives_way = self.contended && self.is_over();
        (waits(self.timed) && !gives_way).then_some(self.timed)
    }

    fn is_over(&self) -> bool {
        let [own_ms, other_ms] =
            [self.timed, !self.timed].map(|timed| self.had_ms[usize::from(timed)]);
        own_ms >= other_ms + TURN_MS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: Waiting = Waiting { timed: true, untimed: true };

    #[test]
    fn a_kind_alone_goes_on_for_ever() {
        for timed in [false, true] {
            let mut turns = Turns::default();
            for now in 0..100 {
                let waiting = Waiting { timed, untimed: !timed };
                let next = turns.next(waiting, now % 7 == 0, Time(now * 1_000));
                assert_eq!(next, Some(timed));
            }
            let none = Waiting { timed: false, untimed: false };
            assert_eq!(turns.next(none, true, Time(100_000)), None);
        }
    }

    #[test]
    fn who_comes_waits_for_a_turn_and_not_for_all_that_was_before() {
        let mut turns = Turns::default();
        let untimed = Waiting { timed: false, untimed: true };
        assert_eq!(turns.next(untimed, true, Time(0)), Some(false));
        assert_eq!(turns.next(untimed, false, Time(900_000)), Some(false));
        assert_eq!(turns.next(BOTH, false, Time(900_000)), Some(false));
        assert_eq!(turns.next(BOTH, false, Time(900_000 + TURN_MS)), None, "it drains");
        assert_eq!(turns.next(BOTH, true, Time(960_000)), Some(true));
        // Credit for the others' excess expires.
        assert_eq!(turns.next(BOTH, false, Time(1_019_000)), Some(true));
        assert_eq!(turns.next(BOTH, false, Time(1_020_000 + TURN_MS)), None);
        assert_eq!(turns.next(BOTH, true, Time(1_020_000 + TURN_MS)), Some(false));
    }

    #[test]
    fn a_turn_without_games_ends_at_once() {
        let mut turns = Turns::default();
        assert_eq!(turns.next(BOTH, true, Time(0)), Some(false));
        let timed = Waiting { timed: true, untimed: false };
        assert_eq!(turns.next(timed, false, Time(1)), None, "others are still played");
        assert_eq!(turns.next(timed, true, Time(2)), Some(true));
    }

    #[test]
    fn nothing_is_owed_once_nothing_waits() {
        let mut turns = Turns::default();
        assert_eq!(turns.next(BOTH, true, Time(0)), Some(false));
        assert_eq!(turns.next(BOTH, false, Time(60_000)), None, "it drains");
        let none = Waiting { timed: false, untimed: false };
        assert_eq!(turns.next(none, true, Time(60_000)), None);
        assert_eq!(turns.next(BOTH, true, Time(70_000)), Some(false));
    }

    /// Whatever games take, each kind gets half of the time, give or take a turn and a game.
    #[test]
    fn both_get_the_same_time() {
        for [other_ms, timed_ms] in [[10, 10], [10, 60_000], [120_000, 50], [7_000, 9_000]] {
            let mut turns = Turns::default();
            let (mut now, mut had) = (0, [0_u64; 2]);
            while now < 10_000_000 {
                let timed = turns.next(BOTH, true, Time(now)).expect("both wait");
                let took = if timed { timed_ms } else { other_ms };
                assert_ne!(turns.next(BOTH, false, Time(now)), Some(!timed));
                now += took;
                had[usize::from(timed)] += took;
                let slack = TURN_MS + other_ms + timed_ms;
                assert!(had[0].abs_diff(had[1]) <= slack, "{had:?}");
            }
        }
    }
}
