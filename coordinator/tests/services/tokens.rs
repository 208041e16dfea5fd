//! A coordinator with tokens answers nobody who does not bring one that may, and tells nothing of them.

use std::time::Duration;

use prost::Message as _;
use prost_types::{FileDescriptorSet, MethodDescriptorProto};
use spelrum_coordinator::access::{Role, Roles, TokenBook};
use spelrum_proto::v1::experiments_client::ExperimentsClient;
use spelrum_proto::v1::results_client::ResultsClient;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, FILE_DESCRIPTOR_SET, Reason, Refusal, Token, v1};
use tonic::client::Grpc;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use spelrum_test_support::{Served, Site, eventually, quick_sweep, submission};

const SECRET: &str = "a-token-that-nobody-else-has";

async fn channel(served: &Served) -> Channel {
    Endpoint::new(served.url()).unwrap().connect().await.unwrap()
}

/// A call of every method of all services, empty, with this token.
async fn every_call(served: &Served, token: Option<&str>) -> Vec<(&'static str, Option<Status>)> {
    let token: Option<Token> = token.map(|token| token.parse().unwrap());
    let channel = channel(served).await;
    let bearer = Bearer::new(token.as_ref());
    let mut work = WorkClient::with_interceptor(channel.clone(), bearer.clone());
    let mut experiments = ExperimentsClient::with_interceptor(channel.clone(), bearer.clone());
    let mut results = ResultsClient::with_interceptor(channel, bearer);
    vec![
        ("hello", work.hello(v1::HelloRequest::default()).await.err()),
        ("lease", work.lease(v1::LeaseRequest::default()).await.err()),
        ("get_cell", work.get_cell(v1::GetCellRequest::default()).await.err()),
        ("get_openings", work.get_openings(v1::GetOpeningsRequest::default()).await.err()),
        ("report", work.report(v1::ReportRequest::default()).await.err()),
        ("heartbeat", work.heartbeat(v1::HeartbeatRequest::default()).await.err()),
        ("give_back", work.give_back(v1::GiveBackRequest::default()).await.err()),
        ("submit", experiments.submit(submission(&quick_sweep("x", 2))).await.err()),
        ("status", experiments.status(v1::StatusRequest::default()).await.err()),
        ("steer", experiments.steer(v1::SteerRequest::default()).await.err()),
        ("query", experiments.query(v1::QueryRequest::default()).await.err()),
        ("get_report", results.get_report(v1::GetReportRequest::default()).await.err()),
        ("get_progress", results.get_progress(v1::GetProgressRequest::default()).await.err()),
        (
            "list_experiments",
            results.list_experiments(v1::ListExperimentsRequest::default()).await.err(),
        ),
        ("list_cells", results.list_cells(v1::ListCellsRequest::default()).await.err()),
        ("list_games", results.list_games(v1::ListGamesRequest::default()).await.err()),
        (
            "export_experiments",
            results.export_experiments(v1::ExportExperimentsRequest::default()).await.err(),
        ),
        ("get_games", results.get_games(v1::GetGamesRequest::default()).await.err()),
        ("get_game", results.get_game(v1::GetGameRequest::default()).await.err()),
    ]
}

#[tokio::test]
async fn without_the_token_no_call_is_answered() {
    let site = Site::new();
    let served = site.serve_with_token(&SECRET.parse().unwrap()).await;
    for token in [None, Some("a-token-that-nobody-else-hat"), Some("guess")] {
        for (method, status) in every_call(&served, token).await {
            let status = status.unwrap_or_else(|| panic!("{method} was answered"));
            assert_eq!(status.code(), Code::Unauthenticated, "{method}");
            let refusal = Refusal::from_status(&status).unwrap();
            assert_eq!(refusal.reason, Reason::BadToken, "{method}");
            assert!(refusal.remedy.contains("SPELRUM_TOKEN"), "{method}: {refusal}");
            assert!(!format!("{status:?}").contains(SECRET), "{method}");
        }
    }
    served.stop().await.unwrap();
}

#[tokio::test]
async fn with_the_token_every_call_comes_through() {
    let site = Site::new();
    let served = site.serve_with_token(&SECRET.parse().unwrap()).await;
    for (method, status) in every_call(&served, Some(SECRET)).await {
        // The empty messages may be refused, but for what they say.
        let reason =
            status.and_then(|status| Refusal::from_status(&status)).map(|refusal| refusal.reason);
        assert_ne!(reason, Some(Reason::BadToken), "{method}");
    }
    served.stop().await.unwrap();
}

