//! What the scheduler does, one rule at a time.

use spelrum_model::{CellId, ExperimentId, ExperimentState, SchedulingSettings, WorkerId};
use spelrum_scheduling::scheduler::{
    CellState, Effect, Event, ExperimentSnapshot, Policy, Scheduler, Snapshot, Time,
};

use crate::script::{check, check_with};

mod allocation;
mod bounded;
mod conduct;
mod disturbed;
mod engines;
mod exclusions;
mod forfeits;
mod growing;
mod labels;
mod speeds;
mod timed;
mod trainings;
mod verifications;
mod waiting;

mod leasing {
    use super::*;

    #[test]
    fn cells_are_served_in_order_and_pairs_whole() {
        check(
            "submit e1 10x2 11x2 12x4  ->
             w1 wants 1                -> lease 1: 10:0-1
             w2 wants 2                -> lease 2: 11:0-1 12:0-1
             w3 wants 1                -> lease 3: 12:2-3
             w4 wants 1                -> wait",
        );
    }

    #[test]
    fn a_lost_or_failed_game_goes_first_and_alone_if_its_partner_is_settled() {
        check(
            "submit e1 10x8        ->
             w1 wants 2            -> lease 1: 10:0-3
             w1 played 1/10:0      -> counts
             w1 failed 1/10:3      -> noted
             w2 wants 1            -> lease 2: 10:3
             w1 returns 1          ->
             w2 wants 2            -> lease 3: 10:1-2",
        );
    }

    #[test]
    fn a_lease_that_a_pair_does_not_fit_into_leaves_it_whole() {
        let policy = Policy { games_per_lease_max: 3, ..Policy::default() };
        check_with(
            policy,
            "submit e1 10x8    ->
             w1 wants 4        -> lease 1: 10:0-1
             w1 wants 4        -> lease 2: 10:2-3
             w1 played 1/10:0  -> counts
             w1 returns 1      ->
             w1 returns 2      ->
             w1 wants 4        -> lease 3: 10:1-3",
        );
    }

    /// Both slots may play the largest game at once.
    #[test]
    fn a_worker_gets_no_cell_that_its_slots_cannot_hold() {
        check(
            "10 needs 60                ->
             11 needs 50                ->
             submit e1 10x2 11x2 12x2   ->
             w1 wants 2 of 119          -> lease 1: 11:0-1 12:0-1
             w1 wants 2 of 119          -> wait
             w2 wants 2 of 120          -> lease 2: 10:0-1
             w2 failed 2/10:0           -> noted
             w1 wants 2 of 119          -> wait
             w1 wants 1 of 59           -> wait
             w1 wants 1 of 60           -> lease 3: 10:0",
        );
    }

    #[test]
    fn a_game_that_is_leased_alone_needs_its_room_too() {
        check(
            "10 needs 60                ->
             submit e1 10x2             ->
             w1 wants 1 of 60           -> lease 1: 10:0-1
             w1 beats 1 playing 10:0    ->
             30s pass                   ->
             w1 wants 1 of 60           -> lease 2: 10:0-1
             w1 beats 2 playing 10:0    ->
             30s pass                   ->
             w2 wants 1 of 59           -> wait
             w3 wants 1                 -> lease 3: 10:0",
        );
    }

    #[test]
    fn another_experiment_is_served_where_the_first_is_too_large() {
        check(
            "10 needs 60                ->
             submit e1 10x2 priority 7  ->
             submit e2 20x2             ->
             w1 wants 1 of 59           -> lease 1: 20:0-1
             w1 wants 1 of 60           -> lease 2: 10:0-1",
        );
    }

    #[test]
    fn ranges_of_a_lease_are_bounded() {
        let policy = Policy { ranges_per_lease_max: 2, ..Policy::default() };
        check_with(
            policy,
            "submit e1 10x2 11x2 12x2  ->
             w1 wants 8                -> lease 1: 10:0-1 11:0-1",
        );
    }

