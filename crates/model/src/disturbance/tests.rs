use proptest::prelude::*;
use spelrum_engine::{EndedBy, SearchReport};

use super::*;

fn mv(mover: u8, wall_us: u64, cpu_us: u64) -> MoveRecord {
    MoveRecord {
        mover,
        mv: "a1".to_owned(),
        position_key: 1,
        legal_moves: 2,
        search: SearchReport { ended_by: EndedBy::Time, ..SearchReport::UNKNOWN },
        wall_us,
        cpu_us,
        involuntary_switches: None,
        remarks: None,
    }
}

#[test]
fn the_floor_is_of_each_move_and_what_exceeds_it_counts_whole() {
    let share = |moves: &[(u64, u64)]| {
        let moves: Vec<_> = moves.iter().map(|&(wall, cpu)| mv(0, wall, cpu)).collect();
        robbed_share(&moves, [true; 2]).unwrap()
    };
    assert_eq!(share(&[]), 0.0);
    assert_eq!(share(&[(0, 0)]), 0.0);
    // Half of a short move may be work of the process that plays it.
    assert_eq!(share(&[(2 * FLOOR_US, FLOOR_US)]), 0.0);
    assert_eq!(share(&[(200, 99)]), 101.0 / 200.0);
    // A thousand such moves are not disturbed either.
    assert_eq!(share(&vec![(2 * FLOOR_US, FLOOR_US); 1_000]), 0.0);
    // One of two moves of 10 ms has waited for 4 ms.
    assert_eq!(share(&[(10_000, 9_990), (10_000, 6_000)]), 0.2);
    // A player with threads uses more CPU time than wall time: the excess offsets nothing.
    assert_eq!(share(&[(10_000, 40_000), (10_000, 6_000)]), 0.2);
    assert_eq!(share(&[(u64::MAX, 0), (u64::MAX, 0)]), 1.0);
}

#[test]
fn who_thinks_elsewhere_tells_nothing() {
    let moves = [mv(0, 10_000, 9_999), mv(1, 10_000, 3)];
    assert_eq!(robbed_share(&moves, [true, true]), Some(0.9997));
    assert_eq!(robbed_share(&moves, [true, false]), Some(0.0));
    assert_eq!(robbed_share(&moves, [false, false]), None);
    assert!(
        is_lost_time_known("alpha-beta")
            && !is_lost_time_known("uci")
            && !is_lost_time_known("gtp")
    );
}

proptest! {
    /// The slow reference: player by player, in exact numbers.
    #[test]
    fn shares_are_those_of_sums(
        moves in prop::collection::vec((0u8..2, 0u64..1 << 40, 0u64..1 << 40), 0..50),
        near in prop::collection::vec((0u8..2, 0u64..400, 0u64..400), 0..50),
        has_cpu_times in any::<[bool; 2]>(),
    ) {
        let moves: Vec<_> =
            moves.into_iter().chain(near).map(|(mover, wall, cpu)| mv(mover, wall, cpu)).collect();
        let mut greatest: Option<(u128, u128)> = None;
        for player in [0, 1] {
            if !has_cpu_times[usize::from(player)] {
                continue;
            }
            let (mut wall, mut robbed) = (0u128, 0u128);
            for mv in &moves {
                if mv.mover == player {
                    wall += u128::from(mv.wall_us);
                    if mv.wall_us > mv.cpu_us + FLOOR_US {
                        robbed += u128::from(mv.wall_us - mv.cpu_us);
                    }
                }
            }
            // An empty share is the least there is.
            let (robbed, wall) = if wall == 0 { (0, 1) } else { (robbed, wall) };
            if greatest.is_none_or(|(robbed_most, wall_most)| robbed * wall_most > robbed_most * wall) {
                greatest = Some((robbed, wall));
            }
        }
        let share = robbed_share(&moves, has_cpu_times);
        prop_assert_eq!(share.is_some(), greatest.is_some());
        if let (Some(share), Some((robbed, wall))) = (share, greatest) {
            prop_assert!((0.0..=1.0).contains(&share));
            prop_assert!((share - robbed as f64 / wall as f64).abs() < 1e-12);
        }
    }

    /// Taking more time from a player makes no game less disturbed.
    #[test]
    fn time_that_is_taken_disturbs(
        moves in prop::collection::vec((0u8..2, 0u64..100_000, 0u64..100_000), 1..30),
        at in any::<prop::sample::Index>(),
        taken_us in 1u64..10_000,
    ) {
        let mut moves: Vec<_> =
            moves.into_iter().map(|(mover, wall, cpu)| mv(mover, wall.max(cpu), cpu)).collect();
        let before = robbed_share(&moves, [true; 2]).unwrap();
        at.get_mut(&mut moves[..]).cpu_us = at.get(&moves[..]).cpu_us.saturating_sub(taken_us);
        prop_assert!(robbed_share(&moves, [true; 2]).unwrap() >= before);
    }
}
