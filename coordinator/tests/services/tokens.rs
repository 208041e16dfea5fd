//! A coordinator with tokens answers nobody who does not bring one that may, and tells nothing of them.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use http_body::Body as _;
use spelrum_answers::{GetStatus, QUERY_PATH, QueryEnd, RunQuery};
use spelrum_coordinator::access::{Role, Roles, TokenBook};
use spelrum_proto::api::{AnswerBody, Api};
use spelrum_proto::problem::Problem;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, Reason, Refusal, Token, v1};
use tonic::client::Grpc;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use spelrum_test_support::{Served, Site, eventually, quick_sweep, reason, submission};

use crate::metrics;

const SECRET: &str = "a-token-that-nobody-else-has";

async fn channel(served: &Served) -> Channel {
    Endpoint::new(served.url()).unwrap().connect().await.unwrap()
}

/// A call with an empty message, of gRPC or of the API.
#[derive(Clone, Debug)]
pub(super) struct EmptyCall {
    /// As the metrics page names it: `spelrum.v1.Work/Hello`, or `GET /api/v1/status`.
    pub(super) name: String,
    /// The method in HTTP.
    pub(super) method: String,
    /// The path, with a value for each parameter.
    pub(super) path: String,
}

impl EmptyCall {
    pub(super) fn new(name: &str) -> Self {
        let (method, path) = match name.split_once(' ') {
            Some((method, path)) => (method, path.to_owned()),
            None => ("POST", format!("/{name}")),
        };
        let parts = path.split('/').map(|part| if part.starts_with('{') { "1" } else { part });
        let path = parts.collect::<Vec<_>>().join("/");
        Self { name: name.to_owned(), method: method.to_owned(), path }
    }

    pub(super) fn is_grpc(&self) -> bool {
        !self.name.contains(' ')
    }

    /// Makes the call; why it is not answered.
    pub(super) async fn send(&self, channel: Channel, token: Option<&str>) -> Option<Status> {
        let bearer = Bearer::new(token.map(|token| token.parse().unwrap()).as_ref());
        if !self.is_grpc() {
            let body = (self.method == "POST").then(|| "{}".to_owned());
            return Api::new(channel, bearer).send(&self.method, &self.path, body).await.err();
        }
        let mut client = Grpc::new(InterceptedService::new(channel, bearer));
        if let Err(error) = client.ready().await {
            return Some(Status::from_error(Box::new(error)));
        }
        let codec = tonic_prost::ProstCodec::<(), ()>::default();
        let path = self.path.parse().unwrap();
        client.server_streaming(Request::new(()), path, codec).await.err()
    }
}

/// Every method of our services and every route of the API, as a metrics page has them.
pub(super) async fn every_call() -> Vec<EmptyCall> {
    let site = Site::new();
    let served = site.serve().await;
    let series = metrics::page(&served).await.series().into_iter();
    served.stop().await.unwrap();
    let calls = series.filter(|(name, _)| name == "spelrum_rpcs_total");
    let names: BTreeSet<String> =
        calls.filter_map(|(_, mut labels)| labels.remove("method")).collect();
    let known = names.iter().filter(|name| *name != "other");
    known.map(|name| EmptyCall::new(name)).collect()
}

/// Why each call is refused with this token, and a submission that is not empty.
async fn refusals(served: &Served, token: Option<&str>) -> Vec<(String, Option<Status>)> {
    let channel = channel(served).await;
    let mut refusals = Vec::new();
    for call in every_call().await {
        let refusal = call.send(channel.clone(), token).await;
        refusals.push((call.name, refusal));
    }
    let token: Option<Token> = token.map(|token| token.parse().unwrap());
    let api = Api::new(channel, Bearer::new(token.as_ref()));
    let submitted = api.call(&submission(&quick_sweep("x", 2))).await;
    refusals.push(("a sweep".to_owned(), submitted.err()));
    refusals
}

