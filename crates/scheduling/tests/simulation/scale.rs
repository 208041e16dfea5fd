//! What must not grow with games or cells.

use spelrum_model::demands::Offer;
use spelrum_model::{CellId, ExperimentId, GameId, SchedulingSettings, WorkerId};
use spelrum_scheduling::scheduler::{
    CellState, Effect, Event, Policy, Report, Scheduler, Snapshot, Time,
};
use spelrum_scheduling::stopping::Points;

/// A hundred million games in as many cells as an experiment may have: a lease and its results
/// change the durable state of one cell each, and a result changes none.
#[test]
fn a_hundred_million_games_are_durable_in_a_few_ranges() {
    let mut scheduler = Scheduler::restore(Snapshot::default(), Policy::default(), Time(0));
    let cells = (0..100_000).map(|id| CellState::new(CellId(id), 1_000)).collect();
    let submit = Event::Submitted {
        experiment: ExperimentId(1),
        settings: SchedulingSettings::default(),
        open: false,
        cells,
        attempts: Vec::new(),
    };
    assert_eq!(scheduler.handle(submit, Time(0)), []);
    assert_eq!(scheduler.take_changes().cells, []);

    let worker = WorkerId(1);
    for round in 0..100 {
        let effects = scheduler.handle(
            Event::LeaseWanted {
                worker,
                slots: 8,
                quiet_slots: 0,
                memory_bytes: None,
                offer: Offer::default(),
                trains: true,
                verifies: true,
            },
            Time(round),
        );
        let [Effect::Grant { lease, ranges, .. }] = effects.as_slice() else {
            panic!("{effects:?}")
        };
        let changes = scheduler.take_changes();
        assert!(changes.cells.len() <= ranges.len());
        assert!(changes.cells.iter().all(|cell| cell.returned.is_empty()));
        for range in ranges {
            let game = GameId { cell: range.cell, number: range.first };
            let report = Report::Played {
                wall_us: 100_000,
                points: Points::Half,
                moves_hash: 0,
                forfeit: None,
            };
            let lease = *lease;
            let report =
                Event::Reported { worker, lease, game, report, settled: false, leased: true };
            scheduler.handle(report, Time(round));
        }
        assert_eq!(scheduler.take_changes().cells, []);
        scheduler.handle(Event::GivenBack { worker, lease: *lease }, Time(round));
    }
    scheduler.assert_consistent();
}