    #[test]
    fn a_worker_that_never_hears_of_its_leases_does_not_get_all() {
        let mut story = String::from("submit e1 10x1000 ->\n");
        for lease in 1..=10 {
            let first = 2 * (lease - 1);
            story += &format!("w1 wants 1 -> lease {lease}: 10:{first}-{}\n", first + 1);
        }
        check(&(story + "w1 wants 1 -> wait\n 30s pass ->\n w1 wants 1 -> lease 11: 10:0-1"));
    }

    #[test]
    fn an_experiment_without_games_is_finished_at_once() {
        check(
            "w1 wants 1   -> done
             submit e1    -> e1 finished
             w1 wants 1   -> done",
        );
    }
}

mod batches {
    use super::*;

    #[test]
    fn a_fresh_cell_starts_with_a_pair_for_each_slot() {
        check(
            "submit e1 10x100000  ->
             w1 wants 3           -> lease 1: 10:0-5",
        );
    }

    #[test]
    fn a_measured_cell_fills_a_few_seconds_of_each_slot() {
        check(
            "submit e1 10x100000         ->
             w1 wants 1                  -> lease 1: 10:0-1
             w1 played 1/10:0 in 100ms   -> counts
             w1 wants 1                  -> lease 2: 10:2-41
             w2 wants 3                  -> lease 3: 10:42-161",
        );
    }

    #[test]
    fn games_of_a_lease_are_bounded() {
        check(
            "submit e1 10x100000       ->
             w1 wants 1                -> lease 1: 10:0-1
             w1 played 1/10:0 in 1ms   -> counts
             w1 wants 2                -> lease 2: 10:2-4097",
        );
    }

    #[test]
    fn the_average_follows_the_measured_times() {
        check(
            "submit e1 10x100000          ->
             w1 wants 1                   -> lease 1: 10:0-1
             w1 played 1/10:0 in 100ms    -> counts
             w1 played 1/10:1 in 900ms    -> counts
             w1 wants 1                   -> lease 2: 10:2-21",
        );
    }

    #[test]
    fn a_game_longer_than_a_batch_still_goes_out_as_a_pair() {
        check(
            "submit e1 10x100            ->
             w1 wants 1                  -> lease 1: 10:0-1
             w1 played 1/10:0 in 3600s   -> counts
             w1 wants 1                  -> lease 2: 10:2-3",
        );
    }

    #[test]
    fn of_cells_that_nobody_has_measured_only_a_few_games_go_out() {
        check(
            "submit e1 10x2 11x100000   ->
             w1 wants 1                 -> lease 1: 10:0-1
             w1 played 1/10:0 in 1ms    -> counts
             w1 wants 1                 -> lease 2: 11:0-31",
        );
    }

    /// Or each few milliseconds of work would need a lease; several workers must not wait for one of them.
    #[test]
    fn of_short_games_more_go_out_before_their_cell_is_measured() {
        check(
            "submit e1 10x2 11x100000   ->
             w1 wants 1                 -> lease 1: 10:0-1
             w1 played 1/10:0 in 50us   -> counts
             w1 wants 1                 -> lease 2: 11:0-399
             w2 wants 1                 -> lease 3: 11:400-479
             w2 wants 4                 -> lease 4: 11:480-799",
        );
    }

    /// The end of an experiment is shared out in ever smaller pieces.
    #[test]
    fn towards_the_end_batches_shrink() {
        check(
            "submit e1 10x42              ->
             w1 wants 1                   -> lease 1: 10:0-1
             w1 played 1/10:0-1 in 100ms  -> counts, counts
             w1 wants 1                   -> lease 2: 10:2-21
             w2 wants 1                   -> lease 3: 10:22-25
             w1 wants 1                   -> lease 4: 10:26-29
             w2 wants 1                   -> lease 5: 10:30-31
             w1 wants 1                   -> lease 6: 10:32-33",
        );
    }
}

mod leases {
    use super::*;

