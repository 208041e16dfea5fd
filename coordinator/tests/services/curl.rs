//! A stranger with the network and no token, by an ordinary client of HTTP/2: nothing but refusals.

use std::io::Write as _;
use std::process::Stdio;

use spelrum_coordinator::access::{Role, TokenBook};
use spelrum_test_support::{Authority, Site, Tools, Validity};

use crate::tokens::every_path;

/// gRPC's frame of an empty message.
const EMPTY_MESSAGE: &[u8] = &[0; 5];

/// What curl says of each answer: its status of HTTP, that of gRPC, and why.
const SAID: &str = "%{http_code} %header{grpc-status} %header{grpc-message}\n";

/// What some releases of curl end with that lose an answer, if it comes before their message has left (7.88, in
/// Debian 12): a coordinator refuses strangers before it reads their messages.
const LOST_THE_ANSWER: [i32; 2] = [16, 92];

/// What curl prints that sends the empty message there.
fn post(tools: Tools, by: &[&str], url: &str) -> String {
    let mut tried = 0;
    loop {
        let mut curl = tools.command("curl");
        curl.args(["--silent", "--header", "content-type: application/grpc"])
            .args(["--header", "te: trailers", "--data-binary", "@-", "--write-out", SAID])
            .args(by)
            .arg(url);
        let mut curl = curl.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        curl.stdin.take().unwrap().write_all(EMPTY_MESSAGE).unwrap();
        let output = curl.wait_with_output().unwrap();
        tried += 1;
        let has_lost_it = output.status.code().is_some_and(|code| LOST_THE_ANSWER.contains(&code));
        if !(has_lost_it && tried < 100) {
            assert!(output.status.success(), "{url}: {}", output.status);
            return String::from_utf8_lossy(&output.stdout).into_owned();
        }
    }
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

/// Every method, by every guess: no body, and `UNAUTHENTICATED`.
fn assert_refuses_strangers(tools: Tools, origin: &str, by: &[&str]) {
    let paths = every_path();
    assert!(paths.len() > 15, "{paths:?}");
    for (path, guess) in paths.iter().flat_map(|path| GUESSES.map(|guess| (path, guess))) {
        let header: Vec<&str> = guess.into_iter().flat_map(|guess| ["--header", guess]).collect();
        let answer = post(tools, &[by, &header].concat(), &format!("{origin}{path}"));
        // What is served has a body, which would stand before this.
        let is_refused = answer.starts_with("200 16 ") && answer.contains("token");
        assert!(is_refused && answer.lines().count() == 1, "{path}, {guess:?}: {answer}");
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
    apart(move || {
        assert_refuses_strangers(tools, &origin, &["--http2-prior-knowledge"]);
        // By the HTTP of old, asked to change or not, no gRPC is spoken at all.
        for (path, by) in
            every_path().iter().flat_map(|path| [(path, "--http2"), (path, "--http1.1")])
        {
            let answer = post(tools, &[by], &format!("{origin}{path}"));
            assert_eq!(answer, "gRPC needs HTTP/2\n505  \n", "{path} {by}");
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
    for client_ca in [None, Some(ca.pem())] {
        let site = Site::new();
        let file = tokens(&site);
        let identity = ca.certify(&["127.0.0.1"], Validity::Now);
        let served = site.serve_with_tls_to(identity, Some(&file), client_ca.as_deref()).await;
        let trusted = site.db().with_file_name("ca.pem");
        std::fs::write(&trusted, ca.pem()).unwrap();
        let origin = format!("https://{}", served.address);
        apart(move || {
            let trusted = trusted.to_str().unwrap();
            assert_refuses_strangers(tools, &origin, &["--http2", "--cacert", trusted]);
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
        let answer = post(tools, &[by], &format!("{origin}/spelrum.v1.Experiments/Nothing"));
        assert!(answer.starts_with("200 16 "), "{answer}");
    })
    .await;
    served.stop().await.unwrap();
}
