//! Calls that wait, since the coordinator stands still or cannot keep up.

use spelrum_model::demands::Offer;
use spelrum_model::{CellId, ExperimentId, ExperimentState, LeaseId, SchedulingSettings, WorkerId};
use spelrum_scheduling::scheduler::{
    CellState, Effect, Event, ExperimentSnapshot, Policy, Scheduler, Snapshot, Time,
};

use crate::script::check;

const WORKER: WorkerId = WorkerId(1);

/// With one cell of two games.
fn scheduler() -> Scheduler {
    let cell = CellState::new(CellId(10), 2);
    let experiment = ExperimentSnapshot {
        experiment: ExperimentId(1),
        settings: SchedulingSettings::default(),
        state: ExperimentState::Running,
        open: false,
        cells: vec![cell],
    };
    let experiments = vec![experiment];
    let snapshot = Snapshot { experiments, ..Snapshot::default() };
    Scheduler::restore(snapshot, Policy::default(), Time(0))
}

/// Whoever could not be heard was not silent; who says nothing afterwards is.
#[test]
fn a_coordinator_that_stood_still_blames_nobody() {
    check(
        "submit e1 10x2            ->
         w1 wants 1                -> lease 1: 10:0-1
         w1 beats 1 playing 10:0   ->
         20s pass                  ->
         90s stall                 ->
         9s pass                   ->
         w1 beats 1 playing 10:0   ->
         29s pass                  ->
         w1 played 1/10:0          -> counts
         40s stall                 ->
         1s passes                 ->
         w1 beats 1                -> drop 1
         w2 wants 1                -> lease 2: 10:1",
    );
}

/// One that waited in the meantime must not take time away again.
#[test]
fn a_heartbeat_never_shortens_a_lease() {
    let mut scheduler = scheduler();
    let wants = Event::LeaseWanted {
        worker: WORKER,
        slots: 1,
        quiet_slots: 0,
        memory_bytes: None,
        offer: Offer::default(),
        trains: true,
        verifies: true,
    };
    scheduler.handle(wants, Time(0));
    scheduler.begin_turn(Time(0), 90_000);
    let leases = vec![LeaseId(1)];
    let beat = Event::Heartbeat { worker: WORKER, leases, playing: Vec::new() };
    let drop = [Effect::Drop { worker: WORKER, leases: Vec::new() }];
    assert_eq!(scheduler.handle(beat.clone(), Time(1_000)), drop);
    assert_eq!(scheduler.handle(beat, Time(119_999)), drop);
}

/// What is granted lives from the answer on, and not from when it was asked for.
#[test]
fn a_lease_lives_from_the_turn_that_grants_it() {
    let mut scheduler = scheduler();
    scheduler.begin_turn(Time(15_000), 0);
    let wants = Event::LeaseWanted {
        worker: WORKER,
        slots: 1,
        quiet_slots: 0,
        memory_bytes: None,
        offer: Offer::default(),
        trains: true,
        verifies: true,
    };
    scheduler.handle(wants, Time(1_000));
    assert_eq!(scheduler.next_deadline(), Some(Time(45_000)));
}
