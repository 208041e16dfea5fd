//! An ordinary client of HTTP: without a token it gets nothing but refusals, and with one it needs no other program.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use spelrum_coordinator::access::{Role, TokenBook};
use spelrum_test_support::{Authority, Site, Tools, Validity, quick_sweep};

use crate::tokens::{EmptyCall, every_call};

/// gRPC's frame of an empty message.
const EMPTY_MESSAGE: &[u8] = &[0; 5];

/// What curl says of an answer of gRPC: its status of HTTP, that of gRPC, and why.
const SAID_OF_GRPC: &str = "%{http_code} %header{grpc-status} %header{grpc-message}\n";

/// What curl says after an answer of the API: its status and its headers.
const SAID_OF_JSON: &str =
    "\n%{http_code} %{content_type} %header{www-authenticate}%header{allow}\n";

/// What some releases of curl end with that lose an answer, if it comes before their message has left (7.88, in
/// Debian 12): a coordinator refuses strangers before it reads their messages. The first two by HTTP/2.
const LOST_THE_ANSWER: [i32; 4] = [16, 92, 55, 56];

/// What curl prints after sending this message there, if its arguments make it send one.
fn curl(tools: Tools, by: &[&str], message: &[u8], url: &str) -> String {
    let mut tried = 0;
    loop {
        let mut curl = tools.command("curl");
        curl.arg("--silent").args(by).arg(url);
        let mut curl = curl.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        curl.stdin.take().unwrap().write_all(message).unwrap();
        let output = curl.wait_with_output().unwrap();
        tried += 1;
        let has_lost_it = output.status.code().is_some_and(|code| LOST_THE_ANSWER.contains(&code));
        if !(has_lost_it && tried < 100) {
            assert!(output.status.success(), "{url}: {}", output.status);
            return String::from_utf8_lossy(&output.stdout).into_owned();
        }
    }
}

/// What curl prints that calls gRPC there with the empty message.
fn post(tools: Tools, by: &[&str], url: &str) -> String {
    let grpc = ["--header", "content-type: application/grpc", "--header", "te: trailers"];
    let message = ["--data-binary", "@-", "--write-out", SAID_OF_GRPC];
    curl(tools, &[&grpc[..], &message, by].concat(), EMPTY_MESSAGE, url)
}

/// What curl says and prints that calls the API there.
fn ask(
    tools: Tools,
    by: &[&str],
    method: &str,
    message: Option<&str>,
    url: &str,
) -> (String, String) {
    let usual = ["--request", method, "--write-out", SAID_OF_JSON];
    let json = ["--header", "content-type: application/json", "--data-binary", "@-"];
    let json = if message.is_some() { &json[..] } else { &[] };
    let message = message.unwrap_or_default().as_bytes();
    let printed = curl(tools, &[&usual[..], json, by].concat(), message, url);
    let (answer, said) = printed.trim_end_matches('\n').rsplit_once('\n').unwrap();
    (said.trim_end().to_owned(), answer.to_owned())
}

/// Apart from the coordinator, which is in this process.
async fn apart<T: Send + 'static>(task: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(task).await.unwrap()
}

/// By what somebody might try to get in.
const GUESSES: [Option<&str>; 5] = [
    None,
    Some(
        "authorization: Bearer spelrum_0000000000000000000000000000000000000000000000000000000000000000",
    ),
    Some("authorization: Bearer "),
    Some("authorization: Basic b3duZXI6"),
    Some("x-spelrum-token: owner"),
];

