//! Changes of experiments, queries and the status, over the API.

use axum::body::{Body, to_bytes};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use spelrum_answers::{
    Action, AttentionKind, GetProgress, GetStatus, QUERY_PATH, QueryEnd, QueryHead, RunQuery,
    SqlValue, SubmitSweep,
};
use spelrum_model::ExperimentState;
use spelrum_proto::limits::{
    NAME_BYTES_MAX, SWEEP_BYTES_MAX, SWEEP_FILES_BYTES_MAX, SWEEP_FILES_MAX,
};
use spelrum_proto::problem::Problem;
use spelrum_proto::{Reason, Refusal, v1};
use spelrum_test_support::{
    DEADLINE, HandWorker, Served, Site, eventually, hello, quick_sweep, reason, submission,
};
use tokio::time::timeout;
use tonic::{Code, Status};
use uuid::Uuid;

#[tokio::test]
async fn a_repeated_submit_is_a_no_op() {
    let site = Site::new();
    let served = site.serve().await;
    let api = served.api().await;
    let request = submission(&quick_sweep("once", 10));
    let first = api.call(&request).await.unwrap();
    assert_eq!((&*first.name, first.cells, first.games), ("once", 1, 10));
    assert!(!first.existed);
    assert_eq!(Some(&first.experiment_uuid), request.experiment_uuid.as_ref());

    let again = api.call(&request).await.unwrap();
    assert!(again.existed);
    assert_eq!(again.experiment_uuid, first.experiment_uuid);
    // The same file, submitted anew, also without a UUID.
    let anew = submission(&request.sweep_toml);
    for anew in [SubmitSweep { experiment_uuid: None, ..anew.clone() }, anew] {
        let anew = api.call(&anew).await.unwrap();
        assert!(anew.existed);
        assert_eq!(anew.experiment_uuid, first.experiment_uuid);
    }
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 1);
    assert_eq!(served.number("SELECT count(*) FROM cells").await, 1);

    let listed = served.status().await.experiments;
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].games_planned, listed[0].games_settled), (10, 0));
}

/// A sweep whose openings are in a file.
fn submission_with_openings(name: &str, openings: &str) -> SubmitSweep {
    let listed = "openings = { kind = \"listed\", file = \"../book.txt\" }";
    let drawn = "openings = { kind = \"random\", plies = 1 }";
    let toml = quick_sweep(name, 2).replace(drawn, listed);
    let files = [("../book.txt".to_owned(), openings.to_owned())].into();
    SubmitSweep { files, ..submission(&toml) }
}

#[tokio::test]
async fn files_are_planned_with_and_kept() {
    let site = Site::new();
    let served = site.serve().await;
    let api = served.api().await;
    let request = submission_with_openings("listed", "# corner\nx........\n");
    let first = api.call(&request).await.unwrap();
    assert!(!first.existed);
    let kept = "SELECT count(*) FROM experiment_files AS f JOIN experiments AS e
        ON e.experiment_id = f.experiment_id
        WHERE e.name = 'listed' AND f.name = '../book.txt' AND f.text = '# corner' || char(10)
            || 'x........' || char(10)";
    assert_eq!(served.number(kept).await, 1);
    let listed = "SELECT count(*) FROM cells JOIN cell_definitions USING (cell_id)
        WHERE openings = 'listed' AND definition_json LIKE '%x........%'";
    assert_eq!(served.number(listed).await, 1);

    // The same again, under the same UUID and under another.
    assert!(api.call(&request).await.unwrap().existed);
    let experiment_uuid = Some(Uuid::new_v4().to_string());
    let anew = SubmitSweep { experiment_uuid, ..request };
    assert!(api.call(&anew).await.unwrap().existed);
    assert_eq!(served.number("SELECT count(*) FROM experiment_files").await, 1);

    // The same text with another file is another sweep.
    let other = submission_with_openings("listed", "....x....\n");
    assert_eq!(reason(api.call(&other).await), Reason::NameTaken);
    assert_eq!(served.number(kept).await, 1);
}

