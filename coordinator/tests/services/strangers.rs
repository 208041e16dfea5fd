//! What strangers and clients that behave badly can do to those that behave well: nothing.

use std::io;
use std::net::SocketAddr;

use spelrum_proto::{Reason, Token, v1};
use spelrum_test_support::{DEADLINE, Served, Site, eventually, quick_sweep, reason};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

/// Calls of one connection that a server of ours takes at once.
const STREAMS: u32 = 64;

const STATUS: &str = "/spelrum.v1.Experiments/Status";
const STEER: &str = "/spelrum.v1.Experiments/Steer";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const END_STREAM: u8 = 1;
const ACK: u8 = 1;
const END_HEADERS: u8 = 4;

/// HTTP/2 frames as nobody's library would send them (RFC 9113).
struct Frames {
    stream: TcpStream,
    authority: String,
}

struct Frame {
    kind: u8,
    flags: u8,
    payload: Vec<u8>,
}

impl Frames {
    async fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        let mut frames = Self { stream, authority: address.to_string() };
        frames.send(SETTINGS, 0, 0, &[]).await;
        frames
    }

    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let [_, length @ ..] = (payload.len() as u32).to_be_bytes();
        let mut frame = length.to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        // It may have been closed; who waits for an answer hears of it.
        let _ = self.stream.write_all(&frame).await;
    }

    /// Begins a call. Its fields are literals, never indexed (RFC 7541, section 6.2.2).
    async fn call(&mut self, stream: u32, path: &str, more: &[(&str, &str)]) {
        let authority = self.authority.clone();
        let usual = [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", path),
            (":authority", &*authority),
        ];
        let mut block = Vec::new();
        for (name, value) in usual.iter().chain(more) {
            block.push(0);
            for text in [name, value] {
                assert!(text.len() < 127);
                block.push(text.len() as u8);
                block.extend(text.as_bytes());
            }
        }
        self.send(HEADERS, END_HEADERS, stream, &block).await;
    }

    /// Begins as many calls as it may, and says no more.
    async fn half_open_calls(&mut self) {
        for number in 0..STREAMS {
            self.call(2 * number + 1, STATUS, &[("content-type", "application/grpc")]).await;
        }
        self.ping().await;
    }

    /// Waits until everything that was sent has been looked at.
    async fn ping(&mut self) {
        self.send(PING, 0, 0, b"any news").await;
        while !matches!(self.frame().await.unwrap(), Frame { kind: PING, flags: ACK, .. }) {}
    }

    /// Stays there, and answers who asks for a sign of life.
    fn stay(mut self) -> JoinHandle<()> {
        tokio::spawn(async move {
            while let Ok(Frame { kind, flags, payload }) = self.frame().await {
                if kind == PING && flags & ACK == 0 {
                    self.send(PING, ACK, 0, &payload).await;
                }
            }
        })
    }

    async fn frame(&mut self) -> io::Result<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await?;
        let [high, middle, low, kind, flags, ..] = head;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await?;
        Ok(Frame { kind, flags, payload })
    }
}

async fn in_time<T>(what: &str, answer: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, answer).await;
    answer.unwrap_or_else(|_| panic!("no answer: {what}"))
}

/// Sends a request of HTTP/1.1, which need not be whole, and returns the answer's first line.
async fn first_line(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let mut piece = [0; 1_024];
    while !answer.contains(&b'\n') {
        let read = in_time(request, stream.read(&mut piece)).await.unwrap();
        assert!(read > 0, "the connection was closed: {request}");
        answer.extend(&piece[..read]);
    }
    String::from_utf8_lossy(&answer).lines().next().unwrap().to_owned()
}

async fn healthz(address: SocketAddr) -> String {
    first_line(address, "GET /healthz HTTP/1.1\r\nHost: anything\r\n\r\n").await
}

/// Whoever behaves well is answered.
async fn assert_serves(served: &Served) {
    for _ in 0..20 {
        in_time("status", served.status()).await;
        assert_eq!(healthz(served.address).await, "HTTP/1.1 200 OK");
        // What was there before us may only now be looked at.
        tokio::task::yield_now().await;
    }
    let channel = in_time("connect", Endpoint::new(served.url()).unwrap().connect()).await.unwrap();
    let mut health = HealthClient::new(channel);
    in_time("health", health.check(HealthCheckRequest::default())).await.unwrap();
}

