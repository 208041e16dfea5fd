//! Workers that somebody does not believe any more.

use crate::script::check;

#[test]
fn what_it_played_and_what_it_holds_is_played_by_others() {
    check(
        "submit e1 10x8             ->
         w1 wants 2                 -> lease 1: 10:0-3
         w1 played 1/10:0-1         -> counts, counts
         exclude w1                 ->
         w1 wants 2                 -> excluded
         w1 beats 1                 -> drop 1
         w2 wants 2                 -> lease 2: 10:0-3
         w2 played 2/10:0-3         -> counts, counts, counts, counts",
    );
}

#[test]
fn what_comes_of_it_afterwards_does_not_count() {
    check(
        "submit e1 10x4             ->
         w1 wants 2                 -> lease 1: 10:0-3
         exclude w1                 ->
         w1 played 1/10:0           -> excluded
         w1 failed 1/10:1           -> excluded
         w2 wants 2                 -> lease 2: 10:0-3
         w2 played 2/10:0-3         -> counts, counts, counts, counts, e1 finished
         w1 played 1/10:0           -> excluded
         w1 played 7/10:0           -> rejected",
    );
}

/// Only the experiment that was named.
#[test]
fn from_one_experiment_it_plays_the_others() {
    check(
        "submit e1 10x4             ->
         submit e2 20x4             ->
         w1 wants 1                 -> lease 1: 10:0-1
         exclude w1 from e1         ->
         w1 wants 1                 -> lease 2: 20:0-1
         w1 wants 1                 -> lease 3: 20:2-3
         w1 wants 1                 -> excluded
         w1 played 1/10:0           -> excluded
         w1 played 2/20:0           -> counts
         w2 wants 1                 -> lease 4: 10:0-1",
    );
}

#[test]
fn it_is_remembered_until_somebody_readmits_it() {
    check(
        "submit e1 10x4             ->
         exclude w1                 ->
         restart                    ->
         w1 wants 1                 -> excluded
         lost: readmit w1           ->
         w1 wants 1                 -> excluded
         readmit w1                 ->
         w1 wants 1                 -> lease 1: 10:0-1
         lost: exclude w1           ->
         w1 played 1/10:0           -> counts",
    );
}

/// A lost lease costs its games an attempt; a lease that somebody ended does not.
#[test]
fn games_are_not_charged_with_it() {
    check(
        "submit e1 10x2             ->
         w1 wants 1                 -> lease 1: 10:0-1
         w1 beats 1 playing 10:0    ->
         exclude w1                 ->
         w2 wants 1                 -> lease 2: 10:0-1
         w2 beats 2 playing 10:0    ->
         exclude w2                 ->
         w3 wants 1                 -> lease 3: 10:0-1",
    );
}

/// The rule reads what is left, and the cell goes on.
#[test]
fn a_cell_that_had_ended_goes_on() {
    check(
        "submit e1 10x100 20x2 to 0.2  ->
         w1 wants 64
         w1 played 1/10:0-99
         exclude w1                    ->
         w2 wants 1
         restart                       ->
         w2 played 2/10:0              -> counts",
    );
}
