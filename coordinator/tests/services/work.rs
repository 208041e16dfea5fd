//! The `Work` service over real gRPC, driven by hand: what counts, what does not, and what is
//! refused.

use std::ops::ControlFlow;
use std::time::Duration;

use spelrum_answers::{Action, SqlValue};
use spelrum_engine::ENGINE_REVISION;
use spelrum_proto::limits::{NUMBER_MAX, REPORT_RESULTS_MAX};
use spelrum_proto::v1::Verdict;
use spelrum_proto::{PROTOCOL, Reason, Refusal, v1};
use spelrum_store::Readers;
use spelrum_test_support::{
    HandWorker, Site, eventually, failed_result, game_mut, hello, quick_sweep, reason,
};
use tonic::Code;
use uuid::Uuid;

const UUID: &str = "67e55044-10b1-426f-9247-bb680e5fe0c8";

#[tokio::test]
async fn hello_names_the_worker_for_good() {
    let site = Site::new();
    let served = site.serve().await;
    let first = HandWorker::with_uuid(&served, &UUID.to_uppercase()).await;
    let other = HandWorker::new(&served).await;
    assert_ne!(first.id, other.id);

    let mut client = served.work().await;
    let before = client.hello(hello(UUID)).await.unwrap().into_inner();
    assert_eq!(before.worker_id, first.id);
    assert_eq!(before.protocol, PROTOCOL);
    assert_eq!(before.heartbeat_interval_ms, 5_000);
    assert_eq!(before.report_results_max as usize, REPORT_RESULTS_MAX);
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut client = served.work().await;
    let after = client.hello(hello(UUID)).await.unwrap().into_inner();
    assert_eq!(after.worker_id, before.worker_id);
    assert_eq!(after.database_uuid, before.database_uuid);
    assert_ne!(after.coordinator_epoch, before.coordinator_epoch);

    let elsewhere = Site::new();
    let mut client = elsewhere.serve().await.work().await;
    let elsewhere = client.hello(hello(UUID)).await.unwrap().into_inner();
    assert_ne!(elsewhere.database_uuid, before.database_uuid);
}

#[tokio::test]
async fn a_lease_tells_each_sweeps_game_timeout() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("patient", 2)).await;
    served.submit(&format!("game_timeout = \"1.5s\"\n{}", quick_sweep("hasty", 2))).await;
    let stored = "SELECT game_timeout_us FROM experiments WHERE name = 'hasty'";
    assert_eq!(served.number(stored).await, 1_500_000);
    let none = "SELECT game_timeout_us IS NULL FROM experiments WHERE name = 'patient'";
    assert_eq!(served.number(none).await, 1);
    // And after a restart.
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut worker = HandWorker::new(&served).await;
    let mut timeouts = std::collections::BTreeMap::new();
    while let Some(grant) = worker.lease().await.unwrap().grant {
        for games in &grant.games {
            *timeouts.entry(games.game_timeout_ms).or_insert(0) += games.count;
        }
    }
    assert_eq!(timeouts, [(0, 2), (1_500, 2)].into());
}

#[tokio::test]
async fn other_protocols_and_engines_are_refused_with_a_remedy() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.work().await;
    let mut refused = async |hello: v1::HelloRequest| {
        let protocol = hello.protocol;
        let status = client.hello(hello).await.unwrap_err();
        let refusal = Refusal::from_status(&status).unwrap();
        assert!(!refusal.remedy.is_empty() && status.message().contains(&refusal.remedy));
        let both = format!("speaks protocol {protocol}, and the coordinator protocol {PROTOCOL}");
        assert_eq!(refusal.problem.contains(&both), protocol != PROTOCOL, "{}", refusal.problem);
        (status.code(), refusal.reason)
    };
    let precondition = |reason| (Code::FailedPrecondition, reason);
    for protocol in [PROTOCOL - 1, PROTOCOL + 1] {
        let other = v1::HelloRequest { protocol, ..hello(UUID) };
        assert_eq!(refused(other).await, precondition(Reason::Protocol));
    }
    // Whatever else another protocol's message may say.
    let strange = v1::HelloRequest { protocol: 0, slots: 0, name: String::new(), ..hello("") };
    assert_eq!(refused(strange).await, precondition(Reason::Protocol));
    let other = v1::HelloRequest { engine_revision: ENGINE_REVISION + 1, ..hello(UUID) };
    assert_eq!(refused(other).await, precondition(Reason::EngineRevision));
    let malformed = v1::HelloRequest { slots: 0, ..hello(UUID) };
    assert_eq!(refused(malformed).await, (Code::InvalidArgument, Reason::Malformed));
    assert_eq!(refused(hello("me")).await, (Code::InvalidArgument, Reason::Malformed));
    assert_eq!(served.number("SELECT count(*) FROM workers").await, 0);
    assert!(client.hello(hello(UUID)).await.is_ok());
}

