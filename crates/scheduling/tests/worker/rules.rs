//! What the machine does, one rule at a time.

use std::time::Duration;

use spelrum_scheduling::worker::{Call, CallId, Event, Failure, Machine};

use super::bench::{Bench, Done, HEARTBEAT_MS, PATIENCE_MS};

const SECOND: Duration = Duration::from_secs(1);

/// One that has said Hello and holds a lease of so many games, the first of which are played.
fn playing(slots: u32, games: u64) -> Bench {
    let mut bench = Bench::new(slots, false);
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), games);
    answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
    bench
}

fn answer(bench: &mut Bench, matches_request: impl Fn(&Call<Done>) -> bool, games: u64) {
    let call = pending_call(bench, matches_request);
    bench.answer(call, games);
}

fn pending_call(bench: &Bench, matches_request: impl Fn(&Call<Done>) -> bool) -> CallId {
    bench.pending_call(matches_request).unwrap_or_else(|| panic!("not among {:?}", bench.under_way))
}

fn is_heartbeat(request: &Call<Done>) -> bool {
    matches!(request, Call::Heartbeat { .. })
}

fn is_report(request: &Call<Done>) -> bool {
    matches!(request, Call::Report { .. })
}

fn refusal() -> Failure {
    Failure::Refused { problem: "no".into() }
}

/// Answers everything that is said for so long; the Lease with nothing.
fn go_on(bench: &mut Bench, ms: u64) {
    for _ in 0..ms / 10 {
        bench.wait(10);
        while let Some((&call, _)) = bench.under_way.first_key_value() {
            bench.answer(call, 0);
        }
    }
}

/// Answers what is said until it is this, which must be so before long.
fn comes(bench: &mut Bench, ms: u64, matches_request: impl Fn(&Call<Done>) -> bool) -> CallId {
    for _ in 0..ms / 10 {
        bench.wait(10);
        while let Some((&call, _)) =
            bench.under_way.iter().find(|(_, request)| !matches_request(request))
        {
            bench.answer(call, 0);
        }
        if let Some(call) = bench.pending_call(&matches_request) {
            return call;
        }
    }
    panic!("it is not said within {ms} ms");
}

#[test]
fn a_refused_failure_gives_its_lease_back() {
    let mut bench = playing(1, 2);
    bench.play(0, 10, SECOND);
    bench.wait(200);
    let call = pending_call(&bench, is_report);
    bench.fail(call, refusal());
    // Now as a failure.
    let call = pending_call(&bench, is_report);
    bench.fail(call, refusal());
    go_on(&mut bench, 1_000);
    assert!(bench.given_back.is_empty() && bench.machine.leases().len() == 1, "a game is played");
    bench.play(0, 10, SECOND);
    go_on(&mut bench, 1_000);
    assert_eq!((bench.given_back.len(), bench.machine.leases().len()), (1, 0));
    let tally = bench.machine.tally();
    assert_eq!((tally.acknowledged, tally.refused), (1, 1));
}

/// What others wait for, a course or those whom leases keep away, is not kept until a report is full.
#[test]
fn who_has_no_games_and_gets_none_reports_at_once() {
    let mut bench = playing(1, 2);
    for _ in 0..2 {
        bench.play(0, 10, SECOND);
    }
    assert_eq!(bench.pending_call(is_report), None, "more games may come");
    let call = comes(&mut bench, 100, |request| matches!(request, Call::Lease { .. }));
    bench.answer(call, 0);
    pending_call(&bench, is_report);

    // Not while games are played.
    let mut bench = playing(2, 2);
    bench.play(0, 10, SECOND);
    let call = comes(&mut bench, 100, |request| matches!(request, Call::Lease { .. }));
    bench.answer(call, 0);
    assert_eq!(bench.pending_call(is_report), None, "a slot plays on");
}

/// What is given back might be granted again in the same instant, for ever.
#[test]
fn after_a_refused_cell_its_games_go_back_and_nothing_is_asked_for_a_while() {
    let mut bench = Bench::new(1, false);
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 8);
    let call = pending_call(&bench, |request| matches!(request, Call::GetCell(_)));
    bench.fail(call, refusal());
    let asked = bench.asked;
    go_on(&mut bench, 5_000);
    assert_eq!((bench.given_back.len(), bench.asked), (1, asked));
    go_on(&mut bench, 3_000);
    assert!(bench.asked > asked);
}

