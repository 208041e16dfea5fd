//! Leases of timed games are for quiet slots.

use spelrum_tournament::demands::Offer;
use spelrum_tournament::scheduler::{
    Allocation, CellState, Effect, Event, ExperimentSnapshot, ExperimentState, Policy, Report,
    Scheduler, Snapshot, Time,
};
use spelrum_tournament::stopping::Points;
use spelrum_tournament::{CellId, ExperimentId, GameId, LeaseId, WorkerId};

const CELL: CellId = CellId(10);

/// With one cell of many games.
fn scheduler(timed: bool) -> Scheduler {
    let cell = CellState { timed, ..CellState::new(CELL, 100_000) };
    let experiment = ExperimentSnapshot {
        experiment: ExperimentId(1),
        priority: 0,
        allocation: Allocation::Grid,
        state: ExperimentState::Running,
        open: false,
        cells: vec![cell],
    };
    let snapshot = Snapshot { experiments: vec![experiment], ..Snapshot::default() };
    Scheduler::restore(snapshot, Policy::default(), Time(0))
}

/// How many games a worker of eight slots gets.
fn games(scheduler: &mut Scheduler, quiet_slots: u32) -> u64 {
    let wanted = Event::LeaseWanted {
        worker: WorkerId(1),
        slots: 8,
        quiet_slots,
        memory_bytes: None,
        offer: Offer::default(),
        trains: true,
        verifies: true,
    };
    match scheduler.handle(wanted, Time(0)).pop() {
        Some(Effect::Grant { ranges, .. }) => ranges.iter().map(|range| range.count).sum(),
        other => panic!("{other:?} is not a lease"),
    }
}

/// At first a pair for each slot that plays them; once they are measured, a few seconds of these.
#[test]
fn a_lease_of_timed_games_is_sized_by_the_quiet_slots() {
    for (timed, quiet_slots, playing) in [
        (false, 0, 8),
        (false, 2, 8),
        (true, 0, 8),
        (true, 1, 1),
        (true, 2, 2),
        (true, 8, 8),
        (true, 99, 8),
    ] {
        let mut scheduler = scheduler(timed);
        assert_eq!(games(&mut scheduler, quiet_slots), 2 * playing, "{timed}, {quiet_slots}");
        let played = Event::Reported {
            worker: WorkerId(1),
            lease: LeaseId(1),
            game: GameId { cell: CELL, number: 0 },
            what: Report::Played { wall_us: 100_000, points: Points::Half },
            settled: false,
            leased: true,
        };
        scheduler.handle(played, Time(0));
        assert_eq!(games(&mut scheduler, quiet_slots), 40 * playing, "{timed}, {quiet_slots}");
    }
}
