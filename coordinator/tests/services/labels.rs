//! Sweeps that ask for labels go to workers that have them.

use spelrum_answers::AttentionKind;
use spelrum_model::labels::Label;
use spelrum_proto::v1;
use spelrum_test_support::{HandWorker, Served, Site, hello, quick_sweep};
use uuid::Uuid;

fn placed(labels: &str) -> String {
    format!("{}\n", quick_sweep("placed", 4)).replacen(
        "games =",
        &format!("placement = {{ require = {labels} }}\ngames ="),
        1,
    )
}

fn label(name: &str, value: &str) -> v1::Label {
    v1::Label { name: name.to_owned(), value: value.to_owned() }
}

async fn worker_with(served: &Served, labels: Vec<v1::Label>) -> HandWorker {
    let hello = hello(&Uuid::new_v4().to_string());
    HandWorker::introduced(served, v1::HelloRequest { labels, ..hello }).await
}

/// What is told of cells that nobody may play.
async fn unplaced(served: &Served) -> Vec<String> {
    let items = served.status().await.attention.into_iter();
    items.filter(|item| item.kind == AttentionKind::Unplaced).map(|item| item.problem).collect()
}

#[tokio::test]
async fn games_wait_for_a_worker_that_has_their_labels() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&placed("[\"site=lab2\", \"gpu\"]")).await;
    let mut without = worker_with(&served, vec![label("site", "lab1"), label("gpu", "")]).await;
    let idle = without.lease().await.unwrap();
    assert!(idle.grant.is_none() && !idle.all_done, "{idle:?}");
    assert!(idle.withheld.contains("the label site=lab2"), "{}", idle.withheld);
    assert!(idle.withheld.contains("--label site=lab2"), "{}", idle.withheld);
    let [problem] = &unplaced(&served).await[..] else { panic!("one") };
    assert!(problem.contains("the label site=lab2, which no connected worker has"), "{problem}");
    let status = served.status().await;
    let labels = status.coordinator.unwrap().workers.remove(0).labels;
    let shown = |name: &str, value: &str| Label { name: name.to_owned(), value: value.to_owned() };
    assert_eq!(labels[..], [shown("gpu", ""), shown("site", "lab1")], "by name");

    let mut able = worker_with(&served, vec![label("gpu", "1"), label("site", "lab2")]).await;
    let grant = able.granted().await;
    assert_eq!(unplaced(&served).await, [""; 0]);
    able.give_back(&[grant.lease_id]).await.unwrap();

    // Another sweep takes effect from the next lease on.
    served.submit(&placed("[\"site=lab1\"]")).await;
    assert!(able.lease().await.unwrap().withheld.contains("the label site=lab1"));
    without.granted().await;
}

#[tokio::test]
async fn malformed_labels_are_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let mut work = served.work().await;
    for labels in [
        vec![label("", "a")],
        vec![label("a b", "")],
        vec![label("a", "b\n")],
        vec![label("a", "1"), label("a", "2")],
        (0..33).map(|number| label(&format!("l{number}"), "")).collect(),
    ] {
        let hello = v1::HelloRequest { labels, ..hello(&Uuid::new_v4().to_string()) };
        let refused = work.hello(hello).await.unwrap_err();
        assert!(refused.message().contains("labels"), "{refused:?}");
    }
}