/// Its lease is not held any more, but the coordinator must hear of it.
#[test]
fn games_of_a_refused_cell_go_back_when_the_coordinator_is_there_again() {
    let mut bench = Bench::new(1, false);
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 8);
    bench.wait(HEARTBEAT_MS);
    let call = pending_call(&bench, is_heartbeat);
    bench.fail(call, Failure::SayHello);
    let call = pending_call(&bench, |request| matches!(request, Call::GetCell(_)));
    bench.fail(call, refusal());
    let call = pending_call(&bench, |request| matches!(request, Call::Hello));
    bench.fail(call, Failure::Away { retry_after_ms: None });
    assert!(bench.under_way.is_empty() && bench.machine.leases().is_empty());
    assert!(bench.forgotten_lease().is_some(), "nobody was told yet");
    go_on(&mut bench, 1_000);
    assert_eq!((bench.given_back.len(), bench.forgotten_lease()), (1, None));
}

#[test]
fn an_outbox_that_is_full_of_bytes_stops_the_slots() {
    let (_, bytes_max) = Machine::<Done, ()>::unacknowledged_max();
    let mut bench = playing(1, 10_000);
    let mut played = 0;
    while bench.plays(0) {
        bench.play(0, 1 << 20, SECOND);
        played += 1;
    }
    assert_eq!(played, bytes_max >> 20);
    go_on(&mut bench, 1_000);
    assert!(bench.plays(0), "there is room again");
}

#[test]
fn heartbeats_of_long_games_are_shared() {
    let mut bench = playing(4, 4_000);
    // What is not known is named at once, and the heartbeats stay apart.
    go_on(&mut bench, 10);
    assert_eq!(bench.heartbeats.len(), 1);
    let start = bench.now;
    while bench.now < start + 10_000 {
        for slot in 0..4 {
            bench.play(slot, 10, 2 * SECOND);
        }
        go_on(&mut bench, 50);
    }
    let since = bench.heartbeats.iter().filter(|&&at| at > start).count();
    assert!((10..=12).contains(&since), "{since} for 800 games in ten seconds");
}

#[test]
fn a_heartbeat_comes_at_its_time_without_any_game() {
    let mut bench = Bench::new(1, false);
    go_on(&mut bench, 4 * HEARTBEAT_MS);
    assert!((3..=4).contains(&bench.heartbeats.len()), "{:?}", bench.heartbeats);
}

/// A coordinator that takes longer for a heartbeat than it wants between two of them.
#[test]
fn heartbeats_leave_room_for_a_lease() {
    let mut bench = Bench::new(1, false);
    bench.heartbeat_ms = 10;
    for _ in 0..100 {
        bench.wait(30);
        if let Some((&call, _)) = bench.under_way.first_key_value() {
            bench.answer(call, 0);
        }
    }
    assert!(bench.heartbeats.len() > 50, "{}", bench.heartbeats.len());
    assert!(bench.asked >= 4, "{}", bench.asked);
}

/// A worker that gets one game at a time, and wants the next.
#[test]
fn leases_leave_room_for_a_heartbeat() {
    let mut bench = Bench::new(1, false);
    bench.heartbeat_ms = 100;
    for _ in 0..100 {
        bench.wait(30);
        bench.play(0, 10, Duration::from_millis(1));
        while let Some((&call, request)) = bench.under_way.iter().next()
            && !matches!(request, Call::Lease { .. } | Call::Heartbeat { .. })
        {
            bench.answer(call, 0);
        }
        if let Some((&call, _)) = bench.under_way.first_key_value() {
            bench.answer(call, 1);
        }
    }
    assert!(bench.asked > 40, "{}", bench.asked);
    assert!(bench.heartbeats.len() > 20, "{}", bench.heartbeats.len());
}

#[test]
fn a_heartbeat_that_nobody_hears_is_said_again_before_the_next_is_due() {
    let mut bench = Bench::new(1, false);
    let call = comes(&mut bench, HEARTBEAT_MS + 1_000, is_heartbeat);
    bench.fail(call, Failure::Away { retry_after_ms: None });
    comes(&mut bench, 200, is_heartbeat);
}