#[tokio::test]
async fn a_wrong_file_is_refused_with_its_line() {
    let site = Site::new();
    let served = site.serve().await;
    let api = served.api().await;
    let wrong = submission_with_openings("wrong", ".........\nx......\n");
    let refusal = Refusal::from_status(&api.call(&wrong).await.unwrap_err()).unwrap();
    assert_eq!(refusal.reason, Reason::BadSweep);
    assert!(refusal.problem.starts_with("../book.txt, line 2: "), "{refusal:?}");
    assert_eq!(refusal.place, None, "that would be a place in the sweep");

    // A path that was sent without its file is not opened.
    let missing = submission(&submission_with_openings("missing", "").sweep_toml);
    let refusal = Refusal::from_status(&api.call(&missing).await.unwrap_err()).unwrap();
    assert_eq!(refusal.reason, Reason::BadSweep);
    assert!(refusal.problem.contains("`../book.txt`"), "{refusal:?}");

    let good = submission_with_openings("bounds", ".........\n");
    let many = (0..SWEEP_FILES_MAX).map(|number| (number.to_string(), String::new()));
    for (more, why) in [
        (many.collect(), "too many files"),
        (vec![("a".to_owned(), "#".repeat(SWEEP_FILES_BYTES_MAX))], "too long together"),
        (vec![("a".repeat(256), String::new())], "a name too long"),
    ] {
        let mut request = good.clone();
        request.files.extend(more);
        assert_eq!(reason(api.call(&request).await), Reason::Malformed, "{why}");
    }
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 0);
}

/// Invariant 9: while the disk is slow, the memory does not fill with plans.
#[tokio::test]
async fn plans_that_wait_to_be_stored_are_few() {
    let site = Site::new();
    let served = site.serve().await;
    let slow_disk = served.faults.stall_commits().await;
    let stalls = HandWorker::new(&served);
    let submits = async {
        eventually("a commit waits", async || served.faults.is_stalled().then_some(())).await;
        let submits = (0..5).map(async |number| {
            let request = submission(&quick_sweep(&format!("sweep-{number}"), 2));
            served.call(&request).await
        });
        let mut submits = submits.collect::<FuturesUnordered<_>>();
        for _ in 0..3 {
            assert_eq!(reason(submits.next().await.expect("an answer")), Reason::Busy);
        }
        drop(slow_disk);
        submits.collect::<Vec<_>>().await
    };
    let both = futures_util::future::join(stalls, submits);
    let (_, stored) = timeout(DEADLINE, both).await.expect("all but two are refused");
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
    assert_eq!(served.number("SELECT count(*) FROM experiments").await, 2);
}

#[tokio::test]
async fn a_changed_sweep_grows_its_experiment() {
    let site = Site::new();
    let served = site.serve().await;
    let api = served.api().await;
    served.submit(&quick_sweep("grown", 10)).await;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;

    let changed = submission(&quick_sweep("grown", 20));
    let preview = SubmitSweep { preview: true, ..changed.clone() };
    let before = api.call(&preview).await.unwrap();
    let change = before.change.clone().unwrap();
    assert_eq!((change.cells_kept, change.cells_continued, change.games_to_play), (1, 1, 20));
    assert_eq!((before.games, before.games_left), (20, vec![20]));
    assert_eq!(served.summary("grown").await.games_planned, 10, "a preview changes nothing");
    let grown = api.call(&changed).await.unwrap();
    assert!(grown.existed);
    assert_eq!(grown.change, Some(change));
    // Its answer was lost.
    let again = api.call(&changed).await.unwrap();
    assert!(again.existed && again.change.is_none());
    assert_eq!(served.number("SELECT count(*) FROM sweep_versions").await, 2);

    // Made smaller, it ends with what was leased.
    let leased: u64 = grant.games.iter().map(|games| games.first_number + games.count).sum();
    served.submit(&quick_sweep("grown", 2)).await;
    assert_eq!(served.summary("grown").await.games_planned, leased.max(2));
    worker.give_back(&[grant.lease_id]).await.unwrap();
    worker.work_until_done().await;
    let finished = served.wait_for_state("grown", "finished").await;
    assert_eq!(finished.games_settled, leased.max(2));
    // Finished, it runs again for more games.
    served.submit(&quick_sweep("grown", 30)).await;
    assert_eq!(served.summary("grown").await.state, ExperimentState::Running);
    worker.work_until_done().await;
    assert_eq!(served.wait_for_state("grown", "finished").await.games_settled, 30);

    let other = quick_sweep("grown", 30).replace("seed = ", "seed = 1");
    assert_eq!(reason(api.call(&submission(&other)).await), Reason::NameTaken);
    let preview = SubmitSweep { preview: true, ..submission(&other) };
    assert_eq!(reason(api.call(&preview).await), Reason::NameTaken);
    let anew = SubmitSweep { new_experiment: true, ..submission(&other) };
    assert!(!api.call(&anew).await.unwrap().existed);
    served.steer("grown", Action::Cancel).await.unwrap();
    let newest = submission(&other);
    // The newest is over; of those that are, it is still the newest.
    assert_eq!(reason(api.call(&newest).await), Reason::WrongState);
}

