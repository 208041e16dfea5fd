//! One listener for gRPC, the API, health, reflection and pages.

use std::net::SocketAddr;

use spelrum_proto::v1;
use spelrum_test_support::{HandWorker, Site, quick_sweep};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

async fn get(address: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn pages_the_api_and_grpc_share_a_port() {
    let site = Site::new();
    let served = site.serve().await;
    let page = get(served.address, "/").await;
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("Spelrum coordinator"), "{page}");
    assert!(get(served.address, "/healthz").await.ends_with("\r\n\r\nok\n"));
    assert!(get(served.address, "/nothing").await.starts_with("HTTP/1.1 404"));
    served.submit(&quick_sweep("ports", 2)).await;
    HandWorker::new(&served).await.work_until_done().await;

    // An unknown method, and those of services that there were once, as gRPC clients understand it.
    let channel = Endpoint::new(served.url()).unwrap().connect().await.unwrap();
    let mut grpc = tonic::client::Grpc::new(channel);
    for path in ["/spelrum.v1.Nothing/Nothing", "/spelrum.v1.Experiments/Status"] {
        grpc.ready().await.unwrap();
        let codec = tonic_prost::ProstCodec::<v1::HelloRequest, v1::HelloResponse>::default();
        let request = tonic::Request::new(v1::HelloRequest::default());
        let status = grpc.unary(request, path.parse().unwrap(), codec).await.unwrap_err();
        assert_eq!(status.code(), tonic::Code::Unimplemented, "{path}");
    }
}

#[tokio::test]
async fn garbage_on_the_port_is_harmless() {
    let site = Site::new();
    let served = site.serve().await;
    for garbage in
        [&b"\x16\x03\x01\x02\x00\x01\x00"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxx", b"\0\0\0"]
    {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(garbage).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // Whatever it answers, if anything.
        let _ = stream.read_to_end(&mut answer).await;
    }
    assert!(get(served.address, "/healthz").await.ends_with("ok\n"));
}

#[tokio::test]
async fn health_and_reflection_answer() {
    let site = Site::new();
    let served = site.serve().await;
    let channel = Endpoint::new(served.url()).unwrap().connect().await.unwrap();
    let mut health = HealthClient::new(channel.clone());
    for service in ["", "spelrum.v1.Work"] {
        let request = HealthCheckRequest { service: service.to_owned() };
        let answer = health.check(request).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
    }
    let unknown = HealthCheckRequest { service: "spelrum.v1.Experiments".to_owned() };
    assert_eq!(health.check(unknown).await.unwrap_err().code(), tonic::Code::NotFound);

    let mut reflection = ServerReflectionClient::new(channel);
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let answers = reflection.server_reflection_info(tokio_stream::iter([request])).await.unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else {
        panic!("{answer:?}");
    };
    let names: Vec<_> = list.service.iter().map(|service| &*service.name).collect();
    assert!(names.contains(&"grpc.health.v1.Health"), "{names:?}");
    let ours = names.iter().filter(|name| name.starts_with("spelrum."));
    assert_eq!(ours.collect::<Vec<_>>(), [&"spelrum.v1.Work", &"spelrum.v1.Programs"]);
}

#[tokio::test]
async fn a_shutdown_is_clean() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("shutdown", 2)).await;
    let address = served.address;
    let mut worker = HandWorker::new(&served).await;
    let grant = worker.granted().await;
    let results = worker.play(&grant).await;
    worker.report(results).await.unwrap();
    served.stop().await.unwrap();
    assert!(TcpStream::connect(address).await.is_err());
    assert!(worker.lease().await.is_err());

    // The database is one file again, and free.
    let mut wal = site.db().into_os_string();
    wal.push("-wal");
    assert_eq!(std::fs::metadata(wal).map_or(0, |wal| wal.len()), 0);
    let served = site.serve().await;
    assert_eq!(served.summary("shutdown").await.games_settled, 2);
}
