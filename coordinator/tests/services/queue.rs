//! Games that wait, by what they need: over the API, and as a metric.

use spelrum_answers::{Action, GetQueue, QueuedGames};
use spelrum_test_support::{HandWorker, Served, Site, eventually, quick_sweep};

use crate::metrics::page;

async fn groups(served: &Served) -> Vec<QueuedGames> {
    let queue = served.call(&GetQueue {}).await.unwrap();
    let sum: u64 = queue.groups.iter().map(|group| group.games).sum();
    assert_eq!(sum, queue.games);
    queue.groups
}

/// Waits until the metric says so, which is made from time to time.
async fn becomes(served: &Served, worker: &str, timed: &str, games: f64) {
    let labels = [("worker", worker), ("timed", timed), ("memory", "1GiB")];
    eventually("the metric", async || {
        let page = page(served).await;
        let number = page.number("spelrum_games_queued_by_need", &labels);
        (number.to_bits() == games.to_bits()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn waiting_games_are_counted_by_their_needs() {
    let site = Site::new();
    let served = site.serve().await;
    assert_eq!(groups(&served).await, []);
    served.submit(&quick_sweep("plain", 100)).await;
    let placed = |name: &str, games: u64, setting: &str| {
        quick_sweep(name, games).replacen("games =", &format!("{setting}\ngames ="), 1)
    };
    let require = "placement = { require = [\"site=lab2\", \"gpu\"] }";
    served.submit(&placed("placed", 20, require)).await;
    let timed = quick_sweep("timed", 30).replace("depth = 1", "move_time = \"1ms\"");
    served.submit(&timed).await;
    // Only as many as may be played at once.
    served.submit(&placed("bounded", 1_000, "games_at_once = 10")).await;

    let groups = groups(&served).await;
    let rows = groups.iter().map(|group| (group.games, group.timed, group.labels.clone()));
    let labels = vec!["gpu".to_owned(), "site=lab2".to_owned()];
    let mut rows: Vec<_> = rows.collect();
    rows.iter_mut().for_each(|(_, _, labels)| labels.sort());
    assert_eq!(rows, [(110, false, vec![]), (30, true, vec![]), (20, false, labels)]);
    assert!(groups.iter().all(|group| group.engines.is_empty()));
    assert!(groups.iter().all(|group| (1..1 << 30).contains(&group.memory_bytes)), "{groups:?}");
    becomes(&served, "any", "no", 110.0).await;
    becomes(&served, "any", "yes", 30.0).await;
    becomes(&served, "labels", "no", 20.0).await;
    becomes(&served, "engines", "no", 0.0).await;

    // What is leased or paused does not wait.
    served.steer("placed", Action::Pause).await.unwrap();
    served.steer("timed", Action::Pause).await.unwrap();
    let grant = HandWorker::new(&served).await.granted().await;
    let leased: u64 = grant.games.iter().map(|range| range.count).sum();
    let [group] = &self::groups(&served).await[..] else { panic!("one") };
    assert!((110 - leased..=110).contains(&group.games) && group.games < 110, "{group:?}");
    becomes(&served, "labels", "no", 0.0).await;
    becomes(&served, "any", "yes", 0.0).await;
}