/// Every call, by every guess: no answer, and `UNAUTHENTICATED` or 401.
fn assert_refuses_strangers(tools: Tools, origin: &str, by: &[&str], calls: &[EmptyCall]) {
    assert!(calls.len() > 30, "{calls:?}");
    for (call, guess) in calls.iter().flat_map(|call| GUESSES.map(|guess| (call, guess))) {
        let header: Vec<&str> = guess.into_iter().flat_map(|guess| ["--header", guess]).collect();
        let (by, url) = ([by, &header].concat(), format!("{origin}{}", call.path));
        let name = &call.name;
        if call.is_grpc() {
            let answer = post(tools, &by, &url);
            // What is served has a body, which would stand before this.
            let is_refused = answer.starts_with("200 16 ") && answer.contains("token");
            assert!(is_refused && answer.lines().count() == 1, "{name}, {guess:?}: {answer}");
        } else {
            let message = (call.method == "POST").then_some("{}");
            let (said, answer) = ask(tools, &by, &call.method, message, &url);
            assert_eq!(said, "401 application/problem+json Bearer", "{name}, {guess:?}: {answer}");
            let problem: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!(problem["type"], "urn:spelrum:problem:bad-token", "{name}, {guess:?}");
        }
    }
}

/// A token that is not guessed.
fn tokens(site: &Site) -> std::path::PathBuf {
    let file = site.db().with_file_name("tokens.toml");
    let roles = Role::ALL.into_iter().collect();
    TokenBook::change(&file, |book| book.add("owner", roles, "", [7; 32])).unwrap();
    file
}

#[tokio::test]
async fn curl_gets_nothing_but_refusals() {
    let Some(tools) = Tools::find_curl_with_http2() else { return };
    let site = Site::new();
    let file = tokens(&site);
    let served = site.serve_with_tokens(&file).await;
    let origin = format!("http://{}", served.address);
    let calls = every_call().await;
    apart(move || {
        assert_refuses_strangers(tools, &origin, &["--http2-prior-knowledge"], &calls);
        // By the HTTP of old, asked to change or not, no gRPC is spoken at all, and the API is guarded alike.
        let (of_grpc, of_json): (Vec<_>, Vec<_>) = calls.iter().partition(|call| call.is_grpc());
        for by in ["--http2", "--http1.1"] {
            for EmptyCall { path, .. } in &of_grpc {
                let answer = post(tools, &[by], &format!("{origin}{path}"));
                assert_eq!(answer, "gRPC needs HTTP/2\n505  \n", "{path} {by}");
            }
            for EmptyCall { name, method, path } in &of_json {
                let message = (method == "POST").then_some("{}");
                let (said, _) = ask(tools, &[by], method, message, &format!("{origin}{path}"));
                assert_eq!(said, "401 application/problem+json Bearer", "{name} {by}");
            }
        }
    })
    .await;
    served.stop().await.unwrap();
}

/// Also where a client certificate could be shown.
#[tokio::test]
async fn curl_gets_nothing_but_refusals_by_tls() {
    let Some(tools) = Tools::find_curl_with_http2() else { return };
    let ca = Authority::new();
    let calls = every_call().await;
    for client_ca in [None, Some(ca.pem())] {
        let site = Site::new();
        let file = tokens(&site);
        let identity = ca.certify(&["127.0.0.1"], Validity::Now);
        let served = site.serve_with_tls_to(identity, Some(&file), client_ca.as_deref()).await;
        let trusted = site.db().with_file_name("ca.pem");
        std::fs::write(&trusted, ca.pem()).unwrap();
        let (origin, calls) = (format!("https://{}", served.address), calls.clone());
        apart(move || {
            let trusted = trusted.to_str().unwrap();
            assert_refuses_strangers(tools, &origin, &["--http2", "--cacert", trusted], &calls);
        })
        .await;
        served.stop().await.unwrap();
    }
}

