//! Invariant 7 over real gRPC: cells end where their rule says, whichever games come first.

use std::time::Duration;

use spelrum_test_support::{HandWorker, Site, eventually, quick_sweep};

/// Plays what it gets, and reports it from the last game to the first; says whether there was any.
async fn play_backwards(worker: &mut HandWorker) -> bool {
    let Some(grant) = worker.lease().await.unwrap().grant else { return false };
    let mut results = worker.play(&grant).await;
    results.reverse();
    for results in results.chunks(7) {
        worker.report(results.to_vec()).await.unwrap();
    }
    true
}

async fn assert_whole(site: &Site) {
    let readers = spelrum_store::Readers::open(&site.db()).await.unwrap();
    assert_eq!(readers.recount().await.unwrap(), []);
}

#[tokio::test]
async fn a_cell_ends_by_its_rule_and_goes_on_by_another() {
    let site = Site::new();
    // Leases of workers that are gone end soon.
    let heartbeat = Duration::from_millis(50);
    let mut served = site.serve_with(heartbeat).await;
    // With few openings no precision would be reached.
    let games = quick_sweep("stopped", 600)
        .replace(r#"openings = { kind = "random", plies = 1 }"#, r#"openings = "start""#);
    let sweep = |stop: &str| format!("{stop}\n{games}");
    served.submit(&sweep("stop = { precision = 0.05 }")).await;
    let end = "SELECT coalesce(max(stop_number), 0) FROM cells";
    let mut ends = Vec::new();
    for (kills, stop) in
        [(2, ""), (0, "stop = { precision = 0.03 }"), (0, "stop = { precision = 0.08 }")]
    {
        if !stop.is_empty() {
            served.submit(&sweep(stop)).await;
        }
        for _ in 0..kills {
            let mut worker = HandWorker::new(&served).await;
            play_backwards(&mut worker).await;
            // Its next games are lost with it.
            let _ = worker.lease().await;
            served.kill().await;
            served = site.serve_with(heartbeat).await;
        }
        let mut worker = HandWorker::new(&served).await;
        eventually("the experiment is finished", async || {
            while play_backwards(&mut worker).await {}
            let state = "SELECT count(*) FROM experiments WHERE state = 'finished'";
            (served.number(state).await == 1).then_some(())
        })
        .await;
        let stop = served.number(end).await;
        assert!(stop > 0 && stop < 600, "{stop}");
        assert_eq!(served.number("SELECT count(*) FROM games WHERE counted = 1").await, stop);
        let progress = "SELECT games_settled FROM experiment_progress";
        assert_eq!(served.number(progress).await, stop);
        assert_whole(&site).await;
        ends.push(stop);
    }
    assert!(ends[1] > ends[0] && ends[2] < ends[0], "{ends:?}");
    served.stop().await.unwrap();
}
