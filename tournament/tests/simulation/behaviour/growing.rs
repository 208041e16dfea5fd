//! Sweeps that change: cells come, go, and come back.

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
