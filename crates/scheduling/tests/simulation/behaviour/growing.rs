//! Sweeps that change: cells come, go, and come back.

use spelrum_model::demands::Offer;

use super::*;

#[test]
fn a_cell_that_is_no_longer_named_is_not_handed_out() {
    check(
        "submit e1 10x4 11x4    ->
         w1 wants 1             -> lease 1: 10:0-1
         submit e1 11x4         ->
         w2 wants 1             -> lease 2: 11:0-1
         w1 returns 1           ->
         restart                ->
         w1 wants 4             -> lease 3: 11:2-3
         w1 wants 4             -> wait
         submit e1 10x4 11x4    ->
         w1 wants 1             -> lease 4: 10:0-1",
    );
}

/// The lease of a cell that is named no longer runs out in the same moment as the sweep names another one: the
/// experiment goes on, and nobody hears that it was finished.
#[test]
fn an_experiment_that_goes_on_was_never_finished() {
    let (experiment, worker) = (ExperimentId(1), WorkerId(1));
    let submitted = |cells| Event::Submitted {
        experiment,
        settings: SchedulingSettings::default(),
        open: false,
        cells,
        attempts: Vec::new(),
    };
    let mut scheduler = Scheduler::restore(Snapshot::default(), Policy::default(), Time(0));
    let first = CellState::new(CellId(10), 2);
    assert_eq!(scheduler.handle(submitted(vec![first.clone()]), Time(0)), []);
    let wanted = Event::LeaseWanted {
        worker,
        slots: 1,
        quiet_slots: 0,
        memory_bytes: None,
        offer: Offer::default(),
        trains: true,
        verifies: true,
    };
    assert!(matches!(scheduler.handle(wanted.clone(), Time(0))[..], [Effect::Grant { .. }]));
    let dropped = CellState { in_sweep: false, next_number: 2, ..first };
    assert_eq!(scheduler.handle(submitted(vec![dropped]), Time(1)), []);
    let another = CellState::new(CellId(11), 2);
    assert_eq!(scheduler.handle(submitted(vec![another]), Time(60_000)), []);
    scheduler.take_changes();
    let granted = scheduler.handle(wanted, Time(60_001));
    assert!(matches!(granted[..], [Effect::Grant { .. }]), "{granted:?}");
}

#[test]
fn what_is_leased_of_it_counts_and_is_waited_for() {
    check(
        "submit e1 10x4 11x2    ->
         w1 wants 1             -> lease 1: 10:0-1
         submit e1 11x2         ->
         w2 wants 1             -> lease 2: 11:0-1
         w2 played 2/11:0-1     -> counts, counts
         w1 played 1/10:0       -> counts
         w1 returns 1           -> e1 finished
         w1 played 1/10:1       -> after cancel
         w1 played 1/10:0       -> again
         submit e1 10x4 11x2    ->
         w1 wants 4             -> lease 3: 10:1 10:2-3",
    );
}

#[test]
fn a_cell_ends_no_earlier_than_what_was_leased() {
    check(
        "submit e1 10x8         ->
         w1 wants 1             -> lease 1: 10:0-1
         submit e1 10x2         ->
         w1 wants 1             -> wait
         submit e1 10x8         ->
         w1 wants 1             -> lease 2: 10:2-3
         submit e1 10x2         ->
         w1 returns 2           ->
         w1 wants 1             -> lease 3: 10:2-3
         w1 played 1/10:0-1     -> counts, counts
         w1 played 3/10:2-3     -> counts, counts, e1 finished",
    );
}

#[test]
fn games_to_be_leased_alone_come_and_go_with_their_cell() {
    check(
        "submit e1 10x2 11x2                ->
         w1 wants 1                         -> lease 1: 10:0-1
         w1 beats 1 playing 10:0            ->
         30s pass                           ->
         w1 wants 1                         -> lease 2: 10:0-1
         w1 beats 2 playing 10:0            ->
         submit e1 11x2                     ->
         30s pass                           ->
         w2 wants 1                         -> lease 3: 11:0-1
         submit e1 10x2 11x2                ->
         w3 wants 1                         -> lease 4: 10:0
         submit e1 11x2                     ->
         w2 played 3/11:0-1                 -> counts, counts
         w3 returns 4                       -> e1 finished
         submit e1 10x2 11x2                ->
         w3 wants 1                         -> lease 5: 10:0
         w3 wants 1                         -> lease 6: 10:1",
    );
}

#[test]
fn a_paused_experiment_stays_paused() {
    check(
        "submit e1 10x2         ->
         pause e1               ->
         submit e1 10x4 11x2    ->
         w1 wants 1             -> done
         resume e1              ->
         w1 wants 1             -> lease 1: 10:0-1",
    );
}