/// Each Hello says anew how many results a report may have, and what was said already counts too.
#[test]
fn a_report_is_as_large_as_the_last_hello_allows() {
    let mut bench = playing(1, 40);
    for _ in 0..10 {
        bench.play(0, 10, SECOND);
    }
    bench.wait(200);
    let call = pending_call(&bench, is_report);
    assert!(matches!(&bench.under_way[&call], Call::Report { results, .. } if results.len() == 10));
    // It is started anew, and wants less at once.
    bench.results_max = 4;
    bench.fail(call, Failure::SayHello);
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    let mut sizes = Vec::new();
    while bench.machine.tally().acknowledged < 10 {
        let call = pending_call(&bench, is_report);
        if let Call::Report { results, .. } = &bench.under_way[&call] {
            sizes.push(results.len());
        }
        bench.answer(call, 0);
    }
    assert_eq!(sizes, [4, 4, 2]);
}

/// One of them may have killed a worker, and would kill again before a heartbeat came.
#[test]
fn a_game_that_was_lost_is_played_when_a_heartbeat_that_names_it_was_heard() {
    let mut bench = Bench::new(2, false);
    bench.grants_lost = true;
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 3);
    answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
    let call = pending_call(&bench, is_heartbeat);
    assert!(!bench.plays(0) && !bench.plays(1));
    // One that may not have arrived names nothing.
    bench.fail(call, Failure::Away { retry_after_ms: None });
    assert!(!bench.plays(0) && !bench.plays(1));
    let call = comes(&mut bench, 1_000, is_heartbeat);
    bench.answer(call, 0);
    assert!(bench.plays(0) && bench.plays(1));
    // The next one waits in its turn, however short its like have been.
    bench.play(0, 10, Duration::from_millis(1));
    assert!(!bench.plays(0));
    let call = comes(&mut bench, 200, is_heartbeat);
    bench.answer(call, 0);
    assert!(bench.plays(0));
}

#[test]
fn a_game_that_waits_to_be_named_goes_back_when_its_worker_ends_or_its_lease_is_dropped() {
    let waiting = || {
        let mut bench = Bench::new(1, false);
        bench.grants_lost = true;
        answer(&mut bench, |request| matches!(request, Call::Hello), 0);
        answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 3);
        answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
        let call = pending_call(&bench, is_heartbeat);
        (bench, call)
    };
    let (mut bench, call) = waiting();
    bench.is_ending = true;
    bench.handle(Event::Finish);
    bench.answer(call, 0);
    answer(&mut bench, |request| matches!(request, Call::GiveBack { .. }), 0);
    assert!(bench.has_ended && bench.given_back.len() == 1);

    let (mut bench, call) = waiting();
    bench.drop_some(call, u32::MAX);
    assert!(!bench.plays(0) && bench.machine.leases().is_empty());
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 1);

    // A coordinator that cannot take heartbeats gets its games nevertheless.
    let (mut bench, call) = waiting();
    bench.fail(call, refusal());
    assert!(bench.plays(0));
}

/// What was given up still waits at an overloaded coordinator: it is not said again and again.
#[test]
fn a_report_without_an_answer_is_said_ever_more_rarely() {
    let mut bench = playing(1, 1);
    bench.play(0, 10, SECOND);
    bench.wait(200);
    let mut sent_at = Vec::new();
    let mut patience = PATIENCE_MS;
    for _ in 0..4 {
        let call = pending_call(&bench, is_report);
        sent_at.push(bench.now);
        bench.wait(patience);
        bench.fail(call, Failure::TimedOut);
        patience *= 2;
        bench.wait(1_000);
    }
    assert!(sent_at.windows(2).all(|at| at[1] - at[0] >= PATIENCE_MS));
    go_on(&mut bench, 15_000);
    assert_eq!(bench.machine.tally().acknowledged, 1);
}

#[test]
fn a_lease_that_is_granted_to_one_that_ends_goes_back() {
    let mut bench = Bench::new(1, false);
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    bench.is_ending = true;
    bench.handle(Event::EndNow);
    assert!(!bench.has_ended);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 8);
    answer(&mut bench, |request| matches!(request, Call::GiveBack { .. }), 0);
    assert!(bench.has_ended && bench.given_back.len() == 1);
}

#[test]
fn a_worker_may_end_when_nothing_is_left_to_do() {
    let mut bench = Bench::new(1, true);
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 1);
    answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
    go_on(&mut bench, 3_000);
    assert!(!bench.has_ended, "its own game is left");
    bench.play(0, 10, SECOND);
    bench.is_ending = false;
    go_on(&mut bench, 3_000);
    assert!(bench.has_ended);
}

