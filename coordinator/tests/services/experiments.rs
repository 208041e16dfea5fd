//! The `Experiments` service over real gRPC.

use super::support::{HandWorker, Site, quick_sweep, reason, submission};
use spelrum_proto::limits::{QUERY_ROWS_MAX, SWEEP_BYTES_MAX};
use spelrum_proto::v1::{Action, sql_value::Value};
use spelrum_proto::{Reason, Refusal, v1};
use tonic::Code;
use uuid::Uuid;

#[tokio::test]
async fn a_repeated_submit_is_a_no_op() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.experiments().await;
    let request = submission(&quick_sweep("once", 10));
    let first = client.submit(request.clone()).await.unwrap().into_inner();
    assert_eq!((&*first.name, first.cells, first.games), ("once", 1, 10));
    assert!(!first.existed);
    assert_eq!(first.experiment_uuid, request.experiment_uuid);

    let again = client.submit(request.clone()).await.unwrap().into_inner();
    assert!(again.existed);
    assert_eq!(again.experiment_uuid, first.experiment_uuid);
    // The same file, submitted anew.
    let anew = client.submit(submission(&request.sweep_toml)).await.unwrap().into_inner();
    assert!(anew.existed);
    assert_eq!(anew.experiment_uuid, first.experiment_uuid);
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 1);
    assert_eq!(served.number("SELECT count(*) FROM cells").await, 1);

    let changed = submission(&quick_sweep("once", 12));
    assert_eq!(reason(client.submit(changed).await), Reason::NameTaken);
    let list = client.list(v1::ListRequest {}).await.unwrap().into_inner();
    assert_eq!(list.experiments.len(), 1);
    assert_eq!((list.experiments[0].games_planned, list.experiments[0].games_settled), (10, 0));
}

#[tokio::test]
async fn a_wrong_sweep_is_refused_with_its_place_and_a_remedy() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.experiments().await;
    let toml =
        quick_sweep("wrong", 10).replace("algorithm = \"minimax\"", "algorithm = \"minmax\"");
    let status = client.submit(submission(&toml)).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let refusal = Refusal::of(&status).unwrap();
    assert_eq!(refusal.reason, Reason::BadSweep);
    assert!(refusal.problem.contains("minmax"), "{refusal:?}");
    assert!(!refusal.remedy.is_empty());
    let place = refusal.place.unwrap();
    let line = toml[..place.offset].matches('\n').count() + 1;
    assert_eq!(place.line, Some(line));
    assert!(toml[place.offset..place.offset + place.length].contains("minmax"), "{place:?}");

    assert_eq!(reason(client.submit(submission("name = ")).await), Reason::BadSweep);
    let no_uuid = v1::SubmitRequest { experiment_uuid: "1".to_owned(), ..submission(&toml) };
    assert_eq!(reason(client.submit(no_uuid).await), Reason::Malformed);
    let long = format!("# {}\n", "x".repeat(SWEEP_BYTES_MAX));
    assert_eq!(reason(client.submit(submission(&long)).await), Reason::Malformed);
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 0);
}

#[tokio::test]
async fn an_experiment_is_steered() {
    let site = Site::new();
    let served = site.serve().await;
    let uuid = served.submit(&quick_sweep("steered", 1_000)).await.experiment_uuid;
    let mut worker = HandWorker::new(&served).await;
    served.steer("steered", Action::Pause).await.unwrap();
    served.steer("steered", Action::Pause).await.unwrap();
    let idle = worker.lease().await.unwrap();
    assert!(idle.grant.is_none() && idle.retry_after_ms > 0 && idle.all_done);
    assert_eq!(served.summary("steered").await.state, "paused");

    // It is still paused after a restart.
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut worker = HandWorker::with_uuid(&served, &worker.uuid).await;
    assert!(worker.lease().await.unwrap().grant.is_none());
    served.steer(&uuid, Action::Resume).await.unwrap();
    let grant = worker.granted().await;

    served.steer(&uuid, Action::Cancel).await.unwrap();
    served.steer(&uuid, Action::Cancel).await.unwrap();
    assert_eq!(worker.heartbeat(&[grant.lease_id]).await.unwrap(), [grant.lease_id]);
    assert_eq!(reason(served.steer(&uuid, Action::Resume).await), Reason::WrongState);
    assert_eq!(served.summary(&uuid).await.state, "cancelled");
    assert!(worker.lease().await.unwrap().grant.is_none());

    assert_eq!(reason(served.steer("nobody", Action::Pause).await), Reason::UnknownExperiment);
    assert_eq!(reason(served.steer(&uuid, Action::Unspecified).await), Reason::Malformed);
    let unknown = v1::StatusRequest { experiment: Uuid::new_v4().to_string() };
    let mut client = served.experiments().await;
    assert_eq!(reason(client.status(unknown).await), Reason::UnknownExperiment);
}

#[tokio::test]
async fn a_finished_experiment_cannot_be_steered() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("done", 2)).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.reaches("done", "finished").await;
    for action in [Action::Pause, Action::Resume, Action::Cancel] {
        assert_eq!(reason(served.steer("done", action).await), Reason::WrongState);
    }
}

#[tokio::test]
async fn queries_are_bounded_and_read_only() {
    let site = Site::new();
    let served = site.serve().await;
    let mut client = served.experiments().await;
    let mut run = async |sql: &str, rows_max: u32| {
        let request = v1::QueryRequest { sql: sql.to_owned(), rows_max };
        let mut stream = client.query(request).await?.into_inner();
        let mut pages = Vec::new();
        while let Some(page) = stream.message().await? {
            pages.push(page);
        }
        Ok::<_, tonic::Status>(pages)
    };
    let counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        SELECT i, 'text ' || i AS t, NULL AS missing, i / 2.0 AS half FROM n";

    let pages = run(counting, 7).await.unwrap();
    let [page] = &pages[..] else { panic!("one page") };
    assert_eq!(page.columns, ["i", "t", "missing", "half"]);
    assert_eq!(page.rows.len(), 7);
    assert!(page.truncated);
    let values: Vec<_> = page.rows[0].values.iter().map(|it| it.value.clone()).collect();
    assert_eq!(
        values,
        [
            Some(Value::Integer(1)),
            Some(Value::Text("text 1".to_owned())),
            None,
            Some(Value::Real(0.5))
        ]
    );

    let pages = run(counting, 60_000).await.unwrap();
    assert!(pages.len() > 1, "a large answer comes in pages");
    assert_eq!(pages.iter().map(|page| page.rows.len()).sum::<usize>(), 50_000);
    assert!(pages.iter().all(|page| !page.truncated));
    assert!(pages[1..].iter().all(|page| page.columns.is_empty()));

    for bad in [
        "DELETE FROM games",
        "SELECT 1; SELECT 2",
        "SELEC 1",
        "",
        "SELECT * FROM no_such_table",
        "PRAGMA journal_mode = DELETE",
        "ATTACH 'other.db' AS other",
    ] {
        assert_eq!(reason(run(bad, 10).await), Reason::BadQuery, "{bad}");
    }
    assert_eq!(reason(run("SELECT 1", QUERY_ROWS_MAX + 1).await), Reason::BadQuery);
    assert_eq!(
        reason(run(&format!("SELECT '{}'", "x".repeat(70_000)), 1).await),
        Reason::Malformed
    );
    assert_eq!(reason(run("SELECT randomblob(3000000)", 1).await), Reason::BadQuery);
}
