//! Excluding workers over the real API, with kills in between.

use spelrum_answers::{AttentionKind, ExcludeWorkers, ExcludedWorkers, Exclusion};
use spelrum_model::WorkerId;
use spelrum_proto::v1::Verdict;
use spelrum_proto::{Reason, v1};
use tonic::Status;

use spelrum_test_support::{
    HandWorker, Served, Site, eventually, failed_result, hello, quick_sweep, reason,
};

async fn exclude(
    served: &Served,
    worker: &str,
    experiment: Option<&str>,
    what: Exclusion,
) -> Result<ExcludedWorkers, Status> {
    let exclude = ExcludeWorkers {
        worker: worker.to_owned(),
        experiment: experiment.map(str::to_owned),
        what,
        since_unix_us: None,
        engine: None,
    };
    served.call(&exclude).await
}

/// Waits until all is taken out.
async fn taken_out(served: &Served, worker: &str) {
    eventually("all is taken out", async || {
        let preview = exclude(served, worker, None, Exclusion::Preview).await.unwrap();
        (!preview.goes_on).then_some(())
    })
    .await;
}

async fn named(served: &Served, name: &str, uuid: &str) -> HandWorker {
    let hello = v1::HelloRequest { name: name.to_owned(), ..hello(uuid) };
    HandWorker::introduced(served, hello).await
}

/// The worker "bad", which says Hello again.
async fn bad_again(served: &Served, bad: &HandWorker) -> HandWorker {
    bad.reconnect_as(served, v1::HelloRequest { name: "bad".to_owned(), ..hello(&bad.uuid) }).await
}

const FIRST: &str = "11111111-1111-4111-8111-111111111111";
const SECOND: &str = "22222222-2222-4222-8222-222222222222";
const THIRD: &str = "33333333-3333-4333-8333-333333333333";

async fn whose(served: &Served) -> Vec<(i64, i64)> {
    let mut whose = Vec::new();
    for worker in 1..=3 {
        let sql = format!("SELECT count(*) FROM games WHERE worker_id = {worker}");
        whose.push((worker, served.number(&sql).await));
    }
    whose
}

#[tokio::test]
async fn an_excluded_workers_games_are_played_by_others() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("half", 60)).await;
    let mut bad = named(&served, "bad", FIRST).await;
    let grant = bad.granted().await;
    let results = bad.play(&grant).await;
    bad.report(results.clone()).await.unwrap();
    let grant = bad.granted().await;
    let held = bad.play(&grant).await;

    let preview = exclude(&served, "bad", None, Exclusion::Preview).await.unwrap();
    assert_eq!((preview.games, preview.workers.len()), (results.len() as u64, 1));
    assert_eq!((preview.workers[0].worker, &*preview.workers[0].name), (WorkerId(1), "bad"));
    assert!(bad.lease().await.unwrap().grant.is_some(), "a preview changes nothing");

    exclude(&served, "1", None, Exclusion::Exclude).await.unwrap();
    let conduct = served.status().await.coordinator.unwrap().workers.remove(0).conduct;
    assert_eq!(conduct.withheld[0].kind, AttentionKind::Excluded, "{conduct:?}");
    let page = crate::pages::get(&served, "/workers", "").await.body;
    assert!(page.contains("data-exclusion=\"readmit\" data-worker=\"1\""), "{page}");
    let answer = bad.lease().await.unwrap();
    assert!(
        answer.grant.is_none() && answer.withheld.contains("spelrum worker readmit 1"),
        "{answer:?}"
    );
    // What it holds is not its own any more, and what comes of it all the same does not count.
    assert_eq!(bad.heartbeat(&[grant.lease_id]).await.unwrap(), [grant.lease_id]);
    let late = vec![held[0].clone(), failed_result(&held[1], "boom")];
    assert_eq!(bad.report(late).await.unwrap(), [Verdict::Uncounted; 2]);
    taken_out(&served, "bad").await;

    let mut good = named(&served, "good", SECOND).await;
    good.work_until_done().await;
    served.wait_for_state("half", "finished").await;
    assert_eq!(whose(&served).await, [(1, 0), (2, 60), (3, 0)]);
    let excluded = "SELECT count(*) FROM uncounted_games WHERE reason = 'excluded'";
    assert_eq!(served.number(excluded).await, results.len() as i64 + 1);
    assert_eq!(served.number("SELECT count(*) FROM attempts").await, 0);
    let rest = "SELECT count(*) FROM uncounted_games WHERE reason <> 'excluded'";
    assert_eq!(served.number(rest).await, 0);
}