/// A worker whose system reports nothing says nothing of its machine; one that says Hello again says what it is now.
#[tokio::test]
async fn what_results_come_from_is_kept() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.work().await;
    let plain = v1::HelloRequest { cpu_model: String::new(), logical_cores: 0, ..hello(UUID) };
    client.hello(plain.clone()).await.unwrap();
    let unsaid = "SELECT count(*) FROM workers WHERE cpu_model = '' AND logical_cores IS NULL
        AND operating_system || build_commit || build_profile || cores = '' AND quiet_slots IS NULL";
    assert_eq!(served.number(unsaid).await, 1);
    let introduction = v1::HelloRequest {
        cpu_model: "A Processor".to_owned(),
        logical_cores: 64,
        operating_system: "a system".to_owned(),
        build_commit: "00ff".to_owned(),
        build_profile: "release".to_owned(),
        quiet_slots: Some(1),
        cpu_quota_us: 150_000,
        cpu_period_us: 100_000,
        ..plain
    };
    client.hello(introduction).await.unwrap();
    let sql = "SELECT count(*) FROM workers WHERE cpu_model = 'A Processor' AND logical_cores = 64
        AND operating_system = 'a system' AND build_commit = '00ff' AND build_profile = 'release'
        AND (quiet_slots, cpu_quota_us, cpu_period_us) = (1, 150000, 100000)";
    assert_eq!(served.number(sql).await, 1);
}

/// Invariant 4: absolute, identified results count once, however often they are sent.
#[tokio::test]
async fn a_repeated_report_is_acknowledged_and_counts_once() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("repeats", 4)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    let all = results.len();
    assert_eq!(worker.report(results.clone()).await.unwrap(), vec![Verdict::Counted; all]);
    assert_eq!(worker.report(results.clone()).await.unwrap(), vec![Verdict::Uncounted; all]);
    assert_eq!(served.number("SELECT count(*) FROM games WHERE counted = 1").await, all as i64);
    let repeats = "SELECT count(*) FROM uncounted_games WHERE reason = 'repeat'";
    assert_eq!(served.number(repeats).await, all as i64);

    // Twice in one message, too.
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    let doubled: Vec<_> = results.iter().flat_map(|game| [game.clone(), game.clone()]).collect();
    let expected = [Verdict::Counted, Verdict::Uncounted].repeat(results.len());
    assert_eq!(worker.report(doubled).await.unwrap(), expected);
    worker.work_until_done().await;
    let summary = served.wait_for_state("repeats", "finished").await;
    assert_eq!((summary.games_settled, summary.games_planned), (4, 4));
}

#[tokio::test]
async fn one_game_twice_in_a_message_counts_once() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("twice", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    let doubled: Vec<_> = results.iter().flat_map(|game| [game.clone(), game.clone()]).collect();
    let expected = [Verdict::Counted, Verdict::Uncounted].repeat(results.len());
    assert_eq!(worker.report(doubled).await.unwrap(), expected);
    let games = served.number("SELECT count(*) FROM games").await;
    assert_eq!(games, results.len() as i64);
}

