//! Pages for browsers: what they show, to whom, and what they let through.

use std::net::SocketAddr;

use spelrum_answers::MakeBrowserLink;
use spelrum_proto::api::Api;
use spelrum_proto::{Bearer, Token};
use spelrum_test_support::{HandWorker, Served, Site, eventually, quick_sweep};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tonic::transport::Endpoint;

/// An answer: its head and its body.
pub(super) struct Answer {
    head: String,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.head[9..12].parse().unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let pairs = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut values = pairs.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        Some(values.next()?.1)
    }
}

async fn send(address: SocketAddr, method: &str, path: &str, more: &str) -> Answer {
    send_body(address, method, path, more, "").await
}

pub(super) async fn send_body(
    address: SocketAddr,
    method: &str,
    path: &str,
    more: &str,
    body: &str,
) -> Answer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/html\r\nConnection: close\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    Answer { head: head.to_owned(), body: body.to_owned() }
}

pub(super) async fn get(served: &Served, path: &str, more: &str) -> Answer {
    send(served.address, "GET", path, more).await
}

#[tokio::test]
async fn pages_show_what_the_api_tells() {
    let site = Site::new();
    let served = site.serve().await;
    served.submit(&quick_sweep("paged", 4)).await;
    HandWorker::new(&served).await.work_until_done().await;
    let experiment = served.wait_for_state("paged", "finished").await;

    let page = get(&served, "/", "").await;
    assert_eq!(page.status(), 200, "{}", page.head);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let link = format!("/experiments/{}", experiment.uuid);
    assert!(page.body.contains(&format!("<a href=\"{link}\">paged</a>")), "{}", page.body);

    // By its UUID and by its name, with its report and its games.
    for path in [&*link, "/experiments/paged"] {
        let page = get(&served, path, "").await;
        assert_eq!(page.status(), 200, "{}", page.body);
        assert!(
            page.body.contains("Who is stronger") && page.body.contains("Last games"),
            "{}",
            page.body
        );
        assert!(page.body.len() < 60_000, "{}", page.body.len());
    }
    let games = get(&served, &link, "").await.body;
    let game = games.split("href=\"/games/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    for ply in ["", "?ply=0", "?ply=1", "?ply=999999", "?ply=x"] {
        let page = get(&served, &format!("/games/{game}{ply}"), "").await;
        assert_eq!(page.status(), 200, "{ply}: {}", page.body);
        assert!(
            page.body.contains("<svg") && page.body.len() < 60_000,
            "{ply}: {}",
            page.body.len()
        );
    }
    for missing in ["/games/999999", "/games/x", "/games/-1"] {
        assert!(matches!(get(&served, missing, "").await.status(), 400 | 404), "{missing}");
    }
    assert!(get(&served, "/workers", "").await.body.contains("<h1>Workers</h1>"));
    for (path, kind) in [("/static/pages.css", "text/css"), ("/static/pages.js", "text/javascript")]
    {
        let file = get(&served, path, "").await;
        assert_eq!((file.status(), file.header("content-type")), (200, Some(kind)));
    }
    let missing = get(&served, "/experiments/nothing", "").await;
    assert_eq!(missing.status(), 404);
    assert!(missing.body.contains("there is no experiment"), "{}", missing.body);
    // Nothing is inline, whatever the page.
    for path in ["/", &link, "/workers", "/experiments/nothing"] {
        let body = get(&served, path, "").await.body;
        for inline in ["<style", " style=", "<script>", " onclick=", "javascript:"] {
            assert!(!body.contains(inline), "{path}: {inline}");
        }
    }
}

