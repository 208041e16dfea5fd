//! A coordinator with a token answers nobody who does not bring it, and tells nothing of it.

use spelrum_proto::v1::experiments_client::ExperimentsClient;
use spelrum_proto::v1::results_client::ResultsClient;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, Reason, Refusal, Token, v1};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use spelrum_test_support::{Served, Site, quick_sweep, submission};

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
            let refusal = Refusal::of(&status).unwrap();
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
        let reason = status.and_then(|status| Refusal::of(&status)).map(|refusal| refusal.reason);
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