/// Invariant 4: a deterministic game that differs is kept whole, as a conflict.
#[tokio::test]
async fn a_conflicting_report_is_kept() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("conflict", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let mut results = worker.play(&grant).await;
    worker.report(results.clone()).await.unwrap();
    game_mut(&mut results[0]).moves[0].nodes += 1;
    game_mut(&mut results[1]).wall_us += 1;
    let verdicts = worker.report(results).await.unwrap();
    assert_eq!(verdicts[..2], [Verdict::Uncounted, Verdict::Uncounted]);
    let reasons = served.query("SELECT reason FROM uncounted_games ORDER BY number").await.unwrap();
    let text = |text: &str| vec![SqlValue::Text(text.to_owned())];
    assert_eq!(reasons, [text("conflict"), text("repeat")]);
    let moves = served.number("SELECT count(*) FROM uncounted_moves").await;
    assert!(moves > 0, "kept whole");
}

/// Invariant 6: a result is taken only for a game that was leased to the worker reporting it.
#[tokio::test]
async fn a_strangers_report_is_rejected() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("strangers", 1_000)).await;
    let mut worker = HandWorker::new(&served).await;
    let mut stranger = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    let rejected = vec![Verdict::Rejected; results.len()];
    assert_eq!(stranger.report(results.clone()).await.unwrap(), rejected);

    // Nor for a game outside the lease, of another lease, of a cell or lease that is none.
    let mut wrong = vec![results[0].clone(); 4];
    game_mut(&mut wrong[0]).number = 999;
    wrong[1].lease_id = stranger.granted().await.lease_id;
    game_mut(&mut wrong[2]).cell_id = 12_345;
    wrong[3].lease_id = 12_345;
    assert_eq!(worker.report(wrong).await.unwrap(), [Verdict::Rejected; 4]);
    assert_eq!(served.number("SELECT count(*) FROM games").await, 0);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);

    let counted = vec![Verdict::Counted; results.len()];
    assert_eq!(worker.report(results).await.unwrap(), counted);
}

#[tokio::test]
async fn whoever_is_not_known_must_say_hello() {
    let site = Site::new();
    let served = site.serve().await;
    let mut worker = HandWorker::new(&served).await;
    worker.epoch += 1;
    assert_eq!(reason(worker.lease().await), Reason::SayHello);
    assert_eq!(reason(worker.report(Vec::new()).await), Reason::SayHello);
    assert_eq!(reason(worker.heartbeat(&[]).await), Reason::SayHello);
    assert_eq!(reason(worker.give_back(&[]).await), Reason::SayHello);
    worker.epoch -= 1;
    worker.id += 1;
    assert_eq!(reason(worker.lease().await), Reason::SayHello);
    worker.id -= 1;
    assert!(worker.lease().await.is_ok());

    // After a restart the same worker is a stranger until it says Hello; its lease is still its.
    served.submit(&quick_sweep("restart", 2)).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut back = HandWorker { client: served.work().await, ..worker };
    assert_eq!(reason(back.report(results.clone()).await), Reason::SayHello);
    let mut back = back.reconnect(&served).await;
    assert_eq!(back.heartbeat(&[grant.lease_id]).await.unwrap(), [0; 0]);
    let counted = vec![Verdict::Counted; results.len()];
    assert_eq!(back.report(results).await.unwrap(), counted);
}

