//! What strangers and clients that behave badly can do to those that behave well: nothing.

use std::io;
use std::net::SocketAddr;

use prost::Message as _;
use spelrum_answers::{Action, GetStatus, QUERY_PATH, RunQuery};
use spelrum_model::ExperimentState;
use spelrum_proto::api::Api;
use spelrum_proto::v1::work_client::WorkClient;
use spelrum_proto::{Bearer, Reason, Token, v1};
use spelrum_test_support::{
    DEADLINE, HandWorker, Served, Site, eventually, hello, quick_sweep, reason, submission,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tonic::Code;
use tonic::transport::Endpoint;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use uuid::Uuid;

use crate::tokens::next_piece;

/// Calls of one connection that a server of ours takes at once.
const STREAMS: u32 = 64;

const HELLO: &str = "/spelrum.v1.Work/Hello";
const SUBMIT: &str = "/api/v1/experiments";

const GRPC: (&str, &str) = ("content-type", "application/grpc");
const JSON: (&str, &str) = ("content-type", "application/json");

/// A message that needs room: its length as bytes of gRPC's prefix, and in the head of a call of the API.
const LARGE_PREFIX: [u8; 5] = [0, 0, 0x3f, 0, 0];
const LARGE_LENGTH: &str = "4128768";

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
    stream: u32,
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

    /// Begins a call by POST. Its fields are literals, never indexed (RFC 7541, section 6.2.2).
    async fn call(&mut self, stream: u32, path: &str, more: &[(&str, &str)]) {
        self.call_by("POST", stream, path, more).await;
    }

    async fn call_by(&mut self, method: &str, stream: u32, path: &str, more: &[(&str, &str)]) {
        let authority = self.authority.clone();
        let usual = [
            (":method", method),
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

    /// Begins as many calls as it may, of gRPC and of the API in turn, and says no more.
    async fn half_open_calls(&mut self, length: &str) {
        for number in 0..STREAMS {
            self.half_open_call(2 * number + 1, number % 2 == 0, length).await;
        }
        self.ping().await;
    }

    /// Begins a call; one of the API announces a message of this length.
    async fn half_open_call(&mut self, stream: u32, is_grpc: bool, length: &str) {
        if is_grpc {
            self.call(stream, HELLO, &[GRPC]).await;
        } else {
            self.call(stream, SUBMIT, &[JSON, ("content-length", length)]).await;
        }
    }

    /// Waits until everything that was sent has been looked at.
    async fn ping(&mut self) {
        self.send(PING, 0, 0, b"any news").await;
        while !matches!(self.frame().await.unwrap(), Frame { kind: PING, flags: ACK, .. }) {}
    }

    /// Stays there, and answers who asks for a sign of life.
    fn stay(mut self) -> JoinHandle<()> {
        tokio::spawn(async move {
            while let Ok(Frame { kind, flags, payload, .. }) = self.frame().await {
                if kind == PING && flags & ACK == 0 {
                    self.send(PING, ACK, 0, &payload).await;
                }
            }
        })
    }

    async fn frame(&mut self) -> io::Result<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await?;
        let [high, middle, low, kind, flags, stream @ ..] = head;
        let stream = u32::from_be_bytes(stream);
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).await?;
        Ok(Frame { kind, flags, stream, payload })
    }
}

async fn in_time<T>(what: &str, answer: impl Future<Output = T>) -> T {
    let answer = tokio::time::timeout(DEADLINE, answer).await;
    answer.unwrap_or_else(|_| panic!("no answer: {what}"))
}

/// Sends a request of HTTP/1.1, which need not be whole, and returns the answer's first line.
async fn first_line(address: SocketAddr, request: &str) -> String {
    first_line_with(address, request, b"").await
}

async fn first_line_with(address: SocketAddr, request: &str, message: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(&[request.as_bytes(), message].concat()).await.unwrap();
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
        frames.half_open_calls("1000").await;
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
        frames.half_open_calls(LARGE_LENGTH).await;
        for number in 0..STREAMS {
            let begun = if number % 2 == 0 { &LARGE_PREFIX[..] } else { b"" };
            frames.send(DATA, 0, 2 * number + 1, &[begun, b"{"].concat()).await;
        }
        frames.ping().await;
        open.push(frames.stay());
    }
    assert_serves(&served).await;
    // A large message waits until those that do not come are given up.
    let sweep = format!("{}\n#{}", quick_sweep("beside", 2), "x".repeat(100_000));
    eventually("a large sweep is submitted", async || served.call(&submission(&sweep)).await.ok())
        .await;
}

