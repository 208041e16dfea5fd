//! Workers that were killed, in `Status`: named until they are back, or dismissed.

use std::time::Duration;

use spelrum_answers::{AttentionKind, ExcludeWorkers, Exclusion, WorkerSummary};
use spelrum_model::WorkerId;
use spelrum_proto::v1;
use spelrum_test_support::{HandWorker, Served, Site, eventually, hello, quick_sweep};

const KILLED: &str = "11111111-1111-4111-8111-111111111111";
const NEXT: &str = "22222222-2222-4222-8222-222222222222";

/// A worker that is granted games and never heard of again, until its lease has expired.
async fn kill(served: &Served, uuid: &str) -> HandWorker {
    let hello = v1::HelloRequest { name: "frail".to_owned(), ..hello(uuid) };
    let mut worker = HandWorker::introduced(served, hello).await;
    worker.granted().await;
    eventually("its lease expires", async || named(served, "went back").await).await;
    worker
}

/// What `Status` says of silent workers, once it has these words.
async fn named(served: &Served, words: &str) -> Option<String> {
    let attention = served.status().await.attention;
    let silent = attention.into_iter().filter(|item| item.kind == AttentionKind::SilentWorkers);
    silent.map(|item| item.problem).find(|problem| problem.contains(words))
}

async fn dismiss(served: &Served, worker: &str) -> Vec<WorkerId> {
    let dismiss = ExcludeWorkers {
        worker: worker.to_owned(),
        experiment: None,
        what: Exclusion::Dismiss,
        since_unix_us: None,
        engine: None,
    };
    served.call(&dismiss).await.unwrap().dismissed
}

async fn first_worker(served: &Served) -> WorkerSummary {
    served.status().await.coordinator.unwrap().workers.remove(0)
}

#[tokio::test]
async fn a_killed_worker_is_named_until_it_is_heard_of_again() {
    let site = Site::new();
    let served = site.serve_with(Duration::from_millis(20)).await;
    served.submit(&quick_sweep("silence", 4)).await;
    let mut killed = kill(&served, KILLED).await;
    let problem = named(&served, "went back").await.unwrap();
    assert!(problem.starts_with("worker 1 (frail on "), "{problem}");
    assert!(first_worker(&served).await.lost_games > 0);
    killed.heartbeat(&[]).await.unwrap();
    assert_eq!(named(&served, "went back").await, None);
    assert_eq!(first_worker(&served).await.lost_games, 0);
}

#[tokio::test]
async fn a_killed_worker_is_named_until_it_starts_again_or_is_dismissed() {
    let site = Site::new();
    let served = site.serve_with(Duration::from_millis(20)).await;
    served.submit(&quick_sweep("silence", 4)).await;
    let _killed = kill(&served, KILLED).await;
    let _next = kill(&served, NEXT).await;
    let problem = named(&served, "went back").await.unwrap();
    assert!(problem.starts_with("worker 2 (frail on "), "the first is back: {problem}");
    assert!(dismiss(&served, "1").await.is_empty());
    assert_eq!(dismiss(&served, "frail").await, [WorkerId(2)]);
    assert_eq!(named(&served, "went back").await, None);
}
