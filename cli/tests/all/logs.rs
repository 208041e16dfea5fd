//! Logs as JSON: every line of stderr is one object, with what is told of calls and games, and no secret.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use crate::sandbox::{Ran, Sandbox, tic_tac_toe};

const SECRET: &str = "s3cret-s3cret";

/// Every line, which must be an object with what each has.
#[track_caller]
fn lines(log: &str) -> Vec<Value> {
    let read = |line: &str| {
        let object: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        for key in ["timestamp", "level", "target"] {
            assert!(object[key].is_string(), "{key}: {line}");
        }
        // What libraries trace need not say anything.
        assert!(object["fields"].is_object(), "{line}");
        object
    };
    log.lines().map(read).collect()
}

/// The first line that says this.
#[track_caller]
fn saying<'l>(lines: &'l [Value], message: &str) -> &'l Value {
    let found = lines.iter().find(|line| line["fields"]["message"] == message);
    found.unwrap_or_else(|| panic!("nothing says {message:?}"))
}

#[test]
fn every_line_is_an_object_and_none_has_the_token() {
    let sandbox = Sandbox::new();
    sandbox.write("token", &format!("{SECRET}\n"));
    sandbox.write("sweep.toml", &tic_tac_toe("logged", 4));
    let log = File::create(sandbox.path("coordinator.log")).unwrap();
    let coordinator = sandbox.coordinator_as(
        sandbox
            .spelrum(&["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"])
            .args(["--token-file", "token", "--log-format", "json"])
            .env("RUST_LOG", "trace")
            .stderr(log),
    );
    let url = coordinator.url.as_str();
    // A client that does not say that its token is a secret, and one that says what is not a name.
    let address = url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /spelrum.v1.Work/Hello HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {SECRET}\r\n\
         X-Request-Id: {SECRET} or not\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream.read_to_string(&mut String::new()).unwrap();

    let with_token = |arguments: &[&str]| {
        let mut command = sandbox.spelrum(arguments);
        command.env("SPELRUM_TOKEN", SECRET).env("RUST_LOG", "trace");
        Ran(command.env("SPELRUM_LOG_FORMAT", "json").output().unwrap())
    };
    with_token(&["submit", "sweep.toml", "--coordinator", url]).expect_exit(0);
    let worked = with_token(&["worker", "--coordinator", url, "--slots", "1", "--exit-when-done"]);
    worked.expect_exit(0);
    drop(coordinator);
    let log = std::fs::read_to_string(sandbox.path("coordinator.log")).unwrap();
    for log in [&*log, worked.stderr()] {
        assert!(log.contains("\"TRACE\"") && !log.contains("s3cret"), "it logs its token");
    }

    let coordinator = lines(&log);
    let hello = &saying(&coordinator, "a worker said hello")["span"];
    assert_eq!(hello["method"], "spelrum.v1.Work/Hello");
    assert_eq!(hello["request"].as_str().unwrap().len(), 16, "{hello}");
    assert!(hello["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{hello}");
    let submitted = saying(&coordinator, "an experiment was submitted");
    assert_ne!(submitted["span"]["request"], hello["request"]);
    let result = saying(&coordinator, "took a result");
    assert_eq!(result["span"]["method"], "spelrum.v1.Work/Report");
    for key in ["worker", "lease", "cell", "number"] {
        assert!(!result["fields"][key].is_null(), "{key}: {result}");
    }

    let worker = lines(worked.stderr());
    let id = &saying(&worker, "the coordinator knows this worker")["fields"]["worker"];
    let game = saying(&worker, "a game is over");
    assert!(game["fields"]["number"].is_u64(), "{game}");
    assert_eq!(&game["span"]["worker"], id);
    assert!(game["span"]["cell"].is_i64() && game["span"]["lease"].is_i64(), "{game}");
}

/// Also the last word of one that cannot go on.
#[test]
fn what_ends_a_program_is_a_line_too() {
    let sandbox = Sandbox::new();
    sandbox.write("not.db", "this is not a database, however long one looks at it");
    let arguments = ["coordinator", "--db", "not.db", "--listen", "127.0.0.1:0"];
    let ran = sandbox.run(&[&arguments[..], &["--log-format", "json"]].concat());
    assert_ne!(ran.0.status.code(), Some(0));
    let lines = lines(ran.stderr());
    let last = lines.last().expect("it says why");
    assert_eq!(last["level"], "ERROR");
    assert!(last["fields"]["message"].as_str().unwrap().starts_with("error: failed to "), "{last}");
}

/// A frame of HTTP/2 (RFC 9113).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, length @ ..] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Calls that are broken off as they begin, over and over: HTTP/2's library ends each such connection, and would write a
/// line for each.
#[test]
fn streams_that_are_reset_write_no_log() {
    const CONNECTIONS: usize = 300;
    let sandbox = Sandbox::new();
    let log = File::create(sandbox.path("log")).unwrap();
    let start = ["coordinator", "--db", "c.db", "--listen", "127.0.0.1:0"];
    let coordinator = sandbox.coordinator_as(sandbox.spelrum(&start).stderr(log));
    let fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/spelrum.v1.Experiments/Status"),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
    ];
    // Literals, never indexed (RFC 7541, section 6.2.2).
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend(text.as_bytes());
        }
    }
    let mut flood = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(4, 0, 0, &[])].concat();
    for stream in (1..200).step_by(2) {
        flood.extend(frame(1, 4, stream, &block));
        flood.extend(frame(3, 0, stream, &8_u32.to_be_bytes()));
    }
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(coordinator.address()).unwrap();
        // It may be closed before all is there.
        let _closed = stream.write_all(&flood);
        let _closed = std::io::copy(&mut stream, &mut std::io::sink());
    }
    let said = std::fs::read_to_string(sandbox.path("log")).unwrap();
    assert!(said.contains("closed connections that broke off too many calls"), "{said}");
    assert!(said.lines().count() < CONNECTIONS / 10, "{said}");
}
