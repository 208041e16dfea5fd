//! `GET /metrics`: it tells what was done, and strangers add nothing to it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use spelrum_answers::{Action, SteerExperiment};
use spelrum_engine::ENGINE_REVISION;
use spelrum_proto::{Token, v1};
use spelrum_test_support::{
    DEADLINE, HandWorker, Served, Site, eventually, failed_result, game_mut, quick_sweep,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};

use crate::exposition::Page;

const LEASE: &str = "spelrum.v1.Work/Lease";
const REPORT: &str = "spelrum.v1.Work/Report";
const SUBMIT: &str = "POST /api/v1/experiments";
const STEER: &str = "POST /api/v1/experiments/{experiment}/steer";

/// An answer to a request of HTTP/1, whole.
pub(super) async fn answer(address: SocketAddr, request: &str) -> String {
    let asking = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8(answer).unwrap()
    };
    tokio::time::timeout(DEADLINE, asking).await.expect("an answer")
}

async fn text(address: SocketAddr) -> String {
    // An old HTTP, which knows no pieces.
    let request = format!("GET /metrics HTTP/1.0\r\nHost: {address}\r\n\r\n");
    let answer = answer(address, &request).await;
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.0 200 OK\r\n"), "{answer}");
    assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    page.to_owned()
}

pub(super) async fn page(served: &Served) -> Page {
    Page::read(&text(served.address).await).unwrap()
}