#[test]
fn a_worker_may_end_when_no_games_came_for_a_while() {
    // Without a coordinator.
    let mut bench = Bench::with_idle_end(1, 5_000);
    bench.wait(4_990);
    assert!(!bench.has_ended);
    bench.wait(10);
    assert!(bench.has_ended);

    // Games and their results begin the wait anew.
    let mut bench = Bench::with_idle_end(2, 5_000);
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    go_on(&mut bench, 4_000);
    let call = comes(&mut bench, 2_000, |request| matches!(request, Call::Lease { .. }));
    bench.answer(call, 1);
    go_on(&mut bench, 20_000);
    assert!(!bench.has_ended, "it plays");
    bench.play(0, 10, SECOND);
    go_on(&mut bench, 4_000);
    assert!(!bench.has_ended);
    go_on(&mut bench, 6_000);
    assert!(bench.has_ended && bench.owed.is_empty());

    // Building an engine may take longer, and lasts until the coordinator no longer asks for it, or is away.
    for is_away in [false, true] {
        let mut bench = Bench::with_idle_end(1, 5_000);
        bench.wants_engines = true;
        answer(&mut bench, |request| matches!(request, Call::Hello), 0);
        go_on(&mut bench, 60_000);
        assert!(!bench.has_ended, "it builds");
        if is_away {
            for _ in 0..2_000 {
                bench.wait(10);
                while let Some(call) = bench.pending_call(|_| true).filter(|_| !bench.has_ended) {
                    bench.fail(call, Failure::Away { retry_after_ms: None });
                }
            }
        } else {
            bench.wants_engines = false;
            go_on(&mut bench, 7_000);
        }
        assert!(bench.has_ended);
    }
}

#[test]
fn a_worker_that_is_not_wanted_ends_at_once() {
    for failure in [Failure::Unwanted, refusal()] {
        let mut bench = Bench::new(1, false);
        let call = pending_call(&bench, |request| matches!(request, Call::Hello));
        bench.fail(call, failure);
        assert!(bench.has_ended);
    }
    let mut bench = playing(1, 4);
    go_on(&mut bench, HEARTBEAT_MS);
    bench.wait(HEARTBEAT_MS);
    let call = pending_call(&bench, is_heartbeat);
    bench.fail(call, Failure::Unwanted);
    assert!(bench.has_ended);
}

/// What it has is known before it gets games for it.
#[test]
fn a_worker_that_offers_something_else_says_hello_before_it_asks() {
    let is_hello = |request: &Call<Done>| matches!(request, Call::Hello);
    let is_lease = |request: &Call<Done>| matches!(request, Call::Lease { .. });
    let mut bench = playing(1, 1);
    let heartbeat = pending_call(&bench, is_heartbeat);
    bench.handle(Event::Changed);
    bench.answer(heartbeat, 0);
    bench.play(0, 1, SECOND);
    let hello = pending_call(&bench, is_hello);
    bench.wait(PATIENCE_MS);
    assert_eq!(bench.pending_call(is_lease), None, "it asks for nothing");
    assert_eq!(bench.pending_call(is_report), None, "nor does it say anything else");
    bench.answer(hello, 0);
    let report = pending_call(&bench, is_report);
    bench.answer(report, 0);
    comes(&mut bench, 60_000, is_lease);
}

/// Timed games and others take turns: whichever come first, and however many, neither waits for the
/// other to come to an end.
#[test]
fn neither_kind_of_games_starves() {
    for slots in [1, 2, 4] {
        for quiet_slots in 1..=slots {
            let mut bench = Bench::with_quiet(slots, quiet_slots, false);
            let mut begun = [0, 0];
            for round in 0..60_u32 {
                // For so long one kind of games that last, with all that is wanted, and more.
                for _ in 0..300 {
                    while let Some((&call, _)) = bench.under_way.first_key_value() {
                        bench.answer(call, 40);
                    }
                    bench.wait(100);
                    (0..slots as usize).for_each(|slot| bench.play(slot, 1, 20 * SECOND));
                }
                if round % 4 == 3 {
                    let now = bench.begun;
                    assert!(now[0] > begun[0] && now[1] > begun[1], "{begun:?}, then {now:?}");
                    begun = now;
                }
            }
        }
    }
}

/// A bench with two slots, one of them quiet, that plays timed games and then others.
fn scaling() -> Bench {
    let mut bench = Bench::with_quiet(2, 1, false);
    bench.scales = true;
    answer(&mut bench, |request| matches!(request, Call::Hello), 0);
    bench
}

/// What the coordinator was told of speeds when it was asked for games the last time.
fn reported_speeds(bench: &Bench) -> Vec<(u64, u64)> {
    let call = pending_call(bench, |request| matches!(request, Call::Lease { .. }));
    let Call::Lease { speeds, .. } = &bench.under_way[&call] else { unreachable!() };
    speeds.iter().map(|speed| (speed.nodes_per_second, speed.age_ms)).collect()
}

