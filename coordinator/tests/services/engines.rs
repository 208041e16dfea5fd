//! Games that need programs of others go to workers that have them, and `Status` says which are missing.

use spelrum_proto::limits::ENGINES_MAX;
use spelrum_proto::{Reason, v1};
use spelrum_test_support::{HandWorker, Served, Site, hello, quick_sweep, reason};
use uuid::Uuid;

/// Two games that need "Fish 16".
const SWEEP: &str = r#"
    name = "fishing"
    game = "chess"
    seed = 1
    games = 2
    [players.fish]
    algorithm = "uci"
    engine = "fish"
    depth = 3
    version = "16"
    [players.random]
    algorithm = "random"
"#;

fn offer(engine: &str, name: &str) -> v1::OfferedEngine {
    let identity =
        v1::EngineIdentity { name: name.to_owned(), author: String::new(), sha256: vec![7; 32] };
    v1::OfferedEngine {
        engine: engine.to_owned(),
        protocol: "uci".to_owned(),
        at_once: 1,
        identity: Some(identity),
    }
}

/// One that has these, and says Hello again if it did before.
async fn worker_with(served: &Served, uuid: &str, engines: Vec<v1::OfferedEngine>) -> HandWorker {
    let worker = HandWorker::with_uuid(served, uuid).await;
    let introduction = v1::HelloRequest { engines, ..hello(uuid) };
    let answer = worker.client.clone().hello(introduction).await.unwrap().into_inner();
    assert_eq!(answer.worker_id, worker.id);
    worker
}

/// What is told of engines, and how many cells it is about.
async fn missing(served: &Served) -> Vec<(String, u64, String)> {
    let told = served.status().await.attention.into_iter();
    let told = told.filter(|it| it.kind == "missing_engines");
    told.map(|it| (it.experiment, it.count, it.problem)).collect()
}

#[tokio::test]
async fn games_wait_for_a_worker_that_has_their_engines() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(SWEEP).await;
    // What nobody can play is told before anybody is there, and holds nothing else up.
    let [(_, 1, _)] = &missing(&served).await[..] else { panic!("one") };
    let mut without = HandWorker::new(&served).await;
    let idle = without.lease().await.unwrap();
    assert!(idle.grant.is_none() && !idle.all_done && idle.retry_after_ms > 0, "{idle:?}");
    served.submit(&quick_sweep("other", 2)).await;
    let grant = without.granted().await;
    without.give_back(&[grant.lease_id]).await.unwrap();

    let uuid = Uuid::new_v4().to_string();
    let mut other = worker_with(&served, &uuid, vec![offer("fish", "Fish 15")]).await;
    let told = missing(&served).await;
    let [(experiment, 1, problem)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(experiment, "fishing");
    assert_eq!(
        problem,
        "cell 1 (fish against random) needs fish (uci), version \"16\", which no worker that is here has: \
         by hand has fish (uci), which calls itself \"Fish 15\""
    );
    served.steer("other", v1::Action::Pause).await.unwrap();
    assert!(other.lease().await.unwrap().grant.is_none());

    // After a restart, too. Whoever says Hello with other engines has these.
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut other = worker_with(&served, &uuid, vec![offer("fish", "Fish 15")]).await;
    let idle = other.lease().await.unwrap();
    assert!(idle.grant.is_none() && !idle.all_done, "{idle:?}");
    let both = vec![offer("bird", ""), offer("fish", "Fish 16")];
    let mut other = worker_with(&served, &uuid, both.clone()).await;
    assert_eq!(missing(&served).await, []);
    let status = served.status().await;
    assert_eq!((status.workers[0].engines.clone(), status.workers[0].engines_total), (both, 2));
    let grant = other.granted().await;
    assert_eq!(grant.games[0].count, 2);
    // What it holds goes back, and it has the engine no more.
    other.give_back(&[grant.lease_id]).await.unwrap();
    let mut other = worker_with(&served, &uuid, Vec::new()).await;
    assert!(other.lease().await.unwrap().grant.is_none());
    assert_eq!(missing(&served).await.len(), 1);
    served.stop().await.unwrap();
}

#[tokio::test]
async fn engines_that_are_malformed_are_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.work().await;
    let uuid = Uuid::new_v4().to_string();
    let bad = [
        vec![v1::OfferedEngine { engine: String::new(), ..offer("fish", "") }],
        vec![v1::OfferedEngine { engine: "a\nb".to_owned(), ..offer("fish", "") }],
        vec![v1::OfferedEngine { protocol: "xboard".to_owned(), ..offer("fish", "") }],
        vec![v1::OfferedEngine { at_once: 0, ..offer("fish", "") }],
        vec![v1::OfferedEngine { identity: None, ..offer("fish", "") }],
        vec![offer("fish", &"x".repeat(1_000))],
        vec![offer("fish", ""); ENGINES_MAX + 1],
    ];
    for engines in bad {
        let answer = client.hello(v1::HelloRequest { engines, ..hello(&uuid) }).await;
        assert_eq!(reason(answer), Reason::Malformed);
    }
    assert_eq!(served.number("SELECT count(*) FROM workers").await, 0);
    served.stop().await.unwrap();
}

/// Invariant 9: an answer holds what many workers have.
#[tokio::test]
async fn a_status_of_many_engines_is_an_answer() {
    let site = Site::new();
    let served = site.serve().await;
    let name = "x".repeat(200);
    let engines: Vec<_> = (0..ENGINES_MAX).map(|id| offer(&format!("{id}{name}"), &name)).collect();
    for _ in 0..12 {
        let uuid = Uuid::new_v4().to_string();
        worker_with(&served, &uuid, engines.clone()).await;
    }
    let status = served.status().await;
    let told: usize = status.workers.iter().map(|worker| worker.engines.len()).sum();
    assert!((1_000..=2_000).contains(&told), "{told}");
    assert!(status.workers.iter().all(|it| it.engines_total == ENGINES_MAX as u64));
    assert!(status.workers.iter().all(|it| it.engines[0] == engines[0]));
    served.stop().await.unwrap();
}
