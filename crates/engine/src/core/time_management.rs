//! Time management: the time that a player with a clock gives one move.
//!
//! The classical rule: an equal share of the time left for each move up to the next session (Hyatt 1984, "Using Time
//! Wisely", ICCA Journal 7(1)); where the time is for the whole game, the number of moves still to make is unknown, and
//! a constant stands for it (Huang, Coulom and Lin 2010, "Time Management for Monte-Carlo Tree Search Applied to the
//! Game of Go"). Most of the increment is added, which the next move brings back, and a reserve is never planned.

use super::parameters::TimeLeft;

/// Moves that the time left is divided among where it is for the whole game.
const MOVES_TO_GO: u64 = 30;

/// The reserve for what no search decides: a fixed time, and a share of the time left (a twentieth).
const RESERVE_US: u64 = 5_000;
const RESERVE_SHARE: u64 = 20;

/// The time for a move, in microseconds, given the time left before it and the increment after it.
///
/// At least 1; otherwise at most the time left without its reserve, which is the smaller of half of it, and a twentieth
/// of it with 5 ms.
#[must_use]
pub fn time_for_move_us(left: TimeLeft, increment_us: u64) -> u64 {
    let TimeLeft { time_us, moves_to_go } = left;
    let reserve_us = (time_us / RESERVE_SHARE + RESERVE_US).min(time_us / 2);
    let usable_us = time_us - reserve_us;
    let moves = moves_to_go.map_or(MOVES_TO_GO, u64::from).max(1);
    let most_of_increment_us = increment_us - increment_us / 4;
    (usable_us / moves).saturating_add(most_of_increment_us).min(usable_us).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::core::parameters::ClockRule;

    fn planned_us(time_us: u64, moves_to_go: Option<u32>, increment_us: u64) -> u64 {
        time_for_move_us(TimeLeft { time_us, moves_to_go }, increment_us)
    }

    #[test]
    fn a_move_gets_its_share_and_most_of_the_increment() {
        // 60 s: 56.995 s are usable.
        assert_eq!(planned_us(60_000_000, None, 0), 56_995_000 / 30);
        assert_eq!(planned_us(60_000_000, Some(40), 0), 56_995_000 / 40);
        assert_eq!(planned_us(60_000_000, Some(1), 0), 56_995_000);
        assert_eq!(planned_us(60_000_000, None, 400_000), 56_995_000 / 30 + 300_000);
        // An increment does not count before it has come.
        assert_eq!(planned_us(100_000, None, 2_000_000), 90_000);
        assert_eq!([0, 1, 2, 3].map(|us| planned_us(us, None, 0)), [1, 1, 1, 1]);
    }

    proptest! {
        #[test]
        fn the_reserve_is_never_planned(
            time_us in 0_u64..1 << 40,
            moves_to_go in prop::option::of(1_u32..10_000),
            increment_us in 0_u64..1 << 40,
        ) {
            let planned = planned_us(time_us, moves_to_go, increment_us);
            let reserve = (time_us / 20 + 5_000).min(time_us / 2);
            prop_assert!(planned >= 1);
            prop_assert!(planned <= (time_us - reserve).max(1));
        }

        #[test]
        fn more_time_is_never_less_for_a_move(
            time_us in 0_u64..1 << 40,
            more_us in 0_u64..1 << 40,
            moves_to_go in prop::option::of(1_u32..10_000),
            increment_us in 0_u64..1 << 40,
        ) {
            let planned = |time_us| planned_us(time_us, moves_to_go, increment_us);
            prop_assert!(planned(time_us) <= planned(time_us + more_us));
        }

        #[test]
        fn a_player_that_keeps_to_its_plan_has_time_for_every_move(
            moves in prop::option::of(1_u32..60),
            time_us in 100_u64..1 << 36,
            increment_us in 0_u64..1 << 30,
        ) {
            let rule = ClockRule { moves, time_us, increment_us };
            let mut took = Vec::new();
            for _ in 0..200 {
                let left = rule.left(took.iter().copied());
                let planned = time_for_move_us(left, increment_us);
                prop_assert!(planned <= left.time_us.max(1));
                took.push(planned);
            }
        }
    }
}