#[tokio::test]
async fn a_browser_is_let_in_once_for_what_its_token_may() {
    let site = Site::new();
    let token: Token = "a-token-that-nobody-else-has".parse().unwrap();
    let served = site.serve_with_token(&token).await;
    for path in ["/", "/workers", "/live", "/submit", "/experiments/x", "/games/1"] {
        let refused = get(&served, path, "").await;
        assert_eq!(refused.status(), 401, "{path}: {}", refused.body);
        assert!(refused.body.contains("spelrum open"), "{}", refused.body);
        assert_eq!(get(&served, path, "Cookie: spelrum-=forged\r\n").await.status(), 401);
    }
    let channel = Endpoint::new(served.url()).unwrap().connect().await.unwrap();
    let api = Api::new(channel, Bearer::new(Some(&token)));
    let link = api.call(&MakeBrowserLink {}).await.unwrap().url;
    let path = link.strip_prefix(&format!("http://{}", served.address)).unwrap().to_owned();
    // Looking at the link does not use it up.
    let asked = get(&served, &path, "").await;
    assert!(asked.body.contains("method=\"post\""), "{}", asked.body);
    // A form of another site does not.
    let elsewhere = "Origin: http://evil.example\r\nSec-Fetch-Site: cross-site\r\n";
    assert_eq!(send(served.address, "POST", &path, elsewhere).await.status(), 403);
    let own = format!("Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n", served.address);
    let entered = send(served.address, "POST", &path, &own).await;
    assert_eq!(asked.header("referrer-policy"), Some("same-origin"), "a form tells its origin");
    assert_eq!((entered.status(), entered.header("location")), (303, Some("/")));
    let set = entered.header("set-cookie").unwrap();
    assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict"), "{set}");
    assert_eq!(send(served.address, "POST", &path, "").await.status(), 403, "a link works once");

    let cookie = format!("Cookie: {}\r\n", set.split(';').next().unwrap());
    assert_eq!(get(&served, "/", &cookie).await.status(), 200);
    assert_eq!(get(&served, "/api/v1/status", &cookie).await.status(), 200);
    // Another site's page cannot use the cookie, even if its browser sent it; a link there only opens the page.
    let foreign = format!("{cookie}{elsewhere}");
    assert_eq!(
        send(served.address, "POST", "/api/v1/experiments/x/steer", &foreign).await.status(),
        403
    );
    assert_eq!(get(&served, "/", &foreign).await.status(), 403);
    let followed = format!(
        "{cookie}Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
    );
    assert_eq!(get(&served, "/", &followed).await.status(), 200);
    let framed = followed.replace("document", "iframe");
    assert_eq!(get(&served, "/", &framed).await.status(), 403);
}

#[tokio::test]
async fn texts_of_strangers_are_shown_and_not_obeyed() {
    let site = Site::new();
    let served = site.serve().await;
    let sweep = quick_sweep("named", 2).replacen(
        "name = \"named\"",
        "name = \"named\"\ndescription = \"<script>alert(1)</script><b onclick=x>\"",
        1,
    );
    served.submit(&sweep).await;
    for path in ["/", "/experiments/named", "/experiments/%3Cscript%3Ealert(1)%3C%2Fscript%3E"] {
        let body = get(&served, path, "").await.body;
        assert!(!body.contains("<script>") && !body.contains("<b onclick"), "{path}: {body}");
    }
}

/// A thousand streams of changes are bounded, and those that have a place hear of a change.
#[tokio::test]
async fn changes_are_told_to_as_many_browsers_as_there_is_room_for() {
    let site = Site::new();
    let served = site.serve().await;
    let follow = async || {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let request = format!("GET /live HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = vec![0; 512];
        let length = stream.read(&mut head).await.unwrap();
        (stream, String::from_utf8_lossy(&head[..length]).into_owned())
    };
    let mut streams = Vec::new();
    let mut refused = 0;
    for _ in 0..600 {
        let (stream, head) = follow().await;
        if head.starts_with("HTTP/1.1 200") { streams.push(stream) } else { refused += 1 }
    }
    assert_eq!((streams.len(), refused), (512, 88));
    served.submit(&quick_sweep("changed", 2)).await;
    for stream in [0, 511] {
        let mut heard = String::new();
        while !heard.contains("event: changed") {
            let mut bytes = [0; 256];
            let length = streams[stream].read(&mut bytes).await.unwrap();
            assert!(length > 0, "{heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..length]));
        }
    }
    // One address cannot keep all others out.
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    let mut other = socket.connect(served.address).await.unwrap();
    let request = format!("GET /live HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    other.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    other.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");
    assert!(follow().await.1.starts_with("HTTP/1.1 503"));
    // Whoever goes away makes room.
    drop(streams);
    eventually("a place", async || follow().await.1.starts_with("HTTP/1.1 200").then_some(()))
        .await;
}
