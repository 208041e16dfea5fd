//! What holds whatever happens, and in whatever order: the bench judges every step, and in the end
//! nothing may be left.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use spelrum_scheduling::worker::{CallId, Event, Failure};

use super::bench::{Bench, RESULTS_MAX};

/// Long enough for every wait, and every patience, to be over.
const CALM_MS: u64 = 30 * 60_000;

/// Something happens; `which` and `how` are chance.
fn happen(bench: &mut Bench, action: u8, choice: u32, detail: u32) {
    let calls: Vec<CallId> = bench.under_way.keys().copied().collect();
    let call = calls.get(choice as usize % calls.len().max(1)).copied();
    match (action, call) {
        (0..=5, Some(call)) => {
            bench.results_max = 1 + choice as usize % RESULTS_MAX;
            bench.grants_lost = choice.is_multiple_of(3);
            let asks = [None, Some("pentago"), Some("draughts")][detail as usize % 3];
            bench.asks_for_speed = asks.map(str::to_owned).filter(|_| bench.scales);
            bench.answer(call, u64::from(detail % 40));
        }
        (6, Some(call)) => bench.fail(call, Failure::Away { retry_after_ms: None }),
        (7, Some(call)) => bench.fail(call, Failure::TimedOut),
        (8, Some(call)) => bench.fail(call, Failure::SayHello),
        (9, Some(call)) => {
            let is_hello = bench
                .pending_call(|request| matches!(request, spelrum_scheduling::worker::Call::Hello));
            if is_hello != Some(call) {
                bench.fail(call, Failure::Refused { problem: "by chance".into() });
            }
        }
        (10, Some(call)) => bench.answer_in_part(call, detail as usize),
        (11, Some(call)) => bench.drop_some(call, detail),
        (11, None) | (20, _) => {
            bench.calibrate(detail.is_multiple_of(2).then_some(u64::from(choice)))
        }
        (12, _) if choice.is_multiple_of(2) => bench.handle(Event::Changed),
        (12, _) => bench.change_database(),
        (13..=20, _) => {
            // Some are so large that the outbox is full of a few.
            let bytes =
                if detail.is_multiple_of(4) { 4 << 20 } else { 1 + (detail as usize >> 12) };
            let took = Duration::from_millis(u64::from(detail % 1_500));
            bench.play(choice as usize % 3, bytes, took);
        }
        (21..=26, _) => bench.wait(u64::from(detail % 700)),
        _ => bench.wait(u64::from(detail % 20_000)),
    }
}

fn course() -> impl Strategy<Value = Vec<(u8, u32, u32)>> {
    vec((0..28_u8, any::<u32>(), any::<u32>()), 0..400)
}

proptest! {
    /// Every result is acknowledged, and every lease ends.
    #[test]
    fn nothing_is_left_when_the_coordinator_is_well_again(
        course in course(),
        quiet in 0..=3_u32,
        scales in any::<bool>(),
    ) {
        let mut bench = Bench::with_quiet(3, quiet, false);
        bench.scales = scales;
        for (action, choice, detail) in course {
            happen(&mut bench, action, choice, detail);
        }
        bench.asks_for_speed = None;
        prop_assert!(bench.calms_down(CALM_MS), "{:?}", bench.machine.leases());
        prop_assert!(bench.owed.is_empty(), "{:?}", bench.owed);
        prop_assert_eq!(bench.forgotten_lease(), None);
        prop_assert!(!bench.has_ended);
    }

    /// Told to finish, a worker reports all it has; told to end now, it ends in any case.
    #[test]
    fn a_worker_ends(course in course(), end_at in 0..400_usize, now in any::<bool>(), quiet in 0..=3_u32) {
        let mut bench = Bench::with_quiet(3, quiet, false);
        bench.scales = end_at.is_multiple_of(2);
        let mut course = course.into_iter();
        for (action, choice, detail) in course.by_ref().take(end_at) {
            happen(&mut bench, action, choice, detail);
        }
        bench.is_ending = true;
        bench.handle(if now { Event::EndNow } else { Event::Finish });
        if now {
            for (action, choice, detail) in course {
                happen(&mut bench, action, choice, detail);
            }
            bench.wait(2_000);
            prop_assert!(bench.has_ended);
        } else {
            prop_assert!(bench.calms_down(CALM_MS));
            prop_assert!(bench.has_ended && bench.owed.is_empty(), "{:?}", bench.owed);
            prop_assert_eq!(bench.forgotten_lease(), None);
        }
        bench.wait(60_000);
        prop_assert_eq!(bench.machine.next_deadline(), None);
    }

    /// A coordinator that is away for ever keeps nobody from ending.
    #[test]
    fn a_worker_that_nobody_hears_ends(course in course()) {
        let mut bench = Bench::new(3, false);
        for (action, choice, detail) in course {
            happen(&mut bench, action, choice, detail);
        }
        bench.is_ending = true;
        bench.handle(Event::Finish);
        for _ in 0..1_000 {
            (0..3).for_each(|slot| bench.play(slot, 1, Duration::ZERO));
            while let Some((&call, _)) = bench.under_way.first_key_value() {
                bench.fail(call, Failure::Away { retry_after_ms: None });
            }
            bench.wait(100);
        }
        prop_assert!(bench.has_ended);
    }
}