/// Waits for a number that is told from time to time.
async fn becomes(served: &Served, name: &str, labels: &[(&str, &str)], number: u32) {
    let mut last = f64::NAN;
    let waiting = async {
        loop {
            last = page(served).await.number(name, labels);
            if last.to_bits() == f64::from(number).to_bits() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(DEADLINE, waiting).await;
    assert!(waited.is_ok(), "{name}{labels:?} is {last}, not {number}");
}

/// What is counted: settled games, results that do not count, what became of calls.
fn counted(page: &Page) -> [u64; 15] {
    let settled = |kind| page.number("spelrum_games_settled_total", &[("kind", kind)]);
    let uncounted = |why| page.number("spelrum_results_uncounted_total", &[("why", why)]);
    let refused = |why| page.number("spelrum_results_refused_total", &[("why", why)]);
    let calls = |method| page.number("spelrum_rpcs_total", &[("method", method), ("code", "OK")]);
    let numbers = [
        settled("finished"),
        settled("failed"),
        settled("trained"),
        page.number("spelrum_attempts_failed_total", &[]),
        uncounted("again"),
        uncounted("over"),
        refused("irregular"),
        refused("not_leased"),
        page.number("spelrum_leases_granted_total", &[]),
        page.number("spelrum_lease_expired_total", &[]),
        page.number("spelrum_transactions_rolled_back_total", &[]),
        calls(LEASE),
        calls(REPORT),
        calls(SUBMIT),
        calls(STEER),
    ];
    assert!(numbers.iter().all(|number| !number.is_nan()), "{numbers:?}");
    numbers.map(|number| number as u64)
}

#[tokio::test]
async fn counters_rise_by_exactly_what_was_done() {
    let site = Site::new();
    let served = site.serve().await;
    assert_eq!(counted(&page(&served).await), [0; 15]);
    served.submit(&quick_sweep("numbers", 100)).await;
    becomes(&served, "spelrum_games_queued", &[], 100).await;
    becomes(&served, "spelrum_experiments", &[("state", "running")], 1).await;
    becomes(&served, "spelrum_workers", &[], 0).await;

    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let games: u64 = grant.games.iter().map(|range| range.count).sum();
    let games = u32::try_from(games).unwrap();
    becomes(&served, "spelrum_games_leased", &[], games).await;
    becomes(&served, "spelrum_games_queued", &[], 100 - games).await;
    becomes(&served, "spelrum_leases", &[], 1).await;
    becomes(&served, "spelrum_workers", &[], 1).await;
    assert_eq!(counted(&page(&served).await), [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0]);

    // Two results that count, one of them sent again; then one against the rules, and one never leased.
    let results = worker.play(&grant).await;
    assert!(results.len() >= 2, "pairs are leased whole");
    worker.report(results[..2].to_vec()).await.unwrap();
    worker.report(vec![results[0].clone()]).await.unwrap();
    assert_eq!(counted(&page(&served).await), [2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 2, 1, 0]);
    let next = worker.granted().await;
    let results = worker.play(&next).await;
    let mut irregular = results[0].clone();
    game_mut(&mut irregular).moves.truncate(1);
    worker.report(vec![irregular]).await.unwrap();
    assert_eq!(counted(&page(&served).await), [2, 0, 0, 0, 1, 0, 1, 0, 2, 0, 0, 2, 3, 1, 0]);
    let mut strange = results[1].clone();
    strange.lease_id += 7;
    worker.report(vec![strange]).await.unwrap();
    assert_eq!(counted(&page(&served).await), [2, 0, 0, 0, 1, 0, 1, 1, 2, 0, 0, 2, 4, 1, 0]);
    worker.report(vec![failed_result(&results[1], "no")]).await.unwrap();
    assert_eq!(counted(&page(&served).await), [2, 0, 0, 1, 1, 0, 1, 1, 2, 0, 0, 2, 5, 1, 0]);

    // What comes after a cancel.
    served.steer("numbers", Action::Cancel).await.unwrap();
    worker.report(vec![results[1].clone()]).await.unwrap();
    assert_eq!(counted(&page(&served).await), [2, 0, 0, 1, 1, 1, 1, 1, 2, 0, 0, 2, 6, 1, 1]);
    for name in ["spelrum_games_queued", "spelrum_games_leased", "spelrum_leases"] {
        becomes(&served, name, &[], 0).await;
    }
    becomes(&served, "spelrum_experiments", &[("state", "running")], 0).await;

    // A transaction that fails counts nothing but itself.
    served.submit(&quick_sweep("more", 10)).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    let before = counted(&page(&served).await);
    served.faults.fail_commits(1);
    worker.report(vec![results[0].clone()]).await.unwrap_err();
    let mut after = before;
    after[10] += 1;
    assert_eq!(counted(&page(&served).await), after);
    worker.report(vec![results[0].clone()]).await.unwrap();
    assert_eq!(counted(&page(&served).await)[0], before[0] + 1);
}

#[tokio::test]
async fn experiments_games_and_leases_are_told_as_they_are() {
    let site = Site::new();
    let served = site.serve_with(Duration::from_millis(50)).await;
    served.submit(&quick_sweep("first", 2)).await;
    served.submit(&quick_sweep("second", 4)).await;
    becomes(&served, "spelrum_games_queued", &[], 6).await;
    served.steer("second", Action::Pause).await.unwrap();
    becomes(&served, "spelrum_games_queued", &[], 2).await;
    becomes(&served, "spelrum_experiments", &[("state", "paused")], 1).await;
    becomes(&served, "spelrum_experiments", &[("state", "running")], 1).await;
    let mut worker = HandWorker::new(&served).await;
    worker.granted().await;
    // It says no more: its lease runs out.
    becomes(&served, "spelrum_lease_expired_total", &[], 1).await;
    becomes(&served, "spelrum_games_queued", &[], 2).await;
    becomes(&served, "spelrum_workers", &[], 0).await;
    let metrics = page(&served).await;
    let calls = metrics.number("spelrum_rpc_seconds_count", &[("method", LEASE)]);
    assert_eq!(calls.to_bits(), 1.0_f64.to_bits());
    assert!(metrics.number("spelrum_database_bytes", &[]) > 4_096.0);
    assert!(metrics.number("spelrum_wal_bytes", &[]) > 0.0);
    assert!(metrics.number("spelrum_connections", &[]) >= 2.0, "the worker's, and ours");
    assert!(metrics.number("spelrum_commit_seconds_count", &[]) > 4.0);
    let revision = ENGINE_REVISION.to_string();
    let build = [("version", env!("CARGO_PKG_VERSION")), ("engine_revision", &*revision)];
    assert_eq!(metrics.number("spelrum_build_info", &build) as u64, 1);
    served.steer("second", Action::Resume).await.unwrap();
    becomes(&served, "spelrum_games_queued", &[], 6).await;
    becomes(&served, "spelrum_experiments", &[("state", "paused")], 0).await;
}

/// Calls any method of gRPC, known or not.
async fn call(
    channel: &Channel,
    path: &str,
    more: &[(&'static str, String)],
) -> Result<(), Status> {
    let mut grpc = tonic::client::Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<v1::HelloRequest, v1::HelloResponse>::default();
    let hello = v1::HelloRequest { name: "<script>".to_owned(), ..v1::HelloRequest::default() };
    let mut request = Request::new(hello);
    for (name, value) in more {
        request.metadata_mut().insert(*name, value.parse().unwrap());
    }
    grpc.unary(request, path.parse().unwrap(), codec).await.map(drop)
}

/// Requests to the API that come to an unknown path, experiment, parameter, field or method. They name this.
fn hostile_requests(address: SocketAddr, evil: &str) -> Vec<String> {
    let body = format!("{{\"{evil}\": \"<script>\"}}");
    [
        ("GET", format!("/api/v1/{evil}"), ""),
        ("GET", format!("/api/v1/experiments/{evil}"), ""),
        ("GET", format!("/api/v1/status?{evil}=1"), ""),
        ("POST", "/api/v1/experiments".to_owned(), &*body),
        ("POST", "/api/v1/sql".to_owned(), &*body),
        ("EVIL", "/api/v1/status".to_owned(), ""),
    ]
    .map(|(method, path, body)| {
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
             Authorization: Bearer {evil}\r\nX-Request-Id: {evil}\r\nX-Evil: \"}} 1\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    })
    .into()
}

/// Whatever strangers call, the page has the same lines, and nothing of what they said.
#[tokio::test]
async fn hostile_calls_add_nothing() {
    let site = Site::new();
    let token: Token = "a-token-that-nobody-else-has".parse().unwrap();
    for guarded in [true, false] {
        let served = if guarded { site.serve_with_token(&token).await } else { site.serve().await };
        let channel = Endpoint::new(served.url()).unwrap().connect().await.unwrap();
        // Without a token they reach services: each answer that these give has its line after the first.
        call(&channel, "/spelrum.v1.Work/Nothing", &[]).await.unwrap_err();
        call(&channel, "/spelrum.v1.Work/Hello", &[]).await.unwrap_err();
        // So is it with the API.
        for request in hostile_requests(served.address, "evil") {
            answer(served.address, &request).await;
        }
        let before = page(&served).await;
        for number in 0..40 {
            for request in hostile_requests(served.address, &format!("evil{number}")) {
                let answer = answer(served.address, &request).await;
                let status = answer.split(' ').nth(1).unwrap_or_default();
                let refused: &[_] = if guarded { &["401"] } else { &["400", "404", "405"] };
                assert!(refused.contains(&status), "{request}: {answer}");
            }
        }
        for number in 0..1_000 {
            let path = match number % 5 {
                0 => format!("/spelrum.v1.Work/Evil{number}"),
                1 => format!("/spelrum.evil{number}.Work/Lease"),
                2 => format!("/spelrum.v1.Work/Lease%22%7D{number}"),
                3 => "/spelrum.v1.Work/Hello".to_owned(),
                _ => format!("/evil{number}/x"),
            };
            let more = [
                ("authorization", format!("Bearer evil{number}")),
                ("x-request-id", format!("evil{number}")),
                ("x-evil", "\"} 1".to_owned()),
            ];
            let status = call(&channel, &path, &more).await.unwrap_err();
            assert_ne!(status.code(), Code::Ok);
        }
        for number in 0..50 {
            let method = ["GET", "EVIL", "DELETE", "POST"][number % 4];
            let request = format!(
                "{method} /spelrum.v1.Work/Lease?evil={number} HTTP/1.1\r\nHost: evil{number}\r\n\
                 Origin: http://evil{number}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            );
            answer(served.address, &request).await;
            // To another host, and what a form of a web page sends.
            let (method, path) = [("GET", "status"), ("DELETE", "experiments/x")][number % 2];
            let request = format!(
                "{method} /api/v1/{path}?evil={number} HTTP/1.1\r\nHost: evil{number}\r\n\
                 Connection: close\r\n\r\n"
            );
            answer(served.address, &request).await;
            let method = ["POST", "EVIL", "PUT", "OPTIONS"][number % 4];
            let request = format!(
                "{method} /api/v1/experiments?evil={number} HTTP/1.1\r\nHost: {}\r\n\
                 Content-Type: text/plain\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
                served.address
            );
            answer(served.address, &request).await;
        }
        let text = text(served.address).await;
        let after = Page::read(&text).unwrap();
        assert_eq!(after.series(), before.series(), "guarded: {guarded}");
        assert_eq!(after.lines, before.lines);
        assert!(!text.contains("evil") && !text.contains("script"), "{text}");
        let refused = |why| after.number("spelrum_calls_refused_total", &[("why", why)]) as u64;
        // 800 to our services, and two before them; 41 of each request to the API.
        let requests = hostile_requests(served.address, "").len() as u64;
        assert_eq!(refused("token"), if guarded { 802 + 41 * requests } else { 0 });
        assert_eq!([refused("not_grpc"), refused("not_json"), refused("host")], [50; 3]);
        drop(channel);
        served.stop().await.unwrap();
    }
}

/// It says numbers only, so it demands no token; but no web page of another site may read it.
#[tokio::test]
async fn the_page_is_open_to_whoever_is_not_a_web_page() {
    let site = Site::new();
    let token: Token = "a-token-that-nobody-else-has".parse().unwrap();
    let served = site.serve_with_token(&token).await;
    assert!(!text(served.address).await.contains("a-token"));
    let asked = async |more: &str| {
        let request = format!("GET /metrics HTTP/1.1\r\nConnection: close\r\n{more}\r\n");
        answer(served.address, &request).await.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(asked("Host: localhost\r\n").await, "HTTP/1.1 200 OK");
    assert_eq!(asked("Host: evil.example\r\n").await, "HTTP/1.1 421 Misdirected Request");
    let origin = "Host: localhost\r\nOrigin: http://evil.example\r\n";
    assert_eq!(asked(origin).await, "HTTP/1.1 403 Forbidden");
    let post = "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\
                Connection: close\r\n\r\n";
    let posted = answer(served.address, post).await;
    assert!(posted.starts_with("HTTP/1.1 405"), "{posted}");
}

#[tokio::test]
async fn names_of_people_are_not_on_the_page() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("confidential", 2)).await;
    let mut worker = HandWorker::new(&served).await;
    worker.work_until_done().await;
    served.wait_for_state("confidential", "finished").await;
    let text = text(served.address).await;
    for name in ["confidential", "minimax", "by hand", "tic-tac-toe", &*worker.uuid, "127.0.0.1"] {
        assert!(!text.contains(name), "{name} is on the page");
    }
}

/// Another program has the database: the dispatcher waits, and the page does not.
#[tokio::test]
async fn the_page_answers_while_the_database_is_locked() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("locked", 2)).await;
    becomes(&served, "spelrum_games_queued", &[], 2).await;
    let other = rusqlite::Connection::open(site.db()).unwrap();
    other.busy_timeout(DEADLINE).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let api = served.api().await;
    let steering = tokio::spawn(async move {
        let (experiment, action) = ("locked".to_owned(), Action::Pause);
        api.call(&SteerExperiment { experiment, action, priority: None }).await
    });
    for _ in 0..20 {
        let metrics = page(&served).await;
        assert_eq!(metrics.number("spelrum_games_queued", &[]) as u64, 2);
        tokio::task::yield_now().await;
    }
    // It is found out, and told, that nothing can be written.
    becomes(&served, "spelrum_healthy", &[], 0).await;
    other.execute_batch("ROLLBACK").unwrap();
    // It may have waited for too long.
    let _said = steering.await.unwrap();
    becomes(&served, "spelrum_healthy", &[], 1).await;
    eventually("it is paused", async || served.steer("locked", Action::Pause).await.ok()).await;
    becomes(&served, "spelrum_games_queued", &[], 0).await;
}

/// The table of docs/operating.md has every metric of the page with its kind and labels, and no other.
#[tokio::test]
async fn the_documentation_has_every_metric() {
    let site = Site::new();
    let served = site.serve().await;
    let page = page(&served).await;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/operating.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (_, section) = text.split_once("\n## Metrics\n").expect("a section of metrics");
    let section = section.split("\n## ").next().unwrap();
    let mut documented = BTreeSet::new();
    for line in section.lines().filter(|line| line.starts_with("| `")) {
        let columns: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [metric, kind, unit, meaning] = columns[..] else { panic!("{line}") };
        assert!(!unit.is_empty() && !meaning.is_empty(), "{line}");
        let metric = metric.trim_matches('`');
        let (name, labels) = metric.split_once('{').unwrap_or((metric, "}"));
        let labels = labels.strip_suffix('}').unwrap();
        let labels = labels.split(',').map(str::trim).filter(|label| !label.is_empty());
        let labels: BTreeSet<_> = labels.map(ToOwned::to_owned).collect();
        documented.insert((name.to_owned(), kind.to_owned(), labels));
    }
    let exported: BTreeSet<_> = page
        .families
        .iter()
        .map(|(name, family)| {
            let labels = family.samples.iter().flat_map(|(_, labels, _)| labels.keys());
            let labels = labels.filter(|label| *label != "le").cloned().collect();
            (name.clone(), family.kind.clone(), labels)
        })
        .collect();
    assert_eq!(documented, exported);
    // What the examples ask for is there, too.
    let is_not_of_names = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let series = page.series();
    for name in section.split(is_not_of_names).filter(|word| word.starts_with("spelrum_")) {
        let is_there =
            page.families.contains_key(name) || series.iter().any(|entry| entry.0 == name);
        assert!(is_there, "{name} is not a metric");
    }
}
