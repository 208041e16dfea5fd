//! Disturbed games are played again, over real gRPC, with a kill in between.

use std::time::Duration;

use spelrum_proto::v1;
use spelrum_proto::v1::Verdict;
use spelrum_test_support::{HandWorker, Served, Site, game_mut, quick_sweep};

/// The same result, of players that had so much of each 10 ms that a move took.
fn thought(mut result: v1::Result, cpu_us: u64) -> v1::Result {
    for mv in &mut game_mut(&mut result).moves {
        (mv.wall_us, mv.cpu_us) = (10_000, cpu_us);
    }
    result
}

/// The next lease, whose games are played by players that had so much.
async fn next(worker: &mut HandWorker, cpu_us: u64) -> Vec<v1::Result> {
    let grant = worker.granted().await;
    worker.play(&grant).await.into_iter().map(|result| thought(result, cpu_us)).collect()
}

fn sweep(name: &str, timing: &str) -> String {
    format!("measure = \"time\"\ntiming = {timing}\n{}", quick_sweep(name, 2))
}

const REASONS: &str = "SELECT count(*) FROM uncounted_games WHERE reason = 'disturbed'";

#[tokio::test]
async fn a_disturbed_game_is_played_again_until_it_may_not_be() {
    let site = Site::new();
    let mut served = site.serve().await;
    served.submit(&sweep("again", "{ disturbed = \"replay\" }")).await;
    let mut worker = HandWorker::new(&served).await;
    let first = next(&mut worker, 9_000).await;
    assert_eq!(first.len(), 2);
    assert_eq!(worker.report(first.clone()).await.unwrap(), [Verdict::Uncounted; 2]);
    // The reply was lost; and a message may have it twice.
    let twice = [first.clone(), first.clone()].concat();
    assert_eq!(worker.report(twice).await.unwrap(), [Verdict::Uncounted; 4]);
    assert_eq!(served.number(REASONS).await, 2);
    assert_eq!(served.summary("again").await.games_settled, 0);

    // One of them is well now, and the other is disturbed once more. Both come twice in one message.
    let second = next(&mut worker, 9_900).await;
    let [well, ill] = &second[..] else { panic!("two games come back") };
    let ill = thought(ill.clone(), 9_400);
    let both = vec![well.clone(), well.clone(), ill.clone(), ill];
    let expected = [Verdict::Counted, Verdict::Uncounted, Verdict::Uncounted, Verdict::Uncounted];
    assert_eq!(worker.report(both).await.unwrap(), expected);
    assert_eq!(served.number(REASONS).await, 3);

    // What is known of it outlives the coordinator.
    let address = served.address;
    served.kill().await;
    served = Served::start(&site.db(), address, Duration::from_secs(5)).await;
    let mut worker = HandWorker::new(&served).await;
    let third = next(&mut worker, 9_000).await;
    assert_eq!(worker.report(third).await.unwrap(), [Verdict::Counted]);
    served.wait_for_state("again", "finished").await;
    assert_eq!(served.number(REASONS).await, 3);
    let marks = "SELECT sum(disturbed) * 10 + count(*) FROM games WHERE counted = 1";
    assert_eq!(served.number(marks).await, 12);
    let first_lost = "SELECT count(*) FROM uncounted_games WHERE lease_id IS NULL";
    assert_eq!(served.number(first_lost).await, 1, "the well one that came twice is a repeat");
    served.stop().await.unwrap();
}

#[tokio::test]
async fn where_disturbed_games_count_none_is_played_again() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&sweep("counted", "{ disturbed_above = 0.2 }")).await;
    let mut worker = HandWorker::new(&served).await;
    let results = next(&mut worker, 7_999).await;
    assert_eq!(worker.report(results).await.unwrap(), [Verdict::Counted; 2]);
    served.wait_for_state("counted", "finished").await;
    assert_eq!(served.number("SELECT sum(disturbed) FROM games").await, 2);
    served.stop().await.unwrap();
}
