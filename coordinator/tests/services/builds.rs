//! Builds of engines: a coordinator plays the one that its workers have, and gives a cell's games to workers with the
//! cell's build alone.

use spelrum_answers::{SqlValue, SubmitSweep, SubmittedSweep};
use spelrum_proto::{Reason, Refusal, v1};
use spelrum_test_support::{HandWorker, Served, Site, hello, submission};
use uuid::Uuid;

const SWEEP: &str = r#"
    name = "match"
    game = "chess"
    games = 20
    [players.dev]
    algorithm = "uci"
    engine = "dev"
    depth = 3
    [players.random]
    algorithm = "random"
"#;

/// A worker of this name that has this build of `dev`.
async fn worker_with(served: &Served, name: &str, build: u8) -> HandWorker {
    let uuid = Uuid::new_v4().to_string();
    let worker = HandWorker::with_uuid(served, &uuid).await;
    let dev = v1::OfferedEngine {
        engine: "dev".to_owned(),
        protocol: "uci".to_owned(),
        at_once: 1,
        identity: Some(v1::EngineIdentity { sha256: vec![7; 32], ..Default::default() }),
        capabilities: None,
        build: vec![build; 32],
    };
    let name = name.to_owned();
    let introduction = v1::HelloRequest { engines: vec![dev], name, ..hello(&uuid) };
    worker.reconnect_as(served, introduction).await
}

/// The builds that the experiment's cells demand, in the order of reports.
async fn builds(served: &Served) -> Vec<String> {
    let builds = "SELECT coalesce(substr(p.parameters_json ->> '$.build', 1, 8), 'any') FROM cells AS c
        JOIN players AS p ON p.player_id = c.first_player_id WHERE c.in_sweep = 1 ORDER BY c.number, c.cell_id";
    let text = |row: Vec<SqlValue>| match row.into_iter().next() {
        Some(SqlValue::Text(text)) => text,
        other => panic!("{other:?}"),
    };
    served.query(builds).await.unwrap().into_iter().map(text).collect()
}

async fn submit_as(
    served: &Served,
    uuid: &str,
    toml: &str,
) -> Result<SubmittedSweep, tonic::Status> {
    let submit = SubmitSweep { experiment_uuid: Some(uuid.to_owned()), ..submission(toml) };
    served.call(&submit).await
}

#[tokio::test]
async fn an_experiment_waits_for_the_first_worker_that_has_its_engine() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(SWEEP).await;
    assert_eq!(builds(&served).await, ["awaited"]);
    // Nothing has changed as long as nobody comes.
    assert!(served.submit(SWEEP).await.change.is_none());
    let mut first = worker_with(&served, "first", 0x11).await;
    assert_eq!(builds(&served).await, ["11111111"]);
    let mut second = worker_with(&served, "second", 0x22).await;
    assert!(second.lease().await.unwrap().grant.is_none());
    let grant = first.granted().await;
    assert_eq!(served.number("SELECT count(*) FROM cells WHERE next_number > 0").await, 1);
    first.give_back(&[grant.lease_id]).await.unwrap();
    assert!(second.lease().await.unwrap().grant.is_none());
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_build_that_workers_have_plays_and_of_several_none() {
    let site = Site::new();
    let served = site.serve().await;
    let _first = worker_with(&served, "first", 0x11).await;
    let uuid = Uuid::new_v4().to_string();
    submit_as(&served, &uuid, SWEEP).await.unwrap();
    assert_eq!(builds(&served).await, ["11111111"]);
    let _second = worker_with(&served, "second", 0x22).await;
    let status = submit_as(&served, &Uuid::new_v4().to_string(), SWEEP).await.unwrap_err();
    let refusal = Refusal::from_status(&status).unwrap();
    assert_eq!(refusal.reason, Reason::WrongState);
    assert_eq!(
        refusal.problem,
        "the workers have several builds of the engine dev: 11111111 (first) and 22222222 (second)"
    );
    assert!(refusal.remedy.contains("build = \"11111111\""), "{}", refusal.remedy);
    // Whose answer was lost hears what came of it.
    assert!(submit_as(&served, &uuid, SWEEP).await.unwrap().change.is_none());
    for (more, expected) in [("build = \"22222222\"\n", "22222222"), ("", "any")] {
        let any = if more.is_empty() { "any_build = true\n" } else { "" };
        let sweep = SWEEP.replace("depth = 3\n", &format!("depth = 3\n{more}"));
        served.submit(&sweep.replace("games = 20\n", &format!("games = 20\n{any}"))).await;
        assert_eq!(builds(&served).await, [expected]);
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn a_build_that_is_no_hash_is_refused() {
    let site = Site::new();
    let served = site.serve().await;
    let uuid = Uuid::new_v4().to_string();
    let worker = HandWorker::with_uuid(&served, &uuid).await;
    let dev = v1::OfferedEngine {
        engine: "dev".to_owned(),
        protocol: "uci".to_owned(),
        at_once: 1,
        identity: Some(v1::EngineIdentity { sha256: vec![7; 32], ..Default::default() }),
        capabilities: None,
        build: Vec::new(),
    };
    for bytes in [0, 31] {
        let worker_secret = worker.secret.clone();
        let engines = vec![v1::OfferedEngine { build: vec![1; bytes], ..dev.clone() }];
        let introduction = v1::HelloRequest { engines, worker_secret, ..hello(&uuid) };
        let status = worker.client.clone().hello(introduction).await.unwrap_err();
        assert_eq!(Refusal::from_status(&status).unwrap().reason, Reason::Malformed);
    }
    served.stop().await.unwrap();
}