#[tokio::test]
async fn leases_are_dropped_given_back_and_may_be_late() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("leases", 2)).await;
    let mut first = HandWorker::new(&served).await;
    let mut second = HandWorker::new(&served).await;
    let grant = first.granted().await;
    assert!(second.lease().await.unwrap().grant.is_none(), "everything is leased");
    // A lease that is not the second's to hold.
    assert_eq!(second.heartbeat(&[grant.lease_id]).await.unwrap(), [grant.lease_id]);
    assert_eq!(first.heartbeat(&[grant.lease_id]).await.unwrap(), [0; 0]);

    first.give_back(&[grant.lease_id]).await.unwrap();
    first.give_back(&[grant.lease_id]).await.unwrap();
    assert_eq!(first.heartbeat(&[grant.lease_id]).await.unwrap(), [grant.lease_id]);
    let again = second.granted().await;
    assert!(again.lease_id > grant.lease_id, "lease ids only grow");
    assert_eq!(again.games[0].first_number, grant.games[0].first_number);

    // The first had finished a game after all: it is late, and counts, since the game has none.
    let results = first.play(&grant).await;
    let late = first.report(results[..1].to_vec()).await.unwrap();
    assert_eq!(late, [Verdict::Counted]);
    let results = second.play(&again).await;
    let verdicts = second.report(results).await.unwrap();
    assert_eq!(verdicts[0], Verdict::Uncounted);
    assert!(verdicts[1..].iter().all(|&verdict| verdict == Verdict::Counted));
    served.wait_for_state("leases", "finished").await;
}

#[tokio::test]
async fn a_silent_workers_games_go_to_another() {
    let site = Site::new();
    let served = site.serve_with(Duration::from_millis(20)).await;
    served.submit(&quick_sweep("silence", 2)).await;
    let mut silent = HandWorker::new(&served).await;
    let mut other = HandWorker::new(&served).await;
    let lost = silent.granted().await;
    let grant = eventually("the lease expires", async || other.lease().await.unwrap().grant).await;
    assert!(grant.lease_id > lost.lease_id);
    assert_eq!(silent.heartbeat(&[lost.lease_id]).await.unwrap(), [lost.lease_id]);
}

#[tokio::test]
async fn results_after_a_cancel_are_kept_but_do_not_count() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("cancelled", 1_000)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    assert_eq!(worker.report(results[..1].to_vec()).await.unwrap(), [Verdict::Counted]);
    served.steer("cancelled", Action::Cancel).await.unwrap();
    assert_eq!(worker.heartbeat(&[grant.lease_id]).await.unwrap(), [grant.lease_id]);
    let late = worker.report(results[1..2].to_vec()).await.unwrap();
    assert_eq!(late, [Verdict::Uncounted]);
    assert_eq!(served.number("SELECT count(*) FROM games").await, 1);
    let reason = "SELECT count(*) FROM uncounted_games WHERE reason = 'after_cancel'";
    assert_eq!(served.number(reason).await, 1);
}

#[tokio::test]
async fn a_game_that_fails_three_times_is_settled_as_failed() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("failures", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    let mut failures = 0;
    while let Some(grant) = worker.lease().await.unwrap().grant {
        let mut results = worker.play(&grant).await;
        for result in &mut results {
            if game_mut(result).number == 1 {
                *result = failed_result(result, "out of marbles");
                failures += 1;
            }
        }
        worker.report(results).await.unwrap();
    }
    assert_eq!(failures, 3);
    let summary = served.wait_for_state("failures", "finished").await;
    assert_eq!((summary.games_settled, summary.games_failed), (2, 1));
    let failed = "SELECT count(*) FROM games WHERE counted = 0 AND failure LIKE '%out of marbles%'";
    assert_eq!(served.number(failed).await, 1);
}

/// Invariants 9, 10: whatever arrives is refused or taken, and the next call is served.
#[tokio::test]
async fn malformed_messages_are_refused_and_harmless() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("malformed", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;

    let spoilt = |spoil: fn(&mut v1::Result)| {
        let mut results = results.clone();
        spoil(&mut results[1]);
        results
    };
    let malformed = [
        spoilt(|result| result.what = None),
        spoilt(|result| result.lease_id = -1),
        spoilt(|result| game_mut(result).number = 1 << 53),
        spoilt(|result| game_mut(result).outcome = 77),
        spoilt(|result| game_mut(result).termination = "boredom".to_owned()),
        spoilt(|result| game_mut(result).moves[0].nodes = u64::MAX),
        spoilt(|result| game_mut(result).opening = "\u{1}".to_owned()),
        vec![results[0].clone(); REPORT_RESULTS_MAX + 1],
    ];
    for results in malformed {
        let status = worker.report(results).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        assert!(status.message().contains("results"), "{status:?}");
    }
    assert_eq!(reason(worker.heartbeat(&[0]).await), Reason::Malformed);
    worker.id = -5;
    assert_eq!(reason(worker.lease().await), Reason::Malformed);
    let mut client = served.work().await;
    for bytes in [0, 31, 33] {
        let request = v1::GetCellRequest { definition_hash: vec![0; bytes], ..Default::default() };
        assert_eq!(reason(client.get_cell(request).await), Reason::Malformed);
    }
    let request = v1::GetCellRequest { definition_hash: vec![0; 32], ..Default::default() };
    assert_eq!(reason(client.get_cell(request).await), Reason::UnknownCell);
    // A message beyond the bound is not even decoded.
    let monster = v1::HelloRequest { name: "x".repeat(5 << 20), ..hello(UUID) };
    assert!(client.hello(monster).await.is_err());
}

