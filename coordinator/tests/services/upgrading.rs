//! A coordinator that is replaced while its workers play, or by one with another engine.

use spelrum_answers::{Action, AttentionKind, Removing};
use spelrum_model::ExperimentState;
use spelrum_proto::Reason;
use spelrum_proto::limits::REPORT_RESULTS_MAX;
use spelrum_proto::v1::Verdict;
use spelrum_test_support::{HandWorker, Site, hello, quick_sweep, reason};
use uuid::Uuid;

/// What was played for the coordinator before counts for the one that takes its place.
#[tokio::test]
async fn workers_play_on_while_the_coordinator_is_replaced() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("rolling", 5_000)).await;
    let mut played = Vec::new();
    for _ in 0..3 {
        let hello = hello(&Uuid::new_v4().to_string());
        let mut worker = HandWorker::introduced(&served, hello.clone()).await;
        let grant = worker.granted().await;
        let results = worker.play(&grant).await;
        played.push((worker, hello, results));
    }
    served.stop().await.unwrap();

    let served = site.serve().await;
    let mut workers = Vec::new();
    for (worker, hello, results) in played {
        let mut worker = worker.reconnect_as(&served, hello).await;
        for results in results.chunks(REPORT_RESULTS_MAX) {
            for verdict in worker.report(results.to_vec()).await.unwrap() {
                assert_eq!(verdict, Verdict::Counted);
            }
        }
        workers.push(worker);
    }
    let [first, second, third] = &mut workers[..] else { unreachable!() };
    tokio::join!(first.work_until_done(), second.work_until_done(), third.work_until_done());
    served.wait_for_state("rolling", "finished").await;
    let planned = served.number("SELECT sum(games_planned) FROM cells").await;
    let counted = served.number("SELECT count(*) FROM games WHERE counted = 1").await;
    assert_eq!(counted, planned);
    assert_eq!(served.number("SELECT count(*) FROM uncounted_games").await, 0);
    assert_eq!(served.number("SELECT count(DISTINCT worker_id) FROM games").await, 3);
}

/// Invariant 2: an experiment is played by one revision of the engine.
#[tokio::test]
async fn an_experiment_of_another_engine_is_left_alone() {
    use sqlx::{ConnectOptions as _, Connection as _};

    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("older", 1_000)).await;
    let mut worker = HandWorker::new(&served).await;
    worker.granted().await;
    served.stop().await.unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(site.db());
    let mut other = options.connect().await.unwrap();
    sqlx::query("UPDATE experiments SET engine_revision = engine_revision + 1")
        .execute(&mut other)
        .await
        .unwrap();
    other.close().await.unwrap();

    let served = site.serve().await;
    served.submit(&quick_sweep("newer", 2)).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("newer", "finished").await;
    let older = served.summary("older").await;
    assert_eq!((older.state, older.games_settled), (ExperimentState::Running, 0));
    let mut attention = served.status().await.attention;
    attention.retain(|item| item.kind != AttentionKind::LittleSpace);
    let kinds = attention.iter().map(|item| (&item.kind, item.experiment.as_deref()));
    assert_eq!(kinds.collect::<Vec<_>>(), [(&AttentionKind::OtherEngine, Some("older"))]);
    // This engine does not replay its failed games either.
    assert_eq!(reason(served.steer("older", Action::Retry).await), Reason::WrongState);

    // It can be thrown away here, though its lease is nobody's to end.
    served.steer("older", Action::Pause).await.unwrap();
    served.remove("older", Removing::Everything, false).await.unwrap();
    served.removed().await;
    assert_eq!(served.number("SELECT count(*) FROM cells").await, 1);
    assert_eq!(served.number("SELECT count(*) FROM leases WHERE ended_by IS NULL").await, 0);
}