    #[test]
    fn a_heartbeat_renews_what_it_names_and_nothing_else() {
        check(
            "submit e1 10x4   ->
             w1 wants 1       -> lease 1: 10:0-1
             w1 wants 1       -> lease 2: 10:2-3
             20s pass         ->
             w1 beats 1       ->
             10s pass         ->
             w1 beats 1 2     -> drop 2
             w2 wants 1       -> lease 3: 10:2-3",
        );
    }

    #[test]
    fn a_lease_belongs_to_its_worker() {
        check(
            "submit e1 10x2          ->
             w1 wants 1              -> lease 1: 10:0-1
             w2 beats 1 7            -> drop 1 7
             w2 returns 1            ->
             w2 played 1/10:0        -> rejected
             w1 played 7/10:0        -> rejected
             w1 played 1/10:5        -> rejected
             w2 wants 1              -> wait
             w1 played 1/10:0-1      -> counts, counts, e1 finished",
        );
    }

    #[test]
    fn a_late_result_counts_and_takes_the_game_from_whoever_has_it() {
        check(
            "submit e1 10x4          ->
             w1 wants 2              -> lease 1: 10:0-3
             30s pass                ->
             w2 wants 1              -> lease 2: 10:0-1
             w1 played 1/10:0        -> counts
             w1 played 1/10:2        -> counts
             w2 played 2/10:0        -> again
             w2 played 2/10:1        -> counts
             w1 played 1/10:1        -> again
             w2 beats 2              -> drop 2
             w2 wants 1              -> lease 3: 10:3",
        );
    }

    #[test]
    fn a_result_that_comes_twice_counts_once() {
        check(
            "submit e1 10x2         ->
             w1 wants 1             -> lease 1: 10:0-1
             w1 played 1/10:0       -> counts
             w1 played 1/10:0       -> again
             w1 failed 1/10:0       -> again
             w1 played 1/10:1       -> counts, e1 finished
             w1 played 1/10:1       -> again",
        );
    }
}

mod attempts {
    use super::*;

    #[test]
    fn three_failures_settle_a_game() {
        check(
            "submit e1 10x2     ->
             w1 wants 1         -> lease 1: 10:0-1
             w1 failed 1/10:0   -> noted
             w1 wants 1         -> lease 2: 10:0
             w1 failed 2/10:0   -> noted
             w1 wants 1         -> lease 3: 10:0
             w1 failed 3/10:0   -> noted, give up 10:0 (boom)
             w1 played 3/10:0   -> again
             w1 played 1/10:1   -> counts, e1 finished",
        );
    }

    #[test]
    fn a_failure_that_comes_twice_or_late_costs_nothing() {
        check(
            "submit e1 10x2       ->
             w1 wants 1           -> lease 1: 10:0-1
             w1 failed 1/10:0     -> noted
             w1 failed 1/10:0     -> noted
             w1 wants 1           -> lease 2: 10:0
             w1 failed 1/10:0     -> noted
             w1 failed 2/10:0     -> noted
             w1 wants 1           -> lease 3: 10:0
             30s pass             ->
             w1 failed 3/10:0     -> noted
             w1 wants 1           -> lease 4: 10:0
             w1 failed 4/10:0     -> noted, give up 10:0 (boom)",
        );
    }