/// What the rules do not allow is refused, what they cannot know is taken, however little sense it makes,
/// and nobody else suffers.
#[tokio::test]
async fn senseless_games_harm_nobody_else() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("senseless", 400)).await;
    let mut worker = HandWorker::new(&served).await;
    let mut other = HandWorker::new(&served).await;
    type Spoil = fn(&mut v1::Game);
    let spoils: [(Spoil, Verdict); 5] = [
        (|game| game.moves.clear(), Verdict::Rejected),
        (
            |game| {
                // Their sum is beyond 2^63.
                let huge =
                    v1::Move { nodes: NUMBER_MAX, wall_us: NUMBER_MAX, ..game.moves[0].clone() };
                game.moves = vec![huge; 3_000];
            },
            Verdict::Rejected,
        ),
        (|game| game.moves.iter_mut().for_each(|mv| mv.mover = 1), Verdict::Rejected),
        (|game| game.opening = "nowhere".to_owned(), Verdict::Rejected),
        (
            |game| {
                for mv in &mut game.moves {
                    (mv.nodes, mv.evaluations, mv.wall_us) = (NUMBER_MAX, NUMBER_MAX, NUMBER_MAX);
                }
            },
            Verdict::Rejected,
        ),
    ];
    for (spoil, expected) in spoils {
        let (grant, others) = (worker.granted().await, other.granted().await);
        let mut results = worker.play(&grant).await;
        let good = other.play(&others).await;
        spoil(game_mut(&mut results[0]));
        let both = async {
            let (senseless, good) =
                tokio::join!(worker.report(results.clone()), other.report(good.clone()));
            [senseless.unwrap(), good.unwrap()].concat()
        };
        let verdicts = both.await;
        let others = verdicts[1..].iter().all(|&verdict| verdict == Verdict::Counted);
        assert!(verdicts[0] == expected && others, "{verdicts:?}");
    }
}

/// Invariant 5: nothing is acknowledged that is not on disk, and what failed can be repeated.
#[tokio::test]
async fn a_failed_commit_is_unavailable_and_leaves_nothing_behind() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("full", 2)).await;
    let mut worker = HandWorker::new(&served).await;

    served.faults.fail_commits(1);
    let status = worker.lease().await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    let refusal = Refusal::from_status(&status).unwrap();
    assert_eq!(refusal.reason, Reason::Busy);
    assert!(refusal.retry_after.is_some() && refusal.problem.contains("disk is full"));
    assert_eq!(served.number("SELECT count(*) FROM leases").await, 0);

    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    let all = results.len() as i64;
    served.faults.fail_commits(3);
    for _ in 0..3 {
        let status = worker.report(results.clone()).await.unwrap_err();
        assert_eq!(status.code(), Code::Unavailable);
        assert_eq!(served.number("SELECT count(*) FROM games").await, 0);
    }
    assert_eq!(served.faults.failing_commits(), 0);
    let counted = vec![Verdict::Counted; results.len()];
    assert_eq!(worker.report(results).await.unwrap(), counted);
    assert_eq!(served.number("SELECT count(*) FROM games").await, all);
    served.wait_for_state("full", "finished").await;
}