#[test]
fn scaled_games_wait_for_a_measurement_and_others_with_them() {
    let mut bench = scaling();
    // The first cell is timed, the second is not.
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 2);
    answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
    assert_eq!(bench.calibrating.as_deref(), Some("pentago"));
    if let Some(call) = bench.pending_call(|request| matches!(request, Call::Lease { .. })) {
        bench.answer(call, 2);
        answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
    }
    // However long it takes, nothing is begun, and heartbeats go on.
    bench.wait(60_000);
    assert!(!bench.plays(0) && !bench.plays(1));
    let call = comes(&mut bench, HEARTBEAT_MS, is_heartbeat);
    bench.answer(call, 0);
    bench.calibrate(Some(1_000_000));
    assert!(bench.plays(0), "the bench sees that they are scaled");
    for _ in 0..4 {
        bench.play(0, 10, SECOND);
        bench.play(1, 10, SECOND);
    }
    assert_eq!(bench.calibrations, 1, "it is known now");
}

#[test]
fn a_speed_is_told_with_its_age_and_measured_again_when_it_is_old() {
    let mut bench = scaling();
    bench.asks_for_speed = Some("pentago".to_owned());
    assert!(reported_speeds(&bench).is_empty());
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 0);
    assert_eq!(bench.calibrating.as_deref(), Some("pentago"));
    bench.calibrate(Some(3_000_000));
    // It asks again at once.
    assert_eq!(reported_speeds(&bench), [(3_000_000, 0)]);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 0);
    assert_eq!(bench.calibrating, None, "a coordinator that asks again and again is not heeded");
    bench.wait(11 * 60_000);
    bench.asks_for_speed = None;
    assert_eq!(reported_speeds(&bench).len(), 1);
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 1);
    answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
    assert!(bench.calibrating.is_some() && !bench.plays(0), "it is eleven minutes old");
    bench.calibrate(Some(2_000_000));
    assert!(bench.plays(0));
}

/// What it got would lie about until what it plays has ended.
#[test]
fn nothing_is_asked_for_while_a_speed_is_wanted() {
    let mut bench = scaling();
    bench.scales = false;
    answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 1);
    answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
    assert!(bench.plays(0));
    bench.asks_for_speed = Some("pentago".to_owned());
    let call = comes(&mut bench, HEARTBEAT_MS, |request| matches!(request, Call::Lease { .. }));
    bench.answer(call, 0);
    for _ in 0..600 {
        bench.wait(100);
        assert!(
            bench.pending_call(|request| matches!(request, Call::Lease { .. })).is_none(),
            "it asks"
        );
        if let Some(call) = bench.pending_call(is_heartbeat) {
            bench.answer(call, 0);
        }
    }
    assert!(bench.calibrating.is_none(), "it plays");
}

#[test]
fn what_cannot_be_measured_is_asked_for_no_faster_than_the_retry() {
    let mut bench = scaling();
    bench.asks_for_speed = Some("draughts".to_owned());
    for _ in 0..600 {
        while let Some(call) = bench
            .pending_call(|request| matches!(request, Call::Lease { .. } | Call::Heartbeat { .. }))
        {
            bench.answer(call, 0);
        }
        bench.calibrate(None);
        bench.wait(100);
    }
    assert!((2..=13).contains(&bench.calibrations), "{} in a minute", bench.calibrations);
    assert!(bench.asked <= 130, "{} in a minute", bench.asked);
}

#[test]
fn a_worker_ends_whatever_is_being_measured() {
    for now in [false, true] {
        let mut bench = scaling();
        answer(&mut bench, |request| matches!(request, Call::Lease { .. }), 2);
        answer(&mut bench, |request| matches!(request, Call::GetCell(_)), 0);
        assert!(bench.calibrating.is_some());
        bench.is_ending = true;
        bench.handle(if now { Event::EndNow } else { Event::Finish });
        if let Some(call) = bench.pending_call(|request| matches!(request, Call::Lease { .. })) {
            bench.answer(call, 0);
        }
        if let Some(call) = bench.pending_call(is_heartbeat) {
            bench.answer(call, 0);
        }
        answer(&mut bench, |request| matches!(request, Call::GiveBack { .. }), 0);
        assert!(bench.has_ended);
        bench.calibrate(Some(1));
    }
}
