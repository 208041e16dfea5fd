//! Games whose players were disturbed are played again, a few times.

use crate::script::check;

#[test]
fn a_disturbed_game_is_played_again_and_the_last_result_counts() {
    check(
        "submit e1 10x2             ->
         w1 wants 1                 -> lease 1: 10:0-1
         w1 disturbed 1/10:0        -> disturbed
         w1 played 1/10:1           -> counts
         w2 wants 1                 -> lease 2: 10:0
         w2 disturbed 2/10:0        -> disturbed
         w1 wants 1                 -> lease 3: 10:0
         w1 disturbed 3/10:0        -> counts, e1 finished",
    );
}

/// The reply was lost: it is the same result, and no second one.
#[test]
fn what_is_reported_again_is_neither_played_again_nor_counted() {
    check(
        "submit e1 10x2             ->
         w1 wants 1                 -> lease 1: 10:0-1
         w1 disturbed 1/10:0        -> disturbed
         w1 disturbed 1/10:0        -> disturbed
         w1 disturbed 1/10:0        -> disturbed
         w2 wants 1                 -> lease 2: 10:0
         w2 disturbed 2/10:0        -> disturbed
         w1 disturbed 1/10:0        -> disturbed
         w2 disturbed 2/10:0        -> disturbed
         w2 wants 1                 -> lease 3: 10:0
         w1 disturbed 1/10:0        -> disturbed
         w2 played 3/10:0           -> counts
         w1 disturbed 1/10:0        -> again",
    );
}

#[test]
fn a_late_disturbed_result_leaves_the_game_to_whoever_has_it() {
    check(
        "submit e1 10x2             ->
         w1 wants 1                 -> lease 1: 10:0-1
         31s pass                   ->
         w2 wants 1                 -> lease 2: 10:0-1
         w1 disturbed 1/10:0        -> disturbed
         w2 disturbed 2/10:0        -> disturbed
         w3 wants 1                 -> lease 3: 10:0
         31s pass                   ->
         w2 played 2/10:1           -> counts
         w3 disturbed 3/10:0        -> counts, e1 finished",
    );
}

#[test]
fn how_often_it_was_played_again_outlives_a_restart() {
    check(
        "submit e1 10x2             ->
         w1 wants 1                 -> lease 1: 10:0-1
         w1 disturbed 1/10:0        -> disturbed
         restart                    ->
         w1 played 1/10:1           -> counts
         w2 wants 1                 -> lease 2: 10:0
         lost: w2 disturbed 2/10:0  -> disturbed
         w2 disturbed 2/10:0        -> disturbed
         restart                    ->
         w2 wants 1                 -> lease 3: 10:0
         w2 disturbed 3/10:0        -> counts, e1 finished",
    );
}

#[test]
fn what_is_over_is_not_played_again() {
    check(
        "submit e1 10x4             ->
         w1 wants 2                 -> lease 1: 10:0-3
         w1 disturbed 1/10:0        -> disturbed
         cancel e1                  ->
         w1 disturbed 1/10:1        -> after cancel
         w1 wants 2                 -> done
         w2 disturbed 1/10:2        -> rejected",
    );
}