/// Whatever supervises a coordinator must not need its token.
#[tokio::test]
async fn health_and_the_pages_stay_open() {
    let site = Site::new();
    let served = site.serve_with_token(&SECRET.parse().unwrap()).await;
    let mut health = HealthClient::new(channel(&served).await);
    let request = HealthCheckRequest { service: "spelrum.v1.Work".to_owned() };
    health.check(request).await.unwrap();
    served.stop().await.unwrap();
}

#[tokio::test]
async fn the_token_is_not_in_the_database() {
    let site = Site::new();
    let served = site.serve_with_token(&SECRET.parse().unwrap()).await;
    every_call(&served, Some(SECRET)).await;
    served.stop().await.unwrap();
    for file in std::fs::read_dir(site.db().parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the token was stored");
    }
}

/// The path of every method of our services, as the descriptors have them.
pub(super) fn every_path() -> Vec<String> {
    let files = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap().file;
    let ours = files.iter().filter(|file| file.package() == "spelrum.v1");
    let paths = ours.flat_map(|file| &file.service).flat_map(|service| {
        let describe = |method: &MethodDescriptorProto| {
            format!("/spelrum.v1.{}/{}", service.name(), method.name())
        };
        service.method.iter().map(describe).collect::<Vec<_>>()
    });
    paths.collect()
}

/// Why a call of a path with an empty message is refused, if for its token.
async fn refused(served: &Served, path: &str, token: &str) -> Option<Reason> {
    let bearer = Bearer::new(Some(&token.parse().unwrap()));
    let mut client = Grpc::new(InterceptedService::new(channel(served).await, bearer));
    client.ready().await.unwrap();
    let codec = tonic_prost::ProstCodec::<(), ()>::default();
    let path = path.parse().unwrap();
    let answer = client.server_streaming(Request::new(()), path, codec).await;
    // An answer that begins was not refused for who asked.
    let refusal = answer.err().and_then(|status| {
        let refusal = Refusal::from_status(&status)?;
        assert_eq!(refusal.reason.code(), status.code());
        Some(refusal)
    });
    let reason = refusal.map(|refusal| refusal.reason);
    reason.filter(|reason| matches!(reason, Reason::BadToken | Reason::WrongRole))
}

/// What each method needs stands here in full, so that a new one is thought about.
#[tokio::test]
async fn every_method_is_for_its_role() {
    let site = Site::new();
    let file = site.db().with_file_name("tokens.toml");
    let token = |role: Role| {
        let roles: Roles = [role].into_iter().collect();
        let random = [role as u8; 32];
        TokenBook::change(&file, |book| book.add(role.name(), roles, "", random)).unwrap()
    };
    let [read, submit, work] = [Role::Read, Role::Submit, Role::Work].map(token);
    let served = site.serve_with_tokens(&file).await;
    let mut answers = Vec::new();
    for path in every_path() {
        let mut may = Vec::new();
        for (role, token) in [("read", &read), ("submit", &submit), ("work", &work)] {
            match refused(&served, &path, token).await {
                None => may.push(role),
                Some(reason) => assert_eq!(reason, Reason::WrongRole, "{path} {role}"),
            }
        }
        let stranger = refused(&served, &path, "spelrum_0").await;
        assert_eq!(stranger, Some(Reason::BadToken), "{path}");
        answers.push(format!("{path}: {}", may.join(", ")));
    }
    insta::assert_snapshot!(answers.join("\n"));
    served.stop().await.unwrap();
}

/// Who brings a revoked token is refused soon, also on a connection that was let in; who has a new one comes in.
#[tokio::test]
async fn a_changed_file_of_tokens_is_heeded() {
    let site = Site::new();
    let file = site.db().with_file_name("tokens.toml");
    let all: Roles = Role::ALL.into_iter().collect();
    let add = |name: &str, random: u8| {
        TokenBook::change(&file, |book| book.add(name, all, "", [random; 32])).unwrap()
    };
    let first = add("first", 1);
    let served = site.serve_with_tokens(&file).await;
    let path = "/spelrum.v1.Experiments/Status";
    assert_eq!(refused(&served, path, &first).await, None);
    let second = add("second", 2);
    eventually("the second comes in", async || {
        refused(&served, path, &second).await.is_none().then_some(())
    })
    .await;
    let client = channel(&served).await;
    let bearer = Bearer::new(Some(&first.parse().unwrap()));
    let mut client = ExperimentsClient::with_interceptor(client, bearer);
    client.status(v1::StatusRequest::default()).await.unwrap();
    TokenBook::change(&file, |book| book.remove("first")).unwrap();
    eventually("the first is refused", async || {
        client.status(v1::StatusRequest::default()).await.err()
    })
    .await;
    // A file that is spoilt, empty or gone changes nothing, nor does a pipe into which nobody writes.
    for spoilt in ["[", ""] {
        std::fs::write(&file, spoilt).unwrap();
        tokio::time::sleep(Duration::from_millis(2_500)).await;
    }
    std::fs::remove_file(&file).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RUSR).unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    std::fs::remove_file(&file).unwrap();
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(refused(&served, path, &second).await, None);
    assert_eq!(refused(&served, path, &first).await, Some(Reason::BadToken));
    // And its reading goes on.
    let third = add("third", 3);
    eventually("the third comes in", async || {
        refused(&served, path, &third).await.is_none().then_some(())
    })
    .await;
    served.stop().await.unwrap();
}

