//! Verifications go first and one by one, to others than who played, and hold nothing up.

use crate::script::check;

#[test]
fn whoever_played_does_not_verify() {
    check(
        "90 verifies w1                 ->
         91 verifies w2                 ->
         submit e1 10x2 90x1 91x1       ->
         w1 wants 1                     -> lease 1: 91:0
         w1 wants 1                     -> lease 2: 10:0-1
         w2 wants 1 as of old           -> wait
         w2 wants 1                     -> lease 3: 90:0
         w2 verified 3/90:0             -> counts
         w1 verified 1/91:0             -> counts
         w1 played 2/10:0-1             -> counts, counts, e1 finished",
    );
}

/// Where only who played is there it waits, and what else there is goes on.
#[test]
fn a_verification_waits_for_another_worker() {
    check(
        "90 verifies w1                 ->
         submit e1 10x2 90x1            ->
         w1 wants 1                     -> lease 1: 10:0-1
         w1 played 1/10:0-1             -> counts, counts
         w1 wants 1                     -> wait
         w1 wants 1                     -> wait
         w2 wants 1                     -> lease 2: 90:0
         w2 returns 2                   ->
         w1 wants 1                     -> wait
         w2 wants 1                     -> lease 3: 90:0
         w2 verified 3/90:0             -> counts, e1 finished",
    );
}

#[test]
fn a_verification_that_fails_is_given_up() {
    check(
        "90 verifies w1                 ->
         submit e1 90x1                 ->
         w2 wants 1                     -> lease 1: 90:0
         w2 failed 1/90:0               -> noted
         w1 wants 1                     -> wait
         w2 wants 1                     -> lease 2: 90:0
         w2 failed 2/90:0               -> noted
         w2 wants 1                     -> lease 3: 90:0
         w2 failed 3/90:0               -> noted, give up 90:0 (boom), e1 finished",
    );
}
