//! Strangers at a port that speaks TLS: whoever stalls, talks nonsense or speaks something else stops nobody.

use std::net::SocketAddr;

use spelrum_answers::GetStatus;
use spelrum_proto::api::Api;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, TrustError, v1};
use spelrum_test_support::{Authority, DEADLINE, Served, Site, Validity, quick_sweep, submission};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

/// The first bytes of a handshake: a record of 512 bytes, with a client's hello that is said to have 508.
const HALF_A_HELLO: &[u8] = &[22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];

async fn serve(site: &Site, ca: &Authority) -> Served {
    site.serve_with_tls(ca.certify(&["127.0.0.1"], Validity::Now)).await
}

async fn client(served: &Served, ca: &Authority) -> Api {
    let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(ca.pem()));
    let url = format!("https://{}", served.address);
    let endpoint = Endpoint::new(url).unwrap().tls_config(tls).unwrap();
    let connecting = tokio::time::timeout(DEADLINE, endpoint.connect());
    let channel = connecting.await.expect("no connection in time").unwrap();
    Api::new(channel, Bearer::new(None))
}

async fn assert_serves(served: &Served, ca: &Authority) {
    for _ in 0..10 {
        let client = client(served, ca).await;
        let question = GetStatus::default();
        let call = client.call(&question);
        tokio::time::timeout(DEADLINE, call).await.expect("no answer in time").unwrap();
    }
}

/// Everything that is answered before the connection is closed.
async fn answer_to(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    let reading = async {
        let mut piece = [0; 1_024];
        while let Ok(read @ 1..) = stream.read(&mut piece).await {
            answer.extend(&piece[..read]);
            // It waits for us to hear it.
            stream.shutdown().await.ok();
        }
    };
    tokio::time::timeout(DEADLINE, reading).await.expect("it is not closed");
    answer
}

#[tokio::test]
async fn a_sweep_is_submitted_by_tls() {
    let (site, ca) = (Site::new(), Authority::new());
    let served = serve(&site, &ca).await;
    let client = client(&served, &ca).await;
    client.call(&submission(&quick_sweep("by-tls", 2))).await.unwrap();
    assert_eq!(client.call(&GetStatus::default()).await.unwrap().experiments.len(), 1);
}

/// They have no connection of others, and lose their own.
#[tokio::test]
async fn handshakes_that_are_never_finished_stop_nobody() {
    let (site, ca) = (Site::new(), Authority::new());
    let served = serve(&site, &ca).await;
    let mut stalled = Vec::new();
    for number in 0..300 {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        // Some say nothing at all.
        stream.write_all(&HALF_A_HELLO[..number % (HALF_A_HELLO.len() + 1)]).await.unwrap();
        stalled.push(stream);
    }
    assert_serves(&served, &ca).await;
    for stream in &mut stalled {
        let mut answer = Vec::new();
        let closed = tokio::time::timeout(DEADLINE, stream.read_to_end(&mut answer)).await;
        let _reset = closed.expect("a stalled handshake is ended");
    }
    assert_serves(&served, &ca).await;
}

#[tokio::test]
async fn nonsense_is_sent_away() {
    let (site, ca) = (Site::new(), Authority::new());
    let served = serve(&site, &ca).await;
    let mut wrong = HALF_A_HELLO.to_vec();
    wrong.resize(517, 0xff);
    for bytes in [&wrong[..], &[22; 600], &[0; 600], &[0xff; 100_000], b"SSH-2.0-x\r\n"] {
        let answer = answer_to(served.address, bytes).await;
        let is_alert = answer.first() == Some(&21);
        let is_http = answer.starts_with(b"HTTP/1.1 400 ");
        assert!(answer.is_empty() || is_alert || is_http, "{answer:?}");
    }
    assert_serves(&served, &ca).await;
}

/// Nothing is served as it is, whatever asks for it; and who asks hears why.
#[tokio::test]
async fn nothing_is_served_without_tls() {
    let (site, ca) = (Site::new(), Authority::new());
    let served = serve(&site, &ca).await;
    for path in ["/", "/healthz", "/metrics", "/api/v1/status"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
        let answer = answer_to(served.address, request.as_bytes()).await;
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 ") && answer.contains("https://"), "{answer}");
    }
    let asked = served.call(&GetStatus::default()).await.unwrap_err();
    let mut worker = WorkClient::connect(served.url()).await.unwrap();
    let greeted = worker.hello(v1::HelloRequest::default()).await.unwrap_err();
    for status in [asked, greeted] {
        let trust_error = TrustError::from_error(&status).unwrap();
        assert!(trust_error.is_callers && trust_error.problem.contains("speaks TLS"), "{status:?}");
    }
}

/// To stop waits for nobody who stalls.
#[tokio::test]
async fn a_stalled_handshake_does_not_delay_the_end() {
    let (site, ca) = (Site::new(), Authority::new());
    let served = serve(&site, &ca).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    stream.write_all(HALF_A_HELLO).await.unwrap();
    assert_serves(&served, &ca).await;
    served.stop().await.unwrap();
    let _reset = stream.read_to_end(&mut Vec::new()).await;
}
