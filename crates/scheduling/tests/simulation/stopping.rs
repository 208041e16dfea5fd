//! Invariant 7: where cells end, and what happens there.

use crate::script::check;
use crate::world::World;

/// Seeds of large worlds.
const SEEDS: u64 = 8;

/// Durations depend on outcomes, 256 slots play at once, games fail, everything is killed, and the rule
/// changes on the way: each cell ends where a plain loop over its results says (see `World::check_end`).
#[test]
fn cells_end_where_their_results_in_number_order_say() {
    let mut stopped = 0;
    for seed in 0..SEEDS {
        let mut world = World::with_many_slots(seed);
        world.run();
        stopped += world.stopped;
    }
    assert!(stopped > 0, "no cell was stopped");
}

/// 25 equal pairs are known to 0.2 points.
#[test]
fn nothing_is_handed_out_beyond_a_stop() {
    check(
        "submit e1 10x100 11x2 to 0.2   ->
         w1 wants 25                    -> lease 1: 10:0-49
         w2 wants 2                     -> lease 2: 10:50-53
         w1 played 1/10:0-48 in 4s
         w2 returns 2                   ->
         w2 wants 2                     -> lease 3: 10:50-51
         w2 played 3/10:50              -> counts
         w1 played 1/10:49              -> counts
         w2 returns 3                   ->
         w1 wants 2                     -> lease 4: 11:0-1
         w1 wants 2                     -> wait
         restart                        ->
         w1 wants 2                     -> wait
         w2 played 3/10:51              -> counts
         w1 played 4/11:0-1             -> counts, counts, e1 finished
         w2 played 2/10:52              -> after cancel",
    );
}

#[test]
fn what_is_leased_beyond_a_stop_is_waited_for() {
    check(
        "submit e1 10x100 to 0.2        ->
         w1 wants 25                    -> lease 1: 10:0-49
         w2 wants 2                     -> lease 2: 10:50-53
         w1 played 1/10:0-49 in 4s
         w2 played 2/10:50-52           -> counts, counts, counts
         w2 played 2/10:53              -> counts, e1 finished",
    );
}

#[test]
fn another_rule_is_read_over_the_same_games() {
    check(
        "submit e1 10x100 to 0.2        ->
         w1 wants 25                    -> lease 1: 10:0-49
         w1 played 1/10:0-49 in 4s
         submit e1 10x100               ->
         w1 wants 1                     -> lease 2: 10:50-51
         submit e1 10x100 to 0.2        ->
         w1 wants 1                     -> wait
         w1 returns 2                   -> e1 finished
         submit e1 10x100 to 0.001      ->
         w1 wants 1                     -> lease 3: 10:50-51
         submit e1 10x100 to 0.3        ->
         w1 played 3/10:50-51           -> counts, counts, e1 finished
         submit e1 10x200 to 0.3        ->
         w1 wants 1                     -> done",
    );
}

#[test]
fn a_game_to_be_leased_alone_waits_while_its_cell_ends_before_it() {
    check(
        "submit e1 10x100               ->
         w1 wants 25                    -> lease 1: 10:0-49
         w2 wants 1                     -> lease 2: 10:50-51
         w2 beats 2 playing 10:50       ->
         30s pass                       ->
         w1 wants 25                    -> lease 3: 10:0-49
         w2 wants 1                     -> lease 4: 10:50-51
         w2 beats 4 playing 10:50       ->
         w1 beats 3                     ->
         20s pass                       ->
         w1 beats 3                     ->
         10s pass                       ->
         w1 played 3/10:0-49 in 4s
         submit e1 10x100 to 0.2        -> e1 finished
         submit e1 10x100               ->
         w1 wants 1                     -> lease 5: 10:50",
    );
}

#[test]
fn a_game_that_is_reopened_puts_the_decision_before_its_pair() {
    check(
        "submit e1 10x100 11x2 to 0.2   ->
         w1 wants 25                    -> lease 1: 10:0-49
         w1 played 1/10:0-49 in 4s
         w1 wants 1                     -> lease 2: 11:0-1
         w2 wants 2                     -> wait
         reopen 10:7                    ->
         restart                        ->
         w2 wants 1                     -> lease 3: 10:7
         w3 wants 1                     -> lease 4: 10:50-51
         w2 played 3/10:7 in 20s        -> counts
         w2 wants 1                     -> wait
         reopen 10:3-4                  ->
         w1 played 2/11:0-1             -> counts, counts
         w3 returns 4                   ->
         w2 wants 1                     -> lease 5: 10:3-4
         w2 played 5/10:3-4             -> counts, counts, e1 finished",
    );
}

#[test]
fn a_pair_that_failed_is_passed_over() {
    check(
        "submit e1 10x60 to 0.2         ->
         w1 wants 25                    -> lease 1: 10:0-49
         w1 played 1/10:1-49 in 4s
         w1 failed 1/10:0               -> noted
         w1 wants 1                     -> lease 2: 10:0
         w1 failed 2/10:0               -> noted
         w1 wants 1                     -> lease 3: 10:0
         w1 failed 3/10:0               -> noted, give up 10:0 (boom), e1 finished",
    );
}