#[tokio::test]
async fn without_the_token_no_call_is_answered() {
    let site = Site::new();
    let served = site.serve_with_token(&SECRET.parse().unwrap()).await;
    for token in [None, Some("a-token-that-nobody-else-hat"), Some("guess")] {
        for (method, status) in refusals(&served, token).await {
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
    for (method, status) in refusals(&served, Some(SECRET)).await {
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
    refusals(&served, Some(SECRET)).await;
    served.stop().await.unwrap();
    for file in std::fs::read_dir(site.db().parent().unwrap()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the token was stored");
    }
}

/// Why an empty call is refused, if for its token.
async fn refused(served: &Served, call: &EmptyCall, token: &str) -> Option<Reason> {
    let status = call.send(channel(served).await, Some(token)).await?;
    let refusal = Refusal::from_status(&status)?;
    assert_eq!(refusal.reason.code(), status.code());
    let is_for_token = matches!(refusal.reason, Reason::BadToken | Reason::WrongRole);
    is_for_token.then_some(refusal.reason)
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
    for call in every_call().await {
        let name = &call.name;
        let mut may = Vec::new();
        for (role, token) in [("read", &read), ("submit", &submit), ("work", &work)] {
            match refused(&served, &call, token).await {
                None => may.push(role),
                Some(reason) => assert_eq!(reason, Reason::WrongRole, "{name} {role}"),
            }
        }
        let stranger = refused(&served, &call, "spelrum_0").await;
        assert_eq!(stranger, Some(Reason::BadToken), "{name}");
        answers.push(format!("{name}: {}", may.join(", ")));
    }
    insta::assert_snapshot!(answers.join("\n"), @r"
    DELETE /api/v1/experiments/{experiment}: submit
    GET /api/v1/cells/{cell}/games: read, submit
    GET /api/v1/cells/{cell}/games/{number}: read, submit
    GET /api/v1/cells/{cell}/games/{number}/under-way: read, submit
    GET /api/v1/cells/{cell}/whole-games: read, submit
    GET /api/v1/experiments: read, submit
    GET /api/v1/experiments/{experiment}: read, submit
    GET /api/v1/experiments/{experiment}/cells: read, submit
    GET /api/v1/experiments/{experiment}/comparisons: read, submit
    GET /api/v1/experiments/{experiment}/events: read, submit
    GET /api/v1/experiments/{experiment}/games: read, submit
    GET /api/v1/experiments/{experiment}/games-under-way: read, submit
    GET /api/v1/experiments/{experiment}/games.jsonl: read, submit
    GET /api/v1/experiments/{experiment}/outcome-lengths: read, submit
    GET /api/v1/experiments/{experiment}/overview: read, submit
    GET /api/v1/experiments/{experiment}/phases: read, submit
    GET /api/v1/experiments/{experiment}/progress: read, submit
    GET /api/v1/experiments/{experiment}/ratings: read, submit
    GET /api/v1/experiments/{experiment}/report: read, submit
    GET /api/v1/experiments/{experiment}/runs: read, submit
    GET /api/v1/experiments/{experiment}/settled-cells: read, submit
    GET /api/v1/experiments/{experiment}/verifications: read, submit
    GET /api/v1/experiments/{experiment}/whole-games: read, submit
    GET /api/v1/games/{game_id}: read, submit
    GET /api/v1/openapi.json: read, submit
    GET /api/v1/queue: read, submit
    GET /api/v1/status: read, submit
    POST /api/v1/analyses: read, submit
    POST /api/v1/browser-links: read, submit
    POST /api/v1/experiments: submit
    POST /api/v1/experiments/{experiment}/steer: submit
    POST /api/v1/experiments/{experiment}/verifications: submit
    POST /api/v1/export: read, submit
    POST /api/v1/plans: submit
    POST /api/v1/sql: read, submit
    POST /api/v1/workers/{worker}/exclusion: submit
    spelrum.v1.Programs/Push: submit
    spelrum.v1.Work/GetCell: work
    spelrum.v1.Work/GetNetwork: work
    spelrum.v1.Work/GetOpenings: work
    spelrum.v1.Work/GetProgram: work
    spelrum.v1.Work/GiveBack: work
    spelrum.v1.Work/Heartbeat: work
    spelrum.v1.Work/Hello: work
    spelrum.v1.Work/Lease: work
    spelrum.v1.Work/Report: work
    ");
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
    let calls = ["GET /api/v1/status", "spelrum.v1.Work/Hello"].map(EmptyCall::new);
    let both_refused = async |token: &str| {
        [refused(&served, &calls[0], token).await, refused(&served, &calls[1], token).await]
    };
    assert_eq!(both_refused(&first).await, [None; 2]);
    let second = add("second", 2);
    eventually("the second comes in", async || {
        (both_refused(&second).await == [None; 2]).then_some(())
    })
    .await;
    let open = channel(&served).await;
    let bearer = Bearer::new(Some(&first.parse().unwrap()));
    let api = Api::new(open.clone(), bearer.clone());
    let mut work = WorkClient::with_interceptor(open, bearer);
    api.call(&GetStatus::default()).await.unwrap();
    let mut greet = async || reason(work.hello(v1::HelloRequest::default()).await);
    assert_eq!(greet().await, Reason::Protocol);
    TokenBook::change(&file, |book| book.remove("first")).unwrap();
    let refusal =
        eventually("the first is refused", async || api.call(&GetStatus::default()).await.err())
            .await;
    assert_eq!(Refusal::from_status(&refusal).unwrap().reason, Reason::BadToken);
    assert_eq!(greet().await, Reason::BadToken);
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
    assert_eq!(both_refused(&second).await, [None; 2]);
    assert_eq!(both_refused(&first).await, [Some(Reason::BadToken); 2]);
    // And its reading goes on.
    let third = add("third", 3);
    eventually("the third comes in", async || {
        (both_refused(&third).await == [None; 2]).then_some(())
    })
    .await;
    served.stop().await.unwrap();
}

/// The next piece of an answer's text; `None` at its end.
pub(super) async fn next_piece(body: &mut AnswerBody) -> Option<Result<String, Status>> {
    let frame = std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    let text = |frame: http_body::Frame<axum::body::Bytes>| {
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    };
    Some(frame.map(text))
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
        let api = Api::new(channel(&served).await, bearer);
        let endless = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) ";
        let sql = format!("{endless}SELECT count(*) FROM n");
        let body = spelrum_proto::api::json(&RunQuery { sql, rows_max: Some(1) }).unwrap();
        api.send("POST", QUERY_PATH, Some(body)).await.unwrap().into_body()
    };
    // Both run, in all places but the last two.
    let (mut ends, mut goes_on) = (query(&revoked).await, query(&other).await);
    for running in [&mut ends, &mut goes_on] {
        let head = next_piece(running).await.unwrap().unwrap();
        assert_eq!(head.trim(), r#"{"columns":["count(*)"]}"#);
    }
    TokenBook::change(&file, |book| book.remove("revoked")).unwrap();
    // The answer breaks off, without a last line; the next call is refused with the reason.
    loop {
        match next_piece(&mut ends).await {
            Some(Ok(piece)) => assert_eq!(piece.trim(), "", "it goes on"),
            Some(Err(_broken_off)) => break,
            None => panic!("half an answer ended like a whole one"),
        }
    }
    let call = EmptyCall::new("POST /api/v1/sql");
    assert_eq!(refused(&served, &call, &revoked).await, Some(Reason::BadToken));
    // The other one goes on, to be ended by its time.
    let mut rest = String::new();
    while let Some(piece) = next_piece(&mut goes_on).await {
        rest.push_str(&piece.unwrap());
    }
    let end: QueryEnd = serde_json::from_str(rest.trim()).unwrap();
    let QueryEnd::Failed { problem } = end else { panic!("{rest}") };
    let problem: Problem = serde_json::from_value(problem).unwrap();
    assert_eq!(problem.refusal().unwrap().reason, Reason::BadQuery, "{rest}");
    served.stop().await.unwrap();
}

/// However a path is written that means a service to somebody on the way, nobody comes in without a token.
#[tokio::test]
async fn no_way_of_writing_a_path_leads_past_the_guard() {
    let site = Site::new();
    let served = site.serve_with_token(&SECRET.parse().unwrap()).await;
    for path in [
        "/spelrum.v1.Work/Hello",
        "/spelrum.v1.Work/Hello/",
        "/spelrum.v1.Work//Hello",
        "//spelrum.v1.Work/Hello",
        "/./spelrum.v1.Work/Hello",
        "/x/../spelrum.v1.Work/Hello",
        "/grpc.health.v1.Health/../spelrum.v1.Work/Hello",
        "/%73pelrum.v1.Work/Hello",
        "/spelrum.v1.Work/%48ello",
        "/spelrum%2Ev1.Work/Hello",
        "/SPELRUM.v1.Work/Hello",
        "/spelrum.v1.Work/Hello?x=/grpc.health.v1.Health/Check",
        "/healthz/spelrum.v1.Work/Hello",
        "/api/../spelrum.v1.Work/Hello",
        // Of a service that there was once.
        "/spelrum.v1.Experiments/Status",
    ] {
        let mut client = Grpc::new(channel(&served).await);
        client.ready().await.unwrap();
        let codec = tonic_prost::ProstCodec::<(), ()>::default();
        let answer = client.unary(Request::new(()), path.parse().unwrap(), codec).await;
        let code = answer.as_ref().err().map(tonic::Status::code);
        // The API refuses another content type than JSON, which a client of gRPC does not understand.
        let refused = [Code::Unauthenticated, Code::Unimplemented, Code::Unknown, Code::Internal];
        assert!(code.is_some_and(|code| refused.contains(&code)), "{path}: {answer:?}");
    }
    let address = served.address;
    let whole = format!("http://{address}/api/v1/status");
    for path in [
        "/api/v1/status",
        "/api/v1/status/",
        "/api/v1//status",
        "/api//v1/status",
        "//api/v1/status",
        "/./api/v1/status",
        "/x/../api/v1/status",
        "/healthz/../api/v1/status",
        "/%61pi/v1/status",
        "/api/v1/%73tatus",
        "/api%2Fv1/status",
        "/API/v1/status",
        "/api/v1/status?x=/healthz",
        "/api/v1/status%3F",
        "/healthz/api/v1/status",
        "/metrics/../api/v1/status",
        "/api/v1/experiments/..%2F..%2Fstatus",
        "/spelrum.v1.Work/../api/v1/status",
        &whole,
    ] {
        for method in ["GET", "HEAD", "DELETE", "POST"] {
            let request = format!(
                "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
                 Content-Type: application/json\r\nContent-Length: 0\r\n\r\n"
            );
            let answer = metrics::answer(address, &request).await;
            let status = answer.split(' ').nth(1).unwrap_or_default();
            // 415: a service of gRPC, which is not called so.
            assert!(["401", "404", "415"].contains(&status), "{method} {path}: {answer}");
        }
    }
    served.stop().await.unwrap();
}
