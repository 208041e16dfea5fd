//! While another coordinator owns a shared database, connections are passed on to that one.

use std::net::SocketAddr;

use spelrum_answers::GetStatus;
use spelrum_coordinator::pass_on;
use spelrum_proto::{Bearer, api::Api};
use spelrum_test_support::{HandWorker, Site, quick_sweep};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tonic::transport::Endpoint;

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Waits until the other side has closed a connection.
async fn expect_end(mut stream: TcpStream) {
    // The end, or a reset where something was sent.
    assert!(matches!(stream.read(&mut [0]).await, Ok(0) | Err(_)));
}

#[tokio::test]
async fn workers_and_clients_reach_the_owner_through_a_standby() {
    let site = Site::new();
    let mut served = site.serve().await;
    served.submit(&quick_sweep("standby", 2)).await;
    let (entrance, address) = listener().await;
    let (_owner, owner) = watch::channel(served.address.to_string());
    let passing = tokio::spawn(pass_on(entrance, owner, |owner| Some(owner.clone())));
    served.address = address;
    HandWorker::new(&served).await.work_until_done().await;
    let channel = Endpoint::new(format!("http://{address}")).unwrap().connect().await.unwrap();
    let status = Api::new(channel, Bearer::new(None)).call(&GetStatus::default()).await.unwrap();
    assert_eq!(status.experiments.len(), 1);
    passing.abort();
}

#[tokio::test]
async fn connections_end_when_the_owner_changes() {
    let (entrance, address) = listener().await;
    let ((first, first_address), (second, second_address)) = (listener().await, listener().await);
    let (owner, seen) = watch::channel(None::<SocketAddr>);
    let passing = tokio::spawn(pass_on(entrance, seen, |owner| owner.map(|at| at.to_string())));
    let connect = async || TcpStream::connect(address).await.unwrap();

    expect_end(connect().await).await;
    owner.send_replace(Some(first_address));
    let mut caller = connect().await;
    caller.write_all(b"to the first").await.unwrap();
    let (mut passed, _) = first.accept().await.unwrap();
    passed.write_all(b"answer").await.unwrap();
    let (mut question, mut answer) = ([0; 12], [0; 6]);
    passed.read_exact(&mut question).await.unwrap();
    caller.read_exact(&mut answer).await.unwrap();
    assert_eq!((&question, &answer), (b"to the first", b"answer"));

    owner.send_replace(Some(second_address));
    expect_end(caller).await;
    expect_end(passed).await;
    let caller = connect().await;
    let (passed, _) = second.accept().await.unwrap();
    // The same owner under a greater term.
    owner.send_replace(Some(second_address));
    let (mut caller, mut passed) = (caller, passed);
    caller.write_all(b"!").await.unwrap();
    assert_eq!(passed.read_u8().await.unwrap(), b'!');

    // Nobody listens there any more.
    drop(first);
    owner.send_replace(Some(first_address));
    expect_end(connect().await).await;
    expect_end(caller).await;

    // This one takes over, or ends.
    owner.send_replace(Some(second_address));
    let caller = connect().await;
    let (passed, _) = second.accept().await.unwrap();
    passing.abort();
    expect_end(caller).await;
    expect_end(passed).await;
}
