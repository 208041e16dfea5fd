//! Overruns of time limits, by the cost of nodes: only nodes advance the clock here.

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::*;
use spelrum_engine::search::{Budget, Limits, Stop};
use spelrum_engine::{EndedBy, Host};

/// A clock that others set.
#[derive(Default)]
struct Set {
    now: Cell<Duration>,
    readings: Cell<u64>,
}

impl Host for Set {
    fn wall(&self) -> Duration {
        self.readings.set(self.readings.get() + 1);
        self.now.get()
    }

    fn cpu(&self) -> Duration {
        Duration::ZERO
    }
}

/// What the budget promises while nodes cost the same.
const OVERRUN_MAX: Duration = Duration::from_micros(50);

/// The most nodes between two looks.
const NODES_MAX: u32 = 256;

fn budget<'h>(time: Duration, host: &'h Set) -> Budget<'h> {
    let move_time_us = Some(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    Budget::new(&Limits { move_time_us, ..Limits::default() }, host)
}

/// Makes nodes, of which each costs what is said of its number, until the time is up: by how much
/// it is overrun, after how many nodes, with how many readings of the clock.
fn run(time: Duration, cost: impl Fn(u64) -> Duration) -> (Duration, u64, u64) {
    let host = Set::default();
    let mut budget = budget(time, &host);
    let stop = loop {
        if let Err(stop) = budget.enter() {
            break stop;
        }
        host.now.set(host.now.get() + cost(budget.nodes()));
    };
    assert_eq!(stop, Stop::Limit(EndedBy::Time));
    (host.now.get().saturating_sub(time), budget.nodes(), host.readings.get())
}

/// From 0.1 microseconds to a millisecond.
fn costs() -> impl Strategy<Value = Duration> {
    (100_u64..=1_000, 0_u32..4)
        .prop_map(|(ns, digits)| Duration::from_nanos(ns * 10_u64.pow(digits)))
}

#[test]
fn cheap_nodes_are_not_held_up_by_the_clock() {
    let (over, nodes, readings) = run(Duration::from_secs(1), |_| Duration::from_nanos(100));
    assert!(over <= Duration::from_nanos(25_600), "{over:?}");
    assert!(readings <= nodes / u64::from(NODES_MAX) + 10, "{readings} for {nodes} nodes");
}

#[test]
fn nodes_of_100_us_overrun_a_limit_by_one_of_them() {
    for time_ms in [1, 10, 33, 1_000] {
        let time = Duration::from_millis(time_ms) - Duration::from_micros(1);
        let (over, ..) = run(time, |_| Duration::from_micros(100));
        assert!(over <= Duration::from_micros(100), "{over:?}");
    }
}

#[test]
fn a_clock_that_stands_still_is_read_seldom() {
    let host = Set::default();
    let mut budget = budget(Duration::from_secs(1), &host);
    for _ in 0..100_000 {
        assert_eq!(budget.enter(), Ok(()));
    }
    assert!(host.readings.get() <= 100_000 / u64::from(NODES_MAX) + 10);
}

proptest! {
    #[test]
    fn nodes_that_cost_the_same_overrun_little(
        cost in costs(),
        time_us in 1_u64..20_000,
    ) {
        let (over, ..) = run(Duration::from_micros(time_us), |_| cost);
        prop_assert!(over <= OVERRUN_MAX.max(cost), "{over:?} by nodes of {cost:?}");
    }

    /// Nodes that become costly of a sudden are noticed at the first look after that: until then
    /// there are as many of them as there would have been of the cheap ones.
    #[test]
    fn a_sudden_change_overruns_by_one_interval_at_most(
        cheap in costs(),
        costly in costs(),
        changed_after in 0_u64..3_000,
        time_us in 1_u64..20_000,
    ) {
        let time = Duration::from_micros(time_us);
        let cost = |node| if node > changed_after { costly } else { cheap };
        let (over, nodes, _) = run(time, cost);
        let interval = (OVERRUN_MAX.as_nanos() / cheap.as_nanos()).clamp(1, NODES_MAX.into()) as u32;
        let slowest = cheap.max(costly);
        prop_assert!(over <= OVERRUN_MAX.max(slowest * interval), "{over:?}");
        // Where the change came before the last interval, it is as if there had been none.
        if nodes > changed_after + 2 * u64::from(NODES_MAX) {
            prop_assert!(over <= OVERRUN_MAX.max(costly), "{over:?}");
        }
    }

    /// Whatever nodes cost, the recorded count stops a replay at the same place, where no clock
    /// is read.
    #[test]
    fn a_replay_stops_where_the_clock_did(
        costs in prop::collection::vec(costs(), 1..20),
        phase in 1_u64..400,
        together in 1_u32..50,
        time_us in 1_u64..20_000,
    ) {
        let host = Set::default();
        let mut timed = budget(Duration::from_micros(time_us), &host);
        while timed.enter_many(together).is_ok() {
            let cost = costs[(timed.nodes() / phase) as usize % costs.len()];
            host.now.set(host.now.get() + cost * together);
        }
        let host = Set::default();
        let limits = Limits { move_time_us: Some(time_us), ..Limits::default() };
        let mut replayed = Budget::replay(&limits, &host, Some(timed.nodes()));
        while replayed.enter_many(together).is_ok() {}
        prop_assert_eq!(replayed.nodes(), timed.nodes());
        prop_assert_eq!(host.readings.get(), 0);
    }
}