/// What is open to all, as docs/operating.md and docs/protocol.md say, is no more than that.
#[tokio::test]
async fn curl_sees_what_is_open_to_all() {
    let Some(tools) = Tools::find_curl_with_http2() else { return };
    let site = Site::new();
    let file = tokens(&site);
    let served = site.serve_with_tokens(&file).await;
    let origin = format!("http://{}", served.address);
    apart(move || {
        let by = "--http2-prior-knowledge";
        let answer = post(tools, &[by], &format!("{origin}/grpc.health.v1.Health/Check"));
        assert!(answer.contains("200 0 "), "{answer}");
        for open in ["/", "/healthz", "/metrics"] {
            let answer = post(tools, &[by, "--request", "GET"], &format!("{origin}{open}"));
            assert!(answer.contains("200 ") && !answer.contains("owner"), "{open}: {answer}");
        }
        for closed in ["/spelrum.v1.Work/Nothing", "/spelrum.v1.Experiments/Status"] {
            let answer = post(tools, &[by], &format!("{origin}{closed}"));
            assert!(answer.starts_with("200 16 "), "{closed}: {answer}");
        }
        for closed in ["/api/", "/api/v1/nothing", "/api/v2/status"] {
            let (said, answer) = ask(tools, &[by], "GET", None, &format!("{origin}{closed}"));
            assert_eq!(said, "401 application/problem+json Bearer", "{closed}: {answer}");
        }
    })
    .await;
    served.stop().await.unwrap();
}

