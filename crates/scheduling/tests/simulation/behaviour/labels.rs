//! What sweeps ask of workers by labels.

use crate::script::check;

#[test]
fn who_lacks_a_required_label_gets_nothing_and_is_told_why() {
    check(
        "e1 requires site=a gpu             ->
         submit e1 10x2                     ->
         w1 wants 1                         -> lacks site=a
         w1 wants 1 at site=b gpu           -> lacks site=a
         w1 wants 1 at site=a               -> lacks gpu
         w2 wants 1 at site=a gpu=old fast  -> lease 1: 10:0-1
         w1 wants 1                         -> wait",
    );
}

#[test]
fn what_lacks_a_worker_holds_nothing_else_up() {
    check(
        "e1 requires site=a                 ->
         submit e1 10x2 priority 7          ->
         submit e2 20x2                     ->
         w1 wants 1                         -> lease 1: 20:0-1
         w1 wants 1                         -> lacks site=a
         w1 played 1/20:0-1                 -> counts, counts, e2 finished",
    );
}

#[test]
fn another_sweep_takes_effect_from_the_next_lease_on() {
    check(
        "submit e1 10x4                     ->
         w1 wants 1                         -> lease 1: 10:0-1
         e1 requires site=a                 ->
         submit e1 10x4                     ->
         w1 wants 1                         -> lacks site=a
         restart                            ->
         w1 wants 1                         -> lacks site=a
         w1 played 1/10:0-1                 -> counts, counts
         e1 requires                        ->
         submit e1 10x4                     ->
         w1 wants 1                         -> lease 2: 10:2-3",
    );
}

/// Who has what a sweep prefers gets it first, who has not gets it last; and nobody is left without games.
#[test]
fn games_go_first_to_who_has_what_they_prefer() {
    check(
        "submit e1 10x4                     ->
         e2 prefers gpu                     ->
         submit e2 20x4                     ->
         w1 wants 1 at gpu                  -> lease 1: 20:0-1
         w1 wants 1 at gpu                  -> lease 2: 20:2-3
         w1 wants 1 at gpu                  -> lease 3: 10:0-1
         w1 returns 1                       ->
         w2 wants 1                         -> lease 4: 10:2-3
         w2 wants 1                         -> lease 5: 20:0-1",
    );
}

#[test]
fn a_preference_is_less_than_a_priority() {
    check(
        "submit e1 10x2 priority 1          ->
         e2 prefers gpu                     ->
         submit e2 20x2                     ->
         w1 wants 1 at gpu                  -> lease 1: 10:0-1",
    );
}