#[tokio::test]
async fn no_more_games_are_out_at_once_than_the_sweep_says() {
    let bounded = |games_at_once: u32| {
        let bound = format!("games_at_once = {games_at_once}\ngames =");
        quick_sweep("bounded", 20).replacen("games =", &bound, 1)
    };
    let count = |grant: &v1::Grant| grant.games.iter().map(|range| range.count).sum::<u64>();
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&bounded(2)).await;
    served.submit(&quick_sweep("other", 2)).await;
    let large = v1::HelloRequest { slots: 64, ..hello(&Uuid::new_v4().to_string()) };
    let mut first = HandWorker::introduced(&served, large).await;
    let (mut second, mut third) = (HandWorker::new(&served).await, HandWorker::new(&served).await);
    let grant = first.granted().await;
    assert_eq!(count(&grant), 2);
    let progress = served.call(&GetProgress { experiment: "bounded".to_owned() }).await.unwrap();
    assert_eq!(progress.slots, 2, "the time left is not that of 64 games at once");
    let other = second.granted().await;
    assert_ne!(other.games[0].cell_id, grant.games[0].cell_id, "slots are left to others");
    let idle = third.lease().await.unwrap();
    assert!(idle.grant.is_none() && !idle.all_done && idle.withheld.is_empty(), "{idle:?}");
    let attention = served.status().await.attention.into_iter();
    let attention: Vec<_> = attention.filter(|a| a.kind != AttentionKind::LittleSpace).collect();
    assert_eq!(attention, [], "nothing is wrong");
    served.stop().await.unwrap();

    // A restart knows the bound, and what is out; another sweep changes it.
    let served = site.serve().await;
    let mut third = third.reconnect(&served).await;
    assert!(third.lease().await.unwrap().grant.is_none());
    let changed = served.submit(&bounded(4)).await.change.unwrap();
    assert_eq!((changed.cells_kept, changed.cells_added), (1, 0));
    let added = third.granted().await;
    assert_eq!(count(&added), 2);
    assert!(third.lease().await.unwrap().grant.is_none());
    third.give_back(&[added.lease_id]).await.unwrap();

    let (mut first, mut second) = (first.reconnect(&served).await, second.reconnect(&served).await);
    first.give_back(&[grant.lease_id]).await.unwrap();
    second.give_back(&[other.lease_id]).await.unwrap();
    tokio::join!(first.work_until_done(), second.work_until_done(), third.work_until_done());
    assert_eq!(served.wait_for_state("bounded", "finished").await.games_settled, 20);
}

