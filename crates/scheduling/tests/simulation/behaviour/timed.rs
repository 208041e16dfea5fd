//! Leases of timed games are for quiet slots.

use proptest::prelude::*;
use spelrum_model::demands::Offer;
use spelrum_model::{
    CellId, ExperimentId, ExperimentState, GameId, LeaseId, SchedulingSettings, WorkerId,
};
use spelrum_scheduling::scheduler::{
    CellState, Effect, Event, ExperimentSnapshot, Policy, Report, Scheduler, Snapshot, Time,
};
use spelrum_scheduling::stopping::Points;

const CELL: CellId = CellId(10);

/// With one cell of many games.
fn scheduler(timed: bool) -> Scheduler {
    scheduler_with_cells(vec![CellState { timed, ..CellState::new(CELL, 100_000) }])
}

fn scheduler_with_cells(cells: Vec<CellState>) -> Scheduler {
    let experiment = ExperimentSnapshot {
        experiment: ExperimentId(1),
        settings: SchedulingSettings::default(),
        state: ExperimentState::Running,
        open: false,
        cells,
    };
    let snapshot = Snapshot { experiments: vec![experiment], ..Snapshot::default() };
    Scheduler::restore(snapshot, Policy::default(), Time(0))
}

fn wants(worker: WorkerId, slots: u32, quiet_slots: u32) -> Event {
    Event::LeaseWanted {
        worker,
        slots,
        quiet_slots,
        memory_bytes: None,
        offer: Offer::default(),
        trains: true,
        verifies: true,
    }
}

/// How many games a worker of eight slots gets.
fn games(scheduler: &mut Scheduler, quiet_slots: u32) -> u64 {
    match scheduler.handle(wants(WorkerId(1), 8, quiet_slots), Time(0)).pop() {
        Some(Effect::Grant { ranges, .. }) => ranges.iter().map(|range| range.count).sum(),
        effect => panic!("{effect:?} is not a lease"),
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
            report: Report::Played {
                wall_us: 100_000,
                points: Points::Half,
                moves_hash: 0,
                forfeit: None,
            },
            settled: false,
            leased: true,
        };
        scheduler.handle(played, Time(0));
        assert_eq!(games(&mut scheduler, quiet_slots), 40 * playing, "{timed}, {quiet_slots}");
    }
}

/// What each of so many equal workers plays of one timed cell, if each asks again when it has played what it got.
fn played_by_each(workers: i64, games: u64, timed: bool, start: u64) -> Vec<u64> {
    let cell = CellState { timed, ..CellState::new(CELL, games) };
    let mut scheduler = scheduler_with_cells(vec![cell]);
    let mut played = vec![0; usize::try_from(workers).unwrap()];
    // All have called before.
    for worker in 1..=workers {
        let (leases, playing) = (Vec::new(), Vec::new());
        scheduler.handle(Event::Heartbeat { worker: WorkerId(worker), leases, playing }, Time(0));
    }
    let mut turn = i64::try_from(start % workers.unsigned_abs()).unwrap();
    loop {
        let worker = WorkerId(turn % workers + 1);
        turn += 1;
        let Some(Effect::Grant { lease, ranges, .. }) =
            scheduler.handle(wants(worker, 1, 0), Time(0)).pop()
        else {
            return played;
        };
        for range in ranges {
            assert!(range.first % 2 == 0 && range.count % 2 == 0, "a pair is parted: {range:?}");
            played[usize::try_from(worker.0 - 1).unwrap()] += range.count;
            for number in range.first..range.end() {
                let game = GameId { cell: CELL, number };
                let report = Report::Played {
                    wall_us: 1,
                    points: Points::Half,
                    moves_hash: 0,
                    forfeit: None,
                };
                let (settled, leased) = (false, true);
                let reported = Event::Reported { worker, lease, game, report, settled, leased };
                scheduler.handle(reported, Time(0));
            }
        }
    }
}

proptest! {
    /// No worker plays more of a timed cell than its part and half as much again, up to two pairs.
    #[test]
    fn a_timed_cell_is_played_by_all(workers in 2_i64..9, pairs in 1_u64..400, start in 0_u64..9) {
        let games = 2 * pairs;
        let played = played_by_each(workers, games, true, start);
        prop_assert_eq!(played.iter().sum::<u64>(), games);
        let part = games as f64 / workers as f64;
        let most = *played.iter().max().unwrap() as f64;
        prop_assert!(most <= 1.5 * part + 4.0, "{:?} of {}", played, games);
    }
}

/// What is not timed comes out the same whoever plays it: a lease has as much of it as there is room for.
#[test]
fn a_cell_that_is_not_timed_may_be_one_workers() {
    let played = played_by_each(4, 8, false, 0);
    assert_eq!(played.iter().sum::<u64>(), 8);
    let [first, ..] = played_by_each(2, 8, true, 0)[..] else { panic!("two") };
    assert_eq!(first, 4, "in turn, a pair at once");
}