    #[test]
    fn only_started_games_pay_for_a_lost_lease() {
        let mut story = String::from("submit e1 10x4 ->\n");
        for lease in 1..=2 {
            story += &format!(
                "w1 wants 2                      -> lease {lease}: 10:0-3
                 w1 beats {lease} playing 10:1-2 ->
                 30s pass                        ->\n"
            );
        }
        check(
            &(story
                + "restart     ->
                   w1 wants 2  -> lease 3: 10:1
                   w1 wants 2  -> lease 4: 10:2
                   w1 wants 2  -> lease 5: 10:0 10:3"),
        );
    }

    #[test]
    fn what_is_handed_back_costs_nothing() {
        let mut story = String::from("submit e1 10x2 ->\n");
        for lease in 1..=20 {
            story += &format!(
                "w1 wants 1                      -> lease {lease}: 10:0-1
                 w1 beats {lease} playing 10:0-1 ->
                 w1 returns {lease}              ->\n"
            );
        }
        check(&story);
    }

    /// Lease, report as started, lose: `times` times from lease `first` on.
    fn lose_alone(first: i64, times: i64) -> String {
        (first..first + times)
            .map(|lease| {
                format!(
                    "w1 wants 1                    -> lease {lease}: 10:0
                     w1 beats {lease} playing 10:0 ->
                     30s pass\n"
                )
            })
            .collect()
    }

    /// Two losses together with its partner, which is settled then.
    const LOST_TWICE: &str = "submit e1 10x2            ->
                              w1 wants 1                -> lease 1: 10:0-1
                              w1 beats 1 playing 10:0   ->
                              30s pass                  ->
                              w1 wants 1                -> lease 2: 10:0-1
                              w1 beats 2 playing 10:0   ->
                              30s pass                  ->
                              w2 wants 1                -> lease 3: 10:0
                              w2 returns 3              ->\n";

    #[test]
    fn ten_losses_alone_settle_a_game() {
        check(
            &(LOST_TWICE.to_owned()
                + &lose_alone(4, 9)
                + "w1 wants 1               -> lease 13: 10:0
                   w1 beats 13 playing 10:0 ->
                   restart                  ->
                   w1 beats 13 playing 10:0 ->
                   30s pass                 -> give up 10:0 (lost 10 times with the worker that played it alone)
                   w1 played 13/10:0        -> again
                   w2 wants 1               -> lease 14: 10:1
                   w2 played 14/10:1        -> counts, e1 finished"),
        );
    }

    #[test]
    fn a_game_that_was_lost_often_counts_if_it_ends_at_last() {
        check(
            &(LOST_TWICE.to_owned()
                + &lose_alone(4, 9)
                + "w1 played 5/10:0  -> counts
                   30s pass          ->
                   w2 wants 1        -> lease 13: 10:1"),
        );
    }

    /// Else the innocent one would be given up with the guilty one beside it.
    #[test]
    fn a_worker_holds_one_suspect_at_a_time() {
        let mut story = String::from("submit e1 10x2 11x4 ->\n");
        for round in 0..2 {
            let lease = round + 1;
            story += &format!(
                "w1 wants 1                      -> lease {lease}: 10:0-1
                 w1 beats {lease} playing 10:0-1 ->
                 30s pass                        ->\n"
            );
        }
        for round in 0..2 {
            let (first, second) = (3 + 2 * round, 4 + 2 * round);
            story += &format!(
                "w1 wants 2                           -> lease {first}: 10:0
                 w1 wants 2                           -> lease {second}: 10:1
                 w1 beats {first} {second} playing 10:0-1 ->
                 30s pass                             ->\n"
            );
        }
        check(
            &(story
                + "w1 wants 2  -> lease 7: 10:0
                   w1 wants 2  -> lease 8: 11:0-3
                   w1 wants 2  -> wait
                   w2 wants 2  -> lease 9: 10:1"),
        );
    }
}

mod experiments {
    use super::*;

    #[test]
    fn a_larger_priority_goes_first_and_equals_take_turns() {
        check(
            "submit e1 10x100             ->
             submit e2 20x100             ->
             submit e3 30x2 priority 1    ->
             w1 wants 1                   -> lease 1: 30:0-1
             w1 wants 1                   -> lease 2: 10:0-1
             w1 wants 1                   -> lease 3: 20:0-1
             w1 wants 1                   -> lease 4: 10:2-3
             w1 wants 1                   -> lease 5: 20:2-3
             w1 returns 1                 ->
             w1 wants 1                   -> lease 6: 30:0-1
             submit e2 20x100 priority 2  ->
             w1 wants 1                   -> lease 7: 20:4-5
             w1 wants 1                   -> lease 8: 20:6-7",
        );
    }

    /// One that has had ten times the work waits until the other has, too.
    #[test]
    fn equals_share_by_time_and_not_by_games() {
        let policy = Policy { batch_ms: 1, ..Policy::default() };
        check_with(
            policy,
            "submit e1 10x100              ->
             submit e2 20x100              ->
             w1 wants 1                    -> lease 1: 10:0-1
             w1 wants 1                    -> lease 2: 20:0-1
             w1 played 1/10:0-1 in 1000ms  -> counts, counts
             w1 played 2/20:0-1 in 400ms   -> counts, counts
             w1 wants 1                    -> lease 3: 10:2-3
             w1 wants 1                    -> lease 4: 20:2-3
             w1 wants 1                    -> lease 5: 20:4-5
             w1 wants 1                    -> lease 6: 20:6-7
             w1 wants 1                    -> lease 7: 10:4-5",
        );
    }

    #[test]
    fn a_paused_one_keeps_its_leases() {
        check(
            "submit e1 10x4          ->
             w1 wants 1              -> lease 1: 10:0-1
             pause e1                ->
             w2 wants 1              -> done
             w1 beats 1              ->
             w1 played 1/10:0        -> counts
             restart                 ->
             w2 wants 1              -> done
             w1 played 1/10:1        -> counts
             resume e1               ->
             w2 wants 1              -> lease 2: 10:2-3
             pause e1                ->
             w2 played 2/10:2-3      -> counts, counts, e1 finished",
        );
    }

    #[test]
    fn a_cancelled_one_drops_its_leases_and_is_final() {
        check(
            "submit e1 10x4        ->
             w1 wants 1            -> lease 1: 10:0-1
             w1 played 1/10:0      -> counts
             cancel e1             ->
             w1 beats 1            -> drop 1
             w1 played 1/10:0      -> again
             w1 played 1/10:1      -> after cancel
             w1 failed 1/10:1      -> after cancel
             resume e1             ->
             w1 wants 1            -> done
             restart               ->
             w1 played 1/10:1      -> after cancel
             w1 wants 1            -> done",
        );
    }

    #[test]
    fn another_priority_holds_from_the_next_lease_on_and_after_a_restart() {
        check(
            "submit e1 10x100      ->
             submit e2 20x100      ->
             w1 wants 1            -> lease 1: 10:0-1
             prioritize e2 5       ->
             w1 wants 1            -> lease 2: 20:0-1
             w1 wants 1            -> lease 3: 20:2-3
             restart               ->
             w2 wants 1            -> lease 4: 20:4-5
             pause e2              ->
             prioritize e2 -1      ->
             resume e2             ->
             w2 wants 1            -> lease 5: 10:2-3
             w2 wants 1            -> lease 6: 10:4-5
             cancel e1             ->
             prioritize e1 9       ->
             w2 wants 1            -> lease 7: 20:6-7",
        );
    }

    /// Also if its ids mean another one from then on.
    #[test]
    fn a_deleted_one_is_forgotten() {
        check(
            "submit e1 10x4        ->
             w1 wants 1            -> lease 1: 10:0-1
             w1 played 1/10:0      -> counts
             w1 failed 1/10:1      -> noted
             pause e1              ->
             delete e1             ->
             w1 played 1/10:1      -> rejected
             w1 failed 1/10:1      -> rejected
             w1 beats 1            -> drop 1
             w1 wants 1            -> done
             submit e1 10x2        ->
             w1 played 1/10:1      -> rejected
             w2 wants 1            -> lease 2: 10:0-1
             restart               ->
             w1 played 1/10:1      -> rejected
             w2 played 2/10:0-1    -> counts, counts, e1 finished",
        );
    }

    #[test]
    fn a_finished_one_runs_again_when_it_grows() {
        check(
            "submit e1 10x2             ->
             w1 wants 1                 -> lease 1: 10:0-1
             w1 played 1/10:0-1         -> counts, counts, e1 finished
             submit e1 10x4 11x2        ->
             w1 wants 2                 -> lease 2: 10:2-3 11:0-1
             w1 played 2/10:2-3         -> counts, counts
             restart                    ->
             submit e1 10x6 11x2        ->
             w1 played 2/11:0-1         -> counts, counts
             w1 wants 2                 -> lease 3: 10:4-5",
        );
    }

    /// An odd number of games leaves half a pair, which growing completes.
    #[test]
    fn half_a_pair_is_a_game() {
        check(
            "submit e1 10x3           ->
             w1 wants 4               -> lease 1: 10:0-2
             w1 played 1/10:0-2       -> counts, counts, counts, e1 finished
             submit e1 10x6           ->
             w1 wants 2               -> lease 2: 10:3-5",
        );
    }
}

mod restarts {
    use super::*;

    #[test]
    fn live_leases_get_one_new_full_duration() {
        check(
            "submit e1 10x2         ->
             w1 wants 1             -> lease 1: 10:0-1
             29s pass               ->
             restart                ->
             29s pass               ->
             w1 played 1/10:0       -> counts
             1s passes              ->
             w1 beats 1             -> drop 1
             w2 wants 1             -> lease 2: 10:1",
        );
    }

    #[test]
    fn what_was_not_committed_never_happened() {
        check(
            "submit e1 10x4              ->
             lost: w1 wants 1            -> lease 1: 10:0-1
             w1 beats 1                  -> drop 1
             w1 wants 1                  -> lease 1: 10:0-1
             lost: w1 played 1/10:0      -> counts
             w1 played 1/10:0            -> counts
             lost: w1 returns 1          ->
             w2 wants 1                  -> lease 2: 10:2-3
             lost: cancel e1             ->
             w1 played 1/10:1            -> counts",
        );
    }

    /// Neither the lease that a failed game has left nor the one that it is in now may lose track
    /// of it: on disk it is in both.
    #[test]
    fn a_game_that_failed_is_in_its_latest_lease_only() {
        check(
            "submit e1 10x4         ->
             w1 wants 2             -> lease 1: 10:0-3
             w1 failed 1/10:1       -> noted
             restart                ->
             w2 wants 1             -> lease 2: 10:1
             restart                ->
             w2 beats 2             ->
             w1 returns 1           ->
             w3 wants 2             -> lease 3: 10:0 10:2-3
             w2 played 2/10:1       -> counts",
        );
    }

    /// No committed transaction leaves one behind, but a store that was repaired by hand may.
    #[test]
    fn an_experiment_that_is_complete_on_disk_is_finished() {
        let cell = CellState { next_number: 2, ..CellState::new(CellId(10), 2) };
        let experiment = ExperimentId(1);
        let snapshot = Snapshot {
            experiments: vec![ExperimentSnapshot {
                experiment,
                settings: SchedulingSettings::default(),
                state: ExperimentState::Running,
                open: false,
                cells: vec![cell],
            }],
            ..Snapshot::default()
        };
        let mut scheduler = Scheduler::restore(snapshot, Policy::default(), Time(7));
        assert_eq!(scheduler.next_deadline(), Some(Time(7)));
        let finished = Effect::Finished { experiment };
        assert_eq!(scheduler.handle(Event::Tick, Time(7)), [finished]);
        assert_eq!(scheduler.next_deadline(), None);
    }

    #[test]
    fn attempts_survive() {
        check(
            "submit e1 10x2            ->
             w1 wants 1                -> lease 1: 10:0-1
             w1 failed 1/10:0          -> noted
             restart                   ->
             w1 wants 1                -> lease 2: 10:0
             w1 failed 2/10:0          -> noted
             restart                   ->
             w1 wants 1                -> lease 3: 10:0
             w1 failed 3/10:0          -> noted, give up 10:0 (boom)",
        );
    }

    #[test]
    fn lease_ids_grow() {
        check(
            "submit e1 10x4         ->
             w1 wants 1             -> lease 1: 10:0-1
             w1 played 1/10:0-1     -> counts, counts
             restart                ->
             w1 wants 1             -> lease 2: 10:2-3",
        );
    }
}