/// Also of one that was finished: it runs again, and other workers of the name get nothing.
#[tokio::test]
async fn a_finished_experiment_runs_again() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("done", 20)).await;
    let mut bad = named(&served, "bad", FIRST).await;
    bad.work_until_done().await;
    served.wait_for_state("done", "finished").await;
    exclude(&served, "1", Some("done"), Exclusion::Exclude).await.unwrap();
    served.wait_for_state("done", "running").await;
    taken_out(&served, "1").await;
    // It is started again on the same machine; and is excluded from this one experiment.
    let mut again = named(&served, "bad", THIRD).await;
    assert!(again.lease().await.unwrap().withheld.contains("excluded"));
    served.submit(&quick_sweep("other", 4)).await;
    assert!(again.lease().await.unwrap().grant.is_some());
    let mut good = named(&served, "good", SECOND).await;
    let grant = good.granted().await;
    let results = good.play(&grant).await;
    good.report(results).await.unwrap();
    // Both are let in again.
    let readmitted = exclude(&served, "1", None, Exclusion::Readmit).await.unwrap();
    assert_eq!(readmitted.readmitted, [WorkerId(1), WorkerId(2)]);
    let none = exclude(&served, "1", None, Exclusion::Readmit).await.unwrap();
    assert!(none.readmitted.is_empty());
    bad.work_until_done().await;
    served.wait_for_state("done", "finished").await;
    assert_eq!(served.number("SELECT count(*) FROM games WHERE counted = 1").await, 24);
}

/// A coordinator that is killed in the middle goes on with it, and knows who is excluded.
#[tokio::test]
async fn an_exclusion_goes_on_after_every_restart() {
    let site = Site::new();
    let mut served = site.serve().await;
    served.submit(&quick_sweep("long", 4_000)).await;
    let mut bad = named(&served, "bad", FIRST).await;
    bad.work_until_done().await;
    served.wait_for_state("long", "finished").await;
    exclude(&served, "bad", None, Exclusion::Exclude).await.unwrap();
    let mut kills = 0;
    while exclude(&served, "bad", None, Exclusion::Preview).await.unwrap().goes_on {
        served.kill().await;
        served = site.serve().await;
        kills += 1;
        // Each call is followed by a piece of it.
        for _ in 0..3 {
            exclude(&served, "bad", None, Exclusion::Preview).await.unwrap();
        }
    }
    assert!(kills > 0, "it was too fast to be killed");
    let mut bad = bad_again(&served, &bad).await;
    assert!(bad.lease().await.unwrap().withheld.contains("excluded"));
    assert_eq!(served.number("SELECT count(*) FROM games").await, 0);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 4_000);
    let distinct = "SELECT count(DISTINCT number) FROM uncounted_games WHERE reason = 'excluded'";
    assert_eq!(served.number(distinct).await, 4_000);
    let mut good = named(&served, "good", SECOND).await;
    good.work_until_done().await;
    assert_eq!(served.wait_for_state("long", "finished").await.games_settled, 4_000);
}

