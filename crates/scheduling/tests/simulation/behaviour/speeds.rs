//! What sweeps ask of the speed of workers, and of their quota of CPU time.

use crate::script::check;

#[test]
fn who_may_be_fast_enough_is_asked_to_measure() {
    check(
        "e1 bounds speed=1000                     ->
         submit e1 100x6                          ->
         w1 wants 1 knowing                       -> measure
         w1 wants 1 knowing speed=999             -> lacks speed
         w2 wants 1 knowing                       -> measure
         w2 wants 1 knowing speed=1000            -> lease 1: 100:0-1
         w2 wants 1 knowing speed=1000 age=600000 -> lease 2: 100:2-3
         w3 wants 1 knowing speed=1000 age=600001 -> measure",
    );
}

#[test]
fn who_is_too_noisy_is_told_why_it_gets_nothing() {
    check(
        "e1 bounds noise=20                       ->
         submit e1 100x2 101x2                    ->
         w1 wants 1                               -> lease 1: 101:0-1
         w1 wants 1                               -> measure
         w2 wants 1 knowing speed=9 noise=21      -> lacks quiet
         w3 wants 1 knowing speed=9 noise=20      -> lease 2: 100:0-1",
    );
}

/// A machine that nothing comes of is not asked for ever, and gets what else there is.
#[test]
fn who_was_asked_in_vain_gets_other_games() {
    check(
        "e1 bounds speed=1000                     ->
         submit e1 100x2 priority 7               ->
         submit e2 20x4                           ->
         w1 wants 1 knowing                       -> measure
         w1 wants 1 knowing                       -> lease 1: 20:0-1
         w1 wants 1 knowing                       -> lease 2: 20:2-3
         w1 wants 1 knowing                       -> wait
         w1 beats 1 2 playing 20:0                ->
         20s pass                                 ->
         w1 beats 1 2 playing 20:0                ->
         10s pass                                 ->
         w1 wants 1 knowing                       -> measure",
    );
}

#[test]
fn nobody_measures_for_what_it_would_not_get() {
    check(
        "e1 bounds speed=1000                     ->
         submit e1 100x2                          ->
         100 needs 50                             ->
         submit e1 100x2                          ->
         e2 bounds speed=1000 period=50           ->
         submit e2 103x2                          ->
         w1 wants 1 knowing period=501            -> measure
         w2 wants 1 knowing speed=1000            -> lease 1: 100:0-1
         w1 wants 1 knowing period=501            -> lacks period",
    );
}

/// It is asked for its speed only if games of that experiment are due.
#[test]
fn what_comes_first_is_played_before_anybody_measures() {
    check(
        "e1 bounds speed=1000                     ->
         submit e1 100x2                          ->
         submit e2 20x2 priority 7                ->
         w1 wants 1 knowing                       -> lease 1: 20:0-1
         w1 wants 1 knowing                       -> measure",
    );
}

/// A tenth of the time for a move, where the sweep does not say; where it does, what it says.
#[test]
fn a_quota_with_a_long_period_is_for_games_without_time_limits() {
    check(
        "submit e1 100x2 101x2                    ->
         w1 wants 1 knowing period=1001           -> lease 1: 101:0-1
         w1 wants 1 knowing period=1001           -> lacks period
         w2 wants 1 knowing period=1000           -> lease 2: 100:0-1
         w2 returns 2                             ->
         e1 bounds period=200                     ->
         submit e1 100x2 101x2                    ->
         w1 wants 1 knowing period=2000           -> lease 3: 100:0-1",
    );
}