/// What a call has begun ends with the token by which it was let through.
#[tokio::test]
async fn a_revoked_token_ends_the_query_that_runs() {
    let site = Site::new();
    let file = site.db().with_file_name("tokens.toml");
    let reader: Roles = [Role::Read].into_iter().collect();
    let add = |name, seed| {
        TokenBook::change(&file, |book| book.add(name, reader, "", [seed; 32])).unwrap()
    };
    let [revoked, other] = [add("revoked", 1), add("other", 2)];
    let served = site.serve_with_tokens(&file).await;
    let query = async |token: &str| {
        let bearer = Bearer::new(Some(&token.parse().unwrap()));
        let mut client = ExperimentsClient::with_interceptor(channel(&served).await, bearer);
        let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
        let sql = format!("{endless}SELECT count(*) FROM n");
        client.query(v1::QueryRequest { sql, rows_max: 1 }).await.unwrap().into_inner()
    };
    // Both run, in all places but the last two.
    let (mut ends, mut goes_on) = (query(&revoked).await, query(&other).await);
    for running in [&mut ends, &mut goes_on] {
        assert_eq!(running.message().await.unwrap().unwrap().columns, ["count(*)"]);
    }
    TokenBook::change(&file, |book| book.remove("revoked")).unwrap();
    let refused = loop {
        match ends.message().await {
            Ok(part) => assert!(part.unwrap().rows.is_empty(), "it goes on"),
            Err(status) => break status,
        }
    };
    assert_eq!(Refusal::from_status(&refused).unwrap().reason, Reason::BadToken);
    // The other one goes on, to be ended by its time.
    loop {
        match goes_on.message().await {
            Ok(part) => assert!(part.unwrap().rows.is_empty()),
            Err(status) => {
                assert_eq!(
                    Refusal::from_status(&status).unwrap().reason,
                    Reason::BadQuery,
                    "{status:?}"
                );
                break;
            }
        }
    }
    served.stop().await.unwrap();
}

/// However a path is written that means a service to somebody on the way, nobody comes in without a token.
#[tokio::test]
async fn no_way_of_writing_a_path_leads_past_the_guard() {
    let site = Site::new();
    let served = site.serve_with_token(&SECRET.parse().unwrap()).await;
    for path in [
        "/spelrum.v1.Experiments/Status",
        "/spelrum.v1.Experiments/Status/",
        "/spelrum.v1.Experiments//Status",
        "//spelrum.v1.Experiments/Status",
        "/./spelrum.v1.Experiments/Status",
        "/x/../spelrum.v1.Experiments/Status",
        "/grpc.health.v1.Health/../spelrum.v1.Experiments/Status",
        "/%73pelrum.v1.Experiments/Status",
        "/spelrum.v1.Experiments/%53tatus",
        "/spelrum%2Ev1.Experiments/Status",
        "/SPELRUM.v1.Experiments/Status",
        "/spelrum.v1.Experiments/Status?x=/grpc.health.v1.Health/Check",
        "/healthz/spelrum.v1.Experiments/Status",
    ] {
        let mut client = Grpc::new(channel(&served).await);
        client.ready().await.unwrap();
        let codec = tonic_prost::ProstCodec::<(), ()>::default();
        let answer = client.unary(Request::new(()), path.parse().unwrap(), codec).await;
        let code = answer.err().map(|status| status.code());
        let refused = [Code::Unauthenticated, Code::Unimplemented];
        assert!(code.is_some_and(|code| refused.contains(&code)), "{path}: {code:?}");
    }
    served.stop().await.unwrap();
}