/// What it still has taken out would be what it plays from now on; whoever of the machine is named.
#[tokio::test]
async fn nobody_is_let_in_while_results_of_the_machine_are_taken_out() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("long", 4_000)).await;
    let mut bad = named(&served, "bad", FIRST).await;
    bad.work_until_done().await;
    exclude(&served, "1", None, Exclusion::Exclude).await.unwrap();
    let _again = named(&served, "bad", THIRD).await;
    let mut refused = 0;
    for worker in ["2", "1"] {
        if exclude(&served, worker, None, Exclusion::Preview).await.unwrap().goes_on {
            let early = exclude(&served, worker, None, Exclusion::Readmit).await;
            // It may have ended between the two.
            if let Err(early) = early {
                assert_eq!(reason(Err::<(), _>(early)), Reason::WrongState);
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "it was too fast to be looked at");
    taken_out(&served, "2").await;
    let readmitted = exclude(&served, "2", None, Exclusion::Readmit).await.unwrap();
    assert_eq!(readmitted.readmitted, [WorkerId(1), WorkerId(2)]);
}

/// A host may be called by a number, as containers are; an id is one first.
#[tokio::test]
async fn a_name_may_be_a_number() {
    let site = Site::new();
    let served = site.serve().await;
    let _first = named(&served, "2", FIRST).await;
    let _second = named(&served, "100", SECOND).await;
    let matching = async |name: &str| {
        let preview = exclude(&served, name, None, Exclusion::Preview).await.unwrap();
        preview.workers.iter().map(|worker| worker.worker.0).collect::<Vec<_>>()
    };
    assert_eq!(matching("2").await, [2]);
    assert_eq!(matching("100").await, [2]);
    assert_eq!(matching("1").await, [1]);
}

#[tokio::test]
async fn what_cannot_be_excluded_is_refused_with_a_reason() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("one", 4)).await;
    let mut worker = named(&served, "w", FIRST).await;
    worker.work_until_done().await;
    for what in [Exclusion::Preview, Exclusion::Exclude, Exclusion::Readmit] {
        let unknown = exclude(&served, "nobody", None, what).await;
        assert_eq!(reason(unknown), Reason::UnknownWorker);
        let unknown = exclude(&served, "w", Some("nothing"), what).await;
        assert_eq!(reason(unknown), Reason::UnknownExperiment);
        let long = exclude(&served, &"w".repeat(1_000), None, what).await;
        assert_eq!(reason(long), Reason::Malformed);
        // Longer than the head of a call may be.
        exclude(&served, &"w".repeat(30_000), None, what).await.unwrap_err();
        let long = exclude(&served, "w", Some(&"x".repeat(100_000)), what).await;
        assert_eq!(reason(long), Reason::Malformed);
    }
    let api = served.api().await;
    for body in ["{}", r#"{"what": "out"}"#, r#"{"what": 2}"#, r#"{"what": "exclude", "x": 1}"#] {
        let target = "/api/v1/workers/w/exclusion";
        let unclear = api.send("POST", target, Some(body.to_owned())).await;
        assert_eq!(reason(unclear), Reason::Malformed, "{body}");
    }
    assert_eq!(served.number("SELECT count(*) FROM exclusions").await, 0);
    // Twice is as good as once.
    for _ in 0..2 {
        exclude(&served, "w", None, Exclusion::Exclude).await.unwrap();
    }
    taken_out(&served, "w").await;
    assert_eq!(served.number("SELECT count(*) FROM exclusions").await, 1);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 4);
}

/// Games that fail at one worker are played by the other, which is found out; nothing is lost by it.
#[tokio::test]
async fn a_worker_that_fails_much_is_quarantined_and_shown() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("sick", 60)).await;
    let mut good = named(&served, "good", FIRST).await;
    let mut bad = named(&served, "bad", SECOND).await;
    let mut withheld = String::new();
    for _round in 0..100 {
        if let Some(grant) = good.lease().await.unwrap().grant {
            let results = good.play(&grant).await;
            good.report(results).await.unwrap();
        }
        let answer = bad.lease().await.unwrap();
        withheld = answer.withheld;
        if !withheld.is_empty() {
            break;
        }
        if let Some(grant) = answer.grant {
            let results = bad.play(&grant).await;
            let failures =
                results.iter().map(|result| failed_result(result, "no memory")).collect();
            bad.report(failures).await.unwrap();
        }
    }
    assert!(withheld.contains("were then played by other workers"), "{withheld:?}");
    let status = served.status().await;
    let quarantine =
        status.attention.iter().find(|item| item.kind == AttentionKind::Quarantined).unwrap();
    assert!(
        quarantine.problem.starts_with("worker 2 (bad on here) is quarantined"),
        "{quarantine:?}"
    );
    assert!(quarantine.remedy.contains("spelrum worker readmit 2"), "{quarantine:?}");
    let readmitted = exclude(&served, "bad", None, Exclusion::Readmit).await.unwrap();
    assert_eq!(readmitted.readmitted, [WorkerId(2)]);
    let answer = bad.lease().await.unwrap();
    assert_eq!(answer.withheld, "");
    let held: Vec<i64> = answer.grant.iter().map(|grant| grant.lease_id).collect();
    bad.give_back(&held).await.unwrap();
    good.work_until_done().await;
    let summary = served.wait_for_state("sick", "finished").await;
    assert_eq!((summary.games_settled, summary.games_failed), (60, 0));
}