#[tokio::test]
async fn calls_that_are_never_finished_stop_nobody() {
    let site = Site::new();
    let served = site.serve().await;
    let mut open = Vec::new();
    for _ in 0..9 {
        let mut frames = Frames::connect(served.address).await;
        frames.half_open_calls().await;
        open.push(frames.stay());
    }
    assert_serves(&served).await;
    served.submit(&quick_sweep("beside", 2)).await;
}

/// Also with a message that is announced and does not come, for which room is kept.
#[tokio::test]
async fn messages_that_are_announced_and_not_sent_stop_nobody() {
    let site = Site::new();
    let served = site.serve().await;
    let mut open = Vec::new();
    for _ in 0..20 {
        let mut frames = Frames::connect(served.address).await;
        frames.half_open_calls().await;
        for number in 0..STREAMS {
            frames.send(DATA, 0, 2 * number + 1, &[0, 0, 0x3f, 0, 0, 1]).await;
        }
        frames.ping().await;
        open.push(frames.stay());
    }
    assert_serves(&served).await;
    // A large message waits until those that do not come are given up.
    let sweep = format!("{}\n#{}", quick_sweep("beside", 2), "x".repeat(100_000));
    eventually("a large sweep is submitted", async || {
        let request = spelrum_test_support::submission(&sweep);
        served.experiments().await.submit(request).await.ok()
    })
    .await;
}

#[tokio::test]
async fn posts_without_an_end_stop_nobody() {
    let site = Site::new();
    let served = site.serve().await;
    let mut open = Vec::new();
    for number in 0..900 {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let (path, kind) = match number % 3 {
            0 => (STATUS, "application/grpc"),
            1 => (STATUS, "text/plain"),
            _ => ("/healthz", "text/plain"),
        };
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: 1000\r\n\r\n",
            served.address
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        open.push(stream);
    }
    assert_serves(&served).await;
}

/// Strangers without the token are refused by the head of a call, whatever they do not send.
#[tokio::test]
async fn who_has_no_token_is_refused_before_its_message() {
    let site = Site::new();
    let token: Token = "a-token-that-nobody-else-has".parse().unwrap();
    let served = site.serve_with_token(&token).await;
    let mut frames = Frames::connect(served.address).await;
    frames.call(1, STATUS, &[("content-type", "application/grpc")]).await;
    let answer = in_time("the refusal", async {
        loop {
            let frame = frames.frame().await.unwrap();
            if frame.kind == HEADERS {
                break frame.payload;
            }
        }
    })
    .await;
    assert!(!answer.is_empty());
    frames.ping().await;
}

/// A call that does not come to its end is ended.
#[tokio::test]
async fn a_message_has_a_deadline() {
    let site = Site::new();
    let served = site.serve().await;
    let mut frames = Frames::connect(served.address).await;
    frames.call(1, STATUS, &[("content-type", "application/grpc")]).await;
    in_time("the refusal", async { while frames.frame().await.unwrap().kind != HEADERS {} }).await;
}

/// Makes a whole call, and waits for its answer.
async fn call(served: &Served, path: &str, more: &[(&str, &str)], authority: &str, message: &str) {
    let mut frames = Frames::connect(served.address).await;
    frames.authority = authority.to_owned();
    frames.call(1, path, more).await;
    frames.send(DATA, END_STREAM, 1, message.as_bytes()).await;
    in_time(path, async { while frames.frame().await.unwrap().kind != HEADERS {} }).await;
}

/// A page in a browser of the same machine can make it send requests, and hear nothing of the answers.
#[tokio::test]
async fn a_web_page_can_neither_steer_nor_remove() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("precious", 2)).await;
    // Steer { experiment: "precious", action: CANCEL }
    let message = "\0\0\0\0\x0c\n\x08precious\x10\x03";
    let own = served.address.to_string();
    let rebound = format!("evil.example:{}", served.address.port());
    let attempts = [
        (&own, "text/plain", "Origin: http://evil.example\r\n", "415"),
        (&own, "text/plain", "", "415"),
        (&own, "application/grpc-web", "", "415"),
        (&own, "application/grpc", "", "505"),
        (&own, "application/grpc", "Origin: http://evil.example\r\n", "505"),
        (&rebound, "application/grpc", "", "505"),
    ];
    for (host, kind, more, expected) in attempts {
        let request = format!(
            "POST {STEER} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n{more}Content-Length: \
             {}\r\n\r\n{message}",
            message.len()
        );
        let line = first_line(served.address, &request).await;
        assert!(line.contains(expected), "{line}: {request:?}");
        assert_ne!(served.summary("precious").await.state, "cancelled", "{request:?}");
    }

    // As if browsers spoke HTTP/2 without TLS.
    let grpc = ("content-type", "application/grpc");
    let foreign = [
        (&[grpc, ("origin", "http://evil.example")][..], &own),
        (&[grpc, ("origin", "null")], &own),
        (&[grpc], &rebound),
        (&[grpc, ("host", "evil.example")], &own),
        (&[("content-type", "text/plain")], &own),
        (&[], &own),
    ];
    for (more, authority) in foreign {
        call(&served, STEER, more, authority, message).await;
        assert_ne!(served.summary("precious").await.state, "cancelled", "{more:?} {authority}");
    }
    // One that is not a web page's.
    call(&served, STEER, &[grpc], &own, message).await;
    assert_eq!(served.summary("precious").await.state, "cancelled");
}

