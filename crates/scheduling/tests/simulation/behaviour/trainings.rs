//! Trainings go first and one by one, and games that wait for them are not handed out before.

use crate::script::check;

#[test]
fn games_wait_until_their_networks_are_trained() {
    check(
        "90 trains                      ->
         10 waits for 90                ->
         submit e1 10x4 90x1            ->
         w1 wants 1                     -> lease 1: 90:0
         w1 wants 1                     -> wait
         w2 wants 4                     -> wait
         w1 trained 1/90:0              -> counts
         w2 wants 2                     -> lease 2: 10:0-3
         w2 played 2/10:0-3             -> counts, counts, counts, counts, e1 finished",
    );
}

/// A worker has as many of them as slots, and other games beside; who does not train gets none.
#[test]
fn trainings_are_spread_over_slots() {
    check(
        "50 trains                      ->
         51 trains                      ->
         52 trains                      ->
         10 waits for 50                ->
         submit e1 10x2 20x4 50x1 51x1 52x1 ->
         w1 wants 2                     -> lease 1: 50:0
         w1 wants 2                     -> lease 2: 51:0
         w1 wants 2                     -> lease 3: 20:0-3
         w2 wants 2 as of old           -> wait
         w3 wants 1                     -> lease 4: 52:0
         w1 trained 1/50:0              -> counts
         w2 wants 1 as of old           -> lease 5: 10:0-1",
    );
}

/// A training that finally fails is settled: what waits for it is played, and fails by itself.
#[test]
fn a_training_that_fails_holds_nothing_up() {
    check(
        "90 trains                      ->
         10 waits for 90                ->
         submit e1 10x2 90x1            ->
         w1 wants 1                     -> lease 1: 90:0
         w1 failed 1/90:0               -> noted
         w1 wants 1                     -> lease 2: 90:0
         w1 failed 2/90:0               -> noted
         w1 wants 1                     -> lease 3: 90:0
         w1 failed 3/90:0               -> noted, give up 90:0 (boom)
         w1 wants 1                     -> lease 4: 10:0-1",
    );
}

#[test]
fn a_training_is_given_back_lost_and_found_again() {
    check(
        "90 trains                      ->
         10 waits for 90                ->
         submit e1 10x2 90x1            ->
         w1 wants 1                     -> lease 1: 90:0
         w1 returns 1                   ->
         w2 wants 1                     -> lease 2: 90:0
         restart                        ->
         w1 wants 1                     -> wait
         w2 beats 2 playing 90:0        ->
         30s pass                       ->
         w1 wants 1                     -> lease 3: 90:0
         w2 trained 2/90:0              -> counts
         w1 trained 3/90:0              -> again
         w1 wants 1                     -> lease 4: 10:0-1",
    );
}

/// What is to be trained again is waited for again; what the sweep no longer names is not.
#[test]
fn waiting_follows_the_sweep() {
    check(
        "90 trains                      ->
         10 waits for 90                ->
         submit e1 10x4 90x1            ->
         w1 wants 1                     -> lease 1: 90:0
         w1 trained 1/90:0              -> counts
         w1 wants 1                     -> lease 2: 10:0-1
         reopen 90:0                    ->
         w2 wants 1                     -> lease 3: 90:0
         w3 wants 1                     -> wait
         w2 returns 3                   ->
         submit e1 10x4                 ->
         w3 wants 1                     -> lease 4: 10:2-3",
    );
}