/// As docs/api.md says.
#[tokio::test]
async fn curl_calls_the_api() {
    let Some(tools) = Tools::find_curl_with_http2() else { return };
    let site = Site::new();
    let served = site.serve().await;
    let origin = format!("http://{}/api/v1", served.address);
    apart(move || {
        for (by, name) in [("--http1.1", "old"), ("--http2-prior-knowledge", "new")] {
            let answer = |method: &str, message: Option<&str>, path: &str| -> Value {
                let url = format!("{origin}{path}");
                let (said, answer) = ask(tools, &[by], method, message, &url);
                assert_eq!(said, "200 application/json", "{method} {path}: {answer}");
                serde_json::from_str(&answer).unwrap()
            };
            let status = answer("GET", None, "/status");
            assert_eq!(status["experiments"], json!([]));
            let sweep = json!({ "sweep_toml": quick_sweep(name, 2) }).to_string();
            let submitted = answer("POST", Some(&sweep), "/experiments");
            assert_eq!((&submitted["name"], &submitted["games"]), (&json!(name), &json!(2)));
            let experiment = format!("/experiments/{name}");
            assert_eq!(answer("GET", None, &experiment)["state"], "running");
            let steer = format!("{experiment}/steer");
            let paused = answer("POST", Some(r#"{"action": "pause"}"#), &steer);
            assert_eq!(paused["experiment"]["state"], "paused");

            let sql = r#"{"sql": "SELECT 1 AS one, 'x' AS x"}"#;
            let (said, lines) = ask(tools, &[by], "POST", Some(sql), &format!("{origin}/sql"));
            assert_eq!(said, "200 application/x-ndjson", "{lines}");
            let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
            let expected = [r#"{"columns":["one","x"]}"#, r#"[1,"x"]"#, r#"{"truncated":false}"#];
            assert_eq!(lines, expected);

            let remove = format!("{experiment}?what=everything");
            let preview = answer("DELETE", None, &format!("{remove}&preview=true"));
            assert_eq!(preview["cells"], 1);
            assert_eq!(answer("DELETE", None, &remove), preview);
            let (said, _) = ask(tools, &[by], "GET", None, &format!("{origin}{experiment}"));
            assert_eq!(said, "404 application/problem+json");
        }
    })
    .await;
    served.stop().await.unwrap();
}

/// Each with its status and as a problem that says its kind.
#[tokio::test]
async fn curl_is_told_what_is_wrong_with_a_call() {
    let Some(tools) = Tools::find_curl_with_http2() else { return };
    let site = Site::new();
    let served = site.serve().await;
    let origin = format!("http://{}/api/v1", served.address);
    let wrong = [
        ("GET", None, "/experiments/nothing", 404_u16, "unknown-experiment"),
        ("GET", None, "/nothing", 404, "unknown-call"),
        ("DELETE", None, "/status", 405, "wrong-method"),
        ("GET", None, "/status?x=1", 400, "malformed"),
        ("GET", None, "/games/one", 400, "malformed"),
        ("POST", Some(""), "/experiments", 400, "malformed"),
        ("POST", Some("{"), "/experiments", 400, "malformed"),
        ("POST", Some("{}"), "/experiments?x=1", 400, "malformed"),
        ("POST", Some(r#"{"sweep_toml": ""}"#), "/experiments", 422, "bad-sweep"),
        ("POST", Some(r#"{"sql": "DROP TABLE games"}"#), "/sql", 422, "bad-query"),
    ];
    apart(move || {
        for by in ["--http1.1", "--http2-prior-knowledge"] {
            for (method, message, path, status, kind) in wrong {
                let (said, answer) = ask(tools, &[by], method, message, &format!("{origin}{path}"));
                let expected = format!("{status} application/problem+json");
                assert!(said.starts_with(&expected), "{method} {path}: {said} {answer}");
                let problem: Value = serde_json::from_str(&answer).unwrap();
                assert_eq!(problem["type"], format!("urn:spelrum:problem:{kind}"), "{answer}");
                assert_eq!(problem["status"], status, "{answer}");
                assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
                // A method that would do is named.
                assert_eq!(said.contains("GET"), status == 405, "{said}");
            }
            // What a web page could send, or came from one.
            let sweep = json!({ "sweep_toml": quick_sweep("foreign", 2) }).to_string();
            let (form, sweep) = ("content-type: application/x-www-form-urlencoded", Some(&*sweep));
            for (more, expected, kind) in [
                (&["--header", "origin: http://evil.example"][..], "403", "cross-site"),
                (&["--header", "host: evil.example"], "421", "wrong-host"),
            ] {
                let by = [&[by][..], more].concat();
                let (said, answer) =
                    ask(tools, &by, "POST", sweep, &format!("{origin}/experiments"));
                assert_eq!(said, format!("{expected} application/problem+json"), "{answer}");
                assert!(answer.contains(&format!("urn:spelrum:problem:{kind}")), "{answer}");
            }
            let by = [by, "--header", form, "--data-raw", "sweep_toml="];
            let (said, answer) = ask(tools, &by, "POST", None, &format!("{origin}/experiments"));
            assert_eq!(said, "415 application/problem+json", "{answer}");
        }
        // A message that is too large, or that does not say how large it is.
        let chunked = ["--http1.1", "--header", "transfer-encoding: chunked"];
        let (large, small) = ("x".repeat(5 << 20), "{}");
        for (by, message, words) in
            [(&chunked[..1], &*large, "5242880 bytes"), (&chunked[..], small, "Content-Length")]
        {
            let url = format!("{origin}/experiments");
            let (said, answer) = ask(tools, by, "POST", Some(message), &url);
            assert_eq!(said, "400 application/problem+json", "{answer}");
            assert!(answer.contains(words), "{answer}");
        }
    })
    .await;
    assert!(served.status().await.experiments.is_empty());
    served.stop().await.unwrap();
}

#[tokio::test]
async fn curl_does_what_its_token_may() {
    let Some(tools) = Tools::find_curl_with_http2() else { return };
    let site = Site::new();
    let file = site.db().with_file_name("tokens.toml");
    let roles = [Role::Read].into_iter().collect();
    let token = TokenBook::change(&file, |book| book.add("guest", roles, "", [3; 32])).unwrap();
    let served = site.serve_with_tokens(&file).await;
    let origin = format!("http://{}/api/v1", served.address);
    apart(move || {
        let bearer = format!("authorization: Bearer {token}");
        for by in ["--http1.1", "--http2-prior-knowledge"] {
            let by = [by, "--header", &*bearer];
            let said = |method: &str, message: Option<&str>, path: &str| {
                ask(tools, &by, method, message, &format!("{origin}{path}")).0
            };
            assert_eq!(said("GET", None, "/status"), "200 application/json");
            let sql = r#"{"sql": "SELECT 1"}"#;
            assert_eq!(said("POST", Some(sql), "/sql"), "200 application/x-ndjson");
            let sweep = json!({ "sweep_toml": quick_sweep("guest", 2) }).to_string();
            let refused = "403 application/problem+json";
            assert_eq!(said("POST", Some(&sweep), "/experiments"), refused);
            assert_eq!(said("DELETE", None, "/experiments/guest?what=everything"), refused);
        }
    })
    .await;
    served.stop().await.unwrap();
}
