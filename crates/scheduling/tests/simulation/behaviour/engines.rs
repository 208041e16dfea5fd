//! Cells whose games need engines go to workers that have them.

use std::sync::Arc;

use spelrum_model::demands::Demands;
use spelrum_model::wanted::Wanted;
use spelrum_model::{CellId, ExperimentId, ExperimentState, SchedulingSettings, WorkerId};
use spelrum_scheduling::scheduler::{
    CellState, Event, ExperimentSnapshot, Policy, Scheduler, Snapshot, Time,
};

use crate::engines::{everything, need};
use crate::script::check;

/// What nobody who asks can play holds nothing else up, and is not done.
#[test]
fn a_worker_gets_no_cell_whose_engines_it_lacks() {
    check(
        "10 plays fish                  ->
         11 plays bird fish             ->
         submit e1 10x2 11x2 12x2       ->
         w1 wants 1                     -> lease 1: 12:0-1
         w1 played 1/12:0-1             -> counts, counts
         w1 wants 1                     -> wait
         w2 wants 1 with bird           -> wait
         w3 wants 1 with fish           -> lease 2: 10:0-1
         w3 wants 1 with fish           -> wait
         w4 wants 1 with bird fish      -> lease 3: 11:0-1
         w3 failed 2/10:1               -> noted
         w1 wants 1                     -> wait
         w4 wants 1 with bird fish      -> lease 4: 10:1",
    );
}

#[test]
fn an_engine_that_plays_itself_is_needed_twice() {
    check(
        "10 plays fish fish             ->
         submit e1 10x2                 ->
         w1 wants 1 with fish           -> wait
         w2 wants 1 with fish fish      -> lease 1: 10:0-1",
    );
}

#[test]
fn another_experiment_is_served_where_engines_for_the_first_are_missing() {
    check(
        "10 plays fish                  ->
         submit e1 10x2 priority 7      ->
         submit e2 20x2                 ->
         w1 wants 1 with bird           -> lease 1: 20:0-1
         w1 wants 1 with bird           -> wait
         w1 wants 1 with fish           -> lease 2: 10:0-1",
    );
}

/// Games that are leased alone, and suspects, need their engines too.
#[test]
fn games_that_were_lost_need_their_engines() {
    check(
        "10 plays fish                  ->
         submit e1 10x2 11x2            ->
         w1 wants 1 with fish           -> lease 1: 10:0-1
         w1 beats 1 playing 10:0        ->
         30s pass                       ->
         w1 wants 1 with fish           -> lease 2: 10:0-1
         w1 beats 2 playing 10:0        ->
         30s pass                       ->
         w2 wants 1                     -> lease 3: 11:0-1
         w2 played 3/11:0-1             -> counts, counts
         w2 wants 1                     -> wait
         w3 wants 1 with fish           -> lease 4: 10:0
         w3 beats 4 playing 10:0        ->
         30s pass                       ->
         w3 wants 1 with fish           -> lease 5: 10:0
         w3 beats 5 playing 10:0        ->
         30s pass                       ->
         w2 wants 1                     -> wait
         w3 wants 1 with fish           -> lease 6: 10:0
         w3 wants 1 with fish           -> lease 7: 10:1
         w2 wants 1                     -> wait",
    );
}

#[test]
fn needs_outlast_a_restart() {
    check(
        "10 plays fish                  ->
         submit e1 10x2                 ->
         restart                        ->
         w1 wants 1                     -> wait
         w1 wants 1 with fish           -> lease 1: 10:0-1",
    );
}

type Needs = Option<Arc<Demands>>;

/// With cells that need these engines and take so much memory.
fn scheduler(cells: &[(i64, &Needs, u64)]) -> Scheduler {
    let state = |&(id, demands, memory_bytes): &(i64, &Needs, u64)| {
        let demands = demands.clone();
        CellState { demands, memory_bytes, ..CellState::new(CellId(id), 2) }
    };
    let experiment = ExperimentSnapshot {
        experiment: ExperimentId(1),
        settings: SchedulingSettings::default(),
        state: ExperimentState::Running,
        open: false,
        cells: cells.iter().map(state).collect(),
    };
    let snapshot = Snapshot { experiments: vec![experiment], ..Snapshot::default() };
    Scheduler::restore(snapshot, Policy::default(), Time(0))
}

/// By what is needed and not by who shares it; what is leased or needs nothing waits for nobody.
#[test]
fn what_waits_for_engines_is_summed_up() {
    let demand_engines = |names: &[&str]| {
        let engines = names.iter().map(|name| need(name, None)).collect();
        Some(Arc::new(Demands { engines, ..Demands::default() }))
    };
    let [fish, again, bird] =
        [demand_engines(&["fish"]), demand_engines(&["fish"]), demand_engines(&["bird"])];
    let cells = [(1, &None, 9), (2, &fish, 7), (3, &bird, 7), (4, &again, 7), (5, &fish, 8)];
    let mut scheduler = scheduler(&cells);
    let wanted = |cell, cells, demands: &Needs, memory_bytes| Wanted {
        experiment: ExperimentId(1),
        cell: CellId(cell),
        cells,
        demands: demands.clone().unwrap(),
        memory_bytes,
    };
    assert_eq!(
        scheduler.wanted(),
        [wanted(3, 1, &bird, 7), wanted(2, 2, &fish, 7), wanted(5, 1, &fish, 8)]
    );
    let (worker, offer) = (WorkerId(1), everything());
    let wants = Event::LeaseWanted {
        worker,
        slots: 64,
        quiet_slots: 0,
        memory_bytes: Some(64 * 7),
        offer,
        trains: true,
        verifies: true,
    };
    scheduler.handle(wants, Time(0));
    assert_eq!(scheduler.wanted(), [wanted(5, 1, &fish, 8)]);
    assert_eq!(scheduler.largest_waiting(), [(ExperimentId(1), CellId(1), 9)]);
}