#[tokio::test]
async fn every_name_of_this_machine_reaches_it() {
    let site = Site::new();
    let served = site.serve().await;
    let port = served.address.port();
    for host in ["127.0.0.1", "localhost"] {
        let endpoint = Endpoint::new(format!("http://{host}:{port}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let mut client = v1::experiments_client::ExperimentsClient::new(channel);
        client.status(v1::StatusRequest::default()).await.unwrap();
    }
    // One that listens on another address, by its address, and by a name that is somebody else's.
    let channel = Endpoint::new(served.url()).unwrap();
    let elsewhere = channel.clone().origin(format!("http://evil.example:{port}").parse().unwrap());
    let channel = elsewhere.connect().await.unwrap();
    let mut client = v1::experiments_client::ExperimentsClient::new(channel);
    let status = client.status(v1::StatusRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), Code::PermissionDenied);
    assert!(status.message().contains("--host"), "{status:?}");
}

/// Whatever a client has of its connection, others have theirs.
#[tokio::test]
async fn silent_connections_make_room_for_others() {
    let site = Site::new();
    let served = site.serve_with_connections(16).await;
    let mut worker = spelrum_test_support::HandWorker::new(&served).await;
    let mut silent = Vec::new();
    for number in 0..64 {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        // Some say nothing, others begin.
        if number % 2 == 0 {
            stream.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
        }
        silent.push(stream);
    }
    let mut half_open = Vec::new();
    for _ in 0..32 {
        let mut frames = Frames::connect(served.address).await;
        frames.send(SETTINGS, ACK, 0, &[]).await;
        frames.call(1, STATUS, &[("content-type", "application/grpc")]).await;
        half_open.push(frames.stay());
    }
    assert_serves(&served).await;
    // And who was there before them still is.
    worker.lease().await.unwrap();
}

/// Four clients that do not read used to hold every place there is for queries.
#[tokio::test]
async fn answers_that_are_not_read_are_not_kept() {
    let site = Site::new();
    let served = site.serve().await;
    let sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n LIMIT 400) \
               SELECT printf('%.*c', 50000, 'x') FROM n";
    let mut deaf = Vec::new();
    for _ in 0..4 {
        let mut client = served.experiments().await;
        let request = v1::QueryRequest { sql: sql.to_owned(), rows_max: 0 };
        deaf.push(client.query(request).await.unwrap().into_inner());
    }
    assert_eq!(reason(served.query("SELECT 1").await), Reason::Busy);
    eventually("a query has a place", async || served.query("SELECT 1").await.ok()).await;
    // Those whose turn has not come yet still have all of it; the others are told.
    let mut let_go = 0;
    for mut answer in deaf {
        let mut rows = 0;
        let end = loop {
            match answer.message().await {
                Ok(Some(page)) => rows += page.rows.len(),
                Ok(None) => break None,
                Err(status) => break Some(status.code()),
            }
        };
        match end {
            None => assert_eq!(rows, 400, "half an answer ended like a whole one"),
            Some(code) => {
                assert_eq!(code, Code::DeadlineExceeded);
                let_go += 1;
            }
        }
    }
    assert!(let_go > 0);
}

/// A client that reads slowly has all of it.
#[tokio::test]
async fn a_large_answer_comes_whole() {
    let site = Site::new();
    let served = site.serve().await;
    let sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n LIMIT 400) \
               SELECT x, printf('%.*c', 20000, 'x') FROM n";
    assert_eq!(served.query(sql).await.unwrap().len(), 400);
}