/// A result that the store cannot take fails alone, whoever's transaction it was in.
#[tokio::test]
async fn a_poisonous_result_fails_alone() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("poison", 40)).await;
    served.faults.poison(0);
    let mut victims = Vec::new();
    for _ in 0..6 {
        let mut worker = HandWorker::new(&served).await;
        let grant = worker.granted().await;
        let results = worker.play(&grant).await;
        victims.push((worker, results));
    }
    let reporting = victims.into_iter().map(|(mut worker, results)| async move {
        loop {
            match worker.report(results.clone()).await {
                Ok(verdicts) => return verdicts.len(),
                Err(status) if status.code() == Code::Unavailable => {}
                Err(status) => {
                    assert_eq!(status.code(), Code::Internal, "{status:?}");
                    assert!(status.message().contains("poisoned"), "{status:?}");
                    let number = |result: &mut v1::Result| game_mut(result).number;
                    assert!(results.clone().iter_mut().any(|result| number(result) == 0));
                    return 0;
                }
            }
        }
    });
    let taken = futures_util::future::join_all(reporting);
    let taken = tokio::time::timeout(spelrum_test_support::DEADLINE, taken).await.unwrap();
    assert_eq!(taken.iter().filter(|&&results| results == 0).count(), 1);
    let counted = served.number("SELECT count(*) FROM games WHERE counted = 1").await;
    assert_eq!(counted, taken.iter().sum::<usize>() as i64);
}

/// Many callers at once, with commits failing between them: each answer is true.
#[tokio::test]
async fn answers_are_true_while_commits_fail() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("storm", 400)).await;
    // They say Hello before the storm: a commit that is to fail for one of them may be another's.
    let mut hands = Vec::new();
    for _ in 0..8 {
        hands.push(HandWorker::new(&served).await);
    }
    let workers = (0..).zip(hands).map(async |(number, mut worker): (u32, HandWorker)| {
        let mut counted = 0;
        let mut faults = if number == 0 { 30 } else { 0 };
        loop {
            if faults > 0 {
                faults -= 1;
                served.faults.fail_commits(1);
            }
            let answer = match worker.lease().await {
                Ok(answer) => answer,
                Err(status) if status.code() == Code::Unavailable => continue,
                Err(status) => panic!("{status:?}"),
            };
            let Some(grant) = answer.grant else {
                if answer.all_done {
                    return counted;
                }
                tokio::task::yield_now().await;
                continue;
            };
            let results = worker.play(&grant).await;
            loop {
                match worker.report(results.clone()).await {
                    Ok(verdicts) => {
                        counted +=
                            verdicts.iter().filter(|&&verdict| verdict == Verdict::Counted).count();
                        break;
                    }
                    Err(status) => assert_eq!(status.code(), Code::Unavailable, "{status:?}"),
                }
            }
        }
    });
    let counted = futures_util::future::join_all(workers);
    let counted: usize = tokio::time::timeout(spelrum_test_support::DEADLINE, counted)
        .await
        .unwrap()
        .into_iter()
        .sum();
    assert_eq!(counted, 400);
    assert_eq!(served.faults.failing_commits(), 0);
    assert_eq!(served.number("SELECT count(*) FROM games WHERE counted = 1").await, 400);
    let distinct = "SELECT count(DISTINCT number) FROM games";
    assert_eq!(served.number(distinct).await, 400);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
    served.wait_for_state("storm", "finished").await;
}

/// A second coordinator on the same file: the first ends itself at its next transaction.
#[tokio::test]
async fn a_coordinator_that_was_replaced_ends_itself() {
    use sqlx::{ConnectOptions as _, Connection as _};

    let site = Site::new();
    let served = site.serve().await;
    let mut worker = HandWorker::new(&served).await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(site.db());
    let mut other = options.connect().await.unwrap();
    sqlx::query(
        "INSERT INTO coordinators SELECT 1 + max(coordinator_epoch), 0, '0' FROM coordinators",
    )
    .execute(&mut other)
    .await
    .unwrap();
    other.close().await.unwrap();
    let status = worker.lease().await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    let error = served.ended().await.unwrap_err();
    assert!(error.to_string().contains("took the database over"), "{error}");
    assert!(!error.remedy().is_empty());
}