#[tokio::test]
async fn a_wrong_sweep_is_refused_with_its_place_and_a_remedy() {
    let site = Site::new();
    let served = site.serve().await;
    let api = served.api().await;
    let toml =
        quick_sweep("wrong", 10).replace("algorithm = \"minimax\"", "algorithm = \"minmax\"");
    let status = api.call(&submission(&toml)).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    let refusal = Refusal::from_status(&status).unwrap();
    assert_eq!(refusal.reason, Reason::BadSweep);
    assert!(refusal.problem.contains("minmax"), "{refusal:?}");
    assert!(!refusal.remedy.is_empty());
    let place = refusal.place.unwrap();
    let line = toml[..place.offset].matches('\n').count() + 1;
    assert_eq!(place.line, Some(line));
    assert!(toml[place.offset..place.offset + place.length].contains("minmax"), "{place:?}");

    assert_eq!(reason(api.call(&submission("name = ")).await), Reason::BadSweep);
    let no_uuid = SubmitSweep { experiment_uuid: Some("1".to_owned()), ..submission(&toml) };
    assert_eq!(reason(api.call(&no_uuid).await), Reason::Malformed);
    let long = format!("# {}\n", "x".repeat(SWEEP_BYTES_MAX));
    assert_eq!(reason(api.call(&submission(&long)).await), Reason::Malformed);
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
    assert_eq!(served.summary("steered").await.state, ExperimentState::Paused);

    // It is still paused after a restart.
    served.stop().await.unwrap();
    let served = site.serve().await;
    let mut worker = worker.reconnect(&served).await;
    assert!(worker.lease().await.unwrap().grant.is_none());
    served.steer(&uuid, Action::Resume).await.unwrap();
    let grant = worker.granted().await;

    served.steer(&uuid, Action::Cancel).await.unwrap();
    served.steer(&uuid, Action::Cancel).await.unwrap();
    assert_eq!(worker.heartbeat(&[grant.lease_id]).await.unwrap(), [grant.lease_id]);
    assert_eq!(reason(served.steer(&uuid, Action::Resume).await), Reason::WrongState);
    assert_eq!(served.summary(&uuid).await.state, ExperimentState::Cancelled);
    assert!(worker.lease().await.unwrap().grant.is_none());

    assert_eq!(reason(served.steer("nobody", Action::Pause).await), Reason::UnknownExperiment);
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    assert_eq!(reason(served.steer(&long, Action::Pause).await), Reason::Malformed);
    let (api, target) = (served.api().await, format!("/api/v1/experiments/{uuid}/steer"));
    for wrong in [
        "{}",
        r#"{"action": null}"#,
        r#"{"action": "unspecified"}"#,
        r#"{"action": "priority"}"#,
        r#"{"action": "pause", "priority": 1}"#,
        r#"{"action": "pause", "preview": true}"#,
    ] {
        let answer = api.send("POST", &target, Some(wrong.to_owned())).await;
        assert_eq!(reason(answer), Reason::Malformed, "{wrong}");
    }
    let unknown = GetStatus { experiment: Some(Uuid::new_v4().to_string()) };
    assert_eq!(reason(served.call(&unknown).await), Reason::UnknownExperiment);
}

#[tokio::test]
async fn a_finished_experiment_cannot_be_steered() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("done", 2)).await;
    HandWorker::new(&served).await.work_until_done().await;
    served.wait_for_state("done", "finished").await;
    for action in [Action::Pause, Action::Resume, Action::Cancel] {
        assert_eq!(reason(served.steer("done", action).await), Reason::WrongState);
    }
}

/// The answer to a query.
struct Answer {
    columns: Vec<String>,
    rows: Vec<Vec<SqlValue>>,
    truncated: bool,
}

