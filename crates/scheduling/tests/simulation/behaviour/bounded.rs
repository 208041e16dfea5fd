//! No more games of an experiment are out at once than its sweep says.

use crate::script::check;

#[test]
fn workers_hold_no_more_games_than_the_sweep_says() {
    check(
        "submit e1 10x100 bound 2  ->
         w1 wants 8                -> lease 1: 10:0-1
         w1 wants 8                -> wait
         w2 wants 8                -> wait
         w1 played 1/10:0          -> counts
         w2 wants 8                -> wait
         w1 played 1/10:1          -> counts
         w2 wants 8                -> lease 2: 10:2-3
         w1 wants 8                -> wait",
    );
}

/// Pairs are leased whole: what is left of an odd bound stays unused.
#[test]
fn a_bound_parts_no_pair() {
    check(
        "submit e1 10x100 bound 5  ->
         w1 wants 8                -> lease 1: 10:0-3
         w2 wants 8                -> wait
         w1 played 1/10:1          -> counts
         w2 wants 8                -> lease 2: 10:4-5
         w3 wants 8                -> wait",
    );
}

#[test]
fn what_one_leaves_goes_to_others() {
    check(
        "submit e1 10x100 bound 2 ->
         submit e2 20x4           ->
         w1 wants 1               -> lease 1: 10:0-1
         w2 wants 1               -> lease 2: 20:0-1
         w3 wants 1               -> lease 3: 20:2-3
         w4 wants 1               -> wait
         w1 played 1/10:0-1       -> counts, counts
         w4 wants 1               -> lease 4: 10:2-3",
    );
}

/// An experiment that was at its bound for long does not catch up once another sweep lifts it.
#[test]
fn a_bound_that_is_lifted_leaves_no_credit() {
    check(
        "submit e1 10x100 bound 2   ->
         submit e2 20x100           ->
         w1 wants 1                 -> lease 1: 10:0-1
         w2 wants 1                 -> lease 2: 20:0-1
         w1 played 1/10:0-1 in 4s   -> counts, counts
         w2 played 2/20:0-1 in 4s   -> counts, counts
         w1 wants 1                 -> lease 3: 10:2-3
         w2 wants 1                 -> lease 4: 20:2-3
         w2 played 4/20:2-3 in 4s   -> counts, counts
         w2 wants 1                 -> lease 5: 20:4-5
         w2 played 5/20:4-5 in 4s   -> counts, counts
         w2 wants 1                 -> lease 6: 20:6-7
         w2 played 6/20:6-7 in 4s   -> counts, counts
         w2 wants 1                 -> lease 7: 20:8-9
         submit e1 10x100           ->
         w3 wants 1                 -> lease 8: 10:4-5
         w3 wants 1                 -> lease 9: 10:6-7
         w3 wants 1                 -> lease 10: 20:10-11
         w3 wants 1                 -> lease 11: 10:8-9",
    );
}

/// What is out may finish; from then on the lower bound holds, also after a restart.
#[test]
fn a_bound_may_change_while_games_are_out() {
    check(
        "submit e1 10x100          ->
         w1 wants 3                -> lease 1: 10:0-5
         submit e1 10x100 bound 4  ->
         w2 wants 1                -> wait
         restart                   ->
         w2 wants 1                -> wait
         w1 played 1/10:0-2        -> counts, counts, counts
         w2 wants 1                -> wait
         w1 played 1/10:3          -> counts
         w2 wants 1                -> lease 2: 10:6-7
         w2 wants 1                -> wait
         submit e1 10x100 bound 6  ->
         w2 wants 1                -> lease 3: 10:8-9
         w2 wants 1                -> wait
         lost: submit e1 10x100    ->
         w2 wants 1                -> wait
         submit e1 10x100          ->
         w2 wants 1                -> lease 4: 10:10-11",
    );
}

/// A game that was lost or has failed goes first, and needs room for itself alone.
#[test]
fn a_single_game_needs_a_single_place() {
    check(
        "submit e1 10x100 bound 2  ->
         w1 wants 1                -> lease 1: 10:0-1
         w1 failed 1/10:0          -> noted
         w1 wants 1                -> lease 2: 10:0
         w2 wants 1                -> wait
         w1 played 2/10:0          -> counts
         w2 wants 1                -> wait
         w1 returns 1              ->
         w2 wants 1                -> lease 3: 10:1
         w3 wants 1                -> wait",
    );
}

/// A suspect, and what kills its worker again and again, keeps none of the others out for good.
#[test]
fn suspects_are_bounded_too() {
    check(
        "submit e1 10x4 bound 2    ->
         w1 wants 1                -> lease 1: 10:0-1
         w1 beats 1 playing 10:0-1 ->
         30s pass                  ->
         w1 wants 1                -> lease 2: 10:0-1
         w1 beats 2 playing 10:0-1 ->
         30s pass                  ->
         w1 wants 1                -> lease 3: 10:0
         w2 wants 1                -> lease 4: 10:1
         w3 wants 1                -> wait
         w1 beats 3 playing 10:0   ->
         w2 beats 4 playing 10:1   ->
         30s pass                  ->
         w1 wants 1                -> lease 5: 10:0
         w2 wants 1                -> lease 6: 10:1
         w3 wants 1                -> wait
         w1 beats 5 playing 10:0   ->
         w2 played 6/10:1          -> counts
         w3 wants 1                -> wait
         30s pass                  ->
         w1 wants 1                -> lease 7: 10:0
         w1 wants 1                -> wait
         w1 played 7/10:0          -> counts
         w3 wants 1                -> lease 8: 10:2-3
         w3 played 8/10:2-3        -> counts, counts, e1 finished",
    );
}

/// A worker is not sent to measure its speed for games that it would not get then.
#[test]
fn a_speed_is_measured_where_there_is_room() {
    check(
        "e1 bounds speed=1000      ->
         submit e1 100x100 bound 2  ->
         w1 wants 1                -> measure
         w1 wants 1 knowing speed=2000 -> lease 1: 100:0-1
         w2 wants 1                -> wait
         w1 played 1/100:0-1        -> counts, counts
         w2 wants 1                -> measure",
    );
}

/// At its bound an experiment has nothing for other workers; a missing label is reported all the same.
#[test]
fn what_a_worker_lacks_is_told_at_the_bound_too() {
    check(
        "e1 requires gpu           ->
         submit e1 10x100 bound 2  ->
         w1 wants 1 at gpu         -> lease 1: 10:0-1
         w2 wants 1                -> lacks gpu
         w3 wants 1 at gpu         -> wait",
    );
}
