//! A coordinator that is replaced while its workers play.

use spelrum_proto::limits::REPORT_RESULTS_MAX;
use spelrum_proto::v1::Verdict;
use spelrum_test_support::{HandWorker, Site, hello, quick_sweep};
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