/// Invariants 4, 6: equal ids of another database behind the same address mean other games.
#[tokio::test]
async fn a_worker_of_another_database_passes_for_nobody() {
    let (first, second) = (Site::new(), Site::new());
    let (first, second) = (first.serve().await, second.serve().await);
    let mut stranger = HandWorker::new(&first).await;
    let known = HandWorker::new(&second).await;
    assert_eq!(stranger.id, known.id);
    stranger.client = second.work().await;
    assert_eq!(reason(stranger.lease().await), Reason::SayHello);
    assert_eq!(reason(stranger.report(Vec::new()).await), Reason::SayHello);
}

/// A database that is put back as it was begins again with the epochs, workers' ids and leases that it has had
/// since: who has them from then passes for nobody (invariants 4, 6).
#[tokio::test]
async fn a_worker_from_before_a_restore_passes_for_nobody() {
    for by_backup in [false, true] {
        let site = Site::new();
        let (db, copy) = (site.db(), site.db().with_extension("copy"));
        let served = site.serve().await;
        served.submit(&quick_sweep("restored", 1_000)).await;
        served.stop().await.unwrap();
        if by_backup {
            let readers = Readers::open(&db).await.unwrap();
            readers.back_up(&copy, |_| ControlFlow::Continue(())).unwrap();
            readers.close().await;
        } else {
            std::fs::copy(&db, &copy).unwrap();
        }
        let served = site.serve().await;
        let mut worker = HandWorker::new(&served).await;
        let grant = worker.granted().await;
        let results = worker.play(&grant).await;
        let database = worker.client.hello(hello(UUID)).await.unwrap().into_inner().database_uuid;
        served.stop().await.unwrap();
        std::fs::rename(&copy, &db).unwrap();

        let served = site.serve().await;
        let other = HandWorker::new(&served).await;
        assert_eq!(other.id, worker.id);
        worker.client = served.work().await;
        assert_eq!(reason(worker.lease().await), Reason::SayHello);
        assert_eq!(reason(worker.report(results).await), Reason::SayHello);
        // Of a backup it is known that the worker's leases are not of it.
        let after = worker.client.hello(hello(UUID)).await.unwrap().into_inner().database_uuid;
        assert_eq!(after != database, by_backup);
        served.stop().await.unwrap();
        let mut client = site.serve().await.work().await;
        let again = client.hello(hello(UUID)).await.unwrap().into_inner().database_uuid;
        assert_eq!(again, after, "it becomes another database once");
    }
}

#[tokio::test]
async fn status_shows_who_works() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("status", 1_000)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let leased: u64 = grant.games.iter().map(|range| range.count).sum();
    let results = worker.play(&grant).await;
    worker.report(results[..1].to_vec()).await.unwrap();
    let heartbeat = v1::HeartbeatRequest {
        worker_id: worker.id,
        coordinator_epoch: worker.epoch,
        lease_ids: vec![grant.lease_id],
        playing: vec![v1::GameId { cell_id: grant.games[0].cell_id, number: 1 }],
        worker_secret: worker.secret.clone(),
        followed: Vec::new(),
    };
    worker.client.heartbeat(heartbeat).await.unwrap();
    let status = served.status().await;
    let coordinator = status.coordinator.unwrap();
    assert_eq!(coordinator.epoch, 1);
    let [summary] = &coordinator.workers[..] else { panic!("{coordinator:?}") };
    assert_eq!((summary.worker.0, summary.slots), (worker.id, 1));
    assert_eq!(summary.leased_games, leased - 1);
    assert_eq!((summary.playing_games, summary.reported_games), (1, 1));
    let _ = Uuid::parse_str(&status.experiments[0].uuid).unwrap();
}