#[tokio::test]
async fn posts_without_an_end_stop_nobody() {
    let site = Site::new();
    let served = site.serve().await;
    let mut open = Vec::new();
    for number in 0..900 {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let (path, kind) = match number % 6 {
            0 => (HELLO, "application/grpc"),
            1 => (HELLO, "text/plain"),
            2 => ("/healthz", "text/plain"),
            3 => (SUBMIT, "text/plain"),
            _ => (SUBMIT, "application/json"),
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
    for is_grpc in [true, false] {
        let mut frames = Frames::connect(served.address).await;
        frames.half_open_call(1, is_grpc, LARGE_LENGTH).await;
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
    // By HTTP/1.1, too.
    let request = format!(
        "POST {SUBMIT} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
         Content-Length: {LARGE_LENGTH}\r\n\r\n",
        served.address
    );
    assert_eq!(first_line(served.address, &request).await, "HTTP/1.1 401 Unauthorized");
}

/// A message that is too long, or of unknown length, is refused by the head of a call of the API.
#[tokio::test]
async fn a_message_without_an_end_is_not_received() {
    let site = Site::new();
    let served = site.serve().await;
    for length in
        ["Content-Length: 4194305", "Content-Length: 99999999999", "Transfer-Encoding: chunked"]
    {
        let request = format!(
            "POST {SUBMIT} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{length}\r\n\r\n",
            served.address
        );
        assert_eq!(first_line(served.address, &request).await, "HTTP/1.1 400 Bad Request");
    }
    for more in [&[JSON][..], &[JSON, ("content-length", "4194305")]] {
        let mut frames = Frames::connect(served.address).await;
        frames.call(1, SUBMIT, more).await;
        frames.send(DATA, 0, 1, b"{").await;
        let refused = async { while frames.frame().await.unwrap().kind != HEADERS {} };
        in_time("the refusal", refused).await;
    }
    assert_serves(&served).await;
}

/// A call that does not come to its end is ended.
#[tokio::test]
async fn a_message_has_a_deadline() {
    let site = Site::new();
    let served = site.serve().await;
    let mut frames = Frames::connect(served.address).await;
    frames.half_open_call(1, true, "").await;
    frames.half_open_call(3, false, "1000").await;
    frames.send(DATA, 0, 3, b"{").await;
    let mut open = vec![1, 3];
    let refused = async {
        while !open.is_empty() {
            let Frame { kind, stream, .. } = frames.frame().await.unwrap();
            open.retain(|&call| kind != HEADERS || call != stream);
        }
    };
    in_time("the refusals", refused).await;
}

/// Makes a whole call, and waits for its answer.
async fn call(served: &Served, path: &str, more: &[(&str, &str)], authority: &str, message: &[u8]) {
    let mut frames = Frames::connect(served.address).await;
    frames.authority = authority.to_owned();
    frames.call(1, path, more).await;
    frames.send(DATA, END_STREAM, 1, message).await;
    in_time(path, async { while frames.frame().await.unwrap().kind != HEADERS {} }).await;
}

/// A page in a browser of the same machine can make it send requests, and hear nothing of the answers.
#[tokio::test]
async fn a_web_page_can_neither_steer_nor_remove() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("precious", 2)).await;
    // One that could be removed.
    served.submit(&quick_sweep("over", 2)).await;
    served.steer("over", Action::Cancel).await.unwrap();
    let nothing_is_changed = async || {
        let state = served.summary("precious").await.state;
        state == ExperimentState::Running && served.status().await.experiments.len() == 2
    };
    let steer = "/api/v1/experiments/precious/steer";
    let remove = "/api/v1/experiments/over?what=everything";
    let message = r#"{"action":"cancel"}"#;
    let length = message.len().to_string();
    let own = served.address.to_string();
    let rebound = format!("evil.example:{}", served.address.port());
    let rebound_page = format!("Origin: http://{rebound}\r\n");
    let evil_page = "Origin: http://evil.example\r\n";
    let attempts = [
        // What a page sends without asking: a form, a text, a beacon without a type.
        (&own, "application/x-www-form-urlencoded", evil_page, "415"),
        (&own, "multipart/form-data; boundary=x", evil_page, "415"),
        (&own, "text/plain", evil_page, "415"),
        (&own, "text/plain", "", "415"),
        (&own, "text/plain; application/json", "", "415"),
        (&own, "application/json-seq", "", "415"),
        (&own, "application/grpc", "", "415"),
        (&own, "", "", "415"),
        // And what it may not send without asking.
        (&own, "application/json", evil_page, "403"),
        (&own, "application/json", "Origin: null\r\n", "403"),
        (&rebound, "application/json", "", "421"),
        (&rebound, "application/json", &*rebound_page, "421"),
    ];
    for (host, kind, more, expected) in attempts {
        let request = format!(
            "POST {steer} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n{more}Content-Length: \
             {length}\r\n\r\n{message}"
        );
        let line = first_line(served.address, &request).await;
        assert!(line.contains(expected), "{line}: {request:?}");
        assert!(nothing_is_changed().await, "{request:?}");
    }
    // It may not even ask, nor remove, whose parameters are not in a message.
    for (method, host, more, expected) in [
        ("OPTIONS", &own, evil_page, "403"),
        ("DELETE", &own, evil_page, "403"),
        ("DELETE", &own, "Sec-Fetch-Site: cross-site\r\n", "403"),
        ("GET", &own, "Sec-Fetch-Site: cross-site\r\n", "403"),
        ("GET", &own, "Sec-Fetch-Site: same-site\r\n", "403"),
        ("DELETE", &own, "Origin: null\r\n", "403"),
        ("DELETE", &rebound, "", "421"),
        ("DELETE", &rebound, &*rebound_page, "421"),
    ] {
        let request = format!(
            "{method} {remove} HTTP/1.1\r\nHost: {host}\r\n{more}\
             Access-Control-Request-Method: DELETE\r\n\r\n"
        );
        let line = first_line(served.address, &request).await;
        assert!(line.contains(expected), "{line}: {request:?}");
        assert!(nothing_is_changed().await, "{request:?}");
    }

    // As if browsers spoke HTTP/2 without TLS.
    let sized = ("content-length", &*length);
    let evil_page = ("origin", "http://evil.example");
    let foreign = [
        (&[JSON, sized, evil_page][..], &own),
        (&[JSON, sized, ("origin", "null")], &own),
        (&[JSON, sized], &rebound),
        (&[JSON, sized, ("host", "evil.example")], &own),
        (&[("content-type", "text/plain"), sized], &own),
        (&[GRPC, sized], &own),
        (&[sized], &own),
    ];
    for (more, authority) in foreign {
        call(&served, steer, more, authority, message.as_bytes()).await;
        assert!(nothing_is_changed().await, "{more:?} {authority}");
    }
    for (more, authority) in [(&[evil_page][..], &own), (&[], &rebound)] {
        let mut frames = Frames::connect(served.address).await;
        frames.authority = authority.to_owned();
        frames.call_by("DELETE", 1, remove, more).await;
        frames.send(DATA, END_STREAM, 1, b"").await;
        let refused = async { while frames.frame().await.unwrap().kind != HEADERS {} };
        in_time(remove, refused).await;
        assert!(nothing_is_changed().await, "{more:?} {authority}");
    }
    // One that is not a web page's.
    call(&served, steer, &[JSON, sized], &own, message.as_bytes()).await;
    assert_eq!(served.summary("precious").await.state, ExperimentState::Cancelled);
}

/// Nor can it introduce itself as a worker.
#[tokio::test]
async fn a_web_page_does_not_become_a_worker() {
    let site = Site::new();
    let served = site.serve().await;
    let hello = hello(&Uuid::new_v4().to_string()).encode_to_vec();
    let length = u32::try_from(hello.len()).unwrap().to_be_bytes();
    let message = [&[0_u8][..], &length, &hello].concat();
    let workers = "SELECT count(*) FROM workers";
    let own = served.address.to_string();
    let rebound = format!("evil.example:{}", served.address.port());
    let attempts = [
        (&own, "text/plain", "Origin: http://evil.example\r\n", "415"),
        (&own, "text/plain", "", "415"),
        (&own, "application/json", "", "415"),
        (&own, "application/grpc-web", "", "415"),
        (&own, "application/grpc", "", "505"),
        (&own, "application/grpc", "Origin: http://evil.example\r\n", "505"),
        (&rebound, "application/grpc", "", "505"),
    ];
    for (host, kind, more, expected) in attempts {
        let request = format!(
            "POST {HELLO} HTTP/1.1\r\nHost: {host}\r\nContent-Type: {kind}\r\n{more}Content-Length: \
             {}\r\n\r\n",
            message.len()
        );
        let line = first_line_with(served.address, &request, &message).await;
        assert!(line.contains(expected), "{line}: {request:?}");
        assert_eq!(served.number(workers).await, 0, "{request:?}");
    }

    // As if browsers spoke HTTP/2 without TLS.
    let foreign = [
        (&[GRPC, ("origin", "http://evil.example")][..], &own),
        (&[GRPC, ("origin", "null")], &own),
        (&[GRPC], &rebound),
        (&[GRPC, ("host", "evil.example")], &own),
        (&[("content-type", "text/plain")], &own),
        (&[JSON], &own),
        (&[], &own),
    ];
    for (more, authority) in foreign {
        call(&served, HELLO, more, authority, &message).await;
        assert_eq!(served.number(workers).await, 0, "{more:?} {authority}");
    }
    // One that is not a web page's.
    call(&served, HELLO, &[GRPC], &own, &message).await;
    assert_eq!(served.number(workers).await, 1);
}

#[tokio::test]
async fn every_name_of_this_machine_reaches_it() {
    let site = Site::new();
    let served = site.serve().await;
    let port = served.address.port();
    for host in ["127.0.0.1", "localhost"] {
        let endpoint = Endpoint::new(format!("http://{host}:{port}")).unwrap();
        let channel = endpoint.connect().await.unwrap();
        let api = Api::new(channel.clone(), Bearer::new(None));
        api.call(&GetStatus::default()).await.unwrap();
        WorkClient::new(channel).hello(hello(&Uuid::new_v4().to_string())).await.unwrap();
    }
    // One that listens on another address, by its address, and by a name that is somebody else's.
    let channel = Endpoint::new(served.url()).unwrap();
    let elsewhere = channel.clone().origin(format!("http://evil.example:{port}").parse().unwrap());
    let channel = elsewhere.connect().await.unwrap();
    let api = Api::new(channel.clone(), Bearer::new(None));
    let asked = api.call(&GetStatus::default()).await.unwrap_err();
    let mut work = WorkClient::new(channel);
    let greeted = work.hello(v1::HelloRequest::default()).await.unwrap_err();
    for status in [asked, greeted] {
        assert_eq!(status.code(), Code::PermissionDenied);
        assert!(status.message().contains("--host"), "{status:?}");
    }
}

/// Whatever a client has of its connection, others have theirs.
#[tokio::test]
async fn silent_connections_make_room_for_others() {
    let site = Site::new();
    let served = site.serve_with_connections(16).await;
    let mut worker = HandWorker::new(&served).await;
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
    for number in 0..32 {
        let mut frames = Frames::connect(served.address).await;
        frames.send(SETTINGS, ACK, 0, &[]).await;
        frames.half_open_call(1, number % 2 == 0, "1000").await;
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
    let query = RunQuery { sql: sql.to_owned(), rows_max: Some(0) };
    let query = spelrum_proto::api::json(&query).unwrap();
    // By HTTP/2 and by HTTP/1.1.
    let (mut deaf, mut deaf_of_old) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let answer = served.api().await.send("POST", QUERY_PATH, Some(query.clone())).await;
        deaf.push(answer.unwrap().into_body());
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let request = format!(
            "POST {QUERY_PATH} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{query}",
            served.address,
            query.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut begun = *b"HTTP/1.1 ...";
        in_time("an answer", stream.read_exact(&mut begun)).await.unwrap();
        assert_eq!(&begun, b"HTTP/1.1 200");
        deaf_of_old.push(stream);
    }
    assert_eq!(reason(served.query("SELECT 1").await), Reason::Busy);
    eventually("a query has a place", async || served.query("SELECT 1").await.ok()).await;
    // Those whose turn has not come yet still have all of it; those of the others break off.
    let mut let_go = 0;
    let whole = |text: &str| {
        let rows = text.lines().filter(|line| line.starts_with('['));
        text.ends_with("{\"truncated\":false}\n") && rows.count() == 400
    };
    for mut answer in deaf {
        let mut text = String::new();
        let is_broken_off = loop {
            match in_time("a piece", next_piece(&mut answer)).await {
                Some(Ok(piece)) => text.push_str(&piece),
                Some(Err(_)) => break true,
                None => break false,
            }
        };
        assert!(is_broken_off || whole(&text), "half an answer ended like a whole one");
        let_go += u32::from(is_broken_off);
    }
    for mut stream in deaf_of_old {
        let mut answer = Vec::new();
        // A connection that is reset has no end either.
        let read = in_time("the end", stream.read_to_end(&mut answer)).await;
        let has_end = read.is_ok() && answer.ends_with(b"\r\n0\r\n\r\n");
        // Its rows are in pieces; no text has a bracket but the column's names.
        let rows = answer.iter().filter(|&&byte| byte == b'[').count();
        assert!(!has_end || rows == 1 + 400, "half an answer ended like a whole one");
        let_go += u32::from(!has_end);
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