async fn run(served: &Served, sql: &str, rows_max: Option<u32>) -> Result<Answer, Status> {
    let query = RunQuery { sql: sql.to_owned(), rows_max };
    let body = serde_json::to_string(&query).unwrap();
    let answer = served.api().await.send("POST", QUERY_PATH, Some(body)).await?;
    let text = to_bytes(Body::new(answer.into_body()), usize::MAX).await.unwrap();
    let mut lines = text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let head: QueryHead = serde_json::from_slice(lines.next().unwrap()).unwrap();
    let end: QueryEnd = serde_json::from_slice(lines.next_back().unwrap()).unwrap();
    match end {
        QueryEnd::Done { truncated } => {
            let rows = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
            Ok(Answer { columns: head.columns, rows, truncated })
        }
        QueryEnd::Failed { problem } => {
            let problem: Problem = serde_json::from_value(problem).unwrap();
            Err(problem.refusal().unwrap().into())
        }
    }
}

#[tokio::test]
async fn queries_are_bounded_and_read_only() {
    let site = Site::new();
    let served = site.serve().await;
    let counting = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        SELECT i, 'text ' || i AS t, NULL AS missing, i / 2.0 AS half FROM n";

    let answer = run(&served, counting, Some(7)).await.unwrap();
    assert_eq!(answer.columns, ["i", "t", "missing", "half"]);
    assert_eq!((answer.rows.len(), answer.truncated), (7, true));
    assert_eq!(
        answer.rows[0],
        [
            SqlValue::Integer(1),
            SqlValue::Text("text 1".to_owned()),
            SqlValue::Null,
            SqlValue::Real(0.5)
        ]
    );

    let answer = run(&served, counting, Some(60_000)).await.unwrap();
    assert_eq!((answer.rows.len(), answer.truncated), (50_000, false));

    for bad in [
        "DELETE FROM games",
        "SELECT 1; SELECT 2",
        "SELEC 1",
        "",
        "SELECT * FROM no_such_table",
        "PRAGMA journal_mode = DELETE",
        "ATTACH 'other.db' AS other",
    ] {
        assert_eq!(reason(run(&served, bad, Some(10)).await), Reason::BadQuery, "{bad}");
    }
    // The last row's integer overflows, long after the first rows are sent.
    let late = counting.replace("i / 2.0", "abs(-9223372036854725808 - i)");
    assert_eq!(reason(run(&served, &late, Some(60_000)).await), Reason::BadQuery);
    // As many as there are.
    let all = counting.replace("50000", "300000");
    for rows_max in [0, u32::MAX] {
        let answer = run(&served, &all, Some(rows_max)).await.unwrap();
        assert_eq!((answer.rows.len(), answer.truncated), (300_000, false));
    }
    let answer = run(&served, &all, None).await.unwrap();
    assert_eq!((answer.rows.len(), answer.truncated), (10_000, true));
    let long = format!("SELECT '{}'", "x".repeat(70_000));
    assert_eq!(reason(run(&served, &long, Some(1)).await), Reason::BadQuery);
    let answer = run(&served, "SELECT zeroblob(3000000)", Some(1)).await.unwrap();
    assert!(answer.rows == [[SqlValue::Blob(vec![0; 3_000_000])]]);
    // A larger one than the database allows.
    let large = "SELECT randomblob(9000000)";
    assert_eq!(reason(run(&served, large, Some(1)).await), Reason::BadQuery);
}

/// Workers with the longest names there may be, and more of them than an answer has.
#[tokio::test]
async fn more_workers_than_an_answer_has_are_counted() {
    const WORKERS: usize = 1_100;
    let site = Site::new();
    let served = site.serve().await;
    let client = served.work().await;
    let introduce = |_| {
        let mut client = client.clone();
        async move {
            let long = "w".repeat(NAME_BYTES_MAX);
            let hello = v1::HelloRequest {
                name: long.clone(),
                host: long.clone(),
                version: long,
                ..spelrum_test_support::hello(&Uuid::new_v4().to_string())
            };
            client.hello(hello).await.unwrap();
        }
    };
    futures_util::stream::iter(0..WORKERS).map(introduce).buffer_unordered(50).count().await;
    let coordinator = served.status().await.coordinator.unwrap();
    assert_eq!((coordinator.workers.len(), coordinator.workers_total), (1_000, WORKERS as u64));
}
